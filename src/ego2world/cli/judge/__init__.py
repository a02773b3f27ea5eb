"""ego2world judge: generated videos judged by gates, and judges held against people"""

import typer

from ego2world.cli.judge import ask, bench, compare, people


def register(app: typer.Typer) -> None:
    """Add the commands."""
    judge = typer.Typer(
        no_args_is_help=True,
        help="Generated egocentric videos: init, check, rollouts; plan, run, score; agree; panel, answers.",
    )
    app.add_typer(judge, name="judge")
    for group in (bench, ask, compare, people):
        group.register(judge)
