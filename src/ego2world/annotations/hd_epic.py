"""HD-EPIC in its official layout, whole or in part. Missing files are normal; malformed rows are gathered.

A malformed row of any file is left out and listed, since the others still give a world without it.

Files read where present (upstream README of hd-epic-annotations): narrations (pickle or CSV), verb and noun classes,
erratum, object associations and masks, recipes, activities, sounds, gaze priming.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ego2world.annotations.cells import fixture_name, one_line, parse_list, parse_seconds, read_csv, read_json
from ego2world.annotations.pickles import read_table
from ego2world.annotations.records import (
    Activity,
    Association,
    Dataset,
    Narration,
    Priming,
    Recipe,
    Sound,
    Track,
    Vocabulary,
)
from ego2world.annotations.rows import (
    demand_videos,
    in_time,
    pairs_of,
    read_activity,
    read_classes,
    read_priming,
    read_recipe,
    read_sound,
)
from ego2world.core.canonical import sha256_file
from ego2world.errors import AnnotationError, Problem

_NARRATIONS = "narrations-and-action-segments/HD_EPIC_Narrations"
_PLACEHOLDER = re.compile(r"^track\b.*", re.IGNORECASE)
FPS = 30.0  # of the frames that masks are numbered by
_REQUIRED = ("unique_narration_id", "video_id", "narration", "start_timestamp", "end_timestamp")


def read_hd_epic(source: Path, videos: Sequence[str] | None = None, whole: bool = False) -> Dataset:
    """Read a folder in HD-EPIC's layout.

    Args:
        source: the repository's root, or a part of it with the same relative paths.
        videos: keep only these videos.
        whole: keep every table whole, also of videos without narrations.

    Returns:
        The records, with everything odd but usable in ``warnings``.

    Raises:
        AnnotationError: no narrations (with the malformed rows, if there are any), unusable files, or an unknown video
            id.
    """
    reader = _Reader(source)
    narrations = reader.narrations()
    if not narrations:
        raise AnnotationError(
            [
                Problem(str(source), None, None, "no narrations", f"{_NARRATIONS}.pkl or .csv with rows in it"),
                *reader.errors,
            ],
            "Point to the root of hd-epic-annotations or to a folder with the same layout (docs/DATA.md).",
        )
    demand_videos(source, "video_id", videos, narrations)
    vocabulary = reader.vocabulary()
    associations = reader.associations()
    activities = reader.activities()
    recipes = reader.recipes()
    sounds = reader.sounds()
    priming = reader.priming()
    keep = set(videos or narrations)
    if whole:
        keep |= {video for table in (associations, activities, sounds) for video in table}
    return Dataset(
        "hd-epic",
        _only(narrations, keep),
        _only(associations, keep),
        _only(activities, keep),
        recipes,
        _only(sounds, keep),
        tuple(row for row in priming if row.video_id in keep),
        {},
        vocabulary,
        tuple(reader.warnings),
        left_out=tuple(reader.errors),
        sources=dict(sorted(reader.sources.items())),
    )


def _only(rows: Mapping[str, Any], keep: set[str]) -> dict[str, Any]:
    return {video: rows[video] for video in sorted(rows) if video in keep}


class _Reader:
    """Reads file after file and gathers errors, warnings and the files' hashes."""

    def __init__(self, source: Path) -> None:
        self.source = source
        self.errors: list[Problem] = []
        self.warnings: list[Problem] = []
        self.sources: dict[str, str] = {}

    def file(self, relative: str) -> Path | None:
        path = self.source / relative
        if not path.is_file():
            return None
        self.sources[relative] = sha256_file(path)
        return path

    # narrations ---------------------------------------------------------------------------------------------

    def narrations(self) -> dict[str, tuple[Narration, ...]]:
        pickled, table = self.source / f"{_NARRATIONS}.pkl", self.source / f"{_NARRATIONS}.csv"
        rows: Iterable[tuple[int, Mapping[str, Any]]]
        if pickled.is_file():
            name = f"{_NARRATIONS}.pkl"
            columns = read_table(pickled)
            missing = [column for column in _REQUIRED if column not in columns]
            if missing:
                raise AnnotationError(
                    [Problem(str(pickled), None, column, "no such column", f"a column {column}") for column in missing]
                )
            count = len(columns[_REQUIRED[0]])
            rows = ((i + 1, {key: values[i] for key, values in columns.items()}) for i in range(count))
        elif table.is_file():
            name = f"{_NARRATIONS}.csv"
            rows = read_csv(table, _REQUIRED)
        else:
            return {}
        erratum = self._erratum()
        found: dict[str, list[Narration]] = defaultdict(list)
        seen: dict[str, int] = {}
        for number, row in rows:
            narration = self._narration(name, number, row, erratum)
            if narration is None:
                continue
            if narration.id in seen:
                self.errors.append(
                    Problem(
                        name,
                        number,
                        "unique_narration_id",
                        f"{narration.id} again (row {seen[narration.id]})",
                        "unique ids",
                    )
                )
                continue
            seen[narration.id] = number
            found[narration.video_id].append(narration)
        self.file(name)
        return {video: tuple(sorted(rows_, key=in_time)) for video, rows_ in found.items()}

    def _erratum(self) -> frozenset[str]:
        path = self.file(f"{_NARRATIONS}_erratum.csv")
        return (
            frozenset() if path is None else frozenset(next(iter(row.values())) for _, row in read_csv(path, ()) if row)
        )

    def _narration(self, name: str, number: int, row: Mapping[str, Any], erratum: frozenset[str]) -> Narration | None:
        problems: list[Problem] = []

        def value(field: str, parse: Any, needed: str) -> Any:
            try:
                return parse(row.get(field))
            except (ValueError, TypeError):
                problems.append(Problem(name, number, field, repr(row.get(field))[:60], needed))
                return None

        identifier, video, text = (
            one_line(row.get("unique_narration_id")),
            one_line(row.get("video_id")),
            one_line(row.get("narration")),
        )
        start_s = value("start_timestamp", parse_seconds, "seconds")
        end_s = value("end_timestamp", parse_seconds, "seconds")
        for field, found in (("unique_narration_id", identifier), ("video_id", video), ("narration", text)):
            if not found:
                problems.append(Problem(name, number, field, "nothing", "text"))
        for field, time in (("start_timestamp", start_s), ("end_timestamp", end_s)):
            if time is None and not any(problem.field == field for problem in problems):
                problems.append(Problem(name, number, field, "nothing", "seconds"))
        if start_s is not None and end_s is not None and end_s < start_s:
            problems.append(
                Problem(
                    name, number, "end_timestamp", f"{end_s} before start {start_s}", "an end at or after the start"
                )
            )
        lists = {
            field: value(field, parse_list, "a list") or ()
            for field in ("verbs", "nouns", "pairs", "main_actions", "hands")
        }
        stamp = value("narration_timestamp", parse_seconds, "seconds or nothing")
        if problems:
            self.errors += problems
            return None
        return Narration(
            identifier,
            video,
            text,
            start_s,
            end_s,
            tuple(map(one_line, lists["verbs"])),
            tuple(map(one_line, lists["nouns"])),
            pairs_of(lists["pairs"]),
            pairs_of(lists["main_actions"]),
            tuple(map(one_line, lists["hands"])),
            stamp,
            False,
            identifier in erratum,
            name,
            number,
        )

    # classes ------------------------------------------------------------------------------------------------

    def vocabulary(self) -> Vocabulary:
        ambiguous: list[tuple[str, tuple[str, ...]]] = []
        verbs = self._classes("narrations-and-action-segments/HD_EPIC_verb_classes.csv", ambiguous)
        nouns = self._classes("narrations-and-action-segments/HD_EPIC_noun_classes.csv", ambiguous)
        return Vocabulary(verbs, nouns, tuple(ambiguous))

    def _classes(self, relative: str, ambiguous: list[tuple[str, tuple[str, ...]]]) -> dict[str, str]:
        path = self.file(relative)
        if path is None:
            return {}
        return read_classes(path, relative, self.errors, ambiguous)

    # tracks -------------------------------------------------------------------------------------------------

    def associations(self) -> dict[str, tuple[Association, ...]]:
        name = "scene-and-object-movements/assoc_info.json"
        path = self.file(name)
        if path is None:
            return {}
        mask_path = self.file("scene-and-object-movements/mask_info.json")
        masks = read_json(mask_path) if mask_path else {}
        found: dict[str, tuple[Association, ...]] = {}
        for video, objects in read_json(path).items():
            kept = []
            for identifier, item in objects.items():
                association = self._association(name, video, identifier, item, masks.get(video, {}))
                if association is not None:
                    kept.append(association)
            found[video] = tuple(sorted(kept, key=lambda one: (one.tracks[0].start_s if one.tracks else 0.0, one.id)))
        return found

    def _association(
        self, name: str, video: str, identifier: str, item: Any, masks: Mapping[str, Any]
    ) -> Association | None:
        tracks: list[Track] = []
        try:
            label = one_line(item["name"])
            rows = [
                (str(t["track_id"]), float(t["time_segment"][0]), float(t["time_segment"][1]), list(t["masks"]))
                for t in item["tracks"]
            ]
        except (KeyError, TypeError, ValueError, IndexError) as error:
            self.warnings.append(
                Problem(
                    name,
                    None,
                    f"{video}/{identifier}",
                    f"{type(error).__name__} {error}",
                    "name and tracks with track_id, time_segment, masks",
                )
            )
            return None
        spans: dict[tuple[float, float], str] = {}
        for track, start_s, end_s, mask_ids in sorted(rows, key=lambda row: (row[1], row[2], -len(row[3]), row[0])):
            if end_s < start_s:
                self.warnings.append(
                    Problem(
                        name,
                        None,
                        f"{video}/{identifier}/{track}",
                        f"[{start_s}, {end_s}]",
                        "an end at or after the start",
                    )
                )
                continue
            if (start_s, end_s) in spans:
                self.warnings.append(
                    Problem(
                        name,
                        None,
                        f"{video}/{identifier}/{track}",
                        f"the same movement as {spans[(start_s, end_s)]}",
                        "one; merged",
                    )
                )
                continue
            spans[(start_s, end_s)] = track
            tracks.append(Track(track, start_s, end_s, *_ends(start_s, end_s, mask_ids, masks)))
        return Association(identifier, video, label, tuple(tracks), bool(_PLACEHOLDER.match(label)))

    # activities, recipes, sounds, gaze ----------------------------------------------------------------------

    def activities(self) -> dict[str, tuple[Activity, ...]]:
        found: dict[str, list[Activity]] = defaultdict(list)
        folder = self.source / "high-level/activities"
        for path in sorted(folder.glob("*_recipe_timestamps.csv")) if folder.is_dir() else ():
            name = f"high-level/activities/{path.name}"
            self.file(name)
            for number, row in read_csv(path, ("video_id", "high_level_activity_label", "start_time", "end_time")):
                activity = read_activity(name, number, row, {}, self.warnings, self.warnings)
                if activity is not None:
                    found[activity.video_id].append(activity)
        return {video: tuple(sorted(rows, key=lambda row: (row.start_s, row.row))) for video, rows in found.items()}

    def recipes(self) -> dict[str, Recipe]:
        name = "high-level/complete_recipes.json"
        path = self.file(name)
        if path is None:
            return {}
        found = {}
        for identifier, item in read_json(path).items():
            try:
                found[identifier] = read_recipe(identifier, item)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                self.warnings.append(
                    Problem(
                        name, None, identifier, f"{type(error).__name__} {error}", "a recipe with name, steps, captures"
                    )
                )
        return found

    def sounds(self) -> dict[str, tuple[Sound, ...]]:
        name = "audio-annotations/HD_EPIC_Sounds.csv"
        path = self.file(name)
        if path is None:
            return {}
        found: dict[str, list[Sound]] = defaultdict(list)
        for number, row in read_csv(path, ("video_id", "start_timestamp", "stop_timestamp", "class")):
            sound = read_sound(name, number, row, self.warnings)
            if sound is not None:
                found[sound.video_id].append(sound)
        return {
            video: tuple(sorted(rows, key=lambda one: (one.start_s, one.end_s, one.label)))
            for video, rows in found.items()
        }

    def priming(self) -> list[Priming]:
        path = self.file("eye-gaze-priming/priming_info.json") or self.file("eye_gaze_priming/priming_info.json")
        return [] if path is None else list(read_priming(read_json(path)))


def _ends(
    start_s: float, end_s: float, mask_ids: Sequence[str], masks: Mapping[str, Any]
) -> tuple[str | None, str | None]:
    """Return the fixtures where a movement starts and ends: of its first and last mask in time; a single mask is of the
    end that it is nearer to, and of the start where its frame is not known."""
    timed = []
    for order, mask in enumerate(mask_ids):
        row = masks.get(mask) or {}
        frame = row.get("frame_number")
        at_s = frame / FPS if isinstance(frame, int | float) else None
        timed.append((at_s is None, at_s or 0.0, order, fixture_name(row.get("fixture"))))
    if not timed:
        return None, None
    if len(timed) == 1:
        unknown, at_s, _, fixture = timed[0]
        at_end = not unknown and abs(at_s - end_s) < abs(at_s - start_s)
        return (None, fixture) if at_end else (fixture, None)
    if not any(unknown for unknown, *_ in timed):
        timed.sort()
        return timed[0][3], timed[-1][3]
    return timed[0][3], timed[1][3]
