"""ego2world demo"""

from __future__ import annotations

import shutil
from pathlib import Path

import typer

from ego2world.annotations.hd_epic import read_hd_epic
from ego2world.cli.common import AUDIT_FAILED, out, progress, scores_table
from ego2world.errors import UsageError
from ego2world.report import write_report
from ego2world.run.loop import Settings, run
from ego2world.samples import sample_source
from ego2world.tasks.audit import audit
from ego2world.tasks.build import build_worlds

RUNS = (("reference", "persistent"), ("symbolic", "persistent"), ("symbolic", "reset"), ("random", "persistent"))
MARK = ".ego2world-demo"


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("demo")
    def demo_command(
        out_dir: Path = typer.Option(
            Path("demo"), "--out", help="Folder to write to; an earlier demo in it is replaced."
        ),
    ) -> None:
        """Run the whole job on the sample kitchens: compile, audit, act, score, report.

        Example: ego2world demo --out demo
        """
        if out_dir.exists() and any(out_dir.iterdir()):
            if not (out_dir / MARK).is_file():
                raise UsageError(f"{out_dir} exists and holds no earlier demo; choose another --out folder")
            shutil.rmtree(out_dir)
        out_dir.mkdir(parents=True, exist_ok=True)
        (out_dir / MARK).touch()
        worlds = out_dir / "worlds"
        with progress("compiling") as update:
            totals = build_worlds(read_hd_epic(sample_source()), worlds, progress=update)["totals"]
        out.print(
            f"compiled  {totals['narrations']} narrations of {totals['videos']} videos into {totals['operations']} operations and {totals['tasks']} tasks"
        )
        with progress("auditing") as update:
            checked = audit(worlds, update)
        out.print(
            f"audited   {checked['negative_rejected']} of {checked['negative_suites']} negative suites rejected; verdict: {checked['verdict']}"
        )
        folders = []
        for planner, memory in RUNS:
            folder = out_dir / "runs" / f"{planner}-{memory}"
            with progress(f"running {planner}") as update:
                run(worlds, folder, Settings(planner, memory), None, update)
            folders.append(folder)
        scores = write_report(folders, out_dir / "report")
        out.print()
        out.print(scores_table(scores))
        out.print(f"\nreport: {out_dir / 'report' / 'index.html'}\n\nNext, try:", soft_wrap=True)
        first = next(iter(read_hd_epic(sample_source()).narrations))
        out.print(
            f"  ego2world show {worlds} {first}              what was compiled from which narration", soft_wrap=True
        )
        out.print(f"  ego2world play {worlds} {first}              act in it yourself", soft_wrap=True)
        out.print("  ego2world compile YOUR_ANNOTATIONS --out worlds   your own data (docs/DATA.md)", soft_wrap=True)
        if checked["verdict"] != "pass":
            raise typer.Exit(AUDIT_FAILED)
