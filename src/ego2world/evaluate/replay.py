"""A finished episode played again from its records, state by state; what is derived from it needs no planner and no
model.

The recorded attempts are the whole cause of the world's course, so the last state must have the recorded hash; if not,
the worlds are others than those that were run on, or the records were changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ego2world.core.journal import group_rows, read_rows
from ego2world.errors import RecordError
from ego2world.run.environment import Attempt, Environment
from ego2world.run.records import RECORDS, ended_episodes
from ego2world.world.episode import Episode, Group
from ego2world.world.observation import Feedback, Proposal
from ego2world.world.state import State


@dataclass(frozen=True)
class Played:
    """One recorded attempt with what came of it."""

    row: Mapping[str, Any]
    before: State
    after: State
    attempt: Attempt
    feedback: Feedback


@dataclass(frozen=True)
class PlayedGroup:
    """One group's record with its attempts, and the state at its start and end."""

    group: Group
    row: Mapping[str, Any]
    attempts: tuple[Played, ...]
    start: State
    end: State


@dataclass
class RunRecords:
    """The rows of a run by episode."""

    folder: Path
    settings: Mapping[str, Any]
    rows: dict[str, dict[str, list[dict[str, Any]]]]

    @staticmethod
    def read(folder: Path, settings: Mapping[str, Any]) -> RunRecords:
        """Read all record files of a run."""
        rows = {name.removesuffix(".jsonl"): group_rows(read_rows(folder / name), "episode") for name in RECORDS}
        return RunRecords(folder, settings, rows)

    def of(self, name: str, episode: str) -> list[dict[str, Any]]:
        """Return the rows of one file and episode."""
        return self.rows[name].get(episode, [])

    def by_group(self, name: str, episode: str) -> dict[str, list[dict[str, Any]]]:
        """Return the rows of one file and episode by group."""
        return group_rows(self.of(name, episode), "group")

    @cached_property
    def episodes(self) -> list[str]:
        """Episodes that have ended, in order."""
        return [e for e in self.settings["episodes"] if ended_episodes(self.of("tasks", e))]


def replay(episode: Episode, records: RunRecords) -> Iterator[PlayedGroup]:
    """Yield the groups of an episode as they were played.

    Raises:
        RecordError: an attempt or the last state is not what was recorded.
    """
    environment = Environment(episode)
    attempts = records.by_group("attempts", episode.id)
    groups = {group.id: group for group in episode.groups}
    for row in records.of("groups", episode.id):
        start, played = environment.state, []
        for one in attempts.get(row["group"], ()):
            before = environment.state
            attempt, feedback = environment.attempt(Proposal.of(one))
            if attempt.accepted != one["accepted"]:
                raise RecordError(
                    str(records.folder / "attempts.jsonl"),
                    f"{episode.id} {one['group']} attempt {one['number']} does not replay; the worlds are not those of"
                    " the run",
                )
            played.append(Played(one, before, environment.state, attempt, feedback))
        yield PlayedGroup(groups[row["group"]], row, tuple(played), start, environment.state)
    end = next((row for row in records.of("tasks", episode.id) if row["type"] == "episode_end"), None)
    if end is not None and end["state_sha256"] != environment.state.digest():
        raise RecordError(
            str(records.folder), f"{episode.id} replays to another state than was recorded; restore the records"
        )
