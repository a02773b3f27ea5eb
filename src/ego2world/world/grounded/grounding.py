"""One episode's world in integers: states as rows, actions as numbers, and back without loss. Stage: world,
grounded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ego2world.errors import DeclarationError
from ego2world.world.episode import Episode
from ego2world.world.explain import explain
from ego2world.world.fluents import FactKey
from ego2world.world.grounded.catalogue import Bindings, bound_alike, essential
from ego2world.world.grounded.symbols import Symbols
from ego2world.world.grounded.tables import (
    ANY_OF,
    EMPTY,
    HOLDS,
    PLACE,
    RECEIVE,
    SET,
    VESSEL_SHIFT,
    Chunk,
    Lists,
    Tables,
    chunk_of,
    possible,
    poured,
)
from ego2world.world.refusal import Refusal
from ego2world.world.state import Action, State, World
from ego2world.world.step import ground_action, step, with_hand

_CODE = np.int16


@dataclass(frozen=True)
class Grounding:
    """A world's facts as columns and its ground actions as rows of tables.

    A state is a row of ``width`` int16: a code per column (0 is "unknown"), then how many things each hand holds.
    """

    world: World
    symbols: Symbols
    columns: tuple[int, ...]  # the number of the fact that each column holds
    tables: Tables
    chunks: tuple[tuple[Bindings, int], ...]  # ground actions, and the number of the first of them
    initial: NDArray[np.int16]
    groundable: int  # how many actions were looked at before the impossible ones were left out

    @property
    def width(self) -> int:
        """Length of a state's row."""
        return len(self.columns) + 3

    @property
    def actions(self) -> int:
        """How many ground actions there are."""
        return len(self.tables.test_start) - 1

    @cached_property
    def _column(self) -> Mapping[FactKey, int]:
        return {self.symbols.fact_of(number): column for column, number in enumerate(self.columns)}

    @cached_property
    def facts(self) -> tuple[FactKey, ...]:
        """The fact that each column holds."""
        return tuple(self._column)

    def column(self, key: FactKey) -> int | None:
        """Return the column of a fact, None when no action of the grounding can make it known."""
        return self._column.get(key)

    def encode(self, state: State) -> NDArray[np.int16]:
        """Return a state as a row.

        Raises:
            DeclarationError: a fact that the grounding has no column for; ground it with the actions that led there.
        """
        row = np.zeros(self.width, _CODE)
        for key, value in state.facts.items():
            column = self._column.get(key)
            if column is None:
                raise DeclarationError(
                    " ".join(key), "no column for this fact; ground the episode with the actions that led to it"
                )
            row[column] = self.symbols.code(key[0], value)
        for hand, _ in state.held:
            row[len(self.columns) + int(self.symbols.hand[self.symbols.number[hand]])] += 1
        return row

    def decode(self, row: NDArray[np.int16]) -> State:
        """Return the state of a row; the inverse of ``encode``."""
        facts = self.facts
        return State.of(
            {facts[c]: self.symbols.value(facts[c][0], int(row[c])) for c in np.flatnonzero(row[: len(self.columns)])}
        )

    def action(self, number: int) -> Action:
        """Return a ground action by its number."""
        starts = [start for _, start in self.chunks]
        index = int(np.searchsorted(starts, number, side="right")) - 1
        bindings, start = self.chunks[index]
        return bindings.only(slice(number - start, number - start + 1)).actions(self.symbols)[0]

    @cached_property
    def _numbers(self) -> Mapping[tuple[object, ...], int]:
        found: dict[tuple[object, ...], int] = {}
        for bindings, start in self.chunks:
            for offset, name in enumerate(_names(bindings)):
                found.setdefault(name, start + offset)
        return found

    def number(self, action: Action, state: State | None = None) -> int | None:
        """Return the number of an action, None when it is not among those of the grounding.

        Args:
            action: any action of the plain executor.
            state: where it is done; only needed for a hand that the executor would choose.
        """
        if state is not None:
            action = with_hand(state, action)
        if any(thing not in self.symbols.number for thing in action.things):
            return None
        roles = ((role, *(self.symbols.number[thing] for thing in action.ids(role))) for role, _ in action.roles)
        return self._numbers.get((action.name, *sorted(roles)))

    def explain(self, row: NDArray[np.int16], number: int) -> Refusal | None:
        """Return why an action is refused in a state, with every failed check; None when it is accepted."""
        result = step(self.world, self.decode(row), self.action(number))
        return result if isinstance(result, Refusal) else None


def ground(episode: Episode, more: Iterable[Action] = (), most_things: int = 2) -> Grounding:
    """Ground an episode: the essential actions, all those of its reference, and given ones.

    Args:
        episode: what to ground.
        more: further actions that must be there, of types and with roles of your own choice, their hands bound.
        most_things: leave out essential types that bind more things than this, hands apart.

    Raises:
        DeclarationError: a given action can never be executed in this world.
    """
    return ground_actions(episode.world, episode.initial, [*with_hands(episode), *more], most_things)


def with_hands(episode: Episode) -> list[Action]:
    """Return the actions of the reference, with the hands that the executor chooses."""
    out, state = [], episode.initial
    for action in episode.actions:
        out.append(with_hand(state, action))
        after = step(episode.world, state, action)
        state = after if isinstance(after, State) else state
    return out


