"""The fluents: which attributes entities have and which values each may take. Stage: world, declarations."""

from __future__ import annotations

from enum import StrEnum

# A fact key is (fluent, entity) or, for the relation, ("contains", container, substance).
FactKey = tuple[str, ...]
# Places are (how, where): ("in" | "on" | "held", entity or hand). Everything else is a word or a boolean.
Value = str | bool | tuple[str, str]

UNKNOWN = "unknown"

DOMAINS: dict[str, tuple[str | bool, ...]] = {
    "openness": ("open", "closed"),
    "power": ("on", "off"),
    "cleanliness": ("clean", "soapy", "dirty"),
    "wetness": ("wet", "dry"),
    "form": (
        "whole",
        "cut",
        "sliced",
        "chopped",
        "diced",
        "halved",
        "carved",
        "trimmed",
        "pierced",
        "grated",
        "crushed",
        "ground",
        "mashed",
        "torn",
        "broken",
        "cracked",
        "divided",
        "kneaded",
        "shaped",
        "flat",
        "rolled",
        "folded",
        "unfolded",
        "crumpled",
        "squeezed",
        "blended",
        "whisked",
    ),
    "cooked": ("raw", "cooked", "fried", "boiled", "baked", "toasted"),
    "temperature": ("frozen", "cold", "warm", "hot"),
    "covered": (True, False),
    "worn": (True, False),
    "discarded": (True, False),
    "peeled": (True, False),
    "mixed": (True, False),
    "wrapped": (True, False),
    "locked": (True, False),
    "weighed": (True, False),
    "upside_down": (True, False),
    "written": (True, False),
    "pulled_out": (True, False),
}
# Fluents whose value names an entity ("place" with how; "attached" an entity or "no"; "at" the agent's zone).
ENTITY_VALUED = ("place", "attached", "at")


class Basis(StrEnum):
    """What a fact, an effect or the binding of a role rests on."""

    SAID = "said"  # a narration says it
    TRACK = "track"  # an object track shows it
    INFERRED = "inferred"  # concluded, with its reason
    ASSUMED = "assumed"  # needed at the start, and contradicted by nothing


class NarrationOutcome(StrEnum):
    """What became of a narration."""

    ACTED = "acted"  # at least one operation that changes the world
    EVENT_ONLY = "event_only"  # only operations that change nothing
    REPEAT = "repeat"  # it was so already
    ATTEMPT = "attempt"  # tried, and not said to have succeeded
    STATEMENT = "statement"  # nothing is said to be done
    OTHER_PERSON = "other_person"  # somebody else did it
    LOST = "lost"  # said to be done, and not executed


class Truth(StrEnum):
    """Kleene's three values. Unknown is not true, and is never reported as false."""

    TRUE = "true"
    FALSE = "false"
    UNKNOWN = "unknown"


def all_of(values: list[Truth]) -> Truth:
    """Return the Kleene conjunction."""
    if Truth.FALSE in values:
        return Truth.FALSE
    return Truth.UNKNOWN if Truth.UNKNOWN in values else Truth.TRUE


def any_of(values: list[Truth]) -> Truth:
    """Return the Kleene disjunction."""
    if Truth.TRUE in values:
        return Truth.TRUE
    return Truth.UNKNOWN if Truth.UNKNOWN in values else Truth.FALSE
