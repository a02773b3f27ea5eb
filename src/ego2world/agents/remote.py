"""A planner whose steps come from outside, one call at a time: whoever calls sees what the planner sees, as plain
values."""

from __future__ import annotations

import queue
import threading
from typing import Any

from ego2world.agents.base import Act, Context, Done, Look, Step
from ego2world.errors import ModelError
from ego2world.world.observation import Change, Feedback, Proposal, Seen


class Seat:
    """The place of an agent from outside. The run's thread waits here for a step, callers wait here for their turn."""

    def __init__(self) -> None:
        self._turns: queue.Queue[Context | None] = queue.Queue()
        self._steps: queue.Queue[Step | None] = queue.Queue()
        self._turn: Context | None = None
        self._waiting = True
        self._over: str | None = None
        self._lock = threading.Lock()

    # the run's side -----------------------------------------------------------------------------------------

    def wait(self, context: Context) -> Step:
        """Offer a turn and return the step that is taken in it.

        Raises:
            ModelError: whoever sat here has left; the episode stops, and the run can go on another time.
        """
        self._turns.put(context)
        step = self._steps.get()
        if step is None:
            self._steps.put(None)  # nobody comes back
            raise ModelError("of the seat", "the client left; re-run the same command to resume")
        return step

    def end(self, words: str) -> None:
        """Let callers know that the run is over, and how."""
        self._over = words
        self._turns.put(None)

    def leave(self) -> None:
        """Let the run know that no step will come any more."""
        self._steps.put(None)

    # the caller's side --------------------------------------------------------------------------------------

    def observe(self) -> dict[str, Any]:
        """Return the group's instruction and what the agent sees and holds."""
        with self._lock:
            return self._shown(self._current())

    def take(self, step: Step) -> dict[str, Any]:
        """Take a step and return what came of it and what is seen then; a finished group is followed by the next
        one."""
        with self._lock:
            if self._current() is not None:
                self._waiting = True
                self._steps.put(step)
            return self._shown(self._current())

    def recall(self, thing: str) -> dict[str, Any]:
        """Return what is believed of a thing, by id or name, under the run's memory policy."""
        with self._lock:
            context = self._current()
            if context is None:
                return self._shown(None)
            ids = {h.id: h.name for h in (*context.brief.hints, *(f for f, _ in context.brief.fixtures))}
            wanted = next((i for i, name in ids.items() if thing.lower() in (i.lower(), name.lower())), thing)
            found = {f: e._asdict() for (f, i), e in sorted(context.belief.entries.items()) if i == wanted}
            for fluent in found:  # asked for as a planner asks, so that what comes from an earlier group is counted
                _ = context.belief.place(wanted) if fluent == "place" else context.belief.state(fluent, wanted)
            return {"thing": wanted, "believed": found}

    def _current(self) -> Context | None:
        if self._waiting:
            self._turn = self._turns.get()
            self._waiting = self._turn is None
            if self._turn is None:
                self._turns.put(None)  # stays over for every later call
        return self._turn

    def _shown(self, context: Context | None) -> dict[str, Any]:
        if context is None:
            return {"over": self._over or "the run is over"}
        local, brief = context.local, context.brief
        out: dict[str, Any] = {
            "group": brief.id,
            "instruction": brief.instruction,
            "zone": {"id": local.zone, "name": local.zone_name},
            "zones": [{"id": i, "name": n} for i, n in brief.zones],
            "fixtures_here": [_seen(f) for f in local.fixtures],
            "holding": [{"hand": hand, **_seen(thing)} for hand, thing in local.holding],
            "carried": [_seen(thing) for thing in local.carried],
            "changed_here": [_change(c) for c in local.delta],
            "things_named": [{"id": h.id, "name": h.name, "type": h.type} for h in brief.hints],
            "known_here": self._known_here(context),
            "attempts_left": context.attempts_left,
        }
        if context.feedback is not None:
            out["last"] = _feedback(context.feedback)
        return out

    def _known_here(self, context: Context) -> list[dict[str, Any]]:
        """Return what is believed to be directly in or on the fixtures of this zone."""
        here = {fixture.id for fixture in context.local.fixtures}
        places = [(i, e.value) for (fluent, i), e in sorted(context.belief.entries.items()) if fluent == "place"]
        return [
            {"id": i, "place": list(value)} for i, value in places if not isinstance(value, str) and value[1] in here
        ]


class RemotePlanner:
    """Takes its steps from a seat."""

    def __init__(self, name: str, seat: Seat) -> None:
        self.name = name
        self._seat = seat

    def begin_group(self, context: Context) -> None:
        """Nothing is prepared: the first turn shows the group."""

    def next_step(self, context: Context) -> Step:
        """Wait for the step that is taken from outside."""
        return self._seat.wait(context)


def act(action: str, roles: dict[str, str | list[str]]) -> Act:
    """Return the step that proposes an action."""
    return Act(Proposal(action, {role: tuple(v) if isinstance(v, list) else v for role, v in roles.items()}))


def look(seeking: str) -> Look:
    """Return the step that looks around, to find something."""
    return Look(seeking)


def finish() -> Done:
    """Return the step that ends a group."""
    return Done()


def _seen(thing: Seen) -> dict[str, Any]:
    out: dict[str, Any] = {"id": thing.id, "name": thing.name, "type": thing.type}
    if thing.place is not None:
        out["place"] = list(thing.place)
    return out | {f: v for f, v in (("openness", thing.openness), ("power", thing.power)) if v is not None}


def _change(change: Change) -> dict[str, Any]:
    now = list(change.now) if isinstance(change.now, tuple) else change.now
    return {"id": change.id, "name": change.name, change.fluent: "gone" if now is None else now}


def _feedback(feedback: Feedback) -> dict[str, Any]:
    return {
        "accepted": feedback.accepted,
        "action": feedback.proposal.action,
        "failures": [{"code": f.code, "entity": f.entity, "needed": f.needed} for f in feedback.failures],
        "repair": [{"action": p.action, "roles": {r: list(p.ids(r)) for r in p.roles}} for p in feedback.repair],
    }
