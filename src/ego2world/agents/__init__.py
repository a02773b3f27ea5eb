"""Planners and their belief. They get observations, hints and feedback; the world's state is out of their reach."""

from ego2world.agents.base import Act, Chat, Context, Done, Look, Planner, Sampling, Step
from ego2world.agents.belief import Belief
from ego2world.agents.make import PLANNERS, Equipment, make_planner
from ego2world.agents.memory import MEMORIES, MemoryPolicy, make_memory

__all__ = [
    "MEMORIES",
    "PLANNERS",
    "Act",
    "Belief",
    "Chat",
    "Context",
    "Done",
    "Equipment",
    "Look",
    "MemoryPolicy",
    "Planner",
    "Sampling",
    "Step",
    "make_memory",
    "make_planner",
]
