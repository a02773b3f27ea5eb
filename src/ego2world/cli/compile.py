"""ego2world compile"""

from collections.abc import Mapping
from pathlib import Path

import typer

from ego2world.annotations.formats import READERS, read_source
from ego2world.cli.common import RAY_OPTION, err, names, out, print_json, progress
from ego2world.collection import build_worlds
from ego2world.errors import CompileError
from ego2world.world.fluents import NarrationOutcome


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("compile")
    def compile_command(
        source: Path = typer.Argument(help="Annotations directory, in the data set's official layout."),
        out_dir: Path = typer.Option(..., "--out", help="Output folder for the worlds."),
        form: str = typer.Option(
            "hd-epic", "--format", help=f"{' or '.join(READERS)}, or MODULE:NAME of a reader of your own."
        ),
        videos: str | None = typer.Option(None, help="Only these videos, comma-separated."),
        jobs: int = typer.Option(1, min=1, help="Worker processes; the output does not depend on it."),
        strict: bool = typer.Option(False, help="Stop at malformed rows instead of leaving them out."),
        ray: str | None = RAY_OPTION,
        as_json: bool = typer.Option(False, "--json", help="Print the totals as JSON."),
    ) -> None:
        """Compile annotations into worlds.

        Example: ego2world compile hd-epic-annotations --out worlds --videos P01-20240202-110250
        """
        dataset = read_source(source, form, names(videos) or None, strict)
        for problem in dataset.left_out[:5]:
            err.print(f"[yellow]left out[/]: {str(problem).replace('[', '(')}", soft_wrap=True)
        if len(dataset.left_out) > 5:
            err.print(f"[yellow]left out[/]: {len(dataset.left_out) - 5} more rows, listed in manifest.json")
        for warning in dataset.warnings[:5]:
            err.print(f"[yellow]note[/]: {str(warning).replace('[', '(')}", soft_wrap=True)
        if len(dataset.warnings) > 5:
            err.print(f"[yellow]note[/]: {len(dataset.warnings) - 5} more, listed in manifest.json under warnings")
        with progress("compiling") as update:
            manifest = build_worlds(dataset, out_dir, jobs, update, ray)
        totals = manifest["totals"]
        for video, error in manifest["failed"].items():
            err.print(f"[red]failed[/]: {video}: {error.replace('[', '(')}", soft_wrap=True)
        code = CompileError.exit_code if manifest["failed"] else 0
        if as_json:
            print_json(totals)
            raise typer.Exit(code)
        inferred = totals["operations_inferred"] / max(1, totals["operations"])
        out.print(f"{totals['videos']} videos, {totals['narrations']} narrations: {_outcomes(totals)}", soft_wrap=True)
        out.print(
            f"{totals['operations']} operations of {totals['action_types_used']} action types ({inferred:.1%}"
            f" inferred), {totals['entities']} entities"
        )
        out.print(
            f"{totals['groups']} groups, {totals['tasks']} tasks: {totals['tasks_terminal']} terminal-state,"
            f" {totals['tasks_event']} event"
        )
        out.print(f"written to {out_dir}. Next: ego2world audit {out_dir}", soft_wrap=True)
        raise typer.Exit(code)


def _outcomes(totals: Mapping[str, int]) -> str:
    """Say what became of the narrations, each kind with its number."""
    words = {
        NarrationOutcome.ACTED: "change the world",
        NarrationOutcome.EVENT_ONLY: "are events without effect",
        NarrationOutcome.REPEAT: "repeat what is so already",
        NarrationOutcome.ATTEMPT: "are attempts",
        NarrationOutcome.STATEMENT: "tell of no act",
        NarrationOutcome.OTHER_PERSON: "are done by others",
        NarrationOutcome.LOST: "are lost",
    }
    return ", ".join(f"{totals[outcome]} {text}" for outcome, text in words.items() if totals[outcome])
