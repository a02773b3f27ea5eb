"""The lower bound: actions that look valid, drawn at random from what the brief names and what is in view."""

from __future__ import annotations

import random

from ego2world.agents.base import Act, Context, Done, Step
from ego2world.world.actions import ACTIONS
from ego2world.world.observation import Proposal


class RandomPlanner:
    """Draws action types and fills their roles with things of accepted types; as many as the instruction has
    sentences."""

    name = "random"

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._left = 0

    def begin_group(self, context: Context) -> None:
        """Decide how many actions to draw."""
        self._left = max(1, context.brief.instruction.count("."))

    def next_step(self, context: Context) -> Step:
        """Draw one action."""
        if self._left == 0:
            return Done()
        self._left -= 1
        things = {hint.id: hint.type for hint in context.brief.hints}
        things |= {fixture.id: fixture.type for fixture in context.local.fixtures}
        things |= {thing.id: thing.type for _, thing in context.local.holding}
        order = sorted(things)
        for _ in range(200):
            kind = self._random.choice(ACTIONS)
            roles: dict[str, str | tuple[str, ...]] = {}
            for var in kind.roles[: kind.declared]:
                fitting = [thing for thing in order if things[thing] in var.accepts and thing not in roles.values()]
                if fitting and (not var.optional or self._random.random() < 0.5):
                    roles[var.role] = self._random.choice(fitting)
            if all(var.optional or var.role in roles or var.role == "hand" for var in kind.roles):
                return Act(Proposal(kind.name, roles))
        return Done()
