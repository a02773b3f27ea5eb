"""ego2world qa: questions made from worlds, and anybody's questions: audits, models, scores, exports"""

from __future__ import annotations

from contextlib import closing, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from ego2world.cli.common import (
    AUDIT_FAILED,
    INCOMPLETE,
    MODEL_HELP,
    RAY_OPTION,
    err,
    extra,
    names,
    out,
    print_json,
    progress,
)
from ego2world.core.canonical import json_lines, pretty_json, write_atomic
from ego2world.core.models import Endpoint, open_door
from ego2world.errors import UsageError
from ego2world.qa.audit import audit
from ego2world.qa.build import FILES, Settings, build
from ego2world.qa.check import check_folder, check_items
from ego2world.qa.choose import Plan
from ego2world.qa.codes import CODES
from ego2world.qa.evaluate.answer import Settings as AnswerSettings
from ego2world.qa.evaluate.answer import answer, mock_answer
from ego2world.qa.evaluate.judge import Judge, mock_judgement
from ego2world.qa.evaluate.media import Look
from ego2world.qa.evaluate.score import compare, score
from ego2world.qa.evaluate.verdicts import Rubric
from ego2world.qa.export import TARGETS
from ego2world.qa.importers import FORMATS, read_items
from ego2world.qa.importers.narrations import read_narrations
from ego2world.qa.items import Item
from ego2world.qa.propose import mock_proposal
from ego2world.qa.review import SEED as REVIEW_SEED
from ego2world.qa.review import make_cohort, summary
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
        model: str | None = typer.Option(
            None, help="A model that proposes questions too; the same checks decide. " + MODEL_HELP
        ),
        base_url: str | None = typer.Option(
            None, help="Of a server that speaks the OpenAI protocol (openai-api/... models)."
        ),
        cache: Path | None = typer.Option(None, help="Folder of replies to reuse."),
        any_served_model: bool = typer.Option(False, help="Accept replies of another model than the one asked for."),
        jobs: int = typer.Option(1, min=1, help="Processes."),
        ray: str | None = RAY_OPTION,
        as_json: bool = typer.Option(False, "--json", help="Print the manifest as JSON."),
    ) -> None:
        """Make questions, bind each to evidence, and keep those that every check lets through. Exit code 11: an episode failed.

        Example: ego2world qa build worlds --out qa
        """
        settings = Settings(Plan(window, per_window, options), test_share, names(episodes))
        opening = (
            partial(open_door, model, mock_proposal, Endpoint(base_url=base_url), cache, any_served_model)
            if model
            else None
        )
        with progress("questions") as update:
            manifest = build(worlds, out_dir, settings, jobs, update, ray, opening)
        if as_json:
            print_json(manifest)
            raise typer.Exit(INCOMPLETE if manifest["failed"] else 0)
        out.print(_counts(manifest))
        totals = manifest["totals"]
        out.print(
            f"{totals['accepted']} groups accepted ({totals['repaired']} of them repaired), {totals['rejected']} rejected, "
            f"{totals['review']} for review  ({out_dir})", soft_wrap=True,
        )  # fmt: skip
        for name, failure in manifest["failed"].items():
            err.print(f"failed: {name}: {failure['message']}", markup=False, soft_wrap=True)
        if manifest["failed"]:
            err.print("their questions are missing; the same command goes on with them")
            raise typer.Exit(INCOMPLETE)
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
        """Run every validator anew: answers are derived again by executing the worlds. Exit code 9 when something is wrong.

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
        raise typer.Exit(0 if report["verdict"] == "pass" else AUDIT_FAILED)

    @qa.command("audit")
    def audit_command(
        questions: Path = typer.Argument(help="A folder made by qa build, or anybody's questions."),
        form: str | None = typer.Option(
            None, "--format", help=f"Of other questions: {', '.join(FORMATS)}; default: found by looking."
        ),
        as_json: bool = typer.Option(False, "--json", help="Print the report as JSON, with the ids of the items."),
    ) -> None:
        """What blind guessers reach, where keys stand, what is there twice. Exit code 9 when a guesser beats chance by five points.

        Example: ego2world qa audit qa
        """
        report = audit(read_items(questions, form))
        if as_json:
            print_json(report)
        else:
            _print_audit(report)
        raise typer.Exit(0 if report["verdict"] == "pass" else AUDIT_FAILED)

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

    @qa.command("answer")
    def answer_command(
        questions: Path = typer.Argument(help="A folder made by qa build, or anybody's questions."),
        model: str = typer.Option("mock", help=MODEL_HELP),
        out_dir: Path = typer.Option(
            ..., "--out", help="The folder of the answers; an unfinished one is gone on with."
        ),
        media: Path | None = typer.Option(
            None, help="Folder of videos VIDEO.mp4; without it the model gets the text alone."
        ),
        split: str | None = typer.Option(None, help="Only questions of this split: train or test."),
        limit: int | None = typer.Option(None, min=1, help="Only the first so many groups, in order of id."),
        circular: bool = typer.Option(
            False, help="Ask single multiple-choice questions once for each turning of their options."
        ),
        no_audio: bool = typer.Option(False, help="Send no sound."),
        fps: float = typer.Option(2.0, min=0.01, help="Frames a second."),
        max_frames: int = typer.Option(64, min=1, help="Frames of a clip, at most."),
        max_pixels: int = typer.Option(200_704, min=1, help="Pixels of a frame, at most."),
        max_tokens: int = typer.Option(512, min=1, help="Longest reply, in tokens."),
        concurrency: int = typer.Option(4, min=1, help="Groups at the same time."),
        base_url: str | None = typer.Option(
            None, help="Of a server that speaks the OpenAI protocol (openai-api/... models)."
        ),
        cache: Path | None = typer.Option(None, help="Folder of replies to reuse."),
        retries: int = typer.Option(5, min=0, help="Further attempts after errors that may pass."),
        any_served_model: bool = typer.Option(False, help="Accept replies of another model than the one asked for."),
        form: str | None = typer.Option(None, "--format", help="Of other questions; default: found by looking."),
    ) -> None:
        """Let a model answer, turn by turn, with its own earlier answers as history. Exit code 11: some turns have no answer yet.

        Example: ego2world qa answer qa --model openai/gpt-5-mini --media videos --split test --out answers/gpt-5-mini
        """
        items = _some(read_items(questions, form), split, limit)
        look = Look(fps, max_frames, max_pixels, not no_audio)
        settings = AnswerSettings(media, look, circular, max_tokens, concurrency=concurrency)
        endpoint = Endpoint(retries, connections=max(8, concurrency), base_url=base_url)
        with (
            closing(open_door(model, mock_answer, endpoint, cache, any_served_model)) as door,
            progress("answers") as update,
        ):
            manifest = answer(items, _source(questions, split, limit), out_dir, door, settings, update)
        out.print(
            f"{len(items)} turns asked of {manifest['model']}, {manifest['errors']} without an answer  ({out_dir})",
            soft_wrap=True,
        )
        if manifest["errors"]:
            err.print("the same command asks those again that have no answer")
            raise typer.Exit(INCOMPLETE)
        out.print(f"Next: ego2world qa score {questions} {out_dir}", markup=False)

    @qa.command("score")
    def score_command(
        questions: Path = typer.Argument(help="The questions that were answered."),
        answers: list[Path] = typer.Argument(help="Folders made by qa answer; several are compared in pairs."),
        judge: str | None = typer.Option(
            None,
            help="The model that judges open answers; without one, what no rule decides is for review. " + MODEL_HELP,
        ),
        split: str | None = typer.Option(None, help="As with qa answer."),
        limit: int | None = typer.Option(None, min=1, help="As with qa answer."),
        low: int = typer.Option(0, help="Lowest score of the rubric."),
        high: int = typer.Option(5, help="Highest score of the rubric."),
        passing: int = typer.Option(4, help="From this score on an answer is correct."),
        seed: int = typer.Option(0, help="Seed of the resampling."),
        concurrency: int = typer.Option(4, min=1, help="Judgements at the same time."),
        base_url: str | None = typer.Option(
            None, help="Of a server that speaks the OpenAI protocol (openai-api/... models)."
        ),
        cache: Path | None = typer.Option(None, help="Folder of replies to reuse."),
        any_served_model: bool = typer.Option(False, help="Accept replies of another model than the one asked for."),
        form: str | None = typer.Option(None, "--format", help="Of other questions; default: found by looking."),
        as_json: bool = typer.Option(False, "--json", help="Print scores and comparisons as JSON."),
    ) -> None:
        """Judge answers and score them: accuracy and mean score of what could be judged, with everything else counted openly.

        Example: ego2world qa score qa answers/gpt-5-mini --judge openai/gpt-5 --split test
        """
        if not low < passing <= high:
            raise UsageError(f"--low {low}, --passing {passing}, --high {high}: needed low < passing <= high")
        items = _some(read_items(questions, form), split, limit)
        door = (
            open_door(
                judge,
                mock_judgement,
                Endpoint(connections=max(8, concurrency), base_url=base_url),
                cache,
                any_served_model,
            )
            if judge
            else None
        )
        made = Judge(door, Rubric(low, high, passing))
        with closing(door) if door else nullcontext(), progress("judged") as update:
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
                else f"{100 * difference['value']:+.1f} [{100 * difference['low']:.1f}, {100 * difference['high']:.1f}] points"
            )
            out.print(
                f"{pair['first']} against {pair['second']}: {shown} on {pair['items']} items, McNemar p = {pair['discordance']['p_value']:.3g}",
                soft_wrap=True, markup=False,
            )  # fmt: skip

    @qa.command("export")
    def export_command(
        questions: Path = typer.Argument(help="A folder made by qa build."),
        to: str = typer.Option(..., "--to", help=f"{', '.join(TARGETS)}."),
        out_dir: Path = typer.Option(..., "--out", help="The folder of the export."),
    ) -> None:
        """Write accepted questions for other tools: ids and times, never videos.

        huggingface: Parquet, card, Croissant. llamafactory: conversations and training settings. lmms-eval: a task folder.

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
            f"{', '.join(f'{count} {split}' for split, count in counts.items())}  ({out_dir}: {', '.join(made['files'])})",
            soft_wrap=True,
        )

    @qa.command("cohort")
    def cohort_command(
        questions: Path = typer.Argument(help="A folder made by qa build."),
        out_dir: Path = typer.Option(..., "--out", help="The folder of the review."),
        size: int = typer.Option(100, min=1, help="Groups to review."),
        reviewers: str = typer.Option("reviewer", help="Who reviews, comma-separated."),
        double: float = typer.Option(0.2, min=0.0, max=1.0, help="Share of the groups that two reviewers judge."),
        status: str = typer.Option("accepted", help=f"Which groups: {', '.join(FILES)}."),
        seed: int = typer.Option(REVIEW_SEED, help="Seed of the drawing."),
    ) -> None:
        """Draw groups for human review and give each reviewer a queue.

        Example: ego2world qa cohort qa --size 100 --reviewers anna,ben --out review
        """
        if status not in FILES:
            raise UsageError(f"no status {status!r}; there are: {', '.join(FILES)}")
        made = make_cohort(questions, out_dir, size, names(reviewers), double, seed, status)
        queues = ", ".join(f"{name} {len(items)}" for name, items in made["queues"].items())
        out.print(
            f"{len(made['items'])} of {made['population']} groups, {len(made['double'])} of them twice; {queues}  ({out_dir})",
            soft_wrap=True,
        )
        out.print(f"Next: ego2world serve {out_dir} --media VIDEOS", markup=False)

    @qa.command("reviews")
    def reviews_command(
        review: Path = typer.Argument(help="A folder made by qa cohort."),
        out_file: Path | None = typer.Option(
            None, "--out", help="Write the decisions with everything about them as JSON."
        ),
        as_json: bool = typer.Option(False, "--json", help="Print the same as JSON."),
    ) -> None:
        """What reviewers decided so far, and how far they agree.

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


def _some(items: list[Item], split: str | None, limit: int | None) -> list[Item]:
    """Return the items of a split, and of the first so many groups."""
    chosen = [item for item in items if split is None or item.split == split]
    if limit is not None:
        kept = set(sorted({item.group for item in chosen})[:limit])
        chosen = [item for item in chosen if item.group in kept]
    if not chosen:
        raise UsageError(
            f"no questions{f' of split {split}' if split else ''}; the questions are of: {', '.join(sorted({i.split or 'no split' for i in items}))}"
        )
    return chosen


def _source(questions: Path, split: str | None, limit: int | None) -> str:
    return " ".join([questions.name, *([f"split {split}"] if split else []), *([f"first {limit}"] if limit else [])])


def _print_scores(folder: Path, scores: dict[str, Any]) -> None:
    table = Table(box=None, pad_edge=False)
    for name in ("", "items", "judged", "accuracy", "interval", "mean score", "review", "error", "excluded", "missing"):
        table.add_column(name, justify="left" if not name else "right")
    rows = [("overall", scores["overall"])]
    for view in ("by_level", "by_category", "by_format", "by_modality"):
        rows += [(f"  {key}", value) for key, value in scores[view].items()]
    for name, row in rows:
        interval = row["accuracy_interval"]
        table.add_row(
            name, str(row["items"]), str(row["judged"]), "none judged" if row["accuracy"] is None else f"{100 * row['accuracy']:.1f} %",
            "" if interval is None else f"{100 * interval['low']:.1f} to {100 * interval['high']:.1f}",
            "" if row["mean_score"] is None else f"{row['mean_score']:.2f}", *(str(row[v]) for v in ("review", "error", "excluded", "missing")),
        )  # fmt: skip
    out.print(table)
    bounds, groups = scores["overall"]["bounds"], scores["groups"]
    if bounds["review_wrong"] is not None:
        out.print(
            f"with review cases as wrong {100 * bounds['review_wrong']:.1f} %, as right {100 * bounds['review_right']:.1f} %"
        )
    out.print(
        f"{groups['all_turns_correct']} of {groups['judged_whole']} groups judged in all turns are right in all of them ({groups['groups']} groups)"
    )
    if "circular" in scores:
        row = scores["circular"]
        out.print(f"circular: {row['right_in_all_rotations']} of {row['items']} right in all turnings of their options")
    for finding in scores["findings"]:
        out.print(f"{finding['code']}: {finding['item']} {finding['message']}", markup=False, soft_wrap=True)
    out.print(f"scores and judgements in {folder}", soft_wrap=True)


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
