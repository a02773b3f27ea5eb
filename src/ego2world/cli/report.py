"""ego2world report"""

import os
from pathlib import Path

import typer

from ego2world.cli.common import out, print_json, progress, scores_table
from ego2world.core.statistics import RESAMPLES
from ego2world.evaluate import JSON_FIELDS
from ego2world.evaluate.metrics import find_metrics
from ego2world.report import write_report


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("report")
    def report_command(
        runs: list[Path] = typer.Argument(help="Run folders."),
        out_dir: Path = typer.Option(..., "--out", help="Output folder for scores.json, index.html and figures/."),
        worlds: Path | None = typer.Option(
            None, help="The collection the runs were made on; default: the path recorded in the runs."
        ),
        seed: int = typer.Option(0, help="Seed of all resampling."),
        resamples: int = typer.Option(RESAMPLES, min=100, help="Bootstrap resamples."),
        jobs: int = typer.Option(
            os.cpu_count() or 1, min=1, show_default="all cores", help="Worker processes for replaying runs."
        ),
        metric: list[str] = typer.Option(
            [], metavar="MODULE:NAME", help="A metric of your own (docs/EXTENDING.md); may be repeated."
        ),
        as_json: bool = typer.Option(False, "--json", help="Print the scores as JSON."),
    ) -> None:
        """Score runs, compare them with intervals, and write a page with every task's trace.

        Example: ego2world report runs/symbolic-persistent runs/symbolic-reset --out report
        """
        metrics = find_metrics(metric)
        with progress("reporting") as update:
            scores = write_report(runs, out_dir, worlds, seed, resamples, jobs, update, metrics)
        if as_json:
            print_json([{key: score[key] for key in JSON_FIELDS} for score in scores])
            return
        out.print(scores_table(scores, metrics))
        out.print(
            f"page: {out_dir / 'index.html'}   scores: {out_dir / 'scores.json'}   figures: {out_dir / 'figures'}",
            soft_wrap=True,
        )
