"""What many agents know, as arrays: the same that ``world.observe`` shows one agent, for thousands of worlds at once.

An agent knows of its zone the fixtures, what it holds and carries, and what is otherwise than in the zone's recorded
image; after a look also the rest. It remembers, and it knows what its own accepted actions are declared to do.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ego2world.world.grounded import Grounding
from ego2world.world.grounded.kernel_numpy import apply_rows
from ego2world.world.grounded.symbols import HELD, IN, IS_BODY, IS_HAND, IS_OPENABLE, OPEN, TRUE
from ego2world.world.grounded.tables import ANY_OF, HOLDS

Rows = NDArray[np.int16]
Mask = NDArray[np.bool_]
MOST_CARRIERS = 20


class Sight:
    """Follows the worlds of one grounding and keeps a row of known codes for each; 0 is "not known".

    Args:
        grounding: columns and entities.
        anchor: the row that the recorded images show.
        worlds: how many.
    """

    def __init__(self, grounding: Grounding, anchor: Rows, worlds: int) -> None:
        self._grounding = grounding
        symbols, t = grounding.symbols, grounding.tables
        self._tables = t
        self._things = np.array([symbols.number[thing] for thing in grounding.world.things], np.int32)
        self._zones = len(grounding.world.zones)
        power = [grounding.column(("power", identifier)) for identifier in symbols.ids]
        looks = np.stack([t.place, t.openness, np.array([-1 if c is None else c for c in power], np.int32)], axis=1)
        self._looks = looks[
            self._things
        ]  # the columns that show how each thing looks, (things, 3), -1 where there is none
        self._transparent = np.array([i in grounding.world.transparent for i in symbols.ids])
        self._fixed = t.zone[self._things] > 0
        self._at, self._counts = int(t.fixed[0]), int(t.fixed[1])
        rows = np.repeat(anchor[None], self._zones, 0)
        zones = np.arange(1, self._zones + 1, dtype=np.int16)
        self._anchor_seen = self.visible(rows, zones)  # (zones, things)
        self._anchor = anchor
        self.known: Rows = np.zeros((worlds, grounding.width), np.int16)
        self._looked = np.zeros((worlds, self._zones + 1), bool)

    def forget(self, worlds: NDArray[Any]) -> None:
        """Let some worlds' agents know nothing."""
        self.known[worlds] = 0
        self._looked[worlds] = False

    def visible(self, states: Rows, zones: NDArray[np.int16]) -> Mask:
        """Return which things can be seen in a zone of each world, shape (worlds, things)."""
        return self._walk(states, zones)[0]

    def _walk(self, states: Rows, zones: NDArray[np.int16]) -> tuple[Mask, Mask]:
        """Walk outwards from every thing: is it seen in the zone, is it seen in or on the agent's hands."""
        t, shape = self._tables, (len(states), len(self._things))
        seen = np.where(self._fixed[None], t.zone[self._things][None] == zones[:, None], False)
        carried = np.zeros(shape, bool)
        world, index = np.nonzero(np.broadcast_to(~self._fixed[None], shape))
        thing = self._things[index]
        for _ in range(MOST_CARRIERS):
            column = t.place[thing]
            place = np.where(column >= 0, states[world, np.maximum(column, 0)], 0)
            go = place > 0
            world, index, place = world[go], index[go], place[go]
            how, where = place & 3, place >> 2
            flags = t.flags[where]
            in_hand = (how == HELD) | ((flags & IS_HAND) != 0)
            carried[world[in_hand], index[in_hand]] = True
            openness = t.openness[where]
            is_open = (openness >= 0) & (states[world, np.maximum(openness, 0)] == OPEN)
            hidden = (how == IN) & ((flags & IS_OPENABLE) != 0) & ~self._transparent[where] & ~is_open
            zone = t.zone[where]
            here = (zone > 0) & (zone == zones[world]) & ~hidden & ~in_hand
            seen[world[here], index[here]] = True
            go = ~in_hand & ~hidden & (zone == 0) & ((flags & IS_BODY) == 0)
            world, index, thing = world[go], index[go], where[go]
            if not len(world):
                break
        return seen, carried

    def look(self, states: Rows, worlds: Mask) -> None:
        """Let the agents of some worlds look at the zone they are in; they see what is there with the next
        ``observe``."""
        self._looked[worlds, states[worlds, self._at]] = True

    def did(self, actions: NDArray[Any], accepted: Mask) -> None:
        """Let agents know what their accepted actions are declared to do to what they know."""
        every = np.zeros(len(actions), np.int32)
        apply_rows(self.known, actions, accepted, every, every[:1], self._tables)

    def observe(self, states: Rows) -> Rows:
        """Take in what each agent sees now, and return what is known, (worlds, width)."""
        zones = states[:, self._at]
        seen, carried = self._walk(states, zones)
        anchored = self._anchor_seen[zones - 1]
        looked = self._looked[np.arange(len(states)), zones]
        told = seen & (self._fixed[None] | ~anchored | looked[:, None])
        for k in range(3):
            column = self._looks[:, k]
            has = column >= 0
            now, then = states[:, column[has]], self._anchor[column[has]]
            changed = seen[:, has] & anchored[:, has] & (now != then[None]) & (now != 0)
            world, index = np.nonzero((told | carried)[:, has] | changed)
            self.known[world, column[has][index]] = now[world, index]
        # what the image shows and is not there any more, or was known to be here and is not, is somewhere unknown
        believed, _ = self._walk(np.where(self._shows(), self.known, states), zones)
        gone = believed & ~seen & ~carried & ~self._fixed[None] & (anchored | looked[:, None])
        world, index = np.nonzero(gone & (self._looks[:, 0] >= 0)[None])
        self.known[world, self._looks[index, 0]] = 0
        self.known[:, self._at] = zones
        self.known[:, self._counts :] = states[:, self._counts :]
        return self.known

    def _shows(self) -> Mask:
        """Return which columns are places; openness and power are taken as they are."""
        out = np.zeros(self.known.shape[1], bool)
        out[self._looks[:, 0][self._looks[:, 0] >= 0]] = True
        return out


def optimistic(grounding: Grounding) -> Grounding:
    """Return a grounding whose tests let what is not known pass, but for where things are: for masks over what an
    agent knows."""
    t = grounding.tables
    tests = t.tests.copy()
    holds = tests[:, 0] == HOLDS
    sets = np.append(t.sets | 1, np.int64(1 | 1 << TRUE))
    tests[holds, 0], tests[holds, 2] = ANY_OF, len(sets) - 1
    return replace(grounding, tables=t._replace(tests=tests, sets=sets))