def ground_actions(world: World, first: State, given: Sequence[Action], most_things: int = 2) -> Grounding:
    """Ground a world from a first state; see ``ground``."""
    symbols, lists = Symbols(world), Lists()
    known = list(dict.fromkeys(given))
    for action in known:
        refused = ground_action(world, action)
        if isinstance(refused, Refusal):
            raise DeclarationError(str(action), f"cannot be grounded: {explain(refused)}")
    own = [chunk_of(symbols, lists, bindings) for bindings in bound_alike(symbols, known)]
    named = {name for chunk in own for name in _names(chunk.bindings)}
    types = {chunk.bindings.kind.name for chunk in own}
    others = []
    for bindings in essential(symbols, most_things):
        if bindings.kind.name in types:
            bindings = bindings.only(np.array([name not in named for name in _names(bindings)], bool))
        others.append(chunk_of(symbols, lists, bindings))
    codes = {symbols.key_of(key): symbols.code(key[0], value) for key, value in first.facts.items()}
    alive = possible(symbols, lists, [*own, *others], codes)[len(own) :]
    kept = [*own, *(chunk.only(keep) for chunk, keep in zip(others, alive, strict=True) if keep.any())]
    looked_at = sum(len(chunk.bindings) for chunk in (*own, *others))
    return _assemble(world, symbols, lists, kept, first, codes, looked_at)


def _names(bindings: Bindings) -> list[tuple[object, ...]]:
    """Return what tells the actions of one type apart."""
    roles = sorted(bindings.roles.items())
    parts = [[(role, *row) for row in things.tolist()] for role, things in roles]
    return list(zip([bindings.kind.name] * len(bindings), *parts, strict=True))


def _assemble(
    world: World,
    symbols: Symbols,
    lists: Lists,
    chunks: list[Chunk],
    first: State,
    codes: Mapping[int, int],
    looked_at: int,
) -> Grounding:
    """Number the facts that the actions can make or ask for, and put all tables together."""
    tests, test_start = _stack([chunk.tests for chunk in chunks], [len(chunk.bindings) for chunk in chunks])
    effects, effect_start = _stack([chunk.effects for chunk in chunks], [len(chunk.bindings) for chunk in chunks])
    count = symbols.entities
    keys = set(codes) | {symbols.key_of(("at", "agent"))}
    keys |= set(tests[np.isin(tests[:, 0], (ANY_OF, HOLDS)), 1].tolist())
    keys |= set(effects[effects[:, 0] == SET, 1].tolist())
    keys |= set(effects[effects[:, 0] == PLACE, 1].tolist())  # places come first: their number is that of the thing
    inside = symbols.keys - count * count
    holds_ever = np.zeros((count, count), bool)
    holds_ever.reshape(-1)[[key - inside for key in keys if key >= inside]] = True
    pours = effects[effects[:, 0] == RECEIVE, 1:]
    holds_ever = poured(holds_ever, pours[:, 0], pours[:, 1])
    keys |= set((np.flatnonzero(holds_ever) + inside).tolist())
    columns = tuple(sorted(keys))
    column = {key: i for i, key in enumerate(columns)}
    lookup = np.full(symbols.keys, -1, np.int32)
    lookup[list(columns)] = np.arange(len(columns))
    holds = np.flatnonzero(tests[:, 0] == HOLDS)
    tests[holds, 3] |= (tests[holds, 1] - inside) // count << VESSEL_SHIFT
    _to_columns(tests, effects, lookup)
    holding = [np.flatnonzero(row) for row in holds_ever]
    for i in np.flatnonzero(effects[:, 0] == RECEIVE).tolist():
        target, source = effects[i, 1:]
        pairs = lookup[inside + np.array([source, target])[:, None] * count + holding[source]]
        effects[i, 2] = lists.list_of(pairs.T.ravel().tolist())
    for i in np.flatnonzero(effects[:, 0] == EMPTY).tolist():
        effects[i, 2] = lists.list_of(lookup[inside + effects[i, 1] * count + holding[effects[i, 1]]].tolist())
    openness = symbols.key("openness", np.arange(count, dtype=np.int32))
    tables = Tables(
        test_start,
        tests,
        effect_start,
        effects,
        lists.sets(),
        lists.lists(),
        symbols.zone,
        lookup[:count].copy(),
        lookup[openness],
        symbols.flags,
        symbols.hand,
        np.array([column[symbols.key_of(("at", "agent"))], len(columns), len(columns) + 3], np.int32),
    )
    starts = np.concatenate([[0], np.cumsum([len(chunk.bindings) for chunk in chunks])])
    numbered = tuple((chunk.bindings, int(start)) for chunk, start in zip(chunks, starts[:-1], strict=True))
    grounding = Grounding(world, symbols, columns, tables, numbered, np.zeros(0, _CODE), looked_at)
    return Grounding(world, symbols, columns, tables, numbered, grounding.encode(first), looked_at)


def _stack(parts: Sequence[NDArray[np.int32]], sizes: Sequence[int]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the rows of all chunks in the order of the actions, and where those of each action start."""
    counts = np.concatenate([np.bincount(rows[:, 0], minlength=size) for rows, size in zip(parts, sizes, strict=True)])
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return np.ascontiguousarray(np.concatenate(parts)[:, 1:]), start


def _to_columns(tests: NDArray[np.int32], effects: NDArray[np.int32], lookup: NDArray[np.int32]) -> None:
    for rows, operation in ((tests, ANY_OF), (tests, HOLDS), (effects, SET)):
        here = rows[:, 0] == operation
        rows[here, 1] = lookup[rows[here, 1]]
