"""Where the recorded image of a region comes from: drawn by this project, or cut from the source video.

The region's image is fixed for an episode: drawn, it shows the initial state; from a video, it is the frame at the
first moment at which the reference acts in the region. The symbolic delta always counts from the initial state and
wins over the image.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Protocol

from ego2world.annotations.videos import find_videos
from ego2world.core.models import Image
from ego2world.core.video import frame_at
from ego2world.errors import UsageError
from ego2world.render import draw_region
from ego2world.world.episode import Episode, reference_states
from ego2world.world.observe import visible


class FrameSource(Protocol):
    """Gives the recorded image of a region."""

    def picture(self, zone: str) -> Image | None:
        """Return the image, None where there is none."""


class DrawnFrames:
    """Pictures of the initial state."""

    def __init__(self, episode: Episode) -> None:
        self._episode = episode
        self.picture = cache(self._draw)

    def _draw(self, zone: str) -> Image | None:
        content = visible(self._episode.world, self._episode.initial, zone)
        return Image(draw_region(content, self._episode.zone_names.get(zone, zone)))


class VideoFrames:
    """Frames of the episode's video, FOLDER/.../EPISODE.mp4; an episode without a video has no pictures."""

    def __init__(self, episode: Episode, folder: Path) -> None:
        self._file = _index(folder).get(episode.id)
        self._times = first_times_s(episode)
        self.picture = cache(self._cut)

    def _cut(self, zone: str) -> Image | None:
        if self._file is None or zone not in self._times:
            return None
        return Image(frame_at(self._file, self._times[zone]))


@cache
def _index(folder: Path) -> dict[str, Path]:
    return find_videos(folder)


def first_times_s(episode: Episode) -> dict[str, float]:
    """Return for each zone the time in seconds at which the reference first acts in it."""
    times: dict[str, float] = {}
    for state, operation in zip(
        reference_states(episode), episode.operations, strict=False
    ):  # the last state has none after it
        times.setdefault(state.zone, float(operation["span_s"][0]))
    return times


def check_frames(spec: str | None) -> None:
    """Refuse a frame source that is neither None, "drawn", nor a folder.

    Raises:
        UsageError: no such folder.
    """
    if spec not in {None, "drawn"} and not Path(str(spec)).is_dir():
        raise UsageError(f"--frames {spec}: needed drawn, or a folder of videos named EPISODE.mp4")


def open_frames(spec: str | None, episode: Episode) -> FrameSource | None:
    """Return an episode's frame source; see ``check_frames``."""
    check_frames(spec)
    if spec is None:
        return None
    return DrawnFrames(episode) if spec == "drawn" else VideoFrames(episode, Path(spec))
