"""Inspect AI both ways: a suite as its task gives the plain runner's scores, and a run opens as its log."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log

from ego2world.agents.mock import mock_reply
from ego2world.core.models import MockModel, ModelClient
from ego2world.evaluate import score_run
from ego2world.inspect import write_inspect_log
from ego2world.run.loop import RunSettings, run
from ego2world.tasks.suite import SuiteRule, make_suite, write_suite

COMMAND = Path(sys.executable).parent / "inspect"


@pytest.fixture(scope="module")
def plain(sample_worlds: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("plain") / "run"
    run(sample_worlds, out, RunSettings("llm", "reset"), client=ModelClient(MockModel(mock_reply)))
    return out


def test_a_suite_is_an_inspect_task(sample_worlds: Path, plain: Path, tmp_path: Path) -> None:
    write_suite(make_suite(sample_worlds, "every", SuiteRule()), tmp_path / "suite.json")
    done = subprocess.run(
        [
            COMMAND,
            "eval",
            "ego2world/suite",
            "-T",
            f"worlds={sample_worlds}",
            "-T",
            f"suite={tmp_path / 'suite.json'}",
            "-T",
            "memory=reset",
            "--model",
            "ego2world/mock",
            "--log-dir",
            tmp_path / "logs",
            "--display",
            "plain",
            "--no-log-realtime",
        ],
        capture_output=True,
        text=True,
        env={**os.environ, "NO_COLOR": "1"},
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    log = read_eval_log(str(next((tmp_path / "logs").glob("*.eval"))))
    score = score_run(plain)
    assert (
        log.status == "success" and log.results is not None and log.results.completed_samples == len(log.samples or [])
    )
    assert {n: m.value for n, m in log.results.scores[0].metrics.items()} == pytest.approx(score["metrics"])
    usage = log.stats.model_usage["ego2world/mock"]
    assert (usage.input_tokens, usage.output_tokens) == (
        score["resources"]["tokens_in"],
        score["resources"]["tokens_out"],
    )


def test_a_run_opens_as_a_log(plain: Path, tmp_path: Path) -> None:
    log = read_eval_log(str(write_inspect_log(plain, tmp_path)))
    score = score_run(plain)
    assert log.status == "success" and log.results is not None and log.samples is not None
    assert {n: m.value for n, m in log.results.scores[0].metrics.items()} == pytest.approx(score["metrics"])
    said = [m for s in log.samples for m in s.messages if m.role == "assistant"]
    assert len(said) == score["pooled"]["calls"] and [s.id for s in log.samples] == list(score["episode_sha256"])
    assert log.eval.metadata is not None and log.eval.metadata["suite_sha256"] == score["suite_sha256"]
