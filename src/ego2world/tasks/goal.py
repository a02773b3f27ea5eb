"""A contract over thousands of worlds at once: Kleene truth as 0 false, 1 unknown, 2 true, so that "and" is min and
"or" is max."""

from __future__ import annotations

from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from ego2world.tasks.contract import Contract
from ego2world.world.conditions import AnyCondition, Condition, CountCondition, EventCondition, FactCondition, events_in
from ego2world.world.fluents import Truth
from ego2world.world.grounded import Grounding
from ego2world.world.grounded.symbols import HELD

FALSE, UNKNOWN, TRUE = 0, 1, 2
TRUTHS = (Truth.FALSE, Truth.UNKNOWN, Truth.TRUE)  # by code
Codes = NDArray[np.int8]
_EventKey = tuple[str, str, str | None]  # family, object, target


class Goal:
    """One contract on the rows of one grounding.

    Contracts that speak of events need to be told of every step with ``note``; those of facts need nothing but the
    rows.
    """

    def __init__(self, contract: Contract, grounding: Grounding) -> None:
        self.contract = contract
        self._grounding = grounding
        self._events: dict[_EventKey, int] = {}
        for event in events_in(contract.conditions):
            self._events.setdefault(_key(event), len(self._events))
        self.matches = self._matching()

    def _matching(self) -> NDArray[np.bool_]:
        """Return which actions are which event, shape (events, actions)."""
        found = np.zeros((len(self._events), self._grounding.actions), bool)
        number = self._grounding.symbols.number
        for (family, thing, target), index in self._events.items():
            for bindings, start in self._grounding.chunks:
                if bindings.kind.family == family:
                    same = (bindings.ids("object") == number[thing]).any(1)
                    if target is not None:
                        same &= (bindings.ids("target") == number[target]).any(1)
                    found[index, start : start + len(bindings)] = same
        return found

    def start(self, worlds: int) -> NDArray[np.bool_]:
        """Return the memory of events before the first step, shape (worlds, events)."""
        return np.zeros((worlds, len(self._events)), bool)

    def note(self, happened: NDArray[np.bool_], actions: NDArray[Any], failed: NDArray[Any]) -> None:
        """Note the accepted actions of one step in the memory of events."""
        happened |= self.matches[:, actions].T & (failed < 0)[:, None]

    def each(self, states: NDArray[np.int16], happened: NDArray[np.bool_] | None = None) -> Codes:
        """Return the truth of every condition in every world, shape (worlds, conditions).

        Args:
            states: rows of the grounding, shape (worlds, width or more).
            happened: the memory of events; none have happened by default.
        """
        memory = self.start(len(states)) if happened is None else happened
        return np.stack([self._truth(c, states, memory) for c in self.contract.conditions], axis=1)

    def holds(self, states: NDArray[np.int16], happened: NDArray[np.bool_] | None = None) -> Codes:
        """Return the truth of the whole in every world, shape (worlds,)."""
        whole: Codes = self.each(states, happened).min(axis=1)
        return whole

    def _truth(self, condition: Condition, states: NDArray[np.int16], happened: NDArray[np.bool_]) -> Codes:
        match condition:
            case FactCondition():
                return self._fact(condition, states)
            case CountCondition():
                found = np.stack([self._fact(one, states) for one in condition.each])
                sure, possible = (found == TRUE).sum(0), (found >= UNKNOWN).sum(0)
                needed = condition.at_least
                return np.where(sure >= needed, TRUE, np.where(possible >= needed, UNKNOWN, FALSE)).astype(np.int8)
            case AnyCondition():
                best: Codes = np.stack([self._truth(one, states, happened) for one in condition.of]).max(axis=0)
                return best
            case EventCondition():
                return np.where(happened[:, self._events[_key(condition)]], TRUE, FALSE).astype(np.int8)
            case _:
                assert_never(condition)

    def _fact(self, condition: FactCondition, states: NDArray[np.int16]) -> Codes:
        key, wanted = condition.fact
        column = self._grounding.column(key)
        if column is None:
            return np.full(len(states), UNKNOWN, np.int8)
        found = states[:, column]
        code = self._grounding.symbols.code(key[0], wanted)
        same = found == code
        if key[0] == "place" and code & 3 != HELD:
            same = (found & 3 != HELD) & (found >> 2 == code >> 2)
        return np.where(found == 0, UNKNOWN, np.where(same, TRUE, FALSE)).astype(np.int8)


def _key(condition: EventCondition) -> _EventKey:
    return condition.family, condition.object, condition.target
