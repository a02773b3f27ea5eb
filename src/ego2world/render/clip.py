"""States as clips: a few one after the other, or a whole reference on the clock of its source video. Stage: render."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from PIL import Image

from ego2world.core.video import write_clip
from ego2world.render.picture import region_image
from ego2world.world.episode import Episode, reference_states
from ego2world.world.observation import Seen
from ego2world.world.observe import visible
from ego2world.world.state import State

Region = tuple[Mapping[str, Seen], str, str]  # visible content, a title, the thing to mark ("" for none)
_PAPER = (247, 245, 240)


def draw_clip(regions: Sequence[Region], path: Path, seconds_each: float = 1.0, fps: int = 8) -> None:
    """Write an MP4 of regions, each shown for a while.

    Args:
        regions: one a state.
        path: the file to write.
        seconds_each: how long a state is shown.
        fps: frames per second.
    """
    pictures = [region_image(*region) for region in regions]
    frames = [picture for picture in pictures for _ in range(max(1, round(seconds_each * fps)))]
    write_clip(_alike(frames, max(p.height for p in pictures)), path, fps)


def draw_episode(episode: Episode, path: Path, fps: int = 2) -> None:
    """Write an episode's reference as an MP4 on the clock of its source: at each moment, the agent's region as it is
    then.

    What an operation changes is seen from the end of its time span on. Such a clip stands in for the source video
    where there is none.
    """
    states = reference_states(episode)
    times, shown = [0.0], [_region(episode, next(states), "at the start", "")]
    for state, action, operation in zip(states, episode.actions, episode.operations, strict=True):
        times.append(max(times[-1], float(operation["span_s"][1])))
        shown.append(_region(episode, state, operation["says"], next(iter(action.ids("object")), "")))
    most = max(region_image(visible(episode.world, episode.initial, z)).height for z in episode.world.zones)
    write_clip(_alike(_on_the_clock(times, shown, fps), most), path, fps)


def _region(episode: Episode, state: State, title: str, mark: str) -> Region:
    held = ", ".join(episode.world.entities[thing].name for _, thing in state.held)
    return visible(episode.world, state, state.zone), f"{title}{f'   (in hand: {held})' if held else ''}", mark


def _on_the_clock(times: Sequence[float], shown: Sequence[Region], fps: int) -> Iterator[Image.Image]:
    """Yield a picture a frame, from 0 to two seconds after the last change."""
    at, picture = -1, None
    for frame in range(int((times[-1] + 2) * fps) + 1):
        now = at
        while now + 1 < len(times) and times[now + 1] <= frame / fps:
            now += 1
        if picture is None or now != at:
            at, picture = now, region_image(*shown[now])
        yield picture


def _alike(pictures: Sequence[Image.Image] | Iterator[Image.Image], height_px: int) -> Iterator[Image.Image]:
    """Yield pictures on canvases of one even size."""
    last: tuple[Image.Image, Image.Image] | None = None
    for picture in pictures:
        if last is None or last[0] is not picture:
            canvas = Image.new("RGB", (picture.width // 2 * 2, (height_px + 1) // 2 * 2), _PAPER)
            canvas.paste(picture, (0, 0))
            last = (picture, canvas)
        yield last[1]
