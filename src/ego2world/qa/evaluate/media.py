"""What a model gets to see and hear of a clip. Stage: qa, evaluation. Source: the paper's 4.1.

Frames at 2 a second, at most 64, of at most 200,704 pixels; the sound is kept. A clip that is safe against a cutoff
ends there: no frame and no sound of what comes after leaves this module.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ego2world.annotations.videos import find_videos, look_up
from ego2world.core.models import Audio, Frames, Image
from ego2world.core.video import clip_audio, clip_frames
from ego2world.qa.items import Item

KEPT = 8  # clips; the turns of a dialogue follow each other


@dataclass(frozen=True)
class ClipSampling:
    """How clips are sampled: frames a second, frames and pixels at most, and whether sound is sent."""

    fps: float = 2.0
    most: int = 64
    pixels: int = 200_704
    audio: bool = True

    def plain(self) -> dict[str, object]:
        """Return the JSON form."""
        return {"fps": self.fps, "max_frames": self.most, "max_pixels": self.pixels, "audio": self.audio}


class Clips:
    """The videos of a folder, cut as items ask for. Safe to use from several threads."""

    def __init__(self, folder: Path, look: ClipSampling) -> None:
        self._videos: Mapping[str, Path] = find_videos(folder)
        self._look = look
        self._lock = threading.Lock()
        self._made: OrderedDict[tuple[str, float, float], tuple[Frames, Audio | None]] = OrderedDict()

    def of(self, item: Item) -> tuple[Frames, Audio | None]:
        """Return frames and sound of an item's clip.

        Raises:
            VideoError: no such video, or it cannot be read.
        """
        start_s, end_s = item.start_s or 0.0, item.end_s if item.end_s is not None else (item.start_s or 0.0) + 60.0
        key = (item.videos[0] if item.videos else "", start_s, end_s)
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                return self._made[key]
        path = look_up(self._videos, key[0])
        images, times_s = clip_frames(path, start_s, end_s, self._look.fps, self._look.most, self._look.pixels)
        sound = clip_audio(path, start_s, end_s) if self._look.audio else None
        made = (
            Frames(tuple(Image(data, "image/jpeg") for data in images), tuple(times_s)),
            Audio(sound) if sound else None,
        )
        with self._lock:
            self._made[key] = made
            while len(self._made) > KEPT:
                self._made.popitem(last=False)
        return made
