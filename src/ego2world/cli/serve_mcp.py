"""ego2world serve-mcp"""

import threading
from pathlib import Path

import typer

from ego2world.agents.remote import RemotePlanner, Seat
from ego2world.cli.common import err, names
from ego2world.core.extras import extra
from ego2world.errors import Ego2WorldError
from ego2world.evaluate import score_run
from ego2world.run.loop import RunSettings, run


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("serve-mcp")
    def serve_mcp_command(
        worlds: Path = typer.Argument(help="A compiled collection."),
        out_dir: Path = typer.Option(..., "--out", help="Run folder; an unfinished run in it is resumed."),
        episodes: str | None = typer.Option(None, help="Only these episodes, comma-separated."),
        memory: str = typer.Option("persistent", help="Memory policy, as in ego2world run."),
        limit: int = typer.Option(80, min=1, help="Attempts per group."),
        agent: str = typer.Option("mcp", help="Name of the agent in the records."),
        port: int = typer.Option(
            0, min=0, max=65535, help="Serve over HTTP at http://127.0.0.1:PORT/mcp instead of stdin and stdout."
        ),
    ) -> None:
        """Let any MCP client act in the worlds; its actions are recorded and scored like a planner's run.

        Example: ego2world serve-mcp worlds --episodes K01-20250301-080000 --out runs/agent
        """
        with extra("mcp", "serve-mcp"):
            from ego2world.mcp import mcp_server  # an optional dependency's single entry
        seat, failed = Seat(), list[Ego2WorldError]()
        settings = RunSettings(agent, memory, limit, episodes=names(episodes))

        def play() -> None:
            try:
                run(worlds, out_dir, settings, make=lambda given: RemotePlanner(agent, seat))
                seat.end(f"all groups are played; {_words(out_dir)}")
            except Ego2WorldError as error:
                failed.append(error)
                seat.end(f"error: {error}")

        thread = threading.Thread(target=play, daemon=True)
        thread.start()
        thread.join(0.5)  # what is wrong from the start is said before a client connects
        if failed:
            raise failed[0]
        server = mcp_server(seat)
        try:
            if port:
                err.print(f"http://127.0.0.1:{port}/mcp  (Ctrl-C stops)", soft_wrap=True)
                server.run("streamable-http", port=port)
            else:
                server.run("stdio")
        finally:
            seat.leave()
            thread.join()
        if failed:
            raise failed[0]
        err.print(
            f"records in {out_dir}; re-run the same command to resume; score with: ego2world report {out_dir}",
            soft_wrap=True,
        )


def _words(out_dir: Path) -> str:
    metrics = score_run(out_dir)["metrics"]
    return ", ".join(f"{name} {value:.3f}" for name, value in metrics.items() if value is not None)
