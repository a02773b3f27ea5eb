"""A run of states as a short clip: one picture a state, held for a while. Stage: render."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from PIL import Image

from ego2world.core.video import write_clip
from ego2world.render.picture import region_image
from ego2world.world.observation import Seen


def draw_clip(
    regions: Sequence[tuple[Mapping[str, Seen], str, str]], path: Path, seconds_each: float = 1.0, fps: int = 8
) -> None:
    """Write an MP4 of regions.

    Args:
        regions: for each state the visible content, a title, and the thing to mark ("" for none).
        path: the file to write.
        seconds_each: how long a state is shown.
        fps: frames per second.
    """
    pictures = [region_image(content, title, mark) for content, title, mark in regions]
    width = max(p.width for p in pictures) // 2 * 2
    height = max(p.height for p in pictures) // 2 * 2
    frames = []
    for picture in pictures:
        frame = Image.new("RGB", (width, height), (247, 245, 240))
        frame.paste(picture, (0, 0))
        frames += [frame] * max(1, round(seconds_each * fps))
    write_clip(frames, path, fps)
