"""A planner that is handed plans made with full knowledge of the world: what is possible for the tasks, not for an
agent."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ego2world.agents.base import Act, Context, Done, Step
from ego2world.world.observation import Proposal

WAIT = Proposal("wait", {})


class OraclePlanner:
    """Carries out the plan it is given for each group; where nothing is left to do it waits, since a group needs an
    attempt."""

    name = "oracle"

    def __init__(self, plan_for: Callable[[str], Sequence[Proposal]]) -> None:
        self._plan_for = plan_for
        self._queue: list[Proposal] = []

    def begin_group(self, context: Context) -> None:
        """Ask for the group's plan."""
        self._queue = list(self._plan_for(context.brief.id)) or [WAIT]

    def next_step(self, context: Context) -> Step:
        """Return the next action of the plan."""
        return Act(self._queue.pop(0)) if self._queue else Done()
