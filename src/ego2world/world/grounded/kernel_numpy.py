"""The transition law on rows of integers in whole arrays: the fallback where Numba is not installed. Stage: world,
grounded."""

from __future__ import annotations

from typing import Any

import numpy as np

from ego2world.world.grounded.symbols import (
    BOTH_HANDS,
    FALSE,
    HELD,
    IN,
    IS_HAND,
    IS_HAND_TYPE,
    IS_OPENABLE,
    IS_TOOL,
    OPEN,
    TRUE,
)
from ego2world.world.grounded.tables import (
    ACCEPTED,
    ANY_OF,
    APART,
    FREE,
    HOLDS,
    IN_HAND,
    NO_SUCH_ACTION,
    NOT_AT,
    NUMBER,
    PLACE,
    REACH,
    RECEIVE,
    ROOM,
    SET,
    SPACE,
    VESSEL_SHIFT,
    Tables,
)
from ego2world.world.state import HAND_CAPACITY, MAX_DEPTH

Array = np.ndarray[Any, Any]
MASK_CELLS = 1 << 20  # (world, action) pairs tested at a time


class _Pairs:
    """Worlds and the episodes they belong to, one entry per action that is tested."""

    def __init__(self, states: Array, worlds: Array, episode: Array, entity_offset: Array, t: Tables) -> None:
        self.states, self.worlds, self.t = states, worlds, t
        self.off = entity_offset[episode]
        self.at = states[worlds, t.fixed[3 * episode]]
        self.counts = t.fixed[3 * episode + 1]

    def place(self, here: Array, thing: Array) -> Array:
        """Return the code of each thing's place, 0 where it has none."""
        column = self.t.place[self.off[here] + thing]
        return np.where(column >= 0, self.states[self.worlds[here], np.maximum(column, 0)], 0)

    def reach(self, here: Array, thing: Array) -> Array:
        ok, t = np.zeros(len(here), bool), self.t
        left, thing = np.arange(len(here)), thing.copy()
        for _ in range(MAX_DEPTH):
            zone = t.zone[self.off[here[left]] + thing[left]]
            fixed = zone > 0
            ok[left[fixed]] = zone[fixed] == self.at[here[left[fixed]]]
            left = left[~fixed]
            place = self.place(here[left], thing[left])
            left, place = left[place > 0], place[place > 0]
            how, where = place & 3, place >> 2
            thing[left] = where
            entity = self.off[here[left]] + where
            done = (how == HELD) | ((t.flags[entity] & IS_HAND) != 0)
            ok[left[done]] = True
            column = t.openness[entity]
            openness = self.states[self.worlds[here[left]], np.maximum(column, 0)]
            shut = (how == IN) & ((t.flags[entity] & IS_OPENABLE) != 0) & ~((column >= 0) & (openness == OPEN))
            left = left[~done & ~shut]
            if not len(left):
                break
        return ok

    def in_hand(self, here: Array, thing: Array) -> Array:
        place = self.place(here, thing)
        where = place >> 2
        flags = self.t.flags[self.off[here] + where]
        on_tool = ((flags & IS_TOOL) != 0) & (self.place(here, where) & 3 == HELD)
        held: Array = (place > 0) & ((place & 3 == HELD) | ((flags & IS_HAND_TYPE) != 0) | on_tool)
        return held

    def around(self, here: Array, thing: Array, around: Array) -> Array:
        found, thing = np.zeros(len(here), bool), thing.copy()
        left = np.arange(len(here))
        for _ in range(MAX_DEPTH):
            place = self.place(here[left], thing[left])
            left, place = left[place > 0], place[place > 0]
            thing[left] = place >> 2
            hit = thing[left] == around[left]
            found[left[hit]] = True
            left = left[~hit]
            if not len(left):
                break
        return found

    def hand(self, here: Array, operation: int, hand: Array, start: Array) -> Array:
        rows = self.states[self.worlds[here][:, None], self.counts[here][:, None] + np.arange(3)]
        own = np.take_along_axis(rows, hand[:, None].astype(np.intp), 1)[:, 0]
        busy = own if operation == ROOM else np.where(hand == BOTH_HANDS, rows.sum(1), own + rows[:, BOTH_HANDS])
        taken, more = np.zeros(len(here), np.int32), np.zeros(len(here), np.int32)
        lengths = self.t.lists[start]
        for j in range(int(lengths.max(initial=0))):
            one = np.flatnonzero(j < lengths)
            place = self.place(here[one], self.t.lists[start[one] + 1 + j])
            other = self.t.hand[self.off[here[one]] + (place >> 2)]
            wanted = hand[one]
            same = (other == wanted) | ((operation != ROOM) & ((other == BOTH_HANDS) | (wanted == BOTH_HANDS)))
            inside = (place & 3 == HELD) & same
            taken[one] += inside
            more[one] += ~inside
        fits: Array = busy - taken <= 0 if operation == FREE else busy + more <= HAND_CAPACITY
        return fits & ((own > 0) | (operation != ROOM))

    def passes(self, here: Array, tests: Array) -> Array:
        """Say which tests pass, one per entry of ``here``."""
        ok = np.ones(len(here), bool)
        for operation in np.unique(tests[:, 0]).tolist():
            part = np.flatnonzero(tests[:, 0] == operation)
            h, a, b = here[part], tests[part, 1], tests[part, 2]
            if operation == ANY_OF:
                ok[part] = (self.t.sets[b] >> self.states[self.worlds[h], a]) & 1 != 0
            elif operation == REACH:
                ok[part] = self.reach(h, a)
            elif operation == IN_HAND:
                ok[part] = self.in_hand(h, a)
            elif operation in (FREE, SPACE, ROOM):
                ok[part] = self.hand(h, operation, a, b)
            elif operation == APART:
                ok[part] = (a != b) & ~self.around(h, b, a)
            elif operation == HOLDS:
                place = self.place(h, b)
                inside = (place > 0) & (place >> 2 == tests[part, 3] >> VESSEL_SHIFT)
                ok[part] = (self.states[self.worlds[h], a] == TRUE) | inside
            elif operation == NOT_AT:
                ok[part] = self.at[h] != a
            else:
                ok[part] = self.around(h, a, b)
        return ok

    def failures(self, actions: Array) -> Array:
        """Return the number of the first failed check of each action, -1 where none fails."""
        failed = np.full(len(actions), -1, np.int16)
        start, count = self.t.test_start[actions], np.diff(self.t.test_start)[actions]
        for k in range(int(count.max(initial=0))):
            here = np.flatnonzero((failed < 0) & (k < count))
            tests = self.t.tests[start[here] + k]
            bad = ~self.passes(here, tests)
            failed[here[bad]] = tests[bad, 3] & NUMBER
        return failed


