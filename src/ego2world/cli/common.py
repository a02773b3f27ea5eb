"""What the commands share: consoles, progress on stderr, JSON on stdout, source formats, the table of scores."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from ego2world.evaluate.metrics import METRICS, Metric

out = Console(highlight=False, width=None if sys.stdout.isatty() else 160)  # a pipe gets whole lines
err = Console(stderr=True, highlight=False)
AUDIT_FAILED = 9  # exit code of checks whose verdict is not pass
INCOMPLETE = 11  # exit code of what stopped before its end and can be resumed
ACCEPT_CODE = typer.Option(
    False, "--accept-code", help="Resume records begun by a different version of the code; the head then names both."
)
RAY_OPTION = typer.Option(
    None,
    "--ray",
    metavar="[ADDRESS]",
    help="Run on Ray: ADDRESS, or omit it to use RAY_ADDRESS, else start a local cluster with --jobs workers.",
)


def register_named(group: typer.Typer, package: str, modules: Mapping[str, Sequence[str]], command: str) -> None:
    """Add a group's commands: those of the module that has the one named, all of them where none has."""
    wanted = [module for module, commands in modules.items() if command in commands]
    for module in wanted or modules:
        import_module(f"{package}.{module}").register(group)


def print_json(value: Any) -> None:
    """Print machine-readable output on stdout."""
    json.dump(value, sys.stdout, indent=1, sort_keys=True, allow_nan=False)
    sys.stdout.write("\n")


@contextmanager
def progress(label: str) -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar on stderr; yields a function of (current item, done, total)."""
    bar = Progress(
        TextColumn(label),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[item]}"),
        console=err,
        transient=True,
        disable=not err.is_terminal,
    )
    with bar:
        task = bar.add_task(label, total=None, item="")

        def update(item: str, done: int, total: int) -> None:
            bar.update(task, completed=done, total=total, item=item)

        yield update


def scores_table(scores: Sequence[dict[str, Any]], metrics: Mapping[str, Metric] = METRICS) -> Table:
    """Return the table of metrics and resources, one column a run."""
    table = Table(box=None, pad_edge=False)
    table.add_column("", no_wrap=True)
    for score in scores:
        table.add_column(f"{score['planner']}\n{score['memory']}", justify="right", overflow="fold")
    for name, metric in metrics.items():
        table.add_row(metric.title, *(metric_text(score, name, metric) for score in scores))
    for title, name in (
        ("tasks", "tasks"),
        ("of these scored", "tasks_scored"),
        ("of these terminal-state", "tasks_terminal"),
        ("of these event", "tasks_event"),
    ):
        table.add_row(title, *(str(score[name]) for score in scores))
    for title, name in (("attempts", "attempts"), ("of these accepted", "accepted")):
        table.add_row(title, *(str(score["pooled"][name]) for score in scores))
    for name in (
        "visual_queries",
        "visual_answers",
        "repeated_region_queries",
        "needless_looks",
        "cross_group_hits",
        "conflicts",
    ):
        table.add_row(name.replace("_", " "), *(str(score["resources"][name]) for score in scores))
    return table


def metric_text(score: dict[str, Any], name: str, metric: Metric) -> str:
    """Return a metric in its unit; for an incomplete run, of the scored tasks with the lower bound over all."""
    if score["complete"]:
        value = score["metrics"][name]
        return "no task" if value is None else metric.text(value)
    of_scored, bound = score["incomplete"]["of_scored"][name], score["incomplete"]["lower_bound"].get(name)
    if of_scored is None:
        return "not scored"
    text = metric.text
    return f"{text(of_scored)} of {score['tasks_scored']}" + ("" if bound is None else f", at least {text(bound)}")


def names(text: str | None) -> tuple[str, ...]:
    """Read a comma-separated list."""
    return tuple(name.strip() for name in text.split(",") if name.strip()) if text else ()
