"""A classical detector for drawn rollouts: rules from what its frames show (pixels.py) to gates. Stage: rollouts.

It knows the palette that rollouts are drawn with and which thing of a case has which colour (legend.json), as a person
who looks at the scene does; it knows no trace and no script. What happens between the frames that it is given it
cannot see, which is the point: with few frames it misses what people see in motion. It is no judge of real videos.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ego2world.core.canonical import canonical_json, sha256
from ego2world.core.models import ModelClient
from ego2world.errors import RecordError, UsageError
from ego2world.judge.backends.base import VideoView
from ego2world.judge.records import (
    Case,
    GateAnswer,
    GateVerdict,
    Rater,
    ReplyStatus,
    Subgoal,
    SubgoalCategory,
    SubgoalPlan,
)
from ego2world.rollouts.pixels import Blob, SeenFrame, see
from ego2world.rollouts.trace import COUNTER_Y, STORE, STORE_FLOOR_Y

LEGEND = "legend.json"
TOUCH_PX, NEAR_PX, STILL_PX = 15.0, 30.0, 3.5
FASTEST_PX_S = 260.0
SLOW_S = 0.2  # a thing is compared with where it was so long ago
QUICK_S = 0.25  # frames nearer than this to each other show whether something happened at once


class Detector:
    """Answers by rules on what is seen at the sampled frames."""

    looks = True

    def __init__(self, bench: Path) -> None:
        path = bench / LEGEND
        if not path.is_file():
            raise UsageError(
                f"{bench} has no {LEGEND}: the detector knows drawn rollouts alone (ego2world judge rollouts)"
            )
        try:
            self._legend: dict[str, dict[str, Any]] = json.loads(path.read_text("utf-8"))
        except ValueError as error:
            raise RecordError(str(path), f"not valid JSON ({error})") from None
        self.rater = Rater(kind="pixel", id="vision")

    def plain(self) -> dict[str, Any]:
        """Return the legend's hash."""
        return {"backend": "vision", "legend_sha256": sha256(canonical_json(self._legend))}

    def answer(
        self,
        look: VideoView,
        case: Case,
        plan: SubgoalPlan,
        subgoal: Subgoal,
        gate: str,
        before: Mapping[str, GateAnswer],
    ) -> GateAnswer:
        """Answer one gate."""
        times = look.sampling.spread(0.0, max(0.0, look.duration_s - 0.02))
        common: dict[str, Any] = {
            "video_id": look.video_id,
            "plan_id": plan.plan_id,
            "sid": subgoal.sid,
            "gate": gate,
            "rater": self.rater,
            "frame_spec": f"{look.sampling.density.value} {look.sampling.frames}: whole",
        }
        legend = self._legend.get(case.case_id)
        if legend is None:
            return GateAnswer(
                **common,
                answer=GateVerdict.ERROR,
                parse_status=ReplyStatus.NO_LEGEND,
                rationale="no legend for this case",
            )
        if "seen" not in look.memo:
            shots = look.shots(times)
            look.memo["seen"] = [see(np.asarray(s.picture.convert("RGB")), s.time_s, legend["colors"]) for s in shots]
        seen: list[SeenFrame] = look.memo["seen"]
        try:
            sight = _Sight(seen, subgoal, legend)
        except KeyError as error:
            return GateAnswer(
                **common,
                answer=GateVerdict.ERROR,
                parse_status=ReplyStatus.NO_LEGEND,
                rationale=f"the legend has no {error}",
            )
        why, said = _RULES[gate](sight)
        span = sight.span
        return GateAnswer(
            **common,
            answer=GateVerdict.FAIL if why else GateVerdict.PASS,
            failure=why,
            rationale=said,
            frame_pts=tuple(s.time_s for s in seen),
            t_start=span[0] if span else None,
            t_end=span[1] if span else None,
            parse_status=ReplyStatus.MEASURED,
        )


def make(bench: Path, client: ModelClient | None) -> Detector:
    """Open the detector of a benchmark, as ``--backend`` does by name; it asks no model."""
    del client
    return Detector(bench)


