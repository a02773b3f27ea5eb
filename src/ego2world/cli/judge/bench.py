"""ego2world judge init, check, rollouts: the files of a benchmark"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import typer
from rich.table import Table
from rich.text import Text

from ego2world.cli.common import AUDIT_FAILED, err, names, out, print_json, progress
from ego2world.core.video import FileStatus
from ego2world.errors import UsageError
from ego2world.judge.benchmark import check, read_benchmark
from ego2world.judge.layout import Design, init
from ego2world.rollouts.benchmark import make_rendered

JOBS = typer.Option(os.cpu_count() or 1, min=1, show_default="all cores", help="Videos decoded or drawn in parallel.")


def register(judge: typer.Typer) -> None:
    """Add the commands."""

    @judge.command("init")
    def init_command(
        folder: Path = typer.Argument(help="Videos and cases.jsonl or cases.csv (layout: docs/JUDGING.md)."),
        out_dir: Path | None = typer.Option(
            None, "--out", help="Output folder for the benchmark; default: the input folder."
        ),
        models: str | None = typer.Option(
            None, help="Models expected for every case; default: all models found in any case."
        ),
        seeds: str | None = typer.Option(None, help="Seeds expected for every case."),
        takes: int | None = typer.Option(
            None, min=0, help="Recordings expected per case of each human kind (success, failure)."
        ),
        least_s: float = typer.Option(
            0.0, min=0, help="Minimum length in seconds; shorter videos are reported as short."
        ),
        most_s: float | None = typer.Option(
            None, min=0, help="Maximum length in seconds; longer videos are reported as long."
        ),
        jobs: int = JOBS,
        as_json: bool = typer.Option(False, "--json", help="Print totals and problems as JSON."),
    ) -> None:
        """Create a benchmark from a folder of videos: a manifest of all expected videos and the status of each file.

        Exit code 9 if a video is missing, broken or unexpected; the manifest is still written.

        Example: ego2world judge init videos --models wan,kling --seeds 101,202,303 --takes 3
        """
        numbers = _numbers(seeds)
        with progress("videos") as update:
            bench, problems = init(
                folder, out_dir or folder, Design(names(models), numbers, takes, least_s, most_s), jobs, update
            )
        _say(bench, problems, as_json)

    @judge.command("check")
    def check_command(
        bench: Path = typer.Argument(help="A benchmark."),
        jobs: int = JOBS,
        as_json: bool = typer.Option(False, "--json", help="Print totals and problems as JSON."),
    ) -> None:
        """Check cases, scenes and videos (bytes and frames) against the manifest. Exit code 9 if anything is wrong.

        Example: ego2world judge check bench
        """
        read = read_benchmark(bench)
        with progress("videos") as update:
            problems = check(read, jobs, update)
        _say(read, problems, as_json)

    @judge.command("rollouts")
    def rollouts_command(
        worlds: Path = typer.Argument(help="A compiled collection, such as demo/worlds."),
        out_dir: Path = typer.Option(..., "--out", help="Output folder for the benchmark."),
        cases: int = typer.Option(20, min=1, help="Maximum number of cases."),
        takes: int = typer.Option(1, min=1, help="Recordings per case of each human kind (success, failure)."),
        seeds: str = typer.Option("101", help="Seeds of the four drawing models."),
        seed: int = typer.Option(0, help="Seed of the choice of objects, variants and faults."),
        jobs: int = JOBS,
    ) -> None:
        """Draw rollouts of executable worlds, correct ones and ones with planted faults: a benchmark with known
        answers.

        Example: ego2world judge rollouts demo/worlds --out rollouts
        """
        with progress("clips") as update:
            made = make_rendered(worlds, out_dir, cases, takes, _numbers(seeds), seed, jobs, update)
        out.print(f"{len(made.videos)} clips of {len(made.cases)} cases  ({out_dir})", markup=False, soft_wrap=True)
        out.print(
            f"Next: ego2world judge run {out_dir} --backend vision --out runs/vision", markup=False, soft_wrap=True
        )


def _numbers(text: str | None) -> tuple[int, ...]:
    try:
        return tuple(int(one) for one in names(text))
    except ValueError:
        raise UsageError(f"--seeds {text}: needed whole numbers, such as 101,202,303") from None


def _say(bench: object, problems: Sequence[object], as_json: bool) -> None:
    from ego2world.judge.benchmark import Benchmark, BenchmarkProblem  # loaded already; for its types

    assert isinstance(bench, Benchmark)
    found = [p for p in problems if isinstance(p, BenchmarkProblem)]
    kinds = Counter(p.kind for p in found)
    if as_json:
        print_json(
            {
                "cases": len(bench.cases),
                "videos": len(bench.videos),
                "by_status": dict(sorted(Counter(v.status for v in bench.videos).items())),
                "problems": [p.plain() for p in found],
            }
        )
    else:
        table = Table(box=None, pad_edge=False)
        for column in ("origin", "videos", "ok", "other"):
            table.add_column(column, justify="left" if column == "origin" else "right")
        for origin in sorted({v.origin for v in bench.videos}):
            rows = [v for v in bench.videos if v.origin == origin]
            ok = sum(v.status is FileStatus.OK for v in rows)
            table.add_row(Text(origin), str(len(rows)), str(ok), str(len(rows) - ok))
        out.print(table)
        for one in found[:50]:
            out.print(str(one), markup=False, soft_wrap=True)
        if len(found) > 50:
            out.print(f"... and {len(found) - 50} more; --json prints all")
        out.print(
            f"{len(bench.cases)} cases, {len(bench.videos)} videos expected; "
            + (", ".join(f"{n} {k}" for k, n in sorted(kinds.items())) or "all is as it should be"),
            soft_wrap=True,
        )
    if found:
        err.print("videos that are not ok get no score, and are counted; nothing is left out silently", soft_wrap=True)
        raise typer.Exit(AUDIT_FAILED)
