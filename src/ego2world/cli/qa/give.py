"""ego2world qa export, cohort, reviews: for other tools and for people"""

from __future__ import annotations

from pathlib import Path

import typer

from ego2world.cli.common import names, out, print_json
from ego2world.core.canonical import pretty_json, write_atomic
from ego2world.core.extras import extra
from ego2world.errors import UsageError
from ego2world.qa.build import FILES
from ego2world.qa.codes import CODES
from ego2world.qa.export import TARGETS
from ego2world.qa.review import SEED as REVIEW_SEED
from ego2world.qa.review import make_cohort, summary


def register(qa: typer.Typer) -> None:
    """Add the commands."""

    @qa.command("export")
    def export_command(
        questions: Path = typer.Argument(help="A folder written by qa build."),
        to: str = typer.Option(..., "--to", help=f"{', '.join(TARGETS)}."),
        out_dir: Path = typer.Option(..., "--out", help="Output folder."),
    ) -> None:
        """Export accepted questions for other tools: ids and times, never videos.

        huggingface: Parquet, card, Croissant. llamafactory: conversations and training settings. lmms-eval: a task
            folder.

        Example: ego2world qa export qa --to huggingface --out dataset
        """
        if to not in TARGETS:
            raise UsageError(f"no target {to!r}; there are: {', '.join(TARGETS)}")
        with extra("parquet", "--to huggingface"):
            made = TARGETS[to](questions, out_dir)
        counts = (
            made.get("conversations")
            or made.get("questions")
            or {split: row["groups"] for split, row in made["splits"].items()}
        )
        out.print(
            f"{', '.join(f'{count} {split}' for split, count in counts.items())}  ({out_dir}:"
            f" {', '.join(made['files'])})",
            soft_wrap=True,
        )

    @qa.command("cohort")
    def cohort_command(
        questions: Path = typer.Argument(help="A folder written by qa build."),
        out_dir: Path = typer.Option(..., "--out", help="Output folder for the review."),
        size: int = typer.Option(100, min=1, help="Number of groups to review."),
        reviewers: str = typer.Option("reviewer", help="Reviewer names, comma-separated."),
        double: float = typer.Option(0.2, min=0.0, max=1.0, help="Share of groups assigned to two reviewers."),
        status: str = typer.Option("accepted", help=f"Which groups: {', '.join(FILES)}."),
        seed: int = typer.Option(REVIEW_SEED, help="Seed of the drawing."),
    ) -> None:
        """Draw groups for human review and assign each reviewer a queue.

        Example: ego2world qa cohort qa --size 100 --reviewers anna,ben --out review
        """
        if status not in FILES:
            raise UsageError(f"no status {status!r}; there are: {', '.join(FILES)}")
        made = make_cohort(questions, out_dir, size, names(reviewers), double, seed, status)
        queues = ", ".join(f"{name} {len(items)}" for name, items in made["queues"].items())
        out.print(
            f"{len(made['items'])} of {made['population']} groups, {len(made['double'])} of them twice; {queues} "
            f" ({out_dir})",
            soft_wrap=True,
        )
        out.print(f"Next: ego2world serve {out_dir} --media VIDEOS", markup=False)

    @qa.command("reviews")
    def reviews_command(
        review: Path = typer.Argument(help="A folder written by qa cohort."),
        out_file: Path | None = typer.Option(None, "--out", help="Write all decisions with their details as JSON."),
        as_json: bool = typer.Option(False, "--json", help="Print as JSON."),
    ) -> None:
        """Show the reviewers' decisions so far and their agreement.

        Example: ego2world qa reviews review --out reviews.json
        """
        found = summary(review)
        if out_file is not None:
            write_atomic(out_file, pretty_json(found))
        if as_json:
            print_json(found)
            return
        for name, (done, of) in found["progress"].items():
            out.print(f"{name}: {done} of {of}")
        out.print(", ".join(f"{name.replace('_', ' ')} {count}" for name, count in found["decisions"].items()))
        twice = found["agreement"]
        alpha = "" if twice["alpha"] is None else f", Krippendorff's alpha {twice['alpha']:.2f}"
        out.print(f"{twice['items']} reviewed twice, {twice['same']} of them alike{alpha}")
        for code in sorted({row["code"] for row in found["findings"]}):
            out.print(f"{code}: {sum(row['code'] == code for row in found['findings'])}  ({CODES[code]})", markup=False)
