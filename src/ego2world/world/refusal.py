"""Why an action is refused, as values. Stage: world, executor.

Everything that is decided on a refusal (a repair, an inferred operation, a planner's next move) is decided on these
values; ``world.explain`` says them in English.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ego2world.world.actions.base import Precondition
from ego2world.world.codes import Code
from ego2world.world.fluents import FactKey, Value
from ego2world.world.state import Action


@dataclass(frozen=True)
class FailedCheck:
    """One check that failed.

    Attributes:
        code: the kind of failure.
        entity: what the check is about: an entity, or the name that was given where there is no such entity, role or
            action.
        need: the declared precondition; None where the action could not even be bound.
        role: the role that ``entity`` plays or should play.
        fact: the fact that was looked up; None where none decides.
        wanted: the values that would have done: of the fact, else of what ``code`` is about.
        found: the value found; None where it is unknown or there is nothing.
        blocker: what stands in the way: a closed container, a thing in the hand.
    """

    code: Code
    entity: str
    need: Precondition | None = None
    role: str = ""
    fact: FactKey | None = None
    wanted: tuple[Value, ...] = ()
    found: Value | int | tuple[str, ...] | None = None
    blocker: str | None = None

    def mentions(self) -> frozenset[str]:
        """Return every id that the failure speaks of."""
        return frozenset(self._mentions())

    def plain(self) -> dict[str, Any]:
        """Return the JSON form: the values without the wording."""
        return {
            "code": self.code.value,
            "entity": self.entity,
            "need": type(self.need).__name__ if self.need is not None else None,
            "role": self.role,
            "fact": self.fact,
            "wanted": self.wanted,
            "found": self.found,
            "blocker": self.blocker,
        }

    def _mentions(self) -> Iterator[str]:
        yield self.entity
        if self.blocker is not None:
            yield self.blocker
        if self.fact is not None:
            yield from self.fact[1:]
        for value in (*self.wanted, self.found):
            if isinstance(value, tuple):
                yield from value
            elif isinstance(value, str):
                yield value


@dataclass(frozen=True)
class Refusal:
    """An action that was not executed, with every failed check. The input state is untouched."""

    action: Action
    failures: tuple[FailedCheck, ...]
