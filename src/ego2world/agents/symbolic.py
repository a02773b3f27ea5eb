"""A planner without a model: reads the instruction with the compiler's own parser and plans over its belief.

For each act of the instruction it checks the action type's declared needs against what it believes and inserts what is
missing: go to the zone, look, open what may hide the thing, fetch it, free a hand. What the executor refuses is mended
by the repair it offers, or by doubting the belief and searching again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import assert_never

from ego2world.agents.base import Act, Context, Done, Look, Step
from ego2world.language.intents import read_intents
from ego2world.language.roles import Intent
from ego2world.ontology.kinds import KINDS, Trait, has, kinds_with
from ego2world.world.actions import BY_NAME, ActionType, choose, ways
from ego2world.world.actions.base import (
    Apart,
    HandFree,
    HandRoom,
    HandSpace,
    Held,
    Holds,
    Is,
    NotAt,
    Precondition,
    Reach,
    Within,
)
from ego2world.world.codes import Code
from ego2world.world.observation import Feedback, GroupBrief, Proposal

MAX_REFUSALS = 2  # refusals of one act that no repair was offered for; the next gives it up
MAX_TRIES = 8  # attempts on one act of the instruction before it is given up
_MISPLACED = frozenset({Code.NOT_VISIBLE, Code.ELSEWHERE, Code.UNKNOWN_PLACE, Code.NOT_HELD, Code.CLOSED_AROUND})
_HOPELESS = frozenset(
    {
        Code.WRONG_VALUE,
        Code.UNKNOWN_VALUE,
        Code.ALREADY_THERE,
        Code.NOT_CONTAINED,
        Code.WRONG_KIND,
        Code.MISSING_ROLE,
        Code.TOO_MANY,
        Code.UNKNOWN_ROLE,
    }
)
_HANDS = {"left": "left_hand", "right": "right_hand", "both": "both_hands"}


@dataclass
class _Goal:
    """One act of the instruction, bound to ids, with what is left to try."""

    kind: ActionType
    roles: dict[str, str | tuple[str, ...]]
    tries: int = 0
    refusals: int = 0

    def ids(self, role: str) -> tuple[str, ...]:
        value = self.roles.get(role, ())
        return (value,) if isinstance(value, str) else value


@dataclass
class _Search:
    """Where this group has looked for a thing already."""

    opened: set[str] = field(default_factory=set)
    visited: set[str] = field(default_factory=set)


class SymbolicPlanner:
    """See the module's docstring."""

    name = "symbolic"

    def __init__(self) -> None:
        self._goals: list[_Goal] = []
        self._queue: list[Proposal] = []
        self._searches: dict[str, _Search] = {}
        self._unread = False

    def begin_group(self, context: Context) -> None:
        """Read the instruction into acts."""
        self.read(context.brief)

    def read(self, brief: GroupBrief) -> list[Proposal]:
        """Read an instruction and return its acts, bound to the things that it names, as far as they are understood."""
        names = {hint.name: hint.id for hint in brief.hints}
        names |= {fixture.name: fixture.id for fixture, _ in brief.fixtures}
        names |= {name: zone for zone, name in brief.zones}
        self._types = {hint.id: hint.type for hint in brief.hints}
        self._types |= {fixture.id: fixture.type for fixture, _ in brief.fixtures}
        self._zone_of = {fixture.id: zone for fixture, zone in brief.fixtures}
        self._queue, self._searches = [], {}
        intents = read_intents(with_ids(brief.instruction, names))
        self._goals = [goal for intent in intents if not intent.not_acted and (goal := self._goal(intent)) is not None]
        self._unread = not self._goals
        return [Proposal(goal.kind.name, dict(goal.roles)) for goal in self._goals]

    def _goal(self, intent: Intent) -> _Goal | None:
        bound: dict[str, tuple[str, ...]] = {}
        for role, phrases in intent.phrases:
            ids = tuple(p.head for p in phrases if p.head in self._types)
            ids += tuple(
                _HANDS[next((m for m in p.modifiers if m in _HANDS), "both")] for p in phrases if p.head == "hand"
            )
            if ids:
                bound[role] = ids
        kinds = {role: self._types.get(ids[0], "hand") for role, ids in bound.items()}
        kind = next(ways(intent.sense, kinds), None)
        if kind is None:
            return None
        roles: dict[str, str | tuple[str, ...]] = {}
        for var in kind.roles:
            said = bound.get(var.role, ())
            if not said and f" of {{{var.role}}}" in kind.says:  # "press button of kettle"
                said = tuple(p.of.head for p in intent.of("object") if p.of and p.of.head in self._types)
            ids = tuple(i for i in said if self._types.get(i, "hand") in var.accepts)
            if ids:
                roles[var.role] = ids if var.many and len(ids) > 1 else ids[0]
        hand = intent.to_hand or next(iter(intent.hands), "")
        if hand in _HANDS and intent.sense == "pass":
            roles["hand"] = _HANDS[hand]
        return _Goal(kind, roles)

    # --------------------------------------------------------------------------------------------------------

    def next_step(self, context: Context) -> Step:
        """Return the next primitive, visual query, or Done."""
        if self._unread:
            return Done(unread=True)
        feedback = context.feedback
        if feedback is not None:
            if not feedback.accepted:
                self._mend(context, feedback)
            elif self._goals and _same(feedback.proposal, self._goals[0]):
                self._goals.pop(0)
        while True:
            if self._queue:
                return Act(self._queue.pop(0))
            if not self._goals:
                return Done()
            goal = self._goals[0]
            step = self._towards(goal, context)
            if step is not None:
                return step
            goal.tries += 1
            if goal.tries > MAX_TRIES:
                self._goals.pop(0)
                continue
            return Act(Proposal(goal.kind.name, dict(goal.roles)))

    def _mend(self, context: Context, feedback: Feedback) -> None:
        """React to a refusal: take the offered repair, or doubt what was believed."""
        if self._goals and _same(feedback.proposal, self._goals[0]) and self._goals[0].tries >= MAX_TRIES:
            self._goals.pop(0)
            return
        if feedback.repair:
            self._queue = list(feedback.repair)
            return
        self._queue = []
        if self._goals and any(failure.code is Code.NOT_INSIDE for failure in feedback.failures):
            goal = self._goals[0]  # it is not where the instruction takes it from; take it from where it is
            goal.kind, goal.roles = BY_NAME["pick_up"], {r: v for r, v in goal.roles.items() if r in {"object", "hand"}}
            return
        if self._goals and _same(feedback.proposal, self._goals[0]):
            self._goals[0].refusals += 1
            if self._goals[0].refusals > MAX_REFUSALS:
                self._goals.pop(0)
                return
        for failure in feedback.failures:
            if failure.code in _MISPLACED:
                context.belief.doubt(failure.entity)
                self._searches.pop(failure.entity, None)
            elif failure.code in _HOPELESS and self._goals:
                if _same(feedback.proposal, self._goals[0]):
                    self._goals.pop(0)
                    return

    # preconditions --------------------------------------------------------------------------------------------------

    def _towards(self, goal: _Goal, context: Context) -> Step | None:
        """Return a step towards the first unmet need, or None when all are believed to hold."""
        if goal.tries > MAX_TRIES:
            return None
        # what has to be found comes first, or the search would walk back and forth
        for need in goal.kind.preconditions:
            for thing in goal.ids(need.role):
                if isinstance(need, Held | Reach) and self._lost(thing, context):
                    search = self._look_inside(goal, thing, context) or self._explore(thing, context)
                    if search is not None:
                        return search
        for need in goal.kind.preconditions:
            for thing in goal.ids(need.role):
                if self._types.get(thing) in kinds_with(Trait.SELF) or has(self._type(thing), Trait.SUBSTANCE):
                    continue
                step = self._towards_need(need, thing, goal, context)
                if step is not None:
                    return step
            if isinstance(need, HandFree):
                step = self._free_hand(goal, context)
                if step is not None:
                    return step
        return None

    def _towards_need(self, need: Precondition, thing: str, goal: _Goal, context: Context) -> Step | None:
        match need:
            case Held():
                return self._fetch(thing, goal, context)
            case Reach():
                return self._reach(thing, goal, context)
            case Is() if need.fluent in {"openness", "power"}:
                return self._set(need, thing, goal, context)
            case Is() | HandFree() | HandSpace() | HandRoom() | Within() | Holds() | Apart() | NotAt():
                return None  # brought about by no step of its own, or never seen to be unmet
            case _:
                assert_never(need)

    def _lost(self, thing: str, context: Context) -> bool:
        """Say whether nothing is believed about where a thing is."""
        if (
            thing in self._zone_of
            or self._types.get(thing) in kinds_with(Trait.SELF)
            or has(self._type(thing), Trait.SUBSTANCE)
        ):
            return False
        return thing not in self._holding(context) and not context.belief.knows_place(thing)

    def _type(self, thing: str) -> str:
        kind = self._types.get(thing, "thing")
        return kind if kind in KINDS else "thing"

    def _holding(self, context: Context) -> dict[str, str]:
        return {thing.id: hand for hand, thing in context.local.holding}

    def _fetch(self, thing: str, goal: _Goal, context: Context) -> Step | None:
        holding = self._holding(context)
        place = context.belief.entries.get(("place", thing))
        if thing in holding or (place is not None and place.value[1] in holding):
            return None
        step = self._reach(thing, goal, context) or self._free_hand(goal, context)
        if step is not None:
            return step
        goal.tries += 1
        return Act(Proposal("pick_up", {"object": thing}))

    def _free_hand(self, goal: _Goal, context: Context) -> Step | None:
        holding = context.local.holding
        busy = {hand for hand, _ in holding}
        if not busy or (len(busy & {"left_hand", "right_hand"}) < 2 and "both_hands" not in busy):
            return None
        needed = {i for role in goal.roles for i in goal.ids(role)}
        for _, thing in holding:
            if thing.id not in needed:
                for fixture in context.local.fixtures:
                    if has(fixture.type, Trait.SURFACE) and fixture.type in kinds_with(Trait.WORKTOP):
                        kind = choose("put", {"object": thing.type, "target": fixture.type})
                        if kind is not None and goal.tries < MAX_TRIES:
                            goal.tries += 1
                            return Act(Proposal(kind.name, {"object": thing.id, "target": fixture.id}))
        return None

    def _set(self, need: Is, thing: str, goal: _Goal, context: Context) -> Step | None:
        """Bring a believed state in line with a need, when it is believed to be otherwise and is not the act itself."""
        believed = context.belief.state(need.fluent, thing)
        if believed is None or believed in need.values or need.role == "object":
            return None
        family = {"open": "open", "closed": "close", "on": "turn_on", "off": "turn_off"}[str(need.values[0])]
        return self._switch(family, thing, goal)

    def _switch(self, family: str, thing: str, goal: _Goal) -> Step | None:
        kind = choose(family, {"object": self._type(thing)})
        if kind is None or goal.tries >= MAX_TRIES:
            return None
        goal.tries += 1
        return Act(Proposal(kind.name, {"object": thing}))

    def _reach(self, thing: str, goal: _Goal, context: Context) -> Step | None:
        """Return a step that brings a thing within believed reach, or None when it is, or when all places were
        tried."""
        seen: set[str] = set()
        first = thing
        while thing not in seen:
            seen.add(thing)
            if thing in self._holding(context):
                return None
            zone = self._zone_of.get(thing)
            if zone is not None:
                if zone == context.local.zone:
                    return None
                goal.tries += 1
                return Act(Proposal("navigate", {"target": zone}))
            place = context.belief.place(thing)
            if place is None:
                return self._explore(first, context)
            how, where = place
            if how == "held" or where in _HANDS.values():
                return None
            if how == "in" and context.belief.state("openness", where) == "closed":
                step = self._reach(where, goal, context) if where in self._zone_of or where != first else None
                return step or self._switch("open", where, goal)
            thing = where
        return None

    def _look_inside(self, goal: _Goal, thing: str, context: Context) -> Step | None:
        """Return a step towards opening what the instruction takes a thing from, once; None when it is open or
        unknown."""
        search = self._searches.setdefault(thing, _Search())
        for source in goal.ids("source"):
            if source in search.opened or source in self._holding(context) or self._lost(source, context):
                continue
            if context.belief.state("openness", source) == "closed":
                step = self._reach(source, goal, context)
                if step is None:
                    search.opened.add(source)
                    step = self._switch("open", source, goal)
                return step
        return None

    def _explore(self, thing: str, context: Context) -> Step | None:
        """Look here, open what is closed here, then go on to the next zone; None when everything was tried."""
        search = self._searches.setdefault(thing, _Search())
        zone = context.local.zone
        if zone not in search.visited:
            search.visited.add(zone)
            if zone not in context.belief.images:  # what changes later comes with the local delta
                return Look(thing)
        for fixture in context.local.fixtures:
            if fixture.openness == "closed" and fixture.id not in search.opened and has(fixture.type, Trait.STORAGE):
                search.opened.add(fixture.id)
                kind = choose("open", {"object": fixture.type})
                if kind is not None:
                    return Act(Proposal(kind.name, {"object": fixture.id}, "explore"))
        for other, _ in context.brief.zones:
            if other not in search.visited:
                return Act(Proposal("navigate", {"target": other}, "explore"))
        return None


def _same(proposal: Proposal, goal: _Goal) -> bool:
    return proposal.action == goal.kind.name and {k: v for k, v in proposal.roles.items() if k != "hand"} == {
        k: v for k, v in goal.roles.items() if k != "hand"
    }


def with_ids(text: str, names: dict[str, str]) -> str:
    """Return a text with every known name replaced by its id, the longest first; a sentence's first word is its
    verb."""
    text = text.lower()
    for name in sorted(names, key=lambda n: (-len(n), n)):
        if (lower := name.lower()) in text:
            text = _said(lower).sub(names[name], text)
    return text


@lru_cache(maxsize=16384)
def _said(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<=[^.\s]\s)(?<!also ){re.escape(name)}(?![\w-])")
