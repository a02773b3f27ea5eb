"""ego2world qa build, check, audit: questions, and whether they hold"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from ego2world.cli.common import AUDIT_FAILED, INCOMPLETE, RAY_OPTION, err, names, out, print_json, progress
from ego2world.cli.models import MODEL_HELP, SERVICE, ModelOptions, model_options
from ego2world.qa.audit import audit
from ego2world.qa.build import QuestionSettings, build
from ego2world.qa.check import check_folder, check_items, necessity
from ego2world.qa.choose import Quota
from ego2world.qa.codes import CODES
from ego2world.qa.importers import FORMATS, read_items
from ego2world.qa.propose import mock_proposal


def register(qa: typer.Typer) -> None:
    """Add the commands."""

    @qa.command("build")
    @model_options
    def build_command(
        worlds: Path = typer.Argument(help="A compiled collection."),
        out_dir: Path = typer.Option(..., "--out", help="Output folder for the questions."),
        episodes: str | None = typer.Option(None, help="Only these episodes, comma-separated."),
        window: float = typer.Option(
            30.0, min=1.0, help="Length in seconds of the windows over which questions are limited."
        ),
        per_window: int = typer.Option(3, min=1, help="Maximum number of questions per category and window."),
        options: int = typer.Option(4, min=2, max=8, help="Options per multiple-choice question."),
        test_share: float = typer.Option(0.2, min=0.0, max=1.0, help="Share of videos in the test split."),
        model: str | None = typer.Option(
            None, help="Model that also proposes questions; the same checks decide. " + MODEL_HELP
        ),
        service: ModelOptions = SERVICE,
        recipe: list[str] = typer.Option(
            [], metavar="MODULE:NAME", help="A recipe of your own (docs/EXTENDING.md); may be repeated."
        ),
        jobs: int = typer.Option(1, min=1, help="Worker processes."),
        ray: str | None = RAY_OPTION,
        as_json: bool = typer.Option(False, "--json", help="Print the manifest as JSON."),
    ) -> None:
        """Generate questions, bind each to evidence, and keep those that pass every check. Exit code 11 if an episode
        failed.

        Example: ego2world qa build worlds --out qa
        """
        settings = QuestionSettings(Quota(window, per_window, options), test_share, names(episodes), tuple(recipe))
        opening = service.connector(model, mock_proposal) if model else None
        with progress("questions") as update:
            manifest = build(worlds, out_dir, settings, jobs, update, ray, opening)
        if as_json:
            print_json(manifest)
            raise typer.Exit(INCOMPLETE if manifest["failed"] else 0)
        out.print(_counts(manifest))
        totals = manifest["totals"]
        out.print(
            f"{totals['accepted']} groups accepted ({totals['repaired']} of them repaired), {totals['rejected']}"
            f" rejected, {totals['review']} for review  ({out_dir})",
            soft_wrap=True,
        )
        for name, failure in manifest["failed"].items():
            err.print(f"failed: {name}: {failure['message']}", markup=False, soft_wrap=True)
        if manifest["failed"]:
            err.print("Their questions are missing. Re-run the same command to make them.")
            raise typer.Exit(INCOMPLETE)
        out.print(f"Next: ego2world qa check {out_dir}; ego2world qa audit {out_dir}", markup=False)

    @qa.command("check")
    def check_command(
        questions: Path = typer.Argument(help="A folder written by qa build, or a question file from elsewhere."),
        worlds: Path | None = typer.Option(None, help="The collection they were made on; default: the recorded path."),
        form: str | None = typer.Option(
            None, "--format", help=f"Of other questions: {', '.join(FORMATS)}; default: found by looking."
        ),
        jobs: int = typer.Option(1, min=1, help="Worker processes."),
        as_json: bool = typer.Option(False, "--json", help="Print the report as JSON."),
    ) -> None:
        """Re-run every validator; answers are re-derived by executing the worlds. Exit code 9 if anything is wrong.

        Example: ego2world qa check qa
        """
        if form is None and (questions / "manifest.json").is_file():
            with progress("checked") as update:
                report = check_folder(questions, worlds, jobs, update)
        else:
            with err.status("checking"):
                report = check_items(questions, form)
        if as_json:
            print_json(report)
        else:
            _print_check(report)
        raise typer.Exit(0 if report["verdict"] == "pass" else AUDIT_FAILED)

    @qa.command("audit")
    def audit_command(
        questions: Path = typer.Argument(help="A folder written by qa build, or a question file from elsewhere."),
        form: str | None = typer.Option(
            None, "--format", help=f"Of other questions: {', '.join(FORMATS)}; default: found by looking."
        ),
        worlds: Path | None = typer.Option(None, help="The collection they were made on; default: the recorded path."),
        as_json: bool = typer.Option(False, "--json", help="Print the report as JSON, with the ids of the items."),
    ) -> None:
        """Run answer-blind baselines; check key positions and duplicates. Exit code 9 if a baseline beats chance by
        five points.

        Example: ego2world qa audit qa
        """
        with err.status("auditing"):
            report = audit(read_items(questions, form))
            if form is None and (questions / "manifest.json").is_file():
                report["modality_necessity"] = necessity(questions, worlds)
                if any(row["redundant"] for row in report["modality_necessity"].values()):
                    report["verdict"] = "redundant modality"
        if as_json:
            print_json(report)
        else:
            _print_audit(report)
        raise typer.Exit(0 if report["verdict"] == "pass" else AUDIT_FAILED)


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


def _print_check(report: dict[str, Any]) -> None:
    for code, rows in report["findings"].items():
        out.print(f"{code}: {len(rows)}  ({CODES[code]})", markup=False, soft_wrap=True)
        for row in rows[:3]:
            out.print(f"  {row['item']} {row['path']}: {row['message']}", markup=False, soft_wrap=True)
    if "turns" in report:
        out.print(
            f"{report['groups']} groups, {report['turns']} turns: {report['rederived']} answers derived again by"
            f" executing the worlds, {report['without_evidence']} of them gone without the evidence that is named",
            soft_wrap=True,
        )
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
    for label, row in report.get("modality_necessity", {}).items():
        out.print(
            f"needs {label}: {row['groups']} groups, {row['redundant']} of them answered without a stream they name"
        )
    pairs = report["near_duplicates"]["pairs"]
    if pairs:
        out.print(f"DUP_NEAR: {len(pairs)} pairs, such as {' and '.join(pairs[0])}", markup=False, soft_wrap=True)
    out.print(
        f"{report['items']} questions, {report['multiple_choice']} of them multiple choice; verdict:"
        f" {report['verdict']}"
    )
