"""Fixtures: the digital twin's names, and which of them a narration speaks of. Stage: bind.

A fixture is bound by the track of the act, by what is open, by the movements that follow, by modifiers ("upper"), and
only then by recency; cupboards, drawers and shelves that nothing ties to a known one become fixtures of their own.
"""

from __future__ import annotations

import re
from bisect import bisect_left

from ego2world.compiler.memory import Known, Memory, Mention
from ego2world.compiler.reason import Why, because
from ego2world.compiler.tracks import NamedTrack
from ego2world.language.lexicon import lexicon
from ego2world.language.phrases import NounPhrase
from ego2world.ontology.kinds import Trait, kinds_with

FIXTURES = kinds_with(Trait.FIXED) - {"zone", "light", "fan", "socket"}
_SINGLE = frozenset(
    "fridge freezer oven microwave dishwasher washing_machine sink hob tap floor light fan room".split()
)
_FIXTURE_NAMES = {
    "fridgefreezer": "fridge", "windowsill": "window", "storage": "cupboard", "top_microwave": "shelf",
    "top_drawer": "drawer",
    "washingmachine": "washing_machine", "hobs": "hob", "worktop": "counter", "island": "counter", "trash": "bin",
}  # fmt: skip
# A spoken kind may be any of these fixtures of the digital twin.
_COMPATIBLE = {
    "counter": {"counter", "window", "shelf", "table", "rack"},
    "shelf": {"shelf", "cupboard", "drawer", "fridge", "counter", "freezer"},
    "cupboard": {"cupboard", "drawer", "shelf", "fridge"},
    "drawer": {"drawer", "cupboard", "fridge", "freezer", "dishwasher", "oven"},
    "rack": {"rack", "sink", "counter", "dishwasher", "oven", "cupboard", "shelf", "hook"},
    "hook": {"hook", "cupboard", "shelf", "counter", "oven", "radiator", "door"},
    "fridge": {"fridge", "freezer"}, "freezer": {"freezer", "fridge"}, "bin": {"bin"},
    "sink": {"sink"}, "table": {"table", "counter"}, "hob": {"hob"}, "window": {"window", "counter"},
    "tap": {"sink", "counter"}, "oven": {"oven"}, "microwave": {"microwave"}, "dishwasher": {"dishwasher"},
    "floor": {"floor"},
}  # fmt: skip
_LEVELS = {"upper": "top", "lower": "bottom"}
_STORES = frozenset("cupboard drawer shelf".split())
_NESTED = frozenset("drawer rack shelf".split())
_HOSTS = frozenset("dishwasher fridge freezer oven cupboard".split())


