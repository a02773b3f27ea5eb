"""What every recipe uses: clips, times in words, evidence of operations, drafts of turns. Stage: qa, drafting.

A recipe fixes what an answer rests on before it words a question. Multiple choice comes later, from the answers of all
drafts.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ego2world.ontology.kinds import Trait, has
from ego2world.qa.clauses import clause_of
from ego2world.qa.queries import AnyQuery
from ego2world.qa.recording import Recording
from ego2world.qa.records import Clip
from ego2world.qa.spans import Spans
from ego2world.qa.taxonomy import Category
from ego2world.world.fluents import FactKey

PAD_S = 4.0  # a clip begins and ends this much outside of what is asked about
SETTLE_S = 0.3  # a state is asked for at least this long after it came about
STALE_S = 90.0  # nothing is asked about a hand's load that was last seen longer ago
FAR_S = 240.0  # links over longer times are not asked for


@dataclass(frozen=True)
class DraftTurn:
    """A turn before options: ``value`` is the answer as the world has it, ``family`` groups answers that may stand as
    options beside each other (None: always open)."""

    question: str
    answer: str
    query: AnyQuery
    value: Any
    direct: tuple[str, ...] = ()
    inherited: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    family: str | None = None
    key_points: tuple[str, ...] = ()
    standalone: str = ""
    depends_on: tuple[int, ...] = ()
    observation: str = ""


@dataclass(frozen=True)
class QuestionDraft:
    """A question or dialogue before options, ids and checks. ``at_s`` says in which window it counts."""

    category: Category
    subtype: str
    clip: Clip
    at_s: float
    turns: tuple[DraftTurn, ...]
    streams: frozenset[str] = frozenset({"visual"})
    cutoff_s: float | None = None
    bridging_fact: str = ""
    lost_without_earlier: str = ""
    relation: str | None = None
    links: tuple[tuple[str, str], ...] = ()  # operations of which the second is impossible without the first
    loop_roles: Mapping[str, str] | None = None
    operations: tuple[int, ...] = field(default=())


class RecipeContext:
    """A recording with what recipes look up in it again and again."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.names = recording.names

    @cached_property
    def told(self) -> list[int]:
        """Operations that somebody narrated."""
        return [i for i in range(len(self.recording.operations)) if self.recording.told(i)]

    @cached_property
    def alone(self) -> frozenset[int]:
        """Told operations that are the only ones of their narration: one main action."""
        recording = self.recording
        return frozenset(
            i
            for i in self.told
            if all(len(recording.of_narration[n]) == 1 for n in recording.operations[i]["narration_ids"])
        )

    @cached_property
    def _tracks(self) -> dict[str, str]:
        return {row["track"]: row["id"] for row in self.recording.annotations["tracks"]}

    def clip(self, start_s: float, end_s: float, cutoff_s: float | None = None) -> Clip:
        """Return the clip around a span, in whole seconds; one with a cutoff ends there."""
        first_s = max(0.0, float(math.floor(start_s - PAD_S)))
        if cutoff_s is not None:
            return Clip(video=self.recording.id, start_s=first_s, end_s=cutoff_s, cutoff_safe=True)
        last_s = min(math.ceil(end_s + PAD_S), math.ceil(self.recording.end_s))
        return Clip(video=self.recording.id, start_s=first_s, end_s=float(max(last_s, math.ceil(end_s))))

    def evidence(self, *operations: int | None) -> tuple[str, ...]:
        """Return the ids of operations and of the tracks behind them."""
        found: list[str] = []
        for i in operations:
            if i is not None:
                row = self.recording.operations[i]
                found += [row["id"], *(self._tracks[t] for t in row["track_ids"] if t in self._tracks)]
        return tuple(dict.fromkeys(found))

    def affords(self, thing: str) -> str:
        """Return a word for what can be done with a thing, so that options suit it equally."""
        kind = self.recording.world.entities[thing].type
        fixed = thing in self.recording.world.zone_of
        traits = [
            t.value for t in (Trait.OPENABLE, Trait.POWERED, Trait.FOOD, Trait.CLOTH, Trait.SUBSTANCE) if has(kind, t)
        ]
        return ",".join(["fixed" if fixed else "portable", *traits])

    def anchors(self, *operations: int) -> tuple[str, ...]:
        """Return the narrations behind operations."""
        return tuple(dict.fromkeys(n for i in operations for n in self.recording.operations[i]["narration_ids"]))

    def settled(self, key: FactKey, i: int) -> float | None:
        """Return a time at which a fact stands as operation ``i`` left it, clear of what changes it; None without such
        a time."""
        end_s, until_s = self.recording.span(i)[1], self.recording.lasts(key, i)[0]
        return None if until_s - end_s < 2 * SETTLE_S else round(end_s + min(2.0, (until_s - end_s) / 2), 1)

    def act(self, i: int, it: str | None = None, without: Sequence[str] = ()) -> str:
        """Return an operation as words, "pick it up" rather than "pick up it"."""
        return self.names.act(self.recording.actions[i], it, ("hand", *without))

    def clause(self, i: int, relation: str) -> tuple[str, str] | None:
        """Return (narration, quote) of the clause of a relation that an operation's narration has, where it is the
        first of its only one."""
        narration, *more = self.recording.operations[i]["narration_ids"]
        if more or self.recording.of_narration[narration][0] != i:
            return None
        quote = clause_of(self.recording.narrations[narration]["text"], relation)
        return None if quote is None else (narration, quote)

    def window(self, i: int) -> tuple[float, float]:
        """Return an operation's span in seconds: without the parts in which its neighbours go on too, where half a
        second is left; widened to half a second where it is a point."""
        start_s, end_s = self.recording.span(i)
        low_s, high_s = start_s, end_s
        for j in self._near(i):
            first_s, last_s = self.recording.span(j)
            if first_s <= start_s < last_s < end_s:
                low_s = max(low_s, last_s)
            elif start_s < first_s < end_s <= last_s:
                high_s = min(high_s, first_s)
        if high_s - low_s >= 0.5:
            return low_s, high_s
        return (start_s, end_s) if end_s - start_s >= 0.5 else (start_s, start_s + 0.5)

    def during(self, start_s: float, end_s: float) -> list[int]:
        """Return the told operations that are under way at some time within a span."""
        span = self.recording.span
        near = self._spans.near(start_s, end_s)
        return [i for i in near if i in self._told and span(i)[0] < end_s and span(i)[1] > start_s]

    @cached_property
    def _told(self) -> frozenset[int]:
        return frozenset(self.told)

    @cached_property
    def _spans(self) -> Spans:
        return Spans([self.recording.span(i) for i in range(len(self.recording.operations))])

    def _near(self, i: int) -> list[int]:
        at = bisect_left(self.told, i)
        return [j for j in self.told[max(0, at - 6) : at + 7] if j != i]


def at(clip: Clip, time_s: float) -> str:
    """Return a time in the clip's clock as words."""
    return f"{time_s - clip.start_s:.1f} s"


def between(clip: Clip, start_s: float, end_s: float) -> str:
    """Return a span in the clip's clock as words."""
    return f"between {at(clip, start_s)} and {at(clip, end_s)}"


def sentence(text: str) -> str:
    """Return words as a sentence: a capital first, one full stop last."""
    text = text.strip().rstrip(".")
    return text[:1].upper() + text[1:] + "." if text else ""
