"""Which hand holds what, and until when: one hand holds one thing, and the hand that is named wins. Stage: reconcile.

A hold ends when the thing is put somewhere, when its track ends, when it is picked up again later, when the hand is
needed and nothing to come speaks of it as held, or when it has long not been spoken of. What is put down unsaid goes
where its track ends or where it is next taken from, else to the worktop in use, by an inferred operation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ego2world.compiler.ahead import Ahead, Claim
from ego2world.compiler.reason import NotDone, Reason, Unreconciled, Why, because
from ego2world.compiler.scene import Scene
from ego2world.ontology.kinds import Trait, has, kinds_with
from ego2world.world.actions import BY_NAME, choose
from ego2world.world.actions.base import Held, Move
from ego2world.world.state import BOTH, LEFT, RIGHT, Action, carriers

if TYPE_CHECKING:
    from ego2world.compiler.bind import Binder
    from ego2world.compiler.reconcile import OperationEvidence

SIDES = {"left": LEFT, "right": RIGHT}
IDLE_S = 20.0  # a thing that is not spoken of for this long, nor soon as held, was put down
SOON_S = 15.0  # what is spoken of as held within this time stays in the hand, even beside another thing
RECENT_S = 10.0  # what was handled within this time is not put down for an act that does not take anything
LATE_S = 5.0  # a putting down is told at most this long after its track has ended
Infer = Callable[[Action, Reason, "OperationEvidence", int], NotDone | None]


def takes(action: Action) -> bool:
    """Say whether an action brings its object into a hand."""
    return any(isinstance(effect, Move) and effect.how == "held" for effect in BY_NAME[action.name].effects)


def handled(action: Action) -> tuple[str, ...]:
    """Return what an action needs in a hand: the tool, else the object where it has to be held."""
    needs = {need.role for need in BY_NAME[action.name].preconditions if isinstance(need, Held)}
    return action.ids("instrument") if "instrument" in needs and action.ids("instrument") else tuple(
        thing for role in sorted(needs) for thing in action.ids(role)
    )


@dataclass
class Hands:
    """The hands of one scene. ``now`` is the place of the intent that is executed, ``together`` says that the text
    puts several things into one hand."""

    scene: Scene
    binder: Binder
    ahead: Ahead
    infer: Infer
    guess_place: Callable[[str], str]
    how: Callable[[str], str]
    better: Mapping[tuple[int, str], str] = field(default_factory=dict)  # (intent, thing) -> hand; what later acts tell
    now: int = -1
    together: bool = False

    def __post_init__(self) -> None:
        self.taken_by: dict[str, str] = {}  # thing -> the narration that took it
        self.guessed: dict[str, int] = {}  # thing -> the intent that took it with a hand that nobody named
        self.learnt: dict[tuple[int, str], str] = {}
        self.last = RIGHT
        self.intents = 1  # of the narration that is compiled

    # what is held -------------------------------------------------------------------------------------------

    def holding(self, hand: str) -> list[str]:
        """Return what a hand holds; both hands count for each."""
        return [thing for busy, thing in self.scene.state.held if busy == hand or BOTH in (busy, hand)]

    def free(self) -> list[str]:
        """Return the empty hands, right before left."""
        return [hand for hand in (RIGHT, LEFT) if not self.holding(hand)]

    def hand_of(self, thing: str) -> str | None:
        """Return the hand that holds a thing."""
        return next((hand for hand, held in self.scene.state.held if held == thing), None)

    def claim(self, thing: str, now_s: float) -> Claim | None:
        """Return what is next said of a thing, as far as it tells whether it is held until then."""
        record = self.binder.known.get(thing)
        return None if record is None else self.ahead.claim(record, self.now, now_s)

    def wanted(self, thing: str, now_s: float) -> bool:
        """Say whether a thing is next spoken of as held."""
        claim = self.claim(thing, now_s)
        return claim is not None and claim.held

    def note_taken(self, action: Action, evidence: OperationEvidence) -> None:
        """Remember which narration took what, and with which hand."""
        if takes(action):
            for thing in action.ids("object"):
                self.taken_by[thing] = (evidence.narration_ids or ("",))[0]
                hand = self.hand_of(thing)
                if hand in (LEFT, RIGHT):
                    self.last = hand

    # choosing -----------------------------------------------------------------------------------------------

    def choose(self, thing: str, now_s: float) -> str | None:
        """Return the empty hand that most likely takes a thing: the one that is named for it later, else one that
        nothing else is done with until then."""
        free = self.free()
        self.guessed[thing] = self.now
        told = self.better.get((self.now, thing))
        if told in free:
            return told
        if len(free) < 2:
            return next(iter(free), None)
        claim = self.claim(thing, now_s)
        if claim is not None:
            if claim.hand is not None and claim.held:
                return SIDES[claim.hand]
            others = self.ahead.named_between(self.now, claim.said.order)
            if others:
                return LEFT if others.count("right") > others.count("left") else RIGHT
        return RIGHT

    # ending holds -------------------------------------------------------------------------------------------

    def end_idle(self, evidence: OperationEvidence) -> None:
        """Put down what is no longer held when a narration begins that does not speak of it."""
        now_s = evidence.span_s[0]
        for _, thing in tuple(self.scene.state.held):
            if not self._spoken_of(thing):
                claim = self.claim(thing, now_s)
                idle_s = now_s - self.scene.last_seen_s.get(thing, -1e9)
                if self.track_end(thing, now_s) is not None:
                    self.put_down(thing, because(Why.TRACK_ENDED, thing=thing), evidence, 0)
                elif claim is not None and not claim.held:
                    self.put_down(thing, because(Why.NEXT_TAKEN_AGAIN, thing=thing), evidence, 0)
                elif idle_s > (IDLE_S if claim is None else 2 * IDLE_S):
                    self.put_down(thing, because(Why.NOT_MENTIONED, thing=thing), evidence, 0)

    def _spoken_of(self, thing: str) -> bool:
        """Say whether the narration that begins speaks of a thing."""
        record = self.binder.known.get(thing)
        return record is not None and any(
            said.order <= self.now + self.intents for said in self.ahead.of(record, self.now)
        )

    def ready(self, action: Action, named: str | None, evidence: OperationEvidence) -> Action:
        """Bring the hands into the state that a narrated action implies, and return the action with its hand."""
        now_s = evidence.span_s[0]
        mine = {*action.ids("object"), *action.ids("instrument")}
        if takes(action):
            hand = named
            if hand is None:
                hand = self.choose(action.ids("object")[0], now_s) or self._least_wanted(mine, now_s)
            else:
                self.guessed.pop(action.ids("object")[0], None)
            self._clear(hand, mine, evidence, grasping=True, sources=action.ids("source"))
            return Action.of(action.name, {**action.bound, "hand": hand})
        if evidence.hand in (LEFT, RIGHT):
            for thing in handled(action):
                self.bring_to(thing, evidence.hand, evidence)
            if not set(handled(action)) & set(self.holding(evidence.hand)):
                self._clear(evidence.hand, mine | {*action.ids("source")}, evidence, grasping=False)
        return action

    def bring_to(self, thing: str, hand: str, evidence: OperationEvidence) -> None:
        """Pass a held thing into the hand that is named for it."""
        if self.hand_of(thing) in (None, hand):
            return
        if thing in self.guessed and hand in (LEFT, RIGHT):
            self.learnt[self.guessed.pop(thing), thing] = hand
        self._clear(hand, {thing}, evidence, grasping=True)
        if BY_NAME["pass_hand"].parameter("object").accepts & {self.scene.entities[thing].type}:  # type: ignore[union-attr]
            self._pass(thing, hand, because(Why.HAND_IS_NAMED, hand=hand, thing=thing), evidence)

    def hold(self, thing: str, hand: str, evidence: OperationEvidence) -> None:
        """Let a thing be in the hand that is said to hold it."""
        if self.hand_of(thing) is not None:
            self.bring_to(thing, hand, evidence)
            return
        around = carriers(self.scene.facts, thing)
        kinds = {self.scene.entities[one].type for one in around}
        if not has(self.scene.entities[thing].type, Trait.PORTABLE) or kinds & kinds_with(Trait.HEATS):
            return
        self._clear(hand, {thing}, evidence, grasping=True)
        if not self.holding(hand):
            self.infer(
                Action.of("pick_up", {"object": thing, "hand": hand}),
                because(Why.SAID_HELD, hand=hand, thing=thing),
                evidence,
                0,
            )

    def _clear(
        self,
        hand: str,
        mine: set[str],
        evidence: OperationEvidence,
        grasping: bool,
        sources: Sequence[str] = (),
    ) -> None:
        """Free a hand for an act: what is not wanted goes down, what is wanted goes to the other hand if that is
        empty."""
        now_s = evidence.span_s[0]
        narration = (evidence.narration_ids or ("",))[0]
        for thing in self.holding(hand):
            if thing in mine or (grasping and (self.together or self.taken_by.get(thing) == narration)):
                continue
            if set(carriers(self.scene.facts, thing)) & mine:
                continue
            claim = self.claim(thing, now_s)
            other = LEFT if hand == RIGHT else RIGHT
            if thing in sources and hand != BOTH and not self.holding(other):
                self._pass(thing, other, because(Why.HAND_NEEDED, hand=hand, thing=thing), evidence)
                continue  # what something is taken out of is held meanwhile
            gripped = self.hand_of(thing) == BOTH
            if claim is not None and claim.held:
                if hand != BOTH and (gripped or not self.holding(other)):
                    if thing in self.guessed and not gripped:
                        self.learnt[self.guessed.pop(thing), thing] = other
                    self._pass(thing, other, because(Why.HELD_WITH_BOTH if gripped else Why.HAND_IS_NAMED,
                                                     hand=hand, thing=thing), evidence)  # fmt: skip
                    continue
                if not grasping or self._soon_here(claim, hand, now_s):
                    continue  # the next thing said of it is that this hand holds it
            elif not grasping and not gripped and now_s - self.scene.last_seen_s.get(thing, -1e9) <= RECENT_S:
                if self.holding(other):
                    continue
            self.put_down(thing, because(Why.HAND_NEEDED, hand=hand, thing=thing), evidence, 0)

    def kept(self, things: Sequence[str], hand: str, evidence: OperationEvidence) -> bool:
        """Say whether things stay in a hand that takes one more: the same narration took them, it puts them together,
        or the next thing said is that this hand holds them."""
        narration = (evidence.narration_ids or ("",))[0]
        if self.together or all(self.taken_by.get(thing) == narration for thing in things):
            return True
        claims = [self.claim(thing, evidence.span_s[0]) for thing in things]
        return all(c is not None and c.held and self._soon_here(c, hand, evidence.span_s[0]) for c in claims)

    @staticmethod
    def _soon_here(claim: Claim, hand: str, now_s: float) -> bool:
        return claim.said.start_s - now_s < SOON_S if claim.hand is None else SIDES[claim.hand] == hand

    def _least_wanted(self, keep: set[str], now_s: float) -> str:
        """Return the hand whose things are wanted least, when both hold something."""

        def rank(hand: str) -> tuple[bool, float, bool]:
            held = [thing for thing in self.holding(hand) if thing not in keep]
            wanted = any(self.wanted(thing, now_s) for thing in held)
            seen = max((self.scene.last_seen_s.get(thing, -1e9) for thing in held), default=1e9)
            return wanted, seen, hand != RIGHT

        return min((RIGHT, LEFT), key=rank)

    def make_room(self, evidence: OperationEvidence, keep: set[str]) -> str | None:
        """Empty the hand whose things are wanted least and return it, None when it could not be emptied."""
        hand = self._least_wanted(keep, evidence.span_s[0])
        for thing in self.holding(hand):
            if thing not in keep:
                self.put_down(thing, because(Why.HAND_NEEDED, hand=hand, thing=thing), evidence, 0)
        return None if self.holding(hand) else hand

    def _pass(self, thing: str, hand: str, reason: Reason, evidence: OperationEvidence) -> None:
        self.infer(Action.of("pass_hand", {"object": thing, "hand": hand}), reason, evidence, 0)

    # putting down unsaid ------------------------------------------------------------------------------------

    def track_end(self, thing: str, now_s: float) -> str | None:
        """Return the fixture where a track says that a held thing has been put down by now, if one does."""
        record = self.binder.known.get(thing)
        if record is None or record.track is None:
            return None
        ended = [
            m
            for m in record.track.association.tracks
            if m.end_s <= now_s + 0.5 and m.end_s > self.scene.last_seen_s.get(thing, 0.0) - 2.0
        ]
        claim = self.claim(thing, now_s)
        if ended and claim is not None and claim.held and claim.said.start_s - ended[-1].end_s < LATE_S:
            return None  # the narration that puts it down comes a little after its track
        return self.binder.fixture_of(ended[-1].end_fixture) if ended else None

    def next_source(self, thing: str, now_s: float) -> str | None:
        """Return the fixture from which a thing's next movement starts."""
        record = self.binder.known.get(thing)
        if record is None or record.track is None:
            return None
        later = [m for m in record.track.association.tracks if m.start_s >= now_s - 1.0]
        return self.binder.fixture_of(later[0].start_fixture) if later else None

    def put_down(self, thing: str, reason: Reason, evidence: OperationEvidence, depth: int) -> NotDone | None:
        """Infer that a held thing was put down; return why it could not be."""
        now_s = evidence.span_s[0]
        where = self.track_end(thing, now_s)
        if where is not None:
            reason = replace(reason, also=Why.TRACK_ENDS_THERE)
        else:
            where = self.next_source(thing, now_s)
            if where is not None and thing not in carriers(self.scene.facts, where):
                reason = replace(reason, also=Why.NEXT_TAKEN_THERE)
            else:
                where = self.guess_place(thing)
        sense = "insert" if self.how(where) == "in" else "put"
        kinds = {"object": self.scene.entities[thing].type, "target": self.scene.entities[where].type}
        kind = choose(sense, kinds) or choose("put", kinds)
        if kind is None:
            return Unreconciled(because(Why.NO_WAY_DOWN, thing=thing))
        return self.infer(Action.of(kind.name, {"object": thing, "target": where}), reason, evidence, depth)

    def put_down_unsaid(self, things: Iterable[str], evidence: OperationEvidence) -> None:
        """Before something held is said to be picked up again: its putting down went unsaid."""
        for thing in things:
            if self.scene.held(thing):
                self.put_down(thing, because(Why.PICKED_UP_AGAIN, thing=thing), evidence, 0)


def side_of(hands: Sequence[str], last: str, free: Sequence[str]) -> str | None:
    """Return the hand that words name: left, right, both; the same as last time, the other one, the free one."""
    if "both" in hands or len({hand for hand in hands if hand in SIDES}) > 1:
        return BOTH
    for hand in hands:
        if hand in SIDES:
            return SIDES[hand]
        if hand == "same":
            return last
        if hand == "other":
            return LEFT if last == RIGHT else RIGHT
        if hand == "free" and len(free) == 1:
            return free[0]
    return None
