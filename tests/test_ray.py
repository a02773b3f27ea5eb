"""Over Ray: the same bytes as on one machine, whoever is killed; one cluster of its own for the whole file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from ego2world.cli import spelled_out

pytest.importorskip("ray", reason="needs the extra ray")
COMMAND = [str(Path(sys.executable).parent / "ego2world")]
SAME = {"attempts.jsonl", "beliefs.jsonl", "calls.jsonl", "groups.jsonl", "looks.jsonl", "tasks.jsonl", "run.json"}


def ego2world(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, text=True, env=environment())


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}


def same(one: Path, other: Path) -> None:
    assert {p.name for p in one.iterdir()} >= SAME
    for name in SAME:
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


def test_an_address_may_be_left_out() -> None:
    assert spelled_out(["run", "w", "--ray", "--jobs", "2"]) == ["run", "w", "--ray", "own", "--jobs", "2"]
    assert spelled_out(["run", "w", "--ray"])[-1] == "own"
    assert spelled_out(["run", "--ray", "10.0.0.1:6379", "w"]) == ["run", "--ray", "10.0.0.1:6379", "w"]


@pytest.mark.slow
def test_compiling_and_running_give_the_same_bytes(sample_worlds: Path, tmp_path: Path) -> None:
    from ego2world.samples import sample_source

    done = ego2world("compile", sample_source(), "--out", tmp_path / "w", "--ray", "--jobs", 2)
    assert done.returncode == 0, done.stderr
    for path in sample_worlds.rglob("*.json*"):
        assert path.read_bytes() == (tmp_path / "w" / path.relative_to(sample_worlds)).read_bytes()
    for name, more in (("here", ()), ("there", ("--ray", "--jobs", 2))):
        done = ego2world("run", sample_worlds, "--planner", "llm", "--model", "mock", "--out", tmp_path / name, *more)
        assert done.returncode == 0, done.stderr
    same(tmp_path / "here", tmp_path / "there")


@pytest.mark.slow
def test_questions_are_the_same_bytes(sample_worlds: Path, sample_questions: Path, tmp_path: Path) -> None:
    done = ego2world("qa", "build", sample_worlds, "--out", tmp_path / "qa", "--ray", "--jobs", 2)
    assert done.returncode == 0, done.stderr
    for path in sample_questions.rglob("*.json*"):
        assert path.read_bytes() == (tmp_path / "qa" / path.relative_to(sample_questions)).read_bytes(), path


@pytest.mark.slow
def test_a_killed_worker_loses_nothing(sample_worlds: Path, tmp_path: Path) -> None:
    done = ego2world("run", sample_worlds, "--planner", "slow_planner:make", "--out", tmp_path / "here", "--jobs", 2)
    assert done.returncode == 0, done.stderr
    arguments = [
        "run",
        str(sample_worlds),
        "--planner",
        "slow_planner:make",
        "--out",
        str(tmp_path / "there"),
        "--ray",
        "--jobs",
        "2",
    ]
    process = subprocess.Popen(
        [*COMMAND, *arguments], env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    until, killed = time.monotonic() + 60, 0
    while not killed and time.monotonic() < until and process.poll() is None:
        for worker in psutil.Process(process.pid).children(recursive=True):
            if "ray::_call" in " ".join(worker.cmdline()):
                time.sleep(0.7)  # in the middle of its episode
                os.kill(worker.pid, signal.SIGKILL)
                killed += 1
                break
        time.sleep(0.05)
    _, stderr = process.communicate(timeout=120)
    assert killed == 1 and process.returncode == 0, stderr.decode()
    same(tmp_path / "here", tmp_path / "there")


@pytest.mark.slow
def test_a_cluster_that_is_not_there_is_named(sample_worlds: Path, tmp_path: Path) -> None:
    done = ego2world("run", sample_worlds, "--out", tmp_path / "r", "--ray", "127.0.0.1:1")
    assert done.returncode == 2 and "no Ray cluster at 127.0.0.1:1" in done.stderr and "Traceback" not in done.stderr
