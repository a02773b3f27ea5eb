"""What can go wrong in a rollout, each with the gate that it must fail and the type of its failure. Stage: render,
declarations.

The types are the paper's taxonomy, with contact_violation and instability for what it leaves unnamed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ego2world.rollouts.cases import Kind

CARRIED = (Kind.MOVE, Kind.COVER)
HINGED = (Kind.OPEN, Kind.CLOSE)


class Fault(StrEnum):
    """One planted fault."""

    SKIP = "skip"
    STOP = "stop"
    ABANDON = "abandon"
    HALF = "half"
    NO_TILT = "no_tilt"
    TELEPORT = "teleport"
    VANISH = "vanish"
    DUPLICATE = "duplicate"
    COUNT = "count"
    MERGE = "merge"
    SHAPE = "shape"
    IDENTITY = "identity"
    APPEAR = "appear"
    JUMP = "jump"
    EARLY = "early"
    GAP = "gap"
    LOST = "lost"
    THROUGH_CLOSED = "through_closed"
    THROUGH_SURFACE = "through_surface"
    WRONG_AXIS = "wrong_axis"
    UNCOUPLED = "uncoupled"
    DEFORM = "deform"
    FLOAT = "float"
    DRIFT = "drift"
    SPRING = "spring"
    LEAK = "leak"


@dataclass(frozen=True)
class Expected:
    """Where a fault lands: the gate that fails first, the type of failure, the kinds of steps it can be planted in,
    and what is seen."""

    gate: str
    failure: str
    kinds: tuple[Kind, ...]
    says: str


ANY = tuple(Kind)
FAULTS: dict[Fault, Expected] = {
    Fault.SKIP: Expected("T1", "skipped_prerequisite", ANY, "a step is left out and a later one done"),
    Fault.STOP: Expected("T1", "incomplete_outcome", ANY, "the video ends before the last step"),
    Fault.ABANDON: Expected("T2", "incomplete_outcome", CARRIED, "a thing is lifted and put back"),
    Fault.HALF: Expected("T3", "incomplete_outcome", ANY, "a step is carried out half way"),
    Fault.NO_TILT: Expected(
        "T2", "domain_specific_operation", (Kind.POUR,), "a vessel is shaken where it should be tilted"
    ),
    Fault.TELEPORT: Expected("P1", "object_inconsistency", CARRIED, "a thing jumps"),
    Fault.VANISH: Expected("P1", "object_inconsistency", CARRIED, "a thing is gone for a while"),
    Fault.DUPLICATE: Expected("P1", "object_inconsistency", CARRIED, "a copy stays where a thing was taken"),
    Fault.COUNT: Expected("P1", "object_inconsistency", CARRIED, "one thing becomes two"),
    Fault.MERGE: Expected("P1", "object_inconsistency", CARRIED, "a neighbour is swallowed"),
    Fault.SHAPE: Expected("P1", "object_inconsistency", CARRIED, "a thing becomes wide and low"),
    Fault.IDENTITY: Expected("P1", "object_inconsistency", CARRIED, "a thing becomes another"),
    Fault.APPEAR: Expected("P1", "object_inconsistency", (Kind.POUR,), "a vessel is full at once"),
    Fault.JUMP: Expected("P1", "object_inconsistency", HINGED, "a door is open, or closed, at once"),
    Fault.EARLY: Expected("P2", "contact_violation", ANY, "the effect comes before its cause"),
    Fault.GAP: Expected("P2", "contact_violation", CARRIED, "a thing follows a hand that does not touch it"),
    Fault.LOST: Expected("P3", "contact_violation", (*CARRIED, Kind.POUR), "the hand lets go and the thing goes on"),
    Fault.THROUGH_CLOSED: Expected("P3", "boundary_violation", (Kind.MOVE,), "a thing passes a closed door"),
    Fault.THROUGH_SURFACE: Expected("P3", "boundary_violation", CARRIED, "a thing passes through the worktop"),
    Fault.WRONG_AXIS: Expected("P3", "mechanism_violation", (Kind.OPEN,), "a door turns about another edge"),
    Fault.UNCOUPLED: Expected(
        "P3", "mechanism_violation", (Kind.MOVE, *HINGED), "a handle moves apart from what it belongs to"
    ),
    Fault.DEFORM: Expected("P3", "mechanism_violation", CARRIED, "a rigid thing bends"),
    Fault.FLOAT: Expected("P4", "instability", CARRIED, "a thing stays in the air"),
    Fault.DRIFT: Expected("P4", "instability", (Kind.MOVE,), "a thing slides away by itself"),
    Fault.SPRING: Expected("P4", "instability", HINGED, "a door moves back by itself"),
    Fault.LEAK: Expected("P4", "instability", (Kind.POUR,), "what was poured goes away"),
}
