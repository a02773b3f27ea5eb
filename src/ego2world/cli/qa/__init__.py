"""ego2world qa: questions made from worlds or from elsewhere: audits, models, scores, exports, reviews"""

import typer

from ego2world.cli.qa import give, make, models, sources


def register(app: typer.Typer) -> None:
    """Add the commands."""
    qa = typer.Typer(
        no_args_is_help=True,
        help=(
            "Questions on the ego-action-world loop: build, check, audit; vqa, select; answer, score, figures; export,"
            " cohort, reviews."
        ),
    )
    app.add_typer(qa, name="qa")
    for group in (make, sources, models, give):
        group.register(qa)
