"""What a video file holds, found by decoding it: headers promise, frames are counted. Stage: core, video."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import av

from ego2world.core.video.frames import video_stream

SLACK_S = 0.25  # by how much what can be decoded may fall short of what the header promises


class FileStatus(StrEnum):
    """Whether a video can be used; everything but OK is reported, never scored."""

    OK = "ok"
    SHORT = "short"  # whole, and shorter than was asked for
    LONG = "long"  # whole, and longer than was asked for
    DAMAGED = "damaged"  # frames are broken, or fewer can be decoded than the file promises
    EMPTY = "empty"  # no bytes, or no frame
    NO_VIDEO = "no_video"  # sound alone
    UNREADABLE = "unreadable"  # no media file
    MISSING = "missing"  # no such file


@dataclass(frozen=True)
class Facts:
    """A video stream as found.

    width_px, height_px: as displayed, rotation applied.
    start_s: time of the first frame on the container's clock; all other times count from it.
    duration_s: from the first frame to the end of the last one that could be decoded.
    n_frames, header_frames: decoded whole, and promised (None where the file does not say).
    rate: frames a second on average, as a fraction such as "30000/1001".
    """

    status: FileStatus
    reason: str = ""
    codec: str = ""
    width_px: int = 0
    height_px: int = 0
    rotation_deg: int = 0
    start_s: float = 0.0
    duration_s: float = 0.0
    n_frames: int = 0
    header_frames: int | None = None
    rate: str = ""
    variable_rate: bool = False
    audio: bool = False

    def plain(self) -> dict[str, Any]:
        """Return the JSON form."""
        return asdict(self) | {"status": self.status.value}


def frame_number(time_s: float, rate: Fraction) -> int:
    """Return the number, from 0, of the frame shown at a time in a video of constant rate: 600 s at 30000/1001 are
    frame 17982."""
    return int(Fraction(time_s).limit_denominator(1_000_000) * rate)


def probe(path: Path, least_s: float = 0.0, most_s: float | None = None) -> Facts:
    """Decode a file and say what it holds; nothing about a file is an error here, everything is a status with its
    reason.

    Args:
        path: the file.
        least_s, most_s: durations outside are SHORT or LONG.
    """
    if not path.is_file():
        return Facts(FileStatus.MISSING, "no such file")
    if path.stat().st_size == 0:
        return Facts(FileStatus.EMPTY, "no bytes")
    try:
        with av.open(str(path)) as container:
            if not container.streams.video:
                sound = bool(container.streams.audio)
                return Facts(FileStatus.NO_VIDEO, "sound alone" if sound else "no video stream", audio=sound)
            return _decoded(container, least_s, most_s)
    except (av.error.FFmpegError, OSError, ValueError) as error:
        return Facts(FileStatus.UNREADABLE, f"{type(error).__name__}: {error}")


def _decoded(container: av.container.InputContainer, least_s: float, most_s: float | None) -> Facts:
    stream = video_stream(container)
    base = float(stream.time_base or 1)
    times: list[int] = []
    whole, size, rotation, stops = 0, (stream.width, stream.height), 0, ""
    try:
        for frame in container.decode(stream):
            if frame.pts is not None:
                times.append(frame.pts)
                whole += not frame.is_corrupt
                size, rotation = (frame.width, frame.height), frame.rotation % 360
    except av.error.FFmpegError as error:
        stops = f"decoding stops after {len(times)} frames ({error.strerror or error})"
    if not whole:
        return Facts(FileStatus.EMPTY, stops or "no frame can be decoded", codec=stream.codec_context.name)
    times.sort()
    steps = [b - a for a, b in pairwise(times)]
    step = steps[-1] if steps else (1 / stream.average_rate / stream.time_base if stream.average_rate else 0)  # type: ignore[operator]
    duration_s = (times[-1] - times[0] + float(step)) * base
    promised_s = float(stream.duration * stream.time_base) if stream.duration and stream.time_base else None
    header = stream.frames or None
    status, reason = FileStatus.OK, ""
    early = header and promised_s and len(times) < header and duration_s < promised_s - SLACK_S
    damage = stops or (whole < len(times) and "frames are broken") or (early and "the file ends early")
    if damage:
        status = FileStatus.DAMAGED
        reason = damage + (f"; {whole} of {header} frames can be decoded" if header else "")
    elif duration_s < least_s:
        status, reason = FileStatus.SHORT, f"{duration_s:.2f} s, needed at least {least_s:g} s"
    elif most_s is not None and duration_s > most_s:
        status, reason = FileStatus.LONG, f"{duration_s:.2f} s, needed at most {most_s:g} s"
    if rotation % 180 == 90:
        size = size[::-1]
    return Facts(
        status,
        reason,
        stream.codec_context.name,
        size[0],
        size[1],
        rotation,
        round(times[0] * base, 6),
        round(duration_s, 6),
        whole,
        header,
        str(stream.average_rate or ""),
        bool(steps) and max(steps) - min(steps) > 1,
        bool(container.streams.audio),
    )
