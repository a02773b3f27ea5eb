"""An episode as the engine reads it: operations with times, states, what changed when, and the annotations beside it.

Stage: qa, input. ``replay`` has its own reading of the same files; nothing here decides whether an answer is right.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from ego2world.errors import RecordError
from ego2world.qa.names import Names
from ego2world.world.actions import BY_NAME, ActionType
from ego2world.world.episode import Episode, load_episode, reference_states
from ego2world.world.fluents import FactKey, Value
from ego2world.world.state import Action, State, World


class Recording:
    """An episode with its reference states. Operation ``i`` leads from state ``i`` to state ``i + 1``."""

    def __init__(self, episode: Episode) -> None:
        if "tracks" not in episode.annotations:
            raise RecordError(episode.id, "no annotations beside the world; compile the worlds again")
        self.episode = episode
        self.id = episode.id
        self.world: World = episode.world
        self.names = Names(episode.world)
        self.operations = episode.operations
        self.actions: tuple[Action, ...] = episode.actions
        self.annotations: Mapping[str, Any] = episode.annotations

    @staticmethod
    def load(worlds: Path, episode_id: str) -> Recording:
        """Read one episode of a collection."""
        return Recording(load_episode(worlds, episode_id))

    @cached_property
    def states(self) -> tuple[State, ...]:
        """The reference states, one more than operations."""
        return tuple(reference_states(self.episode))

    @cached_property
    def index(self) -> dict[str, int]:
        """Operation id -> position."""
        return {row["id"]: i for i, row in enumerate(self.operations)}

    @cached_property
    def narrations(self) -> dict[str, dict[str, Any]]:
        """Narration id -> its row, the text on one line."""
        rows = self.annotations["narrations"]
        return {row["id"]: row | {"text": " ".join(row["text"].split())} for row in rows}

    @cached_property
    def of_narration(self) -> dict[str, list[int]]:
        """Narration id -> positions of its operations, inferred ones apart."""
        found: dict[str, list[int]] = defaultdict(list)
        for i, row in enumerate(self.operations):
            for narration in row["narration_ids"]:
                found[narration].append(i)
        return dict(found)

    @cached_property
    def changes(self) -> dict[FactKey, list[tuple[int, Value | None, Value]]]:
        """Fact key -> its real changes as (position of the operation, before, after), in order."""
        found: dict[FactKey, list[tuple[int, Value | None, Value]]] = defaultdict(list)
        for i in range(len(self.operations)):
            before, after = self.states[i].facts, self.states[i + 1].facts
            if before is after:
                continue
            for key, value in after.items():
                old = before.get(key)
                if old != value:
                    found[key].append((i, old, value))
        return dict(found)

    @cached_property
    def changed_by(self) -> dict[int, list[tuple[FactKey, Value | None, Value]]]:
        """Position of an operation -> what it changed."""
        found: dict[int, list[tuple[FactKey, Value | None, Value]]] = defaultdict(list)
        for key, rows in self.changes.items():
            for i, old, new in rows:
                found[i].append((key, old, new))
        return {i: sorted(rows, key=lambda row: row[0]) for i, rows in found.items()}

    @cached_property
    def end_s(self) -> float:
        """The last second that anything is known of."""
        return max([row["span_s"][1] for row in (*self.annotations["narrations"], *self.operations)], default=0.0)

    def span(self, i: int) -> tuple[float, float]:
        """Return an operation's interval in seconds."""
        start_s, end_s = self.operations[i]["span_s"]
        return start_s, end_s

    def kind(self, i: int) -> ActionType:
        """Return an operation's action type."""
        return BY_NAME[self.actions[i].name]

    def text(self, i: int) -> str:
        """Return the words of the narrations behind an operation."""
        return " ".join(self.narrations[n]["text"] for n in self.operations[i]["narration_ids"])

    def told(self, i: int) -> bool:
        """Whether somebody narrated it, and it was not inferred."""
        return not self.operations[i]["inferred"] and bool(self.operations[i]["narration_ids"])

    def mentions(self, i: int, thing: str) -> bool:
        """Whether the narration of an operation names the thing as the questions would."""
        words = self.names.base(thing).split()
        text = self.text(i).lower()
        return bool(words) and all(re.search(rf"\b{re.escape(word)}", text) for word in words)

    def lasts(self, key: FactKey, i: int) -> tuple[float, int]:
        """Return until when and until which operation a fact stays as operation ``i`` left it."""
        rows = self.changes.get(key, [])
        at = bisect_right(rows, i, key=lambda row: row[0])
        if at == len(rows):
            return self.end_s, len(self.operations)
        return self.span(rows[at][0])[0], rows[at][0]

    def setter(self, key: FactKey, i: int) -> int | None:
        """Return the operation before ``i`` that gave a fact its value, None where it holds from the start."""
        rows = self.changes.get(key, [])
        at = bisect_right(rows, i - 1, key=lambda row: row[0])
        return rows[at - 1][0] if at else None
