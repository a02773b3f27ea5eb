"""A way to a goal, played frame by frame, with faults where they are planted. Stage: render."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ego2world.core.canonical import sha256
from ego2world.ontology.kinds import Trait, has
from ego2world.rollouts.cases import CARRYING, Detour, Kind, RolloutCase, RolloutStep, Way
from ego2world.rollouts.draw import PALETTE
from ego2world.rollouts.faults import FAULTS, Fault
from ego2world.rollouts.trace import (
    COUNTER_Y,
    HOME,
    SHELF_Y,
    STORE_FLOOR_Y,
    Body,
    DrawnDoor,
    Frame,
    Trace,
    TraceRecorder,
    ease,
)

SLOTS_X, DISH_X, SPOT_LEFT_X, SPOT_RIGHT_X = (132.0, 163.0, 194.0, 225.0), 288.0, 107.0, 250.0
CARRY_Y = 128.0  # height of a thing's bottom while it is carried
SPEED_PX = 7.0  # a frame
JUMP_PX = 60.0


@dataclass(frozen=True)
class Script:
    """What a rollout does: a way, faults by step number, and steps left out."""

    way: Way
    faults: Mapping[int, Fault] = field(default_factory=dict)

    def omits(self, step: int) -> bool:
        """Whether a step is not played."""
        return self.faults.get(step) in (Fault.SKIP, Fault.STOP)


def allowed(case: RolloutCase, way: Way, number: int, fault: Fault) -> bool:
    """Whether a fault can be planted in a step so that it fails that gate of that step and nothing else's."""
    one = case.steps[number]
    place = way.order.index(number)
    later = [case.steps[n] for n in way.order[place + 1 :]]
    opens_for_later = one.kind is Kind.OPEN and any(s.target == case.store or s.kind is Kind.CLOSE for s in later)
    if one.kind not in FAULTS[fault].kinds:
        return False
    if fault is Fault.SKIP:
        return number + 1 < len(case.steps) and not opens_for_later
    if fault is Fault.STOP:
        return not later and number + 1 == len(case.steps)
    if fault is Fault.THROUGH_CLOSED:
        before = [n for n in way.order[:place] if case.steps[n].kind is Kind.OPEN]
        return one.target == case.store and bool(before) and not any(s.kind is Kind.CLOSE for s in later)
    if fault in (Fault.HALF, Fault.WRONG_AXIS, Fault.SPRING, Fault.JUMP) and one.kind is Kind.OPEN:
        return not opens_for_later
    return way.detour is Detour.NONE or not (fault is Fault.ABANDON or (fault is Fault.HALF and one.kind is Kind.MOVE))


def play(case: RolloutCase, script: Script) -> Trace:
    """Return the frames of a script."""
    return _Player(case, script).run()


def scene(case: RolloutCase) -> Frame:
    """Return what is there before anything is done."""
    bodies: dict[str, Body] = {}
    order = sorted({*case.stand, *case.beside})
    colors = {
        thing: number % len(PALETTE) for number, thing in enumerate([*([case.dish] if case.dish else []), *order])
    }
    if case.dish:
        bodies[case.dish] = Body(DISH_X, COUNTER_Y, 50, 7, colors[case.dish], "flat")
    for place, thing in enumerate(case.stand):
        bodies[thing] = _body(case, thing, SLOTS_X[place], COUNTER_Y, colors[thing])
    for place, thing in enumerate(case.shelf):
        bodies[thing] = _body(case, thing, 140 + 40 * place, SHELF_Y, colors[thing])
    return Frame(HOME, "", bodies, DrawnDoor())


def _body(case: RolloutCase, thing: str, x: float, y: float, color: int) -> Body:
    kind = case.world.entities[thing].type
    size = int(sha256(thing.encode())[:2], 16) % 4
    covers = any(one.kind is Kind.COVER and one.thing == thing for one in case.steps)
    level = None
    if case.content is not None and thing in case.content[1:]:
        level = 0.8 if thing == case.content[1] else 0.1
    if covers:
        return Body(x, y, 26, 8, color, "flat")
    if level is not None or (has(kind, Trait.VESSEL) and any(one.target == thing for one in case.steps)):
        return Body(x, y, 22, 28, color, "vessel", level=level)
    look = "round" if has(kind, Trait.FOOD) else "box"
    return Body(x, y, 18 + size, 20 + 2 * size, color, look)


