"""The two interfaces behind which a judge works. Stage: judge, backends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from ego2world.core.models import Frames, Image
from ego2world.core.video import Shot, frames_at, jpeg
from ego2world.judge.records import Case, GateAnswer, Rater, Rating, Subgoal, SubgoalPlan, Video
from ego2world.judge.sampling import FrameSampling


class VideoView:
    """One video as a judge gets to see it: frames at the times asked for. Nothing about its origin can be had from
    it."""

    def __init__(self, video: Video, path: Path, sampling: FrameSampling) -> None:
        self.video_id, self.duration_s, self.sampling = video.video_id, video.duration_s, sampling
        self._path = path
        self._made: dict[tuple[float, ...], list[Shot]] = {}
        self.memo: dict[str, Any] = {}  # what a backend works out about the whole video, once

    def shots(self, times_s: Sequence[float]) -> list[Shot]:
        """Return the frames at some times; see ``core.video.frames_at``.

        Raises:
            VideoError: the file cannot be read.
        """
        key = tuple(times_s)
        if key not in self._made:
            if len(self._made) > 4:
                self._made.clear()
            self._made[key] = frames_at(self._path, times_s, pixels=self.sampling.pixels)
        return self._made[key]

    def frames(self, gate: str, span: tuple[float, float] | None) -> tuple[str, Frames]:
        """Return the frames that a gate is shown, and how they were chosen."""
        spec, times = self.sampling.choose(gate, self.duration_s, span)
        shots = self.shots(times)
        images = tuple(Image(jpeg(shot.picture), "image/jpeg") for shot in shots)
        return spec, Frames(images, tuple(shot.time_s for shot in shots))


class GateJudge(Protocol):
    """Answers one gate at a time."""

    rater: Rater
    looks: bool  # whether it needs the video

    def answer(
        self,
        look: VideoView,
        case: Case,
        plan: SubgoalPlan,
        subgoal: Subgoal,
        gate: str,
        before: Mapping[str, GateAnswer],
    ) -> GateAnswer:
        """Return the answer to one gate.

        Args:
            look: the video.
            case, plan, subgoal: what it is about.
            gate: "T1" to "P4".
            before: the answers to earlier gates of this subgoal.

        Raises:
            VideoError: the video cannot be read.
        """

    def plain(self) -> dict[str, Any]:
        """Return what makes its answers what they are, for run.json."""


class ScoreJudge(Protocol):
    """Rates a whole video on 0-100, without gates."""

    rater: Rater
    looks: bool

    def rate(self, look: VideoView, case: Case, plan: SubgoalPlan | None) -> Rating:
        """Return its rating; a missing one says why in ``error``.

        Raises:
            VideoError: the video cannot be read.
        """

    def plain(self) -> dict[str, Any]:
        """Return what makes its ratings what they are, for run.json."""


def span_of(before: Mapping[str, GateAnswer]) -> tuple[float, float] | None:
    """Return when the interaction is, as the earliest gate that knows says it."""
    for answer in before.values():
        if answer.t_start is not None and answer.t_end is not None and answer.t_end >= answer.t_start:
            return (answer.t_start, answer.t_end)
    return None
