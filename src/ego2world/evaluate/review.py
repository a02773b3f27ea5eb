"""What the records say once they are laid beside the worlds: collateral and overlap, episode by episode."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ego2world.evaluate.collateral import collateral, count_sorts
from ego2world.evaluate.metrics import read_settings, score_run
from ego2world.evaluate.overlap import overlap, overlap_summary
from ego2world.evaluate.replay import PlayedGroup, RunRecords, reference_end, replay
from ego2world.world.actions import BY_NAME
from ego2world.world.episode import Episode, load_episode

Progress = Callable[[str, int, int], None]


@dataclass
class Review:
    """Collateral and overlap of a run, gathered episode by episode."""

    faults: list[dict[str, Any]] = field(default_factory=list)
    tasks: list[dict[str, Any]] = field(default_factory=list)
    episodes: int = 0

    def add(self, episode: Episode, groups: Sequence[PlayedGroup], per_task: Mapping[str, Mapping[str, Any]]) -> None:
        """Take in one replayed episode.

        Args:
            episode: the episode.
            groups: as they were played.
            per_task: the scored tasks of this episode, by id.
        """
        self.episodes += 1
        if groups:
            found = collateral(episode, groups[-1].end, reference_end(episode))
            self.faults += [{"episode": episode.id, **fault} for fault in found]
        for task in episode.tasks:
            if task.id in per_task:
                own, score = groups[task.first_group : task.last_group + 1], per_task[task.id]
                self.tasks.append(
                    {"episode": episode.id, "task": task.id, "overlap": overlap(_done(own), _reference(episode, own)),
                     "gcr": score["gcr"], "success": score["success"]}
                )  # fmt: skip

    def plain(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "collateral": {"counts": count_sorts(self.faults), "episodes": self.episodes, "faults": self.faults},
            "overlap": overlap_summary(self.tasks) | {"per_task": self.tasks},
        }


def review_run(worlds: Path, folder: Path, progress: Progress | None = None) -> dict[str, Any]:
    """Replay a run's finished episodes and return its collateral and overlap.

    Raises:
        RecordError: the records do not replay in these worlds.
    """
    records, review = RunRecords.read(folder, read_settings(folder)), Review()
    scores = score_run(folder)["per_task"]
    for number, name in enumerate(records.episodes, 1):
        episode = load_episode(worlds, name)
        review.add(episode, list(replay(episode, records)), {t["task"]: t for t in scores if t["episode"] == name})
        if progress:
            progress(name, number, len(records.episodes))
    return review.plain()


def _done(groups: Sequence[PlayedGroup]) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for group in groups:
        for played in group.attempts:
            if played.attempt.accepted and played.attempt.action is not None:
                action = played.attempt.action
                found.update((BY_NAME[action.name].family, thing) for thing in action.ids("object") or ("",))
    return found


def _reference(episode: Episode, groups: Sequence[PlayedGroup]) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for group in groups:
        for action in episode.actions[group.group.first : group.group.last + 1]:
            found.update((BY_NAME[action.name].family, thing) for thing in action.ids("object") or ("",))
    return found
