"""ego2world export"""

from pathlib import Path

import typer

from ego2world.cli.common import out, progress
from ego2world.errors import UsageError
from ego2world.world.episode import load_episode, load_manifest


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("export")
    def export_command(
        source: Path = typer.Argument(help="A run folder (inspect), or a compiled collection (clips)."),
        to: str = typer.Option(
            ..., "--to", help="inspect: a log for inspect view. clips: each episode drawn as EPISODE.mp4."
        ),
        out_dir: Path = typer.Option(..., "--out", help="Folder to write to."),
    ) -> None:
        """Write a run or a collection for other tools.

        Example: ego2world export runs/llm --to inspect --out logs && inspect view start --log-dir logs
        """
        if to not in TARGETS:
            raise UsageError(f"no target {to!r}; there are: {', '.join(TARGETS)}")
        TARGETS[to](source, out_dir)


def _inspect(source: Path, out_dir: Path) -> None:
    try:
        from ego2world.inspect import write_inspect_log  # an optional dependency's door
    except ImportError as error:
        raise UsageError(f"--to inspect needs the extra: pip install 'ego2world[llm]' ({error})") from None
    path = write_inspect_log(source, out_dir)
    out.print(f"{path}  open it with: inspect view start --log-dir {out_dir}", soft_wrap=True, markup=False)


def _clips(source: Path, out_dir: Path) -> None:
    try:
        from ego2world.render import draw_episode  # an optional dependency's door
    except ImportError as error:
        raise UsageError(f"--to clips needs the extra: pip install 'ego2world[video]' ({error})") from None
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


TARGETS = {"inspect": _inspect, "clips": _clips}
