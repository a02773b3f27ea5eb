"""CaptainCook4D: the steps that were done in each recording, the task graphs of the recipes, and the errors made.

A step is written for recipes ("Add-1/4 cup milk to the bowl"): the verb before the hyphen is the sentence's where it
does not say it itself. Steps that a recording left out (times below 0) are no narrations.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ego2world.annotations.cells import one_line, read_json
from ego2world.annotations.records import Activity, Capture, Dataset, Mistake, Narration, Recipe, Segment
from ego2world.annotations.rows import demand_videos, in_time
from ego2world.core.canonical import sha256_file
from ego2world.errors import AnnotationError, Problem

_STEPS = "annotation_json/complete_step_annotations.json"
_ERRORS = "annotation_csv/error_annotations.csv"
_GRAPHS = "task_graphs"


def read_captaincook(source: Path, videos: Sequence[str] | None = None) -> Dataset:
    """Read a folder in the layout of CaptainCook4D's annotations.

    Args:
        source: the repository's root.
        videos: keep only these recordings.

    Returns:
        Every recording with its steps as narrations, one activity (the recipe), and the errors that are labelled;
        the recipes with the orders that their task graphs demand.

    Raises:
        AnnotationError: no steps, or a recording is not there.
    """
    path = source / _STEPS
    if not path.is_file():
        raise AnnotationError([Problem(str(source), None, None, "no steps", _STEPS)])
    errors: list[Problem] = []
    sources = {_STEPS: sha256_file(path)}
    narrations: dict[str, tuple[Narration, ...]] = {}
    activities: dict[str, tuple[Activity, ...]] = {}
    captures: dict[str, dict[str, Capture]] = {}
    names: dict[str, str] = {}
    for video, item in sorted(read_json(path).items()):
        rows, times = _recording(video, item, errors)
        if not rows:
            continue
        recipe = f"activity_{item.get('activity_id')}"
        names[recipe] = one_line(item.get("activity_name"))
        narrations[video] = rows
        end_s = max(row.end_s for row in rows)
        activities[video] = (Activity(video, names[recipe], rows[0].start_s, end_s, (recipe,), file=_STEPS),)
        captures.setdefault(recipe, {})[video] = Capture((video,), (), times, {})
    if not narrations:
        raise AnnotationError([Problem(str(source), None, None, "no steps", _STEPS), *errors])
    demand_videos(source, "recording", videos, narrations)
    keep = [video for video in narrations if videos is None or video in videos]
    labels = source / _ERRORS
    mistakes = {}
    if labels.is_file():
        sources[_ERRORS] = sha256_file(labels)
        mistakes = _mistakes(labels, narrations)
    recipes = {}
    for recipe, name in sorted(names.items()):
        graph = source / _GRAPHS / (re.sub(r"[^a-z0-9]", "", name.lower()) + ".json")
        steps, order = ({}, ()) if not graph.is_file() else _graph(read_json(graph))
        if graph.is_file():
            sources[f"{_GRAPHS}/{graph.name}"] = sha256_file(graph)
        recipes[recipe] = Recipe(recipe, name, steps, tuple(captures[recipe].values()), order=order)
    return Dataset(
        "captaincook4d",
        {video: narrations[video] for video in keep},
        activities={video: activities[video] for video in keep},
        recipes=recipes,
        mistakes={video: mistakes[video] for video in keep if video in mistakes},
        left_out=tuple(errors),
        sources=dict(sorted(sources.items())),
    )


def sentence_of(description: str) -> str:
    """Return a step as a sentence: "Pour-Pour 1 egg" is "Pour 1 egg", "Add-1/4 cup milk" is "Add 1/4 cup milk"."""
    head, hyphen, rest = one_line(description).partition("-")
    rest = rest.strip()
    if not hyphen or not rest or len(head.split()) > 4:
        return one_line(description)
    words = {word.lower() for word in re.findall(r"[a-z]+", rest.lower())}
    said = any(word.lower() in words for word in re.findall(r"[A-Za-z]+", head) if word.lower() != "and")
    return rest if said else f"{head.strip()} {rest}"


def _recording(
    video: str, item: Mapping[str, Any], errors: list[Problem]
) -> tuple[tuple[Narration, ...], dict[str, tuple[Segment, ...]]]:
    rows, times = [], dict[str, tuple[Segment, ...]]()
    for number, step in enumerate(item.get("steps") or (), 1):
        try:
            start_s, end_s = float(step["start_time"]), float(step["end_time"])
            text, identifier = sentence_of(str(step["description"])), str(step["step_id"])
        except (KeyError, TypeError, ValueError) as error:
            errors.append(Problem(_STEPS, number, video, f"{type(error).__name__} {error}", "a step with its times"))
            continue
        if start_s < 0:
            continue  # left out by the cook
        if end_s < start_s or not text:
            errors.append(Problem(_STEPS, number, video, f"{text!r} {start_s} to {end_s}", "a start before its end"))
            continue
        rows.append(Narration(f"{video}-{number}", video, text, start_s, end_s, file=_STEPS, row=number))
        times[identifier] = (*times.get(identifier, ()), Segment(video, start_s, end_s))
    return tuple(sorted(rows, key=in_time)), times


def _mistakes(path: Path, narrations: Mapping[str, Sequence[Narration]]) -> dict[str, tuple[Mistake, ...]]:
    """Read the error labels: after a step's times, one column per kind of error and one with its description."""
    at = {(video, round(n.start_s, 3)): n.id for video, rows in narrations.items() for n in rows}
    found: dict[str, list[Mistake]] = {}
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file)
        header = next(rows, [])
        for row in rows:
            try:
                narration = at.get((row[0], round(float(row[2]), 3)))
            except (IndexError, ValueError):
                continue
            for column in range(6, len(row) - 1, 2):
                if narration is not None and row[column] not in {"", "0"}:
                    mistake = Mistake(row[0], narration, one_line(header[column]), one_line(row[column + 1]))
                    found.setdefault(row[0], []).append(mistake)
    return {video: tuple(rows_) for video, rows_ in found.items()}


def _graph(data: Mapping[str, Any]) -> tuple[dict[str, str], tuple[tuple[str, str], ...]]:
    """Return a task graph's steps and its edges (before, after), without its start and end."""
    steps = {str(key): one_line(text) for key, text in data.get("steps", {}).items()}
    inner = {key: sentence_of(text) for key, text in steps.items() if text not in {"START", "END"}}
    edges = [(str(edge[0]), str(edge[1])) for edge in data.get("edges", ()) if len(edge) == 2]
    return inner, tuple((a, b) for a, b in edges if a in inner and b in inner)
