"""The pages for users do what they say: the tutorial's commands run in order, and the examples of EXTENDING.md work as
they stand."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ego2world
from conftest import console_commands, once

DOCS = Path(__file__).parents[1] / "docs"
ENV = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "NO_COLOR": "1"}


def snippet(name: str) -> str:
    found = re.search(rf"```python {name}\n(.*?)```", (DOCS / "EXTENDING.md").read_text("utf-8"), re.S)
    assert found
    return found.group(1)


BEGINNINGS = {  # commands that many pages begin with and the demo has run too, with the folder that it wrote
    "ego2world demo --out ": "demo",
    "ego2world qa build demo/worlds --out ": "demo/qa",
    "ego2world judge rollouts demo/worlds --cases 4 --out ": "demo/rollouts",
}


def follow(page: str, folder: Path, demo: Path | None = None) -> None:
    """Run a page's commands in a folder; what the demo, which ran once, has written already is taken from there."""
    for command in console_commands(DOCS / page):
        begun, _, out = command.rpartition(" ")
        if demo is not None and f"{begun} " in BEGINNINGS:
            shutil.copytree(demo / BEGINNINGS[f"{begun} "], folder / out)
            continue
        done = subprocess.run(
            shlex.split(command), cwd=folder, env=ENV | {"PYTHONPATH": str(folder)}, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


@pytest.fixture
def workplace(tmp_path_factory: pytest.TempPathFactory, demo: Path, tmp_path: Path) -> Path:
    """A folder in which the tutorial was followed, once for all tests."""

    def make(folder: Path) -> None:
        folder.mkdir()
        follow("TUTORIAL.md", folder, demo)

    return Path(shutil.copytree(once(tmp_path_factory, "tutorial", make), tmp_path / "workplace"))


def test_the_tutorial_ends_with_a_paired_memory_study(workplace: Path) -> None:
    compared = json.loads((workplace / "report/scores.json").read_text())["compared"]
    effect = compared["memory"][0]
    assert (effect["first"], effect["second"], effect["tier"]) == ("persistent", "reset", "terminal-state")
    assert effect["resources"]["visual_queries"]["direction"] == -1 and effect["resources"]["tokens"]["first"] > 0
    assert "Memory, in pairs" in (workplace / "report/index.html").read_text()
    assert list((workplace / "logs").glob("*.eval"))


def test_a_planner_a_policy_a_metric_and_a_recipe_of_ones_own(workplace: Path) -> None:
    for name in ("planner", "memory", "metric", "recipe"):
        code = snippet(name)
        assert len(code.splitlines()) < 40
        (workplace / f"my_{name}.py").write_text(code)
    follow("EXTENDING.md", workplace)
    opener, third = json.loads((workplace / "report/scores.json").read_text())["runs"]
    assert opener["planner"] == "my_planner:make" and opener["pooled"]["accepted"] > 0
    assert third["memory"] == "every-third" and third["resources"]["cross_group_hits"] > 0
    reached = sum(task["gcr"] for task in opener["per_task"])
    assert reached and 0 < opener["metrics"]["economy"] < 10
    page = (workplace / "report/index.html").read_text()
    assert "conditions per ten attempts" in page and f"{opener['metrics']['economy']:.2f}" in page
    asked = [json.loads(line) for line in (workplace / "questions/groups.jsonl").read_text().splitlines()]
    mine = [group for group in asked if group["subtype"] == "cleanliness"]
    assert mine and all(re.fullmatch(r"Is .* clean or dirty at [0-9.]+ s\?", g["turns"][0]["question"]) for g in mine)
    settings = json.loads((workplace / "questions/manifest.json").read_text())["settings"]
    assert settings["recipes"] == {
        "my_recipe:clean": hashlib.sha256((workplace / "my_recipe.py").read_bytes()).hexdigest()
    }


def test_a_module_that_is_not_there_is_a_message(workplace: Path) -> None:
    for command, option in (
        ("run demo/worlds", "--planner"),
        ("run demo/worlds", "--memory"),
        ("report runs/persistent", "--metric"),
        ("qa build demo/worlds", "--recipe"),
    ):
        line = ["ego2world", *command.split(), option, "no_such_module:make", "--out", "runs/none"]
        done = subprocess.run(line, cwd=workplace, env=ENV, capture_output=True, text=True)
        assert done.returncode == 2 and "cannot be loaded" in done.stderr and "Traceback" not in done.stderr
    assert not (workplace / "runs/none").exists()


def test_linked_files_exist() -> None:
    for page in DOCS.glob("*.md"):
        for link in re.findall(r"\]\(((?!http)[^)#]+)\)", page.read_text("utf-8")):
            assert (DOCS / link).exists(), (page.name, link)


def test_the_interfaces_work_as_written(tmp_path: Path) -> None:
    """Every Python block of INTERFACES.md runs as it stands, beside the demo's worlds, and so do the commands."""
    from ego2world.annotations.hd_epic import read_hd_epic
    from ego2world.collection import build_worlds
    from ego2world.samples import sample_source

    build_worlds(read_hd_epic(sample_source(), ["K01-20250301-080000"]), tmp_path / "demo" / "worlds")
    follow("INTERFACES.md", tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "INTERFACES.md").read_text("utf-8"), re.S)
    assert len(blocks) == 3
    for block in blocks:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", block], cwd=tmp_path, env=ENV, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{block}\n{done.stderr}"
    assert "solved" in done.stdout and "name='open_appliance'" in done.stdout


