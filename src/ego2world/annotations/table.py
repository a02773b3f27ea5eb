"""Any data set as a plain table: one narration a row, CSV or JSON lines. See docs/DATA.md for the columns."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ego2world.annotations.cells import one_line, parse_seconds, read_csv
from ego2world.annotations.records import Activity, Dataset, Narration
from ego2world.annotations.rows import demand_videos, in_time
from ego2world.core.canonical import sha256_file
from ego2world.errors import AnnotationError, Problem

COLUMNS = ("video", "text", "start", "end", "id", "hand", "object", "activity")


def read_table_source(source: Path, videos: Sequence[str] | None = None) -> Dataset:
    """Read a table of narrations, or every .csv and .jsonl of a folder.

    Columns: ``video``, ``text`` and ``start`` are needed; ``end`` (seconds or hh:mm:ss; without it a narration is a
    moment), ``id``, ``hand`` ("left", "right", "both"), ``object`` (what the act is done to, as the annotators say)
    and ``activity`` (consecutive rows with the same one are one activity) may be empty or missing.

    Args:
        source: a file or a folder.
        videos: keep only these videos.

    Raises:
        AnnotationError: no row can be read, or a video is not there.
    """
    errors: list[Problem] = []
    found: dict[str, list[tuple[Narration, str]]] = defaultdict(list)
    files = [source] if source.is_file() else sorted([*source.glob("*.csv"), *source.glob("*.jsonl")])
    for path in files:
        for number, row in _rows(path, errors):
            narration = _narration(path.name, number, row, errors)
            if narration is not None:
                found[narration.video_id].append((narration, one_line(row.get("activity"))))
    if not found:
        needed = f"a .csv or .jsonl with the columns {', '.join(COLUMNS[:3])}"
        raise AnnotationError([Problem(str(source), None, None, "no narrations", needed), *errors])
    demand_videos(source, "video", videos, found)
    keep = [video for video in sorted(found) if videos is None or video in videos]
    for video in keep:
        found[video].sort(key=lambda pair: in_time(pair[0]))
    return Dataset(
        "table",
        {video: tuple(narration for narration, _ in found[video]) for video in keep},
        activities={video: tuple(_activities(video, found[video])) for video in keep},
        left_out=tuple(errors),
        sources={path.name: sha256_file(path) for path in files},
    )


def _rows(path: Path, errors: list[Problem]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    if path.suffix != ".jsonl":
        yield from read_csv(path, COLUMNS[:3])
        return
    for number, line in enumerate(path.read_text("utf-8-sig").splitlines(), 1):
        try:
            row = json.loads(line) if line.strip() else None
        except ValueError as error:
            errors.append(Problem(path.name, number, None, str(error), "one JSON object a line"))
            continue
        if isinstance(row, dict):
            yield number, {key: "" if value is None else str(value) for key, value in row.items()}
        elif row is not None:
            errors.append(Problem(path.name, number, None, type(row).__name__, "one JSON object a line"))


def _narration(name: str, number: int, row: Mapping[str, Any], errors: list[Problem]) -> Narration | None:
    video, text = one_line(row.get("video")), one_line(row.get("text"))
    for field, value in (("video", video), ("text", text)):
        if not value:
            errors.append(Problem(name, number, field, "nothing", "text"))
            return None
    try:
        start_s, end_s = parse_seconds(row.get("start")), parse_seconds(row.get("end"))
    except ValueError as error:
        errors.append(Problem(name, number, "start/end", str(error), "seconds or hh:mm:ss"))
        return None
    if start_s is None or (end_s is not None and end_s < start_s):
        errors.append(
            Problem(name, number, "start/end", f"{row.get('start')!r} to {row.get('end')!r}", "a start before its end")
        )
        return None
    hand, thing = one_line(row.get("hand")).lower(), one_line(row.get("object"))
    return Narration(
        one_line(row.get("id")) or f"{video}-{number}",
        video,
        text,
        start_s,
        start_s if end_s is None else end_s,
        nouns=(thing,) if thing else (),
        hands=(f"{hand} hand",) if hand in {"left", "right"} else ("both hands",) if hand == "both" else (),
        file=name,
        row=number,
    )


def _activities(video: str, rows: Sequence[tuple[Narration, str]]) -> Iterator[Activity]:
    begun: tuple[str, Narration] | None = None
    last: Narration | None = None
    for narration, label in [*rows, (None, "")]:
        if begun is not None and last is not None and label != begun[0]:
            yield Activity(video, begun[0], begun[1].start_s, last.end_s, row=begun[1].row, file=begun[1].file)
            begun = None
        if label and narration is not None and begun is None:
            begun = (label, narration)
        last = narration
