"""ego2world judge panel, answers: human annotation"""

from __future__ import annotations

from pathlib import Path

import typer

from ego2world.cli.common import names, out, print_json, progress
from ego2world.errors import UsageError
from ego2world.judge.benchmark import read_benchmark
from ego2world.judge.panel import export, make_panel
from ego2world.judge.planning import read_plans


def register(judge: typer.Typer) -> None:
    """Add the commands."""

    @judge.command("panel")
    def panel_command(
        bench: Path = typer.Argument(help="A benchmark."),
        annotators: str = typer.Option(..., help="Names, such as anna,ben,cem."),
        out_dir: Path = typer.Option(..., "--out", help="Output folder; an unfinished panel in it is resumed."),
        plans: Path | None = typer.Option(None, help="The frozen plans; default: plans.jsonl in the benchmark."),
        seed: int = typer.Option(0, help="Seed of the orders and of which videos are repeated."),
        duplicates: float = typer.Option(
            0.05, min=0, max=1, help="Share of videos shown twice, without telling annotators."
        ),
        all_gates: bool = typer.Option(False, help="Ask every gate, even after a failure."),
        limit: int | None = typer.Option(None, min=1, help="Use only this many videos, drawn at random."),
        salt: str = typer.Option("", help="Salt of the clip names; default: derived from the seed and the videos."),
    ) -> None:
        """Create a blind panel: anonymised copies of the videos, in a different order for each annotator.

        Example: ego2world judge panel bench --annotators anna,ben,cem --out panel
        """
        read = read_benchmark(bench)
        path = plans or bench / "plans.jsonl"
        if not path.is_file():
            raise UsageError(f"no plans {path}; make some with: ego2world judge plan {bench} --out {path}")
        with progress("copies") as update:
            made = make_panel(
                read,
                read_plans(path, read),
                out_dir,
                names(annotators),
                seed,
                duplicates,
                all_gates,
                limit,
                salt,
                update,
            )
        twice = sum(item["is_duplicate"] for item in made["items"].values())
        out.print(
            f"{len(made['items']) - twice} videos, {twice} of them twice, for {annotators}  ({out_dir})",
            markup=False,
            soft_wrap=True,
        )
        out.print(f"Next: ego2world serve {out_dir}", markup=False, soft_wrap=True)

    @judge.command("answers")
    def answers_command(
        panel: Path = typer.Argument(help="A folder written by judge panel."),
        out_file: Path = typer.Option(..., "--out", help="Output file for the answers, in the judge's format."),
        as_json: bool = typer.Option(False, "--json", help="Print progress, consistency and drift as JSON."),
    ) -> None:
        """Write the annotators' answers so far, and report progress, consistency and drift.

        Example: ego2world judge answers panel --out people.jsonl
        """
        found = export(panel, out_file)
        if as_json:
            print_json(found)
            return
        for name, one in found["annotators"].items():
            twice = (
                f"{one['duplicate_same']} of {one['duplicate_answers']} answers the same on videos seen twice"
                if one["duplicate_answers"]
                else "no video seen twice yet"
            )
            drift = " then ".join(
                "-" if share is None else f"{100 * share:.0f} %" for share in one["pass_share_by_half"]
            )
            pace = "-" if one["median_seconds"] is None else f"{one['median_seconds']:.0f} s"
            out.print(
                f"{name}: {one['complete']} of {one['items']} videos; {twice}; passes {drift} by halves; {pace} a"
                " video",
                markup=False,
                soft_wrap=True,
            )
        out.print(f"{found['answers']} answers  ({out_file})", markup=False, soft_wrap=True)
        out.print(
            f"Next: ego2world judge run BENCH --backend answers:{out_file} --out runs/people",
            markup=False,
            soft_wrap=True,
        )
