"""Mentions to entities: by tracks, fixtures, containers, hands and discourse. Same name is not same thing.

A mention is bound to the entity with the best sum of name fit and evidence; evidence is a track that begins, ends or
runs at the right moment, a hand that holds the thing, and recency in the discourse. Without enough evidence a new
entity is made, so that records stay apart. Stage: bind.

It is long because a mention may be of a hand, a fixture, a substance, a pack or a thing, and each falls back on others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ego2world.annotations.cells import class_name
from ego2world.annotations.records import Association, Track, Vocabulary
from ego2world.compiler.fixtures import FIXTURES, Fixtures
from ego2world.compiler.match import Match
from ego2world.compiler.memory import Known, Memory, Mention
from ego2world.compiler.reason import Why, because
from ego2world.compiler.scene import Scene
from ego2world.compiler.tracks import NamedTrack, named, put_fit, take_fit
from ego2world.language.lexicon import lexicon
from ego2world.language.phrases import SOLID_PIECES, NounPhrase
from ego2world.ontology.kinds import Trait, has, kinds_with
from ego2world.ontology.senses import Tag, senses
from ego2world.world.state import BOTH, LEFT, RIGHT, vessels

_PACK_OF = {
    "oil": "bottle",
    "milk": "bottle",
    "soap": "bottle",
    "juice": "bottle",
    "drink": "bottle",
    "sauce": "bottle",
    "water": "bottle",
    "coffee": "jar",
    "tea": "box",
    "salt": "jar",
    "spice": "jar",
    "sugar": "jar",
    "flour": "bag",
    "rice": "bag",
    "seed": "bag",
    "soup": "tub",
    "mixture": "tub",
    "yoghurt": "tub",
}


class Binder:
    """Binds phrases to entities of one scene, in narration order."""

    def __init__(self, scene: Scene, associations: Sequence[Association], vocabulary: Vocabulary) -> None:
        self.scene = scene
        self.vocabulary = vocabulary
        self.tracks = [named(association) for association in associations if not association.placeholder]
        self.entity_of: dict[str, str] = {}
        self.memory = Memory(scene)
        self.solids: set[str] = set()  # heads that were found to name something solid
        self.known = self.memory.known
        self.fixtures = Fixtures(self.memory, self.tracks)
        self.match = Match(self.memory, self.tracks, self.entity_of)
        placeholders = [a.id for a in associations if a.placeholder]
        if placeholders:
            scene.note("bind", because(Why.PLACEHOLDERS, count=len(placeholders)), placeholders)

    def fixture_of(self, name: str | None) -> str | None:
        """Return the entity of a digital-twin fixture name; None for no fixture and for mid-air."""
        return self.fixtures.fixture_of(name)

    def kind_of(self, phrase: NounPhrase) -> str:
        """Return the kind of a phrase's head: by lexicon, else by the data set's own noun class, else "thing"."""
        known = lexicon()
        kind = known.kind(phrase.head)
        if kind is None and phrase.piece:
            kind = known.kind(phrase.head.removesuffix(f" {phrase.piece}"))
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
            for found in reversed(self.memory.last[-4:]):
                heads = sorted(self.known[found[0]].heads) if found and found[0] in self.known else []
                if heads:
                    return self.resolve(
                        replace(phrase, head=heads[0], modifiers=(*phrase.modifiers, "other")), mention, hint, exclude
                    )
            return ()
        kind = self._solid(phrase, self.kind_of(phrase), mention)
        if kind == "hand":
            return (self._hand(phrase),)
        if kind == "face":
            return ("body",)
        if kind in FIXTURES and self._part_of_a_thing(phrase):
            kind = "part"  # the shelf of a coffee machine, the centre of a frother: no furniture
        if kind in FIXTURES:
            fixture = self.fixtures.bind(phrase, kind, mention, hint)
            if mention.role == "object":
                self.memory.spoke((fixture,), mention)
            return (fixture,)
        if has(kind, Trait.SUBSTANCE):
            by_pack = mention.role == "object" and mention.sense in senses(Tag.BY_PACK) and not phrase.piece
            return (
                (
                    self._pack(phrase, kind, mention)
                    if by_pack
                    else self.substance(phrase.phrase, kind, mention.narration_id)
                ),
            )
        found = self._things(phrase, kind, mention, exclude)
        if mention.role == "object":
            self.memory.spoke(found, mention)
        return found

    def _solid(self, phrase: NounPhrase, kind: str, mention: Mention) -> str:
        """Return "vegetable" for what is called like a drink or sauce, but is cut, peeled or in pieces: squash."""
        if phrase.head == "pepper" and (mention.role == "content" or (phrase.quantity and phrase.quantity.unit)):
            return "spice"
        if kind not in kinds_with(Trait.SUBSTANCE) or has(kind, Trait.FOOD):
            return kind
        if phrase.piece in SOLID_PIECES or mention.sense in senses(Tag.CUTS):
            self.solids.add(phrase.head)
        return "vegetable" if phrase.head in self.solids else kind

    def _part_of_a_thing(self, phrase: NounPhrase) -> bool:
        """Say whether a phrase that names a fixture by its head belongs to a movable thing."""
        owner = phrase.of if phrase.relation == "owner" else None
        return owner is not None and not owner.pronoun and has(self.kind_of(owner), Trait.PORTABLE)

    def _hand(self, phrase: NounPhrase) -> str:
        if phrase.plural or "both" in phrase.determiner:
            return BOTH
        return LEFT if "left" in phrase.modifiers else RIGHT if "right" in phrase.modifiers else BOTH

    def _pronoun(self, phrase: NounPhrase, mention: Mention) -> tuple[str, ...]:
        """Return what a pronoun means: what its own narration spoke of before, else what is in the hand that puts it;
        else nothing, since an older thing of another narration would be a guess."""
        if phrase.head in {"something", "everything", "this", "that"}:
            return ()
        before = self.memory.spoken_in(mention.narration_id)
        if phrase.plural or phrase.head in {"them", "these", "those", "both", "all"}:
            for found in reversed(before):
                if len(found) > 1 or any(self.known[e].plural for e in found if e in self.known):
                    return found
            several = tuple(dict.fromkeys(found[0] for found in before[-2:]))
            return several or self._held_alone(mention, plural=True)
        wanted = self.scene.world.openable if mention.sense in {"open", "close"} else None
        moved = mention.sense in senses(Tag.PUTTING) | senses(Tag.TAKING)
        for found in reversed(before):
            if wanted is not None and not set(found) & wanted:
                continue
            if moved and any(e in self.scene.zone_of for e in found):
                continue
            if phrase.head in {"one", "other"} or "other" in phrase.modifiers:
                return self._other_of(found, phrase, mention)
            return found
        return self._held_alone(mention, plural=False)

    def _other_of(self, found: tuple[str, ...], phrase: NounPhrase, mention: Mention) -> tuple[str, ...]:
        """Return the other one of what was spoken of: "the fork ... the other"."""
        heads = sorted(self.known[found[0]].heads) if found[0] in self.known else []
        if not heads:
            return found
        modifiers = phrase.modifiers if "other" in phrase.modifiers else (*phrase.modifiers, "other")
        return self.resolve(NounPhrase(phrase.text, heads[0], modifiers), mention)

    def _held_alone(self, mention: Mention, plural: bool) -> tuple[str, ...]:
        """Return the one thing in the hands where an act puts or handles what is held."""
        held = tuple(dict.fromkeys(thing for _, thing in self.scene.state.held))
        if mention.role == "object" and mention.sense in senses(Tag.IN_HAND) and (len(held) == 1 or plural):
            return held
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
        self.known[identifier] = Known(heads={name})
        return identifier

    def _pack(self, phrase: NounPhrase, kind: str, mention: Mention) -> str:
        """Return the container that is meant when a substance is handled ("put the milk in the fridge")."""
        track, fit = self.match.best_track(phrase, mention)
        if track is not None and fit >= 1.0:
            found = self._from_track(track, phrase, mention)
            self.memory.spoke((found,), mention)
            return found
        content = self.substance(phrase.phrase, kind, mention.narration_id)
        holders = [v for v in vessels(self.scene.facts, content) if has(self.scene.entities[v].type, Trait.PACK)]
        if holders:
            found = max(holders, key=lambda e: (self.known[e].mentioned_s if e in self.known else -1e9, e))
        else:
            found = self.scene.add(_PACK_OF[kind], phrase.phrase, (mention.narration_id,))
            self.known[found] = Known(heads={phrase.head}, modifiers=set(phrase.modifiers))
            self.scene.assume(
                ("contains", found, content),
                True,
                "bind",
                because(Why.BY_ITS_CONTAINER, phrase=phrase.text),
                (mention.narration_id,),
            )
        self.memory.touch(found, phrase, mention)
        self.memory.spoke((found,), mention)
        return found

    # things -------------------------------------------------------------------------------------------------

    def _things(
        self, phrase: NounPhrase, kind: str, mention: Mention, exclude: tuple[str, ...] = ()
    ) -> tuple[str, ...]:
        if phrase.head.isdigit():
            return ()  # "pick up 3": of what is not said
        count = phrase.count or 1
        if count > 4 or (phrase.plural and phrase.count is None):
            return (self._group(phrase, kind, mention),)
        if count > 1:
            same = self._recent_set(phrase, count)
            if same:
                for one in same:
                    self.memory.touch(one, phrase, mention)
                return same
        found: list[str] = []
        for _ in range(count):
            found.append(self._one(phrase, kind, mention, exclude=(*found, *exclude)))
        return tuple(found)

    def _recent_set(self, phrase: NounPhrase, count: int) -> tuple[str, ...]:
        if phrase.determiner not in {"both", "the", "all", "these", "those"}:
            return ()
        recent = [e for e, k in self.known.items() if phrase.head in k.heads and not k.plural and k.order >= 0]
        recent.sort(key=lambda e: (not self.scene.held(e), -self.known[e].order))
        return tuple(sorted(recent[:count])) if len(recent) >= count else ()

    def _group(self, phrase: NounPhrase, kind: str, mention: Mention) -> str:
        for identifier, record in sorted(self.known.items(), key=lambda item: -item[1].order):
            if (
                record.plural
                and phrase.head in record.heads
                and not self.memory.conflict(set(phrase.modifiers), record.modifiers)
                and record.order >= 0
            ):
                self.memory.touch(identifier, phrase, mention)
                return identifier
        track, fit = self.match.best_track(phrase, mention)
        if track is not None and fit >= 1.2:
            return self._from_track(track, phrase, mention)
        if mention.role == "object" and mention.sense in senses(Tag.PUTTING):
            in_hand = self.match.in_hand(phrase, kind, ())
            if in_hand is not None:
                self.memory.touch(in_hand, phrase, mention)
                return in_hand
        words = [
            word for word in phrase.text.split() if word not in {"the", "some", "all", "these", "those", "my", "of"}
        ]
        return self._new(kind, " ".join(words) or phrase.phrase, phrase, mention, plural=True)

    def _one(self, phrase: NounPhrase, kind: str, mention: Mention, exclude: tuple[str, ...]) -> str:
        best, score = None, 0.0
        for identifier in self.match.candidates(phrase, kind):
            if identifier in exclude:
                continue
            value = self.match.score(identifier, self.known[identifier], phrase, kind, mention)
            if value > score:
                best, score = identifier, value
        track, fit = self.match.best_track(phrase, mention, exclude)
        if (
            mention.role == "object"
            and mention.sense in senses(Tag.PUTTING)
            and fit < 1.3
            and (best is None or not self.scene.held(best))
        ):
            in_hand = self.match.in_hand(phrase, kind, exclude)
            track_of_best = self.known[best].track if best is not None else None
            if in_hand is not None and (track_of_best is None or self.match.time_fit(track_of_best, mention) < 0.4):
                self.scene.note("bind", because(Why.PUT_IS_HELD), (mention.narration_id,), entity=in_hand)
                self.memory.touch(in_hand, phrase, mention)
                return in_hand
        if track is not None and fit > max(score, 0.99):
            held = best is not None and score >= 1.3 and self.known[best].track is None and self.scene.held(best)
            if held and mention.sense in senses(Tag.PUTTING) and best is not None:
                self._link(best, track)
                self.scene.note(
                    "bind", because(Why.HELD_UNTIL_TRACK_END), (mention.narration_id, track.association.id), entity=best
                )
                self.memory.touch(best, phrase, mention)
                return best
            return self._from_track(track, phrase, mention)
        if best is not None and score >= 0.75:
            self.memory.touch(best, phrase, mention)
            return best
        if track is not None and fit >= 0.9 and phrase.determiner not in {"another"}:
            return self._from_track(track, phrase, mention)
        return self._new(kind, self.memory.name(phrase), phrase, mention)

    def movement(self, identifier: str, mention: Mention) -> Track | None:
        """Return the movement of an entity's own track that fits a pick-up or put-down in time, if any."""
        record = self.known.get(identifier)
        if record is None or record.track is None:
            return None
        fit = put_fit if mention.sense in senses(Tag.PUTTING) else take_fit
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
        self.known[identifier] = Known(
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
                because(Why.TRACK_NAMES_CONTENT, name=name),
                (track.association.id,),
            )
        self.memory.touch(identifier, phrase, mention)
        return identifier

    def _link(self, identifier: str, track: NamedTrack) -> None:
        self.known[identifier].track = track
        self.entity_of[track.association.id] = identifier
        self.scene.learn(identifier, track.association.name, track.association.id)

    def _new(self, kind: str, name: str, phrase: NounPhrase, mention: Mention, plural: bool = False) -> str:
        identifier = self.scene.add(kind, name, (mention.narration_id,))
        self.known[identifier] = Known(plural=plural)
        self.memory.touch(identifier, phrase, mention)
        if phrase.of is not None and not phrase.of.pronoun and phrase.relation == "content":
            of_kind = self.kind_of(phrase.of)
            if has(of_kind, Trait.SUBSTANCE):
                content = self.substance(phrase.of.phrase, of_kind, mention.narration_id)
                self.scene.assume(
                    ("contains", identifier, content),
                    True,
                    "bind",
                    because(Why.NAMES_CONTENT, phrase=phrase.text),
                    (mention.narration_id,),
                )
        if (
            phrase.of is not None and phrase.relation == "owner" and not phrase.of.pronoun and has(kind, Trait.PART)
        ) or (kind == "lid" and phrase.of is not None):
            owner = self.resolve(
                phrase.of, Mention("owner", mention.sense, "", mention.start_s, mention.end_s, mention.narration_id)
            )
            if owner and owner[0] != identifier and self.scene.entities[owner[0]].type != "hand":
                self.known[identifier].owner = owner[0]
                self.scene.assume(
                    ("place", identifier),
                    ("on", owner[0]),
                    "bind",
                    because(Why.PART_OF, phrase=phrase.text),
                    (mention.narration_id,),
                )
                if kind == "lid":
                    self.scene.assume(
                        ("attached", identifier),
                        owner[0],
                        "bind",
                        because(Why.LID_OF, phrase=phrase.text),
                        (mention.narration_id,),
                    )
        return identifier
