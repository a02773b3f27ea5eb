"""Refusals and preconditions in English, for people, traces and language models. Nothing reads these texts back.
Stage: world, wording."""

from __future__ import annotations

from typing import Any, assert_never

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
from ego2world.world.fluents import UNKNOWN
from ego2world.world.refusal import FailedCheck, Refusal


def explain(refusal: Refusal) -> str:
    """Say what was refused and why."""
    return f"{refusal.action} refused: " + "; ".join(explain_failure(failure) for failure in refusal.failures)


def explain_failure(failure: FailedCheck) -> str:
    """Say what a failed check is about, what was needed and what was found."""
    return f"{failure.entity}: needed {needed(failure)}, found {found(failure)}"


def needed(failure: FailedCheck) -> str:
    """Say what would have passed; it never says what was found, which an agent may not see."""
    thing, role = failure.entity, failure.role
    match failure.code:
        case Code.UNKNOWN_ACTION:
            return "a known action type" + (f" (did you mean {failure.wanted[0]}?)" if failure.wanted else "")
        case Code.UNKNOWN_OBJECT:
            return "a known object"
        case Code.UNKNOWN_ROLE:
            return f"a role of {_either(failure.wanted)}"
        case Code.MISSING_ROLE:
            return f"something as {role}"
        case Code.TOO_MANY:
            return f"one thing as {role}"
        case Code.WRONG_KIND:
            return f"a {role} that can {_either(failure.wanted)}"
        case Code.NOT_PORTABLE:
            return "something portable"
        case Code.AMBIGUOUS:
            return "one thing"
        case Code.ELSEWHERE:
            return f"the agent at {_either(failure.wanted)}"
        case Code.CLOSED_AROUND:
            return f"{failure.blocker} open"
        case Code.UNKNOWN_PLACE:
            return f"{thing} within reach"
        case Code.NOT_VISIBLE:
            return f"{thing} in view"
        case Code.NOT_HELD:
            return f"holding {thing}"
        case Code.HAND_FULL:
            return f"{thing} free" if isinstance(failure.need, HandFree) else f"room in {thing}"
        case Code.HAND_EMPTY:
            return f"{thing} holding something already"
        case Code.WRONG_VALUE | Code.UNKNOWN_VALUE:
            return f"{failure.fact[0] if failure.fact else ''} {_either(failure.wanted)}"
        case Code.NOT_INSIDE:
            return f"in or on {_either(failure.wanted)}"
        case Code.NOT_CONTAINED:
            return f"{failure.fact[2] if failure.fact else ''} in {thing}"
        case Code.INTO_ITSELF:
            return f"a place outside {thing}"
        case Code.ALREADY_THERE:
            return "another zone"
        case _:
            assert_never(failure.code)


def found(failure: FailedCheck) -> str:
    """Say what was found instead."""
    value = failure.found
    match failure.code:
        case Code.UNKNOWN_ACTION:
            return "no such action type"
        case Code.UNKNOWN_OBJECT:
            return "no such object"
        case Code.UNKNOWN_ROLE:
            return "no such role"
        case Code.MISSING_ROLE:
            return "nothing"
        case Code.TOO_MANY:
            return f"{value} things"
        case Code.WRONG_KIND | Code.NOT_PORTABLE:
            return f"a {value}"
        case Code.AMBIGUOUS:
            return f"ambiguous: {_list(value)}"
        case Code.ELSEWHERE:
            return f"the agent at {value}"
        case Code.CLOSED_AROUND:
            return f"{failure.blocker} is {value or UNKNOWN}"
        case Code.UNKNOWN_PLACE:
            return "a circle of places" if failure.fact is None else f"the place of {failure.fact[1]} is unknown"
        case Code.NOT_VISIBLE:
            return "not in view"
        case Code.NOT_HELD:
            return "place unknown" if value is None else " ".join(_things(value))
        case Code.HAND_FULL:
            return f"holding {_list(value)}"
        case Code.HAND_EMPTY:
            return "empty"
        case Code.WRONG_VALUE:
            return _word(value)
        case Code.UNKNOWN_VALUE:
            return UNKNOWN
        case Code.NOT_INSIDE:
            return "place unknown" if value is None else f"in or on {value}"
        case Code.NOT_CONTAINED:
            return "unknown contents" if value is None else f"no {failure.fact[2] if failure.fact else ''} in it"
        case Code.INTO_ITSELF:
            return f"{failure.blocker} is {failure.entity} or in it"
        case Code.ALREADY_THERE:
            return "already there"
        case _:
            assert_never(failure.code)


def need_text(need: Precondition, thing: str, others: tuple[str, ...] = ()) -> str:
    """Say a precondition of one thing in the short form of transitions, such as "reach mug_1"."""
    match need:
        case Is():
            return f"{need.fluent} {thing} {_either(need.values)}"
        case Reach() | Held() | HandFree() | HandSpace() | HandRoom() | NotAt() | Within() | Holds() | Apart():
            return " ".join([type(need).__name__.lower(), thing, *others])
        case _:
            assert_never(need)


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _either(values: tuple[Any, ...]) -> str:
    return " or ".join(_word(value) for value in values)


def _things(value: Any) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else (str(value),)


def _list(value: Any) -> str:
    return ", ".join(_things(value))
