"""Conditions of contracts, parsed once. Stage: world, declarations.

The stored form is a JSON object whose "type" is the tag:

    fact   {"fluent", "entity", "value"}                 a place counts by where, whether "in" or "on"
    count  {"entities", "fluent", "value", "at_least"}   distinct instances, whichever they are
    any    {"of": [conditions]}
    event  {"family", "object", "target"?}               an accepted operation of the task's own run
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, assert_never

import msgspec

from ego2world.world.fluents import FactKey, Value
from ego2world.world.state import row_fact


class FactCondition(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="fact"):
    """A fluent of an entity has a value; ``value`` is that of a fact's JSON row. ``witness`` names the operation that
    made it so."""

    fluent: str
    entity: str
    value: Any
    witness: str | None = None

    @property
    def fact(self) -> tuple[FactKey, Value]:
        """The fact's key and value."""
        return row_fact([self.fluent, self.entity, self.value])


class CountCondition(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="count"):
    """At least so many of the entities have a fluent's value."""

    entities: list[str]
    fluent: str
    value: Any
    at_least: int
    witness: str | None = None

    @property
    def each(self) -> tuple[FactCondition, ...]:
        """The fact of each distinct entity."""
        return tuple(FactCondition(self.fluent, entity, self.value) for entity in dict.fromkeys(self.entities))


class AnyCondition(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="any"):
    """At least one of the conditions holds."""

    of: list[FactCondition | CountCondition | AnyCondition | EventCondition]
    witness: str | None = None


class EventCondition(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="event"):
    """An operation of a family was accepted on an object (and, where one is given, a target)."""

    family: str
    object: str
    target: str | None = None
    witness: str | None = None


Condition = FactCondition | CountCondition | AnyCondition | EventCondition


def parse_condition(row: object) -> Condition:
    """Parse a condition's stored form.

    Raises:
        msgspec.ValidationError: it has another type, or a field is missing or wrong; the message gives the path.
    """
    condition: Condition = msgspec.convert(row, Condition)
    return condition


def plain_condition(condition: Condition) -> dict[str, Any]:
    """Return the stored form."""
    row: dict[str, Any] = msgspec.to_builtins(condition)
    return row


def leaves(conditions: Iterable[Condition]) -> Iterator[FactCondition | CountCondition | EventCondition]:
    """Yield every condition that is not a choice between others, in order."""
    for condition in conditions:
        match condition:
            case AnyCondition():
                yield from leaves(condition.of)
            case FactCondition() | CountCondition() | EventCondition():
                yield condition
            case _:
                assert_never(condition)


def facts_in(conditions: Iterable[Condition]) -> list[FactCondition]:
    """Return every fact that conditions ask for, those of counts included."""
    found: list[FactCondition] = []
    for leaf in leaves(conditions):
        match leaf:
            case FactCondition():
                found.append(leaf)
            case CountCondition():
                found += leaf.each
            case EventCondition():
                pass
            case _:
                assert_never(leaf)
    return found


def events_in(conditions: Iterable[Condition]) -> list[EventCondition]:
    """Return every event that conditions ask for."""
    return [leaf for leaf in leaves(conditions) if isinstance(leaf, EventCondition)]


def subjects_in(conditions: Iterable[Condition]) -> list[str]:
    """Return what the conditions are about: the entities of facts and counts, the objects of events."""
    return [fact.entity for fact in facts_in(conditions)] + [event.object for event in events_in(conditions)]


def things_in(conditions: Iterable[Condition]) -> list[str]:
    """Return every word of the conditions that may be an entity, each once: subjects, objects, targets and values."""
    found: list[str] = []
    for leaf in leaves(conditions):
        match leaf:
            case EventCondition():
                found += [leaf.object, *([leaf.target] if leaf.target is not None else [])]
            case FactCondition() | CountCondition():
                found += [leaf.entity] if isinstance(leaf, FactCondition) else leaf.entities
                values = leaf.value if isinstance(leaf.value, list) else [leaf.value]
                found += [value for value in values if isinstance(value, str)]
            case _:
                assert_never(leaf)
    return list(dict.fromkeys(found))
