"""Ego4D, Ego-Exo4D and EASG narrations, and GoalStep's goals and steps, from their JSON files.

A narration there has one time, when it was spoken: it is a moment and not a segment, and the next one's time is not
its end. GoalStep's steps have segments: the finest are narrations where a video has no others, the coarser activities.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ego2world.annotations.cells import one_line
from ego2world.annotations.records import Activity, Dataset, Narration
from ego2world.annotations.rows import demand_videos, in_time
from ego2world.core.canonical import sha256_file
from ego2world.errors import AnnotationError, Problem

_TIMED = re.compile(r"\((\d+(?:\.\d+)?)s\)\s*(.*?)\s*(?=\(\d+(?:\.\d+)?s\)|$)", re.DOTALL)
_TAG = re.compile(r"#(?!\s?[cCoO]\b|[uU]nsure\b)\w+\s*")  # "#Summary", "#unsure" stays


@dataclass
class _Found:
    """What the files of a folder give: narrations and activities by video, and what could not be read."""

    narrations: dict[str, list[Narration]] = field(default_factory=lambda: defaultdict(list))
    steps: dict[str, list[Narration]] = field(default_factory=lambda: defaultdict(list))
    activities: dict[str, list[Activity]] = field(default_factory=lambda: defaultdict(list))
    errors: list[Problem] = field(default_factory=list)

    def say(self, file: str, video: str, time_s: Any, text: Any) -> None:
        """Add one narration of a moment."""
        number = len(self.narrations[video]) + 1
        sentence = _TAG.sub("", one_line(text))
        try:
            start_s = float(time_s)
        except (TypeError, ValueError):
            self.errors.append(Problem(file, None, f"{video}/{number}", repr(time_s)[:40], "a time in seconds"))
            return
        if not sentence or not 0 <= start_s < 1e7:
            self.errors.append(Problem(file, None, f"{video}/{number}", f"{start_s} {sentence!r}", "a time and a text"))
            return
        self.narrations[video].append(
            Narration(f"{video}-{number}", video, sentence, start_s, start_s, file=file, row=number)
        )


def read_ego4d(source: Path, videos: Sequence[str] | None = None) -> Dataset:
    """Read every JSON file of a folder that holds narrations or GoalStep segments.

    Args:
        source: a folder, or one file. Recognised: Ego4D's narration.json, Ego-Exo4D's atomic descriptions, EASG's
            clip_narrations.json, a list of {"timestamp_sec", "text"} rows, and GoalStep's goalstep_<split>.json.
        videos: keep only these videos.

    Raises:
        AnnotationError: no file is of a known shape, or a video is not there.
    """
    found = _Found()
    files = [source] if source.is_file() else sorted(source.glob("*.json"))
    used = []
    for path in files:
        try:
            data = json.loads(path.read_text("utf-8-sig"))
        except ValueError as error:
            found.errors.append(Problem(path.name, None, None, str(error), "JSON"))
            continue
        if _read(path, data, found):
            used.append(path)
    for video, steps in found.steps.items():
        if video not in found.narrations:
            found.narrations[video] = steps
    narrations = {video: rows for video, rows in found.narrations.items() if rows}
    if not narrations:
        needed = "narration.json, atomic descriptions, clip_narrations.json or goalstep_<split>.json"
        raise AnnotationError([Problem(str(source), None, None, "no narrations", needed), *found.errors])
    demand_videos(source, "video", videos, narrations)
    keep = [video for video in sorted(narrations) if videos is None or video in videos]
    return Dataset(
        "ego4d",
        {video: tuple(sorted(narrations[video], key=in_time)) for video in keep},
        activities={
            video: tuple(sorted(found.activities[video], key=lambda a: (a.start_s, a.row)))
            for video in keep
            if found.activities[video]
        },
        left_out=tuple(found.errors),
        sources={path.name: sha256_file(path) for path in used},
    )


def _read(path: Path, data: Any, found: _Found) -> bool:
    """Read one file by its shape; return whether it had a known one."""
    name = path.name
    if isinstance(data, list):
        rows = [row for row in data if isinstance(row, dict) and "timestamp_sec" in row]
        for row in rows:
            found.say(name, one_line(row.get("video_uid")) or path.stem, row["timestamp_sec"], _text(row))
        return bool(rows)
    if not isinstance(data, dict):
        return False
    if isinstance(data.get("videos"), list):
        for video in data["videos"]:
            _goalstep(name, video, found)
        return True
    known = False
    for key in ("annotations", "videos"):
        data = data[key] if isinstance(data.get(key), dict) else data
    for video, item in _items(data):
        if isinstance(item, str) and _TIMED.search(item):  # EASG
            known = True
            for time_s, text in _TIMED.findall(item):
                found.say(name, video, time_s, text)
        elif isinstance(item, dict):  # Ego4D
            for key, part in sorted(item.items()):
                if key.startswith("narration_pass") and isinstance(part, dict):
                    known = True
                    for row in part.get("narrations") or ():
                        found.say(name, video, row.get("timestamp_sec"), _text(row))
                    break  # the second pass tells the same acts again
        elif isinstance(item, list):  # Ego-Exo4D
            for part in item:
                if isinstance(part, dict) and isinstance(part.get("descriptions"), list) and not part.get("rejected"):
                    known = True
                    for row in part["descriptions"]:
                        found.say(name, video, row.get("timestamp"), row.get("text"))
                    break  # further annotators tell the same acts again
    return known


def _items(table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    return ((str(key), value) for key, value in sorted(table.items()))


def _text(row: Mapping[str, Any]) -> Any:
    return row.get("narration_text") or row.get("text")


def _goalstep(file: str, item: Any, found: _Found) -> None:
    """Read one video of GoalStep: its goal and coarser steps as activities, its finest steps as narrations."""
    try:
        video = str(item["video_uid"])
        goal = one_line(item.get("goal_description"))
        if goal:
            found.activities[video].append(
                Activity(video, goal, float(item["start_time"]), float(item["end_time"]), row=0, file=file)
            )
        _segments(file, video, item.get("segments") or (), found)
    except (KeyError, TypeError, ValueError) as error:
        found.errors.append(Problem(file, None, str(item)[:40], f"{type(error).__name__} {error}", "a GoalStep video"))


def _segments(file: str, video: str, segments: Sequence[Mapping[str, Any]], found: _Found) -> None:
    for segment in segments:
        start_s, end_s = float(segment["start_time"]), float(segment["end_time"])
        text = one_line(segment.get("step_description"))
        finer = segment.get("segments") or ()
        number = len(found.steps[video]) + 1
        if not text or end_s < start_s:
            found.errors.append(Problem(file, None, f"{video}/{number}", f"{text!r} {start_s} to {end_s}", "a step"))
            continue
        if finer:
            found.activities[video].append(Activity(video, text, start_s, end_s, row=number, file=file))
            _segments(file, video, finer, found)
        else:
            found.steps[video].append(
                Narration(f"{video}-{number}", video, text, start_s, end_s, file=file, row=number)
            )
