"""The compiler's reasons in English, for notes.jsonl and the reasons of inferred operations. Nothing reads these texts
back."""

from __future__ import annotations

from collections.abc import Mapping

from ego2world.compiler.reason import Reason, Why
from ego2world.world.explain import explain_failure
from ego2world.world.refusal import FailedCheck
from ego2world.world.state import Action

TEXTS: Mapping[Why, str] = {
    Why.ONLY_TRIED: "attempt: tried, and not said to have succeeded",
    Why.NOTHING_DONE: "statement: nothing is said to be done",
    Why.OTHER_PERSON: "somebody else does it, not the wearer of the camera",
    Why.OVERLAP: "segments overlap; both kept, effects in order of start, then end, then id",
    Why.PLACEHOLDERS: "{count} placeholder track(s) without a name left out",
    Why.UNKNOWN_REFERENT: "unresolved: {phrases} refers to nothing known",
    Why.BY_ITS_CONTAINER: "'{phrase}' is handled by its container",
    Why.TRACK_NAMES_CONTENT: "track '{name}' names a container by its content",
    Why.NAMES_CONTENT: "'{phrase}' names its content",
    Why.PART_OF: "'{phrase}' is part of it",
    Why.LID_OF: "'{phrase}' is its lid",
    Why.FIXTURE_PART: "a {kind} named as part of {host}",
    Why.PUT_IS_HELD: "what is put down is what is held",
    Why.HELD_UNTIL_TRACK_END: "held since its pick-up and put down when this track ends",
    Why.NEXT_TAKEN_THERE: "the place is not said; it is next picked up there",
    Why.IMPLIED_OBJECT: "what it is done to is not said; what is in use",
    Why.VESSEL_IN_USE: "where it goes is not said; the vessel in use",
    Why.DEFAULT_PLACE: "the place is not said; the bin, or the worktop in use",
    Why.TRACK_DISAGREES: "the narration says {said}, the track {fixture}; the narration stands",
    Why.FIRST_ZONE: "every episode starts in its first zone",
    Why.HAS_WORKTOP: "a kitchen has a worktop",
    Why.TAKEN_FOR_GRANTED: "taken for granted by an act that needs it",
    Why.NEEDED_FIRST: "needed by {family} and set by nothing before",
    Why.REACHED_INTO: "{thing} in it is reached, and no opening is said",
    Why.COMES_OUT: "{content} comes out of {thing}",
    Why.FIRST_TRACK: "its first track starts there",
    Why.SAID_SOURCE: "the narration that first needs it takes it from there",
    Why.JUST_OPENED: "taken right after this was opened",
    Why.WORKTOP_IN_USE: "nothing says where; the worktop in use",
    Why.BY_TRACK: "{thing} is there by its track",
    Why.BY_TRACK_NOT_GUESS: "{thing} is there by its track; before it was a guess",
    Why.TAKEN_FROM_NOT_GUESS: "{thing} is taken from {source}; before it was a guess",
    Why.OTHER_ZONE: "{fixture} is in another zone",
    Why.WAS_CLOSED: "{around} was closed and {thing} in it is reached",
    Why.WENT_UNSAID: "{thing} was {found} although {family} is said; its {opposite} went unsaid",
    Why.CARRIER_MOVED: "{carrier} was moved unsaid: tracks put things on it at {fixture}",
    Why.MOVED_UNSAID: "{thing} was moved unsaid: its track starts at {source}",
    Why.TAKING_UNSAID: "{thing} is used as {role} and its taking went unsaid",
    Why.HELD_WITH_BOTH: "{hand} is needed and {thing} is held with both",
    Why.HAND_NEEDED: "{hand} is needed and {thing} in it is not in use",
    Why.HAND_IS_NAMED: "{hand} is said to do this, and {thing} goes to the hand that fits",
    Why.SAID_HELD: "{thing} is said to be held in {hand}",
    Why.TRACK_ENDED: "the track of {thing} has ended",
    Why.NEXT_TAKEN_AGAIN: "{thing} is later picked up again, so it was put down unsaid",
    Why.NOT_MENTIONED: "{thing} was not mentioned for a while",
    Why.PICKED_UP_AGAIN: "{thing} is picked up again, so it was put down unsaid",
    Why.TRACK_ENDS_THERE: "its track ends there",
    Why.SOURCE_ONLY_RECORDED: "{thing} is said to be taken from {source} and is elsewhere; the source is only recorded",
    Why.HELD_TOGETHER: "{hand} already holds {holding}; both held together",
    Why.STAYS_THERE: "repeat: {thing} is already there",
    Why.ALREADY_SO: "repeat: {thing} is already {found}",
    Why.NOT_WORN: "repeat: {thing} is not worn",
    Why.TOO_MANY_REPAIRS: "unreconciled: {action} still refused after many repairs",
    Why.TOO_MANY_INFERRED: "unreconciled: too many operations would have to be inferred",
    Why.NOWHERE_TO_START: "unreconciled: nowhere to start for {thing}",
    Why.CANNOT_OPEN: "unreconciled: {around} is closed and cannot be opened",
    Why.NO_LONGER_CONTAINS: "unreconciled: {thing} no longer contains {content}",
    Why.CANNOT_HOLD: "unreconciled: {thing} cannot be held",
    Why.NO_WAY_DOWN: "unreconciled: no way to put {thing} down",
    Why.NO_ACTION_TYPE: "unreconciled: no action type for {sense} with {bound}",
    Why.STILL_REFUSED: "unreconciled: {failure}",
    Why.ORDER_DIFFERS: "order_differs: steps were done in another order than listed; the order is not demanded",
    Why.NOTHING_IN_ITS_TIME: "no operation falls into its time",
    Why.SAME_AS_EARLIER: "same steps and same contract as an earlier task",
    Why.MERGED_CONDITION: "repeated condition merged: {condition}",
    Why.NO_CONDITION: "no condition that the evidence supports",
    Why.NOTHING_SPOKEN_OF: "neither a state nor an event that the label speaks of",
    Why.CONTRADICTORY_GOAL: "contradictory goal: {fluent} of {entity} cannot be both {one} and {other}",
    Why.IMPOSSIBLE_COUNT: "impossible goal: {at_least} of {things} things",
    Why.NO_OPTIONS: "impossible goal: a choice between no conditions",
    Why.UNKNOWN_THING: "goal about {things}, which the world does not have",
    Why.UNKNOWN_FLUENT: "goal about the fluent {fluent}, which is not declared",
    Why.TRUE_AT_START: "goal true at start: the empty plan would fulfil it",
    Why.GOAL_NOT_REACHED: "the reference does not reach the goal",
    Why.NOT_ADMITTED: "{failures}",
    Why.DOES_NOT_REPLAY: "the reference does not replay",
    Why.NO_WITNESS: "condition {number} has no transition witness",
    Why.ORDER_MATTERS: "two independent operations give another result in the other order",
    Why.EVENT_IN_TERMINAL: "an event in a terminal-state contract",
}


def reason_text(reason: Reason) -> str:
    """Say a reason in English."""
    text = TEXTS[reason.why].format_map({name: _said(value) for name, value in reason.about.items()})
    return text if reason.also is None else f"{text}; {TEXTS[reason.also]}"


def _said(value: object) -> str:
    match value:
        case FailedCheck():
            return explain_failure(value)
        case Action():
            return str(value)
        case [Reason(), *_]:
            return "; ".join(_said(one) for one in value)
        case Reason():
            return reason_text(value)
        case bool():
            return str(value).lower()
        case list() | tuple():
            return ", ".join(_said(one) for one in value)
        case Mapping():
            return ", ".join(f"{key} {_said(one)}" for key, one in value.items())
        case _:
            return str(value)
