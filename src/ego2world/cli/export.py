"""ego2world export"""

from collections.abc import Callable
from pathlib import Path

import typer

from ego2world.cli.common import out, progress
from ego2world.core.extras import extra
from ego2world.errors import UsageError
from ego2world.planning import Dialect, export_tasks
from ego2world.render import draw_episode
from ego2world.world.episode import load_episode, load_manifest


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("export")
    def export_command(
        source: Path = typer.Argument(help="A compiled collection, or a run folder (inspect, parquet)."),
        to: str = typer.Option(..., "--to", help="pddl, gymnasium-spec, parquet, clips or inspect."),
        out_dir: Path = typer.Option(..., "--out", help="Output folder."),
        dialect: str = typer.Option("typed", help="For pddl: typed, or flat for planners that reject subtypes."),
        features: str = typer.Option("adl", help="For pddl: adl, or conditional for planners without quantifiers."),
    ) -> None:
        """Write a run or a collection for other tools.

        pddl: a domain and problem for each task, with its reference as a plan. gymnasium-spec: spaces and actions of
            each
        episode. parquet: every table as columns. clips: each episode drawn as EPISODE.mp4. inspect: a log for inspect
        view.

        Example: ego2world export worlds --to pddl --out pddl
        """
        if to not in TARGETS:
            raise UsageError(f"no target {to!r}; there are: {', '.join(TARGETS)}")
        if to == "pddl":
            _pddl(source, out_dir, Dialect(dialect, features))
        else:
            TARGETS[to](source, out_dir)


def _pddl(source: Path, out_dir: Path, dialect: Dialect | None = None) -> None:
    with progress("exporting") as update:
        tasks = export_tasks(source, out_dir, dialect or Dialect(), update)
    out.print(
        f"{tasks} tasks in {out_dir}/EPISODE/TASK: domain.pddl, problem.pddl, names.json; reference/ has the recorded"
        " plan",
        soft_wrap=True,
    )


def _inspect(source: Path, out_dir: Path) -> None:
    with extra("llm", "--to inspect"):
        from ego2world.inspect import write_inspect_log  # an optional dependency's single entry
    path = write_inspect_log(source, out_dir)
    out.print(f"{path}  open it with: inspect view start --log-dir {out_dir}", soft_wrap=True, markup=False)


def _clips(source: Path, out_dir: Path) -> None:
    names = list(load_manifest(source)["episodes"])
    with progress("drawing") as update:
        for number, name in enumerate(names, 1):
            draw_episode(load_episode(source, name), out_dir / f"{name}.mp4")
            update(name, number, len(names))
    out.print(
        f"{len(names)} clips in {out_dir}, on the clock of their source; use them with: run ... --frames {out_dir}",
        soft_wrap=True,
        markup=False,
    )


def _spec(source: Path, out_dir: Path) -> None:
    with extra("gym", "--to gymnasium-spec"):
        from ego2world.envs import write_specs  # an optional dependency's single entry
    with progress("exporting") as update:
        tasks = write_specs(source, out_dir, update)
    out.print(
        f"{tasks} tasks in {out_dir}/EPISODE/TASK.json: spaces, actions by number, what each column of an observation"
        " holds",
        soft_wrap=True,
    )


def _parquet(source: Path, out_dir: Path) -> None:
    with extra("parquet", "--to parquet"):
        from ego2world.report.tables import write_tables  # an optional dependency's single entry
    out.print(f"{', '.join(write_tables(source, out_dir))} in {out_dir}", soft_wrap=True)


TARGETS: dict[str, Callable[[Path, Path], None]] = {
    "pddl": _pddl,
    "gymnasium-spec": _spec,
    "parquet": _parquet,
    "inspect": _inspect,
    "clips": _clips,
}
