"""Suites: chosen by rule, fixed by hashes, named by every evaluation."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from ego2world.errors import RecordError, UsageError
from ego2world.evaluate import score_run
from ego2world.run.loop import RunSettings, run
from ego2world.tasks.suite import SuiteRule, check_suite, make_suite, read_suite, write_suite
from ego2world.world.episode import load_episode, load_manifest


def test_the_first_complete_episodes_of_some_scenes_and_a_tier(sample_worlds: Path) -> None:
    names = list(load_manifest(sample_worlds)["episodes"])
    every = make_suite(sample_worlds, "every", SuiteRule())
    assert list(every.episodes) == names and len(every.tasks) == sum(
        len(load_episode(sample_worlds, n).tasks) for n in names
    )
    assert make_suite(sample_worlds, "two", SuiteRule(episodes=2)).episodes == tuple(names[:2])
    assert make_suite(sample_worlds, "k02", SuiteRule(scenes=("K02",))).episodes == tuple(
        n for n in names if n.startswith("K02")
    )
    terminal = make_suite(sample_worlds, "terminal", SuiteRule(tier="terminal-state"))
    event = make_suite(sample_worlds, "event", SuiteRule(tier="event"))
    assert set(terminal.tasks) | set(event.tasks) == set(every.tasks) and not set(terminal.tasks) & set(event.tasks)
    for rule, words in ((SuiteRule(scenes=("K9",)), "no scene K9"), (SuiteRule(tier="x"), "no tier")):
        with pytest.raises(UsageError, match=words):
            make_suite(sample_worlds, "x", rule)


def test_a_run_names_its_suite_and_scores_only_its_tasks(sample_worlds: Path, tmp_path: Path) -> None:
    suite = make_suite(sample_worlds, "events", SuiteRule(tier="event"))
    write_suite(suite, tmp_path / "s.json")
    assert read_suite(tmp_path / "s.json") == suite
    run(sample_worlds, tmp_path / "r", RunSettings("reference"), suite)
    score = score_run(tmp_path / "r")
    assert (score["suite"], score["suite_sha256"], score["tasks"]) == ("events", suite.sha256, len(suite.tasks))
    assert {f"{t['episode']}/{t['task']}" for t in score["per_task"]} == set(suite.tasks)
    with pytest.raises(UsageError, match="different settings"):
        run(sample_worlds, tmp_path / "r", RunSettings("reference"), make_suite(sample_worlds, "events", SuiteRule()))


def test_membership_cannot_drift(sample_worlds: Path, tmp_path: Path) -> None:
    suite = make_suite(sample_worlds, "s", SuiteRule())
    write_suite(suite, tmp_path / "s.json")
    data = json.loads((tmp_path / "s.json").read_text())
    data["tasks"].pop()
    (tmp_path / "less.json").write_text(json.dumps(data))
    with pytest.raises(RecordError, match="changed after it was made"):
        read_suite(tmp_path / "less.json")
    (tmp_path / "none.json").write_text("{}")
    with pytest.raises(RecordError, match="not a suite"):
        read_suite(tmp_path / "none.json")
    worlds = tmp_path / "w"
    shutil.copytree(sample_worlds, worlds)
    manifest = json.loads((worlds / "manifest.json").read_text())
    first = next(iter(manifest["episodes"]))
    manifest["episodes"][first]["sha256"] = "0" * 64
    (worlds / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(RecordError, match=f"episode {first} has hash 000000000000"):
        check_suite(suite, worlds)
    del manifest["episodes"][first]
    (worlds / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(RecordError, match="is not there"):
        check_suite(suite, worlds)