class _Sight:
    """One subgoal in the frames: what changes, from which frame to which."""

    def __init__(self, seen: list[SeenFrame], subgoal: Subgoal, legend: Mapping[str, Any]) -> None:
        self.seen, self.legend = seen, legend
        self.kind = subgoal.category
        self.door = subgoal.category is SubgoalCategory.ARTICULATION
        self.opens = subgoal.post_state.endswith("open")
        self.thing = subgoal.objects[0]
        self.target = subgoal.objects[1] if len(subgoal.objects) > 1 else ""
        self.into_store = self.target == legend["store"]
        for name in (self.thing, self.target):
            if name and name != legend["store"] and name not in legend["colors"]:
                raise KeyError(name)
        self.moving = self._changed()  # frames in which it is elsewhere, or otherwise, than in the frame before
        self.first = self.moving[0] if self.moving else None
        self.last = self.moving[-1] if self.moving else None

    def blob(self, n: int) -> Blob | None:
        """The subgoal's thing in a frame."""
        return self.seen[n].things.get(self.thing)

    def _changed(self) -> list[int]:
        seen = self.seen
        if self.door:
            return [n for n in range(1, len(seen)) if (self.turned(n) > 0.06 if self.opens else self.turned(n) < -0.06)]
        found: list[int] = []
        for n in range(1, len(seen)):
            a, b = self.blob(self.before(n)), self.blob(n)
            doors = [x.openness for x in seen[max(0, n - 3) : n + 4]]
            if b is not None and b.x < STORE[2] and max(doors) - min(doors) > 0.03:
                continue  # a door passes before it
            moved = a is not None and b is not None and math.dist((a.x, a.bottom), (b.x, b.bottom)) > STILL_PX
            fills = (
                self.kind is SubgoalCategory.TRANSFER
                and bool(found)
                and abs(self.content(n) - self.content(n - 1)) > 0.08
            )
            if moved or fills:
                found.append(n)
        return found

    def before(self, n: int) -> int:
        """Return the last frame that is long enough before another to show a slow change."""
        earlier = n - 1
        while earlier > 0 and self.seen[n].time_s - self.seen[earlier].time_s < SLOW_S:
            earlier -= 1
        return earlier

    def turned(self, n: int) -> float:
        """Return by how much the door has turned since the frame before."""
        return self.seen[n].openness - self.seen[self.before(n)].openness

    def content(self, n: int) -> float:
        """Return how far the target is filled in a frame."""
        blob = self.seen[n].things.get(self.target)
        return blob.content if blob else 0.0

    @property
    def span(self) -> tuple[float, float] | None:
        """When the interaction is, in seconds."""
        if self.first is None or self.last is None:
            return None
        return (self.seen[max(0, self.first - 1)].time_s, self.seen[self.last].time_s)

    def hand_far(self, n: int) -> float:
        """Return how far the hand is from where the thing is held, in a frame; infinite where either is not seen."""
        seen = self.seen[n]
        if seen.hand is None:
            return math.inf
        blob = self.blob(n)
        grips = seen.door_grips if self.door else [blob.grip] if blob else []
        return min((math.dist(seen.hand, grip) for grip in grips), default=math.inf)

    def goal(self, n: int) -> tuple[float, float] | None:
        """Return where the thing is wanted."""
        if self.into_store:
            return (50.0, float(STORE_FLOOR_Y))
        target = self.seen[n].things.get(self.target)
        return (target.x, target.bottom - target.height) if target else None

    def middle(self) -> range:
        """The frames of the interaction."""
        if self.first is None or self.last is None:
            return range(0)
        return range(self.first, self.last + 1)


Found = tuple[str, str]  # the type of failure, "" where the gate holds, and what was seen
FINE: Found = ("", "")


def _begun(s: _Sight) -> Found:
    if s.first is None:
        return "incomplete_outcome", f"{s.thing} never changes"
    if s.door:
        near = [n for n in s.moving if min(s.hand_far(n), s.hand_far(n - 1)) <= NEAR_PX]
    else:
        near = [
            n
            for n in range(len(s.seen))
            if s.hand_far(n) <= (NEAR_PX if n in s.moving or n + 1 in s.moving else TOUCH_PX)
        ]
    return FINE if near else ("incomplete_outcome", f"no hand comes near {s.thing}")


