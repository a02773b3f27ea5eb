"""Belief beside the hidden world: how much of it is right, wrong, stale, and how much of the world it covers.

Only the harness can do this; nothing of it reaches an agent. Judged are the fluents that observations show: place,
openness, power.

    right   the world has this value (a place counts by where, whether "in" or "on")
    stale   wrong, and the world changed after the entry was learnt
    facts   what there is to know: known facts of these fluents, of things that can be seen
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ego2world.agents import Belief
from ego2world.agents.belief import BeliefKey, Estimate
from ego2world.world.fluents import Value
from ego2world.world.state import State, World

FLUENTS = frozenset({"place", "openness", "power"})


class BeliefScorer:
    """Remembers when each observable fact last changed, by step."""

    def __init__(self, world: World) -> None:
        self._seen = frozenset(world.things)
        self.changed: dict[BeliefKey, int] = {}

    def note(self, before: State, after: State, step: int) -> None:
        """Take in one step's changes."""
        old = before.facts
        for key, value in after.facts.items():
            if key[0] in FLUENTS and old.get(key) != value:
                self.changed[key[0], key[1]] = step

    def judge(self, belief: Belief, state: State) -> dict[str, int]:
        """Return counts of entries, right, wrong and stale ones, and of facts."""
        right = stale = 0
        for key, entry in belief.entries.items():
            if holds(key, entry.value, state):
                right += 1
            else:
                stale += self.is_stale(key, entry)
        facts = sum(key[0] in FLUENTS and key[1] in self._seen for key in state.facts)
        return {
            "entries": len(belief.entries),
            "right": right,
            "wrong": len(belief.entries) - right,
            "stale": stale,
            "facts": facts,
        }

    def is_stale(self, key: BeliefKey, entry: Estimate) -> bool:
        """Say whether a wrong entry was overtaken by the world."""
        return self.changed.get(key, -1) > entry.step


def holds(key: BeliefKey, value: str | tuple[str, str], state: State) -> bool:
    """Say whether a believed value is the world's."""
    found: Value | None = state.facts.get(key)
    if key[0] == "place" and isinstance(found, tuple) and isinstance(value, tuple):
        return found[1] == value[1] and (found[0] == "held") == (value[0] == "held")
    return found == value


def changes(before: Mapping[BeliefKey, Estimate], after: Mapping[BeliefKey, Estimate]) -> dict[str, Any]:
    """Return what is new or otherwise, and what was dropped, as rows; entries that were only seen again are left
    out."""
    new = [
        [*key, list(e.value) if isinstance(e.value, tuple) else e.value, e.source, e.step, e.group]
        for key, e in sorted(after.items())
        if (old := before.get(key)) is None or (old.value, old.source) != (e.value, e.source)
    ]
    return {"set": new, "drop": [list(key) for key in sorted(before.keys() - after.keys())]}
