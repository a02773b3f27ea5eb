"""What the records say once they are laid beside the worlds: collateral and overlap, episode by episode."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ego2world.evaluate.collateral import collateral, count_sorts
from ego2world.evaluate.overlap import overlap, overlap_summary
from ego2world.evaluate.replay import PlayedGroup
from ego2world.world.actions import BY_NAME
from ego2world.world.episode import Episode, reference_states

Progress = Callable[[str, int, int], None]


@dataclass
class RunReview:
    """Collateral and overlap of a run, gathered episode by episode. ``scored`` are the run's scored tasks by (episode,
    task)."""

    scored: Mapping[tuple[str, str], Mapping[str, Any]]
    faults: list[dict[str, Any]] = field(default_factory=list)
    tasks: list[dict[str, Any]] = field(default_factory=list)
    episodes: int = 0

    @staticmethod
    def of(per_task: Sequence[Mapping[str, Any]]) -> RunReview:
        """Begin a review of the tasks of a score."""
        return RunReview({(t["episode"], t["task"]): t for t in per_task})

    def add(self, episode: Episode, groups: Sequence[PlayedGroup]) -> None:
        """Take in one episode as it was played."""
        self.episodes += 1
        if groups:
            *_, reference_end = reference_states(episode)
            found = collateral(episode, groups[-1].end, reference_end)
            self.faults += [{"episode": episode.id, **fault} for fault in found]
        for task in episode.tasks:
            score = self.scored.get((episode.id, task.id))
            if score is not None:
                own = groups[task.first_group : task.last_group + 1]
                self.tasks.append(
                    {
                        "episode": episode.id,
                        "task": task.id,
                        "overlap": overlap(_done(own), _reference(episode, own)),
                        "gcr": score["gcr"],
                        "success": score["success"],
                    }
                )

    def plain(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "collateral": {"counts": count_sorts(self.faults), "episodes": self.episodes, "faults": self.faults},
            "overlap": overlap_summary(self.tasks) | {"per_task": self.tasks},
        }


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