def _course(s: _Sight) -> Found:
    if s.door:
        values = [x.openness for x in s.seen]
        good = max(values) - min(values) >= 0.3
        return FINE if good else ("incomplete_outcome", f"{s.thing} turns by {max(values) - min(values):.2f}")
    if s.kind is SubgoalCategory.TRANSFER:
        over = [
            n
            for n in s.middle()
            if (b := s.blob(n)) and (t := s.seen[n].things.get(s.target)) and abs(b.x - t.x) < 42 and b.width > b.height
        ]
        return FINE if over else ("domain_specific_operation", f"{s.thing} is never tilted over {s.target}")
    far = [math.dist((b.x, b.bottom), g) for n in range(len(s.seen)) if (b := s.blob(n)) and (g := s.goal(n))]
    if far and min(far) <= 0.75 * far[0]:
        return FINE
    return "incomplete_outcome", f"{s.thing} does not come nearer to {s.target}"


def _reached(s: _Sight) -> Found:
    at = min(len(s.seen) - 1, (s.last or 0) + 1)
    end = s.seen[at]
    if s.door:
        good = end.openness >= 0.75 if s.opens else end.openness <= 0.25
        what = f"open by {end.openness:.2f}"
    elif s.kind is SubgoalCategory.TRANSFER:
        t = end.things.get(s.target)
        good, what = t is not None and t.content >= 0.45, f"{s.target} is filled to {t.content if t else 0:.2f}"
    elif s.into_store:
        blob = s.blob(at)
        good, what = blob is None or blob.x < STORE[2], f"{s.thing} is not in {s.target}"
    else:
        blob, goal, target = s.blob(at), s.goal(at), end.things.get(s.target)
        wide = target.width / 2 if target and s.kind is SubgoalCategory.RELOCATION else 9.0
        good = (
            blob is not None
            and goal is not None
            and abs(blob.x - goal[0]) <= wide
            and -4 <= goal[1] - blob.bottom <= 18
        )
        what = f"{s.thing} is not at {s.target}"
    return FINE if good else ("incomplete_outcome", f"at {end.time_s:.1f} s {what}")


def _continuous(s: _Sight) -> Found:
    around = {m for n in s.moving for m in range(n - 2, n + 5)}
    for n in sorted(around & set(range(1, len(s.seen)))):
        before, now = s.seen[n - 1], s.seen[n]
        gap_s = max(0.05, now.time_s - before.time_s)
        if gap_s < QUICK_S and abs(now.openness - before.openness) > 0.35:
            return "object_inconsistency", f"at {now.time_s:.1f} s the door is elsewhere at once"
        for name in s.legend["colors"]:
            why = _breaks(s, name, before, now, gap_s)
            if why:
                return "object_inconsistency", f"at {now.time_s:.1f} s {name} {why}"
    return FINE


def _breaks(s: _Sight, name: str, before: SeenFrame, now: SeenFrame, gap_s: float) -> str:
    """Say what of a thing is not continuous from a frame to the next."""
    a, b = before.things.get(name), now.things.get(name)
    if a is None or b is None:
        if a is None and b is None:
            return ""
        there, gone = (a, now) if b is None else (b, before)
        return "" if there is None or _hidden(there, gone) else "vanishes" if b is None else "appears"
    moved = math.dist((a.x, a.bottom), (b.x, b.bottom))
    if b.pieces > a.pieces:
        return f"is there {b.pieces} times"
    if moved > 20 + FASTEST_PX_S * gap_s:
        return f"jumps by {moved:.0f} px"
    if b.width > 1.7 * a.width and abs(b.height - a.height) < 5 and moved < 30:
        return "becomes two"
    poured = s.kind is SubgoalCategory.TRANSFER and name == s.thing
    if not poured and b.width > 1.4 * a.width and b.height < 0.75 * a.height:
        return "changes its shape"
    filled = s.kind is SubgoalCategory.TRANSFER and name == s.target
    if gap_s < QUICK_S and filled and b.content - a.content > 0.35:
        return "is full at once"
    return ""


