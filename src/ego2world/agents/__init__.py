"""Planners and their belief. They get observations, hints and feedback; the world's state is out of their reach."""

from ego2world.agents.base import Act, Chat, Context, Decoding, Done, Look, Planner, Step
from ego2world.agents.belief import Belief
from ego2world.agents.make import PLANNERS, PlannerContext, make_planner
from ego2world.agents.memory import MEMORIES, MemoryPolicy, make_memory

__all__ = [
    "MEMORIES",
    "PLANNERS",
    "Act",
    "Belief",
    "Chat",
    "Context",
    "Decoding",
    "Done",
    "Look",
    "MemoryPolicy",
    "Planner",
    "PlannerContext",
    "Step",
    "make_memory",
    "make_planner",
]
