"""A planner that takes its time, so that a test can kill who runs it."""

from __future__ import annotations

import time

from ego2world.agents import Context, PlannerContext, Step
from ego2world.agents.reference import ReferencePlanner


class Slow(ReferencePlanner):
    name = "slow"

    def next_step(self, context: Context) -> Step:
        time.sleep(0.02)
        return super().next_step(context)


def make(given: PlannerContext) -> Slow:
    return Slow(given.recorded)
