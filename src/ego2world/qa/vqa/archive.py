"""The annotations that official questions are answered from, of a data set's folder or of compiled worlds. Stage: qa,
vqa."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ego2world.annotations.cells import one_line
from ego2world.annotations.hd_epic import read_hd_epic
from ego2world.annotations.records import Dataset
from ego2world.world.episode import load_episode, load_manifest


@dataclass(frozen=True)
class Row:
    """One annotated stretch: what it is of, when, and where it was read."""

    video: str
    kind: str  # step, preparation, weighing, adding, activity, track, narration
    about: str  # id of the step, ingredient or object
    name: str
    start_s: float
    end_s: float
    source: str
    recipe: str = ""
    amount: float | None = None
    unit: str | None = None
    nutrition: Mapping[str, float | None] = field(default_factory=dict)
    fixtures: tuple[str | None, str | None] = (None, None)

    def plain(self) -> dict[str, Any]:
        """Return the JSON form, as evidence."""
        return {
            "video": self.video,
            "kind": self.kind,
            "about": self.about,
            "name": self.name,
            "span_s": [self.start_s, self.end_s],
            "source": self.source,
        }


@dataclass(frozen=True)
class Archive:
    """Rows by video; the recipes with what went into them where the whole of it is known (a data set, not worlds)."""

    rows: Mapping[str, tuple[Row, ...]]
    recipe_names: Mapping[str, str]
    ingredients: Mapping[str, tuple[Row, ...]] = field(default_factory=dict)
    cooked: Mapping[str, frozenset[str]] = field(default_factory=dict)  # video -> recipes

    def of(self, videos: Iterable[str], kind: str) -> list[Row]:
        """Return the rows of a kind in some videos, in order of time within each."""
        return [row for video in videos for row in self.rows.get(video, ()) if row.kind == kind]

    def recipes(self, name: str) -> list[str]:
        """Return the recipes of a name, by comparison of words."""
        wanted = plain(name)
        return [identifier for identifier, title in self.recipe_names.items() if plain(title) == wanted]


def plain(text: str) -> str:
    """Return text for comparison: small letters, no punctuation."""
    return " ".join(re.sub(r"[^a-z0-9]+", " ", text.lower()).split())


def read_archive(path: Path) -> Archive:
    """Read the annotations of an HD-EPIC folder, or of a collection compiled from it.

    Raises:
        UsageError: neither.
    """
    return _of_worlds(path) if (path / "manifest.json").is_file() else _of_dataset(read_hd_epic(path, whole=True))


def _of_dataset(dataset: Dataset) -> Archive:
    rows: dict[str, list[Row]] = {}
    whole: dict[str, tuple[Row, ...]] = {}
    cooked: dict[str, set[str]] = {}

    def add(row: Row) -> None:
        rows.setdefault(row.video, []).append(row)

    for identifier, recipe in dataset.recipes.items():
        used: list[Row] = []
        for number, capture in enumerate(recipe.captures):
            place = f"high-level/complete_recipes.json {identifier}/captures/{number}"
            for video in capture.videos:
                cooked.setdefault(video, set()).add(identifier)
            for kind, times in (("step", capture.times), ("preparation", capture.preparations)):
                for step, segments in times.items():
                    for one in segments:
                        add(
                            Row(
                                one.video_id,
                                kind,
                                step,
                                recipe.steps.get(step, ""),
                                one.start_s,
                                one.end_s,
                                f"{place}/{step}",
                                identifier,
                            )
                        )
            for item in capture.ingredients:
                facts: dict[str, Any] = {"amount": item.amount, "unit": item.unit, "nutrition": item.nutrition}
                used.append(
                    Row("", "ingredient", item.id, item.name, 0.0, 0.0, f"{place}/{item.id}", identifier, **facts)
                )
                for kind, segments in (("weighing", item.weighed), ("adding", item.added)):
                    for one in segments:
                        add(
                            Row(
                                one.video_id,
                                kind,
                                item.id,
                                item.name,
                                one.start_s,
                                one.end_s,
                                f"{place}/{item.id}",
                                identifier,
                                **facts,
                            )
                        )
        whole[identifier] = tuple(used)
    for video, activities in dataset.activities.items():
        for a in activities:
            add(
                Row(
                    video,
                    "activity",
                    a.label,
                    a.label,
                    a.start_s,
                    float("inf") if a.end_s is None else a.end_s,
                    f"{a.file} row {a.row}",
                )
            )
    for video, objects in dataset.associations.items():
        for o in objects:
            for t in o.tracks:
                source = f"scene-and-object-movements/assoc_info.json {video}/{o.id}/{t.id}"
                add(
                    Row(
                        video,
                        "track",
                        o.id,
                        o.name,
                        t.start_s,
                        t.end_s,
                        source,
                        fixtures=(t.start_fixture, t.end_fixture),
                    )
                )
    for video, narrations in dataset.narrations.items():
        for n in narrations:
            add(Row(video, "narration", n.id, one_line(n.text), n.start_s, n.end_s, f"{n.file} row {n.row}"))
    names = {identifier: recipe.name for identifier, recipe in dataset.recipes.items()}
    return Archive(_ordered(rows), names, whole, {video: frozenset(found) for video, found in cooked.items()})


def _of_worlds(worlds: Path) -> Archive:
    rows: dict[str, list[Row]] = {}
    names: dict[str, str] = {}
    for video in load_manifest(worlds)["episodes"]:
        tables = load_episode(worlds, video).annotations
        found = rows.setdefault(video, [])
        for kind, table in _TABLES.items():
            for row in tables[table]:
                found.append(_row(video, kind, row))
                if "recipe_name" in row:
                    names[row["recipe"]] = row["recipe_name"]
    return Archive(_ordered(rows), names)


_TABLES = {
    "step": "steps",
    "preparation": "preparations",
    "weighing": "weighings",
    "adding": "addings",
    "activity": "activities",
    "track": "tracks",
    "narration": "narrations",
}


def _row(video: str, kind: str, row: Mapping[str, Any]) -> Row:
    """Return a row of a compiled episode's tables."""
    start_s, end_s = row["span_s"]
    about = next(row[name] for name in ("step", "ingredient", "object", "label", "id") if name in row)
    name = one_line(next(row[one] for one in ("text", "name", "label") if one in row))
    source = f"{row['file']} {row.get('key', row.get('row'))}"
    return Row(
        video,
        kind,
        about,
        name,
        start_s,
        float("inf") if end_s is None else end_s,
        source,
        row.get("recipe", ""),
        row.get("amount"),
        row.get("unit"),
        fixtures=(row.get("from"), row.get("to")),
    )


def _ordered(rows: Mapping[str, Sequence[Row]]) -> dict[str, tuple[Row, ...]]:
    return {
        video: tuple(sorted(found, key=lambda row: (row.kind, row.start_s, row.end_s, row.about)))
        for video, found in rows.items()
    }