class Fixtures:
    """The fixtures of one scene: those of the digital twin and those that only narrations name."""

    def __init__(self, memory: Memory, tracks: list[NamedTrack]) -> None:
        self.memory, self.scene, self.known = memory, memory.scene, memory.known
        self.of_twin: dict[str, str] = {}
        names = {f for t in tracks for m in t.association.tracks for f in (m.start_fixture, m.end_fixture) if f}
        for name in sorted(names):
            self._add_twin_fixture(name)
        self.visits = sorted(
            (moment_s, self.of_twin[name])
            for track in tracks
            for m in track.association.tracks
            for moment_s, name in ((m.start_s, m.start_fixture), (m.end_s, m.end_fixture))
            if name in self.of_twin
        )

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
        self.of_twin[name] = identifier
        self.known[identifier] = Known(heads={kind, spoken})

    def fixture_of(self, name: str | None) -> str | None:
        """Return the entity of a digital-twin fixture name; None for no fixture and for mid-air."""
        return self.of_twin.get(name) if name else None

    def bind(self, phrase: NounPhrase, kind: str, mention: Mention, hint: str | None) -> str:
        hosts = [phrase.of] if phrase.of is not None and phrase.relation == "owner" else []
        host_kind = lexicon().kind(hosts[0].head) if hosts else None
        host_word = next((m for m in phrase.modifiers if lexicon().kind(m) in _HOSTS), None)
        if kind == "shelf" and host_kind in {"rack", "sink"}:
            return self.bind(hosts[0], host_kind, mention, hint)
        if hint is not None and hint.startswith(f"top_{kind}"):
            return self._note(hint, phrase, mention)
        if kind in _NESTED and (host_kind in _HOSTS or host_word):
            host = self.bind(
                hosts[0] if hosts and host_kind in _HOSTS else NounPhrase(host_word or "", host_word or ""),
                host_kind if host_kind in _HOSTS else lexicon().kind(host_word or "") or "cupboard",
                mention,
                hint,
            )
            self.scene.learn(host, phrase.phrase, mention.narration_id)
            if kind == "shelf" or self.scene.entities[host].type == "cupboard":
                return host
            return self._nested(phrase, kind, host, mention)
        if hint is not None and self.scene.entities[hint].type in _COMPATIBLE.get(kind, {kind}):
            return self._note(hint, phrase, mention)
        alike = [e for e in self.known if self.scene.entities[e].type == kind]
        same = [e for e in alike if e in self.scene.zone_of]
        nested = [e for e in alike if e not in self.scene.zone_of]
        if kind in _SINGLE and same:
            return self._note(same[0], phrase, mention)
        wanted = {m for m in phrase.modifiers if m not in {"same", "kitchen"} and not lexicon().known_noun(m)}
        if hosts and kind in _STORES:
            wanted.add(hosts[0].head)
        facts = self.scene.facts
        if mention.sense == "close":
            opened = [e for e in (*same, *nested) if facts.get(("openness", e)) == "open"]
            fitting = [e for e in opened if not self.memory.conflict(wanted, self.known[e].modifiers)]
            if fitting:
                return self._note(max(fitting, key=lambda e: self.known[e].mentioned_s), phrase, mention)
        if mention.sense in {"open", "close"} or kind in _STORES:
            ahead = self._ahead(kind, mention)
            if (
                ahead is not None
                and not self.memory.conflict(wanted, self.known[ahead].modifiers)
                and not (mention.sense == "open" and facts.get(("openness", ahead)) == "open")
            ):
                return self._note(ahead, phrase, mention)
        fitting = [e for e in (*same, *nested) if not self.memory.conflict(wanted, self.known[e].modifiers)]
        if "other" in wanted and self.memory.last:
            recent = max(fitting, key=lambda e: self.known[e].mentioned_s, default=None)
            fitting = [e for e in fitting if e != recent]
        if mention.sense == "open":
            fitting = [e for e in fitting if facts.get(("openness", e)) != "open"]
        exact = [e for e in fitting if wanted and wanted <= self.known[e].modifiers]
        pool = exact or (
            [e for e in fitting if not wanted or not self.known[e].modifiers] if kind in _STORES else fitting
        )
        heard = [e for e in pool if self.known[e].order >= 0]
        if heard:
            return self._note(max(heard, key=lambda e: self.known[e].mentioned_s), phrase, mention)
        if pool and (kind not in _STORES or not wanted):
            return self._note(pool[0], phrase, mention)
        if kind == "table" or kind in _SINGLE or kind not in {"cupboard", "drawer", "shelf", "door", "counter"}:
            name = phrase.head
        else:
            name = phrase.phrase if not hosts else f"{phrase.phrase} of {hosts[0].head}"
        identifier = self.scene.add(kind, name, (mention.narration_id,), fixed=True)
        self.known[identifier] = Known()
        return self._note(identifier, phrase, mention, wanted)

    def _nested(self, phrase: NounPhrase, kind: str, host: str, mention: Mention) -> str:
        """Return the drawer or rack inside a host, told apart by its modifiers."""
        wanted = {_LEVELS.get(m, m) for m in phrase.modifiers if lexicon().kind(m) not in _HOSTS}
        inside = [
            e
            for e, k in self.known.items()
            if self.scene.initial.get(("place", e)) == ("in", host) and self.scene.entities[e].type == kind and k.heads
        ]
        fitting = [e for e in inside if not self.memory.conflict(wanted, self.known[e].modifiers)]
        exact = [e for e in fitting if wanted == self._telling(e) or not wanted]
        chosen = exact or (fitting if wanted and not any(self._telling(e) for e in fitting) else [])
        if chosen:
            return self._note(max(chosen, key=lambda e: self.known[e].mentioned_s), phrase, mention, wanted)
        label = " ".join([*sorted(wanted, key=phrase.text.find), phrase.head])
        identifier = self.scene.add(kind, f"{label} of {self.scene.entities[host].name}", (mention.narration_id,))
        self.known[identifier] = Known(heads={phrase.head})
        self.scene.assume(
            ("place", identifier),
            ("in", host),
            "bind",
            because(Why.FIXTURE_PART, kind=kind, host=host),
            (mention.narration_id,),
        )
        return self._note(identifier, phrase, mention, wanted)

    def _telling(self, identifier: str) -> set[str]:
        """Return the modifiers that tell a part from the others of its host."""
        return {_LEVELS.get(m, m) for m in self.known[identifier].modifiers if lexicon().kind(m) not in _HOSTS}

    def _ahead(self, kind: str, mention: Mention) -> str | None:
        """Return the fixture of the kind that the next movements (or, on closing, the last) start from or end at."""
        kinds = {kind} if kind != "shelf" else {"shelf", "cupboard"}
        earliest_s, latest_s = (-20.0, 1.0) if mention.sense == "close" else (-1.0, 20.0)
        first = bisect_left(self.visits, (mention.start_s + earliest_s, ""))
        behind = bisect_left(self.visits, (mention.start_s + latest_s, "\uffff"))
        visits = [
            (abs(moment_s - mention.start_s), e)
            for moment_s, e in self.visits[first:behind]
            if self.scene.entities[e].type in kinds
        ]
        return min(visits)[1] if visits else None

    def _note(self, identifier: str, phrase: NounPhrase, mention: Mention, wanted: set[str] | None = None) -> str:
        record = self.known[identifier]
        if wanted is None:
            wanted = {
                m for m in phrase.modifiers if m not in {"other", "same", "kitchen"} and not lexicon().known_noun(m)
            }
        record.modifiers |= wanted
        self.memory.touch(identifier, phrase, mention)
        return identifier
