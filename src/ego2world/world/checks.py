"""The preconditions as functions of the state, and why one fails. Stage: world, executor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from ego2world.world.actions.base import Apart, HandFree, HandRoom, HandSpace, Held, Holds, Is, NotAt, Reach, Within
from ego2world.world.fluents import UNKNOWN, FactKey, Value
from ego2world.world.kinds import Trait, has
from ego2world.world.state import AGENT, BOTH, HAND_CAPACITY, HANDS, Action, State, World, carriers


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


Check = Callable[[State], FailedCheck | None]


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


def make_check(world: World, need: object, thing: str, action: Action) -> Check | None:
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
            return FailedCheck(Code.UNKNOWN_VALUE, thing, f"{need.fluent} {value_words(wanted)}", UNKNOWN)
        return FailedCheck(Code.WRONG_VALUE, thing, f"{need.fluent} {value_words(wanted)}", str(found).lower())

    return check


def value_words(values: tuple[str | bool, ...]) -> str:
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
