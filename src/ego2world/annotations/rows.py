"""Single rows to records, shared by the readers: classes, activities, recipes, sounds, gaze priming, track names.
Stage: source."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ego2world.annotations.cells import class_name, one_line, parse_amount, parse_list, parse_seconds, read_csv
from ego2world.annotations.records import (
    NUTRIENTS,
    Activity,
    Capture,
    Ingredient,
    Narration,
    Priming,
    Recipe,
    Segment,
    Sound,
)
from ego2world.errors import AnnotationError, Problem

SOUND_RATE_HZ = 48_000


def nearest(video: str, known: Iterable[str]) -> str:
    near = get_close_matches(video, list(known), 1, 0.0)
    return "one of the source's videos" + (f" (nearest: {near[0]})" if near else "")


def demand_videos(source: Path, field: str, wanted: Iterable[str] | None, known: Iterable[str]) -> None:
    """Refuse videos that a source does not have.

    Raises:
        AnnotationError: every one of them, each with its nearest.
    """
    known = list(known)
    unknown = [video for video in wanted or () if video not in known]
    if unknown:
        raise AnnotationError(
            [Problem(str(source), None, field, f"unknown video {video}", nearest(video, known)) for video in unknown]
        )


def in_time(narration: Narration) -> tuple[float, float, tuple[int, ...], str]:
    """The declared order: start, then end, then the numbers in the id, then its text."""
    return narration.start_s, narration.end_s, tuple(map(int, re.findall(r"\d+", narration.id))), narration.id


def pairs_of(values: Iterable[Any]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (one_line(pair[0]), one_line(pair[1])) for pair in values if isinstance(pair, tuple) and len(pair) == 2
    )


def read_classes(
    path: Path,
    name: str,
    errors: list[Problem],
    ambiguous: list[tuple[str, tuple[str, ...]]],
    columns: tuple[str, ...] = ("id", "key", "instances"),
) -> dict[str, str]:
    """Read a class file (by default the columns id, key, instances in either case) as word -> class key.

    A word in several classes gets the class whose key it is, else the last one listed; it is reported.
    """
    classes: dict[str, list[str]] = defaultdict(list)
    for number, row in read_csv(path, columns):
        key = one_line(row[columns[1]])
        try:
            words = [one_line(word) for word in parse_list(row[columns[2]])]
        except ValueError as error:
            errors.append(Problem(name, number, columns[2], str(error), "a list of words"))
            continue
        for word in dict.fromkeys([key, *words]):
            if key not in classes[word]:
                classes[word].append(key)
    ambiguous += [(word, tuple(keys)) for word, keys in classes.items() if len(keys) > 1]
    return {word: word if word in keys else keys[-1] for word, keys in classes.items()}


def read_activity(
    name: str,
    number: int,
    row: Mapping[str, str],
    durations_s: Mapping[str, float],
    errors: list[Problem],
    warnings: list[Problem],
) -> Activity | None:
    """Read one activity row; an end of "end" is the video's duration, or open (None, with a warning)."""
    video = one_line(row.get("video_id"))
    recipe_ids = tuple(sorted(part.strip() for part in one_line(row.get("recipe_id")).split(",") if part.strip()))
    try:
        start_s = parse_seconds(row.get("start_time"))
        raw_end = one_line(row.get("end_time"))
        if raw_end.lower() == "end":
            end_s = durations_s.get(video)
            if end_s is None:
                warnings.append(
                    Problem(name, number, "end_time", "'end' of a video of unknown duration", "seconds; kept open")
                )
        else:
            end_s = parse_seconds(raw_end)
    except ValueError as error:
        errors.append(Problem(name, number, "start_time/end_time", str(error), "seconds or 'end'"))
        return None
    if start_s is None or (end_s is not None and end_s < start_s):
        errors.append(
            Problem(
                name,
                number,
                "start_time",
                f"{row.get('start_time')!r} to {row.get('end_time')!r}",
                "a start before its end",
            )
        )
        return None
    return Activity(video, one_line(row.get("high_level_activity_label")), start_s, end_s, recipe_ids, number, name)


def read_recipe(identifier: str, item: Any) -> Recipe:
    """Read a recipe with its captures; "N/A" and 0 of an amount, and "N/A" of a nutrient, become None."""
    captures = []
    for capture in item["captures"]:
        ingredients = []
        for key, row in capture.get("ingredients", {}).items():
            amount, unit = parse_amount(row.get("amount"), row.get("amount_unit"))
            nutrition = {name: _number(row.get(name)) for name in NUTRIENTS}
            weighed, added = _segments(row.get("weigh") or ()), _segments(row.get("add") or ())
            ingredients.append(Ingredient(key, one_line(row["name"]), amount, unit, nutrition, weighed, added))
        times = {step: _segments(rows) for step, rows in capture.get("step_times", {}).items()}
        preparations = {step: _segments(rows) for step, rows in capture.get("prep_times", {}).items()}
        captures.append(Capture(tuple(map(str, capture.get("videos", ()))), tuple(ingredients), times, preparations))
    steps = {key: one_line(text) for key, text in item["steps"].items()}
    return Recipe(identifier, one_line(item["name"]), steps, tuple(captures), one_line(item.get("participant", "")))


def _segments(rows: Iterable[Mapping[str, Any]]) -> tuple[Segment, ...]:
    segments = [Segment(str(row["video"]), float(row["start"]), float(row["end"])) for row in rows]
    return tuple(sorted(segments, key=lambda one: (one.video_id, one.start_s, one.end_s)))


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def read_sound(name: str, number: int, row: Mapping[str, str], errors: list[Problem]) -> Sound | None:
    """Read one sound row and check that its sample indices, where given, agree with its times."""
    try:
        start_s, end_s = parse_seconds(row["start_timestamp"]), parse_seconds(row["stop_timestamp"])
    except ValueError as error:
        errors.append(Problem(name, number, "start_timestamp", str(error), "hh:mm:ss.sss"))
        return None
    if start_s is None or end_s is None or end_s < start_s:
        errors.append(
            Problem(name, number, "stop_timestamp", repr(row["stop_timestamp"]), "a stop at or after the start")
        )
        return None
    for field, time_s in (("start_sample", start_s), ("stop_sample", end_s)):
        cell = row.get(field, "").strip()
        if not cell:
            continue
        expected = round(time_s * SOUND_RATE_HZ)
        if not cell.isdigit() or abs(int(cell) - expected) > SOUND_RATE_HZ // 100:
            found = f"{field} {cell} is not an integer sample index for {time_s:.3f} s ({expected} expected)"
            errors.append(Problem(name, number, field, found, f"about {expected}"))
            return None
    return Sound(one_line(row["video_id"]), one_line(row["class"]), start_s, end_s, name, number)


def read_priming(data: Mapping[str, Any]) -> Iterable[Priming]:
    """Yield gaze priming; the codes -1 (not primed) and -2 (excluded) never become frames."""
    for video, objects in sorted(data.items()):
        for identifier, moments in sorted(objects.items()):
            for moment in ("start", "end"):
                stats = (moments.get(moment) or {}).get("prime_stats")
                if stats:
                    code = int(stats["frame_primed"])
                    yield Priming(video, identifier, moment, code if code >= 0 else None, code == -2)


def track_base_name(name: str) -> tuple[str, str]:
    """Return (class name, number) of a track's name: "plate2" -> ("plate", "2"); digits inside a word stay."""
    match = re.fullmatch(r"(.*[a-z])\s?(\d+)", class_name(name.lower()))
    return (match.group(1).strip(), match.group(2)) if match else (class_name(name.lower()), "")