def test_the_python_page_works_as_written(tmp_path: Path, demo: Path) -> None:
    shutil.copytree(demo / "demo/worlds", tmp_path / "demo/worlds")
    (block,) = re.findall(r"```python api\n(.*?)```", (DOCS / "PYTHON.md").read_text("utf-8"), re.S)
    done = subprocess.run([sys.executable, "-c", block], cwd=tmp_path, env=ENV, capture_output=True, text=True)
    assert done.returncode == 0 and "closed_around" in done.stdout, done.stdout + done.stderr
    listed = re.findall(r"^\| (.*?) \|", (DOCS / "PYTHON.md").read_text("utf-8"), re.M)
    named = {name for cell in listed for name in re.findall(r"`(\w+)", cell)}
    assert set(ego2world.__all__) - {"Ego2WorldError"} <= named, set(ego2world.__all__) - named


@pytest.mark.parametrize(
    ("script", "given", "says"),
    [
        ("evaluate_planner.py", "demo/worlds", "report: out/report/index.html"),
        ("build_questions.py", "demo/worlds", "checked anew: pass"),
        ("judge_videos.py", "demo/rollouts", "of 24 videos"),
    ],
)
def test_the_example_scripts_run(script: str, given: str, says: str, tmp_path: Path, demo: Path) -> None:
    command = [sys.executable, str(DOCS.parent / "examples" / script), str(demo / given), "out"]
    done = subprocess.run(command, cwd=tmp_path, env=ENV, capture_output=True, text=True)
    assert done.returncode == 0 and says in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("page", ["QUESTIONS.md", "EVALUATING.md", "REVIEWING.md"])
def test_the_pages_on_questions_do_what_they_say(page: str, tmp_path: Path, demo: Path) -> None:
    commands = console_commands(DOCS / page)
    assert commands[0] == "ego2world demo --out demo" and len(commands) >= 4
    follow(page, tmp_path, demo)
    made = json.loads((tmp_path / "qa/manifest.json").read_text())
    assert made["totals"]["accepted"] > 400
    if page == "EVALUATING.md":
        video = [json.loads(line) for line in (tmp_path / "answers/video/answers.jsonl").read_text().splitlines()]
        assert video and all(0 < row["frames"] <= 64 for row in video if row["round"] == 0)
        assert json.loads((tmp_path / "answers/text/scores.json").read_text())["circular"]["items"] > 0


@pytest.mark.parametrize("page", ["JUDGING.md", "ANNOTATING.md", "JUDGES.md"])
def test_the_pages_on_judges_do_what_they_say(page: str, tmp_path: Path, demo: Path) -> None:
    text = (DOCS / page).read_text("utf-8")
    commands = console_commands(DOCS / page)
    assert commands[0] == "ego2world demo --out demo" and len(commands) >= 4
    for code in re.findall(r"```python judge\n(.*?)```", text, re.S):
        assert len(code.splitlines()) < 40
        (tmp_path / "my_judge.py").write_text(code)
    follow(page, tmp_path, demo)
    if page == "ANNOTATING.md":
        assert len(list((tmp_path / "panel/clips").glob("*.mp4"))) == 25
        return
    found = json.loads((tmp_path / "agreement/agreement.json").read_text())
    assert found["judges"]["vision"]["S"]["pearson"]["value"] > 0.6
    if page == "JUDGES.md":
        assert found["judges"]["motion"]["T"]["pearson"]["n"] == 24


def test_the_tables_on_judges_are_complete() -> None:
    from ego2world.core.video import FileStatus
    from ego2world.judge.policy import GATES
    from ego2world.judge.records import Clutter, FailureType, Setting
    from ego2world.rollouts import FAULTS

    judging, judges = ((DOCS / page).read_text("utf-8") for page in ("JUDGING.md", "JUDGES.md"))
    for name in (*FileStatus, *FailureType, *Setting, *Clutter):
        assert f"`{name}`" in judging, name
    rows = re.findall(r"^\| .*\(`(\w+)`\) \| (\w+) \| `(\w+)` \|$", judges, re.M)
    assert rows == [(fault.value, e.gate, e.failure) for fault, e in FAULTS.items()]
    assert all(f"| {gate} |" in judging and f"| {gate} |" in judges for gate in GATES)
