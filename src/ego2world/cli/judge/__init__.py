"""ego2world judge: generated videos judged by gates, and judges held against people"""

import typer

from ego2world.cli.common import register_named

MODULES = {
    "bench": ("init", "check", "rollouts"),
    "ask": ("plan", "run"),
    "compare": ("score", "agree"),
    "people": ("panel", "answers"),
}


def register(app: typer.Typer, command: str = "") -> None:
    """Add the commands, or only those of the module that has the one named."""
    judge = typer.Typer(
        no_args_is_help=True,
        help="Generated egocentric videos: init, check, rollouts; plan, run, score; agree; panel, answers.",
    )
    app.add_typer(judge, name="judge")
    register_named(judge, "ego2world.cli.judge", MODULES, command)
