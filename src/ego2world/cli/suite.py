"""ego2world suite"""

from pathlib import Path

import typer

from ego2world.cli.common import names, out, print_json
from ego2world.tasks.suite import SuiteRule, check_suite, make_suite, read_suite, write_suite


def register(app: typer.Typer) -> None:
    """Add the command."""
    suite = typer.Typer(no_args_is_help=True, help="Fix which tasks an evaluation runs on: make, show.")
    app.add_typer(suite, name="suite")

    @suite.command("make")
    def make_command(
        worlds: Path = typer.Argument(help="A compiled collection."),
        out_file: Path = typer.Option(..., "--out", help="The suite file."),
        name: str | None = typer.Option(None, help="Name used in evaluations; default: the file name."),
        episodes: int | None = typer.Option(None, min=1, help="Only the first N complete episodes."),
        scenes: str | None = typer.Option(None, help="Only these kitchens, comma-separated (P01,P04)."),
        tier: str | None = typer.Option(None, help="Only tasks of this tier: terminal-state or event."),
        only: str | None = typer.Option(None, help="Choose only from these episodes, comma-separated."),
    ) -> None:
        """Choose tasks by a rule and fix them with their hashes.

        Example: ego2world suite make worlds --episodes 18 --scenes P01,P04 --out planner-suite.json
        """
        rule = SuiteRule(episodes, names(scenes), tier)
        made = make_suite(worlds, name or out_file.stem, rule, names(only) or None)
        write_suite(made, out_file)
        out.print(
            f"{made.name}: {len(made.tasks)} tasks of {len(made.episodes)} episodes, {made.sha256[:12]}  ({out_file})",
            soft_wrap=True,
        )

    @suite.command("show")
    def show_command(
        file: Path = typer.Argument(help="A suite file."),
        worlds: Path | None = typer.Option(None, help="Check the suite against this collection."),
        as_json: bool = typer.Option(False, "--json", help="Print as JSON."),
    ) -> None:
        """Show a suite, and check that it is unchanged.

        Example: ego2world suite show planner-suite.json --worlds worlds
        """
        made = read_suite(file)
        if worlds is not None:
            check_suite(made, worlds)
        if as_json:
            print_json(made.plain())
            return
        out.print(
            f"{made.name}: {len(made.tasks)} tasks of {len(made.episodes)} episodes; rule {dict(made.rule)};"
            f" {made.sha256[:12]}",
            soft_wrap=True,
            markup=False,
        )
        for episode in made.episodes:
            out.print(f"  {episode}  {sum(t.startswith(episode + '/') for t in made.tasks)} tasks", markup=False)
