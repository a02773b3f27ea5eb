"""Plans for the oracle: at each group of a task, from the true state to the task's contract, by an off-the-shelf planner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ego2world.planning.solve import Outcome, solve_elsewhere
from ego2world.run.environment import Environment
from ego2world.tasks.contract import Contract, Event, truth
from ego2world.world.episode import TaskRecord
from ego2world.world.fluents import Truth
from ego2world.world.observation import Proposal

LIMIT_S = 60.0  # for one search; those of known collections take seconds


class Oracle:
    """Knows the world of one episode and plans in it, towards all tasks that a group belongs to at once."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._events: dict[str, list[Event]] = {}  # by task, what its plans so far will have done

    def plan(self, group: str) -> list[Proposal]:
        """Return the plan for a group, from the true state; where the tasks exclude each other, for those that end first."""
        episode, state = self._environment.episode, self._environment.state
        number = next(i for i, g in enumerate(episode.groups) if g.id == group)
        active = [task for task in episode.tasks if task.first_group <= number <= task.last_group]
        active.sort(key=lambda task: task.last_group)
        while active:
            goal = [c for task in active for c in self._open(task)]
            if not goal or all(truth(c, state) is Truth.TRUE for c in goal):
                return []
            solution = solve_elsewhere(episode.world, state, goal, LIMIT_S)
            if solution.outcome is Outcome.SOLVED:
                for task in active:
                    self._events.setdefault(task.id, []).extend(Event.of(action) for action in solution.plan)
                return [Proposal(action.name, dict(action.roles)) for action in solution.plan]
            active.pop()
        return []

    def _open(self, task: TaskRecord) -> list[Mapping[str, Any]]:
        """Return the conditions to plan for: all of the facts, so that they stay true, and the events that have not happened."""
        contract, events = Contract.of(task.contract), self._events.get(task.id, [])
        state = self._environment.state
        return [c for c in contract.conditions if not (c["type"] == "event" and truth(c, state, events) is Truth.TRUE)]
