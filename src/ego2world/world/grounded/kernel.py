"""The transition law on rows of integers, compiled: one loop over worlds, no allocation. Stage: world, grounded.

It is one long function on purpose: Numba counts references of every array at every call of a helper, even of an
inlined one, and that alone took three quarters of the time.

``kernel_numpy`` says the same in whole arrays, for where Numba is not installed; the tests compare both with the plain
executor.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

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
    WITHIN,
    Tables,
)
from ego2world.world.state import HAND_CAPACITY, MAX_DEPTH

Array = np.ndarray[Any, Any]


def step_rows(
    states: Array, actions: Array, episode: Array, entity_offset: Array, first_action: Array, t: Tables, failed: Array
) -> None:
    """Do one action in each world; refused ones leave their row as it is.

    Args:
        states: rows, changed in place; shape (worlds, width).
        actions: numbers of ground actions, each within its episode; shape (worlds,).
        episode: the number of each world's episode; shape (worlds,).
        entity_offset: where each episode's entities start in the tables; shape (episodes,).
        first_action: where each episode's actions start, and the end of the last; shape (episodes + 1,).
        t: the tables.
        failed: filled with the number of the first check that failed, ACCEPTED, or NO_SUCH_ACTION; shape (worlds,).
    """
    memo = np.full(len(t.zone), -1, np.int32), np.empty(len(t.zone), np.bool_)
    _run(states, actions, episode, entity_offset, first_action, t, *memo, failed, np.empty((0, 0), np.bool_))


def applicable_rows(
    states: Array, episode: Array, entity_offset: Array, first_action: Array, t: Tables, mask: Array
) -> None:
    """Fill a mask of the actions that each world would accept, shape (worlds, actions of the longest episode)."""
    memo = np.full(len(t.zone), -1, np.int32), np.empty(len(t.zone), np.bool_)
    none = np.empty(0, np.int32)
    _run(states, none, episode, entity_offset, first_action, t, *memo, np.empty(0, np.int16), mask)


@njit(cache=True, nogil=True, error_model="numpy")
def _run(
    states: Array,
    actions: Array,
    episode: Array,
    entity_offset: Array,
    first_action: Array,
    t: Tables,
    near_in: Array,
    near: Array,
    failed: Array,
    mask: Array,
) -> None:
    """Do one action a world, or, where no actions are given, test all of them.

    ``near[thing]`` remembers whether a thing can be touched in world ``near_in[thing]``, so that a mask asks once a
    thing.
    """
    tests, test_start, effects, effect_start = t.tests, t.test_start, t.effects, t.effect_start
    sets, lists, zone, place, openness = t.sets, t.lists, t.zone, t.place, t.openness
    flags, hand, fixed = t.flags, t.hand, t.fixed
    commit = len(actions) > 0
    for w in range(len(states)):
        e = episode[w]
        first, last = first_action[e], first_action[e + 1]
        begin, end = first, last
        if commit:
            begin = first + actions[w]
            end = begin + 1
            if begin < first or begin >= last:
                failed[w] = NO_SUCH_ACTION
                continue
        off = entity_offset[e]
        at = states[w, fixed[3 * e]]
        counts = fixed[3 * e + 1]
        for action in range(begin, end):
            bad = ACCEPTED
            for i in range(test_start[action], test_start[action + 1]):
                operation = tests[i, 0]
                a = tests[i, 1]
                b = tests[i, 2]
                ok = False
                if operation == ANY_OF:
                    ok = (sets[b] >> states[w, a]) & 1 != 0
                elif operation == REACH:
                    if near_in[off + a] != w:
                        thing = a
                        for _ in range(MAX_DEPTH):
                            stands_in = zone[off + thing]
                            if stands_in > 0:
                                ok = stands_in == at
                                break
                            column = place[off + thing]
                            code = states[w, column] if column >= 0 else 0
                            if code == 0:
                                break
                            how = code & 3
                            thing = code >> 2
                            what = flags[off + thing]
                            if how == HELD or what & IS_HAND:
                                ok = True
                                break
                            if how == IN and what & IS_OPENABLE:
                                column = openness[off + thing]
                                if column < 0 or states[w, column] != OPEN:
                                    break
                        near_in[off + a] = w
                        near[off + a] = ok
                    ok = near[off + a]
                elif operation == IN_HAND:
                    column = place[off + a]
                    code = states[w, column] if column >= 0 else 0
                    if code > 0:
                        where = code >> 2
                        what = flags[off + where]
                        ok = code & 3 == HELD or what & IS_HAND_TYPE != 0
                        if not ok and what & IS_TOOL:
                            column = place[off + where]
                            ok = column >= 0 and states[w, column] & 3 == HELD
                elif operation in (FREE, SPACE, ROOM):
                    holding = states[w, counts + a]
                    if operation == ROOM:
                        busy = holding
                    elif a == BOTH_HANDS:
                        busy = states[w, counts] + states[w, counts + 1] + holding
                    else:
                        busy = holding + states[w, counts + BOTH_HANDS]
                    taken, more = 0, 0
                    for j in range(b + 1, b + 1 + lists[b]):
                        column = place[off + lists[j]]
                        code = states[w, column] if column >= 0 else 0
                        other = hand[off + (code >> 2)]
                        alike = other == a or (operation != ROOM and (other == BOTH_HANDS or a == BOTH_HANDS))
                        if code & 3 == HELD and alike:
                            taken += 1
                        else:
                            more += 1
                    if operation == FREE:
                        ok = busy - taken <= 0
                    else:
                        ok = busy + more <= HAND_CAPACITY and (operation == SPACE or holding > 0)
                elif operation == HOLDS:
                    ok = states[w, a] == TRUE
                    column = place[off + b]
                    if not ok and column >= 0 and states[w, column] > 0:
                        ok = states[w, column] >> 2 == tests[i, 3] >> VESSEL_SHIFT
                elif operation == NOT_AT:
                    ok = at != a
                else:  # APART, WITHIN
                    thing, around = (b, a) if operation == APART else (a, b)
                    inside = operation == APART and a == b
                    if not inside:
                        for _ in range(MAX_DEPTH):
                            column = place[off + thing]
                            code = states[w, column] if column >= 0 else 0
                            if code == 0:
                                break
                            thing = code >> 2
                            if thing == around:
                                inside = True
                                break
                    ok = inside == (operation == WITHIN)
                if not ok:
                    bad = tests[i, 3] & NUMBER
                    break
            if not commit:
                mask[w, action - begin] = bad == ACCEPTED
                continue
            failed[w] = bad
            if bad != ACCEPTED:
                continue
            for i in range(effect_start[action], effect_start[action + 1]):
                operation = effects[i, 0]
                a = effects[i, 1]
                b = effects[i, 2]
                if operation == SET:
                    states[w, a] = b
                elif operation == PLACE:
                    column = place[off + a]
                    before = states[w, column]
                    if before & 3 == HELD:
                        states[w, counts + hand[off + (before >> 2)]] -= 1
                    if b & 3 == HELD:
                        states[w, counts + hand[off + (b >> 2)]] += 1
                    states[w, column] = b
                elif operation == RECEIVE:
                    for j in range(b + 1, b + 1 + lists[b], 2):
                        if states[w, lists[j]] == TRUE:
                            states[w, lists[j + 1]] = TRUE
                else:
                    for j in range(b + 1, b + 1 + lists[b]):
                        if states[w, lists[j]] == TRUE:
                            states[w, lists[j]] = FALSE
