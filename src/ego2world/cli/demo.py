"""ego2world demo: all three systems on the sample kitchens, by the commands that a user would type."""

from __future__ import annotations

import csv
import json
import shutil
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

import typer
from jinja2 import Environment, PackageLoader
from rich.console import Console

from ego2world.cli.common import AUDIT_FAILED, err, out
from ego2world.core.canonical import write_atomic
from ego2world.core.journal import read_rows
from ego2world.errors import UsageError
from ego2world.samples import sample_source

MARK = ".ego2world-demo"
WIDTH = 110  # of what the commands print
RUNS = (("reference", "persistent"), ("symbolic", "persistent"), ("symbolic", "reset"), ("random", "persistent"))


@dataclass
class DemoStep:
    """One command of the demo: what it shows, its words, and what it printed."""

    shows: str
    words: tuple[str, ...]
    printed: str = ""
    code: int = 0

    @property
    def command(self) -> str:
        """The command as a user would type it."""
        return " ".join(("ego2world", *self.words))


@dataclass
class DemoPart:
    """One of the three systems: its steps, and the pages and files that they leave."""

    title: str
    about: str
    steps: list[DemoStep] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("demo")
    def demo_command(
        out_dir: Path = typer.Option(Path("demo"), "--out", help="Output folder; an earlier demo in it is replaced."),
    ) -> None:
        """Run all three systems on the sample kitchens: worlds and planners, questions, and a judge of videos.

        Example: ego2world demo --out demo
        """
        if out_dir.exists() and any(out_dir.iterdir()):
            if not (out_dir / MARK).is_file():
                raise UsageError(f"{out_dir} exists and contains no earlier demo; choose another --out folder")
            shutil.rmtree(out_dir)
        out_dir.mkdir(parents=True, exist_ok=True)
        (out_dir / MARK).touch()
        failed = 0
        parts = make_parts(out_dir)
        for part in parts:
            out.print(f"\n[bold]{part.title}[/bold]")
            for step in part.steps:
                if step.words[:2] == ("qa", "figures"):
                    write_percentages(out_dir)
                with Console(file=sys.stderr).status(step.shows):
                    _run(step)
                failed += step.code != 0
                ended = "done" if step.code == 0 else f"failed, exit code {step.code}"
                out.print(f"  {step.shows:<34} {ended}", markup=False)
                if step.code:
                    err.print(f"{step.command}\n{step.printed}", markup=False, soft_wrap=True)
        page = out_dir / "index.html"
        first = read_rows(out_dir / "qa" / "groups.jsonl")[0]["episode"]
        tries = next_commands(out_dir, first)
        write_atomic(page, render(out_dir, parts, tries))
        out.print(f"\nOpen {page}\n\nNext, try:", soft_wrap=True, markup=False)
        for command, says in tries:
            out.print(f"  {command:<70}  {says}", soft_wrap=True, markup=False)
        if failed:
            raise typer.Exit(AUDIT_FAILED)


def make_parts(folder: Path) -> list[DemoPart]:
    """Return what the demo runs, in order."""
    worlds, questions, clips, runs, judges = (
        str(folder / name) for name in ("worlds", "qa", "rollouts", "runs", "judges")
    )
    answers, report, agreement = (str(folder / name) for name in ("answers", "report", "agreement"))
    folders = [f"{runs}/{planner}-{memory}" for planner, memory in RUNS]
    return [
        DemoPart(
            "Ego2World: worlds, and planners in them",
            "Annotations are compiled into executable worlds. Planners act in them under partial "
            "observation, each with a belief of its own, and what they bring about is checked against frozen"
            " contracts.",
            [
                DemoStep("compile the sample kitchens", ("compile", str(sample_source()), "--out", worlds)),
                DemoStep("audit the worlds", ("audit", worlds)),
                *(
                    DemoStep(
                        f"run {planner}, {memory} memory",
                        ("run", worlds, "--planner", planner, "--memory", memory, "--out", to),
                    )
                    for (planner, memory), to in zip(RUNS, folders, strict=True)
                ),
                DemoStep("score and report", ("report", *folders, "--out", report)),
            ],
            [
                ("Report: scores, intervals, memory effects, every task's trace", "report/index.html"),
                ("Worlds", "worlds/manifest.json"),
                (
                    "What each narration became: notes of the first episode",
                    "worlds/episodes/K01-20250301-080000/notes.jsonl",
                ),
            ],
        ),
        DemoPart(
            "EgoOmniWorld: questions with evidence",
            "Each question is bound to evidence, and its answer is derived again by executing the "
            "world with and without that evidence.",
            [
                DemoStep("build questions", ("qa", "build", worlds, "--out", questions)),
                DemoStep("check them by replay", ("qa", "check", questions)),
                DemoStep("audit them with blind baselines", ("qa", "audit", questions)),
                DemoStep(
                    "answer them with a mock model", ("qa", "answer", questions, "--model", "mock", "--out", answers)
                ),
                DemoStep("score the answers", ("qa", "score", questions, answers)),
                DemoStep("check the printed percentages", ("qa", "figures", f"{answers}/percentages.csv")),
            ],
            [
                ("Accepted questions", "qa/groups.jsonl"),
                ("Rejected ones, with the reason", "qa/rejected.jsonl"),
                ("Scores of the mock model", "answers/scores.json"),
            ],
        ),
        DemoPart(
            "Ego2Act: judging videos by gates",
            "Rollouts of the worlds are drawn, well and with planted faults, so that every answer is known. "
            "Judges answer one gate at a time; here the exact answers, and a detector that sees pixels alone.",
            [
                DemoStep(
                    "draw rollouts of four cases",
                    ("judge", "rollouts", worlds, "--out", clips, "--cases", "4", "--jobs", "2"),
                ),
                DemoStep("plan subgoals from the goals", ("judge", "plan", clips, "--out", f"{judges}/plans.jsonl")),
                DemoStep(
                    "judge by the exact answers",
                    ("judge", "run", clips, "--backend", f"answers:{clips}/truth.jsonl", "--out", f"{judges}/exact"),
                ),
                DemoStep(
                    "judge by the detector",
                    ("judge", "run", clips, "--backend", "vision", "--frames", "32", "--out", f"{judges}/vision"),
                ),
                DemoStep("score the exact answers", ("judge", "score", clips, f"{judges}/exact")),
                DemoStep("score the detector", ("judge", "score", clips, f"{judges}/vision")),
                DemoStep(
                    "detector against exact answers",
                    (
                        "judge",
                        "agree",
                        clips,
                        f"{judges}/vision",
                        f"{judges}/exact",
                        "--reference",
                        "oracle",
                        "--min-raters",
                        "1",
                        "--out",
                        agreement,
                    ),
                ),
            ],
            [
                ("Agreement of the detector with the exact answers", "agreement/index.html"),
                ("Cases", "rollouts/cases.jsonl"),
            ],
        ),
    ]


