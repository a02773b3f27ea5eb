"""Planners and their belief. They get observations, hints and feedback; the world's state is out of their reach."""

from ego2world.agents.base import Act, Context, Done, Look, Planner, Step
from ego2world.agents.belief import Belief, Memory
from ego2world.agents.make import PLANNERS, make_planner

__all__ = ["PLANNERS", "Act", "Belief", "Context", "Done", "Look", "Memory", "Planner", "Step", "make_planner"]
