"""ego2world report"""

from pathlib import Path

import typer

from ego2world.cli.common import out, print_json, scores_table
from ego2world.evaluate import JSON_FIELDS
from ego2world.report import write_report


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("report")
    def report_command(
        runs: list[Path] = typer.Argument(help="Run folders."),
        out_dir: Path = typer.Option(..., "--out", help="Folder for scores.json and index.html."),
        as_json: bool = typer.Option(False, "--json", help="Print the scores as JSON."),
    ) -> None:
        """Score runs and write a page.

        Example: ego2world report runs/symbolic-persistent runs/symbolic-reset --out report
        """
        scores = write_report(runs, out_dir)
        if as_json:
            print_json([{key: score[key] for key in JSON_FIELDS} for score in scores])
            return
        out.print(scores_table(scores))
        out.print(f"page: {out_dir / 'index.html'}   scores: {out_dir / 'scores.json'}", soft_wrap=True)
