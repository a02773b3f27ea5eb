"""Frames by presentation time: one pass over each group of pictures that is needed, upright, scaled while decoding.
Stage: core, video."""

from __future__ import annotations

import io
import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import av
from PIL import Image

from ego2world.errors import VideoError


@dataclass(frozen=True)
class Shot:
    """A frame and the time from which on it is shown, in seconds from the first frame."""

    time_s: float
    picture: Image.Image


def frames_at(
    path: Path, times_s: Sequence[float], longest_px: int | None = None, pixels: int | None = None
) -> list[Shot]:
    """Return the frames shown at some times, in order; a frame that is shown at several of them comes once.

    Args:
        path: a video file.
        times_s: seconds from the first frame; the frame at a time is the last one not later, as its presentation time
            says.
        longest_px, pixels: larger pictures are scaled down to this longer side, to this many pixels.

    Returns:
        One shot a frame. Times after the last frame, and frames that cannot be decoded, give none: nothing stands in
        for them.

    Raises:
        VideoError: the file cannot be read, or none of the times can be shown.
    """
    if not times_s:
        return []
    try:
        with av.open(str(path)) as container:
            shots = list(_shots(container, sorted(times_s), longest_px, pixels))
    except (av.error.FFmpegError, IndexError, OSError, ValueError) as error:
        raise VideoError(str(path), f"cannot be read ({error}); is it a whole video file?") from None
    if not shots:
        end_s = _end_s(path)
        raise VideoError(
            str(path),
            (
                f"ends at {end_s:.3f} s, before {min(times_s):.3f} s"
                if end_s < min(times_s)
                else f"no frame from {min(times_s):.3f} to {max(times_s):.3f} s can be decoded; the file is damaged"
            ),
        )
    return shots


def video_stream(container: av.container.InputContainer) -> av.VideoStream:
    """Return the first video stream, for one thread: what several make of a damaged file differs from run to run and
    with the cores."""
    stream = container.streams.video[0]
    stream.codec_context.thread_count = 1
    return stream


def _end_s(path: Path) -> float:
    """Return the time of the last frame that a file lists, in seconds from the first."""
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        times = [p.pts for p in container.demux(stream) if p.pts is not None]
        return float((max(times) - min(times)) * (stream.time_base or 1)) if times else 0.0


def _shots(
    container: av.container.InputContainer, times_s: Sequence[float], longest_px: int | None, pixels: int | None
) -> Iterator[Shot]:
    stream = video_stream(container)
    base = stream.time_base
    if base is None:
        return
    packets = [(p.pts, p.is_keyframe) for p in container.demux(stream) if p.pts is not None and not p.is_discard]
    shown = sorted(pts for pts, _ in packets)
    if not shown:
        return
    keys = sorted(pts for pts, key in packets if key) or shown[:1]
    first, step = shown[0], (shown[-1] - shown[0]) / max(1, len(shown) - 1)
    wanted: list[int] = []
    for time_s in times_s:
        at = first + time_s / float(base)
        place = bisect_right(shown, at + 1e-6 / float(base)) - 1
        if place >= 0 and at < shown[-1] + 2 * step + 1 and (not wanted or shown[place] != wanted[-1]):
            wanted.append(shown[place])
    position: int | None = None  # presentation time of the last frame decoded
    frames: Iterator[av.VideoFrame] = iter(())
    for pts in wanted:
        key = keys[max(0, bisect_right(keys, pts) - 1)]
        if position is None or key > position:
            container.seek(key, stream=stream, backward=True)
            frames = container.decode(stream)
        found = None
        try:
            for frame in frames:
                position = frame.pts if frame.pts is not None else position
                if frame.pts is not None and frame.pts >= pts:
                    found = frame if frame.pts == pts and not frame.is_corrupt else None
                    break
        except av.error.FFmpegError:
            position = None  # damage: what comes after it may still be reached from its own key frame
        if found is not None:
            yield Shot(round(float((pts - first) * base), 6), upright(found, longest_px, pixels))


def upright(frame: av.VideoFrame, longest_px: int | None = None, pixels: int | None = None) -> Image.Image:
    """Return a frame as a picture, scaled down, and turned as it is meant to be shown (PyAV does not turn it)."""
    scale = 1.0
    if longest_px is not None:
        scale = min(scale, longest_px / max(frame.width, frame.height))
    if pixels is not None:
        scale = min(scale, math.sqrt(pixels / (frame.width * frame.height)))
    if scale < 1:
        size = {"width": max(1, int(frame.width * scale)), "height": max(1, int(frame.height * scale))}
        picture = frame.to_image(**size, interpolation="AREA")  # type: ignore[no-untyped-call]
    else:
        picture = frame.to_image()  # type: ignore[no-untyped-call]
    turned: Image.Image = picture.rotate(frame.rotation, expand=True) if frame.rotation % 360 else picture
    return turned


def jpeg(picture: Image.Image, quality: int = 90) -> bytes:
    """Return a picture as JPEG."""
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=quality)
    return buffer.getvalue()
