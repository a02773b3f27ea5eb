"""A finished episode played again from its records, state by state; what is derived from it needs no planner and no model.

The recorded attempts are the whole cause of the world's course, so the last state must have the recorded hash; if not, the
worlds are others than those that were run on, or the records were changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ego2world.errors import RecordError
from ego2world.run.environment import Attempt, Environment
from ego2world.run.records import read_rows
from ego2world.world.episode import Episode, Group
from ego2world.world.observation import Feedback, Proposal
from ego2world.world.state import State
from ego2world.world.step import Refusal, step


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
        rows: dict[str, dict[str, list[dict[str, Any]]]] = {}
        for name in ("attempts", "beliefs", "calls", "groups", "looks", "tasks"):
            by_episode: dict[str, list[dict[str, Any]]] = {}
            for row in read_rows(folder / f"{name}.jsonl"):
                by_episode.setdefault(row["episode"], []).append(row)
            rows[name] = by_episode
        return RunRecords(folder, settings, rows)

    def of(self, name: str, episode: str) -> list[dict[str, Any]]:
        """Return the rows of one file and episode."""
        return self.rows[name].get(episode, [])

    @property
    def episodes(self) -> list[str]:
        """Episodes that have ended, in order."""
        return [
            e for e in self.settings["episodes"] if any(row["type"] == "episode_end" for row in self.of("tasks", e))
        ]


def replay(episode: Episode, records: RunRecords) -> Iterator[PlayedGroup]:
    """Yield the groups of an episode as they were played.

    Raises:
        RecordError: an attempt or the last state is not what was recorded.
    """
    environment = Environment(episode)
    attempts: dict[str, list[dict[str, Any]]] = {}
    for row in records.of("attempts", episode.id):
        attempts.setdefault(row["group"], []).append(row)
    groups = {group.id: group for group in episode.groups}
    for row in records.of("groups", episode.id):
        start, played = environment.state, []
        for one in attempts.get(row["group"], ()):
            before = environment.state
            attempt, feedback = environment.attempt(_proposal(one))
            if attempt.accepted != one["accepted"]:
                raise RecordError(
                    str(records.folder / "attempts.jsonl"),
                    f"{episode.id} {one['group']} attempt {one['number']} does not replay; the worlds are not those of the run",
                )
            played.append(Played(one, before, environment.state, attempt, feedback))
        yield PlayedGroup(groups[row["group"]], row, tuple(played), start, environment.state)
    end = next((row for row in records.of("tasks", episode.id) if row["type"] == "episode_end"), None)
    if end is not None and end["state_sha256"] != environment.state.digest():
        raise RecordError(
            str(records.folder), f"{episode.id} replays to another state than was recorded; restore the records"
        )


def _proposal(row: Mapping[str, Any]) -> Proposal:
    roles = {role: tuple(value) if isinstance(value, list) else value for role, value in row["roles"].items()}
    return Proposal(row["action"], roles, row["by"])


def reference_end(episode: Episode) -> State:
    """Return the reference's last state.

    Raises:
        RecordError: the reference does not replay.
    """
    state = episode.initial
    for action in episode.actions:
        after = step(episode.world, state, action)
        if isinstance(after, Refusal):
            raise RecordError(episode.id, f"the reference does not replay ({after}); compile the worlds again")
        state = after
    return state
