"""Video files through PyAV (extra "video"): a frame at a time in seconds, and clips from pictures. Stage: core."""

from __future__ import annotations

import io
import math
import wave
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


def clip_frames(
    path: Path, start_s: float, end_s: float, fps: float = 2.0, most: int = 64, pixels: int = 200_704
) -> tuple[list[bytes], list[float]]:
    """Return frames of a part of a video as JPEG, with their times from its start.

    Args:
        path: a video file.
        start_s, end_s: the part, half-open, in seconds of the video's own clock.
        fps: frames a second; fewer where that would be more than ``most``, spread evenly.
        most: frames at most.
        pixels: of one frame, at most; larger ones are scaled down.

    Raises:
        VideoError: the file cannot be read, or ends before the part begins.
    """
    count = max(1, min(most, math.ceil((end_s - start_s) * fps)))
    wanted = [start_s + (i + 0.5) * (end_s - start_s) / count for i in range(count)]
    images: list[bytes] = []
    times: list[float] = []
    try:
        with av.open(str(path)) as container:
            stream = container.streams.video[0]
            base, first = float(stream.time_base or 1), stream.start_time or 0
            container.seek(first + int(wanted[0] / base), stream=stream, backward=True)
            shown = None
            for frame in container.decode(stream):
                if frame.pts is None:
                    continue
                at_s = (frame.pts - first) * base
                while wanted and at_s > wanted[0] + 1e-6:
                    _keep(shown or frame, wanted.pop(0) - start_s, pixels, images, times)
                shown = frame
                if not wanted or at_s >= end_s:
                    break
            step_s = float(1 / stream.average_rate) if stream.average_rate else 0.04
            if shown is not None and wanted and ((shown.pts or 0) - first) * base + 2 * step_s >= wanted[0]:
                _keep(shown, wanted.pop(0) - start_s, pixels, images, times)
    except (av.error.FFmpegError, IndexError, OSError) as error:
        raise VideoError(str(path), f"cannot be read ({error}); is it a whole video file?") from None
    if not images:
        raise VideoError(str(path), f"has no frame between {start_s:.2f} and {end_s:.2f} s")
    return images, times


def _keep(frame: av.VideoFrame, time_s: float, pixels: int, images: list[bytes], times: list[float]) -> None:
    picture = frame.to_image()  # type: ignore[no-untyped-call]
    if picture.width * picture.height > pixels:
        scale = math.sqrt(pixels / (picture.width * picture.height))
        picture = picture.resize((max(1, int(picture.width * scale)), max(1, int(picture.height * scale))))
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=90)
    images.append(buffer.getvalue())
    times.append(round(time_s, 3))


def clip_audio(path: Path, start_s: float, end_s: float, rate_hz: int = 16_000) -> bytes | None:
    """Return the sound of a part of a video as WAV (16 bit, one channel), None where the video has none.

    Raises:
        VideoError: the file cannot be read.
    """
    chunks: list[bytes] = []
    try:
        with av.open(str(path)) as container:
            if not container.streams.audio:
                return None
            stream = container.streams.audio[0]
            base, first = float(stream.time_base or 1), stream.start_time or 0
            container.seek(first + int(start_s / base), stream=stream, backward=True)
            resampler = av.AudioResampler("s16", "mono", rate_hz)
            for frame in container.decode(stream):
                if frame.pts is None:
                    continue
                at_s = (frame.pts - first) * base
                if at_s >= end_s:
                    break
                samples = b"".join(bytes(part.planes[0])[: 2 * part.samples] for part in resampler.resample(frame))
                skip = max(0, round((start_s - at_s) * rate_hz)) if not chunks else 0
                if 2 * skip < len(samples):
                    chunks.append(samples[2 * skip :])
    except (av.error.FFmpegError, IndexError, OSError) as error:
        raise VideoError(str(path), f"cannot be read ({error}); is it a whole video file?") from None
    data = b"".join(chunks)[: 2 * round((end_s - start_s) * rate_hz)]
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(rate_hz)
        out.writeframes(data)
    return buffer.getvalue()