def step_rows(
    states: Array, actions: Array, episode: Array, entity_offset: Array, first_action: Array, t: Tables, failed: Array
) -> None:
    """Do one action in each world; see ``kernel.step_rows``."""
    first, last = first_action[episode], first_action[episode + 1]
    known = (actions >= 0) & (actions < last - first)
    actions = np.where(known, actions, 0) + first
    pairs = _Pairs(states, np.arange(len(actions)), episode, entity_offset, t)
    failed[:] = np.where(known, pairs.failures(actions), NO_SUCH_ACTION)
    apply_rows(states, actions, failed == ACCEPTED, episode, entity_offset, t)


def apply_rows(states: Array, actions: Array, accepted: Array, episode: Array, entity_offset: Array, t: Tables) -> None:
    """Let accepted actions, by their numbers in the tables, have their effects on rows."""
    off, counts = entity_offset[episode], t.fixed[3 * episode + 1]
    start = t.effect_start[actions]
    count = np.where(accepted, np.diff(t.effect_start)[actions], 0)
    for k in range(int(count.max(initial=0))):
        here = np.flatnonzero(k < count)
        effects = t.effects[start[here] + k]
        for operation in np.unique(effects[:, 0]).tolist():
            part = np.flatnonzero(effects[:, 0] == operation)
            worlds, a, b = here[part], effects[part, 1], effects[part, 2]
            if operation == SET:
                states[worlds, a] = b
            elif operation == PLACE:
                _move(states, worlds, a, b, off[worlds], counts[worlds], t)
            else:
                for w, start_of in zip(worlds.tolist(), b.tolist(), strict=True):
                    items = t.lists[start_of + 1 : start_of + 1 + t.lists[start_of]]
                    if operation == RECEIVE:
                        known = states[w, items[::2]] == TRUE
                        states[w, items[1::2][known]] = TRUE
                    else:
                        states[w, items[states[w, items] == TRUE]] = FALSE


def _move(states: Array, worlds: Array, thing: Array, code: Array, off: Array, counts: Array, t: Tables) -> None:
    column = t.place[off + thing]
    before = states[worlds, column]
    out, into = before & 3 == HELD, code & 3 == HELD
    states[worlds[out], (counts + t.hand[off + (before >> 2)])[out]] -= 1
    states[worlds[into], (counts + t.hand[off + (code >> 2)])[into]] += 1
    states[worlds, column] = code


def applicable_rows(
    states: Array, episode: Array, entity_offset: Array, first_action: Array, t: Tables, mask: Array
) -> None:
    """Fill a mask of applicable actions; see ``kernel.applicable_rows``."""
    first, last = first_action[episode], first_action[episode + 1]
    at_a_time = max(1, MASK_CELLS // max(1, mask.shape[1]))
    for begin in range(0, len(states), at_a_time):
        worlds = np.arange(begin, min(begin + at_a_time, len(states)))
        pair_world = np.repeat(worlds, last[worlds] - first[worlds])
        actions = np.concatenate([np.arange(first[w], last[w]) for w in worlds.tolist()])
        pairs = _Pairs(states, pair_world, episode[pair_world], entity_offset, t)
        mask[pair_world, actions - first[pair_world]] = pairs.failures(actions) < 0
