"""Ground actions as tables of integers: for each the tests that must pass and the assignments that follow. Stage:
world, grounded.

A test or assignment is a row (operation, a, b, number); what a and b are depends on the operation:

    tests                                               assignments
    ANY_OF   column a has a value of set b              SET      column a gets the code b
    REACH    entity a can be touched                    PLACE    entity a gets the place of code b
    HELD     entity a is in a hand                      RECEIVE  the columns of pairs b (list): from, to
    FREE     hand a is free but for things b (list)     EMPTY    the columns b (list) turn from true to false
    SPACE    hand a has space for things b (list)
    ROOM     hand a holds something, and has space
    APART    entity b is neither a nor carried by it
    HOLDS    column a is true, or content b is in it
    WITHIN   entity a is in or on b, however deep
    NOT_AT   the agent is not in the zone of code a

``number`` of a test counts the declared checks of the action, as in the plain executor's list of failures; HOLDS keeps
the entity of its vessel in the bits above.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, assert_never

import numpy as np
from numpy.typing import NDArray

from ego2world.world.actions.base import (
    Apart,
    Assign,
    Attach,
    EmptyOut,
    HandFree,
    HandRoom,
    HandSpace,
    Held,
    Holds,
    Is,
    Move,
    NotAt,
    PourAll,
    Precondition,
    Reach,
    SetContent,
    Travel,
    Within,
)
from ego2world.world.fluents import DOMAINS
from ego2world.world.grounded.catalogue import Bindings
from ego2world.world.grounded.symbols import (
    FALSE,
    HELD,
    HOWS,
    IS_BODY,
    IS_HAND,
    IS_HAND_TYPE,
    IS_OPENABLE,
    IS_SUBSTANCE,
    IS_TOOL,
    TRUE,
    Symbols,
)

ANY_OF, REACH, IN_HAND, FREE, SPACE, ROOM, APART, HOLDS, WITHIN, NOT_AT = range(10)
SET, PLACE, RECEIVE, EMPTY = range(4)
VESSEL_SHIFT = 8
NUMBER = (1 << VESSEL_SHIFT) - 1
ACCEPTED, NO_SUCH_ACTION = -1, -2  # instead of the number of a failed check
Rows = NDArray[np.int32]


class Tables(NamedTuple):
    """The arrays that the kernels read. Those of several episodes may stand one behind the other."""

    test_start: NDArray[np.int32]  # (actions + 1,)
    tests: NDArray[np.int32]  # (tests, 4)
    effect_start: NDArray[np.int32]  # (actions + 1,)
    effects: NDArray[np.int32]  # (assignments, 3)
    sets: NDArray[np.int64]  # bits: the codes that a set contains
    lists: NDArray[np.int32]  # each list is its length, then its items
    zone: NDArray[np.int16]  # (entities,) the code of a fixture's zone, else 0
    place: NDArray[np.int32]  # (entities,) the column of a thing's place, else -1
    openness: NDArray[np.int32]  # (entities,) the column of a thing's openness, else -1
    flags: NDArray[np.uint8]  # (entities,) see symbols
    hand: NDArray[np.int8]  # (entities,) 0 left, 1 right, 2 both, else -1
    fixed: NDArray[
        np.int32
    ]  # (3 per episode) the columns of: the agent's zone, things in the left hand; width of a state


@dataclass
class Chunk:
    """The tests and assignments of the actions of one ``Bindings``, by facts instead of columns."""

    bindings: Bindings
    tests: Rows  # (n, 5): action, operation, a, b, number; a of ANY_OF and HOLDS is a fact's number
    effects: Rows  # (n, 4): action, operation, a, b; a of SET is a fact's number, RECEIVE and EMPTY name entities

    def only(self, keep: NDArray[np.bool_]) -> Chunk:
        """Return the chunk without the actions that are not kept."""
        renumber = np.cumsum(keep) - 1
        tests, effects = self.tests[keep[self.tests[:, 0]]], self.effects[keep[self.effects[:, 0]]]
        tests[:, 0], effects[:, 0] = renumber[tests[:, 0]], renumber[effects[:, 0]]
        return Chunk(self.bindings.only(keep), tests, effects)


class Lists:
    """Sets of codes and lists of numbers that rows point to."""

    def __init__(self) -> None:
        self._sets: dict[int, int] = {}
        self._lists: dict[tuple[int, ...], int] = {}
        self._size = 0

    def set_of(self, codes: Sequence[int]) -> int:
        """Return the number of a set of codes."""
        bits = sum(1 << code for code in set(codes))
        return self._sets.setdefault(bits, len(self._sets))

    def list_of(self, items: Sequence[int]) -> int:
        """Return where a list starts."""
        known = tuple(items)
        if known not in self._lists:
            self._lists[known] = self._size
            self._size += 1 + len(known)
        return self._lists[known]

    def sets(self) -> NDArray[np.int64]:
        """Return all sets."""
        return np.array(list(self._sets) or [0], np.int64)

    def lists(self) -> NDArray[np.int32]:
        """Return all lists."""
        out = [value for known in self._lists for value in (len(known), *known)]
        return np.array(out or [0], np.int32)


def chunk_of(symbols: Symbols, lists: Lists, bindings: Bindings) -> Chunk:
    """Return the tests and assignments of ground actions of one type."""
    return Chunk(bindings, _tests(symbols, lists, bindings), _effects(symbols, bindings))


def _tests(symbols: Symbols, lists: Lists, bindings: Bindings) -> Rows:
    count, parts, checks = len(bindings), [], np.zeros(len(bindings), np.int32)
    everyone = np.arange(count, dtype=np.int32)
    for need in bindings.kind.preconditions:
        for thing in bindings.ids(need.role).T:
            rows = _need(symbols, lists, bindings, need, thing)
            made = np.zeros(count, bool)
            for valid, operation, a, b in rows:
                made |= valid
                full = np.empty((count, 5), np.int32)
                full[:, 0], full[:, 1], full[:, 2], full[:, 3], full[:, 4] = everyone, operation, a, b, checks
                parts.append(full[valid])
            checks += made
    return _by_action(parts, 5)


def _need(
    symbols: Symbols, lists: Lists, bindings: Bindings, need: Precondition, thing: NDArray[np.int32]
) -> list[tuple[NDArray[np.bool_], int, Rows | int, Rows | int]]:
    """Return the tests of one need as (for which actions, operation, a, b)."""
    flags, always = symbols.flags[thing], np.ones(len(thing), bool)
    match need:
        case Reach():
            return [((flags & (IS_SUBSTANCE | IS_BODY)) == 0, REACH, thing, 0)]
        case Held():
            return [((flags & IS_HAND_TYPE) == 0, IN_HAND, thing, 0)]
        case Is():
            codes = [1 + DOMAINS[need.fluent].index(value) for value in need.values]
            valid = (flags & IS_OPENABLE) != 0 if need.fluent == "openness" else always
            allowed = lists.set_of([*codes, 0] if need.may_be_unknown else codes)
            return [(valid, ANY_OF, symbols.key(need.fluent, thing), allowed)]
        case HandFree() | HandSpace() | HandRoom():
            operation = FREE if isinstance(need, HandFree) else SPACE if isinstance(need, HandSpace) else ROOM
            taking = np.array(
                [lists.list_of(list(dict.fromkeys(row))) for row in bindings.ids("object").tolist()], np.int32
            )
            return [(always, operation, symbols.hand[thing].astype(np.int32), taking)]
        case Apart():
            return [(always, APART, thing, other) for other in bindings.ids(need.other).T]
        case Holds():
            contents = bindings.ids(need.content).T
            return [(always, HOLDS, symbols.contains(thing, content), content) for content in contents]
        case Within():
            return [(always, WITHIN, thing, around) for around in bindings.ids(need.inside).T]
        case NotAt():
            codes_of = np.array([symbols.zone_codes.get(symbols.ids[t], 0) for t in thing.tolist()], np.int32)
            return [(always, NOT_AT, codes_of, 0)]
        case _:
            assert_never(need)


def _effects(symbols: Symbols, bindings: Bindings) -> Rows:
    count = len(bindings)
    first: list[Rows] = []
    then: list[Rows] = []
    everyone = np.arange(count, dtype=np.int32)

    def add(to: list[Rows], operation: int, a: Rows | int, b: Rows | int) -> None:
        full = np.empty((count, 4), np.int32)
        full[:, 0], full[:, 1], full[:, 2], full[:, 3] = everyone, operation, a, b
        to.append(full)

    for effect in bindings.kind.effects:
        things = bindings.ids(effect.role).T
        match effect:
            case PourAll():
                for target in bindings.ids("target").T:
                    for source in bindings.ids(effect.source).T:
                        add(first, RECEIVE, target, source)
            case EmptyOut():
                for vessel in things:
                    add(first, EMPTY, vessel, 0)
            case Assign():
                for thing in things:
                    code = symbols.code(effect.fluent, effect.value)
                    add(then, SET, symbols.key(effect.fluent, thing), code)
            case Move():
                for thing in things:
                    for where in bindings.ids(effect.to).T[:1]:
                        add(then, PLACE, thing, (1 + HOWS.index(effect.how) + 4 * where).astype(np.int32))
            case Attach():
                for thing in things:
                    to = 1 if effect.to is None else 2 + bindings.ids(effect.to)[:, 0]
                    add(then, SET, symbols.key("attached", thing), to)
            case SetContent():
                for thing in things:
                    for content in bindings.ids(effect.content).T:
                        add(then, SET, symbols.contains(thing, content), TRUE if effect.value else FALSE)
            case Travel():
                codes = np.array([symbols.zone_codes.get(symbols.ids[t], 0) for t in things[0].tolist()], np.int32)
                add(then, SET, symbols.key("at", symbols.number["agent"]), codes)
            case _:
                assert_never(effect)
    return _by_action([*first, *then], 4)


def _by_action(parts: list[Rows], width: int) -> Rows:
    """Return rows in the order of the actions, and within each in the order of the parts."""
    if not parts:
        return np.empty((0, width), np.int32)
    rows = np.concatenate(parts)
    return rows[np.argsort(rows[:, 0], kind="stable")]


def possible(symbols: Symbols, lists: Lists, chunks: Sequence[Chunk], first: dict[int, int]) -> list[NDArray[np.bool_]]:
    """Say of each action whether it might ever become applicable, from a first state, if nothing were ever undone.

    Args:
        symbols: the numbers of the world.
        lists: the sets that the chunks point to.
        chunks: the actions.
        first: the first state as number of a fact -> code.

    Returns:
        One array per chunk, shape (actions,). An action that is left out can never be accepted.
    """
    sets, count = lists.sets(), symbols.entities
    values = np.ones(symbols.keys, np.int64)  # bit 0: unknown
    known = symbols.zone > 0  # can be found somewhere
    in_hand = np.zeros(count, bool)
    bare = (symbols.flags & (IS_HAND | IS_HAND_TYPE | IS_TOOL)) != 0
    for key, code in first.items():
        fluent = key // count
        if fluent == 0:
            thing, how, where = key % count, code & 3, code >> 2
            known[thing] = True
            in_hand[thing] |= how == HELD or bare[where]
            values[key] |= 2
        elif symbols.fact_of(key)[0] != "attached":
            values[key] |= 1 << code
    alive = [np.zeros(len(chunk.bindings), bool) for chunk in chunks]
    while True:
        changed = False
        for chunk, was in zip(chunks, alive, strict=True):
            action, operation, a, b = chunk.tests[:, 0], chunk.tests[:, 1], chunk.tests[:, 2], chunk.tests[:, 3]
            ok = np.ones(len(action), bool)
            for code in np.unique(operation):
                here = operation == code
                x, y = a[here], b[here]
                if code == ANY_OF:
                    ok[here] = (values[x] & sets[y]) != 0
                elif code in (REACH, WITHIN):
                    ok[here] = known[x]
                elif code == IN_HAND:
                    ok[here] = in_hand[x]
                elif code == APART:
                    ok[here] = x != y
                elif code == HOLDS:
                    ok[here] = ((values[x] >> TRUE) & 1 != 0) | known[y]
            fresh = ~was
            fresh[action[~ok]] = False
            if not fresh.any():
                continue
            was |= fresh
            changed = True
            for operation_, a_, b_ in chunk.effects[fresh[chunk.effects[:, 0]], 1:].tolist():
                if operation_ == SET:
                    if (
                        not count * (1 + len(DOMAINS)) <= a_ < count * (2 + len(DOMAINS))
                    ):  # "attached" is never asked for
                        values[a_] |= 1 << b_
                elif operation_ == PLACE:
                    known[a_] = True
                    in_hand[a_] |= (b_ & 3) == HELD or bool(bare[b_ >> 2])
        pours = [
            c.effects[w[c.effects[:, 0]] & (c.effects[:, 1] == RECEIVE), 2:] for c, w in zip(chunks, alive, strict=True)
        ]
        holds = values[-count * count :].reshape(count, count)
        filled = poured(holds >> TRUE & 1 != 0, *np.concatenate(pours).T)
        changed |= bool((filled & (holds >> TRUE & 1 == 0)).any())
        holds |= filled.astype(np.int64) << TRUE
        if not changed:
            return alive


def poured(holds: NDArray[np.bool_], targets: NDArray[np.int32], sources: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which vessel may come to hold what, (entities, entities), when sources are emptied into targets again and
    again."""
    pours = np.zeros(holds.shape, np.float32)
    pours[targets, sources] = 1
    while True:
        more = holds | (pours @ holds.astype(np.float32) > 0)
        if (more == holds).all():
            return more
        holds = more
