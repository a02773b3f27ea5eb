"""ego2world qa vqa, select: official questions, and which videos to make questions from"""

from __future__ import annotations

from pathlib import Path

import typer
from rich.table import Table

from ego2world.cli.common import err, out, print_json
from ego2world.core.canonical import json_lines, pretty_json, write_atomic
from ego2world.core.extras import extra
from ego2world.qa.importers import read_items
from ego2world.qa.importers.narrations import read_narrations
from ego2world.qa.select import SEED, SelectionRule, select, videos_of
from ego2world.qa.vqa import answer_all, read_archive, tally
from ego2world.qa.vqa.run import OUTCOMES


def register(qa: typer.Typer) -> None:
    """Add the commands."""

    @qa.command("vqa")
    def vqa_command(
        source: Path = typer.Argument(help="The HD-EPIC annotations directory, or a collection compiled from it."),
        questions: Path | None = typer.Option(None, help="HD-EPIC's vqa-benchmark folder; default: the one in SOURCE."),
        out_file: Path | None = typer.Option(
            None, "--out", help="Write every answer with its evidence, one JSON line each."
        ),
        as_json: bool = typer.Option(False, "--json", help="Print right, wrong, cannot_tell per prototype as JSON."),
    ) -> None:
        """Answer HD-EPIC's official questions from the annotations alone; unknown answers are reported as cannot_tell.

        Example: ego2world qa vqa hd-epic-annotations --out answers.jsonl
        """
        with err.status("answering"):
            answered = list(answer_all(read_items(questions or source, "hd-epic-vqa"), read_archive(source)))
        if out_file is not None:
            write_atomic(out_file, json_lines(one.plain() for one in answered))
        table = tally(answered)
        if as_json:
            print_json(table)
            return
        shown = Table(box=None, pad_edge=False)
        for name in ("prototype", *OUTCOMES):
            shown.add_column(name.replace("_", " "), justify="left" if name == "prototype" else "right")
        for prototype, counts in table.items():
            shown.add_row(prototype, *(str(counts[name]) for name in OUTCOMES))
        shown.add_section()
        shown.add_row("all", *(str(sum(counts[name] for counts in table.values())) for name in OUTCOMES))
        out.print(shown)

    @qa.command("select")
    def select_command(
        narrations: Path = typer.Argument(
            help="HD-EPIC's folder, GoalStep's or EASG's JSON, Ego4D's narration.json, or a CSV table."
        ),
        out_file: Path = typer.Option(..., "--out", help="Output file: what was selected and why."),
        count: int = typer.Option(1000, min=1, help="Number of videos to select."),
        clusters: int = typer.Option(160, min=2, help="Number of content clusters."),
        least: int = typer.Option(2, min=0, help="Minimum number of videos per cluster (where it has that many)."),
        shortest: float = typer.Option(180.0, min=0.0, help="Minimum video length in seconds, by its last narration."),
        longest: float = typer.Option(3600.0, min=0.0, help="Maximum video length in seconds."),
        seed: int = typer.Option(SEED, help="Seed of the clustering."),
    ) -> None:
        """Select source videos by their narrations: clusters, a quota for each, the most typical videos first.

        Example: ego2world qa select narration.json --count 1000 --clusters 160 --out selected.json
        """
        rule = SelectionRule(count, clusters, least, shortest, longest, seed)
        with extra("qa", "qa select"), err.status("clustering"):
            report = select(videos_of(read_narrations(narrations)), rule)
        write_atomic(out_file, pretty_json(report))
        covered = report["coverage"]
        out.print(
            f"{len(report['selected'])} of {report['videos']} videos ({report['eligible']} of a fitting length);"
            f" {covered['covered']} of {covered['clusters']} clusters covered, {covered['least']} to {covered['most']}"
            f" each  ({out_file})",
            soft_wrap=True,
        )
