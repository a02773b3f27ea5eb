"""ego2world qa: questions made from worlds, and anybody's questions: audits, models, scores, exports"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from ego2world.cli.common import RAY_OPTION, names, out, print_json, progress
from ego2world.qa.build import Settings, build
from ego2world.qa.choose import Plan


def register(app: typer.Typer) -> None:
    """Add the commands."""
    qa = typer.Typer(
        no_args_is_help=True,
        help="Questions on the ego-action-world loop: build, check, audit, answer, score, export; vqa, select.",
    )
    app.add_typer(qa, name="qa")

    @qa.command("build")
    def build_command(
        worlds: Path = typer.Argument(help="A compiled collection."),
        out_dir: Path = typer.Option(..., "--out", help="The folder of the questions."),
        episodes: str | None = typer.Option(None, help="Only these episodes, comma-separated."),
        window: float = typer.Option(30.0, min=1.0, help="Seconds of the windows that questions are counted in."),
        per_window: int = typer.Option(3, min=1, help="Questions of a category in a window, at most."),
        options: int = typer.Option(4, min=2, max=8, help="Options of a multiple choice."),
        test_share: float = typer.Option(0.2, min=0.0, max=1.0, help="Share of the videos in the split 'test'."),
        jobs: int = typer.Option(1, min=1, help="Processes."),
        ray: str | None = RAY_OPTION,
        as_json: bool = typer.Option(False, "--json", help="Print the manifest as JSON."),
    ) -> None:
        """Make questions, bind each to evidence, and keep those that every check lets through.

        Example: ego2world qa build worlds --out qa
        """
        settings = Settings(Plan(window, per_window, options), test_share, names(episodes))
        with progress("questions") as update:
            manifest = build(worlds, out_dir, settings, jobs, update, ray)
        if as_json:
            print_json(manifest)
            return
        out.print(_counts(manifest))
        totals = manifest["totals"]
        out.print(
            f"{totals['accepted']} groups accepted ({totals['repaired']} of them repaired), {totals['rejected']} rejected, "
            f"{totals['review']} for review  ({out_dir})", soft_wrap=True,
        )  # fmt: skip
        for name, failure in manifest["failed"].items():
            out.print(f"failed: {name}: {failure['message']}", markup=False, soft_wrap=True)
        out.print(f"Next: ego2world qa check {out_dir}; ego2world qa audit {out_dir}", markup=False)


def _counts(manifest: dict[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("category")
    table.add_column("groups", justify="right")
    for name, count in manifest["by_category"].items():
        table.add_row(name, str(count))
    for field, label in (("by_modality", "modality"), ("by_turns", "turns"), ("by_format", "format")):
        table.add_section()
        for name, count in manifest[field].items():
            table.add_row(f"{label}: {name}", str(count))
    return table
