"""Memory policies: what becomes of belief at a group's start and after each step.

To add one: a frozen dataclass with ``name`` and the two methods, listed in ``MEMORIES``; one of your own needs no
change here, it is named as "my_module:MyPolicy".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from ego2world.agents.belief import Belief, BeliefKey
from ego2world.core.load import load
from ego2world.errors import UsageError

DEFAULT_CAPACITY = 20  # entries beyond what the present observation shows


class MemoryPolicy(Protocol):
    """Decides what is forgotten. It may only forget; what is learnt is the same under every policy."""

    @property
    def name(self) -> str:
        """The policy's full name, its capacity included, as in run.json."""

    def at_group(self, belief: Belief) -> None:
        """Called when a group starts, before the first observation of it."""

    def after_step(self, belief: Belief) -> None:
        """Called after each observation has been taken in."""


@dataclass(frozen=True)
class Persistent:
    """Keeps everything across groups."""

    name: str = "persistent"

    def at_group(self, belief: Belief) -> None:
        """Keep."""

    def after_step(self, belief: Belief) -> None:
        """Keep."""


@dataclass(frozen=True)
class Reset:
    """Forgets everything at each group's start."""

    name: str = "reset"

    def at_group(self, belief: Belief) -> None:
        """Forget."""
        belief.forget()

    def after_step(self, belief: Belief) -> None:
        """Keep."""


@dataclass(frozen=True)
class NoMemory:
    """Forgets everything before each step: only the present observation counts."""

    name: str = "none"

    def at_group(self, belief: Belief) -> None:
        """Forget."""
        belief.forget()

    def after_step(self, belief: Belief) -> None:
        """Let the next tick forget."""
        belief.volatile = True


@dataclass(frozen=True)
class Recency:
    """Keeps the ``capacity`` entries learnt last."""

    capacity: int = DEFAULT_CAPACITY

    @property
    def name(self) -> str:
        """The policy's name."""
        return f"recency:{self.capacity}"

    def at_group(self, belief: Belief) -> None:
        """Keep."""

    def after_step(self, belief: Belief) -> None:
        """Forget the oldest entries."""
        _evict(belief, self.capacity, lambda key: -belief.entries[key].step)


@dataclass(frozen=True)
class Uncertainty:
    """Keeps the ``capacity`` entries that most probably still hold.

    An entry's chance of having changed is 1 - exp(-rate * age), with the rate of change seen so far in its own thing
    (one change in ``prior_steps`` steps is assumed before anything was seen). What is held in a hand does not age.
    """

    capacity: int = DEFAULT_CAPACITY
    prior_steps: int = 50

    @property
    def name(self) -> str:
        """The policy's name."""
        return f"uncertainty:{self.capacity}"

    def at_group(self, belief: Belief) -> None:
        """Keep."""

    def after_step(self, belief: Belief) -> None:
        """Forget the most uncertain entries."""
        _evict(belief, self.capacity, lambda key: self.changed(belief, key))

    def changed(self, belief: Belief, key: BeliefKey) -> float:
        """Return the chance that an entry no longer holds."""
        entry = belief.entries[key]
        rate = (belief.changes[key] + 1) / (belief.step + self.prior_steps)
        return 1 - math.exp(-rate * (belief.step - entry.step))


def _evict(belief: Belief, capacity: int, doubt: Callable[[BeliefKey], float]) -> None:
    """Forget the most doubtful entries beyond a capacity; what the present observation shows is no memory and does not
    count."""
    remembered = [key for key, entry in belief.entries.items() if entry.step < belief.step]
    if len(remembered) > capacity:
        for key in sorted(remembered, key=lambda k: (-doubt(k), k))[: len(remembered) - capacity]:
            belief.drop(key)


MEMORIES: dict[str, Callable[..., MemoryPolicy]] = {
    "persistent": Persistent,
    "reset": Reset,
    "none": NoMemory,
    "recency": Recency,
    "uncertainty": Uncertainty,
}


def make_memory(name: str) -> MemoryPolicy:
    """Return a policy by its name, with a capacity after a colon where it has one ("recency:40").

    Raises:
        UsageError: no such policy, or no whole number above 0 as capacity.
    """
    base, colon, capacity = name.partition(":")
    if base not in MEMORIES and colon:
        own: MemoryPolicy = load(name, "memory policy")()
        return own
    if base not in MEMORIES:
        raise UsageError(
            f"no memory policy {name!r}; there are: {', '.join(MEMORIES)} (the last two as NAME:CAPACITY), or"
            " MODULE:CLASS of your own"
        )
    if not colon:
        return MEMORIES[base]()
    if base not in {"recency", "uncertainty"} or not capacity.isdecimal() or int(capacity) < 1:
        raise UsageError(
            f"memory policy {name!r}: a capacity is a whole number above 0, after recency: or uncertainty:"
        )
    return MEMORIES[base](int(capacity))
