"""Checks on one task, used for admission and for the audit: witnesses, negatives, partial runs, bindings, order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ego2world.compiler.reason import Reason, Why, because
from ego2world.tasks.contract import TERMINAL, Contract, Event, truth
from ego2world.world.conditions import Condition, events_in, facts_in
from ego2world.world.fluents import Truth, Value
from ego2world.world.refusal import Refusal
from ego2world.world.state import Action, State, World, carriers
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


def spoiled(condition: Condition, state: State, events: Sequence[Event], how: str) -> tuple[State, tuple[Event, ...]]:
    """Return the final state and events with just one condition spoiled: made otherwise ("false") or forgotten
    ("unknown")."""
    asked = events_in((condition,))
    kept = tuple(e for e in events if not any(truth(one, state, (e,)) is Truth.TRUE for one in asked))
    facts = dict(state.facts)
    for wanted in facts_in((condition,)):
        key, value = wanted.fact
        if how == "unknown":
            facts.pop(key, None)
        else:
            facts[key] = _other(value)
    return State.of(facts), kept


def _other(value: Value) -> Value:
    if isinstance(value, bool):
        return not value
    if isinstance(value, tuple):
        return ("on", "elsewhere")
    return "otherwise"


def misbound(
    condition: Condition, world: World, state: State, events: Sequence[Event]
) -> tuple[State, tuple[Event, ...]]:
    """Return the final state and events as if other things of the same kinds had been used."""

    def other_than(entity: str) -> str:
        kind = world.entities[entity].type
        return next((i for i, e in sorted(world.entities.items()) if e.type == kind and i != entity), "another_one")

    changed = tuple(events)
    for wanted in events_in((condition,)):
        other = other_than(wanted.object)
        changed = tuple(
            (
                replace(e, objects=tuple(other if o == wanted.object else o for o in e.objects))
                if e.family == wanted.family
                else e
            )
            for e in changed
        )
    facts = dict(state.facts)
    for fact in facts_in((condition,)):
        key, value = fact.fact
        facts[(key[0], other_than(key[1]), *key[2:])] = value
        facts[key] = _other(value)
    return State.of(facts), changed


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


def admission_failures(contract: Contract, span: Span) -> list[Reason]:
    """Return why a task may not be admitted; empty when it may."""
    failures = []
    events = span.events
    if not replays(span):
        failures.append(because(Why.DOES_NOT_REPLAY))
    if contract.holds(span.states[-1], events) is not Truth.TRUE:
        failures.append(because(Why.GOAL_NOT_REACHED))
    if contract.holds(span.states[0], ()) is Truth.TRUE:
        failures.append(because(Why.TRUE_AT_START))
    for index in range(len(contract.conditions)):
        if not has_witness(contract, index, span):
            failures.append(because(Why.NO_WITNESS, number=index + 1))
    if any(swap_agrees(span, i) is False for i in independent_pairs(span)):
        failures.append(because(Why.ORDER_MATTERS))
    if contract.tier == TERMINAL and events_in(contract.conditions):
        failures.append(because(Why.EVENT_IN_TERMINAL))
    return failures
