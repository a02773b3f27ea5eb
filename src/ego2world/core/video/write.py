"""Video files written here: clips from pictures, and copies that every browser plays. Stage: core, video."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

import av
from PIL import Image

from ego2world.core.video.frames import upright, video_stream
from ego2world.errors import VideoError

# no look-ahead: with it the encoder does not always give the same bytes for the same pictures
_ENCODING = {"crf": "23", "preset": "veryfast", "threads": "1", "x264-params": "sync-lookahead=0:rc-lookahead=0"}


def write_clip(frames: Iterable[Image.Image], path: Path, fps: int) -> None:
    """Write pictures of one even size as an H.264 MP4; the file appears whole."""
    _write((av.VideoFrame.from_image(picture) for picture in frames), path, fps)  # type: ignore[no-untyped-call]


def _write(frames: Iterable[av.VideoFrame], path: Path, fps: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.part.mp4")
    try:
        with av.open(str(temporary), "w") as container:
            stream = container.add_stream("libx264", rate=fps)
            stream.pix_fmt, stream.options = "yuv420p", dict(_ENCODING)
            for number, frame in enumerate(frames):
                if number == 0:
                    stream.width, stream.height = frame.width, frame.height
                frame.pts, frame.time_base = number, Fraction(1, fps)
                container.mux(stream.encode(frame))
            container.mux(stream.encode())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_copy(source: Path, path: Path, height_px: int = 480, fps: int = 30) -> None:
    """Write an H.264 copy without sound and metadata, upright, of one height and rate; the file appears whole.

    Args:
        source: any video that can be decoded.
        path: the MP4 to write.
        height_px: of the copy, even; the width follows.
        fps: constant rate of the copy; each of its frames is the one shown at that moment.

    Raises:
        VideoError: the source cannot be read.
    """
    _write(_resampled(source, height_px, fps), path, fps)


def _resampled(source: Path, height_px: int, fps: int) -> Iterable[av.VideoFrame]:
    try:
        with av.open(str(source)) as container:
            stream = video_stream(container)
            first, due, shown = None, 0, None
            last_s = Fraction(0)
            try:
                for frame in container.decode(stream):
                    if frame.pts is None or stream.time_base is None:
                        continue
                    first = frame.pts if first is None else first
                    last_s = (frame.pts - first) * stream.time_base
                    while shown is not None and Fraction(due, fps) < last_s:
                        yield shown
                        due += 1
                    shown = _scaled(frame, height_px)
            except av.error.FFmpegError:
                pass  # what could be decoded is shown
            if shown is None:
                raise VideoError(str(source), "no frame can be decoded")
            if due == 0 or Fraction(due, fps) <= last_s:
                yield shown
    except (av.error.FFmpegError, IndexError, OSError) as error:
        raise VideoError(str(source), f"cannot be read ({error}); is it a whole video file?") from None


def _scaled(frame: av.VideoFrame, height_px: int) -> av.VideoFrame:
    """Return a frame upright and of a height; only one that has to be turned goes through a picture."""
    if frame.rotation % 360:
        frame = av.VideoFrame.from_image(upright(frame))  # type: ignore[no-untyped-call]
    width_px = round(frame.width * height_px / frame.height / 2) * 2
    return frame.reformat(width_px, height_px, "yuv420p", interpolation="AREA")
