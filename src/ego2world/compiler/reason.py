"""Why the compiler decided as it did, and what became of an intent, as values. Stage: all stages of compiling.

A decision that was not plain is a ``Reason``: its kind, and the things it is about. ``compiler.wording`` says it in
English; what is decided on a reason or an outcome is decided on these values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ego2world.world.fluents import Basis
from ego2world.world.refusal import FailedCheck
from ego2world.world.state import Action


class Why(StrEnum):
    """The kinds of decisions that were not plain."""

    # reading
    ONLY_TRIED = "only_tried"
    NOTHING_DONE = "nothing_done"
    OTHER_PERSON = "other_person"
    OVERLAP = "overlap"
    # binding
    PLACEHOLDERS = "placeholders"
    UNKNOWN_REFERENT = "unknown_referent"
    BY_ITS_CONTAINER = "by_its_container"
    TRACK_NAMES_CONTENT = "track_names_content"
    NAMES_CONTENT = "names_content"
    PART_OF = "part_of"
    LID_OF = "lid_of"
    FIXTURE_PART = "fixture_part"
    PUT_IS_HELD = "put_is_held"
    HELD_UNTIL_TRACK_END = "held_until_track_end"
    NEXT_TAKEN_THERE = "next_taken_there"
    IMPLIED_OBJECT = "implied_object"
    VESSEL_IN_USE = "vessel_in_use"
    DEFAULT_PLACE = "default_place"
    TRACK_DISAGREES = "track_disagrees"
    # the initial world
    FIRST_ZONE = "first_zone"
    HAS_WORKTOP = "has_worktop"
    TAKEN_FOR_GRANTED = "taken_for_granted"
    NEEDED_FIRST = "needed_first"
    REACHED_INTO = "reached_into"
    COMES_OUT = "comes_out"
    FIRST_TRACK = "first_track"
    SAID_SOURCE = "said_source"
    JUST_OPENED = "just_opened"
    WORKTOP_IN_USE = "worktop_in_use"
    BY_TRACK = "by_track"
    BY_TRACK_NOT_GUESS = "by_track_not_guess"
    TAKEN_FROM_NOT_GUESS = "taken_from_not_guess"
    # inferred operations
    OTHER_ZONE = "other_zone"
    WAS_CLOSED = "was_closed"
    WENT_UNSAID = "went_unsaid"
    CARRIER_MOVED = "carrier_moved"
    MOVED_UNSAID = "moved_unsaid"
    TAKING_UNSAID = "taking_unsaid"
    HELD_WITH_BOTH = "held_with_both"
    HAND_NEEDED = "hand_needed"
    HAND_IS_NAMED = "hand_is_named"
    SAID_HELD = "said_held"
    TRACK_ENDED = "track_ended"
    NEXT_TAKEN_AGAIN = "next_taken_again"
    NOT_MENTIONED = "not_mentioned"
    PICKED_UP_AGAIN = "picked_up_again"
    TRACK_ENDS_THERE = "track_ends_there"
    # other mending
    SOURCE_ONLY_RECORDED = "source_only_recorded"
    HELD_TOGETHER = "held_together"
    # repeats
    STAYS_THERE = "stays_there"
    ALREADY_SO = "already_so"
    NOT_WORN = "not_worn"
    # not reconciled
    TOO_MANY_REPAIRS = "too_many_repairs"
    TOO_MANY_INFERRED = "too_many_inferred"
    NOWHERE_TO_START = "nowhere_to_start"
    CANNOT_OPEN = "cannot_open"
    NO_LONGER_CONTAINS = "no_longer_contains"
    CANNOT_HOLD = "cannot_hold"
    NO_WAY_DOWN = "no_way_down"
    NO_ACTION_TYPE = "no_action_type"
    STILL_REFUSED = "still_refused"
    # tasks
    ORDER_DIFFERS = "order_differs"
    NOTHING_IN_ITS_TIME = "nothing_in_its_time"
    SAME_AS_EARLIER = "same_as_earlier"
    MERGED_CONDITION = "merged_condition"
    NO_CONDITION = "no_condition"
    NOTHING_SPOKEN_OF = "nothing_spoken_of"
    CONTRADICTORY_GOAL = "contradictory_goal"
    IMPOSSIBLE_COUNT = "impossible_count"
    NO_OPTIONS = "no_options"
    UNKNOWN_THING = "unknown_thing"
    UNKNOWN_FLUENT = "unknown_fluent"
    TRUE_AT_START = "true_at_start"
    GOAL_NOT_REACHED = "goal_not_reached"
    NOT_ADMITTED = "not_admitted"
    DOES_NOT_REPLAY = "does_not_replay"
    NO_WITNESS = "no_witness"
    ORDER_MATTERS = "order_matters"
    EVENT_IN_TERMINAL = "event_in_terminal"


_TRACKED = {Why.FIRST_TRACK, Why.BY_TRACK, Why.BY_TRACK_NOT_GUESS, Why.TRACK_ENDED, Why.MOVED_UNSAID}
_TOLD = {
    Why.SAID_SOURCE,
    Why.TAKEN_FROM_NOT_GUESS,
    Why.BY_ITS_CONTAINER,
    Why.NAMES_CONTENT,
    Why.PART_OF,
    Why.LID_OF,
    Why.FIXTURE_PART,
    Why.SAID_HELD,
}


@dataclass(frozen=True)
class Reason:
    """Why something was decided: the kind of decision, what it is about, and a second ground where there is one."""

    why: Why
    about: Mapping[str, Any] = field(default_factory=dict)
    also: Why | None = None


def basis_at_start(reason: Reason) -> Basis:
    """Return what a fact of the initial world rests on."""
    if reason.why in _TRACKED:
        return Basis.TRACK
    return Basis.SAID if reason.why in _TOLD else Basis.ASSUMED


def basis_of(reason: Reason) -> Basis:
    """Return what an operation that no narration says rests on."""
    if reason.also in {Why.TRACK_ENDS_THERE, Why.NEXT_TAKEN_THERE} or reason.why in _TRACKED:
        return Basis.TRACK
    return Basis.SAID if reason.why is Why.SAID_HELD else Basis.INFERRED


def because(why: Why, also: Why | None = None, **about: Any) -> Reason:
    """Return a reason with what it is about by keyword."""
    return Reason(why, about, also)


@dataclass(frozen=True)
class Executed:
    """The intent became at least one operation."""


@dataclass(frozen=True)
class Repeat:
    """Nothing to do: it is so already."""

    reason: Reason


@dataclass(frozen=True)
class Unreconciled:
    """It contradicts what happened before and was not executed; ``refusal`` is the check that could not be mended."""

    reason: Reason
    refusal: FailedCheck | None = None


@dataclass(frozen=True)
class Unresolved:
    """Its words refer to nothing known."""

    reason: Reason


@dataclass(frozen=True)
class Withheld:
    """It says that nothing was done, or that it was only tried."""

    reason: Reason


NotDone = Repeat | Unreconciled
Outcome = Executed | Repeat | Unreconciled | Unresolved | Withheld


def plain(value: Any) -> Any:
    """Return what a reason is about as JSON."""
    match value:
        case FailedCheck() | Action():
            return value.plain()
        case Reason():
            return {"why": value.why.value, **plain(value.about)}
        case bool() | int() | float() | str() | None:
            return value
        case Mapping():
            return {key: plain(one) for key, one in value.items()}
        case _:
            return [plain(one) for one in value]
