"""Making an operation executable: assume the start, infer what went unsaid, or say why it stays undone. Stage:
reconcile.

An unmet need that nothing has decided yet is assumed of the initial world (the backward inference). One that an earlier
operation decided otherwise is a contradiction: it is resolved by an inferred operation or by another hand, each with
its reason; what remains is recorded and not executed. The rules, in order, are in docs/COMPILER.md.

It is long because each kind of unmet need has its rule here, and all share the one operation that is being made
executable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ego2world.compiler.ahead import Ahead
from ego2world.compiler.bind import Binder
from ego2world.compiler.hands import Hands
from ego2world.compiler.reason import Executed, NotDone, Reason, Repeat, Unreconciled, Why, basis_of, because
from ego2world.compiler.scene import BoundMention, Operation, Scene, wording
from ego2world.ontology.kinds import Trait, has, kinds_with
from ego2world.world.actions import ACTIONS, BY_NAME, choose
from ego2world.world.actions.base import Assign, EmptyOut, Holds, Is, Move, Within
from ego2world.world.codes import Code
from ego2world.world.fluents import Basis
from ego2world.world.refusal import FailedCheck, Refusal
from ego2world.world.repair import SWITCHES
from ego2world.world.state import BOTH, HAND_CAPACITY, HANDS, LEFT, RIGHT, Action, State, carriers
from ego2world.world.step import step

REPEAT_S = 10.0  # the same opening, switching or taking said again within this time is one act
_UNDONE_BY = {"open": "close", "close": "open", "turn_on": "turn_off", "turn_off": "turn_on", "press": "turn_off"}
# the acts of taking that have a form for a hand that holds something already; "take off" and "take hold of" have none
_GRASPS = frozenset(a.name for a in ACTIONS if a.name.startswith(("pick_up", "take_out")))
_LIFTS = frozenset(a.name for a in ACTIONS if a.name.startswith("lift"))


@dataclass(frozen=True)
class OperationEvidence:
    """Where an operation comes from."""

    narration_ids: tuple[str, ...]
    span_s: tuple[float, float]
    track_ids: tuple[str, ...] = ()
    hand: str | None = None  # that is named
    continued: bool = False
    left: bool = False
    mentions: tuple[BoundMention, ...] = ()
    bases: Mapping[str, Basis] = field(default_factory=dict)


@dataclass
class Better:
    """What later evidence says of earlier guesses, by the intent that guessed (-1: at the start) and the thing: the
    hand that took it, the fixture that it was put down at."""

    hands: dict[tuple[int, str], str] = field(default_factory=dict)
    places: dict[tuple[int, str], str] = field(default_factory=dict)

    def learn(self, reconciler: Reconciler) -> bool:
        """Take over what a pass has learnt; return whether anything is new."""
        before = len(self.hands) + len(self.places)
        self.hands |= reconciler.hands.learnt
        self.places |= reconciler.learnt
        return len(self.hands) + len(self.places) > before


class Reconciler:
    """Executes bound actions in a scene and mends what stands in their way."""

    def __init__(self, scene: Scene, binder: Binder, ahead: Ahead, better: Better) -> None:
        self.scene = scene
        self.binder = binder
        self.better = better
        self.hands = Hands(scene, binder, ahead, self.infer, self.guess_place, self.how, better.hands)
        self.guessed: dict[str, int] = {}  # thing -> the intent that placed it where nobody said
        self.learnt: dict[tuple[int, str], str] = {}
        self.surface: str | None = None
        self.done: dict[tuple[str, str], float] = {}
        self.elsewhere: dict[str, str] = {}
        self.sealed: set[str] = set()  # emptied once: what they held before may no longer be assumed

    # --------------------------------------------------------------------------------------------------------

    def execute(
        self, action: Action, evidence: OperationEvidence, depth: int = 0, reason: Reason | None = None
    ) -> Executed | NotDone:
        """Execute an action, mending what is in its way; ``reason`` says why it is inferred where no narration says
        it."""
        for _ in range(14):
            self._settle_soft(action, evidence)
            result = step(self.scene.world, self.scene.state, action)
            if isinstance(result, State):
                self._record(action, result, evidence, reason)
                return Executed()
            changed = self._mend(action, result, evidence, depth)
            if not isinstance(changed, Action):
                return changed
            action = changed
        return Unreconciled(because(Why.TOO_MANY_REPAIRS, action=action))

    def _settle_soft(self, action: Action, evidence: OperationEvidence) -> None:
        """Write down what a lenient need takes for granted, so that nothing later can be assumed against it."""
        for need in BY_NAME[action.name].preconditions:
            if isinstance(need, Is) and need.may_be_unknown:
                for thing in action.ids(need.role):
                    if thing in self.scene.world.openable and (need.fluent, thing) not in self.scene.facts:
                        self.scene.assume(
                            (need.fluent, thing),
                            need.values[0],
                            "initial",
                            because(Why.TAKEN_FOR_GRANTED),
                            evidence.narration_ids,
                        )

    def _record(self, action: Action, state: State, evidence: OperationEvidence, reason: Reason | None) -> None:
        kind = BY_NAME[action.name]
        self.scene.operations.append(
            Operation(
                action,
                kind.family,
                wording(action, self.scene.entities),
                evidence.span_s,
                evidence.narration_ids if reason is None else (),
                evidence.track_ids,
                reason,
                evidence.mentions if reason is None else (),
                {
                    role: evidence.bases.get(role, Basis.INFERRED) if reason is None else basis_of(reason)
                    for role, _ in action.roles
                },
            )
        )
        for need in kind.preconditions:  # what a check relied on is a guess no longer
            if isinstance(need, Within | Holds):
                for thing in (*action.ids("object"), *action.ids("source")):
                    for link in (thing, *carriers(self.scene.facts, thing)):
                        self.scene.weak.discard(("place", link))
        self.scene.moved(state)
        self.hands.note_taken(action, evidence)
        for role in ("object", "target", "source", "instrument"):
            for thing in action.ids(role):
                self.scene.last_seen_s[thing] = evidence.span_s[0]
                self.done[(kind.family, thing)] = evidence.span_s[1]
        for effect in kind.effects:
            if isinstance(effect, Move):
                for thing in action.ids(effect.role):
                    if self.guessed.get(thing, self.hands.now) != self.hands.now:
                        del self.guessed[thing]
                self.scene.weak.difference_update(("place", thing) for thing in action.ids(effect.role))
            if isinstance(effect, EmptyOut):
                self.sealed.update(action.ids(effect.role))
        for role in ("target", "source"):
            for thing in action.ids(role):
                if self.scene.entities[thing].type in {"counter", "table"}:
                    self.surface = thing

    def infer(self, action: Action, reason: Reason, evidence: OperationEvidence, depth: int) -> NotDone | None:
        """Execute an operation that no narration says, at most four deep; return why it was not done, None when it
        was."""
        if depth >= 4:
            return Unreconciled(because(Why.TOO_MANY_INFERRED))
        before = OperationEvidence(evidence.narration_ids, (evidence.span_s[0], evidence.span_s[0]), evidence.track_ids)
        outcome = self.execute(action, before, depth + 1, reason)
        if not isinstance(outcome, Executed):
            return outcome
        self.scene.note("reconcile", reason, (*evidence.narration_ids, *evidence.track_ids), inferred=action.plain())
        return None

    # --------------------------------------------------------------------------------------------------------

    def _mend(self, action: Action, refusal: Refusal, evidence: OperationEvidence, depth: int) -> Action | NotDone:
        """Mend the first failure, if it can be; return the action to try next, or why nothing can be done."""
        failure = refusal.failures[0]
        thing = failure.entity
        match failure.code:
            case Code.UNKNOWN_PLACE if failure.fact is not None:
                lost = failure.fact[1]
                if self._place(lost, action, evidence):
                    return action
                return Unreconciled(because(Why.NOWHERE_TO_START, thing=lost), failure)
            case Code.CLOSED_AROUND if failure.blocker is not None:
                return self._open_around(action, failure, failure.blocker, evidence, depth)
            case Code.UNKNOWN_VALUE:
                return self._assume_value(action, failure, evidence)
            case Code.WRONG_VALUE:
                return self._wrong_value(action, failure, evidence, depth)
            case Code.NOT_HELD if self._stays(action, thing, evidence):
                return Repeat(because(Why.STAYS_THERE, thing=thing))
            case Code.NOT_HELD:
                return self._take_first(action, failure, evidence, depth)
            case Code.HAND_FULL | Code.HAND_EMPTY:
                return self._free_hand(action, failure, evidence, depth)
            case Code.NOT_INSIDE:
                return self._from_elsewhere(action, thing, evidence, depth)
            case Code.NOT_CONTAINED if failure.fact is not None:
                content = failure.fact[2]
                if failure.fact not in self.scene.facts and thing not in self.sealed:
                    comes_out = because(Why.COMES_OUT, content=content, thing=thing)
                    self.scene.assume(failure.fact, True, "initial", comes_out, evidence.narration_ids)
                    return action
                return Unreconciled(because(Why.NO_LONGER_CONTAINS, thing=thing, content=content), failure)
            case _:
                return Unreconciled(because(Why.STILL_REFUSED, failure=failure), failure)

    def _open_around(
        self, action: Action, failure: FailedCheck, around: str, evidence: OperationEvidence, depth: int
    ) -> Action | NotDone:
        """Assume that a container stood open, or, where it is known to be closed, infer its opening."""
        thing, key = failure.entity, ("openness", around)
        if key not in self.scene.facts:
            self.scene.assume(key, "open", "initial", because(Why.REACHED_INTO, thing=thing), evidence.narration_ids)
            return action
        opening = choose("open", {"object": self.scene.entities[around].type})
        if opening is None:
            return Unreconciled(because(Why.CANNOT_OPEN, around=around), failure)
        was_closed = because(Why.WAS_CLOSED, around=around, thing=thing)
        return self.infer(Action.of(opening.name, {"object": around}), was_closed, evidence, depth) or action

    def _assume_value(self, action: Action, failure: FailedCheck, evidence: OperationEvidence) -> Action | NotDone:
        key = failure.fact
        if key is None or key in self.scene.facts:
            return Unreconciled(because(Why.STILL_REFUSED, failure=failure), failure)
        needed = because(Why.NEEDED_FIRST, family=BY_NAME[action.name].family)
        self.scene.assume(key, failure.wanted[0], "initial", needed, evidence.narration_ids)
        return action

    def _wrong_value(
        self, action: Action, failure: FailedCheck, evidence: OperationEvidence, depth: int
    ) -> Action | NotDone:
        """An opening of what is open, a switching on of what is on: a repeat, or something in between went unsaid."""
        family, thing = BY_NAME[action.name].family, failure.entity
        fluent = failure.fact[0] if failure.fact is not None else ""
        last_s = self.done.get((family, thing))
        already = any(
            isinstance(e, Assign) and e.fluent == fluent and e.value == failure.found
            for e in BY_NAME[action.name].effects
        )
        already_so = Repeat(because(Why.ALREADY_SO, thing=thing, found=failure.found))
        if already and (evidence.continued or (last_s is not None and evidence.span_s[0] - last_s <= REPEAT_S)):
            return already_so
        if fluent == "worn":
            return Repeat(because(Why.NOT_WORN, thing=thing))
        opposite = _UNDONE_BY.get(family) or next(
            (SWITCHES[fluent, v] for v in failure.wanted if (fluent, v) in SWITCHES), None
        )
        if opposite is None:
            return Unreconciled(because(Why.STILL_REFUSED, failure=failure), failure)
        kind = choose(opposite, {"object": self.scene.entities[thing].type})
        if kind is None:
            return already_so
        unsaid = because(Why.WENT_UNSAID, thing=thing, found=failure.found, family=family, opposite=opposite)
        return self.infer(Action.of(kind.name, {"object": thing}), unsaid, evidence, depth) or action

    # places -------------------------------------------------------------------------------------------------

    def how(self, where: str) -> str:
        """Return whether things lie "in" or "on" something, by its kind."""
        kind = self.scene.entities[where].type
        if kind in kinds_with(Trait.FLAT):
            return "on"
        return "in" if has(kind, Trait.INSIDE) else "on"

    def default_surface(self) -> str:
        """Return the worktop used last, else any worktop, else a new one."""
        if self.surface is not None:
            return self.surface
        for identifier in sorted(self.scene.zone_of):
            if self.scene.entities[identifier].type == "counter":
                self.surface = identifier
                return identifier
        self.surface = self.scene.add("counter", "counter", (), fixed=True)
        self.scene.note("initial", because(Why.HAS_WORKTOP), (), entity=self.surface)
        return self.surface

    def guess_place(self, thing: str) -> str:
        """Return where a thing is put when nobody says: where later tracks need it, else the worktop in use."""
        self.guessed[thing] = self.hands.now
        return self.better.places.get((self.hands.now, thing)) or self.default_surface()

    def _place(self, thing: str, action: Action, evidence: OperationEvidence) -> bool:
        """Assume where a thing was at the start: by its track, the source said, its owner, or the worktop in use."""
        if ("place", thing) in self.scene.facts or thing in self.scene.zone_of:
            return False
        record = self.binder.known.get(thing)
        where, why, weak = None, Why.FIRST_TRACK, False
        taking = thing in action.ids("object") and BY_NAME[action.name].family in {"pick_up", "take_out"}
        if record is not None and record.track is not None and record.track.association.tracks:
            where = self.binder.fixture_of(record.track.association.tracks[0].start_fixture)
        if where is None and thing in action.ids("object") and action.ids("source"):
            where, why = action.ids("source")[0], Why.SAID_SOURCE
        if where is None or thing in (where, *carriers(self.scene.facts, where)):
            where, weak, why = self._just_opened(evidence), True, Why.JUST_OPENED
            self.guessed[thing] = -1
            if where is None or thing in (where, *carriers(self.scene.facts, where)) or not taking:
                where, why = self.better.places.get((-1, thing)) or self.default_surface(), Why.WORKTOP_IN_USE
        self.scene.assume(("place", thing), (self.how(where), where), "initial", because(why), evidence.narration_ids)
        if weak:
            self.scene.weak.add(("place", thing))
        return True

    def _just_opened(self, evidence: OperationEvidence) -> str | None:
        """Return the storage that was opened last, when that was a moment ago and it is still open."""
        opened = [
            (end_s, thing)
            for (family, thing), end_s in self.done.items()
            if family == "open" and thing in self.scene.zone_of
        ]
        if not opened:
            return None
        end_s, thing = max(opened)
        still = self.scene.facts.get(("openness", thing)) == "open"
        return (
            thing
            if still
            and 0.0 <= evidence.span_s[0] - end_s <= REPEAT_S
            and has(self.scene.entities[thing].type, Trait.STORAGE)
            else None
        )

    def settle(self, thing: str, fixture: str, evidence: OperationEvidence) -> None:
        """Let a track's fixture decide where a thing, or what carries it, has stood since the start, where only a
        guess said so."""
        outermost = thing
        for link in (thing, *carriers(self.scene.facts, thing)):
            if link == fixture or link in HANDS:
                return
            if link in self.scene.zone_of:
                break
            outermost = link
            if ("place", link) not in self.scene.facts:
                self.scene.assume(
                    ("place", link),
                    (self.how(fixture), fixture),
                    "initial",
                    because(Why.BY_TRACK, thing=thing),
                    evidence.track_ids,
                )
                return
            if self.scene.revise(
                ("place", link),
                (self.how(fixture), fixture),
                because(Why.BY_TRACK_NOT_GUESS, thing=thing),
                evidence.track_ids,
            ):
                return
        if outermost in self.guessed:
            self.learnt.setdefault((self.guessed[outermost], outermost), fixture)
        self._carrier_moved(outermost, fixture, evidence)

    def _carrier_moved(self, carrier: str, fixture: str, evidence: OperationEvidence) -> None:
        """When two tracks in a row put things on a carrier elsewhere than where it is known to be, it was moved
        unsaid."""
        where = carriers(self.scene.facts, carrier)
        if (
            not where
            or self.scene.held(carrier)
            or fixture in where
            or not has(self.scene.entities[carrier].type, Trait.PORTABLE)
        ):
            self.elsewhere.pop(carrier, None)
            return
        if self.elsewhere.get(carrier) != fixture:
            self.elsewhere[carrier] = fixture
            return
        kind = choose(
            "move", {"object": self.scene.entities[carrier].type, "target": self.scene.entities[fixture].type}
        )
        if kind is not None and kind.effects:
            reason = because(Why.CARRIER_MOVED, carrier=carrier, fixture=fixture)
            self.infer(Action.of(kind.name, {"object": carrier, "target": fixture}), reason, evidence, 0)

    def _from_elsewhere(self, action: Action, thing: str, evidence: OperationEvidence, depth: int) -> Action:
        """The thing is not where it is taken from: a guess is revised, a track moves it, a mere word is only
        recorded."""
        if self._brought(action, thing, evidence, depth):
            return action
        source = action.ids("source")[0]
        self.scene.note(
            "reconcile", because(Why.SOURCE_ONLY_RECORDED, thing=thing, source=source), evidence.narration_ids
        )
        plain = "pick_up" if BY_NAME[action.name].family == "pick_up" else "take_out"
        return Action.of(plain, {role: value for role, value in action.roles if role in {"object", "source", "hand"}})

    def _brought(self, action: Action, thing: str, evidence: OperationEvidence, depth: int) -> bool:
        """Bring a thing to where it is taken from, if it stood elsewhere by a guess only, or a track says that it
        moved."""
        source = action.ids("source")[0]
        if self.scene.revise(
            ("place", thing),
            (self.how(source), source),
            because(Why.TAKEN_FROM_NOT_GUESS, thing=thing, source=source),
            evidence.narration_ids,
        ):
            return True
        record = self.binder.known.get(thing)
        starts = record.track.association.tracks if record is not None and record.track is not None else ()
        tracked = any(m.id in evidence.track_ids and self.binder.fixture_of(m.start_fixture) == source for m in starts)
        if tracked and thing not in carriers(self.scene.facts, source):
            kind = choose(
                "move", {"object": self.scene.entities[thing].type, "target": self.scene.entities[source].type}
            )
            if kind is not None and kind.effects:
                move = Action.of(kind.name, {"object": thing, "target": source})
                return self.infer(move, because(Why.MOVED_UNSAID, thing=thing, source=source), evidence, depth) is None
        return False

    # hands --------------------------------------------------------------------------------------------------

    def _stays(self, action: Action, thing: str, evidence: OperationEvidence) -> bool:
        """Say whether a thing is said to be put, or left, where it has just been put or is left lying."""
        place = self.scene.facts.get(("place", thing))
        if not isinstance(place, tuple) or place[1] not in action.ids("target"):
            return False
        family = BY_NAME[action.name].family
        last_s = self.done.get((family, thing))
        return evidence.left or (last_s is not None and evidence.span_s[0] - last_s <= REPEAT_S)

    def _take_first(
        self, action: Action, failure: FailedCheck, evidence: OperationEvidence, depth: int
    ) -> Action | NotDone:
        """Infer that a thing used or put was picked up before, with the hand that is named for the act."""
        thing = failure.entity
        if not has(self.scene.entities[thing].type, Trait.PORTABLE):
            return self._without(action, failure)
        if ("place", thing) not in self.scene.facts:
            self._place(thing, action, evidence)
        keep = {*action.ids("object"), *action.ids("instrument"), *action.ids("source")}
        hand = evidence.hand
        if hand is None or self.hands.holding(hand):
            hand = self.hands.choose(thing, evidence.span_s[0]) or self.hands.make_room(evidence, keep)
        role = "instrument" if thing in action.ids("instrument") else "object"
        reason = because(Why.TAKING_UNSAID, thing=thing, role=role)
        if hand is None:
            hand = min((RIGHT, LEFT), key=lambda h: (len(self.hands.holding(h)), h != RIGHT))
            if len(self.hands.holding(hand)) >= HAND_CAPACITY or BOTH in {h for h, _ in self.scene.state.held}:
                return self._without(action, failure)
            failed = self.infer(Action.of("pick_up_also", {"object": thing, "hand": hand}), reason, evidence, depth)
        else:
            failed = self.infer(Action.of("pick_up", {"object": thing, "hand": hand}), reason, evidence, depth)
        return action if failed is None else self._without(action, failure)

    def _without(self, action: Action, failure: FailedCheck) -> Action | NotDone:
        """Leave out an instrument that could not be brought into a hand; a needed object cannot be left out."""
        thing = failure.entity
        if thing in action.ids("instrument"):
            rest = tuple(i for i in action.ids("instrument") if i != thing)
            bound = {role: value for role, value in action.roles if role != "instrument"}
            if rest:
                bound["instrument"] = rest[0]
            var = BY_NAME[action.name].parameter("instrument")
            if var is not None and (var.optional or rest):
                return Action.of(action.name, bound)
        return Unreconciled(because(Why.CANNOT_HOLD, thing=thing), failure)

    def _free_hand(
        self, action: Action, failure: FailedCheck, evidence: OperationEvidence, depth: int
    ) -> Action | NotDone:
        """Let several things be in one hand where something says so, else put down what the hand holds."""
        hand, objects = failure.entity, action.ids("object")
        if failure.code is Code.HAND_EMPTY:
            return Action.of("pick_up", {k: v for k, v in action.roles if k != "source"})
        busy = [thing for thing in self.hands.holding(hand) if thing not in objects]
        grasping = hand != BOTH and action.name in _GRASPS | _LIFTS and "instrument" not in action.bound
        gripped = any(self.hands.hand_of(thing) == BOTH for thing in busy)
        if grasping and depth == 0 and not gripped and len(busy) + len(objects) <= HAND_CAPACITY:
            if self.hands.kept(busy, hand, evidence):
                return self._also(action, hand, busy, evidence, depth)
        for thing in busy:
            failed = self.hands.put_down(thing, because(Why.HAND_NEEDED, hand=hand, thing=thing), evidence, depth)
            if failed is not None:
                return failed
        return action

    def _also(self, action: Action, hand: str, busy: list[str], evidence: OperationEvidence, depth: int) -> Action:
        """Return the form of a taking for a hand that holds something already."""
        objects = action.ids("object")
        bound = {role: value for role, value in action.roles if role in {"object", "source"}}
        if "source" in bound and action.ids("source")[0] not in carriers(self.scene.facts, objects[0]):
            self._brought(action, objects[0], evidence, depth)
        self.scene.note("reconcile", because(Why.HELD_TOGETHER, hand=hand, holding=busy), evidence.narration_ids)
        also = {"take_out": "take_out_also", "lift": "lift_also"}.get(BY_NAME[action.name].family, "pick_up_also")
        fits = {v.role: v.accepts for v in BY_NAME[also].roles}
        bound = {r: v for r, v in bound.items() if all(self.scene.entities[i].type in fits[r] for i in action.ids(r))}
        return Action.of(also, {**bound, "hand": hand})
