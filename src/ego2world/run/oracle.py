"""Plans for the oracle: at each group of a task, from the true state to the task's contract, by an off-the-shelf planner."""

from __future__ import annotations

from ego2world.planning.solve import Outcome, solve_elsewhere
from ego2world.run.environment import Environment
from ego2world.tasks.contract import Contract, Event
from ego2world.world.fluents import Truth
from ego2world.world.observation import Proposal

LIMIT_S = 60.0  # for one search; those of known collections take seconds


class Oracle:
    """Knows the world of one episode and plans in it.

    A task is planned for when its first group begins, and again in a later group only if its contract is then not true.
    """

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._events: dict[str, list[Event]] = {}  # by task, what its plans so far will have done

    def plan(self, group: str) -> list[Proposal]:
        """Return the plan for a group: towards the first task it belongs to whose contract does not hold yet, then the next."""
        episode, out = self._environment.episode, []
        number = next(i for i, g in enumerate(episode.groups) if g.id == group)
        for task in episode.tasks:
            if task.first_group <= number <= task.last_group:
                contract, events = Contract.of(task.contract), self._events.setdefault(task.id, [])
                if contract.holds(self._environment.state, events) is Truth.TRUE:
                    continue
                solution = solve_elsewhere(episode.world, self._environment.state, contract.conditions, LIMIT_S)
                if solution.outcome is Outcome.SOLVED:
                    events += [Event.of(action) for action in solution.plan]
                    out = [Proposal(action.name, dict(action.roles)) for action in solution.plan]
                    break
        return out
