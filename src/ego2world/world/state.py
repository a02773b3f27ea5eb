"""The world: its fixed part (entities, zones) and its state (facts). Stage: world, hidden from agents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ego2world.core.canonical import canonical_json, sha256
from ego2world.ontology.kinds import Trait, has, kinds_with
from ego2world.world.fluents import UNKNOWN, FactKey, Truth, Value

AGENT = "agent"
LEFT, RIGHT, BOTH = "left_hand", "right_hand", "both_hands"
HANDS = (LEFT, RIGHT, BOTH)
MAX_DEPTH = 20  # carriers of carriers that are followed; more is a circle
HAND_CAPACITY = 3  # small things that one hand may hold together [D]


@dataclass(frozen=True)
class Entity:
    """One thing of an episode. ``names`` are all surface forms; ``evidence`` names source rows and tracks."""

    id: str
    type: str
    name: str
    names: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True)
class Action:
    """A proposed primitive: an action type's name and what its roles are bound to (ids; several as a tuple)."""

    name: str
    roles: tuple[tuple[str, str | tuple[str, ...]], ...] = ()

    @staticmethod
    def of(name: str, roles: Mapping[str, str | Iterable[str]]) -> Action:
        """Build an action from a mapping; lists become tuples and roles are sorted."""
        bound = {role: value if isinstance(value, str) else tuple(value) for role, value in roles.items()}
        return Action(name, tuple(sorted(bound.items())))

    @cached_property
    def bound(self) -> dict[str, str | tuple[str, ...]]:
        """Roles as a mapping."""
        return dict(self.roles)

    def ids(self, role: str) -> tuple[str, ...]:
        """Return the entities bound to a role, none when it is unbound."""
        value = self.bound.get(role, ())
        return (value,) if isinstance(value, str) else value

    @cached_property
    def things(self) -> tuple[str, ...]:
        """Every entity bound to a role."""
        return tuple(thing for role, _ in self.roles for thing in self.ids(role))

    def plain(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"action": self.name, "roles": {role: list(v) if isinstance(v, tuple) else v for role, v in self.roles}}

    def __str__(self) -> str:
        inner = ", ".join(
            f"{role}={value if isinstance(value, str) else '+'.join(value)}" for role, value in self.roles
        )
        return f"{self.name}({inner})"


@dataclass(frozen=True, repr=False)
class World:
    """What never changes within an episode: entities and the zone that each fixture stands in."""

    entities: Mapping[str, Entity]
    zones: tuple[str, ...]
    zone_of: Mapping[str, str]
    grounds: dict[Any, Any] = field(default_factory=dict, compare=False)
    looks: dict[Any, Any] = field(default_factory=dict, compare=False)

    def __repr__(self) -> str:
        return f"World({len(self.entities)} entities, {len(self.zones)} zones)"

    @cached_property
    def things(self) -> tuple[str, ...]:
        """Entities that can be seen in a zone, fixtures included, in order of id."""
        parts = kinds_with(Trait.UNSEEN)
        return tuple(
            e for e in sorted(self.entities) if self.entities[e].type not in parts and e not in self.substances
        )

    @cached_property
    def visible_things(self) -> frozenset[str]:
        """The same as a set."""
        return frozenset(self.things)

    @cached_property
    def openable(self) -> frozenset[str]:
        """Entities whose inside is blocked while they are closed."""
        return frozenset(e.id for e in self.entities.values() if has(e.type, Trait.OPENABLE))

    @cached_property
    def transparent(self) -> frozenset[str]:
        """Entities whose contents are seen through their wall."""
        return frozenset(e.id for e in self.entities.values() if has(e.type, Trait.TRANSPARENT))

    @cached_property
    def substances(self) -> frozenset[str]:
        """Entities that are contained and never held."""
        return frozenset(e.id for e in self.entities.values() if has(e.type, Trait.SUBSTANCE))


