"""The transition law: ``step(world, state, action)`` is a new state or a refusal. Stage: world, executor.

    accepted:  state' = (facts of state) overwritten by the effects
    refused:   the state is untouched, and every failed check is named

Actions are grounded once per world: checks become small functions of the state, effects a dictionary to merge.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from enum import StrEnum

from ego2world.world.actions import BY_NAME, ActionType
from ego2world.world.actions.base import (
    Apart,
    Arrives,
    Becomes,
    Empties,
    Gains,
    Goes,
    HandFree,
    HandRoom,
    HandSpace,
    Held,
    Holds,
    Is,
    Joins,
    NotAt,
    Reach,
    Receives,
    Within,
)
from ego2world.world.fluents import UNKNOWN, FactKey, Value
from ego2world.world.kinds import Trait, has
from ego2world.world.state import AGENT, BOTH, HAND_CAPACITY, HANDS, LEFT, RIGHT, Action, State, World, carriers


class Code(StrEnum):
    """Why a check failed, for machines."""

    UNKNOWN_ACTION = "unknown_action"
    UNKNOWN_OBJECT = "unknown_object"
    MISSING_ROLE = "missing_role"
    WRONG_KIND = "wrong_kind"
    NOT_PORTABLE = "not_portable"
    AMBIGUOUS = "ambiguous"
    ELSEWHERE = "elsewhere"
    CLOSED_AROUND = "closed_around"
    UNKNOWN_PLACE = "unknown_place"
    NOT_VISIBLE = "not_visible"
    NOT_HELD = "not_held"
    HAND_FULL = "hand_full"
    HAND_EMPTY = "hand_empty"
    WRONG_VALUE = "wrong_value"
    UNKNOWN_VALUE = "unknown_value"
    NOT_INSIDE = "not_inside"
    NOT_CONTAINED = "not_contained"
    INTO_ITSELF = "into_itself"
    ALREADY_THERE = "already_there"


@dataclass(frozen=True)
class FailedCheck:
    """One unmet precondition: what it is about, what was needed, what was found."""

    code: Code
    entity: str
    needed: str
    found: str

    def __str__(self) -> str:
        return f"{self.entity}: needed {self.needed}, found {self.found}"


@dataclass(frozen=True)
class Refusal:
    """An action that was not executed, with every failed check. The input state is untouched."""

    action: Action
    failures: tuple[FailedCheck, ...]

    def __str__(self) -> str:
        return f"{self.action} refused: " + "; ".join(map(str, self.failures))


Check = Callable[[State], FailedCheck | None]


@dataclass(frozen=True)
class Ground:
    """An action bound to entities: its checks and its effects."""

    action: Action
    type: ActionType
    checks: tuple[Check, ...]
    updates: dict[FactKey, Value]
    placed: tuple[tuple[str, str | None], ...]
    receives: tuple[tuple[str, str], ...]
    empties: tuple[str, ...]

    def needs(self) -> list[str]:
        """Return the preconditions as words, one per bound thing, such as "reach mug_1"."""
        out = []
        for need in self.type.needs:
            for thing in self.action.ids(need.role):
                word = type(need).__name__.lower()
                if isinstance(need, Is):
                    out.append(f"{need.fluent} {thing} {_words(need.values)}")
                else:
                    other = getattr(need, "other", getattr(need, "content", getattr(need, "inside", "")))
                    out.append(" ".join([word, thing, *self.action.ids(other)]))
        return out


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


def apply(ground: Ground, state: State) -> State:
    """Return the state after an applicable ground action."""
    if not (ground.updates or ground.receives or ground.empties):
        return state
    facts = dict(state.facts)
    for target, source in ground.receives:
        for key, value in state.facts.items():
            if key[0] == "contains" and key[1] == source and value is True:
                facts[("contains", target, key[2])] = True
    for vessel in ground.empties:
        for key, value in state.facts.items():
            if key[0] == "contains" and key[1] == vessel and value is True:
                facts[key] = False
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
    if kind is None or kind.var("hand") is None or "hand" in action.bound:
        return action
    uses = any(
        getattr(part, "role", "") == "hand" or getattr(part, "to", "") == "hand" for part in (*kind.needs, *kind.makes)
    )
    if not uses:
        return action
    busy = {hand for hand, _ in state.held}
    free = [hand for hand in (RIGHT, LEFT) if hand not in busy and BOTH not in busy]
    return Action.of(action.name, {**action.bound, "hand": free[0] if free else RIGHT})


def ground_action(world: World, action: Action) -> Ground | Refusal:
    """Bind an action type to entities, or refuse what could never be executed in this world."""
    kind = BY_NAME.get(action.name)
    if kind is None:
        near = get_close_matches(action.name, BY_NAME, 1)
        hint = f"a known action type{f' (did you mean {near[0]}?)' if near else ''}"
        return Refusal(action, (FailedCheck(Code.UNKNOWN_ACTION, action.name, hint, "no such action type"),))
    failures = [*_role_failures(world, kind, action)]
    if failures:
        return Refusal(action, tuple(failures))
    checks: list[Check] = []
    for need in kind.needs:
        for thing in action.ids(need.role):
            check = _check(world, need, thing, action)
            if check is not None:
                checks.append(check)
    updates: dict[FactKey, Value] = {}
    receives: list[tuple[str, str]] = []
    empties: list[str] = []
    for effect in kind.makes:
        if isinstance(effect, Receives):
            receives += [(target, source) for target in action.ids("target") for source in action.ids(effect.source)]
        elif isinstance(effect, Empties):
            empties += action.ids(effect.role)
        else:
            updates.update(_effect(effect, action))
    placed = tuple(
        (key[1], value[1] if isinstance(value, tuple) and value[0] == "held" else None)
        for key, value in updates.items()
        if key[0] == "place"
    )
    return Ground(action, kind, tuple(checks), updates, placed, tuple(receives), tuple(empties))


def _role_failures(world: World, kind: ActionType, action: Action) -> list[FailedCheck]:
    failures = []
    for var in kind.roles:
        ids = action.ids(var.role)
        if not ids and not var.optional and var.role != "hand":
            failures.append(FailedCheck(Code.MISSING_ROLE, var.role, f"something as {var.role}", "nothing"))
        if len(ids) > 1 and not var.many:
            failures.append(FailedCheck(Code.MISSING_ROLE, var.role, f"one thing as {var.role}", f"{len(ids)} things"))
        for thing in ids:
            entity = world.entities.get(thing)
            if entity is None:
                failures.append(FailedCheck(Code.UNKNOWN_OBJECT, thing, "a known object", "no such object"))
            elif entity.type not in var.accepts:
                portable = not has(entity.type, Trait.PORTABLE) and var.role == "object"
                code = Code.NOT_PORTABLE if portable and "held" in str(kind.makes) else Code.WRONG_KIND
                needed = "something portable" if code is Code.NOT_PORTABLE else f"a {var.role} that can {kind.family}"
                failures.append(FailedCheck(code, thing, needed, f"a {entity.type}"))
    for role in action.bound:
        if kind.var(role) is None:
            failures.append(FailedCheck(Code.MISSING_ROLE, role, f"a role of {kind.name}", "no such role"))
    return failures


def _effect(effect: Becomes | Goes | Joins | Gains | Arrives, action: Action) -> dict[FactKey, Value]:
    things = action.ids(effect.role)
    if isinstance(effect, Becomes):
        return {(effect.fluent, thing): effect.value for thing in things}
    if isinstance(effect, Goes):
        return {("place", thing): (effect.how, where) for thing in things for where in action.ids(effect.to)[:1]}
    if isinstance(effect, Joins):
        other = "no" if effect.to is None else action.ids(effect.to)[0]
        return {("attached", thing): other for thing in things}
    if isinstance(effect, Gains):
        return {("contains", thing, what): effect.value for thing in things for what in action.ids(effect.content)}
    return {("at", AGENT): things[0]}


# --- checks --------------------------------------------------------------------------------------------------


def reach_failure(world: World, facts: Mapping[FactKey, Value], thing: str) -> FailedCheck | None:
    """Return why a thing cannot be touched, or None when it can."""
    first = thing
    zone_of, openable = world.zone_of, world.openable
    for _ in range(20):
        zone = zone_of.get(thing)
        if zone is not None:
            here = facts.get(("at", AGENT))
            if zone == here:
                return None
            return FailedCheck(Code.ELSEWHERE, first, f"the agent at {zone}", f"the agent at {here}")
        place = facts.get(("place", thing))
        if place is None:
            return FailedCheck(Code.UNKNOWN_PLACE, first, f"{first} within reach", f"the place of {thing} is unknown")
        how, thing = place  # type: ignore[misc, str-unpack]
        if how == "held" or thing in HANDS:
            return None
        if how == "in" and thing in openable:
            openness = facts.get(("openness", thing), UNKNOWN)
            if openness != "open":
                return FailedCheck(Code.CLOSED_AROUND, first, f"{thing} open", f"{thing} is {openness}")
    return FailedCheck(Code.UNKNOWN_PLACE, first, f"{first} within reach", "a circle of places")


def _check(world: World, need: object, thing: str, action: Action) -> Check | None:
    """Make the function that tests one precondition for one bound thing; None when it cannot fail."""
    if isinstance(need, Reach):
        if thing in world.substances or world.entities[thing].type in {"hand", "face"}:
            return None
        return lambda state: reach_failure(world, state.facts, thing)
    if isinstance(need, Held):
        if world.entities[thing].type == "hand":
            return None
        return lambda state: _held(world, state, thing)
    if isinstance(need, Is):
        return _is_check(world, need, thing)
    if isinstance(need, HandFree):
        return lambda state: _hand_free(state, thing, action.ids("object"))
    if isinstance(need, HandSpace):
        return lambda state: _hand_space(state, thing, action.ids("object"))
    if isinstance(need, HandRoom):
        return lambda state: _hand_room(state, thing, action.ids("object"))
    if isinstance(need, Apart):
        others = action.ids(need.other)
        return lambda state: _apart(state, thing, others)
    if isinstance(need, Holds):
        contents = action.ids(need.content)
        return lambda state: _holds(state, thing, contents)
    if isinstance(need, NotAt):
        return lambda state: (
            FailedCheck(Code.ALREADY_THERE, thing, "another zone", "already there") if state.zone == thing else None
        )
    if isinstance(need, Within):
        insides = action.ids(need.inside)
        return lambda state: _within(state, thing, insides)
    raise AssertionError(f"undeclared precondition {need}")


def _is_check(world: World, need: Is, thing: str) -> Check | None:
    if need.fluent == "openness" and thing not in world.openable:
        return None
    key = (need.fluent, thing)
    wanted = need.values
    soft = need.soft

    def check(state: State) -> FailedCheck | None:
        found = state.facts.get(key)
        if found in wanted:
            return None
        if found is None:
            if soft:
                return None
            return FailedCheck(Code.UNKNOWN_VALUE, thing, f"{need.fluent} {_words(wanted)}", UNKNOWN)
        return FailedCheck(Code.WRONG_VALUE, thing, f"{need.fluent} {_words(wanted)}", str(found).lower())

    return check


def _words(values: tuple[str | bool, ...]) -> str:
    return " or ".join(str(value).lower() for value in values)


def _held(world: World, state: State, thing: str) -> FailedCheck | None:
    for _, held in state.held:
        if held == thing:
            return None
    place = state.facts.get(("place", thing))
    if (
        isinstance(place, tuple)
        and world.entities.get(place[1]) is not None
        and (world.entities[place[1]].type == "hand")
    ):
        return None  # lying in a hand, or worn on it
    if (
        isinstance(place, tuple)
        and has(world.entities[place[1]].type, Trait.TOOL)
        and any(place[1] == held for _, held in state.held)
    ):
        return None  # on a tool in the hand
    found = "place unknown" if place is None else f"{place[0]} {place[1]}"  # type: ignore[index]
    return FailedCheck(Code.NOT_HELD, thing, f"holding {thing}", found)


def _hand_free(state: State, hand: str, taking: tuple[str, ...]) -> FailedCheck | None:
    for busy, thing in state.held:
        if thing not in taking and (busy == hand or BOTH in (busy, hand)):
            return FailedCheck(Code.HAND_FULL, hand, f"{hand} free", f"holding {thing}")
    return None


def _hand_space(state: State, hand: str, taking: tuple[str, ...]) -> FailedCheck | None:
    holding = [thing for busy, thing in state.held if busy == hand or BOTH in (busy, hand)]
    if len(set(holding) | set(taking)) > HAND_CAPACITY:
        return FailedCheck(Code.HAND_FULL, hand, f"room in {hand}", "holding " + ", ".join(holding))
    return None


def _hand_room(state: State, hand: str, taking: tuple[str, ...]) -> FailedCheck | None:
    holding = [thing for busy, thing in state.held if busy == hand]
    if not holding:
        return FailedCheck(Code.HAND_EMPTY, hand, f"{hand} holding something already", "empty")
    if len(set(holding) | set(taking)) > HAND_CAPACITY:
        return FailedCheck(Code.HAND_FULL, hand, f"room in {hand}", "holding " + ", ".join(holding))
    return None


def _apart(state: State, thing: str, others: tuple[str, ...]) -> FailedCheck | None:
    for other in others:
        around, facts = other, state.facts
        for _ in range(20):
            if around == thing:
                return FailedCheck(Code.INTO_ITSELF, thing, f"a place outside {thing}", f"{other} is {thing} or in it")
            place = facts.get(("place", around))
            if not isinstance(place, tuple):
                break
            around = place[1]
    return None


def _holds(state: State, vessel: str, contents: tuple[str, ...]) -> FailedCheck | None:
    for content in contents:
        if state.facts.get(("place", content), ("", ""))[1] == vessel:  # type: ignore[index]
            continue
        known = state.facts.get(("contains", vessel, content))
        if known is not True:
            found = "unknown contents" if known is None else f"no {content} in it"
            return FailedCheck(Code.NOT_CONTAINED, vessel, f"{content} in {vessel}", found)
    return None


def _within(state: State, thing: str, insides: tuple[str, ...]) -> FailedCheck | None:
    around = carriers(state.facts, thing)
    for inside in insides:
        if inside not in around:
            return FailedCheck(
                Code.NOT_INSIDE, thing, f"in or on {inside}", f"in or on {around[0]}" if around else "place unknown"
            )
    return None
