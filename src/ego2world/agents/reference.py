"""The upper bound: proposes the recorded operations, one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ego2world.agents.base import Act, Context, Done, Step
from ego2world.world.observation import Proposal


class ReferencePlanner:
    """Replays the operations recorded for each group."""

    name = "reference"

    def __init__(self, recorded: Mapping[str, Sequence[Proposal]]) -> None:
        self._recorded = recorded
        self._queue: list[Proposal] = []

    def begin_group(self, context: Context) -> None:
        """Load the group's operations."""
        self._queue = list(self._recorded.get(context.brief.id, ()))

    def next_step(self, context: Context) -> Step:
        """Return the next recorded operation."""
        return Act(self._queue.pop(0)) if self._queue else Done()
