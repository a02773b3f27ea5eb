"""ego2world qa answer, score: models on questions"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from ego2world.cli.common import ACCEPT_CODE, AUDIT_FAILED, INCOMPLETE, err, out, print_json, progress
from ego2world.cli.models import MODEL_HELP, SERVICE, ModelOptions, model_options
from ego2world.errors import UsageError
from ego2world.qa.evaluate.answer import AnswerSettings, answer, mock_answer
from ego2world.qa.evaluate.backsolve import common_denominators, read_figures
from ego2world.qa.evaluate.judge import Judge, mock_judgement
from ego2world.qa.evaluate.media import ClipSampling
from ego2world.qa.evaluate.score import compare, figure_findings, score
from ego2world.qa.evaluate.verdicts import Rubric
from ego2world.qa.importers import read_items
from ego2world.qa.items import Item


def register(qa: typer.Typer) -> None:
    """Add the commands."""

    @qa.command("answer")
    @model_options
    def answer_command(
        questions: Path = typer.Argument(help="A folder written by qa build, or a question file from elsewhere."),
        model: str = typer.Option("mock", help=MODEL_HELP),
        out_dir: Path = typer.Option(..., "--out", help="Output folder; unfinished answers in it are resumed."),
        media: Path | None = typer.Option(
            None, help="Folder of videos named VIDEO.mp4; without it, the model is sent text only."
        ),
        split: str | None = typer.Option(None, help="Only questions of this split: train or test."),
        limit: int | None = typer.Option(None, min=1, help="Only the first N groups, in order of id."),
        circular: bool = typer.Option(
            False, help="Ask single multiple-choice questions for every rotation of the options (circular evaluation)."
        ),
        no_audio: bool = typer.Option(False, help="Do not send audio."),
        fps: float = typer.Option(2.0, min=0.01, help="Frames per second."),
        max_frames: int = typer.Option(64, min=1, help="Maximum number of frames per clip."),
        max_pixels: int = typer.Option(200_704, min=1, help="Maximum number of pixels per frame."),
        max_tokens: int = typer.Option(512, min=1, help="Maximum reply length in tokens."),
        concurrency: int = typer.Option(4, min=1, help="Groups in parallel."),
        service: ModelOptions = SERVICE,
        accept_code: bool = ACCEPT_CODE,
        form: str | None = typer.Option(
            None, "--format", help="Format of a question file from elsewhere; default: detected."
        ),
    ) -> None:
        """Ask a model the questions, turn by turn, with its own earlier answers as history. Exit code 11 if answers
        are missing.

        Example: ego2world qa answer qa --model openai/gpt-5-mini --media videos --split test --out answers/gpt-5-mini
        """
        items = _some(read_items(questions, form), split, limit)
        look = ClipSampling(fps, max_frames, max_pixels, not no_audio)
        settings = AnswerSettings(media, look, circular, max_tokens, concurrency=concurrency)
        connecting = service.connector(model, mock_answer, concurrency)
        with closing(connecting()) as client, progress("answers") as update:
            manifest = answer(items, _source(questions, split, limit), out_dir, client, settings, update, accept_code)
        out.print(
            f"{len(items)} turns asked of {manifest['model']}, {manifest['errors']} without an answer  ({out_dir})",
            soft_wrap=True,
        )
        if manifest["errors"]:
            for reason, count in manifest["reasons"].items():
                err.print(f"{count}: {reason}", markup=False, soft_wrap=True)
            err.print("Re-run the same command to ask for the missing answers.")
            raise typer.Exit(INCOMPLETE)
        out.print(f"Next: ego2world qa score {questions} {out_dir}", markup=False)

    @qa.command("score")
    @model_options
    def score_command(
        questions: Path = typer.Argument(help="The questions that were answered."),
        answers: list[Path] = typer.Argument(help="Folders written by qa answer; several are compared pairwise."),
        judge: str | None = typer.Option(
            None,
            help="Model that judges open answers; without one, answers that no rule decides are left for review. "
            + MODEL_HELP,
        ),
        split: str | None = typer.Option(None, help="As in qa answer."),
        limit: int | None = typer.Option(None, min=1, help="As in qa answer."),
        low: int = typer.Option(0, help="Lowest score of the rubric."),
        high: int = typer.Option(5, help="Highest score of the rubric."),
        passing: int = typer.Option(4, help="Lowest score that counts as correct."),
        seed: int = typer.Option(0, help="Seed of the resampling."),
        concurrency: int = typer.Option(4, min=1, help="Judgements in parallel."),
        service: ModelOptions = SERVICE,
        form: str | None = typer.Option(
            None, "--format", help="Format of a question file from elsewhere; default: detected."
        ),
        as_json: bool = typer.Option(False, "--json", help="Print scores and comparisons as JSON."),
    ) -> None:
        """Judge and score answers: accuracy and mean score over what could be judged; everything else is counted and
        shown.

        Example: ego2world qa score qa answers/gpt-5-mini --judge openai/gpt-5 --split test
        """
        if not low < passing <= high:
            raise UsageError(f"--low {low}, --passing {passing}, --high {high}: needed low < passing <= high")
        items = _some(read_items(questions, form), split, limit)
        client = service.connector(judge, mock_judgement, concurrency)() if judge else None
        made = Judge(client, Rubric(low, high, passing))
        if client is None:
            with err.status("scoring"):
                scores = [score(items, folder, made, seed) for folder in answers]
        else:
            with closing(client), progress("judged") as update:
                scores = [score(items, folder, made, seed, concurrency, update) for folder in answers]
        pairs = compare(items, answers, seed) if len(answers) > 1 else []
        if as_json:
            print_json({"scores": scores, "comparisons": pairs})
            return
        for folder, one in zip(answers, scores, strict=True):
            _print_scores(folder, one)
        for pair in pairs:
            difference = pair["difference"]
            shown = (
                "no interval"
                if difference is None
                else (
                    f"{100 * difference['value']:+.1f} [{100 * difference['low']:.1f}, {100 * difference['high']:.1f}]"
                    " points"
                )
            )
            out.print(
                f"{pair['first']} against {pair['second']}: {shown} on {pair['items']} items, McNemar p ="
                f" {pair['discordance']['p_value']:.3g}",
                soft_wrap=True,
                markup=False,
            )

    @qa.command("figures")
    def figures_command(
        table: Path = typer.Argument(help="A CSV table with the columns name, percent (as printed) and n."),
        as_json: bool = typer.Option(False, "--json", help="Print as JSON."),
    ) -> None:
        """Check whether printed percentages are possible for their denominators, and list those that fit. Exit code 9
        if one is not.

        Example: ego2world qa figures table11.csv
        """
        rows = read_figures(table)
        found = figure_findings(rows)
        names = sorted({str(row["name"]) for row in rows})
        fits = {
            name: common_denominators(
                (row["percent"] for row in rows if row["name"] == name),
                max(row["n"] for row in rows if row["name"] == name),
            )
            for name in names
        }
        if as_json:
            print_json({"findings": found, "denominators": fits})
        else:
            for row in found:
                out.print(f"{row['code']}: {row['item']}: {row['message']}", markup=False)
            for name, numbers in fits.items():
                shown = ", ".join(map(str, numbers[:8])) + (" ..." if len(numbers) > 8 else "")
                out.print(f"{name}: all fit {shown or 'no denominator up to the one given'}", markup=False)
        raise typer.Exit(AUDIT_FAILED if found else 0)


def _some(items: list[Item], split: str | None, limit: int | None) -> list[Item]:
    """Return the items of a split, and of the first so many groups."""
    chosen = [item for item in items if split is None or item.split == split]
    if limit is not None:
        kept = set(sorted({item.group for item in chosen})[:limit])
        chosen = [item for item in chosen if item.group in kept]
    if not chosen:
        raise UsageError(
            f"no questions{f' of split {split}' if split else ''}; the questions are of:"
            f" {', '.join(sorted({i.split or 'no split' for i in items}))}"
        )
    return chosen


def _source(questions: Path, split: str | None, limit: int | None) -> str:
    return " ".join([questions.name, *([f"split {split}"] if split else []), *([f"first {limit}"] if limit else [])])


def _print_scores(folder: Path, scores: dict[str, Any]) -> None:
    table = Table(box=None, pad_edge=False)
    for name in ("", "items", "judged", "accuracy", "score", "review", "error", "other"):
        table.add_column(name, justify="left" if not name else "right", no_wrap=True)
    rows = [("overall", scores["overall"])]
    for view in ("by_level", "by_category", "by_format", "by_modality"):
        rows += [(f" {key}", value) for key, value in scores[view].items()]
    for name, row in rows:
        interval = row["accuracy_interval"]
        span = "" if interval is None else f" [{100 * interval['low']:.0f}, {100 * interval['high']:.0f}]"
        table.add_row(
            name,
            str(row["items"]),
            str(row["judged"]),
            "" if row["accuracy"] is None else f"{100 * row['accuracy']:.1f} %{span}",
            "" if row["mean_score"] is None else f"{row['mean_score']:.2f}",
            str(row["review"]),
            str(row["error"]),
            str(row["excluded"] + row["missing"]),
            style="bold" if name == "overall" else None,
        )
    out.print(table)
    out.print(
        "accuracy of what was judged, with its 95 % interval over videos; other: no reference, or not answered",
        style="dim",
    )
    bounds, groups = scores["overall"]["bounds"], scores["groups"]
    if bounds["review_wrong"] is not None:
        out.print(
            f"with review cases as wrong {100 * bounds['review_wrong']:.1f} %, as right"
            f" {100 * bounds['review_right']:.1f} %"
        )
    out.print(
        f"{groups['all_turns_correct']} of {groups['judged_whole']} groups judged in all turns are right in all of them"
        f" ({groups['groups']} groups)"
    )
    if "circular" in scores:
        row = scores["circular"]
        out.print(
            f"circular: {row['right_in_all_rotations']} of {row['items']} right in all rotations of their options"
        )
    for finding in scores["findings"]:
        out.print(f"{finding['code']}: {finding['item']} {finding['message']}", markup=False, soft_wrap=True)
    out.print(f"scores and judgements in {folder}", soft_wrap=True)
