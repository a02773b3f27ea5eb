"""ego2world serve"""

from pathlib import Path

import typer

from ego2world.cli.common import err, extra, out
from ego2world.evaluate.metrics import read_settings


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("serve")
    def serve_command(
        paths: list[Path] = typer.Argument(help="Run folders, finished or going on."),
        worlds: Path | None = typer.Option(None, help="The collection; default: the folder that the runs name."),
        host: str = typer.Option("127.0.0.1", help="Address to listen on; only this machine by default."),
        port: int = typer.Option(8765, min=0, max=65535, help="Port to listen on."),
    ) -> None:
        """Show the report of runs while they go on; stop with Ctrl-C.

        Example: ego2world serve runs/symbolic-persistent runs/symbolic-reset
        """
        with extra("web", "serve"):
            import uvicorn

            from ego2world.web import live_app  # optional dependencies' door
        for path in paths:
            read_settings(path)
        if host not in {"127.0.0.1", "localhost", "::1"}:
            err.print(f"listening on {host}: everyone who reaches this machine can read these runs")
        out.print(f"http://{host}:{port}  (Ctrl-C stops)", soft_wrap=True)
        uvicorn.run(live_app(paths, worlds), host=host, port=port, log_level="warning")
