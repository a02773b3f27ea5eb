"""What is visible of a state, and the anchor-and-delta observation of a region. Stage: observation.

A thing is visible in a zone when it stands there, or in or on something visible there that is not both closed and
opaque. The anchor of a region is its visible content in the episode's initial state, standing for the recorded image.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from ego2world.world.observation import Change, Local, RegionView, Seen
from ego2world.world.state import HANDS, State, World


def visible(world: World, state: State, zone: str) -> dict[str, Seen]:
    """Return what can be seen in a zone, by id, in order of id. Things in the agent's hands are not part of a zone."""
    facts, zone_of = state.facts, world.zone_of
    shown: dict[tuple[str, str], bool] = {}
    found = {}
    for thing in world.things:
        if thing in zone_of:
            if zone_of[thing] == zone:
                found[thing] = seen(world, state, thing)
            continue
        place = facts.get(("place", thing))
        if isinstance(place, tuple):
            if place not in shown:
                shown[place] = _shown(world, state, place, zone)
            if shown[place]:
                found[thing] = seen(world, state, thing)
    return found


def seen(world: World, state: State, thing: str) -> Seen:
    """Return a thing as it looks."""
    facts = state.facts
    look = (thing, facts.get(("place", thing)), facts.get(("openness", thing)), facts.get(("power", thing)))
    known: Seen | None = world.looks.get(look)
    if known is None:
        entity, (_, place, openness, power) = world.entities[thing], look
        known = world.looks[look] = Seen(
            thing, entity.name, entity.type, place if isinstance(place, tuple) else None,
            openness if isinstance(openness, str) else None, power if isinstance(power, str) else None,
        )  # fmt: skip
    return known


def _shown(world: World, state: State, place: tuple[str, str], zone: str) -> bool:
    """Walk outwards until a fixture of the zone; stop at hands, unknown places, and closed opaque containers."""
    for _ in range(20):
        how, thing = place
        if how == "held" or thing in HANDS or thing == "body":
            return False
        if (
            how == "in"
            and thing in world.openable
            and thing not in world.transparent
            and state.facts.get(("openness", thing)) != "open"
        ):
            return False
        if thing in world.zone_of:
            return world.zone_of[thing] == zone
        outer = state.facts.get(("place", thing))
        if not isinstance(outer, tuple):
            return False
        place = outer
    return False


def local(
    world: World, state: State, then: Mapping[str, Seen], now: Mapping[str, Seen], zone_names: Mapping[str, str]
) -> Local:
    """Return the free local observation in the agent's zone.

    Args:
        world: the fixed part.
        state: the present.
        then: what the anchor of the agent's zone shows.
        now: what can be seen in that zone now.
        zone_names: names of the zones.
    """
    zone = state.zone
    fixtures = tuple(thing for thing in now.values() if thing.id in world.zone_of)
    holding = tuple((hand, seen(world, state, thing)) for hand, thing in state.held)
    return Local(zone, zone_names.get(zone, zone), fixtures, holding, delta(then, now))


def delta(then: Mapping[str, Seen], now: Mapping[str, Seen]) -> tuple[Change, ...]:
    """Return what is otherwise in a region than in its anchor, in location, storage and appliance fields."""
    changes: list[Change] = []
    for thing in sorted(then.keys() | now.keys()):
        before, here = then.get(thing), now.get(thing)
        if before is not here:
            changes += _differences(before, here)
    return tuple(changes)


@lru_cache(maxsize=1 << 16)
def _differences(before: Seen | None, here: Seen | None) -> tuple[Change, ...]:
    """Return what is otherwise about one thing than in the anchor."""
    if here is None:
        assert before is not None
        return (Change(before.id, before.name, before.type, "place", None),)
    changes = []
    if here.place is not None and (before is None or before.place != here.place):
        changes.append(Change(here.id, here.name, here.type, "place", here.place))
    for fluent in ("openness", "power"):
        value = getattr(here, fluent)
        if value is not None and (before is None or getattr(before, fluent) != value):
            changes.append(Change(here.id, here.name, here.type, fluent, value))
    return tuple(changes)


def look(zone: str, then: Mapping[str, Seen], now: Mapping[str, Seen]) -> RegionView:
    """Answer a visual query of a region: the anchor's content, corrected by the delta."""
    return RegionView(zone, tuple(then.values()), delta(then, now), tuple(now.values()))
