"""What is visible of a state, and the anchor-and-delta observation of a region. Stage: observation.

A thing is visible in a zone when it stands there, or in or on something visible there that is not both closed and
opaque. The anchor of a region is its visible content in the episode's initial state, standing for the recorded image.
"""

from __future__ import annotations

from collections.abc import Mapping

from ego2world.world.kinds import Trait, has
from ego2world.world.observation import Change, Local, RegionView, Seen
from ego2world.world.state import HANDS, State, World

_PARTS = frozenset({"hand", "face", "agent", "zone"})


def visible(world: World, state: State, zone: str) -> dict[str, Seen]:
    """Return what can be seen in a zone, by id, in order of id. Things in the agent's hands are not part of a zone."""
    found = {}
    for thing in sorted(world.entities):
        entity = world.entities[thing]
        if entity.type in _PARTS or has(entity.type, Trait.SUBSTANCE):
            continue
        if thing in world.zone_of:
            if world.zone_of[thing] == zone:
                found[thing] = seen(world, state, thing)
        elif _shown(world, state, thing, zone):
            found[thing] = seen(world, state, thing)
    return found


def seen(world: World, state: State, thing: str) -> Seen:
    """Return a thing as it looks."""
    entity = world.entities[thing]
    place = state.facts.get(("place", thing))
    openness, power = state.facts.get(("openness", thing)), state.facts.get(("power", thing))
    return Seen(
        thing, entity.name, entity.type, place if isinstance(place, tuple) else None,
        openness if isinstance(openness, str) else None, power if isinstance(power, str) else None,
    )  # fmt: skip


def _shown(world: World, state: State, thing: str, zone: str) -> bool:
    """Walk outwards until a fixture of the zone; stop at hands, unknown places, and closed opaque containers."""
    for _ in range(20):
        place = state.facts.get(("place", thing))
        if not isinstance(place, tuple) or place[0] == "held":
            return False
        how, thing = place
        if thing in HANDS or thing == "body":
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
    return False


def local(world: World, state: State, then: Mapping[str, Seen], zone_names: Mapping[str, str]) -> Local:
    """Return the free local observation in the agent's zone.

    Args:
        world: the fixed part.
        state: the present.
        then: what the anchor of the agent's zone shows.
        zone_names: names of the zones.
    """
    zone = state.zone
    fixtures = tuple(seen(world, state, f) for f in sorted(world.zone_of) if world.zone_of[f] == zone)
    holding = tuple((hand, seen(world, state, thing)) for hand, thing in state.held)
    return Local(zone, zone_names.get(zone, zone), fixtures, holding, delta(then, visible(world, state, zone)))


def delta(then: Mapping[str, Seen], now: Mapping[str, Seen]) -> tuple[Change, ...]:
    """Return what is otherwise in a region than in its anchor, in location, storage and appliance fields."""
    changes = []
    for thing in sorted(then.keys() | now.keys()):
        here, before = now.get(thing), then.get(thing)
        if here is None:
            gone = then[thing]
            changes.append(Change(thing, gone.name, gone.type, "place", None))
            continue
        if here.place is not None and (before is None or before.place != here.place):
            changes.append(Change(thing, here.name, here.type, "place", here.place))
        for fluent in ("openness", "power"):
            value = getattr(here, fluent)
            if value is not None and (before is None or getattr(before, fluent) != value):
                changes.append(Change(thing, here.name, here.type, fluent, value))
    return tuple(changes)


def look(zone: str, then: Mapping[str, Seen], now: Mapping[str, Seen]) -> RegionView:
    """Answer a visual query of a region: the anchor's content, corrected by the delta."""
    return RegionView(zone, tuple(then.values()), delta(then, now), tuple(now.values()))
