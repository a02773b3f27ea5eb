"""One intent to an executed operation: its phrases bound by role, what nobody says inferred, the hands made ready.
Stages bind, infer, reconcile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ego2world.annotations.records import Narration, Track
from ego2world.compiler.bind import Binder
from ego2world.compiler.hands import SIDES, side_of
from ego2world.compiler.memory import Mention
from ego2world.compiler.reason import Executed, NotDone, Outcome, Unreconciled, Unresolved, Why, because
from ego2world.compiler.reconcile import OperationEvidence, Reconciler
from ego2world.compiler.scene import BoundMention, Scene
from ego2world.language.phrases import NounPhrase
from ego2world.language.roles import Intent
from ego2world.ontology.kinds import Trait, has, kinds_with
from ego2world.ontology.senses import Tag, senses
from ego2world.world.actions import ActionType, ways
from ego2world.world.fluents import Basis
from ego2world.world.state import BOTH, LEFT, RIGHT, Action, contents, vessels

_HANDS = {**SIDES, "both": BOTH}


@dataclass
class _Bound:
    """An intent on its way to an operation: entities by role, what each binding rests on, the words, and the object's
    movement with the fixtures where it starts and ends."""

    intent: Intent
    narration: Narration
    ids: dict[str, tuple[str, ...]] = field(default_factory=dict)
    bases: dict[str, Basis] = field(default_factory=dict)
    mentions: list[BoundMention] = field(default_factory=list)
    movement: Track | None = None
    start: str | None = None
    end: str | None = None

    @property
    def objects(self) -> tuple[str, ...]:
        """What is acted on."""
        return self.ids.get("object", ())

    @property
    def taking(self) -> bool:
        """Whether a track that begins then is the thing taken."""
        return self.intent.sense in senses(Tag.TAKEN_BY_TRACK)

    @property
    def placing(self) -> bool:
        """Whether a track that ends then is the thing put."""
        return self.intent.sense in senses(Tag.PUT_BY_TRACK)

    def mention(self, role: str) -> Mention:
        """Return where a phrase of a role stands."""
        prep = "" if role == "object" else self.intent.prep
        return Mention(role, self.intent.sense, prep, self.narration.start_s, self.narration.end_s, self.narration.id)

    def give(self, role: str, things: Sequence[str], basis: Basis) -> None:
        """Bind a role to what nobody says, with what that rests on."""
        self.ids[role], self.bases[role] = tuple(things), basis


@dataclass
class Actor:
    """Binds and executes the intents of one scene."""

    scene: Scene
    binder: Binder
    reconciler: Reconciler

    def act(self, intent: Intent, narration: Narration) -> Outcome:
        """Bind and execute one intent."""
        bound = _Bound(intent, narration, bases={role: Basis.SAID for role, _ in intent.phrases})
        self._bind_object(bound)
        if not bound.objects and intent.of("object"):
            return Unresolved(because(Why.UNKNOWN_REFERENT, phrases=[p.text for p in intent.of("object")]))
        self._bind_others(bound)
        self._find_target(bound)
        self._check_track(bound)
        hand = self._hand(bound)
        if intent.hands or intent.to_hand:
            bound.bases["hand"] = Basis.SAID
        evidence = OperationEvidence(
            (narration.id,),
            (narration.start_s, narration.end_s),
            (bound.movement.id,) if bound.movement else (),
            hand if intent.sense != "pass" else None,
            intent.continued,
            intent.verb in {"leave", "keep", "rest"},
            tuple(bound.mentions),
            bound.bases,
        )
        if bound.start is not None and bound.objects:
            self.reconciler.settle(bound.objects[0], bound.start, evidence)
        elif bound.end is not None and bound.ids.get("target") and bound.end not in bound.ids["target"]:
            self.reconciler.settle(bound.ids["target"][0], bound.end, evidence)
        return self._perform(
            intent, {role: ids for role, ids in bound.ids.items() if ids}, hand, evidence, bound.mention("object")
        )

    def _resolve(
        self, bound: _Bound, phrase: NounPhrase, role: str, hint: str | None = None, exclude: tuple[str, ...] = ()
    ) -> tuple[str, ...]:
        """Bind a phrase and remember the words with what they were bound to."""
        found = self.binder.resolve(phrase, bound.mention(role), hint, exclude)
        bound.mentions.extend(BoundMention(phrase.text, role, thing) for thing in found)
        return found

    def _bind_object(self, bound: _Bound) -> None:
        """Bind what is acted on; what nobody says is what is in use."""
        intent = bound.intent
        found = [thing for phrase in intent.of("object") for thing in self._resolve(bound, phrase, "object")]
        if not intent.of("object") and intent.sense in senses(Tag.IMPLIES_OBJECT) and not intent.of("source"):
            found = list(self._implied(intent))
            if found:
                bound.give("object", found, Basis.INFERRED)
                self.scene.note("bind", because(Why.IMPLIED_OBJECT), (bound.narration.id,), entity=found[0])
        bound.ids["object"] = tuple(dict.fromkeys(found))
        if found:
            bound.movement = self.binder.movement(found[0], bound.mention("object"))
        if bound.movement is not None and bound.taking:
            bound.start = self.binder.fixture_of(bound.movement.start_fixture)
        if bound.movement is not None and bound.placing:
            bound.end = self.binder.fixture_of(bound.movement.end_fixture)

    def _bind_others(self, bound: _Bound) -> None:
        """Bind the other roles that are said, and the source that a track shows."""
        intent, ids = bound.intent, bound.ids
        for role in ("source", "target", "instrument", "content"):
            hint = bound.start if role == "source" else bound.end if role == "target" else None
            for phrase in intent.of(role):
                if phrase.head == "other" and role == "target" and intent.of("source"):
                    phrase = replace(intent.of("source")[0], modifiers=("other",))
                others = bound.objects + (ids.get("source", ()) if role == "target" else ())
                ids[role] = ids.get(role, ()) + self._resolve(bound, phrase, role, hint, others)
        if (bound.placing or intent.sense in {"soak", "add"}) and ids.get("target"):
            ids["target"] = tuple(self._vessel_of(t) for t in ids["target"])
        if bound.taking and not ids.get("source") and bound.start is not None:
            if not self._carried_elsewhere(bound.objects[0], bound.start):
                bound.give("source", [bound.start], Basis.TRACK)

    def _find_target(self, bound: _Bound) -> None:
        """Find where a thing goes when nobody says so, or only near what: by its track, by where it is taken from next,
        else the place or the vessel in use."""
        intent, objects, end, narration = bound.intent, bound.objects, bound.end, bound.narration.id
        let_go = intent.sense == "drop" and objects and not self.scene.held(objects[0])
        fixed = bool(objects) and objects[0] in self.scene.zone_of
        if bound.placing and not bound.ids.get("target") and not let_go and not fixed:
            after = None
            if objects and end is None:
                after = self.reconciler.hands.next_source(objects[0], bound.narration.end_s)
            where = end or after or self._default_target(intent.sense, objects)
            bound.give("target", [where], Basis.TRACK if end or after else Basis.INFERRED)
            if end is None:
                why = Why.DEFAULT_PLACE if after is None else Why.NEXT_TAKEN_THERE
                self.scene.note("bind", because(why), (narration,), entity=where)
        elif bound.placing and intent.prep in {"beside", "near", "between", "above", "at"}:
            if end is not None and self._is_fixture(bound.ids["target"]):
                for phrase in intent.of("target"):
                    self.scene.learn(end, f"{intent.prep} {phrase.phrase}", narration)
                bound.give("target", [end], Basis.TRACK)
            elif not self._is_fixture(bound.ids["target"]):  # next to a thing is on what it stands on
                beside = self._under(bound.ids["target"][0])
                bound.give("target", [end or beside], Basis.TRACK if end else Basis.INFERRED)
        if intent.sense == "add" and objects and not bound.ids.get("target"):
            vessel = self._vessel_in_use(objects)
            if vessel is not None:
                bound.give("target", [vessel], Basis.INFERRED)
                self.scene.note("bind", because(Why.VESSEL_IN_USE), (narration,), entity=vessel)

    def _vessel_of(self, thing: str) -> str:
        """Return what holds a substance that things are put into: the vessel known to contain it, else for water the
        sink, else the vessel in use."""
        if not has(self.scene.entities[thing].type, Trait.SUBSTANCE):
            return thing
        holders = vessels(self.scene.facts, thing)
        sinks = sorted(e for e in self.scene.zone_of if self.scene.entities[e].type == "sink")
        return next(
            (h for h in reversed(holders) if self.scene.entities[h].type not in {"bottle", "tap", "hand"}),
            sinks[0]
            if sinks and self.scene.entities[thing].type in {"water", "soap"}
            else self._vessel_in_use(()) or thing,
        )

    def _implied(self, intent: Intent) -> tuple[str, ...]:
        """Return what an act without an object is done to: the vessel in use, or what was last handled."""
        last = self.binder.memory.last[-1] if self.binder.memory.last else ()
        if last and intent.sense in senses(Tag.CUTS):
            return last
        vessel = self._vessel_in_use(())
        return (vessel,) if vessel is not None else last

    def _vessel_in_use(self, objects: Sequence[str]) -> str | None:
        """Return the vessel that was last spoken of: where something is added to when nobody says."""
        seen = self.scene.last_seen_s
        open_vessels = [
            thing
            for thing in seen
            if has(self.scene.entities[thing].type, Trait.VESSEL)
            and self.scene.entities[thing].type in kinds_with(Trait.VESSEL_NAMED) - kinds_with(Trait.PACK)
            and thing not in objects
        ]
        return max(open_vessels, key=lambda thing: (seen[thing], thing), default=None)

    def _under(self, thing: str) -> str:
        place = self.scene.facts.get(("place", thing))
        if isinstance(place, tuple) and place[0] in {"on", "in"} and place[1] in self.scene.zone_of:
            return place[1]
        return self.reconciler.default_surface()

    def _is_fixture(self, ids: tuple[str, ...]) -> bool:
        return bool(ids) and ids[0] in self.scene.zone_of

    def _carried_elsewhere(self, thing: str, fixture: str) -> bool:
        place = self.scene.facts.get(("place", thing))
        return isinstance(place, tuple) and place[0] != "held" and place[1] != fixture

    def _check_track(self, bound: _Bound) -> None:
        """Note where a track's fixture contradicts the narration's; the narration's word stands."""
        if bound.movement is None:
            return
        movement, put = bound.movement, bound.placing
        fixture = self.binder.fixture_of(movement.end_fixture if put else movement.start_fixture)
        said = bound.ids.get("target" if put else "source", ())
        if fixture and said and said[0] in self.scene.zone_of and said[0] != fixture:
            disagrees = because(Why.TRACK_DISAGREES, said=said[0], fixture=fixture)
            self.scene.note("bind", disagrees, (bound.narration.id, movement.id))

    def _default_target(self, sense: str, objects: Sequence[str]) -> str:
        if sense in {"throw_away"}:
            for identifier in sorted(self.scene.zone_of):
                if self.scene.entities[identifier].type == "bin":
                    return identifier
            return self.binder.resolve(NounPhrase("bin", "bin"), Mention("target", sense, "in", 0.0, 0.0, ""))[0]
        return self.reconciler.guess_place(objects[0]) if objects else self.reconciler.default_surface()

    def _hand(self, bound: _Bound) -> str | None:
        """Return the hand that is named; for a change of hands, the one that receives."""
        intent = bound.intent
        if intent.sense == "pass":
            if intent.to_hand in _HANDS:
                return _HANDS[intent.to_hand]
            holding = {thing: hand for hand, thing in self.scene.state.held}
            now = holding.get((bound.objects or ("",))[0])
            return LEFT if now == RIGHT else RIGHT
        return side_of(intent.hands, self.reconciler.hands.last, self.reconciler.hands.free())

    # --------------------------------------------------------------------------------------------------------

    def _perform(
        self,
        intent: Intent,
        bound: dict[str, tuple[str, ...]],
        hand: str | None,
        evidence: OperationEvidence,
        mention: Mention,
    ) -> Executed | NotDone:
        sense = intent.sense
        objects = bound.get("object", ())
        if (
            sense in senses(Tag.TAKEN_BY_TRACK)
            and objects
            and has(self.scene.entities[objects[0]].type, Trait.PORTABLE)
        ):
            held = [o for o in objects if self.scene.held(o)]
            if held:
                if evidence.span_s[0] - self.scene.last_seen_s.get(held[0], -1e9) <= 4.0 and sense == "lift":
                    return self.reconciler.execute(Action.of("lift_held", {"object": objects}), evidence)
                self.reconciler.hands.put_down_unsaid(held, evidence)
        if sense == "wear" and "target" not in bound:
            bound["target"] = (self._worn_on(objects, hand),)
        bound = self._complete(sense, bound, evidence)
        for phrase, side in ((phrase, side) for phrase, side in intent.holds if side in SIDES):
            for thing in self.binder.resolve(phrase, replace(mention, role="instrument", sense="hold")):
                self.reconciler.hands.hold(thing, SIDES[side], evidence)
        last: NotDone | None = None
        for kind in ways(sense, {role: self.scene.entities[ids[0]].type for role, ids in bound.items()}):
            action = self.reconciler.hands.ready(self._action(kind, bound, hand), hand, evidence)
            outcome = self.reconciler.execute(action, evidence)
            if not isinstance(outcome, Unreconciled):
                return outcome
            last = outcome
            check = {} if last.refusal is None else {"check": last.refusal.plain()}
            self.scene.note("reconcile", last.reason, evidence.narration_ids, refused=action.plain(), **check)
        return last or Unreconciled(because(Why.NO_ACTION_TYPE, sense=sense, bound=bound))

    def _worn_on(self, objects: tuple[str, ...], hand: str | None) -> str:
        if not objects:
            return "body"
        record, entity = self.binder.known.get(objects[0]), self.scene.entities[objects[0]]
        if entity.type != "glove":
            return "body"
        sides = record.modifiers if record else set()
        return LEFT if "left" in sides else RIGHT if "right" in sides else hand or BOTH

    def _complete(
        self, sense: str, bound: dict[str, tuple[str, ...]], evidence: OperationEvidence
    ) -> dict[str, tuple[str, ...]]:
        """Fill in what a sense implies: the content of a poured vessel, where a poured substance came from."""
        entities, facts = self.scene.entities, self.scene.facts
        objects = bound.get("object", ())
        if sense in senses(Tag.TAKES_CONTENT) and objects:
            kind = entities[objects[0]].type
            if sense in {"pour"} and has(kind, Trait.VESSEL) and "source" not in bound:
                known = sorted(contents(facts, objects[0]))
                content = (
                    known[-1]
                    if known
                    else self.binder.substance(
                        f"contents of {entities[objects[0]].name}", "mixture", evidence.narration_ids[0]
                    )
                )
                return {**bound, "object": (content,), "source": (objects[0],)}
            if sense in {"pour", "scoop"} and has(kind, Trait.SUBSTANCE) and "source" not in bound:
                holders = vessels(facts, objects[0])
                held = [h for h in holders if self.scene.held(h)]
                if held or (sense == "scoop" and holders):
                    return {**bound, "source": ((held or holders)[-1],)}
                named = [
                    t
                    for _, t in self.scene.state.held
                    if entities[objects[0]].name.split()[-1] in entities[t].name and has(entities[t].type, Trait.VESSEL)
                ]
                if named:
                    return {**bound, "source": (named[0],)}
        if sense == "fill" and objects and "content" not in bound:
            taps = [e for e, entity in entities.items() if entity.type == "tap" and facts.get(("power", e)) == "on"]
            name = "water" if taps else "contents"
            return {
                **bound,
                "content": (self.binder.substance(name, "water" if taps else "mixture", evidence.narration_ids[0]),),
            }
        return bound

    def _action(self, kind: ActionType, bound: dict[str, tuple[str, ...]], hand: str | None) -> Action:
        roles: dict[str, str | tuple[str, ...]] = {}
        for var in kind.roles:
            ids = tuple(i for i in bound.get(var.role, ()) if self.scene.entities[i].type in var.accepts)
            if var.role == "instrument":
                ids = tuple(i for i in ids if i not in bound.get("object", ()))
            if ids:
                roles[var.role] = ids if var.many and len(ids) > 1 else ids[0]
        if hand is not None and kind.parameter("hand") is not None:
            roles["hand"] = hand
        return Action.of(kind.name, roles)
