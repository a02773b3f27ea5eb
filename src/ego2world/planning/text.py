"""Formulas as PDDL text, in the dialect that a planner reads.

typed   types with a hierarchy: kind - class - entity
flat    no types at all: every type is a static predicate, for planners that reject subtypes

adl          quantifiers, conditional effects, disjunctions, negation, equality
conditional  the same with every quantifier written out over the problem's objects, for planners without quantifiers
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from ego2world.errors import UsageError

Formula = tuple[Any, ...]
DIALECTS = ("typed", "flat")
FEATURES = ("adl", "conditional")


@dataclass(frozen=True)
class Dialect:
    """What the target planner supports."""

    typing: str = "typed"
    features: str = "adl"

    def __post_init__(self) -> None:
        for given, known in ((self.typing, DIALECTS), (self.features, FEATURES)):
            if given not in known:
                raise UsageError(f"no dialect {given!r}; there are: {', '.join(known)}")


class Printer:
    """Prints formulas of one problem.

    Args:
        dialect: typing and features.
        members: type -> names of the objects that have it.
    """

    def __init__(self, dialect: Dialect, members: Mapping[str, Sequence[str]]) -> None:
        self.dialect, self._members = dialect, members

    def parameters(self, variables: Sequence[tuple[str, str]]) -> str:
        """Print variables with their types."""
        if self.dialect.typing == "flat":
            return " ".join(name for name, _ in variables)
        return " ".join(f"{name} - {kind}" for name, kind in variables)

    def guards(self, variables: Sequence[tuple[str, str]]) -> list[Formula]:
        """Return the conditions that stand for the types of variables."""
        return [(f"is_{kind}", name) for name, kind in variables] if self.dialect.typing == "flat" else []

    def condition_of(self, f: Formula) -> Formula:
        """Return a condition in the dialect."""
        head = f[0]
        if head in ("and", "or", "not"):
            return (head, *(self.condition_of(part) for part in f[1:]))
        if head in ("forall", "exists"):
            inner = self.condition_of(f[2])
            if self.dialect.features == "conditional":
                every = [
                    bind(inner, dict(zip([n for n, _ in f[1]], names, strict=True))) for names in self._tuples(f[1])
                ]
                return ("and" if head == "forall" else "or", *every)
            guards = self.guards(f[1])
            if head == "forall":
                inner = ("or", *(("not", g) for g in guards), inner) if guards else inner
            else:
                inner = ("and", *guards, inner) if guards else inner
            return (head, f[1], inner)
        return f

    def effect_of(self, f: Formula) -> Formula:
        """Return an effect in the dialect."""
        if f[0] == "and":
            return ("and", *(self.effect_of(part) for part in f[1:]))
        if f[0] == "when":
            return ("when", self.condition_of(f[1]), f[2])
        if f[0] != "forall":
            return f
        inner = self.effect_of(f[2])
        if self.dialect.features == "conditional":
            return (
                "and",
                *(bind(inner, dict(zip([n for n, _ in f[1]], names, strict=True))) for names in self._tuples(f[1])),
            )
        guards = self.guards(f[1])
        if guards:
            inner = (
                ("when", ("and", *guards, inner[1]), inner[2])
                if inner[0] == "when"
                else ("when", ("and", *guards), inner)
            )
        return (f[0], f[1], inner)

    def _tuples(self, variables: Sequence[tuple[str, str]]) -> list[tuple[str, ...]]:
        return list(product(*(self._members[kind] for _, kind in variables)))


def bind(formula: Any, names: Mapping[str, str]) -> Any:
    """Return a formula with variables replaced."""
    if isinstance(formula, tuple):
        return tuple(bind(part, names) for part in formula)
    return names.get(formula, formula)


def simplify(f: Formula) -> Formula:
    """Fold what is always true or false: empty conjunctions, equal constants, conditions without a condition."""
    head = f[0]
    if head in ("and", "or"):
        parts: list[Formula] = []
        neutral, decisive = (("and",), ("or",)) if head == "and" else (("or",), ("and",))
        for part in map(simplify, f[1:]):
            if part == decisive:
                return decisive
            if part[0] == head:
                parts += part[1:]
            elif part != neutral:
                parts.append(part)
        parts = list(dict.fromkeys(parts))
        return parts[0] if len(parts) == 1 else (head, *parts)
    if head == "not":
        inner = simplify(f[1])
        return (
            ("or",)
            if inner == ("and",)
            else ("and",)
            if inner == ("or",)
            else inner[1]
            if inner[0] == "not"
            else ("not", inner)
        )
    if head in ("forall", "exists"):
        inner = simplify(f[2])
        return inner if inner in (("and",), ("or",)) else (head, f[1], inner)
    if head == "when":
        condition, effect = simplify(f[1]), simplify(f[2])
        if condition == ("or",) or effect == ("and",):
            return ("and",)
        return effect if condition == ("and",) else ("when", condition, effect)
    if head == "=":
        if f[1] == f[2]:
            return ("and",)
        if not f[1].startswith("?") and not f[2].startswith("?"):
            return ("or",)
    return f


def text(f: Formula, typed: bool = True) -> str:
    """Return a formula as text."""
    if f[0] in ("forall", "exists"):
        variables = " ".join(f"{name} - {kind}" if typed else name for name, kind in f[1])
        return f"({f[0]} ({variables}) {text(f[2], typed)})"
    return "(" + " ".join(text(part, typed) if isinstance(part, tuple) else part for part in f) + ")"
