"""Video files through PyAV (extra "video"): a frame at a time in seconds, and clips from pictures. Stage: core."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path

import av
from PIL import Image

from ego2world.errors import VideoError


def frame_at(path: Path, time_s: float, longest_px: int = 768) -> bytes:
    """Return the frame shown at a time as PNG.

    Args:
        path: a video file.
        time_s: seconds from the start of the video's own clock; presentation times decide, not frame numbers.
        longest_px: the picture is scaled down so that its longer side is at most this.

    Raises:
        VideoError: the file cannot be read, or ends before the time.
    """
    try:
        with av.open(str(path)) as container:
            stream = container.streams.video[0]
            base = float(stream.time_base or 1)
            start = stream.start_time or 0
            container.seek(start + int(time_s / base), stream=stream, backward=True)
            last, shown_s = None, 0.0
            for frame in container.decode(stream):
                if frame.pts is None:
                    continue
                at_s = (frame.pts - start) * base
                if last is None or at_s <= time_s + 1e-6:
                    last, shown_s = frame, at_s
                if at_s > time_s + 1e-6:
                    break
            if last is None:
                raise VideoError(str(path), f"no frame at {time_s:.3f} s")
            step_s = float(1 / stream.average_rate) if stream.average_rate else 0.04
            if shown_s + 2 * step_s < time_s:
                raise VideoError(str(path), f"ends at {shown_s:.3f} s, before {time_s:.3f} s")
            picture = last.to_image()  # type: ignore[no-untyped-call]
    except (av.error.FFmpegError, IndexError, OSError) as error:
        raise VideoError(str(path), f"cannot be read ({error}); is it a whole video file?") from None
    picture.thumbnail((longest_px, longest_px))
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


def write_clip(frames: Iterable[Image.Image], path: Path, fps: int) -> None:
    """Write pictures of one even size as an H.264 MP4; the file appears whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.part.mp4")
    try:
        with av.open(str(temporary), "w") as container:
            stream = container.add_stream("libx264", rate=fps)
            stream.pix_fmt, stream.options = "yuv420p", {"crf": "23", "threads": "1"}
            for number, picture in enumerate(frames):
                if number == 0:
                    stream.width, stream.height = picture.width, picture.height
                container.mux(stream.encode(av.VideoFrame.from_image(picture)))  # type: ignore[no-untyped-call]
            container.mux(stream.encode())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
