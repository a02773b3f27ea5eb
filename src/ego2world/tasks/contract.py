"""Contracts: conditions on the final state, or accepted events that must have happened, in Kleene's logic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from ego2world.compiler.reason import Why, because
from ego2world.compiler.wording import reason_text
from ego2world.core.canonical import canonical_json, sha256
from ego2world.errors import TaskError
from ego2world.world.actions import BY_NAME
from ego2world.world.conditions import (
    AnyCondition,
    Condition,
    CountCondition,
    EventCondition,
    FactCondition,
    leaves,
    plain_condition,
)
from ego2world.world.episode import TaskRecord
from ego2world.world.fluents import DOMAINS, ENTITY_VALUED, Truth, all_of, any_of
from ego2world.world.state import Action, State, World

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
    conditions: tuple[Condition, ...]

    def plain(self) -> dict[str, Any]:
        """Return the stored form."""
        return {"tier": self.tier, "conditions": [plain_condition(c) for c in self.conditions]}

    def digest(self) -> str:
        """Return the content hash that freezes it."""
        return sha256(canonical_json(self.plain()))

    @staticmethod
    def of(task: TaskRecord) -> Contract:
        """Return a task's contract."""
        return Contract(task.tier, task.conditions)

    def each(self, state: State, events: Sequence[Event] = ()) -> tuple[Truth, ...]:
        """Return the truth of every condition."""
        return tuple(truth(condition, state, events) for condition in self.conditions)

    def holds(self, state: State, events: Sequence[Event] = ()) -> Truth:
        """Return the truth of the whole: unknown when a condition is unknown and none is false."""
        return all_of(list(self.each(state, events)))


def truth(condition: Condition, state: State, events: Sequence[Event] = ()) -> Truth:
    """Return the truth of one condition."""
    match condition:
        case FactCondition():
            return _fact(condition, state)
        case CountCondition():
            found = [_fact(one, state) for one in condition.each]
            if found.count(Truth.TRUE) >= condition.at_least:
                return Truth.TRUE
            possible = found.count(Truth.TRUE) + found.count(Truth.UNKNOWN)
            return Truth.UNKNOWN if possible >= condition.at_least else Truth.FALSE
        case AnyCondition():
            return any_of([truth(option, state, events) for option in condition.of])
        case EventCondition():
            for event in events:
                if (
                    event.family == condition.family
                    and condition.object in event.objects
                    and (condition.target is None or condition.target in event.targets)
                ):
                    return Truth.TRUE
            return Truth.FALSE
        case _:
            assert_never(condition)


def _fact(condition: FactCondition, state: State) -> Truth:
    key, wanted = condition.fact
    found = state.facts.get(key)
    if found is None:
        return Truth.UNKNOWN
    if key[0] == "place" and isinstance(found, tuple) and isinstance(wanted, tuple) and wanted[0] != "held":
        return Truth.TRUE if found[0] != "held" and found[1] == wanted[1] else Truth.FALSE
    return Truth.TRUE if found == wanted else Truth.FALSE


def ill_posed(task: str, why: Why, **about: Any) -> TaskError:
    """Return the error that a task is ill-posed, with the reason as a value and in English."""
    reason = because(why, **about)
    return TaskError(task, reason_text(reason), reason)


def make_contract(task: str, tier: str, conditions: Sequence[Condition]) -> tuple[Contract, list[Condition]]:
    """Build a contract, merging repeated conditions.

    Returns:
        The contract, and the conditions that repeated another.

    Raises:
        TaskError: no condition, one that can never hold, or two that can never hold together; the pair is named.
    """
    kept: list[Condition] = []
    merged: list[Condition] = []
    seen: set[bytes] = set()
    values: dict[tuple[Any, ...], Any] = {}
    for condition in conditions:
        code = canonical_json({k: v for k, v in plain_condition(condition).items() if k != "witness"})
        if code in seen:
            merged.append(condition)
            continue
        seen.add(code)
        _check_possible(task, condition)
        if isinstance(condition, FactCondition):
            key, value = condition.fact
            if key in values and values[key] != value:
                about = {"fluent": condition.fluent, "entity": condition.entity, "one": values[key], "other": value}
                raise ill_posed(task, Why.CONTRADICTORY_GOAL, **about)
            values[key] = value
        kept.append(condition)
    if not kept:
        raise ill_posed(task, Why.NO_CONDITION)
    return Contract(tier, tuple(kept)), merged


def _check_possible(task: str, condition: Condition) -> None:
    if isinstance(condition, AnyCondition):
        if not condition.of:
            raise ill_posed(task, Why.NO_OPTIONS)
        for option in condition.of:
            _check_possible(task, option)
    if isinstance(condition, CountCondition) and not 1 <= condition.at_least <= len(condition.each):
        raise ill_posed(task, Why.IMPOSSIBLE_COUNT, at_least=condition.at_least, things=len(condition.each))


def check_goal(task: str, contract: Contract, world: World, start: State) -> None:
    """Refuse a contract that the first state fulfils, and goals about things or fluents that the world does not have.

    Raises:
        TaskError: it is trivial, or speaks of what does not exist.
    """
    for leaf in leaves(contract.conditions):
        match leaf:
            case EventCondition():
                named = [leaf.object, *([leaf.target] if leaf.target is not None else [])]
            case FactCondition():
                named = [leaf.entity, *([leaf.value[1]] if leaf.fluent == "place" else [])]
            case CountCondition():
                named = leaf.entities
            case _:
                assert_never(leaf)
        unknown = [thing for thing in named if thing not in world.entities]
        if unknown:
            raise ill_posed(task, Why.UNKNOWN_THING, things=unknown)
        if not isinstance(leaf, EventCondition) and leaf.fluent not in (*DOMAINS, *ENTITY_VALUED, "contains"):
            raise ill_posed(task, Why.UNKNOWN_FLUENT, fluent=leaf.fluent)
    if contract.tier == TERMINAL and contract.holds(start) is Truth.TRUE:
        raise ill_posed(task, Why.TRUE_AT_START)


def describe(condition: Condition, names: Mapping[str, str]) -> str:
    """Return a condition in words, with entities' names where given."""

    def name(entity: str) -> str:
        return names.get(entity, entity)

    match condition:
        case EventCondition():
            said = f"{condition.family.replace('_', ' ')} {name(condition.object)}"
            return said + (f" at {name(condition.target)}" if condition.target else "")
        case AnyCondition():
            return " or ".join(describe(option, names) for option in condition.of)
        case CountCondition():
            things = ", ".join(map(name, condition.entities))
            return f"{condition.at_least} of {things}: {condition.fluent} {condition.value}"
        case FactCondition():
            return _describe_fact(condition, name)
        case _:
            assert_never(condition)


def _describe_fact(condition: FactCondition, name: Callable[[str], str]) -> str:
    fluent, value, entity = condition.fluent, condition.value, name(condition.entity)
    if fluent == "place":
        return f"{entity} {value[0]} {name(value[1])}"
    if fluent == "contains":
        return f"{name(value)} in {entity}" if isinstance(value, str) else f"no {name(value[0])} in {entity}"
    if fluent == "attached":
        return f"{entity} attached to {name(value)}" if value != "no" else f"{entity} detached"
    if isinstance(value, bool):
        return f"{entity} {'' if value else 'not '}{fluent.replace('_', ' ')}"
    return f"{entity} {value}"
