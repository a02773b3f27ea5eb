"""The episode under construction: entities, the running state, what was assumed of the start, and every note.

``assume`` is how the initial world is inferred backwards: a fact that no operation has set yet, and that an operation
needs, must have held from the start, so it is written into the initial and the running state alike.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ego2world.compiler.reason import Reason, Why, basis_at_start, basis_of, because, plain
from ego2world.compiler.wording import reason_text
from ego2world.world.actions import BY_NAME
from ego2world.world.fluents import Basis, FactKey, Value
from ego2world.world.state import AGENT, BOTH, LEFT, RIGHT, Action, Entity, State, World, fact_row

ONE_ZONE = "kitchen"


def wording(action: Action, entities: Mapping[str, Entity]) -> str:
    """Return an action's sentence with the names that the entities have."""
    names = {role: " and ".join(entities[i].name for i in action.ids(role)) for role, _ in action.roles}
    return BY_NAME[action.name].wording(names)


@dataclass(frozen=True)
class BoundMention:
    """Words of a narration, the role they play, and the entity that they were bound to."""

    words: str
    role: str
    entity: str


@dataclass(frozen=True)
class Operation:
    """One executed step of the reference with its evidence; see docs/WORLDS.md for the fields of its line.

    ``bases`` says what the binding of each role rests on.
    """

    action: Action
    family: str
    says: str
    span_s: tuple[float, float]
    narration_ids: tuple[str, ...] = ()
    track_ids: tuple[str, ...] = ()
    reason: Reason | None = None
    mentions: tuple[BoundMention, ...] = ()
    bases: Mapping[str, Basis] = field(default_factory=dict)

    def basis(self, value: Value) -> Basis:
        """Return what a fact rests on that the operation sets: for a place, what the binding of that place rests
        on."""
        if self.reason is not None:
            return basis_of(self.reason)
        if isinstance(value, tuple):
            for role, basis in self.bases.items():
                if role in {"target", "source", "hand", "instrument"} and value[1] in self.action.ids(role):
                    return basis
        return Basis.SAID

    @property
    def inferred(self) -> bool:
        """Whether no narration says it."""
        return not self.narration_ids


@dataclass
class Scene:
    """Mutable while an episode is compiled; frozen into artefacts afterwards."""

    entities: dict[str, Entity] = field(default_factory=dict)
    zone_of: dict[str, str] = field(default_factory=dict)
    initial: dict[FactKey, Value] = field(default_factory=dict)
    initial_basis: dict[FactKey, Basis] = field(default_factory=dict)
    facts: dict[FactKey, Value] = field(default_factory=dict)
    notes: list[dict[str, Any]] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    last_seen_s: dict[str, float] = field(default_factory=dict)
    weak: set[FactKey] = field(default_factory=set)
    _numbers: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    _world: World | None = None
    _state: State | None = None

    def start(self) -> None:
        """Add what every episode has: the agent, two hands, a body, one zone."""
        for identifier, kind, name in (
            (AGENT, "agent", "agent"),
            (LEFT, "hand", "left hand"),
            (RIGHT, "hand", "right hand"),
            (BOTH, "hand", "both hands"),
            ("body", "face", "body"),
            (ONE_ZONE, "zone", "kitchen"),
        ):
            self.entities[identifier] = Entity(identifier, kind, name, (name,))
        self.assume(("at", AGENT), ONE_ZONE, "initial", because(Why.FIRST_ZONE), ())

    # entities -----------------------------------------------------------------------------------------------

    def add(self, kind: str, name: str, evidence: Iterable[str] = (), identifier: str = "", fixed: bool = False) -> str:
        """Add an entity under a fresh readable id and return the id."""
        slug = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "thing"
        if not identifier:
            self._numbers[slug] += 1
            while f"{slug}_{self._numbers[slug]}" in self.entities:
                self._numbers[slug] += 1
            identifier = f"{slug}_{self._numbers[slug]}"
        self.entities[identifier] = Entity(identifier, kind, name, (name,), tuple(evidence))
        if fixed:
            self.zone_of[identifier] = ONE_ZONE
        self._world = None
        return identifier

    def learn(self, identifier: str, name: str, evidence: str) -> None:
        """Record one more surface form and source row of an entity."""
        entity = self.entities[identifier]
        names = entity.names if name in entity.names or not name else (*entity.names, name)
        proof = entity.evidence if evidence in entity.evidence or not evidence else (*entity.evidence, evidence)
        if (names, proof) != (entity.names, entity.evidence):
            self.entities[identifier] = replace(entity, names=names, evidence=proof)

    # state --------------------------------------------------------------------------------------------------

    @property
    def world(self) -> World:
        """The fixed part as it is known so far."""
        if self._world is None:
            self._world = World(self.entities, (ONE_ZONE,), self.zone_of)
        return self._world

    @property
    def state(self) -> State:
        """The running state."""
        if self._state is None:
            self._state = State.of(self.facts)
        return self._state

    def held(self, thing: str) -> bool:
        """Say whether a thing is in a hand now."""
        place = self.facts.get(("place", thing))
        return isinstance(place, tuple) and place[0] == "held"

    def moved(self, state: State) -> None:
        """Make a new running state current."""
        self.facts = dict(state.facts)
        self._state = state

    def assume(self, key: FactKey, value: Value, stage: str, reason: Reason, evidence: Iterable[str]) -> None:
        """Let a fact have held since the start; only facts that nothing has set may be assumed."""
        if key in self.facts:
            raise AssertionError(f"{key} is already {self.facts[key]}")
        self.initial[key] = value
        self.initial_basis[key] = basis_at_start(reason)
        self.facts[key] = value
        self._state = None
        if key[0] != "at":
            self.note(stage, reason, evidence, fact=fact_row(key, value))

    def revise(self, key: FactKey, value: Value, reason: Reason, evidence: Iterable[str]) -> bool:
        """Replace a start that was assumed for want of evidence, when evidence comes and nothing has changed it
        since."""
        if key not in self.weak or self.facts.get(key) != self.initial.get(key):
            return False
        if (
            isinstance(value, tuple)
            and value[1] in self.world.openable
            and (key[1] in self.last_seen_s or self._carries(key[1]))
        ):
            return False  # it was reached already, which a closed container could have prevented
        self.initial[key] = value
        self.initial_basis[key] = basis_at_start(reason)
        self.facts[key] = value
        self._state = None
        self.weak.discard(key)
        self.note("initial", reason, evidence, fact=fact_row(key, value))
        return True

    def _carries(self, thing: str) -> bool:
        return any(isinstance(value, tuple) and value[1] == thing for value in self.facts.values())

    def note(self, stage: str, reason: Reason, evidence: Iterable[str], **more: Any) -> None:
        """Record a decision that was not plain."""
        self.notes.append(note_row(stage, reason, evidence, **more))


def note_row(stage: str, reason: Reason, evidence: Iterable[str], **more: Any) -> dict[str, Any]:
    """Return a line of notes.jsonl: the kind of decision with what it is about, and its English."""
    row = {"stage": stage, "why": reason.why.value, "reason": reason_text(reason), "evidence": list(evidence), **more}
    if reason.also is not None:
        row["also"] = reason.also.value
    if reason.about:
        row["about"] = plain(reason.about)
    return row
