"""The agent's belief: estimated places and known states with their source and time, under a memory policy."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from ego2world.world.observation import Change, Local, RegionView, Seen


class Memory(StrEnum):
    """What becomes of belief: kept across groups, cleared at every group, or never built."""

    PERSISTENT = "persistent"
    RESET = "reset"
    NONE = "none"


@dataclass(frozen=True)
class Estimate:
    """One believed value: what, learnt how ("seen", "delta", "did"), at which step and in which group."""

    value: str | tuple[str, str] | None
    source: str
    step: int
    group: str


@dataclass
class Belief:
    """Believed places and states by thing, and what the images of regions have shown."""

    memory: Memory
    group: str = ""
    step: int = 0
    places: dict[str, Estimate] = field(default_factory=dict)
    states: dict[tuple[str, str], Estimate] = field(default_factory=dict)
    images: dict[str, dict[str, Estimate]] = field(default_factory=dict)  # places that the image of a region shows
    cross_group_hits: int = 0
    queried: set[str] = field(default_factory=set)  # regions ever queried; only for counting, so never forgotten

    def begin_group(self, group: str) -> None:
        """Enter a group; under "reset" and "none" everything believed is forgotten."""
        self.group = group
        if self.memory is not Memory.PERSISTENT:
            self.forget()

    def forget(self) -> None:
        """Drop every estimate."""
        self.places.clear()
        self.states.clear()
        self.images.clear()

    def tick(self) -> None:
        """Count a step; without memory nothing outlives it."""
        self.step += 1
        if self.memory is Memory.NONE:
            self.forget()

    # learning -----------------------------------------------------------------------------------------------

    def see_local(self, local: Local) -> None:
        """Take in a local observation."""
        for fixture in local.fixtures:
            self._take(fixture)
        changed = {change.id for change in local.delta if change.fluent == "place"}
        for identifier, shown in self.images.get(local.zone, {}).items():
            if identifier not in changed:  # neither moved nor removed: it is where the image shows it
                self.places[identifier] = shown
        for change in local.delta:
            self._change(change)
        for hand, thing in local.holding:
            self.places[thing.id] = self._estimate(("held", hand), "seen")

    def see_region(self, view: RegionView) -> None:
        """Take in the answer of a visual query; the delta wins over the anchor."""
        for thing in view.content:
            self._take(thing)
        present = {thing.id for thing in view.content}
        for change in view.delta:
            if change.id not in present:
                self._change(change)
        self.images[view.zone] = {s.id: self._estimate(s.place, "seen") for s in view.anchor if s.place is not None}
        self.queried.add(view.zone)

    def _take(self, thing: Seen) -> None:
        if thing.place is not None:
            self.places[thing.id] = self._estimate(thing.place, "seen")
        for fluent in ("openness", "power"):
            value = getattr(thing, fluent)
            if value is not None:
                self.states[(fluent, thing.id)] = self._estimate(value, "seen")

    def _change(self, change: Change) -> None:
        if change.fluent != "place":
            self.states[(change.fluent, change.id)] = self._estimate(change.now, "delta")
            return
        known = self.places.get(change.id)
        if change.now is None:
            if known is not None and known.source == "seen" and known.value and known.value[0] != "held":
                del self.places[change.id]
            return
        self.places[change.id] = self._estimate(change.now, "delta")

    def note_place(self, thing: str, place: tuple[str, str]) -> None:
        """Believe a place after one's own successful action."""
        self.places[thing] = self._estimate(place, "did")

    def note_state(self, fluent: str, thing: str, value: str) -> None:
        """Believe a state after one's own successful action."""
        self.states[(fluent, thing)] = self._estimate(value, "did")

    def doubt(self, thing: str) -> None:
        """Forget where a thing was believed to be, since an attempt showed that it is not so."""
        self.places.pop(thing, None)

    def _estimate(self, value: str | tuple[str, str] | None, source: str) -> Estimate:
        return Estimate(value, source, self.step, self.group)

    # asking -------------------------------------------------------------------------------------------------

    def place(self, thing: str) -> tuple[str, str] | None:
        """Return the believed place; using one learnt in an earlier group counts as a cross-group hit."""
        found = self.places.get(thing)
        if found is None:
            return None
        if found.group != self.group:
            self.cross_group_hits += 1
        return found.value if isinstance(found.value, tuple) else None

    def state(self, fluent: str, thing: str) -> str | None:
        """Return a believed state, None when nothing is believed."""
        found = self.states.get((fluent, thing))
        if found is None:
            return None
        if found.group != self.group:
            self.cross_group_hits += 1
        return found.value if isinstance(found.value, str) else None
