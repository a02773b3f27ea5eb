"""Video files through PyAV (extra "video"): what a file holds, its frames by presentation time, its sound, and clips
from pictures.

Times are seconds from the first frame, whatever the container's clock begins with. The frame at a time is the last one
not later.
"""

from ego2world.core.video.facts import Facts, FileStatus, frame_number, probe
from ego2world.core.video.frames import Shot, frames_at, jpeg
from ego2world.core.video.parts import clip_audio, clip_frames, frame_at
from ego2world.core.video.write import write_clip, write_copy

__all__ = [
    "Facts",
    "FileStatus",
    "Shot",
    "clip_audio",
    "clip_frames",
    "frame_at",
    "frame_number",
    "frames_at",
    "jpeg",
    "probe",
    "write_clip",
    "write_copy",
]
