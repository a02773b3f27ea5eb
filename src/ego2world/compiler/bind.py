"""Mentions to entities: by tracks, fixtures, containers, hands and discourse. Same name is not same thing.

A mention is bound to the entity with the best sum of name fit and evidence; evidence is a track that begins, ends or runs
at the right moment, a hand that holds the thing, and recency in the discourse. Without enough evidence a new entity is
made, so that records stay apart. Stage: bind.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ego2world.annotations.cells import class_name
from ego2world.annotations.records import Association, Track, Vocabulary
from ego2world.compiler.scene import Scene
from ego2world.compiler.tracks import NamedTrack, name_fit, named, put_fit, take_fit, use_fit
from ego2world.language.lexicon import lexicon, singular
from ego2world.language.phrases import ORDINALS, NounPhrase
from ego2world.world.kinds import Trait, has, with_trait
from ego2world.world.state import BOTH, LEFT, RIGHT, carriers

FIXTURES = with_trait(Trait.FIXED) - {"zone", "light", "fan", "socket"}
_SINGLE = frozenset(
    "fridge freezer oven microwave dishwasher washing_machine sink hob tap floor light fan room".split()
)
_TAKING = frozenset("take take_out remove lift gather pick unplug detach uncover_lid take_off".split())
_PUTTING = frozenset("put insert hang drop throw throw_away cover_lid pour_food add pass position".split())
_BY_PACK = frozenset(
    "take take_out put insert hold open close pass lift bring move throw throw_away remove hang tilt shake turn flip drop "
    "press check look read smell squeeze gather adjust".split()
)
_PACK_OF = {
    "oil": "bottle", "milk": "bottle", "soap": "bottle", "juice": "bottle", "drink": "bottle", "sauce": "bottle",
    "water": "bottle", "coffee": "jar", "tea": "box", "salt": "jar", "spice": "jar", "sugar": "jar", "flour": "bag",
    "rice": "bag", "seed": "bag", "soup": "tub", "mixture": "tub", "yoghurt": "tub",
}  # fmt: skip
_FIXTURE_NAMES = {
    "fridgefreezer": "fridge", "windowsill": "window", "storage": "cupboard", "top_microwave": "shelf", "top_drawer": "drawer",
    "washingmachine": "washing_machine", "hobs": "hob", "worktop": "counter", "island": "counter", "trash": "bin",
}  # fmt: skip
# A spoken kind may be any of these fixtures of the digital twin.
_COMPATIBLE = {
    "counter": {"counter", "window", "shelf", "table", "rack"}, "shelf": {"shelf", "cupboard", "drawer", "fridge", "counter", "freezer"},
    "cupboard": {"cupboard", "drawer", "shelf", "fridge"}, "drawer": {"drawer", "cupboard", "fridge", "freezer", "dishwasher", "oven"},
    "rack": {"rack", "sink", "counter", "dishwasher", "oven", "cupboard", "shelf", "hook"}, "hook": {"hook", "cupboard", "shelf", "counter", "oven", "radiator", "door"},
    "fridge": {"fridge", "freezer"}, "freezer": {"freezer", "fridge"}, "bin": {"bin"},
    "sink": {"sink"}, "table": {"table", "counter"}, "hob": {"hob"}, "window": {"window", "counter"},
    "tap": {"sink", "counter"}, "oven": {"oven"}, "microwave": {"microwave"}, "dishwasher": {"dishwasher"}, "floor": {"floor"},
}  # fmt: skip
_NESTED = frozenset("drawer rack shelf".split())
_HOSTS = frozenset("dishwasher fridge freezer oven cupboard".split())
_EXCLUSIVE = (
    frozenset(ORDINALS), frozenset({"left", "right"}), frozenset({"upper", "lower", "top", "bottom", "middle"}),
    frozenset({"big", "small", "large", "little", "smaller", "larger"}),
    frozenset("red green blue yellow orange white black brown grey gray pink purple silver".split()),
    frozenset({"wooden", "plastic", "metal", "glass"}),
)  # fmt: skip


@dataclass
class _Known:
    """What binding remembers about an entity beside its scene record."""

    heads: set[str] = field(default_factory=set)
    modifiers: set[str] = field(default_factory=set)
    plural: bool = False
    track: NamedTrack | None = None
    mentioned_s: float = -1e9
    order: int = -1


@dataclass(frozen=True)
class Mention:
    """Where a phrase stands: its role in which act, when, and said by which narration."""

    role: str
    sense: str
    prep: str
    start_s: float
    end_s: float
    narration_id: str


class Binder:
    """Binds phrases to entities of one scene, in narration order."""

    def __init__(self, scene: Scene, associations: Iterable[Association], vocabulary: Vocabulary) -> None:
        self.scene = scene
        self.vocabulary = vocabulary
        self.tracks = [named(association) for association in associations if not association.placeholder]
        self.entity_of: dict[str, str] = {}
        self.known: dict[str, _Known] = {}
        self.fixtures: dict[str, str] = {}
        self.last: list[tuple[str, ...]] = []
        self.used_tracks: dict[str, list[str]] = {}
        self.count = 0
        self.last_narration = ""
        placeholders = [a.id for a in associations if a.placeholder]
        if placeholders:
            scene.note("bind", f"{len(placeholders)} placeholder track(s) without a name left out", placeholders)
        names = sorted(
            {f for t in self.tracks for m in t.association.tracks for f in (m.start_fixture, m.end_fixture) if f}
        )
        for name in names:
            self._add_twin_fixture(name)

    # fixtures -----------------------------------------------------------------------------------------------

    def _add_twin_fixture(self, name: str) -> None:
        match = re.fullmatch(r"(?:[A-Za-z0-9]+_)?(.+?)\.?(\d*)", name)
        if name == "mid-air" or match is None:
            return
        word, number = match.group(1), match.group(2)
        kind = _FIXTURE_NAMES.get(word, word)
        if kind not in FIXTURES:
            kind = lexicon().kind(word.replace("_", " ")) or "counter"
            kind = kind if kind in FIXTURES else "counter"
        spoken = word.replace("_", " ")
        identifier = f"{word}_{number}" if number else word
        self.scene.add(
            kind, f"{spoken} {int(number)}" if number else spoken, (f"fixture {name}",), identifier, fixed=True
        )
        self.scene.learn(identifier, name, "")
        self.fixtures[name] = identifier
        self.known[identifier] = _Known(heads={kind, spoken})

    def fixture_of(self, name: str | None) -> str | None:
        """Return the entity of a digital-twin fixture name; None for no fixture and for mid-air."""
        return self.fixtures.get(name) if name else None

    def _fixture(self, phrase: NounPhrase, kind: str, mention: Mention, hint: str | None) -> str:
        hosts = [phrase.of] if phrase.of is not None and phrase.relation == "owner" else []
        host_kind = lexicon().kind(hosts[0].head) if hosts else None
        host_word = next((m for m in phrase.modifiers if lexicon().kind(m) in _HOSTS), None)
        if kind == "shelf" and host_kind in {"rack", "sink"}:
            return self._fixture(hosts[0], host_kind, mention, hint)
        if hint is not None and hint.startswith(f"top_{kind}"):
            return self._note_fixture(hint, phrase, mention)
        if kind in _NESTED and (host_kind in _HOSTS or host_word):
            host = self._fixture(hosts[0] if hosts and host_kind in _HOSTS else NounPhrase(host_word or "", host_word or ""),
                                 host_kind if host_kind in _HOSTS else lexicon().kind(host_word or "") or "cupboard", mention, hint)  # fmt: skip
            self.scene.learn(host, phrase.phrase, mention.narration_id)
            if kind == "shelf" or self.scene.entities[host].type == "cupboard":
                return host
            return self._nested(phrase, kind, host, mention)
        if hint is not None and self.scene.entities[hint].type in _COMPATIBLE.get(kind, {kind}):
            return self._note_fixture(hint, phrase, mention)
        same = [e for e in self.known if self.scene.entities[e].type == kind and e in self.scene.zone_of]
        nested = [
            e
            for e in self.known
            if self.scene.entities[e].type == kind and e not in self.scene.zone_of and e in self.known
        ]
        if kind in _SINGLE and same:
            return self._note_fixture(same[0], phrase, mention)
        wanted = {m for m in phrase.modifiers if m not in {"same", "kitchen"} and not lexicon().known_noun(m)}
        if hosts and kind in {"shelf", "cupboard", "drawer"}:
            wanted.add(hosts[0].head)
        facts = self.scene.facts
        if mention.sense == "close":
            opened = [e for e in (*same, *nested) if facts.get(("openness", e)) == "open"]
            fitting = [e for e in opened if not self._conflict(wanted, self.known[e].modifiers)]
            if fitting:
                return self._note_fixture(max(fitting, key=lambda e: self.known[e].mentioned_s), phrase, mention)
        if mention.sense in {"open", "close"} or kind in {"drawer", "cupboard", "shelf"}:
            ahead = self._fixture_ahead(kind, mention)
            if (
                ahead is not None
                and not self._conflict(wanted, self.known[ahead].modifiers)
                and not (mention.sense == "open" and facts.get(("openness", ahead)) == "open")
            ):
                return self._note_fixture(ahead, phrase, mention)
        fitting = [e for e in (*same, *nested) if not self._conflict(wanted, self.known[e].modifiers)]
        if "other" in wanted and self.last:
            recent = max(fitting, key=lambda e: self.known[e].mentioned_s, default=None)
            fitting = [e for e in fitting if e != recent]
        if mention.sense == "open":
            shut = [e for e in fitting if facts.get(("openness", e)) != "open"]
            fitting = shut
        exact = [e for e in fitting if wanted and wanted <= self.known[e].modifiers]
        pool = exact or (
            [e for e in fitting if not wanted or not self.known[e].modifiers]
            if kind in {"cupboard", "drawer", "shelf"}
            else fitting
        )
        heard = [e for e in pool if self.known[e].order >= 0]
        if heard:
            return self._note_fixture(max(heard, key=lambda e: self.known[e].mentioned_s), phrase, mention)
        if pool and (kind not in {"cupboard", "drawer", "shelf"} or not wanted):
            return self._note_fixture(pool[0], phrase, mention)
        if kind == "table" or kind in _SINGLE or kind not in {"cupboard", "drawer", "shelf", "door", "counter"}:
            name = phrase.head
        else:
            name = phrase.phrase if not hosts else f"{phrase.phrase} of {hosts[0].head}"
        identifier = self.scene.add(kind, name, (mention.narration_id,), fixed=True)
        self.known[identifier] = _Known()
        return self._note_fixture(identifier, phrase, mention, wanted)

    def _nested(self, phrase: NounPhrase, kind: str, host: str, mention: Mention) -> str:
        """Return the drawer or rack inside a host, told apart by its modifiers."""
        wanted = {m for m in phrase.modifiers if lexicon().kind(m) not in _HOSTS}
        inside = [
            e
            for e, k in self.known.items()
            if self.scene.initial.get(("place", e)) == ("in", host) and self.scene.entities[e].type == kind and k.heads
        ]
        fitting = [e for e in inside if not self._conflict(wanted, self.known[e].modifiers)]
        exact = [e for e in fitting if wanted == self.known[e].modifiers or not wanted]
        chosen = exact or (fitting if wanted and not any(self.known[e].modifiers for e in fitting) else [])
        if chosen:
            return self._note_fixture(max(chosen, key=lambda e: self.known[e].mentioned_s), phrase, mention, wanted)
        label = " ".join([*sorted(wanted, key=phrase.text.find), phrase.head])
        identifier = self.scene.add(kind, f"{label} of {self.scene.entities[host].name}", (mention.narration_id,))
        self.known[identifier] = _Known(heads={phrase.head})
        self.scene.assume(
            ("place", identifier), ("in", host), "bind", f"a {kind} named as part of {host}", (mention.narration_id,)
        )
        return self._note_fixture(identifier, phrase, mention, wanted)

    def _fixture_ahead(self, kind: str, mention: Mention) -> str | None:
        """Return the fixture of the kind that the next movements (or the current one) start from or end at."""
        kinds = {kind} if kind != "shelf" else {"shelf", "cupboard"}
        best: tuple[float, str] | None = None
        for track in self.tracks:
            for movement in track.association.tracks:
                for moment_s, name in (
                    (movement.start_s, movement.start_fixture),
                    (movement.end_s, movement.end_fixture),
                ):
                    entity = self.fixture_of(name)
                    if entity is None or self.scene.entities[entity].type not in kinds:
                        continue
                    away = moment_s - mention.start_s
                    if (-1.0 <= away <= 20.0 and mention.sense != "close") or (
                        mention.sense == "close" and -20.0 <= away <= 1.0
                    ):
                        candidate = (abs(away), entity)
                        best = min(best, candidate) if best else candidate
        return best[1] if best else None

    def _note_fixture(
        self, identifier: str, phrase: NounPhrase, mention: Mention, wanted: set[str] | None = None
    ) -> str:
        record = self.known[identifier]
        if wanted is None:
            wanted = {
                m for m in phrase.modifiers if m not in {"other", "same", "kitchen"} and not lexicon().known_noun(m)
            }
        record.modifiers |= wanted
        self._touch(identifier, phrase, mention)
        return identifier

    @staticmethod
    def _conflict(wanted: set[str], has_: set[str]) -> bool:
        return any(wanted & group and has_ & group and not wanted & has_ & group for group in _EXCLUSIVE)

    # everything ---------------------------------------------------------------------------------------------

    def kind_of(self, phrase: NounPhrase) -> str:
        """Return the kind of a phrase's head: by lexicon, else by the data set's own noun class, else "thing"."""
        known = lexicon()
        kind = known.kind(phrase.head)
        if kind is None:
            for word in (phrase.phrase, phrase.head):
                key = self.vocabulary.nouns.get(word)
                if key:
                    kind = known.kind(class_name(key))
                    if kind:
                        return kind
        return kind or "thing"

    def resolve(
        self, phrase: NounPhrase, mention: Mention, hint: str | None = None, exclude: tuple[str, ...] = ()
    ) -> tuple[str, ...]:
        """Return the entities that a phrase means.

        Args:
            phrase: what is said.
            mention: its role, act and time.
            hint: the fixture where a track says that the act took place, if any.
            exclude: entities that it cannot be, since they play another role in the act.
        """
        if phrase.pronoun:
            return tuple(e for e in self._pronoun(phrase, mention) if e not in exclude)
        if phrase.head in {"one", "ones"}:
            for found in reversed(self.last[-4:]):
                heads = sorted(self.known[found[0]].heads) if found and found[0] in self.known else []
                if heads:
                    return self.resolve(
                        replace(phrase, head=heads[0], modifiers=(*phrase.modifiers, "other")), mention, hint, exclude
                    )
            return ()
        kind = self.kind_of(phrase)
        if kind == "hand":
            return (self._hand(phrase),)
        if kind == "face":
            return ("body",)
        if kind in FIXTURES:
            fixture = self._fixture(phrase, kind, mention, hint)
            if mention.role == "object":
                self.last.append((fixture,))
            return (fixture,)
        if has(kind, Trait.SUBSTANCE):
            by_pack = mention.role == "object" and mention.sense in _BY_PACK and not phrase.piece
            return (
                self._pack(phrase, kind, mention)
                if by_pack
                else self.substance(phrase.phrase, kind, mention.narration_id),
            )
        found = self._things(phrase, kind, mention, exclude)
        if mention.role == "object":
            self.last.append(found)
            self.last_narration = mention.narration_id
        return found

    def _hand(self, phrase: NounPhrase) -> str:
        if phrase.plural or "both" in phrase.determiner:
            return BOTH
        return LEFT if "left" in phrase.modifiers else RIGHT if "right" in phrase.modifiers else BOTH

    def _pronoun(self, phrase: NounPhrase, mention: Mention) -> tuple[str, ...]:
        many = phrase.plural or phrase.head in {"them", "these", "those", "both", "all"}
        if (
            self.last
            and self.last_narration == mention.narration_id
            and not any(e in self.scene.zone_of for e in self.last[-1])
        ):
            if phrase.head in {"it", "them", "these", "those"} and mention.sense not in {"open", "close"}:
                return self.last[-1]
        if many:
            for found in reversed(self.last):
                if len(found) > 1 or any(self.known[e].plural for e in found if e in self.known):
                    return found
            recent = [found[0] for found in self.last[-2:] if found]
            return tuple(dict.fromkeys(recent))
        wanted = self.scene.world.openable if mention.sense in {"open", "close"} else None
        for found in reversed(self.last[-8:]):
            if wanted is not None and not set(found) & wanted:
                continue
            if mention.sense in _PUTTING | _TAKING and any(e in self.scene.zone_of for e in found):
                continue
            if phrase.head in {"one", "other"} or "other" in phrase.modifiers:
                known = self.known.get(found[0])
                if known and known.heads:
                    word = sorted(known.heads)[0]
                    other = NounPhrase(
                        phrase.text, word, (*phrase.modifiers, *(("other",) if "other" not in phrase.modifiers else ()))
                    )
                    return self.resolve(other, mention)
            return found
        return ()

    def substance(self, name: str, kind: str, evidence: str) -> str:
        """Return the one entity of a substance's name within the episode."""
        name = " ".join(
            word
            for word in name.split()
            if word not in {"some", "more", "excess", "little", "other", "remaining", "rest"}
        )
        for identifier, entity in self.scene.entities.items():
            if entity.type == kind and entity.name == name:
                self.scene.learn(identifier, name, evidence)
                return identifier
        identifier = self.scene.add(kind, name, (evidence,))
        self.known[identifier] = _Known(heads={name})
        return identifier

    def _pack(self, phrase: NounPhrase, kind: str, mention: Mention) -> str:
        """Return the container that is meant when a substance is handled ("put the milk in the fridge")."""
        track, fit = self._best_track(phrase, mention)
        if track is not None and fit >= 1.0:
            found = self._from_track(track, phrase, mention)
            self.last.append((found,))
            return found
        content = self.substance(phrase.phrase, kind, mention.narration_id)
        holders = [
            key[1] for key, value in self.scene.facts.items()
            if key[0] == "contains" and key[2] == content and value is True and has(self.scene.entities[key[1]].type, Trait.PACK)
        ]  # fmt: skip
        if holders:
            found = max(holders, key=lambda e: (self.known[e].mentioned_s if e in self.known else -1e9, e))
        else:
            found = self.scene.add(_PACK_OF[kind], phrase.phrase, (mention.narration_id,))
            self.known[found] = _Known(heads={phrase.head}, modifiers=set(phrase.modifiers))
            self.scene.assume(
                ("contains", found, content),
                True,
                "bind",
                f"{phrase.text!r} is handled by its container",
                (mention.narration_id,),
            )
        self._touch(found, phrase, mention)
        self.last.append((found,))
        return found

    # things -------------------------------------------------------------------------------------------------

    def _things(
        self, phrase: NounPhrase, kind: str, mention: Mention, exclude: tuple[str, ...] = ()
    ) -> tuple[str, ...]:
        count = phrase.count or 1
        if count > 4 or (phrase.plural and phrase.count is None):
            return (self._group(phrase, kind, mention),)
        if count > 1:
            same = self._recent_set(phrase, count)
            if same:
                for one in same:
                    self._touch(one, phrase, mention)
                return same
        found: list[str] = []
        for _ in range(count):
            found.append(self._one(phrase, kind, mention, exclude=(*found, *exclude)))
        return tuple(found)

    def _recent_set(self, phrase: NounPhrase, count: int) -> tuple[str, ...]:
        if phrase.determiner not in {"both", "the", "all", "these", "those"}:
            return ()
        recent = [e for e, k in self.known.items() if phrase.head in k.heads and not k.plural and k.order >= 0]
        recent.sort(key=lambda e: (not self._held(e), -self.known[e].order))
        return tuple(sorted(recent[:count])) if len(recent) >= count else ()

    def _group(self, phrase: NounPhrase, kind: str, mention: Mention) -> str:
        for identifier, record in sorted(self.known.items(), key=lambda item: -item[1].order):
            if (
                record.plural
                and phrase.head in record.heads
                and not self._conflict(set(phrase.modifiers), record.modifiers)
                and record.order >= 0
            ):
                self._touch(identifier, phrase, mention)
                return identifier
        track, fit = self._best_track(phrase, mention)
        if track is not None and fit >= 1.2:
            return self._from_track(track, phrase, mention)
        if mention.role == "object" and mention.sense in _PUTTING:
            in_hand = self._in_hand(phrase, kind, ())
            if in_hand is not None:
                self._touch(in_hand, phrase, mention)
                return in_hand
        words = [
            word for word in phrase.text.split() if word not in {"the", "some", "all", "these", "those", "my", "of"}
        ]
        return self._new(kind, " ".join(words) or phrase.phrase, phrase, mention, plural=True)

    def _one(self, phrase: NounPhrase, kind: str, mention: Mention, exclude: tuple[str, ...]) -> str:
        best, score = None, 0.0
        for identifier, record in self.known.items():
            if identifier in exclude or identifier in self.scene.zone_of or record.order < 0:
                continue
            value = self._score(identifier, record, phrase, kind, mention)
            if value > score:
                best, score = identifier, value
        track, fit = self._best_track(phrase, mention, exclude)
        if (
            mention.role == "object"
            and mention.sense in _PUTTING
            and fit < 1.3
            and (best is None or not self._held(best))
        ):
            in_hand = self._in_hand(phrase, kind, exclude)
            track_of_best = self.known[best].track if best is not None else None
            if in_hand is not None and (track_of_best is None or self._time_fit(track_of_best, mention) < 0.4):
                self.scene.note("bind", "what is put down is what is held", (mention.narration_id,), entity=in_hand)
                self._touch(in_hand, phrase, mention)
                return in_hand
        if track is not None and fit > max(score, 0.99):
            held = best is not None and score >= 1.3 and self.known[best].track is None and self._held(best)
            if held and mention.sense in _PUTTING and best is not None:
                self._link(best, track)
                self.scene.note(
                    "bind",
                    "held since its pick-up and put down when this track ends",
                    (mention.narration_id, track.association.id),
                    entity=best,
                )
                self._touch(best, phrase, mention)
                return best
            return self._from_track(track, phrase, mention)
        if best is not None and score >= 0.75:
            self._touch(best, phrase, mention)
            return best
        if track is not None and fit >= 0.9 and phrase.determiner not in {"another"}:
            return self._from_track(track, phrase, mention)
        return self._new(kind, self._name(phrase), phrase, mention)

    def _in_hand(self, phrase: NounPhrase, kind: str, exclude: tuple[str, ...]) -> str | None:
        """Return a held thing that a phrase may well mean: of its kind, or sharing its noun, and not contrasted with it."""
        word = phrase.head.split()[-1]
        for _, thing in self.scene.state.held:
            record = self.known.get(thing)
            if thing in exclude or record is None or self._conflict(set(phrase.modifiers), record.modifiers):
                continue
            entity = self.scene.entities[thing]
            names = {singular(w) for head in record.heads for w in head.split()} | {
                singular(w) for w in entity.name.split()
            }
            generic = kind in {"tool", "part", "thing", "food", "vegetable", "fruit", "meat", "lid"}
            if singular(word) in names or (entity.type == kind and not generic):
                return thing
        return None

    def _name(self, phrase: NounPhrase) -> str:
        words = [m for m in phrase.modifiers if m not in {"other", "same", "new"}]
        name = " ".join([*words, phrase.head])
        if phrase.of is not None and not phrase.of.pronoun:
            name += f" of {phrase.of.phrase}"
        return name

    def _score(self, identifier: str, record: _Known, phrase: NounPhrase, kind: str, mention: Mention) -> float:
        entity = self.scene.entities[identifier]
        if phrase.head in record.heads:
            fit = 1.0
        elif phrase.piece and phrase.piece in record.heads:
            fit = 0.95
        elif phrase.head in {"thing", "object", "item"} and mention.sense in _PUTTING and self._held(identifier):
            fit = 0.5
        elif any(phrase.head.split()[-1] == head.split()[-1] for head in record.heads):
            fit = 0.85
        elif record.track is not None and name_fit(phrase, record.track) >= 0.5:
            fit = name_fit(phrase, record.track)
        elif (
            entity.type == kind
            and kind not in {"tool", "part", "thing", "food", "vegetable", "fruit", "meat"}
            and phrase.head in {kind, kind.replace("_", " ")}
        ):
            fit = 0.7
        else:
            return 0.0
        mine = set(phrase.modifiers) - {"same"}
        if self._conflict(mine, record.modifiers):
            fit -= 0.6
        fit += 0.1 * len(mine & record.modifiers) - 0.05 * len((mine ^ record.modifiers) - {"other"})
        if phrase.of is not None and not phrase.of.pronoun:
            about = phrase.of.head in entity.name or phrase.of.head in record.modifiers
            fit += 0.2 if about else -0.25 if phrase.relation == "content" and " of " in entity.name else 0.0
        if record.plural and not phrase.plural:
            fit -= 0.2
        away_s = max(0.0, mention.start_s - record.mentioned_s)
        fit += 0.35 * math.exp(-away_s / 90.0)
        if "other" in mine and self.last and identifier in self.last[-1]:
            fit -= 0.9
        held = self._held(identifier)
        if any(self.scene.facts.get(("openness", c)) == "closed" for c in carriers(self.scene.facts, identifier)):
            fit -= 0.4  # what lies in something closed is rarely what is meant
        if mention.role == "object" and mention.sense in _TAKING:
            fit += -0.5 if held else 0.0
            if phrase.determiner in {"another"}:
                fit -= 0.5
        elif (mention.role == "object" and mention.sense in _PUTTING) or mention.role == "instrument":
            fit += 0.8 if held else -0.15
        fit += self._time_fit(record.track, mention) if record.track is not None else 0.0
        if (
            record.track is not None
            and mention.role == "object"
            and mention.sense in _TAKING | _PUTTING
            and record.track.association.tracks
        ):
            if self._time_fit(record.track, mention) == 0 and any(
                name_fit(phrase, t) >= 0.8 and self._time_fit(t, mention) > 0.5
                for t in self.tracks
                if t is not record.track
            ):
                fit -= 0.5
        return fit

    def _held(self, identifier: str) -> bool:
        place = self.scene.facts.get(("place", identifier))
        return isinstance(place, tuple) and place[0] == "held"

    def _time_fit(self, track: NamedTrack, mention: Mention) -> float:
        movements = track.association.tracks
        if mention.role == "object" and mention.sense in _TAKING:
            return max((take_fit(m, mention.start_s, mention.end_s) for m in movements), default=0.0)
        if mention.role == "object" and mention.sense in _PUTTING:
            return max((put_fit(m, mention.start_s, mention.end_s) for m in movements), default=0.0)
        return 0.7 * max((use_fit(m, mention.start_s, mention.end_s) for m in movements), default=0.0)

    def _best_track(
        self, phrase: NounPhrase, mention: Mention, exclude: tuple[str, ...] = ()
    ) -> tuple[NamedTrack | None, float]:
        """Return the best track without an entity yet, scored like entities are."""
        best: tuple[NamedTrack | None, float] = (None, 0.0)
        for track in self.tracks:
            if track.association.id in self.entity_of or not track.association.tracks:
                continue
            fit = name_fit(phrase, track)
            if fit < 0.3:
                continue
            time = self._time_fit(track, mention)
            first_s = track.association.tracks[0].start_s
            if time == 0.0:
                fit -= 0.15 if first_s >= mention.start_s - 5.0 else 0.3
                fit -= 0.0 if abs(first_s - mention.start_s) < 60 else 0.1
            elif time > 0:
                fit += time
            if "other" in phrase.modifiers:
                fit += 0.1
            if fit > best[1]:
                best = (track, fit)
        return best

    def movement(self, identifier: str, mention: Mention) -> Track | None:
        """Return the movement of an entity's own track that fits a pick-up or put-down in time, if any."""
        record = self.known.get(identifier)
        if record is None or record.track is None:
            return None
        fit = put_fit if mention.sense in _PUTTING else take_fit
        scored = [
            (fit(m, mention.start_s, mention.end_s), -index, m)
            for index, m in enumerate(record.track.association.tracks)
        ]
        best = max(scored, default=None, key=lambda item: item[:2])
        return best[2] if best is not None and best[0] > 0.15 else None

    def _from_track(self, track: NamedTrack, phrase: NounPhrase, mention: Mention) -> str:
        kind = track.kind if track.kind is not None else self.kind_of(phrase)
        said = self.kind_of(phrase)
        if kind in {"thing", "tool", "part"} and said not in {"thing", "mixture"}:
            kind = said
        name = track.association.name.lower()
        content = None
        if has(kind, Trait.SUBSTANCE):
            content = self.substance(track.head, kind, track.association.id)
            kind = _PACK_OF[kind]
        identifier = self.scene.add(kind, class_name(name), (track.association.id,), fixed=kind in FIXTURES)
        self.known[identifier] = _Known(
            heads={track.head},
            modifiers=set(track.words) - set(track.head.split()),
            plural=phrase.plural and not phrase.count,
        )
        self._link(identifier, track)
        if content is not None:
            self.scene.assume(
                ("contains", identifier, content),
                True,
                "bind",
                f"track {name!r} names a container by its content",
                (track.association.id,),
            )
        self._touch(identifier, phrase, mention)
        return identifier

    def _link(self, identifier: str, track: NamedTrack) -> None:
        self.known[identifier].track = track
        self.entity_of[track.association.id] = identifier
        self.scene.learn(identifier, track.association.name, track.association.id)

    def _new(self, kind: str, name: str, phrase: NounPhrase, mention: Mention, plural: bool = False) -> str:
        identifier = self.scene.add(kind, name, (mention.narration_id,))
        self.known[identifier] = _Known(plural=plural)
        self._touch(identifier, phrase, mention)
        if phrase.of is not None and not phrase.of.pronoun and phrase.relation == "content":
            of_kind = self.kind_of(phrase.of)
            if has(of_kind, Trait.SUBSTANCE):
                content = self.substance(phrase.of.phrase, of_kind, mention.narration_id)
                self.scene.assume(
                    ("contains", identifier, content),
                    True,
                    "bind",
                    f"{phrase.text!r} names its content",
                    (mention.narration_id,),
                )
            elif of_kind not in FIXTURES and mention.role != "target" and not phrase.of.pronoun:
                pass
        if (
            phrase.of is not None and phrase.relation == "owner" and not phrase.of.pronoun and has(kind, Trait.PART)
        ) or (kind == "lid" and phrase.of is not None):
            owner = self.resolve(
                phrase.of, Mention("owner", mention.sense, "", mention.start_s, mention.end_s, mention.narration_id)
            )
            if owner and owner[0] != identifier and self.scene.entities[owner[0]].type != "hand":
                self.scene.assume(
                    ("place", identifier),
                    ("on", owner[0]),
                    "bind",
                    f"{phrase.text!r} is part of it",
                    (mention.narration_id,),
                )
                if kind == "lid":
                    self.scene.assume(
                        ("attached", identifier),
                        owner[0],
                        "bind",
                        f"{phrase.text!r} is its lid",
                        (mention.narration_id,),
                    )
        return identifier

    def _touch(self, identifier: str, phrase: NounPhrase, mention: Mention) -> None:
        record = self.known.setdefault(identifier, _Known())
        record.heads.add(phrase.head)
        if identifier not in self.scene.zone_of:
            record.modifiers |= {singular(m) for m in phrase.modifiers if m not in {"other", "same", "next"}}
        record.mentioned_s = max(record.mentioned_s, mention.start_s)
        record.order = self.count = self.count + 1
        self.scene.learn(identifier, self._name(phrase) if not phrase.pronoun else "", mention.narration_id)
