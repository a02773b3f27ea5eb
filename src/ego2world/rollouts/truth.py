"""The exact answers to every gate of a rollout, worked out from its trace alone: what was meant is not asked. Stage:
render.

The trace is cut where the hand leaves its resting place; each part belongs to the step whose thing the hand acts on in
it. The rules:

    T1  the hand acts on the step's thing, while the step is still to be done
    T2  carried: comes nearer to its target by a quarter; poured: tilted over the vessel; door: turns by 0.3
    T3  once released: at its target (or up to 16 px above), half full, open or closed
    P1  no object teleports, disappears, is duplicated, or changes size, colour or content from one frame to the next
    P2  a thing begins to change only while the hand touches it; content flows only from a tilted vessel
    P3  while it is acted on, a thing moves only in contact, passes nothing solid, and is one rigid piece; a door turns
        about its hinge
    P4  afterwards it rests on something, and nothing of it changes

Where nothing was begun, physics has nothing to judge: those answers hold, and no score counts them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ego2world.rollouts.cases import Kind, RolloutCase, RolloutStep
from ego2world.rollouts.trace import COUNTER_Y, FPS, HOME, REACH_PX, STORE, STORE_FLOOR_Y, Body, Frame, Trace

TASK, PHYSICS = ("T1", "T2", "T3"), ("P1", "P2", "P3", "P4")
FASTEST_PX, TURN, FLOW = 28.0, 0.3, 0.2  # a frame
NEARER, HOVER_PX, GAP_PX, STILL_PX = 0.25, 16.0, 3.0, 1.0


@dataclass(frozen=True)
class GateTruth:
    """What is true of one gate; ``failure`` names the type where it fails, the span is in seconds."""

    holds: bool
    failure: str = ""
    t_start: float | None = None
    t_end: float | None = None


@dataclass(frozen=True)
class Visit:
    """Frames [start, end) between two departures of the hand; it acts on ``thing`` in [grip, release)."""

    start: int
    end: int
    thing: str
    grip: int
    release: int


def parts(trace: Trace) -> list[Visit]:
    """Cut a trace where the hand leaves its resting place."""
    frames = trace.frames
    cuts = [n for n in range(1, len(frames)) if frames[n - 1].hand == HOME and frames[n].hand != HOME]
    found = []
    for number, start in enumerate(cuts):
        end = cuts[number + 1] if number + 1 < len(cuts) else len(frames)
        held = [n for n in range(start, end) if frames[n].grips]
        if held:
            found.append(Visit(0 if number == 0 else start, end, frames[held[0]].grips, held[0], held[-1] + 1))
    return found


def answers(case: RolloutCase, trace: Trace) -> dict[tuple[int, str], GateTruth]:
    """Return what is true of every step, by its number, and gate."""
    cut = parts(trace)
    mine = [[p for p in cut if _belongs(one, p, trace)] for one in case.steps]
    begun = [found[0].grip if found else None for found in mine]
    out: dict[tuple[int, str], GateTruth] = {}
    for number, one in enumerate(case.steps):
        if not mine[number]:
            later = any(b is not None for n, b in enumerate(begun) if n != number)
            why = "skipped_prerequisite" if later and _others_after(case, number, begun) else "incomplete_outcome"
            out[number, "T1"] = GateTruth(False, why)
            holds = _reached(one, case, trace.frames[-1])
            out[number, "T2"] = GateTruth(False, "incomplete_outcome")
            out[number, "T3"] = GateTruth(holds, "" if holds else "incomplete_outcome")
            out |= {(number, gate): GateTruth(True) for gate in PHYSICS}
            continue
        out |= {(number, gate): found for gate, found in _step(case, one, trace, mine[number]).items()}
    return out


def _others_after(case: RolloutCase, number: int, begun: Sequence[int | None]) -> bool:
    """Whether a step that comes later in the plan was begun."""
    return any(b is not None for b in begun[number + 1 :])


def _belongs(one: RolloutStep, part: Visit, trace: Trace) -> bool:
    if part.thing != one.thing:
        return False
    openness = trace.frames[part.start].door.openness
    return {Kind.OPEN: openness < 0.5, Kind.CLOSE: openness >= 0.5}.get(one.kind, True)


def _step(case: RolloutCase, one: RolloutStep, trace: Trace, mine: Sequence[Visit]) -> dict[str, GateTruth]:
    frames = trace.frames
    span = (mine[0].grip / FPS, mine[-1].release / FPS)
    settled = frames[min(len(frames) - 1, _settled(one, frames, mine[-1]))]
    found = {
        "T1": "",
        "T2": "" if _course(one, case, frames, mine) else _wrong_course(one),
        "T3": "" if _reached(one, case, settled) else "incomplete_outcome",
        "P1": next((why for part in mine if (why := _broken(case, frames, part))), ""),
        "P2": next((why for part in mine if (why := _uncaused(one, frames, part))), ""),
        "P3": next((why for part in mine if (why := _implausible(case, one, frames, part))), ""),
        "P4": next((why for part in mine if (why := _unstable(case, one, frames, part))), ""),
    }
    return {gate: GateTruth(not why, why, *span) for gate, why in found.items()}


# --- the task -------------------------------------------------------------------------------------------------


def _settled(one: RolloutStep, frames: Sequence[Frame], part: Visit) -> int:
    """Return the frame at which an interaction has ended: released, and what goes on without the hand has come to
    rest."""
    at = part.release
    while one.kind not in (Kind.OPEN, Kind.CLOSE) and at + 1 < part.end and _active(frames, at, one.thing):
        at += 1
    return at


def _active(frames: Sequence[Frame], at: int, thing: str) -> bool:
    """Whether a thing moves, turns or pours from a frame to the next."""
    a, b = _place(frames[at], thing), _place(frames[at + 1], thing)
    moved = math.dist((a.x, a.y), (b.x, b.y)) > 0.05 or abs(a.tilt_deg - b.tilt_deg) > 0.5
    return moved or (frames[at + 1].stream or ("",))[0] == thing


def _place(frame: Frame, thing: str) -> Body:
    return frame.bodies[thing]


def _goal(one: RolloutStep, case: RolloutCase, frame: Frame) -> tuple[float, float]:
    if one.target == case.store:
        return (50.0, STORE_FLOOR_Y)
    target = frame.bodies[one.target]
    return (target.x, target.y - target.height)


def _course(one: RolloutStep, case: RolloutCase, frames: Sequence[Frame], mine: Sequence[Visit]) -> bool:
    shown = [frames[n] for part in mine for n in range(part.start, part.end)]
    if one.kind in (Kind.OPEN, Kind.CLOSE):
        values = [frame.door.openness for frame in shown]
        return max(values) - min(values) >= TURN
    if one.kind is Kind.POUR:
        vessel = case.steps[case.steps.index(one)].target
        return (
            sum(
                b.tilt_deg >= 45 and abs(b.x - frame.bodies[vessel].x) < 40
                for frame in shown
                if (b := _place(frame, one.thing))
            )
            >= 3
        )
    goal = _goal(one, case, shown[0])
    far = [math.dist((b.x, b.y), goal) for frame in shown if (b := _place(frame, one.thing))]
    return min(far) <= (1 - NEARER) * far[0]


def _wrong_course(one: RolloutStep) -> str:
    return "domain_specific_operation" if one.kind is Kind.POUR else "incomplete_outcome"


def _reached(one: RolloutStep, case: RolloutCase, frame: Frame) -> bool:
    if one.kind is Kind.OPEN:
        return frame.door.openness >= 0.8
    if one.kind is Kind.CLOSE:
        return frame.door.openness <= 0.2
    if one.kind is Kind.POUR:
        return (frame.bodies[one.target].level or 0.0) >= 0.5
    body = _place(frame, one.thing)
    if one.target == case.store:
        return STORE[0] <= body.x <= STORE[2] and STORE[1] <= body.y <= STORE[3]
    x, y = _goal(one, case, frame)
    wide = frame.bodies[one.target].width / 2 if one.kind is Kind.MOVE else 8
    return abs(body.x - x) <= wide and -1 <= y - body.y <= HOVER_PX


# --- physics --------------------------------------------------------------------------------------------------


def _broken(case: RolloutCase, frames: Sequence[Frame], part: Visit) -> str:
    for at in range(max(1, part.start), part.end):
        before, now = frames[at - 1], frames[at]
        if abs(now.door.openness - before.door.openness) > TURN:
            return "object_inconsistency"
        for thing, b in now.bodies.items():
            a = before.bodies[thing]
            if (
                a.seen != b.seen
                or a.color != b.color
                or len(a.copies) != len(b.copies)
                or abs(a.width - b.width) > 1
                or abs(a.height - b.height) > 1
                or abs((a.level or 0) - (b.level or 0)) > FLOW
                or math.dist((a.x, a.y), (b.x, b.y)) > FASTEST_PX
            ):
                return "object_inconsistency"
    return ""


def _touches(frame: Frame, one: RolloutStep) -> bool:
    grip = frame.door.grip if one.kind in (Kind.OPEN, Kind.CLOSE) else _place(frame, one.thing).grip
    return bool(frame.grips) and math.dist(frame.hand, grip) <= REACH_PX + (
        14 if one.kind is Kind.POUR and _place(frame, one.thing).tilt_deg else 0
    )


def _changes(before: Frame, now: Frame, one: RolloutStep) -> bool:
    if one.kind in (Kind.OPEN, Kind.CLOSE):
        return abs(before.door.openness - now.door.openness) > 1e-6
    a, b = _place(before, one.thing), _place(now, one.thing)
    return math.dist((a.x, a.y), (b.x, b.y)) > 0.25 or abs(a.tilt_deg - b.tilt_deg) > 0.5


def _uncaused(one: RolloutStep, frames: Sequence[Frame], part: Visit) -> str:
    onset = next((n for n in range(part.start + 1, part.end) if _changes(frames[n - 1], frames[n], one)), None)
    if onset is not None and not _touches(frames[onset], one):
        return "contact_violation"
    if one.kind is Kind.POUR:
        flows = [
            n
            for n in range(part.start + 1, part.end)
            if (frames[n].bodies[one.target].level or 0) > (frames[n - 1].bodies[one.target].level or 0) + 1e-6
        ]
        if flows and _place(frames[flows[0]], one.thing).tilt_deg < 30:
            return "contact_violation"
    return ""


def _implausible(case: RolloutCase, one: RolloutStep, frames: Sequence[Frame], part: Visit) -> str:
    for at in range(part.grip, min(_settled(one, frames, part), part.end - 1) + 1):
        now, before = frames[at], frames[at - 1]
        if one.kind in (Kind.OPEN, Kind.CLOSE):
            if now.door.axis != "left" or abs(now.door.handle_dx) > 6:
                return "mechanism_violation"
            continue
        body = _place(now, one.thing)
        if abs(body.skew) > 6 or abs(body.part_dx) > 6:
            return "mechanism_violation"
        if _solid(case, now, body):
            return "boundary_violation"
        if at > part.grip and _changes(before, now, one) and not _touches(now, one):
            return "contact_violation"
    return ""


def _solid(case: RolloutCase, frame: Frame, body: Body) -> bool:
    """Whether a thing is within the worktop, or within a storage whose door is closed."""
    left, top, right, bottom = body.box
    if bottom > COUNTER_Y + GAP_PX and top < COUNTER_Y + 14:
        return True
    inside = left < STORE[2] - 4 and right > STORE[0] and bottom > STORE[1] and top < STORE[3]
    return inside and frame.door.openness < 0.5


def _unstable(case: RolloutCase, one: RolloutStep, frames: Sequence[Frame], part: Visit) -> str:
    settled = min(_settled(one, frames, part) + 1, part.end - 1)
    first, last = frames[settled], frames[part.end - 1]
    if one.kind in (Kind.OPEN, Kind.CLOSE):
        return "instability" if abs(first.door.openness - last.door.openness) > 0.05 else ""
    a, b = _place(first, one.thing), _place(last, one.thing)
    if math.dist((a.x, a.y), (b.x, b.y)) > STILL_PX:
        return "instability"
    if (
        one.kind is Kind.POUR
        and abs((first.bodies[one.target].level or 0) - (last.bodies[one.target].level or 0)) > 0.05
    ):
        return "instability"
    return "" if _supported(case, one.thing, last) else "instability"


def _supported(case: RolloutCase, thing: str, frame: Frame) -> bool:
    body = frame.bodies[thing]
    floors: list[float] = [COUNTER_Y] if body.x >= STORE[2] else [STORE_FLOOR_Y]
    floors += [
        other.y - other.height
        for i, other in frame.bodies.items()
        if i != thing and other.seen and abs(other.x - body.x) <= (other.width + body.width) / 2
    ]
    return any(abs(body.y - floor) <= GAP_PX for floor in floors)


def first_failures(found: Mapping[tuple[int, str], GateTruth], step: int) -> list[tuple[str, str]]:
    """Return (gate, type) of the first failure of each chain of a step; physics only where it was begun."""
    chains = (TASK, PHYSICS) if found[step, "T1"].holds else (TASK,)
    return [
        next((gate, found[step, gate].failure) for gate in chain if not found[step, gate].holds)
        for chain in chains
        if not all(found[step, gate].holds for gate in chain)
    ]