@dataclass(frozen=True, slots=True, repr=False)
class State:
    """All facts at one moment. ``held`` repeats the places in hands, as (hand, thing), for speed.

    ``facts`` must not be changed; ``step`` copies it.
    """

    facts: Mapping[FactKey, Value]
    held: tuple[tuple[str, str], ...] = ()

    def __repr__(self) -> str:
        hands = ", ".join(f"{thing} in {hand}" for hand, thing in self.held)
        return f"State({len(self.facts)} facts, agent at {self.zone}, holding {hands or 'nothing'})"

    @staticmethod
    def of(facts: Mapping[FactKey, Value]) -> State:
        """Build a state from facts."""
        held = sorted(
            (value[1], key[1])
            for key, value in facts.items()
            if key[0] == "place" and isinstance(value, tuple) and value[0] == "held"
        )
        return State(dict(facts), tuple(held))

    def get(self, *key: str) -> Value:
        """Return a fact's value, "unknown" when nothing is known."""
        return self.facts.get(key, UNKNOWN)

    @property
    def zone(self) -> str:
        """The zone that the agent is in."""
        return str(self.facts.get(("at", AGENT), UNKNOWN))

    def truth(self, key: FactKey, value: Value) -> Truth:
        """Say whether a fact has a value: true, false, or unknown."""
        found = self.facts.get(key)
        if found is None:
            return Truth.UNKNOWN
        return Truth.TRUE if found == value else Truth.FALSE

    def rows(self) -> list[list[Any]]:
        """Return the facts as sorted JSON rows; see ``fact_row``."""
        rows = [fact_row(key, value) for key, value in self.facts.items()]
        return sorted(rows, key=lambda row: (row[0], row[1], str(row[2])))

    @staticmethod
    def from_rows(rows: Iterable[list[Any]]) -> State:
        """Build a state from its JSON rows."""
        facts: dict[FactKey, Value] = {}
        for row in rows:
            key, value = row_fact(row)
            facts[key] = value
        return State.of(facts)

    def digest(self) -> str:
        """Return the SHA-256 of the canonical facts; equal in any process and on any machine."""
        return sha256(canonical_json(self.rows()))


def fact_row(key: FactKey, value: Value) -> list[Any]:
    """Return a fact as [fluent, entity, value]; contents are ["contains", container, substance], or
    ["contains", container, [substance, false]] where the container is known not to contain it."""
    if key[0] == "contains":
        return ["contains", key[1], key[2] if value is True else [key[2], False]]
    return [key[0], key[1], list(value) if isinstance(value, tuple) else value]


def row_fact(row: list[Any]) -> tuple[FactKey, Value]:
    """Return the fact of a JSON row; the inverse of ``fact_row``."""
    fluent, entity, value = row
    if fluent == "contains":
        return ("contains", entity, value[0] if isinstance(value, list) else value), not isinstance(value, list)
    return (fluent, entity), tuple(value) if isinstance(value, list) else value


def contents(facts: Mapping[FactKey, Value], vessel: str) -> list[str]:
    """Return what a vessel is known to contain, in the order of the facts."""
    return [key[2] for key, value in facts.items() if key[0] == "contains" and key[1] == vessel and value is True]


def vessels(facts: Mapping[FactKey, Value], content: str) -> list[str]:
    """Return what is known to contain a substance, in the order of the facts."""
    return [key[1] for key, value in facts.items() if key[0] == "contains" and key[2] == content and value is True]


def carriers(facts: Mapping[FactKey, Value], thing: str) -> tuple[str, ...]:
    """Return what the thing is in, on or held by, from the nearest outwards."""
    chain: list[str] = []
    while len(chain) < MAX_DEPTH:
        place = facts.get(("place", thing))
        if not isinstance(place, tuple):
            break
        thing = place[1]
        if thing in chain:
            break
        chain.append(thing)
    return tuple(chain)


def root_fixture(world: World, state: State, thing: str) -> str | None:
    """Return the fixture that the thing finally stands in or on, or None when it is held or nowhere known."""
    if thing in world.zone_of:
        return thing
    for carrier in carriers(state.facts, thing):
        if carrier in world.zone_of:
            return carrier
    return None
