"""ego2world run"""

import json
from pathlib import Path
from typing import Any

import typer

from ego2world.agents import PLANNERS, Memory
from ego2world.cli.common import out, print_json, progress, scores_table
from ego2world.errors import RecordError, UsageError
from ego2world.evaluate import score_run
from ego2world.run.loop import Settings, run


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("run")
    def run_command(
        worlds: Path = typer.Argument(help="A compiled collection."),
        planner: str = typer.Option("symbolic", help=f"One of: {', '.join(PLANNERS)}."),
        memory: Memory = typer.Option(Memory.PERSISTENT, help="What becomes of belief between groups."),
        out_dir: Path = typer.Option(..., "--out", help="Run folder; an unfinished run in it is resumed."),
        suite: Path | None = typer.Option(None, help="JSON file with episodes, tasks and hashes; default: everything."),
        episodes: str | None = typer.Option(None, help="Only these episodes, comma-separated."),
        limit: int = typer.Option(80, min=1, help="Attempts per group."),
        seed: int = typer.Option(0, help="Seed of the random planner."),
        script: Path | None = typer.Option(None, help="Actions for the scripted planner (JSON lines)."),
        as_json: bool = typer.Option(False, "--json", help="Print the scores as JSON."),
    ) -> None:
        """Let a planner act in the worlds.

        Example: ego2world run worlds --planner symbolic --memory reset --out runs/symbolic-reset
        """
        if planner not in PLANNERS:
            raise UsageError(f"no planner {planner!r}; there are: {', '.join(PLANNERS)}")
        if script is not None and not script.is_file():
            raise UsageError(f"no script {script}")
        chosen = tuple(e.strip() for e in episodes.split(",") if e.strip()) if episodes else ()
        settings = Settings(
            planner, memory, limit, seed, suite.name if suite else "all", str(script) if script else None, chosen
        )
        with progress("running") as update:
            run(worlds, out_dir, settings, _suite(suite), update)
        score = score_run(out_dir)
        if as_json:
            print_json({k: score[k] for k in ("planner", "memory", "suite", "metrics", "resources", "tasks", "groups")})
        else:
            out.print(scores_table([score]))
            out.print(f"records in {out_dir}. Next: ego2world report {out_dir} --out report", soft_wrap=True)


def _suite(path: Path | None) -> dict[str, Any] | None:
    if path is None:
        return None
    if not path.is_file():
        raise UsageError(f"no suite file {path}")
    try:
        data: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise RecordError(str(path), f"not valid JSON ({error})") from None
    return data
