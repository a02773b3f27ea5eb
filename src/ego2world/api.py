"""The public Python API: what notebooks and scripts need, re-exported by ``import ego2world as e2w``.

Everything here is a thin layer over the modules that the command line uses; paths may be ``str`` or ``Path``.
"""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, Literal

from ego2world.agents import Planner, PlannerContext
from ego2world.agents.mock import mock_reply
from ego2world.annotations.formats import read_source
from ego2world.collection import build_worlds
from ego2world.core.extras import extra
from ego2world.core.journal import read_rows
from ego2world.core.models import Endpoint, connect
from ego2world.errors import UsageError
from ego2world.evaluate.metrics import METRICS, read_settings, score_run
from ego2world.judge.backends.open import open_backends
from ego2world.judge.benchmark import read_benchmark
from ego2world.judge.planning import read_plans
from ego2world.judge.policy import Policy
from ego2world.judge.run import JudgeSettings, judge
from ego2world.judge.sampling import Density, FrameSampling
from ego2world.judge.tally import write_scores
from ego2world.qa.build import QuestionSettings, build
from ego2world.qa.check import check_folder
from ego2world.report.write import write_report as write_page
from ego2world.run.loop import RunSettings, run
from ego2world.run.records import RECORDS
from ego2world.tasks.suite import read_suite
from ego2world.world.episode import COLLECTION_TABLES, Episode, collection_table, load_episode, load_manifest

Library = Literal["pandas", "polars"]
Progress = Callable[[str, int, int], None]  # (what was finished, how many are, of how many)


def frame(rows: Sequence[Mapping[str, Any]], library: Library = "pandas") -> Any:
    """Return rows as a data frame: one column a key, dotted for nested objects; lists stay lists.

    Args:
        rows: JSON objects.
        library: "pandas" or "polars"; it has to be installed.

    Raises:
        UsageError: it is not, or there is no such library.
    """
    flat = [dict(_flat(row)) for row in rows]
    if library == "pandas":
        with extra("pandas", "frame(..., 'pandas')"):
            import pandas
        return pandas.DataFrame(flat)
    if library == "polars":
        with extra("polars", "frame(..., 'polars')"):
            import polars
        return polars.DataFrame(_columns(flat), strict=False)
    raise UsageError(f"no library {library!r}; there are: pandas, polars")


