"""Parts of a video as models take them: one frame, some frames, the sound. Stage: core, video."""

from __future__ import annotations

import io
import math
import wave
from pathlib import Path

import av

from ego2world.core.video.frames import frames_at, jpeg
from ego2world.errors import VideoError


def frame_at(path: Path, time_s: float, longest_px: int = 768) -> bytes:
    """Return the frame shown at a time as PNG.

    Args:
        path: a video file.
        time_s: seconds from the first frame; presentation times decide, not frame numbers.
        longest_px: the picture is scaled down so that its longer side is at most this.

    Raises:
        VideoError: the file cannot be read, or ends before the time.
    """
    buffer = io.BytesIO()
    frames_at(path, [time_s], longest_px)[0].picture.save(buffer, "PNG")
    return buffer.getvalue()


def clip_frames(
    path: Path, start_s: float, end_s: float, fps: float = 2.0, most: int = 64, pixels: int = 200_704
) -> tuple[list[bytes], list[float]]:
    """Return frames of a part of a video as JPEG, with their times from its start.

    Args:
        path: a video file.
        start_s, end_s: the part, half-open, in seconds from the first frame.
        fps: frames a second; fewer where that would be more than ``most``, spread evenly.
        most: frames at most.
        pixels: of one frame, at most; larger ones are scaled down.

    Raises:
        VideoError: the file cannot be read, or ends before the part begins.
    """
    count = max(1, min(most, math.ceil((end_s - start_s) * fps)))
    wanted = [start_s + (i + 0.5) * (end_s - start_s) / count for i in range(count)]
    shots = frames_at(path, wanted, pixels=pixels)
    return [jpeg(shot.picture) for shot in shots], [round(max(0.0, shot.time_s - start_s), 3) for shot in shots]


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
