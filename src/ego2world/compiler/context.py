"""What the annotations say of a video beside its narrations: sounds, activities, recipe steps, ingredients, moves of
objects.

Stage: kept beside the world, each row with an id and the place it was read from, for those who ask for evidence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ego2world.annotations.records import Capture, Dataset, Segment

RECIPES = "high-level/complete_recipes.json"
TRACKS = "scene-and-object-movements/assoc_info.json"


def context_rows(video: str, dataset: Dataset) -> dict[str, list[dict[str, Any]]]:
    """Return the tables that episode.json keeps of one video, each in order of time.

    steps, preparations: a segment of a recipe step that is done, or prepared. weighings, addings: of an ingredient,
    whose ``amount`` (in ``unit``) is None where the source does not say. activities: ``span_s[1]`` is None where the
    end is open. mistakes: labelled errors of a step.
    """
    tables: dict[str, list[dict[str, Any]]] = {"steps": [], "preparations": [], "weighings": [], "addings": []}
    for identifier, recipe in sorted(dataset.recipes.items()):
        positions = {step: number for number, step in enumerate(recipe.steps, 1)}
        for number, capture in enumerate(recipe.captures):
            place = f"{identifier}/captures/{number}"
            for name, times, table in (
                ("step_times", capture.times, "steps"),
                ("prep_times", capture.preparations, "preparations"),
            ):
                for step, segment in _here(video, times):
                    tables[table].append(
                        {
                            "recipe": identifier,
                            "recipe_name": recipe.name,
                            "step": step,
                            "position": positions.get(step, 0),
                            "text": recipe.steps.get(step, ""),
                            "span_s": [segment.start_s, segment.end_s],
                            "file": RECIPES,
                            "key": f"{place}/{name}/{step}",
                        }
                    )
            for table, rows in _ingredients(video, identifier, place, capture):
                tables[table] += rows
    tables["activities"] = [
        {
            "label": a.label,
            "span_s": [a.start_s, a.end_s],
            "recipes": list(a.recipe_ids),
            "file": a.file,
            "key": f"row {a.row}",
        }
        for a in dataset.activities.get(video, ())
    ]
    tables["tracks"] = [
        {
            "track": t.id,
            "object": a.id,
            "name": a.name,
            "span_s": [t.start_s, t.end_s],
            "from": t.start_fixture,
            "to": t.end_fixture,
            "file": TRACKS,
            "key": f"{video}/{a.id}/{t.id}",
        }
        for a in dataset.associations.get(video, ())
        if not a.placeholder
        for t in a.tracks
    ]
    spans_s = {n.id: [n.start_s, n.end_s] for n in dataset.narrations[video]}
    tables["mistakes"] = [
        {
            "narration": m.narration_id,
            "kind": m.kind,
            "text": m.text,
            "span_s": spans_s[m.narration_id],
            "key": f"{m.narration_id}/{m.kind}",
        }
        for m in dataset.mistakes.get(video, ())
    ]
    tables["sounds"] = [
        {"label": s.label, "span_s": [s.start_s, s.end_s], "file": s.file, "key": f"row {s.row}"}
        for s in dataset.sounds.get(video, ())
    ]
    for table, rows in tables.items():
        rows.sort(key=lambda row: (row["span_s"][0], row["span_s"][1] or 0.0, row["key"]))
        for number, row in enumerate(rows, 1):
            row["id"] = f"{table.removesuffix('s') if table != 'activities' else 'activity'}_{number:04d}"
    return tables


def _here(video: str, times: Mapping[str, tuple[Segment, ...]]) -> Iterator[tuple[str, Segment]]:
    return ((step, one) for step, segments in times.items() for one in segments if one.video_id == video)


def _ingredients(video: str, recipe: str, place: str, capture: Capture) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for one in capture.ingredients:
        for table, segments in (("weighings", one.weighed), ("addings", one.added)):
            rows = [
                {
                    "recipe": recipe,
                    "ingredient": one.id,
                    "name": one.name,
                    "amount": one.amount,
                    "unit": one.unit,
                    "span_s": [s.start_s, s.end_s],
                    "file": RECIPES,
                    "key": f"{place}/ingredients/{one.id}",
                }
                for s in segments
                if s.video_id == video
            ]
            yield table, rows
