"""The preconditions as functions of the state, and why one fails. Stage: world, executor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import assert_never

from ego2world.ontology.kinds import Trait, has
from ego2world.world.actions.base import (
    Apart,
    HandFree,
    HandRoom,
    HandSpace,
    Held,
    Holds,
    Is,
    NotAt,
    Precondition,
    Reach,
    Within,
)
from ego2world.world.codes import Code
from ego2world.world.fluents import FactKey, Value
from ego2world.world.refusal import FailedCheck
from ego2world.world.state import AGENT, BOTH, HAND_CAPACITY, HANDS, MAX_DEPTH, Action, State, World, carriers

Check = Callable[[State], FailedCheck | None]
AT: FactKey = ("at", AGENT)


def make_check(world: World, need: Precondition, thing: str, action: Action) -> Check | None:
    """Make the function that tests one precondition for one bound thing; None when it cannot fail."""
    match need:
        case Reach():
            if thing in world.substances or world.entities[thing].type in {"hand", "face"}:
                return None
            return lambda state: _reach(world, state.facts, need, thing)
        case Held():
            if world.entities[thing].type == "hand":
                return None
            return lambda state: _held(world, state, need, thing)
        case Is():
            return _is_check(world, need, thing)
        case HandFree():
            return lambda state: _hand_free(state, need, thing, action.ids("object"))
        case HandSpace():
            return lambda state: _hand_space(state, need, thing, action.ids("object"))
        case HandRoom():
            return lambda state: _hand_room(state, need, thing, action.ids("object"))
        case Apart():
            others = action.ids(need.other)
            return lambda state: _apart(state, need, thing, others)
        case Holds():
            contents = action.ids(need.content)
            return lambda state: _holds(state, need, thing, contents)
        case NotAt():
            there = FailedCheck(Code.ALREADY_THERE, thing, need, need.role)
            return lambda state: there if state.zone == thing else None
        case Within():
            insides = action.ids(need.inside)
            return lambda state: _within(state, need, thing, insides)
        case _:
            assert_never(need)


def _reach(world: World, facts: Mapping[FactKey, Value], need: Reach, thing: str) -> FailedCheck | None:
    """Return why a thing cannot be touched, or None when it can."""
    first, role = thing, need.role
    zone_of, openable = world.zone_of, world.openable
    for _ in range(MAX_DEPTH):
        zone = zone_of.get(thing)
        if zone is not None:
            here = facts.get(AT)
            if zone == here:
                return None
            return FailedCheck(Code.ELSEWHERE, first, need, role, AT, (zone,), here)
        place = facts.get(("place", thing))
        if place is None:
            return FailedCheck(Code.UNKNOWN_PLACE, first, need, role, ("place", thing))
        how, thing = place  # type: ignore[misc, str-unpack]
        if how == "held" or thing in HANDS:
            return None
        if how == "in" and thing in openable:
            key = ("openness", thing)
            openness = facts.get(key)
            if openness != "open":
                return FailedCheck(Code.CLOSED_AROUND, first, need, role, key, ("open",), openness, thing)
    return FailedCheck(Code.UNKNOWN_PLACE, first, need, role)


def _is_check(world: World, need: Is, thing: str) -> Check | None:
    if need.fluent == "openness" and thing not in world.openable:
        return None
    key = (need.fluent, thing)
    wanted = need.values
    may_be_unknown = need.may_be_unknown

    def check(state: State) -> FailedCheck | None:
        found = state.facts.get(key)
        if found in wanted or (found is None and may_be_unknown):
            return None
        code = Code.UNKNOWN_VALUE if found is None else Code.WRONG_VALUE
        return FailedCheck(code, thing, need, need.role, key, wanted, found)

    return check


def _held(world: World, state: State, need: Held, thing: str) -> FailedCheck | None:
    for _, held in state.held:
        if held == thing:
            return None
    key = ("place", thing)
    place = state.facts.get(key)
    if isinstance(place, tuple):
        around = world.entities.get(place[1])
        if around is not None and around.type == "hand":
            return None  # lying in a hand, or worn on it
        if around is not None and has(around.type, Trait.TOOL) and any(place[1] == held for _, held in state.held):
            return None  # on a tool in the hand
    return FailedCheck(Code.NOT_HELD, thing, need, need.role, key, found=place)


def _hand_free(state: State, need: HandFree, hand: str, taking: tuple[str, ...]) -> FailedCheck | None:
    for busy, thing in state.held:
        if thing not in taking and (busy == hand or BOTH in (busy, hand)):
            return FailedCheck(Code.HAND_FULL, hand, need, need.role, found=(thing,), blocker=thing)
    return None


def _hand_space(state: State, need: HandSpace | HandRoom, hand: str, taking: tuple[str, ...]) -> FailedCheck | None:
    holding = tuple(thing for busy, thing in state.held if busy == hand or BOTH in (busy, hand))
    if len(set(holding) | set(taking)) > HAND_CAPACITY:
        return FailedCheck(
            Code.HAND_FULL, hand, need, need.role, found=holding, blocker=holding[0] if holding else None
        )
    return None


def _hand_room(state: State, need: HandRoom, hand: str, taking: tuple[str, ...]) -> FailedCheck | None:
    holding = tuple(thing for busy, thing in state.held if busy == hand)
    if not holding:
        return FailedCheck(Code.HAND_EMPTY, hand, need, need.role)
    if len(set(holding) | set(taking)) > HAND_CAPACITY:
        return FailedCheck(Code.HAND_FULL, hand, need, need.role, found=holding, blocker=holding[0])
    return None


def _apart(state: State, need: Apart, thing: str, others: tuple[str, ...]) -> FailedCheck | None:
    for other in others:
        around, facts = other, state.facts
        for _ in range(MAX_DEPTH):
            if around == thing:
                return FailedCheck(Code.INTO_ITSELF, thing, need, need.role, blocker=other)
            place = facts.get(("place", around))
            if not isinstance(place, tuple):
                break
            around = place[1]
    return None


def _holds(state: State, need: Holds, vessel: str, contents: tuple[str, ...]) -> FailedCheck | None:
    for content in contents:
        if state.facts.get(("place", content), ("", ""))[1] == vessel:  # type: ignore[index]
            continue
        key = ("contains", vessel, content)
        known = state.facts.get(key)
        if known is not True:
            return FailedCheck(Code.NOT_CONTAINED, vessel, need, need.role, key, (True,), known)
    return None


def _within(state: State, need: Within, thing: str, insides: tuple[str, ...]) -> FailedCheck | None:
    around = carriers(state.facts, thing)
    for inside in insides:
        if inside not in around:
            nearest = around[0] if around else None
            return FailedCheck(Code.NOT_INSIDE, thing, need, need.role, ("place", thing), (inside,), nearest)
    return None
