"""Which ground actions a world has: never all of them, only those that lead to something no other action leads to.

A full grounding of 323 action types is millions of actions, nearly all of them the same under other names: what
``pick_up`` does, ``pick_up_from_rack`` does too, and needs more. So a type stands back where another one has the same
effects, needs no more, and accepts the same things. What the reference did is always there, as it was done.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ego2world.world.actions import ACTIONS, BY_NAME, ActionType
from ego2world.world.actions.base import PourAll
from ego2world.world.grounded.symbols import Symbols
from ego2world.world.state import Action

PART_ROLES = ("role", "inside", "content", "other", "to", "source")


@dataclass(frozen=True)
class Bindings:
    """Ground actions of one type that bind the same roles: role -> entity numbers, shape (actions, things in the
    role)."""

    kind: ActionType
    roles: dict[str, NDArray[np.int32]]
    count: int

    def __len__(self) -> int:
        return self.count

    def only(self, keep: NDArray[np.bool_] | slice) -> Bindings:
        """Return the actions that are kept."""
        kept = len(np.arange(self.count)[keep])
        return Bindings(self.kind, {role: things[keep] for role, things in self.roles.items()}, kept)

    def ids(self, role: str) -> NDArray[np.int32]:
        """Return what is bound to a role, with no column where it is unbound."""
        return self.roles.get(role, np.empty((len(self), 0), np.int32))

    def actions(self, symbols: Symbols) -> list[Action]:
        """Return the actions by name."""
        columns = [(role, things.tolist()) for role, things in sorted(self.roles.items())]
        many = {var.role for var in self.kind.roles if var.many}
        return [
            Action(
                self.kind.name, tuple((role, self._bound(symbols, things[i], role in many)) for role, things in columns)
            )
            for i in range(len(self))
        ]

    def _bound(self, symbols: Symbols, things: list[int], many: bool) -> str | tuple[str, ...]:
        names = tuple(symbols.ids[thing] for thing in things)
        return names if many and len(names) > 1 else names[0]


def parts_roles(parts: Iterable[object]) -> set[str]:
    """Return the roles that preconditions or effects speak of."""
    found = {role for part in parts for name in PART_ROLES if (role := getattr(part, name, None)) is not None}
    return found | {"target" for part in parts if isinstance(part, PourAll)}


@cache
def roles_that_matter(kind: ActionType) -> tuple[str, ...]:
    """Return the roles to bind: those that must be, and those that effects speak of. An optional role that only adds
    preconditions is left unbound; a hand counts as needed, since the executor would choose one."""
    changed, needed = parts_roles(kind.effects), parts_roles(kind.preconditions)
    return tuple(
        var.role
        for var in kind.roles
        if var.role in changed or (var.role in needed if var.role == "hand" else not var.optional)
    )


def essential(symbols: Symbols, most_things: int = 2) -> Iterator[Bindings]:
    """Yield the ground actions that have effects and stand for all others with the same ones.

    Args:
        symbols: the numbers of the world's entities.
        most_things: leave out types that bind more things than this, hands apart.
    """
    by_kind: dict[str, list[int]] = {}
    for number, identifier in enumerate(symbols.ids):
        by_kind.setdefault(symbols.world.entities[identifier].type, []).append(number)
    for kind in ACTIONS:
        roles = roles_that_matter(kind)
        if not kind.effects or sum(role != "hand" for role in roles) > most_things:
            continue
        rivals = _rivals(kind)
        optional = [r for r in roles if kind.parameter(r).optional and r != "hand"]  # type: ignore[union-attr]
        for left_out in _subsets(optional):
            bound = [role for role in roles if role not in left_out]
            columns = [sorted(n for k in kind.parameter(r).accepts for n in by_kind.get(k, ())) for r in bound]  # type: ignore[union-attr]
            grid = np.array(np.meshgrid(*columns, indexing="ij"), np.int32).reshape(len(bound), -1)
            keep = np.ones(grid.shape[1], bool)
            for rival in rivals:
                if {var.role for var in rival.roles if not var.optional} <= {*bound, "hand"}:
                    keep &= ~_accepted(symbols, rival, bound, grid)
            if keep.any():
                yield Bindings(kind, {role: grid[i, keep, None] for i, role in enumerate(bound)}, int(keep.sum()))


def _subsets(roles: list[str]) -> Iterator[set[str]]:
    for choice in product((False, True), repeat=len(roles)):
        yield {role for role, out in zip(roles, choice, strict=True) if out}


@cache
def _rivals(kind: ActionType) -> tuple[ActionType, ...]:
    """Return the types that do the same with no more preconditions; of two alike the one declared first counts."""
    preconditions, found, passed = set(kind.preconditions), [], False
    for other in ACTIONS:
        if other is kind:
            passed = True
        elif other.effects == kind.effects and set(other.preconditions) <= preconditions:
            if not passed or set(other.preconditions) != preconditions:
                found.append(other)
    return tuple(found)


def _accepted(symbols: Symbols, rival: ActionType, roles: list[str], grid: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Say for each binding whether the rival type takes it too."""
    ok = np.ones(grid.shape[1], bool)
    matter = roles_that_matter(rival)
    for number, role in enumerate(roles):
        if role in matter and (var := rival.parameter(role)) is not None:
            ok &= symbols.of_kinds(var.accepts)[grid[number]]
    return ok


def bound_alike(symbols: Symbols, actions: Iterable[Action]) -> list[Bindings]:
    """Return given actions by type and shape.

    All must be groundable: of a known type, with things of accepted kinds.
    """
    shapes: dict[tuple[str, tuple[tuple[str, int], ...]], list[Action]] = {}
    for action in actions:
        shape = tuple((role, len(action.ids(role))) for role, _ in action.roles)
        shapes.setdefault((action.name, shape), []).append(action)
    out = []
    for (name, shape), members in shapes.items():
        roles = {
            role: (
                np.array([[symbols.number[t] for t in a.ids(role)] for a in members], np.int32).reshape(
                    len(members), size
                )
            )
            for role, size in shape
        }
        out.append(Bindings(BY_NAME[name], roles, len(members)))
    return out
