"""What the checks of one episode look things up in. Stage: qa, check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ego2world.qa.codes import severity
from ego2world.qa.names import Names
from ego2world.qa.records import Evidence, Finding, QuestionGroup, Relation, Turn
from ego2world.qa.replay import EpisodeReplayer
from ego2world.world.state import Action


@dataclass(frozen=True)
class CheckContext:
    """An episode: its executable world, the pool of evidence, and the relations between its stages."""

    replayer: EpisodeReplayer
    evidence: Mapping[str, Evidence]
    relations: Mapping[str, Relation] = field(default_factory=dict)

    @cached_property
    def end_s(self) -> float:
        """The last second that anything is known of."""
        return max((one.span_s[1] for one in self.evidence.values()), default=0.0)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Operation id -> position."""
        return {row["id"]: i for i, row in enumerate(self.replayer.episode.operations)}

    @cached_property
    def names(self) -> Names:
        """How things are spoken of."""
        return Names(self.replayer.episode.world)

    @cached_property
    def told(self) -> Counter[str]:
        """Narration id -> how many operations it tells of, inferred ones apart."""
        rows = self.replayer.episode.operations
        return Counter(narration for row in rows if not row["inferred"] for narration in row["narration_ids"])

    def action(self, operation: str) -> Action:
        """Return an operation's action."""
        return self.replayer.episode.actions[self.numbers[operation]]

    def span(self, operation: str) -> tuple[float, float]:
        """Return an operation's interval."""
        start_s, end_s = self.replayer.episode.operations[self.numbers[operation]]["span_s"]
        return start_s, end_s

    def named(self, turn: Turn) -> list[Evidence]:
        """Return the evidence of a turn that exists."""
        return [self.evidence[one] for one in dict.fromkeys(turn.spec.evidence) if one in self.evidence]


def finding(code: str, path: str, message: str) -> Finding:
    """Return a finding with the severity of its code."""
    return Finding(code=code, path=path, message=message, severity=severity(code))


def turns(group: QuestionGroup) -> Iterator[tuple[str, Turn]]:
    """Yield the turns with their paths."""
    for number, turn in enumerate(group.turns):
        yield f"turns[{number}]", turn


def words(text: str) -> str:
    """Return text for comparison: case, space and final full stop do not count."""
    return " ".join(text.lower().replace("’", "'").split()).rstrip(".").strip()
