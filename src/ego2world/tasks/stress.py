"""Checks on one task, used for admission and for the audit: witnesses, negatives, partial runs, bindings, order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ego2world.tasks.contract import TERMINAL, Contract, Event, truth
from ego2world.world.fluents import FactKey, Truth, Value
from ego2world.world.refusal import Refusal
from ego2world.world.state import Action, State, World, carriers, row_fact
from ego2world.world.step import step


@dataclass(frozen=True)
class Span:
    """A task's part of the reference: states before each operation, one more at the end, and the operations."""

    world: World
    states: Sequence[State]
    actions: Sequence[Action]

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """Every operation's event."""
        return tuple(Event.of(action) for action in self.actions)


def replays(span: Span) -> bool:
    """Say whether the reference is accepted throughout and ends in the recorded state."""
    state: State | Refusal = span.states[0]
    for action in span.actions:
        assert isinstance(state, State)
        state = step(span.world, state, action)
        if isinstance(state, Refusal):
            return False
    return isinstance(state, State) and state.facts == span.states[-1].facts


def has_witness(contract: Contract, index: int, span: Span) -> bool:
    """Say whether some recorded transition made a condition true."""
    condition = contract.conditions[index]
    before = truth(condition, span.states[0])
    for position, state in enumerate(span.states[1:], 1):
        after = truth(condition, state, span.events[:position])
        if before is not Truth.TRUE and after is Truth.TRUE:
            return True
        before = after
    return False


def spoiled(
    condition: Mapping[str, Any], state: State, events: Sequence[Event], how: str
) -> tuple[State, tuple[Event, ...]]:
    """Return the final state and events with just one condition spoiled: made otherwise ("false") or forgotten ("unknown")."""
    if condition["type"] == "event":
        kept = tuple(e for e in events if truth(condition, state, (e,)) is not Truth.TRUE)
        return state, kept
    key, value = row_fact([condition["fluent"], condition["entity"], condition["value"]])
    facts = dict(state.facts)
    if how == "unknown":
        facts.pop(key, None)
    else:
        facts[key] = _other(key, value)
    return State.of(facts), tuple(events)


def _other(key: FactKey, value: Value) -> Value:
    if isinstance(value, bool):
        return not value
    if isinstance(value, tuple):
        return ("on", "elsewhere")
    return "otherwise"


def misbound(
    condition: Mapping[str, Any], world: World, state: State, events: Sequence[Event]
) -> tuple[State, tuple[Event, ...]]:
    """Return the final state and events as if another thing of the same kind had been used."""
    entity = condition["object"] if condition["type"] == "event" else condition["entity"]
    kind = world.entities[entity].type
    other = next((i for i, e in sorted(world.entities.items()) if e.type == kind and i != entity), "another_one")
    if condition["type"] == "event":
        changed = tuple(
            Event(e.family, tuple(other if o == entity else o for o in e.objects), e.targets)
            if e.family == condition["family"]
            else e
            for e in events
        )
        return state, changed
    key, value = row_fact([condition["fluent"], condition["entity"], condition["value"]])
    facts = dict(state.facts)
    facts[(key[0], other, *key[2:])] = value
    facts[key] = _other(key, value)
    return State.of(facts), tuple(events)


def invalid_leaves_untouched(span: Span) -> bool:
    """Say whether refused actions leave states byte-identical: an unknown object, and a role left out."""
    state = span.states[0]
    before = state.digest()
    for action in (
        Action.of("pick_up", {"object": "no_such_thing"}),
        Action.of("put_on_worktop", {}),
        Action.of("no_such_action", {}),
    ):
        result = step(span.world, state, action)
        if not isinstance(result, Refusal) or not result.failures or state.digest() != before:
            return False
    return True


def independent_pairs(span: Span, most: int = 5) -> list[int]:
    """Return positions i where operations i and i + 1 share no entity, container or hand."""
    found = []
    for i in range(len(span.actions) - 1):
        if not _involved(span, i) & _involved(span, i + 1) and "navigate" not in {
            span.actions[i].name,
            span.actions[i + 1].name,
        }:
            found.append(i)
            if len(found) == most:
                break
    return found


def _involved(span: Span, i: int) -> set[str]:
    things = set(span.actions[i].things)
    around = {
        c for state in (span.states[i], span.states[i + 1]) for thing in things for c in carriers(state.facts, thing)
    }
    hands = {hand for state in (span.states[i], span.states[i + 1]) for hand, thing in state.held if thing in things}
    return things | around | hands


def swap_agrees(span: Span, i: int) -> bool | None:
    """Say whether operations i and i + 1 give the same state in the other order; None when that order is refused."""
    state: State | Refusal = span.states[i]
    for action in (span.actions[i + 1], span.actions[i]):
        if isinstance(state, Refusal):
            return None
        state = step(span.world, state, action)
    if isinstance(state, Refusal):
        return None
    return state.digest() == span.states[i + 2].digest()


def admission_failures(contract: Contract, span: Span) -> list[str]:
    """Return why a task may not be admitted; empty when it may."""
    failures = []
    events = span.events
    if not replays(span):
        failures.append("the reference does not replay")
    if contract.holds(span.states[-1], events) is not Truth.TRUE:
        failures.append("the contract does not hold at the end of the reference")
    if contract.holds(span.states[0], ()) is Truth.TRUE:
        failures.append("the contract holds at the start")
    for index in range(len(contract.conditions)):
        if not has_witness(contract, index, span):
            failures.append(f"condition {index + 1} has no transition witness")
    if any(swap_agrees(span, i) is False for i in independent_pairs(span)):
        failures.append("two independent operations give another result in the other order")
    if contract.tier == TERMINAL and any(c["type"] == "event" for c in contract.conditions):
        failures.append("an event in a terminal-state contract")
    return failures
