"""Zones from use: fixtures that are used together without a walk between them belong to one zone. Stage: zone.

Fixtures touched by one operation must share a zone. Beyond that, the pairs used one after the other most often are
joined first, until walking between zones makes up at most ``WALK_SHARE`` of the operations (or ``LEAST_WALKS``).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence

from ego2world.compiler.scene import Scene, wording
from ego2world.errors import CompileError
from ego2world.world.actions import BY_NAME
from ego2world.world.actions.base import Held, Reach
from ego2world.world.explain import explain
from ego2world.world.refusal import Refusal
from ego2world.world.state import Action, State, World, root_fixture
from ego2world.world.step import step

WALK_SHARE = 0.015
LEAST_WALKS = 2  # there and back


def touched(world: World, state: State, action: Action) -> tuple[str, ...]:
    """Return the fixtures that an action reaches for by its declared needs, in role order, without repeats."""
    found = []
    reached = {need.role for need in BY_NAME[action.name].preconditions if isinstance(need, Reach | Held)}
    for role in (r for r in ("object", "source", "target", "content", "instrument") if r in reached):
        for thing in action.ids(role):
            fixture = root_fixture(world, state, thing)
            if fixture is not None and fixture not in found:
                found.append(fixture)
    return tuple(found)


def make_zones(scene: Scene) -> dict[str, str]:
    """Return fixture -> zone id ("zone_1" holds the fixture used first)."""
    world = World(scene.entities, ("kitchen",), scene.zone_of)
    state = State.of(scene.initial)
    uses: list[tuple[str, ...]] = []
    for operation in scene.operations:
        fixtures = touched(world, state, operation.action)
        if fixtures:
            uses.append(fixtures)
        result = step(world, state, operation.action)
        if isinstance(result, Refusal):
            raise CompileError("zone", wording(operation.action, scene.entities), explain(result))
        state = result
    parent = {fixture: fixture for fixture in scene.zone_of}

    def root(fixture: str) -> str:
        while parent[fixture] != fixture:
            fixture = parent[fixture]
        return fixture

    def join(one: str, other: str) -> None:
        a, b = sorted((root(one), root(other)))
        parent[b] = a

    for fixtures in uses:
        for other in fixtures[1:]:
            join(fixtures[0], other)
    pairs = Counter(
        tuple(sorted((before[0], after[0]))) for before, after in itertools.pairwise(uses) if before[0] != after[0]
    )
    allowed = max(LEAST_WALKS, int(WALK_SHARE * len(scene.operations)))
    for (one, other), _ in sorted(pairs.items(), key=lambda item: (-item[1], item[0])):
        if _walks(uses, root) <= allowed:
            break
        join(one, other)
    order = list(dict.fromkeys(root(fixture) for use in uses for fixture in use))
    size = Counter(root(fixture) for use in uses for fixture in use)
    biggest = max(order, key=lambda zone: (size[zone], zone), default=None)
    zones = {}
    for fixture in sorted(scene.zone_of):
        zone = root(fixture)
        if zone not in order:
            zone = biggest if biggest is not None else zone
        zones[fixture] = f"zone_{order.index(zone) + 1}" if zone in order else "zone_1"
    return zones


def _walks(uses: Sequence[Sequence[str]], root: object) -> int:
    places = [root(use[0]) for use in uses]  # type: ignore[operator]
    return sum(a != b for a, b in itertools.pairwise(places))


def zone_name(kinds: Iterable[str]) -> str:
    """Return a readable name of a zone by its most frequent kinds of fixture."""
    common = [
        kind.replace("_", " ") for kind, _ in sorted(Counter(kinds).items(), key=lambda item: (-item[1], item[0]))[:3]
    ]
    return "area with " + ", ".join(common) if common else "area"
