"""The transition law: ``step(world, state, action)`` is a new state or a refusal. Stage: world, executor.

    accepted:  state' = (facts of state) overwritten by the effects
    refused:   the state is untouched, and every failed check is named

Actions are grounded once per world: checks become small functions of the state, effects a dictionary to merge.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import assert_never

from ego2world.ontology.kinds import Trait, has
from ego2world.world.actions import BY_NAME, ActionType
from ego2world.world.actions.base import (
    Assign,
    Attach,
    Effect,
    EmptyOut,
    Move,
    PourAll,
    Precondition,
    SetContent,
    Travel,
)
from ego2world.world.checks import Check, make_check
from ego2world.world.codes import Code
from ego2world.world.fluents import FactKey, Value
from ego2world.world.refusal import FailedCheck, Refusal
from ego2world.world.state import AGENT, BOTH, LEFT, RIGHT, Action, State, World, contents


@dataclass(frozen=True)
class GroundAction:
    """An action bound to entities: its checks and its effects."""

    action: Action
    type: ActionType
    checks: tuple[Check, ...]
    updates: dict[FactKey, Value]
    placed: tuple[tuple[str, str | None], ...]
    receives: tuple[tuple[str, str], ...]
    empties: tuple[str, ...]

    def preconditions(self) -> list[tuple[Precondition, str, tuple[str, ...]]]:
        """Return the preconditions, one per bound thing: the need, the thing, and what its other role is bound to."""
        return [
            (
                need,
                thing,
                self.action.ids(getattr(need, "other", getattr(need, "content", getattr(need, "inside", "")))),
            )
            for need in self.type.preconditions
            for thing in self.action.ids(need.role)
        ]


def step(world: World, state: State, action: Action) -> State | Refusal:
    """Execute one action.

    Args:
        world: the episode's fixed part.
        state: the state to act in; never changed.
        action: the action type and its bindings. An unbound hand is chosen: a free one, right before left.

    Returns:
        The new state, or a refusal that lists every failed check.
    """
    ground = world.grounds.get(action)
    if ground is None:
        bound = with_hand(state, action)
        ground = ground_action(world, bound)
        if isinstance(ground, Refusal):
            return replace(ground, action=action)
        if bound is action or bound == action:
            world.grounds[action] = ground
    failures = [failure for check in ground.checks if (failure := check(state)) is not None]
    if failures:
        return Refusal(action, tuple(failures))
    return apply(ground, state)


def apply(ground: GroundAction, state: State) -> State:
    """Return the state after an applicable ground action."""
    if not (ground.updates or ground.receives or ground.empties):
        return state
    facts = dict(state.facts)
    for target, source in ground.receives:
        facts.update({("contains", target, content): True for content in contents(state.facts, source)})
    for vessel in ground.empties:
        facts.update({("contains", vessel, content): False for content in contents(state.facts, vessel)})
    facts.update(ground.updates)
    held = state.held
    if ground.placed:
        moved = {thing for thing, _ in ground.placed}
        held = tuple(
            sorted(
                [pair for pair in held if pair[1] not in moved]
                + [(hand, thing) for thing, hand in ground.placed if hand is not None]
            )
        )
    return State(facts, held)


def with_hand(state: State, action: Action) -> Action:
    """Bind an unbound hand where the action type uses one: a free hand, right before left; else the right."""
    kind = BY_NAME.get(action.name)
    if kind is None or kind.parameter("hand") is None or "hand" in action.bound:
        return action
    uses = any(
        getattr(part, "role", "") == "hand" or getattr(part, "to", "") == "hand"
        for part in (*kind.preconditions, *kind.effects)
    )
    if not uses:
        return action
    busy = {hand for hand, _ in state.held}
    free = [hand for hand in (RIGHT, LEFT) if hand not in busy and BOTH not in busy]
    return Action.of(action.name, {**action.bound, "hand": free[0] if free else RIGHT})


def ground_action(world: World, action: Action) -> GroundAction | Refusal:
    """Bind an action type to entities, or refuse what could never be executed in this world."""
    kind = BY_NAME.get(action.name)
    if kind is None:
        near = get_close_matches(action.name, BY_NAME, 1)
        return Refusal(action, (FailedCheck(Code.UNKNOWN_ACTION, action.name, wanted=tuple(near)),))
    failures = [*_role_failures(world, kind, action)]
    if failures:
        return Refusal(action, tuple(failures))
    checks: list[Check] = []
    for need in kind.preconditions:
        for thing in action.ids(need.role):
            check = make_check(world, need, thing, action)
            if check is not None:
                checks.append(check)
    updates: dict[FactKey, Value] = {}
    receives: list[tuple[str, str]] = []
    empties: list[str] = []
    for effect in kind.effects:
        match effect:
            case PourAll():
                receives += [
                    (target, source) for target in action.ids("target") for source in action.ids(effect.source)
                ]
            case EmptyOut():
                empties += action.ids(effect.role)
            case _:
                updates.update(_assigned(effect, action))
    placed = tuple(
        (key[1], value[1] if isinstance(value, tuple) and value[0] == "held" else None)
        for key, value in updates.items()
        if key[0] == "place"
    )
    return GroundAction(action, kind, tuple(checks), updates, placed, tuple(receives), tuple(empties))


def _role_failures(world: World, kind: ActionType, action: Action) -> list[FailedCheck]:
    failures = []
    picks_up = any(isinstance(effect, Move) and effect.how == "held" for effect in kind.effects)
    for var in kind.roles:
        ids, role = action.ids(var.role), var.role
        if not ids and not var.optional and role != "hand":
            failures.append(FailedCheck(Code.MISSING_ROLE, role, role=role))
        if len(ids) > 1 and not var.many:
            failures.append(FailedCheck(Code.TOO_MANY, role, role=role, found=len(ids)))
        for thing in ids:
            entity = world.entities.get(thing)
            if entity is None:
                failures.append(FailedCheck(Code.UNKNOWN_OBJECT, thing, role=role))
            elif entity.type not in var.accepts:
                fixed = picks_up and role == "object" and not has(entity.type, Trait.PORTABLE)
                code = Code.NOT_PORTABLE if fixed else Code.WRONG_KIND
                failures.append(FailedCheck(code, thing, role=role, wanted=(kind.family,), found=entity.type))
    for role in action.bound:
        if kind.parameter(role) is None:
            failures.append(FailedCheck(Code.UNKNOWN_ROLE, role, role=role, wanted=(kind.name,)))
    return failures


def _assigned(effect: Effect, action: Action) -> dict[FactKey, Value]:
    """Return what an effect assigns whatever the state is."""
    things = action.ids(effect.role)
    match effect:
        case Assign():
            return {(effect.fluent, thing): effect.value for thing in things}
        case Move():
            return {("place", thing): (effect.how, where) for thing in things for where in action.ids(effect.to)[:1]}
        case Attach():
            other = "no" if effect.to is None else action.ids(effect.to)[0]
            return {("attached", thing): other for thing in things}
        case SetContent():
            return {("contains", thing, what): effect.value for thing in things for what in action.ids(effect.content)}
        case Travel():
            return {("at", AGENT): things[0]}
        case PourAll() | EmptyOut():
            return {}  # depends on what the source holds: see apply
        case _:
            assert_never(effect)