def next_commands(folder: Path, episode: str) -> list[tuple[str, str]]:
    """Return commands to try next, and what each does."""
    return [
        (f"ego2world show {folder}/worlds {episode}", "what was compiled from which narration"),
        (f"ego2world play {folder}/worlds {episode}", "act in it yourself"),
        (f"ego2world run {folder}/worlds --planner llm --model mock --out runs/mock", "a language model's place"),
        (f"ego2world qa cohort {folder}/qa --size 20 --reviewers ann,bo --out review", "questions for human review"),
        ("ego2world compile YOUR_ANNOTATIONS --out worlds", "your own data (docs/DATA.md)"),
    ]


def _run(step: DemoStep) -> None:
    """Run a step's command in this process and keep what it printed."""
    from ego2world.cli import build_app  # this module is imported by it

    printed, width = StringIO(), out.width
    arguments = list(step.words)
    out.width = WIDTH
    try:
        with redirect_stdout(printed), redirect_stderr(printed):
            code = build_app(arguments)(arguments, standalone_mode=False)
            step.code = code if isinstance(code, int) else 0
    except typer.Exit as leave:
        step.code = leave.exit_code
    finally:
        out.width = width
        step.printed = printed.getvalue().rstrip()


def write_percentages(folder: Path) -> None:
    """Write the printed accuracies of the mock model as a table: name, percent, n."""
    answers = folder / "answers"
    scores = json.loads((answers / "scores.json").read_bytes())
    table = StringIO()
    rows = csv.writer(table, lineterminator="\n")
    rows.writerow(("name", "percent", "n"))
    for name, row in scores["by_category"].items():
        if row["judged"]:
            rows.writerow((name, f"{100 * row['accuracy']:.1f}", row["judged"]))
    write_atomic(answers / "percentages.csv", table.getvalue().encode())


def render(folder: Path, parts: list[DemoPart], tries: list[tuple[str, str]]) -> bytes:
    """Return the page that leads to everything."""
    environment = Environment(
        loader=PackageLoader("ego2world.cli", "."), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    return (
        environment.get_template("demo.html.j2")
        .render(
            parts=parts,
            tries=tries,
            questions=_one_each(read_rows(folder / "qa" / "groups.jsonl")),
            clips=_clips(folder),
        )
        .encode()
    )


def _one_each(groups: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the first question of each category."""
    found: dict[str, dict[str, Any]] = {}
    for group in groups:
        found.setdefault(group["category"], group)
    return [found[name] for name in sorted(found)]


def _clips(folder: Path) -> list[dict[str, Any]]:
    """Return three clips of the first case with the scores that the exact answers and the detector give."""
    videos = {row["video_id"]: row for row in read_rows(folder / "rollouts" / "videos.jsonl")}
    scores = {
        judge: {row["video_id"]: row for row in read_rows(folder / "judges" / judge / "scores.jsonl")}
        for judge in ("exact", "vision")
    }
    case = min((row["case_id"] for row in videos.values()), default="")
    goals = {row["case_id"]: row["goal"] for row in read_rows(folder / "rollouts" / "cases.jsonl")}
    own = [row for row in videos.values() if row["case_id"] == case][:3]
    return [
        {
            "path": f"rollouts/{row['path']}",
            "id": row["video_id"],
            "goal": goals[case],
            "scores": {judge: rows.get(row["video_id"], {}).get("S") for judge, rows in scores.items()},
        }
        for row in own
    ]