def _flat(row: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in row.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return columns; one whose values are of several kinds becomes JSON text, since a Polars column has one type."""
    columns: dict[str, list[Any]] = {
        key: [row.get(key) for row in rows] for key in dict.fromkeys(k for r in rows for k in r)
    }
    for key, values in columns.items():
        kinds = {type(value) for value in values if value is not None}
        if len(kinds) > 1 or kinds & {list, tuple}:
            columns[key] = [None if value is None else json.dumps(value) for value in values]
    return columns


class Worlds:
    """A compiled collection: a mapping from episode names to episodes.

    >>> worlds = Worlds("demo/worlds")  # doctest: +SKIP
    >>> episode = worlds["K01-20250301-080000"]  # doctest: +SKIP
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.manifest = load_manifest(self.path)

    def __len__(self) -> int:
        return len(self.manifest["episodes"])

    def __iter__(self) -> Iterator[str]:
        return iter(self.manifest["episodes"])

    def __getitem__(self, episode: str) -> Episode:
        return load_episode(self.path, episode)

    @property
    def totals(self) -> Mapping[str, int]:
        """Counts over all episodes, as in the manifest."""
        totals: Mapping[str, int] = self.manifest["totals"]
        return totals

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Return the rows of a table over all episodes.

        Args:
            table: operations, transitions, notes, entities, groups, tasks or narrations.
        """
        if table not in COLLECTION_TABLES:
            raise UsageError(f"no table {table!r}; there are: {', '.join(COLLECTION_TABLES)}")
        return collection_table(self.path, table)

    def table(self, table: str, library: Library = "pandas") -> Any:
        """Return a table as a data frame; see ``rows`` and ``frame``."""
        return frame(self.rows(table), library)

    def __repr__(self) -> str:
        return (
            f"Worlds({str(self.path)!r}, {len(self)} episodes, {self.totals['operations']} operations,"
            f" {self.totals['tasks']} tasks)"
        )

    def _repr_html_(self) -> str:
        rows = [
            (name, *(row["totals"][key] for key in ("narrations", "operations", "entities", "tasks")))
            for name, row in self.manifest["episodes"].items()
        ]
        return _html_table(("episode", "narrations", "operations", "entities", "tasks"), rows)


class Run:
    """A run folder: its settings, scores and records."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.settings = read_settings(self.path)

    def score(self) -> dict[str, Any]:
        """Return the scores, computed from the records alone; see ``evaluate.metrics.score_run``."""
        return score_run(self.path)

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Return the rows of a record file: attempts, looks, calls, groups, beliefs or tasks."""
        if f"{table}.jsonl" not in RECORDS:
            raise UsageError(
                f"no table {table!r}; there are: {', '.join(name.removesuffix('.jsonl') for name in RECORDS)}"
            )
        return read_rows(self.path / f"{table}.jsonl")

    def table(self, table: str, library: Library = "pandas") -> Any:
        """Return a record file as a data frame."""
        return frame(self.rows(table), library)

    def per_task(self, library: Library = "pandas") -> Any:
        """Return one row a task with every metric, as a data frame."""
        return frame(self.score()["per_task"], library)

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r}, planner={self.settings['planner']!r}, memory={self.settings['memory']!r})"

    def _repr_html_(self) -> str:
        score = self.score()
        values = score["metrics"]
        rows = [(m.title, "-" if values[name] is None else m.text(values[name])) for name, m in METRICS.items()]
        return _html_table((str(self.settings["planner"]), str(self.settings["memory"])), rows)


def open_worlds(path: str | Path) -> Worlds:
    """Open a compiled collection.

    Raises:
        UsageError: the folder is none.
        RecordError: its manifest is damaged or of another schema version.
    """
    return Worlds(path)


def compile_annotations(
    source: str | Path,
    out: str | Path,
    form: str = "hd-epic",
    videos: Sequence[str] | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Worlds:
    """Compile annotations into worlds; see ``ego2world compile``.

    Args:
        source: the annotations directory.
        out: the folder of the collection.
        form: "hd-epic", "epic-kitchens", or MODULE:NAME of a reader of your own.
        videos: only these.
        jobs: processes; the bytes written do not depend on it.
        progress: called as (episode, done, total).

    Raises:
        AnnotationError: rows are malformed. CompileError: a reference does not replay.
    """
    build_worlds(read_source(source, form, videos), Path(out), jobs, progress)
    return Worlds(out)


def make_env(worlds: str | Path | Worlds, episode: str, task: str | None = None, **options: Any) -> Any:
    """Return a Gymnasium environment of one task (extra "gym"); options as of ``ego2world.envs.episode.EpisodeEnv``."""
    from ego2world.envs.episode import EpisodeEnv  # an optional dependency's single entry

    return EpisodeEnv(_folder(worlds), episode, task, **options)


def run_planner(
    worlds: str | Path | Worlds,
    out: str | Path,
    planner: str | Callable[[PlannerContext], Planner] = "symbolic",
    memory: str = "persistent",
    *,
    suite: str | Path | None = None,
    episodes: Sequence[str] = (),
    limit: int = 80,
    seed: int = 0,
    model: str | None = None,
    base_url: str | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Run:
    """Let a planner act in the worlds and return the run; an unfinished run in the folder is resumed.

    Args:
        worlds: a compiled collection.
        out: the run folder.
        planner: a name (see ``ego2world run --help``), MODULE:NAME, or a function that makes a planner for an episode.
        memory: "persistent", "reset", "none", "recency:N", "uncertainty:N", or MODULE:NAME.
        suite: a suite file; by default every task of ``episodes``.
        episodes: only these; by default all.
        limit: attempts a group.
        seed: of planner "random", and of models that take one.
        model, base_url: for planner "llm".
        jobs: worker processes; not with a planner that is a function.
        progress: called as (episode, finished, total).

    Raises:
        UsageError: names that do not exist, or settings that differ from those the folder was begun with.
    """
    name = (
        planner if isinstance(planner, str) else f"{planner.__module__}:{getattr(planner, '__qualname__', 'planner')}"
    )
    settings = RunSettings(name, memory, limit, seed, episodes=tuple(episodes), jobs=jobs)
    opening = None if model is None else partial(connect, model, mock_reply, Endpoint(base_url=base_url))
    client = opening() if opening is not None else None
    chosen = read_suite(Path(suite)) if suite is not None else None
    with closing(client) if client is not None else nullcontext():
        make = None if isinstance(planner, str) else planner
        run(_folder(worlds), Path(out), settings, chosen, progress, client, opening, make)
    return Run(out)


def write_report(
    runs: Sequence[str | Path | Run], out: str | Path, progress: Progress | None = None
) -> list[dict[str, Any]]:
    """Write scores, comparisons, figures and one self-contained page, and return the scores of each run."""
    return write_page([one.path if isinstance(one, Run) else Path(one) for one in runs], Path(out), progress=progress)


def build_questions(
    worlds: str | Path | Worlds,
    out: str | Path,
    settings: QuestionSettings | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Make questions on worlds, keep those that every check lets through, and return the manifest; see
    ``ego2world qa build``."""
    return build(_folder(worlds), Path(out), settings or QuestionSettings(), jobs, progress)


def check_questions(questions: str | Path, jobs: int = 1) -> dict[str, Any]:
    """Run every check on a folder of questions anew and return the report with its verdict; see
    ``ego2world qa check``."""
    return check_folder(Path(questions), jobs=jobs)


def judge_videos(
    bench: str | Path,
    out: str | Path,
    backend: str = "model",
    *,
    model: str | None = None,
    base_url: str | None = None,
    plans: str | Path | None = None,
    frames: int = 8,
    sampling: str = "sparse",
    all_gates: bool = False,
    concurrency: int = 4,
    policy: Policy | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Judge every video of a benchmark gate by gate, score the answers, and return the scores; see
    ``ego2world judge run``.

    Args:
        bench: made by ``ego2world judge init`` or ``judge rollouts``.
        out: the folder of the run; an unfinished run in it is resumed.
        backend: "model", "vision", "answers:FILE", "csv:FILE", "simple-vqa", "question-list", or MODULE:NAME.
        model, base_url: for backends that ask one.
        plans: made by ``ego2world judge plan``; by default those of the benchmark.
        frames, sampling, all_gates, concurrency: as of the command.
        policy: how answers count.
        progress: called as (video, done, total).
    """
    folder = Path(bench)
    read = read_benchmark(folder)
    path = Path(plans) if plans is not None else folder / "plans.jsonl"
    by_video = read_plans(path, read) if path.is_file() else {}
    settings = JudgeSettings(FrameSampling(frames, Density(sampling)), all_gates, concurrency)
    with open_backends(
        backend, folder, model, Endpoint(connections=max(8, concurrency), base_url=base_url)
    ) as backends:
        judge(read, by_video, Path(out), backends, settings, progress)
    return write_scores(read, Path(out), policy or Policy())


def _folder(worlds: str | Path | Worlds) -> Path:
    return worlds.path if isinstance(worlds, Worlds) else Path(worlds)


def _html_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    cells = "".join(f"<th>{html.escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"
