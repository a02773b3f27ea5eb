"""The planner that asks a language model: instruction, hints, belief and feedback in; a queue of primitives out.

The queue is executed until something is refused. An offered repair is executed and the action retried once; without
one, or when the retry is refused too, the rest of the queue is dropped and the model is asked again. Before something
is retrieved, the runtime walks to where it is believed to be, or looks for it when nothing is believed. The model's
replies are read by replies.py.
"""

from __future__ import annotations

from dataclasses import replace

from ego2world.agents.base import Act, Chat, Context, Decoding, Done, Look, Step
from ego2world.agents.prompting import feedback_line, plan_request
from ego2world.agents.replies import ParsedPlan, read_plan
from ego2world.core.models import Reply, Stop
from ego2world.ontology.kinds import Trait, has
from ego2world.world.codes import Code
from ego2world.world.observation import Proposal

RETRIEVAL = frozenset({"pick_up", "take_out", "lift", "hold"})
_MISPLACED = frozenset({Code.NOT_VISIBLE, Code.ELSEWHERE, Code.UNKNOWN_PLACE, Code.CLOSED_AROUND})
_BAD_STOPS = {Stop.REFUSED: "refused", Stop.TIMED_OUT: "timed_out", Stop.CONTEXT: "context_exceeded"}


class LanguagePlanner:
    """See the module's docstring."""

    name = "llm"

    def __init__(self, chat: Chat, sampling: Decoding) -> None:
        self._chat = chat
        self._sampling = sampling

    def begin_group(self, context: Context) -> None:
        """Start with an empty queue."""
        self._queue: list[Proposal] = []
        self._feedback: list[str] = []
        self._retried: set[str] = set()
        self._looked: set[tuple[str, str]] = set()
        self._asked = False
        self._sought = ""
        self._types = {hint.id: hint.type for hint in context.brief.hints}
        self._zone_of = {fixture.id: zone for fixture, zone in context.brief.fixtures}
        self._ids = {hint.name.lower(): hint.id for hint in context.brief.hints}
        self._zone_of |= {zone: zone for zone, _ in context.brief.zones}

    def next_step(self, context: Context) -> Step:
        """Return the next primitive or visual query; ask the model when the queue is empty and was not just
        finished."""
        if context.feedback is not None:
            self._take(context)
        if self._sought:
            place = context.belief.place(self._sought)
            self._feedback.append(f"look for {self._sought}: " + (" ".join(place) if place else "not seen here"))
            self._sought = ""
        while True:
            if self._queue:
                proposal = self._queue[0]
                if proposal.action == "look":
                    self._queue.pop(0)
                    self._asked = bool(self._queue)  # who looks wants to know what was seen before going on
                    named = next(iter(proposal.ids("object") or proposal.ids("target")), "anything")
                    self._sought = self._ids.get(named.lower(), named)
                    return Look(self._sought)
                return self._before(proposal, context) or Act(self._queue.pop(0))
            if self._asked:
                return Done()
            plan, reply = self._plan(context)
            reason = _BAD_STOPS.get(reply.stop)
            if reason is None and not plan.readable:
                reason = "cut" if reply.stop is Stop.CUT else plan.status.value
            if reason is not None:
                return Done(unread=True, detail=reason)
            self._asked = True
            self._queue = list(plan.actions)

    def _take(self, context: Context) -> None:
        """React to feedback: go on, repair and retry, or drop the queue and ask again."""
        feedback = context.feedback
        assert feedback is not None
        self._feedback.append(feedback_line(context))
        if feedback.accepted:
            return
        for failure in feedback.failures:
            if failure.code in _MISPLACED:
                context.belief.doubt(failure.entity)
        said = self._feedback[-1]  # the same refusal with the same repair: it did not help
        if feedback.repair and said not in self._retried:
            self._retried.add(said)
            self._queue = [*feedback.repair, replace(feedback.proposal, by="retry"), *self._queue]
            return
        self._queue = []
        self._asked = False

    def _plan(self, context: Context) -> tuple[ParsedPlan, Reply]:
        reply = self._chat.ask(plan_request(context, self._feedback, self._sampling))
        plan = read_plan(reply.text)
        context.notes[f"reply:{plan.status.value}"] += 1
        for repair in plan.repairs:
            context.notes[f"repair:{repair}"] += 1
        for alias in plan.aliases:
            context.notes[f"alias:{alias}"] += 1
        if plan.dropped:
            context.notes["dropped"] += len(plan.dropped)
        return plan, reply

    def _before(self, proposal: Proposal, context: Context) -> Step | None:
        """Return what the runtime does before something is retrieved: look for it, or walk to where it is believed to
        be."""
        if proposal.action not in RETRIEVAL and not proposal.action.startswith(("pick_up", "take_out")):
            return None
        for named in proposal.ids("object"):
            thing = self._ids.get(named.lower(), named)
            kind = self._types.get(thing)
            if kind is None or thing in self._zone_of or has(kind, Trait.SUBSTANCE):
                continue
            if any(held.id == thing for _, held in context.local.holding):
                continue
            zone = self._believed_zone(thing, context)
            here = context.local.zone
            if zone is None and (thing, here) not in self._looked and not context.belief.knows_place(thing):
                self._looked.add((thing, here))
                return Look(thing)
            if zone is not None and zone != here and (thing, zone) not in self._looked:
                self._looked.add((thing, zone))
                return Act(Proposal("navigate", {"target": zone}, "runtime"))
        return None

    def _believed_zone(self, thing: str, context: Context) -> str | None:
        seen: set[str] = set()
        while thing not in seen:
            seen.add(thing)
            if thing in self._zone_of:
                return self._zone_of[thing]
            place = context.belief.place(thing)
            if place is None or place[0] == "held":
                return None
            thing = place[1]
        return None
