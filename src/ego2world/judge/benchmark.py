"""The files of a benchmark: cases, and a manifest of every video that is expected. Stage: judge.

    BENCH/
      benchmark.json   schema version, where the videos are, the design (models, seeds, takes), totals
      cases.jsonl      a case a line
      videos.jsonl     an expected video a line, with what was found at its path

Videos are found by the manifest's ids and paths, never by their names; a video that is expected and missing, cut or
unreadable stays in the manifest with that status.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar
from unicodedata import normalize

import msgspec
from msgspec.structs import replace

from ego2world.core.canonical import pretty_json, sha256_file, write_atomic
from ego2world.core.journal import read_versioned, rewrite
from ego2world.core.provenance import Product, code_sha256
from ego2world.core.video import Facts, FileStatus, probe
from ego2world.errors import RecordError
from ego2world.judge.records import SCHEMA_VERSION, BenchmarkRecord, Case, Video, VideoSource

BENCHMARK, CASES, VIDEOS = "benchmark.json", "cases.jsonl", "videos.jsonl"
SUFFIXES = (".mp4", ".mov", ".mkv", ".webm", ".avi", ".m4v")
LEAST_SEQUENCES = 3
Progress = Callable[[str, int, int], None]
R = TypeVar("R", bound=BenchmarkRecord)


@dataclass(frozen=True)
class BenchmarkProblem:
    """Something about a benchmark that its owner should mend: which file or id, what was found, what was needed."""

    where: str
    kind: str
    message: str

    def plain(self) -> dict[str, str]:
        """Return the JSON form."""
        return {"where": self.where, "kind": self.kind, "message": self.message}

    def __str__(self) -> str:
        return f"{self.where}: {self.kind}: {self.message}"


@dataclass(frozen=True)
class Benchmark:
    """A benchmark as read."""

    folder: Path
    root: Path
    cases: tuple[Case, ...]
    videos: tuple[Video, ...]
    design: dict[str, Any] = field(default_factory=dict)

    @property
    def by_case(self) -> dict[str, Case]:
        """Cases by id."""
        return {case.case_id: case for case in self.cases}

    def path(self, video: Video) -> Path:
        """Return where a video is."""
        return self.root / video.path


def read_lines(path: Path, kind: type[R]) -> list[R]:
    """Read a record file of the judge.

    Raises:
        RecordError: lines that are no such record, all of them named.
    """
    if not path.is_file():
        raise RecordError(str(path), "no such file; make the folder with: ego2world judge init")
    rows, wrong = [], []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = msgspec.json.decode(line, type=kind)
            if row.schema_version != SCHEMA_VERSION:
                raise ValueError(f"schema version {row.schema_version}, needed {SCHEMA_VERSION}")
            rows.append(row)
        except (msgspec.MsgspecError, ValueError) as error:
            wrong.append(f"line {number}: {error}")
    if wrong:
        more = f"; and {len(wrong) - 20} more" if len(wrong) > 20 else ""
        raise RecordError(str(path), "; ".join(wrong[:20]) + more)
    return rows


def read_benchmark(folder: Path) -> Benchmark:
    """Read a benchmark; see ``check`` for whether it is sound.

    Raises:
        UsageError: there is none.
        RecordError: a file is damaged, an id occurs twice, a path leaves the folder.
    """
    missing = (
        f"{folder} contains no benchmark (no {BENCHMARK}); make one with: ego2world judge init VIDEOS --out {folder}"
    )
    head = read_versioned(folder / BENCHMARK, SCHEMA_VERSION, missing, "run: ego2world judge init")
    cases, videos = read_lines(folder / CASES, Case), read_lines(folder / VIDEOS, Video)
    wrong = [f"case {name} occurs twice" for name in _twice(case.case_id for case in cases)]
    wrong += [f"video {name} occurs twice" for name in _twice(video.video_id for video in videos)]
    known = {case.case_id for case in cases}
    wrong += [f"video {v.video_id} is of no known case ({v.case_id})" for v in videos if v.case_id not in known]
    wrong += [f"video {v.video_id}: path {v.path!r} leaves the folder" for v in videos if not _inside(v.path)]
    wrong += [
        f"case {c.case_id}: path {c.scene_image!r} leaves the folder" for c in cases if not _inside(c.scene_image)
    ]
    if wrong:
        raise RecordError(
            str(folder), "; ".join(wrong[:20]) + (f"; and {len(wrong) - 20} more" if len(wrong) > 20 else "")
        )
    return Benchmark(folder, folder / head.get("root", "."), tuple(cases), tuple(videos), head.get("design", {}))


def _twice(names: Iterable[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]


def _inside(path: str) -> bool:
    parts = PurePosixPath(path)
    return not parts.is_absolute() and ".." not in parts.parts and "\\" not in path and "\0" not in path


def write_benchmark(
    folder: Path, root: str, cases: Sequence[Case], videos: Sequence[Video], design: dict[str, Any]
) -> Benchmark:
    """Write the three files."""
    rewrite(folder / CASES, (case.plain() for case in cases))
    rewrite(folder / VIDEOS, (video.plain() for video in videos))
    totals = {
        "cases": len(cases),
        "videos": len(videos),
        "by_status": dict(sorted(Counter(v.status for v in videos).items())),
        "by_origin": dict(sorted(Counter(v.origin for v in videos).items())),
    }
    head = {
        "schema_version": SCHEMA_VERSION,
        "code_sha256": code_sha256(Product.ROLLOUTS),
        "root": root,
        "design": design,
        "totals": totals,
    }
    write_atomic(folder / BENCHMARK, pretty_json(head))
    return Benchmark(folder, folder / root, tuple(cases), tuple(videos), design)


def found(video: Video, root: Path, least_s: float = 0.0, most_s: float | None = None) -> Video:
    """Return a manifest entry with what is at its path now."""
    path = root / video.path
    facts: Facts = probe(path, least_s, most_s)
    return replace(
        video,
        status=facts.status,
        reason=facts.reason,
        sha256=sha256_file(path) if path.is_file() else "",
        n_frames=facts.n_frames,
        duration_s=facts.duration_s,
        width_px=facts.width_px,
        height_px=facts.height_px,
        rotation=facts.rotation_deg,
        codec=facts.codec,
        rate=facts.rate,
    )


def find_all(
    videos: Sequence[Video], root: Path, least_s: float, most_s: float | None, jobs: int, progress: Progress | None
) -> list[Video]:
    """Look at every video; decoding runs in threads, as it leaves Python alone."""
    done = []
    with ThreadPoolExecutor(jobs) as pool:
        for number, one in enumerate(pool.map(lambda v: found(v, root, least_s, most_s), videos), 1):
            done.append(one)
            if progress:
                progress(one.video_id, number, len(videos))
    return done


def check(bench: Benchmark, jobs: int = 1, progress: Progress | None = None) -> list[BenchmarkProblem]:
    """Return everything about a benchmark that is not as its files say or as they should be.

    Args:
        bench: as read.
        jobs: videos decoded at the same time.
        progress: called with (video, done, total).
    """
    problems = [problem for case in bench.cases for problem in _case_problems(bench, case)]
    design = bench.design
    now = find_all(bench.videos, bench.root, design.get("least_s") or 0.0, design.get("most_s"), jobs, progress)
    for before, after in zip(bench.videos, now, strict=True):
        if after.status != FileStatus.OK:
            problems.append(BenchmarkProblem(before.video_id, after.status, f"{before.path}: {after.reason}"))
        elif before.sha256 and before.sha256 != after.sha256:
            problems.append(
                BenchmarkProblem(
                    before.video_id,
                    "changed",
                    f"{before.path} is another file than the manifest's; run judge init again, or restore it",
                )
            )
        if before.source is VideoSource.MODEL and (not before.model or before.seed is None):
            problems.append(BenchmarkProblem(before.video_id, "origin", "needed a model and a seed"))
    problems += collisions(bench.videos)
    problems += [
        BenchmarkProblem(" = ".join(ids), "duplicate", "the same bytes under several ids") for ids in _same_bytes(now)
    ]
    problems += extra_files(bench)
    return problems


def _case_problems(bench: Benchmark, case: Case) -> Iterable[BenchmarkProblem]:
    if not case.goal.strip():
        yield BenchmarkProblem(case.case_id, "goal", "needed what must be true at the end")
    image = bench.root / case.scene_image
    if not case.scene_image or not image.is_file():
        yield BenchmarkProblem(case.case_id, "scene", f"no image {case.scene_image or '(none named)'}")
    elif sha256_file(image) != case.scene_sha256:
        yield BenchmarkProblem(case.case_id, "scene", f"{case.scene_image} is another file than the one recorded")
    if len(set(case.reference_sequences)) < LEAST_SEQUENCES:
        yield BenchmarkProblem(
            case.case_id,
            "sequences",
            f"{len(set(case.reference_sequences))} distinct ways to the goal, needed {LEAST_SEQUENCES}",
        )


def collisions(videos: Sequence[Video]) -> list[BenchmarkProblem]:
    """Return paths that are one on a disk that ignores case or composes accents, and paths named twice."""
    by_path: dict[str, list[Video]] = defaultdict(list)
    for video in videos:
        by_path[normalize("NFC", video.path).casefold()].append(video)
    return [
        BenchmarkProblem(
            " = ".join(v.video_id for v in same),
            "collision",
            f"paths that some disks hold for one: {', '.join(v.path for v in same)}",
        )
        for same in by_path.values()
        if len(same) > 1
    ]


def _same_bytes(videos: Sequence[Video]) -> list[list[str]]:
    by_hash: dict[str, list[str]] = defaultdict(list)
    for video in videos:
        if video.sha256 and video.status != FileStatus.EMPTY:
            by_hash[video.sha256].append(video.video_id)
    return [ids for ids in by_hash.values() if len(ids) > 1]


def extra_files(bench: Benchmark) -> list[BenchmarkProblem]:
    """Return video files below the root that the manifest does not name; they are left alone, and said."""
    named = {normalize("NFC", video.path) for video in bench.videos}
    return [
        BenchmarkProblem(path, "extra", "a video that the manifest does not expect; it is ignored")
        for path in video_files(bench.root)
        if normalize("NFC", path) not in named
    ]


def video_files(root: Path) -> list[str]:
    """Return the video files below a folder, hidden ones apart, as sorted relative paths."""
    return sorted(
        path.relative_to(root).as_posix()
        for path in root.rglob("*")
        if path.suffix.lower() in SUFFIXES
        and path.is_file()
        and not any(p.startswith(".") for p in path.relative_to(root).parts)
    )
