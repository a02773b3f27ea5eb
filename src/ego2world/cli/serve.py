"""ego2world serve"""

from pathlib import Path

import typer

from ego2world.cli.common import err, out
from ego2world.core.extras import extra
from ego2world.errors import UsageError
from ego2world.evaluate.metrics import read_settings
from ego2world.judge.panel import PANEL
from ego2world.qa.review import COHORT


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("serve")
    def serve_command(
        paths: list[Path] = typer.Argument(
            help="Run folders, finished or still running; or one review (from qa cohort) or panel (from judge panel)."
        ),
        worlds: Path | None = typer.Option(
            None, help="The collection the runs were made on; default: the path recorded in the runs."
        ),
        media: Path | None = typer.Option(None, help="Folder of videos to show in a review."),
        host: str = typer.Option("127.0.0.1", help="Address to listen on; only this machine by default."),
        port: int = typer.Option(8765, min=0, max=65535, help="Port to listen on."),
    ) -> None:
        """Serve a live report of runs, or the pages of a review or an annotation panel; stop with Ctrl-C.

        Example: ego2world serve runs/symbolic-persistent runs/symbolic-reset
        """
        review, panel = (paths[0] / COHORT).is_file(), (paths[0] / PANEL).is_file()
        if (review or panel) and len(paths) > 1:
            raise UsageError("one review or panel at a time; they do not mix with runs")
        with extra("web", "serve"):
            import uvicorn

            from ego2world.web import live_app, review_app  # optional dependencies' single entry
            from ego2world.web.annotate import annotate_app
        names = frozenset({"127.0.0.1", "localhost", "[::1]", host})
        if panel:
            app_ = annotate_app(paths[0], names)
        elif review:
            app_ = review_app(paths[0], media, names)
        else:
            for path in paths:
                read_settings(path)
            app_ = live_app(paths, worlds)
        if host not in {"127.0.0.1", "localhost", "::1"}:
            err.print(
                f"listening on {host}: everyone who reaches this machine can read"
                f" {'and decide' if review or panel else 'these runs'}"
            )
        out.print(f"http://{host}:{port}  (Ctrl-C stops)", soft_wrap=True)
        uvicorn.run(app_, host=host, port=port, log_level="warning")
