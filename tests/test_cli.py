"""The commands as a user runs them: bad input gives one clear block and its exit code; machine output is JSON."""

from __future__ import annotations

import html
import json
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ego2world.cli.demo import make_parts
from ego2world.samples import sample_source

COMMAND = Path(sys.executable).parent / "ego2world"
NARRATIONS = Path("narrations-and-action-segments")


def ego2world(*args: object, stdin: str = "") -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "NO_COLOR": "1", "COLUMNS": "150"}
    return subprocess.run([COMMAND, *map(str, args)], capture_output=True, text=True, input=stdin, env=env)


def fails(code: int, words: list[str], *args: object) -> str:
    done = ego2world(*args)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr and done.stderr.count("error:") == 1
    for word in words:
        assert word in done.stderr, (word, done.stderr)
    return done.stderr


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    shutil.copytree(sample_source(), folder)
    return folder


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


def test_an_empty_folder(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    fails(
        3, ["no narrations", "HD_EPIC_Narrations.pkl or .csv"], "compile", tmp_path / "empty", "--out", tmp_path / "w"
    )
    assert not (tmp_path / "w").exists()
    fails(2, ["is not a directory"], "compile", tmp_path / "nothing", "--out", tmp_path / "w")


def test_a_truncated_pickle(source: Path, tmp_path: Path) -> None:
    (source / NARRATIONS / "HD_EPIC_Narrations.pkl").write_bytes(pickle.dumps({"a": list(range(500))})[:100])
    fails(3, ["HD_EPIC_Narrations.pkl", "ends early or is damaged"], "compile", source, "--out", tmp_path / "w")


class _Hostile:
    def __reduce__(self) -> tuple:
        return os.system, ("touch /tmp/ego2world_was_here",)


def test_a_hostile_pickle(source: Path, tmp_path: Path) -> None:
    mark = Path("/tmp/ego2world_was_here")
    mark.unlink(missing_ok=True)
    (source / NARRATIONS / "HD_EPIC_Narrations.pkl").write_bytes(pickle.dumps(_Hostile()))
    fails(3, ["is not part of a plain table"], "compile", source, "--out", tmp_path / "w")
    assert not mark.exists()


def test_a_missing_column(source: Path, tmp_path: Path) -> None:
    edit(source / NARRATIONS / "HD_EPIC_Narrations.csv", "start_timestamp", "begin")
    fails(3, ["field start_timestamp", "no such column", "docs/DATA.md"], "compile", source, "--out", tmp_path / "w")


def test_all_malformed_rows_are_listed(source: Path, tmp_path: Path) -> None:
    path = source / NARRATIONS / "HD_EPIC_Narrations.csv"
    rows = path.read_text("utf-8").splitlines()
    cells = rows[1].split(",")
    cells[4], cells[5] = "9.5", "2.5"
    rows[1] = ",".join(cells)
    cells = rows[2].split(",")
    cells[4] = "soon"
    rows[2] = ",".join(cells)
    path.write_text("\n".join(rows) + "\n", "utf-8")
    text = fails(
        3,
        ["2 problem(s)", "row 1, field end_timestamp", "2.5 before start 9.5", "row 2, field start_timestamp"],
        "compile",
        "--strict",
        source,
        "--out",
        tmp_path / "w",
    )
    assert "'soon'" in text


def test_an_unknown_video(source: Path, tmp_path: Path) -> None:
    fails(
        3,
        ["unknown video K01-20250301-080001", "nearest: K01-20250301-080000"],
        "compile",
        source,
        "--out",
        tmp_path / "w",
        "--videos",
        "K01-20250301-080001",
    )


def test_a_changed_artefact(sample_worlds: Path, tmp_path: Path) -> None:
    worlds = tmp_path / "w"
    shutil.copytree(sample_worlds, worlds)
    path = worlds / "episodes" / "K01-20250301-080000" / "operations.jsonl"
    path.write_bytes(path.read_bytes().replace(b"mug", b"jug", 1))
    for args in (["audit", worlds], ["show", worlds, "K01-20250301-080000"], ["run", worlds, "--out", tmp_path / "r"]):
        fails(7, ["content hash", "changed after compiling"], *args)


def test_a_run_folder_of_other_worlds(sample_worlds: Path, tmp_path: Path) -> None:
    args = [
        "run",
        sample_worlds,
        "--episodes",
        "K01-20250301-080000",
        "--planner",
        "reference",
        "--out",
        tmp_path / "r",
    ]
    assert ego2world(*args).returncode == 0
    before = (tmp_path / "r/groups.jsonl").read_bytes()
    edit(
        tmp_path / "r/run.json",
        json.loads((tmp_path / "r/run.json").read_text())["episode_sha256"]["K01-20250301-080000"],
        "0" * 64,
    )
    fails(7, ["other worlds", "choose another --out"], *args)
    assert (tmp_path / "r/groups.jsonl").read_bytes() == before
    fails(7, ["no run.json"], "report", tmp_path, "--out", tmp_path / "rep")


def test_names_that_do_not_exist(sample_worlds: Path, tmp_path: Path) -> None:
    fails(
        2,
        ["no planner 'best'", "reference, symbolic"],
        "run",
        sample_worlds,
        "--planner",
        "best",
        "--out",
        tmp_path / "r",
    )
    fails(2, ["no episode nowhere", "K01-20250301-080000"], "show", sample_worlds, "nowhere")
    fails(2, ["no task task_999"], "show", sample_worlds, "K01-20250301-080000", "task_999")
    fails(2, ["no manifest.json"], "audit", tmp_path)
    assert ego2world("run").returncode == 2


def test_machine_output(sample_worlds: Path, tmp_path: Path) -> None:
    audit = json.loads(ego2world("audit", sample_worlds, "--json").stdout)
    assert {
        "verdict",
        "reference_pass",
        "initial_pass",
        "contracts",
        "negative_suites",
        "negative_rejected",
        "stress",
    } <= audit.keys()
    for memory in ("persistent", "reset"):
        assert (
            ego2world(
                "run",
                sample_worlds,
                "--memory",
                memory,
                "--episodes",
                "K01-20250301-080000",
                "--out",
                tmp_path / memory,
            ).returncode
            == 0
        )
    scores = json.loads(
        ego2world("report", tmp_path / "persistent", tmp_path / "reset", "--out", tmp_path / "rep", "--json").stdout
    )
    assert [s["memory"] for s in scores] == ["persistent", "reset"]
    assert set(scores[0]) >= {"planner", "memory", "suite", "metrics", "resources", "tasks", "groups"}
    bench = json.loads(ego2world("bench", sample_worlds, "--seconds", "0.2", "--json").stdout)
    rates = {
        key: bench[f"{key}_steps_per_cpu_s"]
        for key in ("plain", "plain_mixed", "batched", "batched_replay", "bitset", "upf")
    }
    assert all(rate > 0 for rate in rates.values()) and bench["compile_narrations_per_s"] > 0
    assert bench["plain_over_upf"] == pytest.approx(rates["plain"] / rates["upf"], rel=0.02)
    assert {
        "textworld_steps_per_cpu_s",
        "pddlgym_steps_per_cpu_s",
        "bytes_per_world",
        "mask_ns_per_ground_action",
    } <= bench.keys()
    shown = json.loads(ego2world("show", sample_worlds, "K01-20250301-080000", "task_001", "--json").stdout)
    assert shown["contract"]["conditions"]


def test_every_command_has_help_with_an_example() -> None:
    from ego2world.cli import COMMANDS, build_app

    def help_of(*words: str) -> str:
        done = CliRunner().invoke(build_app(words), [*words, "--help"], env={"NO_COLOR": "1", "COLUMNS": "150"})
        assert done.exit_code == 0, words
        return done.stdout

    listed = help_of()
    inner = {
        "suite": ("make", "show"),
        "qa": ("build", "check", "audit", "vqa", "select", "answer", "score", "figures", "export", "cohort", "reviews"),
        "judge": ("init", "check", "rollouts", "plan", "run", "score", "agree", "panel", "answers"),
    }
    for command in COMMANDS:
        for words in [(command, name) for name in inner.get(command, ())] or [(command,)]:
            assert f"Example: ego2world {' '.join(words)}" in help_of(*words), command
        assert f" {command} " in listed


def test_play_from_a_pipe(sample_worlds: Path) -> None:
    done = ego2world(
        "play",
        sample_worlds,
        "K01-20250301-080000",
        stdin="help\nlook\nopen cupboard 1\npick_up mug\nfly\nopen no such thing\nnext\nquit\n",
    )
    assert done.returncode == 0, done.stderr
    assert (
        "Holding: mug" in done.stdout
        and "refused (unknown_action)" in done.stdout
        and "refused (unknown_object)" in done.stdout
    )


def test_text_of_the_data_is_data(source: Path, tmp_path: Path) -> None:
    """Markup in narrations reaches neither the terminal's formatting nor the page as markup."""
    edit(
        source / NARRATIONS / "HD_EPIC_Narrations.csv",
        "Close the cupboard with the left hand.",
        "Close the [red]cupboard[/red] <script>alert(1)</script> now.",
    )
    assert ego2world("compile", source, "--out", tmp_path / "w", "--videos", "K01-20250301-080000").returncode == 0
    shown = ego2world("show", tmp_path / "w", "K01-20250301-080000").stdout
    assert "[red]" in shown.replace("\n", "") and "Traceback" not in shown
    assert ego2world("run", tmp_path / "w", "--planner", "reference", "--out", tmp_path / "r").returncode == 0
    assert ego2world("report", tmp_path / "r", "--out", tmp_path / "rep").returncode == 0
    assert "<script>alert" not in (tmp_path / "rep/index.html").read_text()


def test_demo_replaces_only_its_own_folder(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("keep")
    fails(2, ["contains no earlier demo"], "demo", "--out", tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "keep"


def test_demo_runs_all_three_systems_and_ends_with_a_page(demo: Path) -> None:
    printed = (demo / "printed.txt").read_text("utf-8")
    assert printed.startswith("exit code 0") and "failed" not in printed and "Next, try:" in printed, printed
    assert not (demo / "demo/old.txt").exists()
    page = (demo / "demo/index.html").read_text("utf-8")
    commands = [step.command for part in make_parts(Path("demo")) for step in part.steps]
    assert len(commands) == 20 and all(html.escape(command) in page for command in commands)
    assert page.count("<video ") == 3 and page.count("verdict: pass") == 3 and "exit code" not in page


def test_play_reads_sentences_and_the_commands_that_it_offers(sample_worlds: Path) -> None:
    from ego2world.cli.play import read_command, read_line, write_command
    from ego2world.run.environment import Environment
    from ego2world.world.episode import load_episode
    from ego2world.world.observation import Proposal

    episode = load_episode(sample_worlds, "K01-20250301-080000")
    environment, group = Environment(episode), episode.groups[0]
    for line in ("Open the cupboard 1", "pick up the mug", "Put mug on counter 1", "put_on mug to=table 1"):
        attempt, feedback = environment.attempt(read_line(environment, group, line))
        if line.startswith("put_on"):
            assert [f.code for f in feedback.failures] == ["not_held"]
            assert [write_command(p) for p in feedback.repair] == ["pick_up mug_1 hand=right_hand"]
            assert environment.attempt(read_command(write_command(feedback.repair[0])))[0].accepted
        else:
            assert attempt.accepted, (line, feedback)
    walk = Proposal("navigate", {"target": "zone_2"})
    assert read_command(write_command(walk)) == walk
    assert read_line(environment, group, "frobnicate mug") == Proposal("frobnicate", {"object": "mug"})
