"""Narration tables of several data sets as (video, narration, seconds), for the selection of sources. Stage: qa,
input."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ego2world.annotations.cells import parse_seconds
from ego2world.annotations.hd_epic import read_hd_epic
from ego2world.errors import AnnotationError, Problem, UsageError
from ego2world.qa.importers.cells import load

Row = tuple[str, str, float]
_EASG = re.compile(r"\(([\d.]+)s\)\s*([^()]*)")
_COLUMNS = {
    "video": ("video_id", "video_uid", "video", "vuid"),
    "text": ("narration", "narration_text", "text", "caption"),
    "time": ("narration_timestamp", "start_timestamp", "timestamp_sec", "timestamp", "time_s", "start_time"),
}


def read_narrations(path: Path) -> list[Row]:
    """Read narrations of any of: an HD-EPIC folder, GoalStep's JSON, EASG's clip narrations, Ego4D's narration.json, a
    CSV table.

    A table needs columns for video, text and time; their usual names are known (video_id, narration, start_timestamp,
    ...).

    Raises:
        UsageError: none of these.
        AnnotationError: rows cannot be read; all of them are listed.
    """
    if not path.exists():
        raise UsageError(f"{path}: no such file or folder")
    if path.is_dir():
        found = next(iter(sorted(path.glob("goalstep*.json"))), path / "clip_narrations.json")
        if found.is_file():
            return read_narrations(found)
        return [(n.video_id, n.text, n.start_s) for rows in read_hd_epic(path).narrations.values() for n in rows]
    if path.suffix == ".csv":
        return _table(path)
    if path.suffix == ".json":
        data = load(path)
        if isinstance(data, dict) and isinstance(data.get("videos"), list):
            return [row for video in data["videos"] for row in _goalstep(video)]
        if isinstance(data, dict) and all(isinstance(value, str) for value in data.values()):
            return [
                (clip, text.strip(), float(time)) for clip, told in data.items() for time, text in _EASG.findall(told)
            ]
        if isinstance(data, dict):
            return list(_ego4d(data.get("videos", data)))
    raise UsageError(
        f"{path}: no narrations found; give a folder of HD-EPIC, GoalStep's or EASG's JSON, or a CSV table"
    )


def _goalstep(video: Any) -> Iterator[Row]:
    identifier = str(video["video_uid"])
    yield identifier, str(video.get("goal_description", "")), float(video.get("start_time", 0.0))
    stack = list(video.get("segments", ()))
    while stack:
        segment = stack.pop()
        yield identifier, str(segment.get("step_description", "")), float(segment.get("end_time", 0.0))
        for text in segment.get("summary", ()):
            yield identifier, str(text), float(segment.get("end_time", 0.0))
        stack += segment.get("segments", ())


def _ego4d(videos: Any) -> Iterator[Row]:
    for identifier, passes in videos.items():
        for name in ("narration_pass_1", "narration_pass_2"):
            for row in (passes.get(name) or {}).get("narrations", ()) if isinstance(passes, dict) else ():
                yield str(identifier), str(row.get("narration_text", "")), float(row.get("timestamp_sec", 0.0))


def _table(path: Path) -> list[Row]:
    problems: list[Problem] = []
    rows: list[Row] = []
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        names = {
            kind: next((c for c in columns if c in (reader.fieldnames or ())), None)
            for kind, columns in _COLUMNS.items()
        }
        missing = [kind for kind, name in names.items() if name is None]
        if missing:
            raise AnnotationError(
                [Problem(str(path), None, kind, "no such column", " or ".join(_COLUMNS[kind])) for kind in missing]
            )
        for number, row in enumerate(reader, 1):
            try:
                time_s = parse_seconds(row[names["time"] or ""])
            except ValueError as error:
                problems.append(Problem(path.name, number, names["time"], str(error), "seconds or hh:mm:ss"))
                continue
            if row[names["video"] or ""] and row[names["text"] or ""]:
                rows.append((row[names["video"] or ""], row[names["text"] or ""], time_s or 0.0))
    if problems:
        raise AnnotationError(problems)
    return rows
