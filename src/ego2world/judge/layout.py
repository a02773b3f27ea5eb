"""A benchmark laid out from a folder of videos. Stage: judge.

    FOLDER/
      cases.csv or cases.jsonl        case_id, goal, domain, clutter, objects (";" between), reference_sequences (one
      way a "|", steps by ";"), panel CASE/scene.png (or .jpg)        the initial scene
      CASE/human_success/1.mp4 ...    recordings that reach the goal
      CASE/human_failure/1.mp4 ...    recordings that do not
      CASE/MODEL/101.mp4 ...          what a model made with seed 101

Every case is expected to have every take, model and seed that is asked for, or that any case has.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from ego2world.core.canonical import sha256_file
from ego2world.core.video import FileStatus
from ego2world.errors import AnnotationError, Problem, UsageError
from ego2world.judge.benchmark import (
    CASES,
    Benchmark,
    BenchmarkProblem,
    Progress,
    collisions,
    extra_files,
    find_all,
    video_files,
    write_benchmark,
)
from ego2world.judge.records import Case, Clutter, Setting, Video, VideoSource

SCENES = ("scene.png", "scene.jpg", "scene.jpeg", "scene.webp")
HUMAN = (VideoSource.SUCCESS.value, VideoSource.FAILURE.value)


@dataclass(frozen=True)
class Design:
    """What is expected of every case; empty: whatever any case has."""

    models: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()
    takes: int | None = None  # recordings of each human kind
    least_s: float = 0.0
    most_s: float | None = None

    def plain(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "models": list(self.models),
            "seeds": list(self.seeds),
            "takes": self.takes,
            "least_s": self.least_s,
            "most_s": self.most_s,
        }


def init(
    folder: Path, out: Path, design: Design, jobs: int = 1, progress: Progress | None = None
) -> tuple[Benchmark, list[BenchmarkProblem]]:
    """Lay a benchmark out; return it with everything that is missing, broken or not expected.

    Args:
        folder: the videos, laid out as above.
        out: where the three files go; may be the same folder.
        design: what is expected.
        jobs: videos decoded at the same time.
        progress: called with (video, done, total).

    Raises:
        UsageError: no such folder, or no cases.
        AnnotationError: rows of the case table cannot be read, all of them named.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a directory; pass the directory of the videos (layout: docs/JUDGING.md)")
    cases = [_with_scene(folder, case) for case in read_cases(folder)]
    names = [case.case_id for case in cases]
    here = {path: _of_path(path, set(names)) for path in video_files(folder)}
    known = {path: place for path, place in here.items() if place is not None}
    models = design.models or tuple(sorted({kind for _, kind, _ in known.values() if kind not in HUMAN}))
    numbers = {
        kind: sorted({n for _, k, n in known.values() if k == kind}) for kind in {k for _, k, _ in known.values()}
    }
    seeds = design.seeds or tuple(sorted({n for model in models for n in numbers.get(model, [])}))
    takes = (
        design.takes
        if design.takes is not None
        else max((n for kind in HUMAN for n in numbers.get(kind, [])), default=0)
    )
    found_paths = {place: path for path, place in known.items()}
    expected = [
        _video(case, kind, number, found_paths)
        for case in names
        for kind, values in (*((kind, range(1, takes + 1)) for kind in HUMAN), *((model, seeds) for model in models))
        for number in values
    ]
    used = Design(models, seeds, takes, design.least_s, design.most_s)
    videos = find_all(expected, folder, design.least_s, design.most_s, jobs, progress)
    root = "." if folder.resolve() == out.resolve() else str(folder.resolve())
    bench = write_benchmark(out, root, cases, videos, used.plain())
    problems = [
        BenchmarkProblem(v.video_id, v.status, f"{v.path}: {v.reason}") for v in videos if v.status != FileStatus.OK
    ]
    problems += [
        BenchmarkProblem(c.case_id, "scene", f"no {' or '.join(SCENES)} in {c.case_id}/")
        for c in cases
        if not c.scene_image
    ]
    return bench, problems + collisions(videos) + extra_files(bench)


