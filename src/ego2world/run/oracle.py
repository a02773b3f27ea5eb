"""Plans for the oracle: at each group of a task, from the true state to the task's contract, by an off-the-shelf
planner."""

from __future__ import annotations

from collections.abc import Sequence

from ego2world.planning.solve import Outcome, replayed, solve_elsewhere
from ego2world.run.environment import Environment
from ego2world.tasks.contract import Contract, truth
from ego2world.world.conditions import Condition
from ego2world.world.fluents import Truth
from ego2world.world.observation import Proposal
from ego2world.world.state import Action, State

LIMIT_S = 20.0  # for one search; those of known collections take seconds


class Oracle:
    """Knows the world of one episode and plans in it: for each task when its last group begins, since that is when it
    is judged."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def plan(self, group: str) -> list[Proposal]:
        """Return the plan for a group, from the true state: for all tasks that end with it."""
        episode, state = self._environment.episode, self._environment.state
        number = next(i for i, g in enumerate(episode.groups) if g.id == group)
        ending = [Contract.of(task) for task in episode.tasks if task.last_group == number]
        together = tuple(condition for contract in ending for condition in contract.conditions)
        found, _ = self._towards(together, state)
        if found is None:  # they exclude each other, or are too much at once: one after the other
            found = []
            for contract in ending:
                more, state = self._towards(contract.conditions, state)
                found += more or ()
        return [Proposal(action.name, dict(action.roles)) for action in found]

    def _towards(self, goal: Sequence[Condition], state: State) -> tuple[list[Action] | None, State]:
        """Return a plan towards conditions and the state it leads to; None and the same state where none is found."""
        if all(truth(condition, state) is Truth.TRUE for condition in goal):
            return [], state
        world = self._environment.world
        solution = solve_elsewhere(world, state, goal, LIMIT_S)
        end = replayed(world, state, solution.plan)
        return (
            (list(solution.plan), end)
            if solution.outcome is Outcome.SOLVED and isinstance(end, State)
            else (None, state)
        )
