"""A scene to a draft episode: zones, walks, final names, strict replay, groups. Stage: zone, group, replay."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ego2world.annotations.records import Dataset
from ego2world.compiler.episode import Compiled
from ego2world.compiler.group import group_operations
from ego2world.compiler.reason import Why, because
from ego2world.compiler.scene import ONE_ZONE, Operation, Scene, wording
from ego2world.compiler.wording import reason_text
from ego2world.compiler.zones import make_zones, touched, zone_name
from ego2world.errors import CompileError
from ego2world.world.episode import Group
from ego2world.world.explain import explain, need_text
from ego2world.world.fluents import Basis, FactKey, NarrationOutcome
from ego2world.world.refusal import Refusal
from ego2world.world.state import AGENT, Action, Entity, State, World, fact_row
from ego2world.world.step import GroundAction, ground_action, step


@dataclass(frozen=True)
class EpisodeDraft:
    """An episode that replays but has no tasks yet. ``states[i]`` is the state before operation i; one more at the
    end."""

    id: str
    world: World
    zone_names: dict[str, str]
    initial: State
    operations: tuple[Operation, ...]
    states: tuple[State, ...]
    groups: tuple[Group, ...]
    notes: tuple[dict[str, Any], ...]
    outcomes: Mapping[str, NarrationOutcome]
    initial_basis: Mapping[FactKey, Basis]


def draft_episode(compiled: Compiled, dataset: Dataset, borders_s: Sequence[float]) -> EpisodeDraft:
    """Zone, name, replay and group a compiled video.

    Raises:
        CompileError: the reference does not replay, which is a fault of the compiler and never of the data.
    """
    scene = compiled.scene
    zones = make_zones(scene)
    entities = final_names(scene, zones)
    names = sorted(set(zones.values()), key=lambda zone: int(zone.split("_")[1])) or ["zone_1"]
    zone_names: dict[str, str] = {}
    for zone in names:
        label = zone_name(scene.entities[f].type for f, z in zones.items() if z == zone)
        label = label if label not in zone_names.values() else f"{label} ({zone.split('_')[1]})"
        zone_names[zone] = label
        entities[zone] = Entity(zone, "zone", label, (label,))
    world = World(entities, tuple(names), zones)
    facts = dict(scene.initial)
    facts[("at", AGENT)] = names[0]
    state = State.of(facts)
    first = state
    operations, states = [], []
    for operation in scene.operations:
        for fixture in touched(world, state, operation.action):
            if zones[fixture] != state.zone:
                walk = Action.of("navigate", {"target": zones[fixture]})
                moved = step(world, state, walk)
                if isinstance(moved, Refusal):
                    raise CompileError("zone", operation.says, explain(moved))
                operations.append(
                    Operation(
                        walk,
                        "navigate",
                        f"go to {zone_names[zones[fixture]]}",
                        (operation.span_s[0],) * 2,
                        reason=because(Why.OTHER_ZONE, fixture=fixture),
                    )
                )
                states.append(state)
                state = moved
        result = step(world, state, operation.action)
        if isinstance(result, Refusal):
            raise CompileError("replay", ", ".join(operation.narration_ids), explain(result))
        operations.append(replace(operation, says=wording(operation.action, entities)))
        states.append(state)
        state = result
    states.append(state)
    empty = [not s.held for s in states]
    groups = group_operations(operations, empty, borders_s, entities)
    notes = tuple({"id": f"note_{i:05d}", **note} for i, note in enumerate(scene.notes, 1))
    return EpisodeDraft(
        compiled.video_id,
        world,
        zone_names,
        first,
        tuple(operations),
        tuple(states),
        groups,
        notes,
        compiled.outcomes,
        scene.initial_basis,
    )


_CUT = re.compile(r"\s(?:with|in|containing|for|on|from|and|to|that|inside)\s.*$")


def final_names(scene: Scene, zones: dict[str, str]) -> dict[str, Entity]:
    """Give every entity a name that no other has and that is read as one phrase; the zone of the draft goes."""
    bases = {}
    for identifier, entity in scene.entities.items():
        base = _CUT.sub("", re.sub(r"[^a-z0-9 '-]+", " ", entity.name.lower())).strip()
        bases[identifier] = " ".join(base.split()) or entity.type.replace("_", " ")
    counts = Counter(bases.values())
    taken: set[str] = set()
    entities = {}
    for identifier, entity in scene.entities.items():
        if identifier == ONE_ZONE:
            continue
        name, number = bases[identifier], 1
        if counts[name] > 1 or name in taken:
            while f"{name} {number}" in taken or f"{name} {number}" in counts:
                number += 1
            name = f"{name} {number}"
        taken.add(name)
        entities[identifier] = replace(entity, name=name, names=tuple(dict.fromkeys((name, *entity.names))))
    return entities


def operation_row(number: int, operation: Operation) -> dict[str, Any]:
    """Return an operation's line; see design.md for its fields."""
    row: dict[str, Any] = {
        "id": f"op_{number:05d}",
        "narration_ids": list(operation.narration_ids),
        "span_s": list(operation.span_s),
        "action": operation.action.name,
        "family": operation.family,
        "roles": operation.action.plain()["roles"],
        "says": operation.says,
        "inferred": operation.inferred,
        "track_ids": list(operation.track_ids),
        "mentions": [{"words": m.words, "role": m.role, "entity": m.entity} for m in operation.mentions],
        "roles_basis": {role: basis.value for role, basis in sorted(operation.bases.items())},
    }
    if operation.reason is not None:
        row["reason"] = reason_text(operation.reason)
        row["why"] = operation.reason.why.value
    return row


def transition_row(world: World, number: int, operation: Operation, before: State, after: State) -> dict[str, Any]:
    """Return a transition's line: the checks that held, the changed facts before and after, and the state's hash."""
    ground = ground_action(world, operation.action)
    checks = [need_text(*need) for need in ground.preconditions()] if isinstance(ground, GroundAction) else []
    changed = sorted(key for key, value in after.facts.items() if before.facts.get(key) != value)
    return {
        "operation": f"op_{number:05d}",
        "accepted": True,
        "checks": checks,
        "before": [
            fact_row(key, before.facts[key]) if key in before.facts else [key[0], key[1], "unknown"] for key in changed
        ],
        "after": [fact_row(key, after.facts[key]) for key in changed],
        "basis": [operation.basis(after.facts[key]).value for key in changed],
        "state_sha256": after.digest(),
    }


def effect_rows(before: State, after: State, world: World, operation: Operation) -> dict[str, list[Any]]:
    """Return an operation's effects as rows, also those that were already true, and what each rests on."""
    ground = ground_action(world, operation.action)
    keys = set(ground.updates) if isinstance(ground, GroundAction) else set()
    keys |= {key for key, value in after.facts.items() if before.facts.get(key) != value}
    return {
        "effects": [fact_row(key, after.facts[key]) for key in sorted(keys)],
        "basis": [operation.basis(after.facts[key]).value for key in sorted(keys)],
    }
