"""What the narrations to come say of a thing: whether it is in a hand until then. Stage: reconcile.

A thing that is next put somewhere, or next used as a tool, has been held until then; one that is next picked up has
been let go, though nobody said when.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ego2world.compiler.memory import Known, Memory
from ego2world.language.lexicon import singular
from ego2world.language.phrases import NounPhrase
from ego2world.language.roles import Intent
from ego2world.ontology.senses import Tag, senses

HORIZON_S = 60.0  # a hold that is not spoken of for longer than this is not taken for granted


@dataclass(frozen=True)
class Said:
    """One mention to come: its place in the order of intents, when, in which role of which act, with which hands."""

    order: int
    start_s: float
    role: str
    sense: str
    phrase: NounPhrase
    hands: tuple[str, ...]


@dataclass(frozen=True)
class Claim:
    """What the next telling mention implies: whether the thing is in a hand until then, and in which if that is
    said."""

    held: bool
    said: Said

    @property
    def hand(self) -> str | None:
        """The hand that is named, if just one is."""
        return self.said.hands[0] if len(self.said.hands) == 1 and self.said.hands[0] in {"left", "right"} else None


class Ahead:
    """The mentions of a video in order, by the last word of their heads."""

    def __init__(self, intents: Sequence[tuple[float, Intent]]) -> None:
        self._said: dict[str, list[Said]] = defaultdict(list)
        self.named: list[tuple[int, str]] = []
        for order, (start_s, intent) in enumerate(intents):
            for role, phrases in intent.phrases:
                for phrase in phrases:
                    self._add(Said(order, start_s, role, intent.sense, phrase, intent.hands))
            for phrase, hand in intent.holds:
                self._add(Said(order, start_s, "held", "hold", phrase, (hand,)))
            self.named += [(order, hand) for hand in intent.hands if hand in {"left", "right"}]

    def _add(self, said: Said) -> None:
        if not said.phrase.pronoun:
            self._said[singular(said.phrase.head.split()[-1])].append(said)

    def of(self, record: Known, after: int) -> Iterator[Said]:
        """Yield what is said of a thing by name after an intent, in order."""
        words = sorted({singular(head.split()[-1]) for head in record.heads})
        found = [said for word in words for said in self._after(word, after)]
        for said in sorted(found, key=lambda one: (one.order, one.role, one.phrase.text)):
            modifiers = set(said.phrase.modifiers)
            if not (modifiers & {"other", "next"}) and not Memory.conflict(modifiers, record.modifiers):
                yield said

    def _after(self, word: str, after: int) -> Sequence[Said]:
        rows = self._said.get(word, [])
        return rows[bisect_right(rows, after, key=lambda one: one.order) :][:12]

    def claim(self, record: Known, after: int, now_s: float) -> Claim | None:
        """Return what the next telling mention implies of a thing, None when nothing soon tells."""
        for said in self.of(record, after):
            if said.start_s - now_s > HORIZON_S:
                return None
            if said.role in {"instrument", "held"} or (said.role == "source" and said.sense in senses(Tag.FROM_HAND)):
                return Claim(True, said)
            if said.role == "object":
                if said.sense in senses(Tag.IN_HAND):
                    return Claim(True, said)
                if said.sense in senses(Tag.TAKING) | senses(Tag.LYING):
                    return Claim(False, said)
        return None

    def named_between(self, after: int, until: int) -> list[str]:
        """Return the hands that are named for acts between two intents."""
        first = bisect_right(self.named, (after, "~"))
        return [hand for order, hand in self.named[first:] if order < until]
