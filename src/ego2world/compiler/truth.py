"""How well the compiler predicts what it was not shown: tracks, named hands and named places. Stage: after freezing.

A video is compiled once more with a share of its evidence hidden, drawn by a seed from the video's id; what the worlds
then say is compared with what was hidden. That is no comparison of the compiler with its own reading.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ego2world.annotations.records import Association, Dataset, Track
from ego2world.compiler.episode import compile_video, read_video
from ego2world.compiler.fixtures import FIXTURES
from ego2world.compiler.hands import SIDES
from ego2world.compiler.scene import Operation
from ego2world.language.lexicon import lexicon
from ego2world.language.roles import Intent
from ego2world.ontology.senses import Tag, senses
from ego2world.world.refusal import Refusal
from ego2world.world.state import BOTH, State, World, root_fixture
from ego2world.world.step import step

SHARE = 0.2
NEAR_S = 2.5
KINDS = ("tracks", "hands", "places")


@dataclass
class Agreement:
    """How often a prediction agreed with hidden evidence; ``unknown`` counts where none could be made."""

    agree: int = 0
    of: int = 0
    unknown: int = 0

    def add(self, agrees: bool | None) -> None:
        """Count one comparison, None where there was no prediction."""
        if agrees is None:
            self.unknown += 1
        else:
            self.agree += agrees
            self.of += 1

    def plain(self) -> dict[str, int]:
        """Return the JSON form."""
        return {"agree": self.agree, "of": self.of, "unknown": self.unknown}


@dataclass
class _Held:
    """What was hidden of one video."""

    tracks: list[tuple[str, Track]] = field(default_factory=list)
    hands: dict[str, str] = field(default_factory=dict)  # narration -> the hand it names
    places: dict[str, str] = field(default_factory=dict)  # narration -> the kind of fixture it names

    def without(self, narration_id: str, intents: tuple[Intent, ...]) -> tuple[Intent, ...]:
        """Return a narration's intents as far as they are shown."""
        if narration_id in self.hands:
            intents = tuple(replace(intent, hands=(), holds=()) for intent in intents)
        if narration_id in self.places:
            intents = tuple(replace(intent.with_role("target", ()), prep="") for intent in intents)
        return intents


def hidden_agreement(video: str, dataset: Dataset, seed: int = 0) -> dict[str, Agreement]:
    """Compile a video without a share of its evidence and return the agreement with that share, by kind."""
    rng = random.Random(f"{seed} {video}")
    narrations = dataset.narrations[video]
    held = _Held()
    kept: list[Association] = []
    for association in dataset.associations.get(video, ()):
        shown = []
        for track in association.tracks:
            if not association.placeholder and len(association.tracks) > 1 and rng.random() < SHARE:
                held.tracks.append((association.id, track))
            else:
                shown.append(track)
        kept.append(replace(association, tracks=tuple(shown)))
    read = read_video(video, dataset)
    for narration, intents in zip(narrations, read, strict=True):
        hand, place = _named_hand(intents), _named_place(intents)
        if hand is not None and rng.random() < SHARE:
            held.hands[narration.id] = hand
        if place is not None and rng.random() < SHARE:
            held.places[narration.id] = place
    blind = replace(dataset, associations={video: tuple(kept)})
    shown_read = [held.without(n.id, intents) for n, intents in zip(narrations, read, strict=True)]
    scene = compile_video(video, blind, shown_read).scene
    states = _states(scene.world, State.of(scene.initial), scene.operations)
    return _compare(held, scene.operations, states, scene.world)


def _named_hand(intents: Sequence[Intent]) -> str | None:
    """Return the hand of a narration that takes or puts one thing with one named hand."""
    acts = [i for i in intents if not i.not_acted]
    if len(acts) != 1 or len(acts[0].hands) != 1 or acts[0].hands[0] not in SIDES:
        return None
    moved = acts[0].sense in senses(Tag.TAKING) | senses(Tag.PUTTING)
    return acts[0].hands[0] if moved else None


def _named_place(intents: Sequence[Intent]) -> str | None:
    """Return the kind of fixture where a narration puts one thing."""
    acts = [i for i in intents if not i.not_acted]
    if len(acts) != 1 or acts[0].sense not in senses(Tag.PUT_BY_TRACK) or len(acts[0].of("target")) != 1:
        return None
    kind = lexicon().kind(acts[0].of("target")[0].head)
    return kind if kind in FIXTURES else None


def _states(world: World, state: State, operations: Sequence[Operation]) -> list[State]:
    states = [state]
    for operation in operations:
        after = step(world, states[-1], operation.action)
        states.append(states[-1] if isinstance(after, Refusal) else after)
    return states


def _compare(
    held: _Held, operations: Sequence[Operation], states: Sequence[State], world: World
) -> dict[str, Agreement]:
    found = {kind: Agreement() for kind in KINDS}
    owner = {evidence: entity.id for entity in world.entities.values() for evidence in entity.evidence}
    fixtures = {name: i for i, e in world.entities.items() if i in world.zone_of for name in e.names}
    ends_s = [operation.span_s[1] for operation in operations]
    for association, track in held.tracks:
        entity, fixture = owner.get(association), fixtures.get(track.end_fixture or "")
        if fixture is None:
            continue
        last = max((i for i, end_s in enumerate(ends_s) if end_s <= track.end_s + NEAR_S), default=-1)
        place = None if entity is None else root_fixture(world, states[last + 1], entity)
        found["tracks"].add(None if place is None else place == fixture)
    said: Mapping[str, int] = {n: i for i, o in enumerate(operations) for n in o.narration_ids}
    for narration, side in held.hands.items():
        index = said.get(narration)
        hand = None if index is None else _hand_of(operations[index], states[index], states[index + 1])
        found["hands"].add(None if hand is None else hand in (SIDES[side], BOTH))
    for narration, kind in held.places.items():
        index = said.get(narration)
        thing = None if index is None else next(iter(operations[index].action.ids("object")), None)
        place = None if index is None or thing is None else root_fixture(world, states[index + 1], thing)
        found["places"].add(None if place is None else world.entities[place].type == kind)
    return found


def _hand_of(operation: Operation, before: State, after: State) -> str | None:
    """Return the hand that took or let go of an operation's object."""
    things = set(operation.action.ids("object"))
    taken = [hand for hand, thing in after.held if thing in things]
    put = [hand for hand, thing in before.held if thing in things]
    return next(iter(taken or put), None)
