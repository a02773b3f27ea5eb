"""What a domain is made of: formulas, parameters, actions, and what each thing is to it. Stage: planning.

Formulas are nested tuples: ("and", ...), ("forall", ((variable, type), ...), body), ("when", condition, effect),
(predicate, terms).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ego2world.ontology.kinds import Trait, has
from ego2world.planning.scope import LiftedAction, Scope
from ego2world.world.state import World

Formula = tuple[Any, ...]
MOVABLE, FIXTURE, HAND, FACE, ZONE, ENTITY = "movable", "fixture", "hand", "face", "zone", "entity"
CLASSES = (MOVABLE, FIXTURE, HAND, FACE)


@dataclass(frozen=True)
class SchemaParameter:
    """One parameter of a PDDL action: its variable, its type, the role it fills, and what it must be besides."""

    variable: str
    type: str
    role: str
    fits: str | None  # a static predicate, where the type takes more than the role does


@dataclass(frozen=True)
class ActionSchema:
    """One PDDL action and the shape it stands for."""

    shape: LiftedAction
    parameters: tuple[SchemaParameter, ...]
    precondition: Formula
    effect: Formula


@dataclass
class PlanningDomain:
    """The actions over a scope, and the static predicates they use: predicate -> what has it."""

    world: World
    scope: Scope
    names: Mapping[str, str]
    fits: dict[str, frozenset[str]] = field(default_factory=dict)
    schemas: list[ActionSchema] = field(default_factory=list)
    values: dict[str, list[Any]] = field(default_factory=dict)

    def class_of(self, thing: str) -> str:
        """Return what a thing is to the domain."""
        return class_of(self.world, thing)

    def of_class(self, *classes: str) -> list[str]:
        """Return the things of some classes."""
        return [thing for thing in self.scope.things if self.class_of(thing) in classes]


def class_of(world: World, thing: str) -> str:
    """Return what a thing is to a domain."""
    kind = world.entities[thing].type
    if kind == "zone":
        return ZONE
    if has(kind, Trait.BODY):
        return kind
    if thing in world.zone_of:
        return FIXTURE
    return MOVABLE  # substances too: what is scooped onto a spoon has a place


def untouched(world: World, thing: str) -> bool:
    """Say whether a thing is never asked to be within reach."""
    kind = world.entities[thing].type
    return has(kind, Trait.BODY) or has(kind, Trait.SUBSTANCE)


def fluent_predicate(fluent: str, value: Any) -> str:
    """Return the name of the predicate that a fluent has a value."""
    if isinstance(value, bool):
        return fluent if value else f"{fluent}_not"
    return f"{fluent}_{value}"


def both(*parts: Formula) -> Formula:
    """Return a conjunction, without what is always true."""
    kept = [part for part in parts if part != ("and",)]
    return kept[0] if len(kept) == 1 else ("and", *kept)