def _hidden(blob: Blob, seen: SeenFrame) -> bool:
    """Whether a thing may be out of sight where it was: in a storage whose door is not open, or behind the hand."""
    if blob.x < STORE[2] + 12 and seen.openness < 0.97:
        return True
    return (
        seen.hand is not None and math.dist(seen.hand, (blob.x, blob.bottom - blob.height / 2)) < 9 and blob.area < 150
    )


def _caused(s: _Sight) -> Found:
    if s.first is None:
        return FINE
    if s.kind is SubgoalCategory.TRANSFER:
        flows = [n for n in range(1, len(s.seen)) if s.content(n) - s.content(0) > 0.15]
        if (
            flows
            and (b := s.blob(flows[0]))
            and b.width <= b.height
            and s.seen[flows[0]].time_s - s.seen[flows[0] - 1].time_s < QUICK_S
        ):
            return "contact_violation", f"{s.target} fills before {s.thing} is tilted"
    far = min(s.hand_far(s.first), s.hand_far(s.first - 1))
    return FINE if far <= TOUCH_PX else ("contact_violation", f"{s.thing} begins to move {far:.0f} px from the hand")


def _plausible(s: _Sight) -> Found:
    first = s.blob(0)
    for n in s.moving:
        seen, at = s.seen[n], f"at {s.seen[n].time_s:.1f} s {s.thing}"
        if s.door:
            if seen.door_height < 85:
                return "mechanism_violation", f"{at} turns about its upper edge"
            continue
        blob = s.blob(n)
        if blob is None:
            continue
        if blob.bottom > COUNTER_Y + 8:
            return "boundary_violation", f"{at} is within the worktop"
        if blob.x + blob.width / 2 < STORE[2] - 4 and seen.openness < 0.4:
            return "boundary_violation", f"{at} passes a closed door"
        if (
            first
            and s.kind is not SubgoalCategory.TRANSFER
            and blob.width > first.width + 7
            and abs(blob.height - first.height) < 4
        ):
            return "mechanism_violation", f"{at} bends"
        near = (
            1.7 * NEAR_PX if s.kind is SubgoalCategory.TRANSFER else NEAR_PX
        )  # a tilted thing's box says less about its grip
        if n > s.moving[0] and s.hand_far(n) > near and s.hand_far(n - 1) > TOUCH_PX:
            return "contact_violation", f"{at} moves {s.hand_far(n):.0f} px from the hand"
    return FINE


def _stable(s: _Sight) -> Found:
    if s.last is None:
        return FINE
    seen = s.seen
    if s.door:
        later = [x.openness for x in seen[s.last :]]
        back = max(later) - later[-1] if s.opens else later[-1] - min(later)
        turning = [s.hand_far(n) > TOUCH_PX for n in range(s.last + 1, len(seen)) if abs(s.turned(n)) > 0.06]
        alone = 2 * sum(turning) > len(turning)
        return ("instability", f"{s.thing} moves back by {back:.2f}") if back > 0.2 and alone else FINE
    if s.kind is SubgoalCategory.TRANSFER:
        lost = s.content(min(s.last + 1, len(seen) - 1)) - s.content(len(seen) - 1)
        return ("instability", f"{s.target} loses {lost:.2f} of its content") if lost > 0.25 else FINE
    loose = [n for n in s.moving[3:] if min(s.hand_far(m) for m in range(n - 2, n + 1)) > NEAR_PX]
    if loose:
        return "instability", f"at {seen[loose[0]].time_s:.1f} s {s.thing} moves by itself"
    at = min(len(seen) - 1, s.last + 3)  # later a door may hide it
    blob = s.blob(at)
    if blob is None:
        return FINE
    floors: list[float] = [STORE_FLOOR_Y if blob.x < STORE[2] else COUNTER_Y]
    floors += [
        b.bottom - b.height
        for name, b in seen[at].things.items()
        if name != s.thing and abs(b.x - blob.x) < (b.width + blob.width) / 2
    ]
    gap = min(abs(blob.bottom - floor) for floor in floors)
    return FINE if gap <= 6 else ("instability", f"{s.thing} hangs {gap:.0f} px above everything")


_RULES = {
    "T1": _begun,
    "T2": _course,
    "T3": _reached,
    "P1": _continuous,
    "P2": _caused,
    "P3": _plausible,
    "P4": _stable,
}
