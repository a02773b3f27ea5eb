"""Thousands of worlds a call: arrays in, arrays out. Stage: world, grounded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ego2world.core.extras import command
from ego2world.errors import UsageError
from ego2world.world.grounded import kernel_numpy
from ego2world.world.grounded.grounding import Grounding
from ego2world.world.grounded.tables import ANY_OF, EMPTY, FREE, NO_SUCH_ACTION, RECEIVE, ROOM, SPACE, Tables
from ego2world.world.state import State

try:
    from ego2world.world.grounded import kernel as _numba
except ImportError:  # Numba is an extra
    _numba = None  # type: ignore[assignment]

KERNELS: dict[str, Any] = {"numpy": kernel_numpy} | ({"numba": _numba} if _numba is not None else {})


class Batch:
    """Worlds that take one action each per call.

    ``states`` holds one row a world, ``groundings[episode[w]].initial`` at the start; copying it clones all worlds, and
    assigning rows restores them. Actions are numbers of the world's own grounding.

    Args:
        groundings: one or several episodes.
        episode: the number of each world's grounding, or how many worlds the only grounding gets.
        kernel: "numba" or "numpy"; by default Numba where it is installed.

    Raises:
        UsageError: no such kernel here.
    """

    def __init__(
        self,
        groundings: Sequence[Grounding],
        episode: int | Sequence[int] | NDArray[np.int32],
        kernel: str | None = None,
    ) -> None:
        name = kernel or ("numba" if "numba" in KERNELS else "numpy")
        if name not in KERNELS:
            raise UsageError(f"no kernel {name!r}; there are: {', '.join(KERNELS)} (for numba: {command('fast')})")
        self.kernel = name
        self.groundings = tuple(groundings)
        self.episode = np.zeros(episode, np.int32) if isinstance(episode, int) else np.asarray(episode, np.int32)
        self._law = KERNELS[name]
        self._tables, self._first_action, self._entity_offset = _together(self.groundings)
        self._initial = np.zeros((len(self.groundings), max(g.width for g in self.groundings)), np.int16)
        for number, grounding in enumerate(self.groundings):
            self._initial[number, : grounding.width] = grounding.initial
        self.states: NDArray[np.int16] = np.asfortranarray(self._initial[self.episode])

    def __len__(self) -> int:
        return len(self.states)

    def reset(self, worlds: NDArray[Any] | None = None) -> None:
        """Put all worlds, or those of a mask or of numbers, back to their first state."""
        chosen: Any = slice(None) if worlds is None else worlds
        if len(self.groundings) == 1:
            self.states[chosen] = self._initial[0]
        else:
            self.states[chosen] = self._initial[self.episode[chosen]]

    def step(self, actions: NDArray[Any] | Sequence[int]) -> NDArray[np.int16]:
        """Do one action in each world; a refused one leaves its world as it is.

        Args:
            actions: one number a world, shape (worlds,).

        Returns:
            -1 where the action was accepted, else the number of the first check that failed, counted as in the plain
            executor's checks; ``explain`` says it in full. Shape (worlds,).

        Raises:
            UsageError: not one action a world, or a number that no action has; the other worlds have gone on.
        """
        given = np.asarray(actions, np.int32)
        if given.shape != self.episode.shape:
            raise UsageError(f"{given.shape} actions for {len(self)} worlds; needed one a world")
        failed = np.empty(len(given), np.int16)
        self._law.step_rows(
            self.states, given, self.episode, self._entity_offset, self._first_action, self._tables, failed
        )
        if failed.min(initial=0) == NO_SUCH_ACTION:
            wrong = int(np.flatnonzero(failed == NO_SUCH_ACTION)[0])
            most = self.groundings[self.episode[wrong]].actions - 1
            raise UsageError(f"world {wrong}: no action {given[wrong]}; its episode has 0 to {most}")
        return failed

    def applicable(self) -> NDArray[np.bool_]:
        """Return which actions each world would accept, shape (worlds, actions of the longest episode)."""
        mask = np.zeros((len(self), max(g.actions for g in self.groundings)), bool)
        self._law.applicable_rows(
            self.states, self.episode, self._entity_offset, self._first_action, self._tables, mask
        )
        return mask

    def state(self, world: int) -> State:
        """Return a world's state as the plain executor has it."""
        grounding: Grounding = self.groundings[self.episode[world]]
        return grounding.decode(self.states[world, : grounding.width])


def _together(groundings: Sequence[Grounding]) -> tuple[Tables, NDArray[np.int32], NDArray[np.int32]]:
    """Put the tables of several episodes one behind the other; return also where actions and entities of each start."""
    if len(groundings) == 1:
        only = groundings[0]
        return only.tables, np.array([0, only.actions], np.int32), np.zeros(1, np.int32)
    parts: list[Tables] = []
    tests = effects = sets = lists = 0
    for grounding in groundings:
        t = grounding.tables
        moved_tests, moved_effects = t.tests.copy(), t.effects.copy()
        moved_tests[t.tests[:, 0] == ANY_OF, 2] += sets
        moved_tests[np.isin(t.tests[:, 0], (FREE, SPACE, ROOM)), 2] += lists
        moved_effects[np.isin(t.effects[:, 0], (RECEIVE, EMPTY)), 2] += lists
        parts.append(
            t._replace(
                tests=moved_tests,
                effects=moved_effects,
                test_start=t.test_start[:-1] + tests,
                effect_start=t.effect_start[:-1] + effects,
            )
        )
        tests, effects, sets, lists = (
            tests + len(t.tests),
            effects + len(t.effects),
            sets + len(t.sets),
            lists + len(t.lists),
        )
    joined = Tables(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
    joined = joined._replace(
        test_start=np.append(joined.test_start, np.int32(tests)),
        effect_start=np.append(joined.effect_start, np.int32(effects)),
    )
    actions = np.concatenate([[0], np.cumsum([g.actions for g in groundings])]).astype(np.int32)
    entities = np.concatenate([[0], np.cumsum([g.symbols.entities for g in groundings])])[:-1].astype(np.int32)
    return joined, actions, entities
