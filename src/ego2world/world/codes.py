"""The kinds of failed checks, for the executor and for agents alike. Stage: world, declarations."""

from __future__ import annotations

from enum import StrEnum


class Code(StrEnum):
    """The kind of a failed check."""

    UNKNOWN_ACTION = "unknown_action"
    UNKNOWN_OBJECT = "unknown_object"
    UNKNOWN_ROLE = "unknown_role"
    MISSING_ROLE = "missing_role"
    TOO_MANY = "too_many"
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
