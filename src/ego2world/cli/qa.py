"""ego2world qa: questions made from worlds, and anybody's questions: audits, models, scores, exports"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from ego2world.cli.common import RAY_OPTION, extra, names, out, print_json, progress
from ego2world.core.canonical import json_lines, pretty_json, write_atomic
from ego2world.qa.audit import audit
from ego2world.qa.build import Settings, build
from ego2world.qa.check import check_folder, check_items
from ego2world.qa.choose import Plan
from ego2world.qa.codes import CODES
from ego2world.qa.importers import FORMATS, read_items
from ego2world.qa.importers.narrations import read_narrations
from ego2world.qa.select import SEED, Rule, select, videos_of
from ego2world.qa.vqa import answer_all, read_archive, tally
from ego2world.qa.vqa.run import OUTCOMES


def register(app: typer.Typer) -> None:
    """Add the commands."""
    qa = typer.Typer(
        no_args_is_help=True,
        help="Questions on the ego-action-world loop: build, check, audit, answer, score, export; vqa, select.",
    )
    app.add_typer(qa, name="qa")

    @qa.command("build")
    def build_command(
        worlds: Path = typer.Argument(help="A compiled collection."),
        out_dir: Path = typer.Option(..., "--out", help="The folder of the questions."),
        episodes: str | None = typer.Option(None, help="Only these episodes, comma-separated."),
        window: float = typer.Option(30.0, min=1.0, help="Seconds of the windows that questions are counted in."),
        per_window: int = typer.Option(3, min=1, help="Questions of a category in a window, at most."),
        options: int = typer.Option(4, min=2, max=8, help="Options of a multiple choice."),
        test_share: float = typer.Option(0.2, min=0.0, max=1.0, help="Share of the videos in the split 'test'."),
        jobs: int = typer.Option(1, min=1, help="Processes."),
        ray: str | None = RAY_OPTION,
        as_json: bool = typer.Option(False, "--json", help="Print the manifest as JSON."),
    ) -> None:
        """Make questions, bind each to evidence, and keep those that every check lets through.

        Example: ego2world qa build worlds --out qa
        """
        settings = Settings(Plan(window, per_window, options), test_share, names(episodes))
        with progress("questions") as update:
            manifest = build(worlds, out_dir, settings, jobs, update, ray)
        if as_json:
            print_json(manifest)
            return
        out.print(_counts(manifest))
        totals = manifest["totals"]
        out.print(
            f"{totals['accepted']} groups accepted ({totals['repaired']} of them repaired), {totals['rejected']} rejected, "
            f"{totals['review']} for review  ({out_dir})", soft_wrap=True,
        )  # fmt: skip
        for name, failure in manifest["failed"].items():
            out.print(f"failed: {name}: {failure['message']}", markup=False, soft_wrap=True)
        out.print(f"Next: ego2world qa check {out_dir}; ego2world qa audit {out_dir}", markup=False)

    @qa.command("check")
    def check_command(
        questions: Path = typer.Argument(help="A folder made by qa build, or anybody's questions."),
        worlds: Path | None = typer.Option(None, help="The collection they were made on; default: as recorded."),
        form: str | None = typer.Option(
            None, "--format", help=f"Of other questions: {', '.join(FORMATS)}; default: found by looking."
        ),
        jobs: int = typer.Option(1, min=1, help="Processes."),
        as_json: bool = typer.Option(False, "--json", help="Print the report as JSON."),
    ) -> None:
        """Run every validator anew: answers are derived again by executing the worlds. Exit code 1 when something is wrong.

        Example: ego2world qa check qa
        """
        if form is None and (questions / "manifest.json").is_file():
            with progress("checked") as update:
                report = check_folder(questions, worlds, jobs, update)
        else:
            report = check_items(questions, form)
        if as_json:
            print_json(report)
        else:
            _print_check(report)
        raise typer.Exit(0 if report["verdict"] == "pass" else 1)

    @qa.command("audit")
    def audit_command(
        questions: Path = typer.Argument(help="A folder made by qa build, or anybody's questions."),
        form: str | None = typer.Option(
            None, "--format", help=f"Of other questions: {', '.join(FORMATS)}; default: found by looking."
        ),
        as_json: bool = typer.Option(False, "--json", help="Print the report as JSON, with the ids of the items."),
    ) -> None:
        """What blind guessers reach, where keys stand, what is there twice. Exit code 1 when a guesser beats chance by five points.

        Example: ego2world qa audit qa
        """
        report = audit(read_items(questions, form))
        if as_json:
            print_json(report)
        else:
            _print_audit(report)
        raise typer.Exit(0 if report["verdict"] == "pass" else 1)

    @qa.command("vqa")
    def vqa_command(
        source: Path = typer.Argument(help="A folder of HD-EPIC's annotations, or a collection compiled from it."),
        questions: Path | None = typer.Option(None, help="HD-EPIC's vqa-benchmark; default: that of the folder."),
        out_file: Path | None = typer.Option(
            None, "--out", help="Write every answer with its evidence, one JSON line each."
        ),
        as_json: bool = typer.Option(False, "--json", help="Print right, wrong, cannot_tell per prototype as JSON."),
    ) -> None:
        """Answer HD-EPIC's official questions from the annotations alone; what they do not say cannot be told.

        Example: ego2world qa vqa hd-epic-annotations --out answers.jsonl
        """
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
        out_file: Path = typer.Option(..., "--out", help="The report: what was selected and why."),
        count: int = typer.Option(1000, min=1, help="Videos to select."),
        clusters: int = typer.Option(160, min=2, help="Clusters of content."),
        least: int = typer.Option(2, min=0, help="Of each cluster, at least (where it has as many)."),
        shortest: float = typer.Option(180.0, min=0.0, help="Shortest video in seconds, by its last narration."),
        longest: float = typer.Option(3600.0, min=0.0, help="Longest video in seconds."),
        seed: int = typer.Option(SEED, help="Seed of the clustering."),
    ) -> None:
        """Choose source videos by what is narrated: clusters, a quota of each, the most typical first.

        Example: ego2world qa select narration.json --count 1000 --clusters 160 --out selected.json
        """
        rule = Rule(count, clusters, least, shortest, longest, seed)
        with extra("qa", "qa select"):
            report = select(videos_of(read_narrations(narrations)), rule)
        write_atomic(out_file, pretty_json(report))
        covered = report["coverage"]
        out.print(
            f"{len(report['selected'])} of {report['videos']} videos ({report['eligible']} of a fitting length); {covered['covered']} of "
            f"{covered['clusters']} clusters covered, {covered['least']} to {covered['most']} each  ({out_file})", soft_wrap=True,
        )  # fmt: skip


def _print_check(report: dict[str, Any]) -> None:
    for code, rows in report["findings"].items():
        out.print(f"{code}: {len(rows)}  ({CODES[code]})", markup=False, soft_wrap=True)
        for row in rows[:3]:
            out.print(f"  {row['item']} {row['path']}: {row['message']}", markup=False, soft_wrap=True)
    if "turns" in report:
        out.print(
            f"{report['groups']} groups, {report['turns']} turns: {report['rederived']} answers derived again by executing the worlds, "
            f"{report['without_evidence']} of them gone without the evidence that is named", soft_wrap=True,
        )  # fmt: skip
    else:
        out.print(f"{report['items']} questions")
    out.print(f"verdict: {report['verdict']}")


def _print_audit(report: dict[str, Any]) -> None:
    flagged = [row for row in report["blind"] if row["flagged"]]
    table = Table(box=None, pad_edge=False)
    for name in ("prototype", "guesser", "items", "right", "chance", "at least"):
        table.add_column(name, justify="left" if name in {"prototype", "guesser"} else "right")
    best: dict[str, dict[str, Any]] = {}
    for row in report["blind"]:
        if (
            row["prototype"] not in best
            or row["rate"] - row["chance"] > best[row["prototype"]]["rate"] - best[row["prototype"]]["chance"]
        ):
            best[row["prototype"]] = row
    for row in flagged or sorted(best.values(), key=lambda r: r["prototype"]):
        table.add_row(
            row["prototype"],
            row["guesser"],
            str(row["items"]),
            *(f"{100 * row[k]:.1f} %" for k in ("rate", "chance", "wilson_low")),
        )
    out.print("blind guessers above chance:" if flagged else "no blind guesser above chance; the best of each:")
    out.print(table)
    for position in report["positions"]:
        out.print(f"{position['code']}: {position['message']}", markup=False)
    for code, rows in report["findings"].items():
        out.print(
            f"{code}: {len(rows)} items, such as {rows[0]['item']}: {rows[0]['message']}", markup=False, soft_wrap=True
        )
    pairs = report["near_duplicates"]["pairs"]
    if pairs:
        out.print(f"DUP_NEAR: {len(pairs)} pairs, such as {' and '.join(pairs[0])}", markup=False, soft_wrap=True)
    out.print(
        f"{report['items']} questions, {report['multiple_choice']} of them multiple choice; verdict: {report['verdict']}"
    )


def _counts(manifest: dict[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("category")
    table.add_column("groups", justify="right")
    for name, count in manifest["by_category"].items():
        table.add_row(name, str(count))
    for field, label in (("by_modality", "modality"), ("by_turns", "turns"), ("by_format", "format")):
        table.add_section()
        for name, count in manifest[field].items():
            table.add_row(f"{label}: {name}", str(count))
    return table
