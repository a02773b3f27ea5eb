"""EPIC-KITCHENS-100 and -55 segments and EPIC-Sounds events, through the same records as HD-EPIC.

Declared format: times are hh:mm:ss.ss; frames are counted from 1 at the extraction rate (50 or 60 a second), not at
the camera's rate; ``noun`` and ``all_nouns`` name what the annotators resolved, head first with colons.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ego2world.annotations.cells import class_name, frame_time_s, one_line, parse_list, parse_seconds, read_csv
from ego2world.annotations.records import Dataset, Narration, Sound, Vocabulary
from ego2world.annotations.rows import demand_videos, in_time, read_classes, read_sound
from ego2world.core.canonical import sha256_file
from ego2world.errors import AnnotationError, Problem

FRAME_RATES_HZ = (60.0, 50.0)
_REQUIRED = ("video_id", "start_timestamp", "stop_timestamp", "narration", "verb", "noun")


@dataclass(frozen=True)
class _Layout:
    """What a release calls its files and the columns that differ: of the segments' id, of the videos, of classes."""

    name: str
    segments: str
    info: str
    classes: str
    id_column: str
    video_column: str
    class_columns: tuple[str, str, str]


_EPIC_100 = _Layout(
    "epic-kitchens-100", "EPIC_100_*.csv", "EPIC_100_video_info.csv", "EPIC_100_{}_classes*.csv",
    "narration_id", "video_id",
    ("id", "key", "instances"),
)  # fmt: skip
_EPIC_55 = _Layout(
    "epic-kitchens-55", "EPIC_*_action_labels.csv", "EPIC_video_info.csv", "EPIC_{}_classes.csv",
    "uid", "video",
    ("{}_id", "class_key", "{}s"),
)  # fmt: skip


def read_epic_kitchens_55(source: Path, videos: Sequence[str] | None = None) -> Dataset:
    """Read a folder with EPIC_<split>_action_labels.csv; see ``read_epic_kitchens``."""
    return read_epic_kitchens(source, videos, _EPIC_55)


def read_epic_kitchens(
    source: Path, videos: Sequence[str] | None = None, layout: _Layout = _EPIC_100
) -> Dataset:
    """Read a folder with EPIC_100_*.csv segments, and EPIC_Sounds_*.csv beside or below it.

    Args:
        source: a folder; any file named EPIC_100_<split>.csv with the segment columns is read.
        videos: keep only these videos.

    Raises:
        AnnotationError: no segments (with the malformed rows, if there are any), or an unknown video id.
    """
    errors: list[Problem] = []
    sources: dict[str, str] = {}

    def note(path: Path) -> str:
        name = path.relative_to(source).as_posix() if path.is_relative_to(source) else path.name
        sources[name] = sha256_file(path)
        return name

    durations = {}
    for path in sorted(source.glob(layout.info)):
        note(path)
        for _, row in read_csv(path, (layout.video_column, "duration")):
            durations[row[layout.video_column]] = float(row["duration"])
    ambiguous: list[tuple[str, tuple[str, ...]]] = []
    tables: dict[str, dict[str, str]] = {"verb": {}, "noun": {}}
    for word, table in tables.items():
        for path in sorted(source.glob(layout.classes.format(word))):
            columns = tuple(column.format(word) for column in layout.class_columns)
            table.update(read_classes(path, note(path), errors, ambiguous, columns))
    found: dict[str, list[Narration]] = defaultdict(list)
    segments = [
        path
        for path in sorted(source.glob(layout.segments))
        if "classes" not in path.name and "video_info" not in path.name
    ]
    for path in segments:
        name = note(path)
        for number, row in read_csv(path, (layout.id_column, *_REQUIRED)):
            row = {**row, "narration_id": row[layout.id_column]}
            narration = read_segment(name, number, row, durations, errors)
            if narration is not None:
                found[narration.video_id].append(narration)
    sounds: dict[str, list[Sound]] = defaultdict(list)
    for folder in (source, source.parent / "epic_sounds"):
        for path in sorted(folder.glob("EPIC_Sounds_*.csv")) if folder.is_dir() else ():
            name = note(path)
            for number, row in read_csv(path, ("video_id", "start_timestamp", "stop_timestamp", "class")):
                sound = read_sound(name, number, {**row, "start_sample": "", "stop_sample": ""}, errors)
                if sound is not None:
                    sounds[sound.video_id].append(sound)
    if not found:
        other = layout is _EPIC_100 and any(source.glob(_EPIC_55.segments))
        hint = "This looks like EPIC-KITCHENS-55: compile with --format epic-kitchens-55." if other else ""
        raise AnnotationError([Problem(str(source), None, None, "no segments", layout.segments), *errors], hint)
    demand_videos(source, "video_id", videos, found)
    keep = set(videos or found)
    return Dataset(
        layout.name,
        {video: tuple(sorted(found[video], key=in_time)) for video in sorted(found) if video in keep},
        sounds={
            video: tuple(sorted(sounds[video], key=lambda s: (s.start_s, s.label)))
            for video in sorted(sounds)
            if video in keep
        },
        durations_s={video: durations[video] for video in sorted(durations) if video in keep},
        vocabulary=Vocabulary(tables["verb"], tables["noun"], tuple(ambiguous)),
        left_out=tuple(errors),
        sources=dict(sorted(sources.items())),
    )


def read_segment(
    name: str, number: int, row: Mapping[str, str], durations_s: Mapping[str, float], errors: list[Problem]
) -> Narration | None:
    """Read one action segment; a frame that contradicts its time at every extraction rate is an error."""
    try:
        start_s, end_s = parse_seconds(row["start_timestamp"]), parse_seconds(row["stop_timestamp"])
        stamp = parse_seconds(row.get("narration_timestamp"))
        nouns = tuple(one_line(noun) for noun in parse_list(row.get("all_nouns", ""))) or (one_line(row["noun"]),)
    except ValueError as error:
        errors.append(Problem(name, number, None, str(error), "times and lists"))
        return None
    video, text = one_line(row["video_id"]), one_line(row["narration"])
    if start_s is None or end_s is None or not text:
        errors.append(Problem(name, number, "start_timestamp/narration", "nothing", "times and a sentence"))
        return None
    if end_s < start_s:
        errors.append(
            Problem(name, number, "stop_timestamp", f"{end_s} before start {start_s}", "an end at or after the start")
        )
        return None
    frame = row.get("start_frame", "").strip()
    if frame:
        times = [frame_time_s(int(frame), rate, 1) for rate in FRAME_RATES_HZ]
        if min(abs(time - start_s) for time in times) > 0.1:
            errors.append(
                Problem(
                    name, number, "start_frame", f"frame {frame} for {start_s} s", "frames from 1 at 50 or 60 a second"
                )
            )
            return None
    verb = one_line(row["verb"])
    names = tuple(name for noun in nouns if (name := class_name(noun)))
    pairs = ((verb, names[0]),) if names else ()
    identifier = one_line(row["narration_id"])
    return Narration(
        identifier if identifier.startswith(video) else f"{video}_{identifier}",
        video,
        text,
        start_s,
        end_s,
        (verb,),
        names,
        pairs,
        pairs,
        (),
        stamp,
        bool(names),
        False,
        name,
        number,
    )