def _of_path(path: str, cases: set[str]) -> tuple[str, str, int] | None:
    """Return (case, kind or model, take or seed) of CASE/KIND/NUMBER.mp4, None of any other path."""
    parts = path.split("/")
    stem = parts[-1].rsplit(".", 1)[0]
    if len(parts) != 3 or parts[0] not in cases or not stem.isdecimal():
        return None
    return parts[0], parts[1], int(stem)


def _video(case: str, kind: str, number: int, paths: dict[tuple[str, str, int], str]) -> Video:
    path = paths.get((case, kind, number), f"{case}/{kind}/{number}.mp4")
    if kind in HUMAN:
        return Video(video_id=f"{case}.{kind}.{number}", case_id=case, source=VideoSource(kind), path=path, take=number)
    return Video(
        video_id=f"{case}.{kind}.{number}", case_id=case, source=VideoSource.MODEL, path=path, model=kind, seed=number
    )


def _with_scene(folder: Path, case: Case) -> Case:
    names: Sequence[str] = [case.scene_image] if case.scene_image else [f"{case.case_id}/{name}" for name in SCENES]
    name = next((n for n in names if (folder / n).is_file()), "")
    return msgspec.structs.replace(case, scene_image=name, scene_sha256=sha256_file(folder / name) if name else "")


def read_cases(folder: Path) -> list[Case]:
    """Read cases.csv, or cases.jsonl where there is none: ``init`` writes the latter beside the former.

    Raises:
        UsageError: there is neither, or it has no row.
        AnnotationError: rows cannot be read.
    """
    path = next((folder / name for name in ("cases.csv", CASES) if (folder / name).is_file()), None)
    if path is None:
        raise UsageError(f"{folder} has no cases.csv and no cases.jsonl; needed one row a case (docs/JUDGING.md)")
    try:
        if path.suffix == ".csv":
            with path.open(encoding="utf-8-sig", newline="") as file:
                rows: list[Any] = [_csv_row(row) for row in csv.DictReader(file)]
        else:
            rows = [line for line in path.read_bytes().splitlines() if line.strip()]
    except (ValueError, csv.Error) as error:
        raise AnnotationError([Problem(str(path), None, None, str(error), "a table of cases in UTF-8")]) from None
    cases, problems, seen = [], [], set()
    for number, row in enumerate(rows, 1):
        try:
            values = msgspec.json.decode(row, type=dict[str, Any]) if isinstance(row, bytes) else row
            case = msgspec.convert({"scene_image": "", "scene_sha256": "", **values}, Case)
        except msgspec.MsgspecError as error:
            problems.append(Problem(str(path), number, None, str(error), "a case (docs/JUDGING.md)"))
            continue
        name = case.case_id
        if not name or name in seen or not all(c.isalnum() or c in "-_" for c in name):
            problems.append(
                Problem(str(path), number, "case_id", repr(name), "an id of its own, of letters, digits, - and _")
            )
        seen.add(name)
        cases.append(case)
    if problems:
        raise AnnotationError(problems)
    if not cases:
        raise UsageError(f"{path} has no cases")
    return cases


def _csv_row(row: dict[str, Any]) -> dict[str, Any]:
    def words(text: str) -> list[str]:
        return [word.strip() for word in text.split(";") if word.strip()]

    return {
        "case_id": (row.get("case_id") or "").strip(),
        "goal": (row.get("goal") or "").strip(),
        "domain": row.get("domain") or Setting.OTHER.value,
        "clutter": row.get("clutter") or Clutter.LOW.value,
        "objects": words(row.get("objects") or ""),
        "panel": (row.get("panel") or "").strip().lower() in {"1", "true", "yes"},
        "reference_sequences": [words(way) for way in (row.get("reference_sequences") or "").split("|") if way.strip()],
        **({"scene_image": row["scene_image"]} if row.get("scene_image") else {}),
    }
