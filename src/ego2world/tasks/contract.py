"""Contracts: conditions on the final state, or accepted events that must have happened, in Kleene's logic.

Stored forms (a condition is a JSON object with "type"):

    fact   {"fluent", "entity", "value"}          a place counts by where, whether "in" or "on"
    count  {"entities", "fluent", "value", "at_least"}   distinct instances, whichever they are
    any    {"of": [conditions]}
    event  {"family", "object", "target"?}        an accepted operation of the task's own run
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ego2world.core.canonical import canonical_json, sha256
from ego2world.errors import TaskError
from ego2world.world.actions import BY_NAME
from ego2world.world.fluents import Truth, all_of, any_of
from ego2world.world.state import Action, State, row_fact

TERMINAL, EVENT = "terminal-state", "event"


@dataclass(frozen=True)
class Event:
    """One accepted operation, as contracts see it."""

    family: str
    objects: tuple[str, ...]
    targets: tuple[str, ...]

    @staticmethod
    def of(action: Action) -> Event:
        """Return the event of an accepted action."""
        return Event(BY_NAME[action.name].family, action.ids("object"), action.ids("target"))


@dataclass(frozen=True)
class Contract:
    """A conjunction of conditions with its tier."""

    tier: str
    conditions: tuple[Mapping[str, Any], ...]

    def plain(self) -> dict[str, Any]:
        """Return the stored form."""
        return {"tier": self.tier, "conditions": [dict(c) for c in self.conditions]}

    def digest(self) -> str:
        """Return the content hash that freezes it."""
        return sha256(canonical_json(self.plain()))

    @staticmethod
    def of(plain: Mapping[str, Any]) -> Contract:
        """Read the stored form."""
        return Contract(plain["tier"], tuple(plain["conditions"]))

    def each(self, state: State, events: Sequence[Event] = ()) -> tuple[Truth, ...]:
        """Return the truth of every condition."""
        return tuple(truth(condition, state, events) for condition in self.conditions)

    def holds(self, state: State, events: Sequence[Event] = ()) -> Truth:
        """Return the truth of the whole: unknown when a condition is unknown and none is false."""
        return all_of(list(self.each(state, events)))


def truth(condition: Mapping[str, Any], state: State, events: Sequence[Event] = ()) -> Truth:
    """Return the truth of one condition."""
    kind = condition["type"]
    if kind == "fact":
        return _fact(condition["fluent"], condition["entity"], condition["value"], state)
    if kind == "count":
        found = [_fact(condition["fluent"], e, condition["value"], state) for e in dict.fromkeys(condition["entities"])]
        if found.count(Truth.TRUE) >= condition["at_least"]:
            return Truth.TRUE
        possible = found.count(Truth.TRUE) + found.count(Truth.UNKNOWN)
        return Truth.UNKNOWN if possible >= condition["at_least"] else Truth.FALSE
    if kind == "any":
        return any_of([truth(option, state, events) for option in condition["of"]])
    if kind == "event":
        wanted_target = condition.get("target")
        for event in events:
            if (
                event.family == condition["family"]
                and condition["object"] in event.objects
                and (wanted_target is None or wanted_target in event.targets)
            ):
                return Truth.TRUE
        return Truth.FALSE
    raise TaskError("?", f"unknown condition type {kind!r}")


def _fact(fluent: str, entity: str, value: Any, state: State) -> Truth:
    key, wanted = row_fact([fluent, entity, value])
    found = state.facts.get(key)
    if found is None:
        return Truth.UNKNOWN
    if fluent == "place" and isinstance(found, tuple) and isinstance(wanted, tuple) and wanted[0] != "held":
        return Truth.TRUE if found[0] != "held" and found[1] == wanted[1] else Truth.FALSE
    return Truth.TRUE if found == wanted else Truth.FALSE


def make_contract(task: str, tier: str, conditions: Sequence[Mapping[str, Any]]) -> tuple[Contract, list[str]]:
    """Build a contract, merging repeated conditions.

    Returns:
        The contract and notes about merged conditions.

    Raises:
        TaskError: no condition, or two that can never hold together; the pair is named.
    """
    kept: list[Mapping[str, Any]] = []
    notes = []
    seen: set[bytes] = set()
    values: dict[tuple[Any, ...], Any] = {}
    for condition in conditions:
        plain = {key: value for key, value in condition.items() if key != "witness"}
        code = canonical_json(plain)
        if code in seen:
            notes.append(f"repeated condition merged: {describe(condition, {})}")
            continue
        seen.add(code)
        if condition["type"] == "fact":
            key, value = row_fact([condition["fluent"], condition["entity"], condition["value"]])
            if key in values and values[key] != value:
                raise TaskError(
                    task,
                    f"contradictory goal: {condition['fluent']} of {condition['entity']} cannot be both {values[key]} and {value}",
                )
            values[key] = value
        kept.append(condition)
    if not kept:
        raise TaskError(task, "no condition that the evidence supports")
    return Contract(tier, tuple(kept)), notes


def check_goal(task: str, contract: Contract, start: State) -> None:
    """Refuse a contract that the first state fulfils, and goals about places that are not known.

    Raises:
        TaskError: it is trivial.
    """
    if contract.tier == TERMINAL and contract.holds(start) is Truth.TRUE:
        raise TaskError(task, "goal true at start: the empty plan would fulfil it")


def answer_matches(expected: str, reply: str) -> bool:
    """Say whether a reply gives the expected answer as a token of its own ("10" is not in "10:30")."""
    tokens = reply.replace(",", " ").split()
    return expected.strip().casefold() in {token.strip(".;!?\"'()").casefold() for token in tokens}


def describe(condition: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """Return a condition in words, with entities' names where given."""
    kind = condition["type"]

    def name(entity: str) -> str:
        return names.get(entity, entity)

    if kind == "event":
        said = f"{condition['family'].replace('_', ' ')} {name(condition['object'])}"
        return said + (f" at {name(condition['target'])}" if condition.get("target") else "")
    if kind == "any":
        return " or ".join(describe(option, names) for option in condition["of"])
    if kind == "count":
        return f"{condition['at_least']} of {', '.join(map(name, condition['entities']))}: {condition['fluent']} {condition['value']}"
    fluent, value = condition["fluent"], condition["value"]
    entity = name(condition["entity"])
    if fluent == "place":
        return f"{entity} {value[0]} {name(value[1])}"
    if fluent == "contains":
        return f"{name(value)} in {entity}" if isinstance(value, str) else f"no {name(value[0])} in {entity}"
    if fluent == "attached":
        return f"{entity} attached to {name(value)}" if value != "no" else f"{entity} detached"
    if isinstance(value, bool):
        return f"{entity} {'' if value else 'not '}{fluent.replace('_', ' ')}"
    return f"{entity} {value}"