class _Player:
    """Plays one script."""

    def __init__(self, case: RolloutCase, script: Script) -> None:
        self.case, self.script = case, script
        self.rec = TraceRecorder(scene(case))

    def run(self) -> Trace:
        case, script = self.case, self.script
        skipped_door = any(fault is Fault.THROUGH_CLOSED for fault in script.faults.values())
        self.rec.put(5)
        carried = next((one for one in case.steps if one.kind in CARRYING), None)
        if script.way.detour is Detour.FIRST and carried is not None and not script.omits(case.steps.index(carried)):
            self._carry(carried.thing, (self._spot(carried), COUNTER_Y), None)
            self._home()
        for number in script.way.order:
            one, fault = case.steps[number], script.faults.get(number)
            if script.omits(number) or (skipped_door and one.kind is Kind.OPEN):
                self.rec.put(4)
                continue
            if one.kind in (Kind.OPEN, Kind.CLOSE):
                self._turn(one, fault)
            elif one.kind is Kind.POUR:
                self._pour(one, fault)
            else:
                self._bring(one, fault, one is carried and script.way.detour is Detour.DURING)
            self._home()
        self.rec.put(6)
        return Trace(tuple(self.rec.frames), case.store)

    # --- the hand ------------------------------------------------------------------------------------------------

    def _reach(self, goal: Callable[[], tuple[float, float]], during: Callable[[int], None] | None = None) -> None:
        """Move the hand to a place that may move itself; ``during`` is called with the frames that are left."""
        start, (x, y) = self.rec.frame.hand, goal()
        count = max(7, round(math.dist(start, (x, y)) / 14))
        for number in range(1, count + 1):
            if during is not None:
                during(count - number)
            x, y = goal()
            share = ease(number / count)
            self.rec.hand(start[0] + (x - start[0]) * share, start[1] + (y - start[1]) * share)
            self.rec.put()

    def _home(self) -> None:
        self.rec.hand(*self.rec.frame.hand, "")
        if self.rec.frame.hand != HOME:
            self._reach(lambda: HOME)
        self.rec.put(8)

    # --- things that are carried ---------------------------------------------------------------------------------

    def _spot(self, one: RolloutStep) -> float:
        return SPOT_LEFT_X if one.target == self.case.store else SPOT_RIGHT_X

    def _end(self, one: RolloutStep) -> tuple[float, float]:
        """Return where the thing of a step ends."""
        if one.target == self.case.store:
            return (50.0, STORE_FLOOR_Y)
        target = self.rec.frame.bodies[one.target]
        return (target.x, target.y - target.height)

    def _bring(self, one: RolloutStep, fault: Fault | None, detour: bool) -> None:
        if detour:
            self._carry(one.thing, (self._spot(one), COUNTER_Y), None)
            self._home()
        end = self._end(one)
        if fault is Fault.HALF:
            self._carry(one.thing, (self._spot(one), COUNTER_Y), None, over=end if one.kind is Kind.COVER else None)
        elif fault is Fault.ABANDON:
            self._take(one.thing, None)
            for dy in (*range(0, -14, -2), *range(-14, 1, 2)):
                self._at(one.thing, self._start[0], self._start[1] + dy)
            self.rec.put(2)
        else:
            self._carry(one.thing, end, fault)

    def _take(self, thing: str, fault: Fault | None) -> None:
        """Reach for a thing and close the hand around it."""
        self._start = (self.rec.frame.bodies[thing].x, self.rec.frame.bodies[thing].y)
        self._away = 16.0 if fault is Fault.GAP else 0.0

        def rises(left: int) -> None:
            if fault is Fault.EARLY and left < 6:
                self.rec.body(thing, y=self.rec.frame.bodies[thing].y - 3)

        self._reach(lambda: self._hold(thing), rises)
        self.rec.hand(*self.rec.frame.hand, thing)
        self.rec.put(2)

    def _hold(self, thing: str) -> tuple[float, float]:
        x, y = self.rec.frame.bodies[thing].grip
        return (x + self._away, y)

    def _at(self, thing: str, x: float, y: float, held: bool = True) -> None:
        self.rec.body(thing, x=x, y=y)
        if held:
            self.rec.hand(*self._hold(thing))
        self.rec.put()

    def _carry(
        self, thing: str, end: tuple[float, float], fault: Fault | None, over: tuple[float, float] | None = None
    ) -> None:
        """Take a thing, carry it and put it down."""
        self._take(thing, fault)
        x, y = self.rec.frame.bodies[thing].x, self.rec.frame.bodies[thing].y
        height = COUNTER_Y + 36 if fault is Fault.THROUGH_SURFACE else CARRY_Y
        stop = (end[0], end[1] - (12 if fault is Fault.FLOAT else 0))
        points = [(x, height), *([(over[0], height)] if over else []), (end[0], height), stop]
        held, at = True, (x, y)
        for leg, point in enumerate(points):
            across = leg == len(points) - 2
            count = max(5, round(math.dist(at, point) / SPEED_PX))
            shift = 0.0
            for number in range(1, count + 1):
                share = number / count
                if across:
                    if fault is Fault.TELEPORT and number == (count + 1) // 2:
                        shift = JUMP_PX if at[0] + (point[0] - at[0]) * ease(share) < 230 else -JUMP_PX
                    held = self._befalls(thing, fault, share, held)
                elif fault is Fault.TELEPORT and leg == len(points) - 1:
                    shift = 0.0
                where = (at[0] + (point[0] - at[0]) * ease(share) + shift, at[1] + (point[1] - at[1]) * ease(share))
                if not held:
                    self._drop_hand()
                self._at(thing, *where, held)
            if shift:  # back to where the way goes on, at a hand's speed
                for number in range(1, 10):
                    self._at(thing, point[0] + shift * (1 - number / 9), point[1], held)
            at = point
        self.rec.body(thing, part_dx=0.0, skew=0.0)
        self.rec.put(2)
        self._after(thing, fault)

    def _drop_hand(self) -> None:
        x, y = self.rec.frame.hand
        far = math.dist((x, y), HOME)
        share = 1.0 if far <= 14 else 14 / far
        self.rec.hand(x + (HOME[0] - x) * share, y + (HOME[1] - y) * share, "")

    def _befalls(self, thing: str, fault: Fault | None, share: float, held: bool) -> bool:
        """Let a fault happen on the way across; return whether the thing is still held."""
        body, half = self.rec.frame.bodies[thing], share >= 0.5
        if fault is Fault.VANISH:
            self.rec.body(thing, seen=not 0.2 < share < 0.95)
        elif fault is Fault.DUPLICATE and half and not body.copies:
            self.rec.body(thing, copies=(self._start,))
        elif fault is Fault.SHAPE and half and body.tilt_deg == 0.0 and not self._done(thing):
            self._mark(thing)
            self.rec.body(thing, width=body.width * 1.6, height=max(5.0, body.height * 0.55))
        elif fault is Fault.IDENTITY and half and not self._done(thing):
            self._mark(thing)
            used = {one.color for one in self.rec.frame.bodies.values()}
            self.rec.body(thing, color=next(n for n in range(len(PALETTE)) if n not in used))
        elif fault is Fault.UNCOUPLED:
            self.rec.body(thing, part_dx=-18 * math.sin(math.pi * share))
        elif fault is Fault.DEFORM:
            self.rec.body(thing, skew=16 * math.sin(math.pi * share))
        elif fault is Fault.LOST and half:
            return False
        return held

    _marked: str = ""

    def _done(self, thing: str) -> bool:
        return self._marked == thing

    def _mark(self, thing: str) -> None:
        self._marked = thing

    def _after(self, thing: str, fault: Fault | None) -> None:
        """Let go, and let a fault happen afterwards."""
        body = self.rec.frame.bodies[thing]
        self.rec.hand(*self.rec.frame.hand, "")
        self.rec.put(2)
        if fault is Fault.COUNT:
            side = -1 if body.x > 250 or body.x < 60 else 1
            self.rec.body(thing, copies=((body.x + side * 22, body.y),))
        elif fault is Fault.MERGE:
            self.rec.body(self.case.beside[0], seen=False)
        elif fault is Fault.DRIFT:
            for _ in range(12):
                self.rec.body(thing, x=self.rec.frame.bodies[thing].x - 2.5 * (-1 if body.x < 90 else 1))
                self.rec.put()

    # --- pouring -------------------------------------------------------------------------------------------------

    def _pour(self, one: RolloutStep, fault: Fault | None) -> None:
        thing, vessel = one.thing, one.target
        self._take(thing, None)
        start, target = self._start, self.rec.frame.bodies[vessel]
        above = (target.x + 24, target.y - target.height - 8)
        if fault is Fault.EARLY:
            for _ in range(10):
                self._flow(thing, vessel, 0.06, 0.05)
                self._at(thing, *start)
        self._along(thing, [(start[0], CARRY_Y), (above[0], CARRY_Y), above])
        held = True
        if fault is Fault.NO_TILT:
            for number in range(16):
                self._at(thing, above[0] + 4 * math.sin(number * 1.6), above[1])
        else:
            for number in range(1, 9):
                self.rec.body(thing, tilt_deg=9.0 * number)
                self._at(thing, *above)
            for number in range(14):
                if fault is Fault.LOST and number > 3:
                    held = False
                    self._drop_hand()
                if fault is Fault.APPEAR:
                    if number == 5:
                        self._flow(thing, vessel, 0.6, 0.6)
                elif fault is not Fault.EARLY and not (fault is Fault.HALF and number >= 3):
                    self._flow(thing, vessel, 0.045, 0.045)
                    self.rec.frame = _with_stream(self.rec.frame, (thing, vessel))
                self._at(thing, *above, held)
            self.rec.frame = _with_stream(self.rec.frame, None)
            for number in range(1, 9):
                self.rec.body(thing, tilt_deg=72 - 9.0 * number)
                if not held:
                    self._drop_hand()
                self._at(thing, *above, held)
        self._along(thing, [(above[0], CARRY_Y), (start[0], CARRY_Y), start], held)
        self.rec.put(2)
        self.rec.hand(*self.rec.frame.hand, "")
        self.rec.put(2)
        if fault is Fault.LEAK:
            for _ in range(10):
                self._flow(thing, vessel, 0.0, -0.05)
                self.rec.put()

    def _flow(self, source: str, target: str, out: float, into: float) -> None:
        bodies = self.rec.frame.bodies
        self.rec.body(source, level=max(0.0, (bodies[source].level or 0.0) - out))
        self.rec.body(target, level=min(0.95, (bodies[target].level or 0.0) + into))

    def _along(self, thing: str, points: list[tuple[float, float]], held: bool = True) -> None:
        at = (self.rec.frame.bodies[thing].x, self.rec.frame.bodies[thing].y)
        for point in points:
            count = max(4, round(math.dist(at, point) / SPEED_PX))
            for number in range(1, count + 1):
                share = ease(number / count)
                if not held:
                    self._drop_hand()
                self._at(thing, at[0] + (point[0] - at[0]) * share, at[1] + (point[1] - at[1]) * share, held)
            at = point

    # --- doors ---------------------------------------------------------------------------------------------------

    def _turn(self, one: RolloutStep, fault: Fault | None) -> None:
        first = self.rec.frame.door.openness
        last = 1.0 if one.kind is Kind.OPEN else 0.0
        if fault is Fault.HALF:
            last = first + 0.45 * (last - first)

        def moves(left: int) -> None:
            if fault is Fault.EARLY and left < 5:
                self.rec.door(openness=first + (last - first) * 0.08 * (5 - left))

        self._reach(lambda: self.rec.frame.door.grip, moves)
        self.rec.hand(*self.rec.frame.hand, one.thing)
        self.rec.put(2)
        if fault is Fault.WRONG_AXIS:
            self.rec.door(axis="top")
        begun = self.rec.frame.door.openness
        count = 14
        for number in range(1, count + 1):
            share = ease(number / count)
            if fault is Fault.JUMP:
                share = 0.0 if number < count // 2 else 1.0
            if fault is Fault.UNCOUPLED:
                self.rec.door(handle_dx=20 * math.sin(math.pi * number / count) * (1 if one.kind is Kind.CLOSE else -1))
            self.rec.door(openness=begun + (last - begun) * share)
            self.rec.hand(*self.rec.frame.door.grip)
            self.rec.put()
        self.rec.door(handle_dx=0.0)
        self.rec.put(2)
        self.rec.hand(*self.rec.frame.hand, "")
        self.rec.put(2)
        if fault is Fault.SPRING:
            for _ in range(8):
                self.rec.door(openness=self.rec.frame.door.openness + (first - last) * 0.05)
                self.rec.put()


def _with_stream(frame: Frame, stream: tuple[str, str] | None) -> Frame:
    return Frame(frame.hand, frame.grips, frame.bodies, frame.door, stream)
