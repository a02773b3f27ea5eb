"""Video files beside annotations: which file belongs to which id, and whether it is the one that the manifest names."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from ego2world.errors import VideoError

SUFFIXES = frozenset({".mp4", ".mov", ".mkv", ".avi", ".webm"})
DURATION_TOLERANCE_S = 0.5


@dataclass(frozen=True)
class Verified:
    """A checked file. ``verified`` is False when a mismatch was overridden; ``note`` then says which."""

    path: Path
    verified: bool
    note: str = ""


def find_videos(folder: Path) -> dict[str, Path]:
    """Return video id -> file, in the folder and those below it, whatever the case of the extension.

    Raises:
        VideoError: two files carry one id.
    """
    found: dict[str, Path] = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in SUFFIXES and path.is_file():
            if path.stem in found:
                raise VideoError(
                    path.stem, f"two files for {path.stem}: {found[path.stem].name} and {path.name}; keep one"
                )
            found[path.stem] = path
    return found


def look_up(index: Mapping[str, Path], video: str) -> Path:
    """Return the file of exactly this id; ids are never matched by prefix, suffix or number.

    Raises:
        VideoError: no such id; the nearest one is named as a hint only.
    """
    if video in index:
        return index[video]
    near = get_close_matches(video, list(index), 1, 0.0)
    raise VideoError(video, f"unknown video {video}" + (f" (nearest: {near[0]})" if near else ""))


def verify(
    path: Path, md5: str, duration_s: float, measure: Callable[[Path], float], override: bool = False
) -> Verified:
    """Compare a file with what its manifest says.

    Args:
        path: the file.
        md5: the digest that the manifest gives.
        duration_s: the duration that the manifest gives, in seconds.
        measure: returns the decoded duration of a file in seconds.
        override: accept a mismatch; the result is then not verified and carries a note for the provenance.

    Raises:
        VideoError: digest or duration differ and there is no override; both pairs are named.
    """
    digest = hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()
    measured_s = measure(path)
    if digest == md5 and abs(measured_s - duration_s) <= DURATION_TOLERANCE_S:
        return Verified(path, True)
    note = f"manifest md5 {md5}, file {digest}; manifest duration {duration_s} s, file {measured_s} s"
    if override:
        return Verified(path, False, note)
    raise VideoError(path.stem, note)


def clamp_segment(
    start_s: float, end_s: float, duration_s: float, tolerance_s: float = 2.0
) -> tuple[float, float, str]:
    """Return a movement's segment cut to the video, and a warning when it was cut.

    Raises:
        VideoError: it ends more than the tolerance after the video.
    """
    over_s = end_s - duration_s
    if over_s <= 0:
        return start_s, end_s, ""
    if over_s > tolerance_s:
        raise VideoError("segment", f"ends {over_s:.1f} s after the video ({end_s} s of {duration_s} s)")
    return start_s, duration_s, f"ends {over_s:.1f} s after the video; cut to its end"
