"""What is visible of a state, and the anchor-and-delta observation of a region. Stage: observation.

A thing is visible in a zone when it stands there, or in or on something visible there that is not both closed and
opaque. The anchor of a region is its visible content in the episode's initial state, standing for the recorded image.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from ego2world.world.fluents import Value
from ego2world.world.observation import Change, Local, RegionView, Seen
from ego2world.world.state import HANDS, MAX_DEPTH, State, World

_LOOKS = frozenset({"place", "openness", "power"})


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
            thing,
            entity.name,
            entity.type,
            place if isinstance(place, tuple) else None,
            openness if isinstance(openness, str) else None,
            power if isinstance(power, str) else None,
        )
    return known


def _shown(world: World, state: State, place: tuple[str, str], zone: str) -> bool:
    """Walk outwards until a fixture of the zone; stop at hands, unknown places, and closed opaque containers."""
    for _ in range(MAX_DEPTH):
        how, thing = place
        if how == "held" or thing in HANDS or thing == "body":
            return False
        if _hides(world, state, place):
            return False
        if thing in world.zone_of:
            return world.zone_of[thing] == zone
        outer = state.facts.get(("place", thing))
        if not isinstance(outer, tuple):
            return False
        place = outer
    return False


def delta(then: Mapping[str, Seen], now: Mapping[str, Seen]) -> tuple[Change, ...]:
    """Return the differences of a region from its anchor, in location, storage and appliance fields."""
    changes: list[Change] = []
    for thing in sorted(then.keys() | now.keys()):
        before, here = then.get(thing), now.get(thing)
        if before is not here:
            changes += _differences(before, here)
    return tuple(changes)


@lru_cache(maxsize=1 << 16)
def _differences(before: Seen | None, here: Seen | None) -> tuple[Change, ...]:
    """Return the differences of one thing from the anchor."""
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


def carried(world: World, state: State) -> dict[str, Seen]:
    """Return what can be seen in and on the agent's hands, by id: held and worn things, and what is in or on those."""
    zone_of = world.zone_of
    on: dict[str, list[str]] = {}
    for key, value in state.facts.items():
        if key[0] == "place" and value[1] not in zone_of:  # type: ignore[index]
            on.setdefault(value[1], []).append(key[1])  # type: ignore[index]
    found: list[str] = []
    above: list[str] = list(HANDS)
    while above and on:
        things = [
            thing
            for carrier in above
            for thing in on.pop(carrier, ())
            if not _hides(world, state, state.facts["place", thing])
        ]
        found += [thing for thing in things if thing in world.visible_things]
        above = things
    return {thing: seen(world, state, thing) for thing in sorted(found)}


def _hides(world: World, state: State, place: Value) -> bool:
    """Say whether what is at a place is hidden by it: in something closed, or not known to be open, that is opaque."""
    if not isinstance(place, tuple):
        return False
    how, where = place
    return (
        how == "in"
        and where in world.openable
        and where not in world.transparent
        and state.facts.get(("openness", where)) != "open"
    )


class Viewer:
    """Follows an episode state by state and says what is seen; only what changed since the last state is worked out
    anew.

    ``visible`` and ``delta`` are the same from scratch; the tests compare the two.
    """

    def __init__(self, world: World, initial: State, zone_names: Mapping[str, str]) -> None:
        self._world = world
        self._initial = initial
        self._zone_names = zone_names
        self._anchors: dict[str, dict[str, Seen]] = {}
        self._state: State | None = None
        self._now: dict[str, Seen] = {}
        self._parts: dict[str, tuple[Change, ...]] = {}
        self._local: tuple[State, Local] | None = None
        self._carried: tuple[State, dict[str, Seen]] | None = None

    def anchor(self, zone: str) -> dict[str, Seen]:
        """Return what the recorded image of a zone shows: its content in the initial state."""
        if zone not in self._anchors:
            self._anchors[zone] = visible(self._world, self._initial, zone)
        return self._anchors[zone]

    def visible(self, state: State) -> dict[str, Seen]:
        """Return what can be seen in the agent's zone, by id, in order of id."""
        if state is not self._state:
            things = self._changed(state)
            then = self.anchor(state.zone)
            if things is None:
                self._now = visible(self._world, state, state.zone)
                self._parts = {
                    t: _differences(then.get(t), self._now.get(t))
                    for t in then.keys() | self._now.keys()
                    if then.get(t) is not self._now.get(t)
                }
            elif things:
                self._update(state, things, then)
            self._state = state
        return self._now

    def local(self, state: State) -> Local:
        """Return the free local observation in the agent's zone: its fixtures, the agent's hands with what they carry,
        and the delta."""
        if self._local is None or self._local[0] is not state:
            now, zone = self.visible(state), state.zone
            fixtures = tuple(thing for thing in now.values() if thing.id in self._world.zone_of)
            holding = tuple((hand, seen(self._world, state, thing)) for hand, thing in state.held)
            held = {thing for _, thing in state.held}
            more = tuple(thing for thing in self.carried(state).values() if thing.id not in held)
            name = self._zone_names.get(zone, zone)
            self._local = (state, Local(zone, name, fixtures, holding, self.delta(state), more))
        return self._local[1]

    def carried(self, state: State) -> dict[str, Seen]:
        """Return what can be seen in and on the agent's hands; worked out once a state."""
        if self._carried is None or self._carried[0] is not state:
            self._carried = (state, carried(self._world, state))
        return self._carried[1]

    def look(self, state: State) -> RegionView:
        """Answer a visual query of the agent's zone: the anchor's content, corrected by the delta."""
        now = self.visible(state)
        return RegionView(state.zone, tuple(self.anchor(state.zone).values()), self.delta(state), tuple(now.values()))

    def delta(self, state: State) -> tuple[Change, ...]:
        """Return the differences of the agent's zone from its anchor."""
        self.visible(state)
        return tuple(change for thing in sorted(self._parts) for change in self._parts[thing])

    def _changed(self, state: State) -> set[str] | None:
        """Return the things that look otherwise than in the last state, None where everything has to be looked at
        anew."""
        before = self._state
        if before is None or before.zone != state.zone or len(state.facts) < len(before.facts):
            return None
        old = before.facts
        keys = [k for k, v in state.facts.items() if k[0] in _LOOKS and (was := old.get(k)) is not v and was != v]
        things = {key[1] for key in keys}
        opened = any(key[0] == "openness" and key[1] in self._world.openable for key in keys)
        if opened or any(v[1] in things for k, v in state.facts.items() if k[0] == "place" and isinstance(v, tuple)):
            return None  # what is in or on them may have come into view or gone out of it
        return things

    def _update(self, state: State, things: set[str], then: Mapping[str, Seen]) -> None:
        now = dict(self._now)
        for thing in things & self._world.visible_things:
            place = state.facts.get(("place", thing))
            fixed = thing in self._world.zone_of
            here = (
                self._world.zone_of[thing] == state.zone
                if fixed
                else isinstance(place, tuple) and _shown(self._world, state, place, state.zone)
            )
            now.pop(thing, None)
            self._parts.pop(thing, None)
            if here:
                now[thing] = seen(self._world, state, thing)
            if now.get(thing) is not then.get(thing):
                self._parts[thing] = _differences(then.get(thing), now.get(thing))
        self._now = dict(sorted(now.items()))
