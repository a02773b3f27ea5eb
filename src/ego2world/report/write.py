"""Writing scores.json, the figures, and a page that needs no network, for one or more runs."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, select_autoescape

from ego2world.core.canonical import pretty_json, write_atomic
from ego2world.core.figures import page_css, write_figures
from ego2world.core.processes import process_pool
from ego2world.core.statistics import RESAMPLES
from ego2world.errors import RecordError, UsageError
from ego2world.evaluate import METRICS, RESOURCES, TaskEndpoint, score_run
from ego2world.evaluate.compare import compare_runs
from ego2world.evaluate.metrics import Metric, read_settings
from ego2world.evaluate.replay import RunRecords, replay
from ego2world.evaluate.review import RunReview
from ego2world.report.figures import draw_figures
from ego2world.report.trace import episode_trace
from ego2world.world.episode import load_episode

Progress = Callable[[str, int, int], None]
LADDER = (
    ("random", None),
    ("symbolic", "none"),
    ("llm", "none"),
    ("symbolic", "reset"),
    ("llm", "reset"),
    ("symbolic", "persistent"),
    ("llm", "persistent"),
    ("reference", None),
)


@dataclass
class Report:
    """Everything that the page is made from."""

    runs: Sequence[Path]
    scores: list[dict[str, Any]]
    labels: list[str]
    compared: dict[str, Any]
    metrics: Mapping[str, Metric]
    reviews: list[dict[str, Any] | None] = field(default_factory=list)
    traces: list[str | None] = field(default_factory=list)  # packed, run by run
    instructions: dict[tuple[str, str], str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def plain(self) -> dict[str, Any]:
        """Return scores.json."""
        reviews = dict(zip(self.labels, self.reviews, strict=True))
        return {"runs": self.scores, "labels": self.labels, "compared": self.compared, "reviews": reviews}


def make_report(
    runs: Sequence[Path],
    worlds: Path | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
    with_traces: bool = True,
    jobs: int = 1,
    progress: Progress | None = None,
    metrics: Mapping[str, Metric] = METRICS,
) -> Report:
    """Score runs, compare them, and lay them beside their worlds.

    Args:
        runs: run folders.
        worlds: the collection that they ran on; by default the folder that each run names. Without it there are no
            traces, no collateral and no overlap, and the report says so.
        seed: of all resampling.
        resamples: how many.
        with_traces: whether to work out the traces.
        jobs: processes that replay runs.
        progress: called with (what, done, total).
        metrics: by name.
    """
    scores = [score_run(run, metrics) for run in runs]
    report = Report(runs, scores, _labels(scores, runs), {}, metrics)
    report.compared = compare_runs(scores, report.labels, seed, resamples)
    with _pool(min(jobs, len(runs))) as pool:
        waiting = [
            pool.submit(_lay_beside, worlds, run, s["per_task"], with_traces)
            for run, s in zip(runs, scores, strict=True)
        ]
        for number, future in enumerate(waiting):
            if progress:
                progress(f"replaying {report.labels[number]}", number, len(runs))
            found = future.result()
            report.instructions |= found.instructions
            report.reviews.append(found.review)
            report.traces.append(found.traces)
            if found.problem:
                report.problems.append(
                    f"No traces, collateral and overlap for {report.labels[number]}: {found.problem} "
                    "(give the worlds of the runs with --worlds)"
                )
    return report


@dataclass
class _Beside:
    """What came of laying a run beside its worlds."""

    review: dict[str, Any] | None = None
    traces: str | None = None
    instructions: dict[tuple[str, str], str] = field(default_factory=dict)
    problem: str = ""


def _pool(jobs: int) -> Executor:
    return ThreadPoolExecutor(1) if jobs == 1 else process_pool(jobs)


def _lay_beside(worlds: Path | None, run: Path, scored: Sequence[Mapping[str, Any]], with_traces: bool) -> _Beside:
    """Replay a run in its worlds."""
    settings = read_settings(run)
    folder = worlds or Path(settings.get("worlds") or "?")
    review, traces, instructions = RunReview.of(scored), dict[str, Any](), dict[tuple[str, str], str]()
    try:
        records = RunRecords.read(run, settings)
        ended = set(records.episodes)
        for name in settings["episodes"]:
            episode = load_episode(folder, name)
            instructions |= {(name, task.id): task.instruction for task in episode.tasks}
            if name in ended:
                groups = list(replay(episode, records))
                review.add(episode, groups)
                if with_traces:
                    traces[name] = episode_trace(episode, groups, records)
    except (UsageError, RecordError) as error:
        return _Beside(None, None, instructions, str(error))
    return _Beside(review.plain(), _pack(traces) if with_traces else None, instructions)


def write_report(
    runs: Sequence[Path],
    out: Path,
    worlds: Path | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
    jobs: int = 1,
    progress: Progress | None = None,
    metrics: Mapping[str, Metric] = METRICS,
) -> list[dict[str, Any]]:
    """Write scores.json, figures/ and index.html; see ``make_report``.

    Returns:
        One score object a run, in the order given.
    """
    report = make_report(runs, worlds, seed, resamples, jobs=jobs, progress=progress, metrics=metrics)
    write_atomic(out / "scores.json", pretty_json(report.plain()))
    figures = write_figures(
        draw_figures(report.scores, report.labels, report.compared, report.metrics), out / "figures"
    )
    write_atomic(out / "index.html", render(report, figures).encode())
    return report.scores


def render(report: Report, figures: Mapping[str, str], version: str = "") -> str:
    """Return the page. With a ``version`` it is a live one: traces come from the server, and it reloads when the
    version changes."""
    environment = Environment(
        loader=PackageLoader("ego2world.report", "."),
        autoescape=select_autoescape(default=True, default_for_string=True),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    scores = report.scores
    return environment.get_template("page.html.j2").render(
        runs=scores,
        labels=report.labels,
        labelled=list(zip(report.labels, scores, report.reviews, strict=True)),
        compared=report.compared,
        reviews=report.reviews,
        problems=report.problems,
        figures=figures,
        metrics=report.metrics,
        endpoints=tuple(TaskEndpoint),
        resources=RESOURCES,
        traces=report.traces,
        task_rows=_task_rows(report),
        ladder=_ladder(scores),
        same_worlds=len({str(s["episode_sha256"]) for s in scores}) <= 1,
        live=bool(version),
        version=version,
        used=lambda name: any(s["resources"].get(name) for s in scores),
        css=page_css(),
        js=_asset("page.js"),
    )


def _asset(name: str) -> str:
    return (files("ego2world.report") / name).read_text("utf-8")


def _pack(traces: Mapping[str, Any]) -> str:
    """Return traces as compressed JSON in base64, the same bytes for the same traces."""
    data = json.dumps(traces, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    return base64.b64encode(gzip.compress(data, 6, mtime=0)).decode()


def _labels(scores: Sequence[Mapping[str, Any]], runs: Sequence[Path]) -> list[str]:
    """Return how runs are called: by planner, model and memory where that tells them apart, else by their folders as
    well."""
    short = [" / ".join(filter(None, (s["planner"], s.get("model"), s["memory"]))) for s in scores]
    if len(set(short)) == len(short):
        return short
    named = [f"{label} ({run.name})" for label, run in zip(short, runs, strict=True)]
    return named if len(set(named)) == len(named) else [f"{n + 1}. {label}" for n, label in enumerate(named)]


def _ladder(scores: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return the complete runs in the order random, no belief, reset, persistent, reference."""
    return [
        number
        for planner, memory in LADDER
        for number, s in enumerate(scores)
        if s["complete"] and s["planner"] == planner and memory in {None, s["memory"]}
    ]


def _task_rows(report: Report) -> list[dict[str, Any]]:
    """Return one row a task with a cell a run, in the order of the first run that has it."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for number, score in enumerate(report.scores):
        for task in score["per_task"]:
            key = (task["episode"], task["task"])
            row = rows.setdefault(
                key,
                {
                    "episode": key[0],
                    "task": key[1],
                    "tier": task["tier"],
                    "instruction": report.instructions.get(key, ""),
                    "cells": [None] * len(report.scores),
                },
            )
            row["cells"][number] = task
    for row in rows.values():
        successes = [cell["success"] for cell in row["cells"] if cell]
        row["outcome"] = "all" if all(successes) else "none" if not any(successes) else "mixed"
        row["text"] = f"{row['episode']} {row['task']} {row['tier']} {row['instruction']}".lower()
    return list(rows.values())
