"""ego2world qa: questions made from worlds or from elsewhere: audits, models, scores, exports, reviews"""

import typer

from ego2world.cli.common import register_named

MODULES = {
    "make": ("build", "check", "audit"),
    "sources": ("vqa", "select"),
    "models": ("answer", "score", "figures"),
    "give": ("export", "cohort", "reviews"),
}


def register(app: typer.Typer, command: str = "") -> None:
    """Add the commands, or only those of the module that has the one named."""
    qa = typer.Typer(
        no_args_is_help=True,
        help=(
            "Questions on the ego-action-world loop: build, check, audit; vqa, select; answer, score, figures; export,"
            " cohort, reviews."
        ),
    )
    app.add_typer(qa, name="qa")
    register_named(qa, "ego2world.cli.qa", MODULES, command)
