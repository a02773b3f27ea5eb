"""What verb senses have in common for reading, binding and reconciling, as tags. Stage: ontology.

This is the only place that lists senses by what they do; which ones have a tag is in senses.txt.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from importlib.resources import files


class Tag(StrEnum):
    """One property of verb senses."""

    TAKES = "takes"  # takes a thing from where it is; "in the box" then says from where
    PLACES = "places"  # brings a thing to a place, which a preposition names
    USES_TOOL = "uses_tool"  # may be done with an instrument
    DONE_TO_HANDS = "done_to_hands"  # is done to the hands where only they are named
    MOVES_WHAT_IS_HELD = "moves_what_is_held"  # without an object: what is in the hand
    GOES_TO = "goes_to"  # takes a place for its own, never for an object
    USES_UP = "uses_up"  # without an object: what it is done from
    DONE_TO_OWNER = "done_to_owner"  # of a lid, flap, handle, door or knob: done to what has it
    SWITCHES = "switches"  # opens, closes, turns on or off; of water: the tap
    SETS_POWER = "sets_power"  # of a button, by pressing it
    SETS_HEAT = "sets_heat"  # of the heat: adjusts the hob
    CHANGES_HANDS = "changes_hands"  # with two hands named: passes from one to the other
    TAKES_WITH_TOOL = "takes_with_tool"  # "with" is company unless it is a tool
    DIVIDES = "divides"  # "into" names the pieces
    SEEKS = "seeks"  # "for" names the object
    MEANS = "means"  # how something else is brought about
    RESULTS = "results"  # what such means bring about, as their purpose says
    JOINT = "joint"  # done to several things at once
    NEEDS_NO_OBJECT = "needs_no_object"  # without an object nothing is inherited
    HOLDS_TOOL = "holds_tool"  # the thing taken is the tool of the act that follows
    COMES_OFF = "comes_off"  # "from" names what it is taken off
    ACT_OF_ITS_OWN = "act_of_its_own"  # as an -ing form after a conjunction: an act, no manner
    PARTICLE_FIRST = "particle_first"  # its particle may come before the object
    INTRANSITIVE = "intransitive"  # has no object of its own
    BY_PACK = "by_pack"  # of a substance: done to its pack
    TAKEN_BY_TRACK = "taken_by_track"  # a track that begins then is the thing taken
    PUT_BY_TRACK = "put_by_track"  # a track that ends then is the thing put
    TAKES_CONTENT = "takes_content"  # takes content out of a vessel
    TAKING = "taking"  # begins a movement
    PUTTING = "putting"  # ends a movement
    MOVES_CONTENT = "moves_content"  # moves content rather than its vessel
    IMPLIES_OBJECT = "implies_object"  # without an object: done to what is in use
    CUTS = "cuts"  # is done to solid food
    IN_HAND = "in_hand"  # is done to what is in a hand
    FROM_HAND = "from_hand"  # is done from a vessel in a hand
    LYING = "lying"  # is done to what lies or stands
    GENERAL = "general"  # so general that the annotated class says more


@cache
def senses(tag: Tag) -> frozenset[str]:
    """Return the senses that have a tag."""
    return _tagged()[tag]


@cache
def _tagged() -> dict[Tag, frozenset[str]]:
    text = (files("ego2world.ontology") / "senses.txt").read_text("utf-8")
    rows = (line.split(":") for line in text.splitlines() if line and not line.startswith("#"))
    found = {Tag(tag): frozenset(words.split()) for tag, words in rows}
    return {tag: found[tag] for tag in Tag}
