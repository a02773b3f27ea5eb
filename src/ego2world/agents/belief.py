"""The agent's belief: estimated places and known states with their source and time. What is forgotten is in
memory.py."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple, assert_never

from ego2world.world.actions import BY_NAME
from ego2world.world.actions.base import Assign, Attach, EmptyOut, Move, PourAll, SetContent, Travel
from ego2world.world.observation import Change, Feedback, Local, RegionView, Seen

BeliefKey = tuple[str, str]  # (fluent, thing); the fluents are place, openness and power
_SEEN_STATES = ("openness", "power")


class Estimate(NamedTuple):
    """One believed value: what, learnt how ("seen", "delta", "did"), at which step and in which group."""

    value: str | tuple[str, str]
    source: str
    step: int
    group: str


@dataclass
class Belief:
    """Believed places and states by fluent and thing, and what the images of regions have shown."""

    group: str = ""
    step: int = 0
    entries: dict[BeliefKey, Estimate] = field(default_factory=dict)
    images: dict[str, dict[str, Estimate]] = field(default_factory=dict)  # places that the image of a region shows
    changes: Counter[BeliefKey] = field(default_factory=Counter)  # how often an entry was seen to change
    cross_group_hits: int = 0
    queried: set[str] = field(default_factory=set)  # regions ever queried; only for counting, so never forgotten
    volatile: bool = False  # the next tick forgets everything

    def begin_group(self, group: str) -> None:
        """Enter a group."""
        self.group = group

    def forget(self) -> None:
        """Drop every estimate."""
        self.entries.clear()
        self.images.clear()
        self.changes.clear()

    def drop(self, key: BeliefKey) -> None:
        """Drop one estimate; with a place goes the image that shows it, which is no longer remembered whole."""
        del self.entries[key]
        if key[0] == "place":
            for zone in [zone for zone, shown in self.images.items() if key[1] in shown]:
                del self.images[zone]

    def tick(self) -> None:
        """Count a step."""
        self.step += 1
        if self.volatile:
            self.volatile = False
            self.forget()

    # learning -----------------------------------------------------------------------------------------------

    def see_local(self, local: Local) -> None:
        """Take in a local observation."""
        for fixture in local.fixtures:
            self._take(fixture)
        shown = self.images.get(local.zone)
        if shown:
            changed = {change.id for change in local.delta if change.fluent == "place"}
            for identifier, estimate in shown.items():
                if identifier not in changed:  # neither moved nor removed: it is where the image shows it
                    self.entries["place", identifier] = estimate
        for change in local.delta:
            self._change(change)
        for hand, thing in local.holding:
            self._put(("place", thing.id), ("held", hand), "seen")
        for thing in local.carried:
            self._take(thing)

    def see_region(self, view: RegionView) -> None:
        """Take in the answer of a visual query; the delta wins over the anchor."""
        for thing in view.content:
            self._take(thing)
        present = {thing.id for thing in view.content}
        for change in view.delta:
            if change.id not in present:
                self._change(change)
        self.images[view.zone] = {
            s.id: Estimate(s.place, "seen", self.step, self.group) for s in view.anchor if s.place is not None
        }
        self.queried.add(view.zone)

    def learn(self, feedback: Feedback) -> None:
        """Take over the declared effects of one's own accepted action, on places, openness and power."""
        kind = BY_NAME.get(feedback.proposal.action)
        if kind is None or not feedback.accepted:
            return
        for effect in kind.effects:
            for thing in feedback.proposal.ids(effect.role):
                match effect:
                    case Move() if effect.how != "held" and (to := feedback.proposal.ids(effect.to)):
                        self._put(("place", thing), (effect.how, to[0]), "did")
                    case Assign() if effect.fluent in _SEEN_STATES:
                        self._put((effect.fluent, thing), str(effect.value), "did")
                    case Move() | Assign() | Attach() | SetContent() | PourAll() | EmptyOut() | Travel():
                        pass  # seen with the next observation, or no part of belief
                    case _:
                        assert_never(effect)

    def doubt(self, thing: str) -> None:
        """Forget where a thing was believed to be, since an attempt showed that it is not so."""
        self.entries.pop(("place", thing), None)

    def _take(self, thing: Seen) -> None:
        if thing.place is not None:
            self._put(("place", thing.id), thing.place, "seen")
        if thing.openness is not None:
            self._put(("openness", thing.id), thing.openness, "seen")
        if thing.power is not None:
            self._put(("power", thing.id), thing.power, "seen")

    def _change(self, change: Change) -> None:
        key = (change.fluent, change.id)
        if change.now is not None:
            self._put(key, change.now, "delta")
            return
        known = self.entries.get(key)
        if known is not None and known.source == "seen" and known.value[0] != "held":
            self.changes[key] += 1
            del self.entries[key]

    def _put(self, key: BeliefKey, value: str | tuple[str, str], source: str) -> None:
        known = self.entries.get(key)
        if known is not None and known.value != value:
            self.changes[key] += 1
        self.entries[key] = Estimate(value, source, self.step, self.group)

    # asking -------------------------------------------------------------------------------------------------

    def place(self, thing: str) -> tuple[str, str] | None:
        """Return the believed place; using one learnt in an earlier group counts as a cross-group hit."""
        found = self._ask(("place", thing))
        return found if isinstance(found, tuple) else None

    def state(self, fluent: str, thing: str) -> str | None:
        """Return a believed state, None when nothing is believed."""
        found = self._ask((fluent, thing))
        return found if isinstance(found, str) else None

    def knows_place(self, thing: str) -> bool:
        """Say whether a place is believed, without using it."""
        return ("place", thing) in self.entries

    def _ask(self, key: BeliefKey) -> str | tuple[str, str] | None:
        found = self.entries.get(key)
        if found is None:
            return None
        if found.group != self.group:
            self.cross_group_hits += 1
        return found.value
