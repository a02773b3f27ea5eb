"""Worlds in integers: grounding, and execution of thousands of worlds a call. The plain executor is the law; this
agrees with it."""

from ego2world.world.grounded.batch import KERNELS, Batch
from ego2world.world.grounded.grounding import Grounding, ground, ground_actions

__all__ = ["KERNELS", "Batch", "Grounding", "ground", "ground_actions"]
