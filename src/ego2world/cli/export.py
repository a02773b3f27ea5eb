"""ego2world export"""

from pathlib import Path

import typer

from ego2world.cli.common import out
from ego2world.errors import UsageError

TARGETS = ("inspect",)


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("export")
    def export_command(
        source: Path = typer.Argument(help="A run folder."),
        to: str = typer.Option(..., "--to", help=f"One of: {', '.join(TARGETS)} (a log for inspect view)."),
        out_dir: Path = typer.Option(..., "--out", help="Folder to write to."),
    ) -> None:
        """Write a run for other tools.

        Example: ego2world export runs/llm --to inspect --out logs && inspect view start --log-dir logs
        """
        if to not in TARGETS:
            raise UsageError(f"no target {to!r}; there are: {', '.join(TARGETS)}")
        try:
            from ego2world.inspect import write_inspect_log  # an optional dependency's door
        except ImportError as error:
            raise UsageError(f"--to inspect needs the extra: pip install 'ego2world[llm]' ({error})") from None
        path = write_inspect_log(source, out_dir)
        out.print(f"{path}  open it with: inspect view start --log-dir {out_dir}", soft_wrap=True, markup=False)
