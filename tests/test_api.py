"""The public API: what ``import ego2world as e2w`` offers works as a notebook would use it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import ego2world as e2w
from ego2world.annotations.records import Dataset

EPISODE = "K01-20250301-080000"


def test_every_public_name_is_there_and_no_other() -> None:
    assert all(getattr(e2w, name) is not None for name in e2w.__all__)
    assert set(e2w.__all__) <= set(dir(e2w)) and (Path(e2w.__file__).parent / "py.typed").is_file()
    with pytest.raises(AttributeError, match="nonsense"):
        _ = e2w.nonsense  # type: ignore[attr-defined]


def test_the_import_loads_nothing() -> None:
    code = (
        "import ego2world, sys; print(sorted(m for m in sys.modules if m.split('.')[0] in {'numpy', 'scipy', 'av',"
        " 'msgspec'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow  # the whole package, from nothing
def test_a_type_checker_sees_the_types(tmp_path: Path) -> None:
    (tmp_path / "user.py").write_text(
        "import ego2world as e2w\n\nworlds ="
        ' e2w.open_worlds("demo/worlds")\nreveal_type(worlds["x"].initial)\nreveal_type(e2w.step)\n'
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file", "", "user.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert 'Revealed type is "ego2world.world.state.State"' in done.stdout and "Any" not in done.stdout, done.stdout


def test_a_collection_an_episode_and_a_step(sample_worlds: Path) -> None:
    for path in (sample_worlds, str(sample_worlds)):
        worlds = e2w.open_worlds(path)
        assert EPISODE in list(worlds) and len(worlds) == worlds.totals["videos"] == 8
    episode = worlds[EPISODE]
    action = episode.actions[0]
    after = e2w.step(episode.world, episode.initial, action)
    assert isinstance(after, e2w.State) and after.facts != episode.initial.facts
    refused = e2w.step(episode.world, episode.initial, e2w.Action.of("pick_up", {"object": "no_such_thing"}))
    assert isinstance(refused, e2w.Refusal) and "no_such_thing" in e2w.explain(refused)
    for value in (worlds, episode, episode.world, episode.initial, after):
        assert len(repr(value)) < 200, repr(value)
    assert "<table" in worlds._repr_html_() and "&lt;" not in worlds._repr_html_() and "<table" in episode._repr_html_()


def test_observing_and_acting(sample_worlds: Path) -> None:
    environment = e2w.Environment(e2w.open_worlds(sample_worlds)[EPISODE])
    zone = environment.local().zone
    assert environment.look().zone == zone
    attempt, feedback = environment.attempt(e2w.Proposal("open", {"object": "cupboard 1"}))
    assert attempt.accepted == feedback.accepted


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_are_data_frames(sample_worlds: Path, tmp_path: Path, library: str) -> None:
    worlds = e2w.open_worlds(sample_worlds)
    kind = pd.DataFrame if library == "pandas" else pl.DataFrame
    for table in ("operations", "transitions", "notes", "entities", "groups", "tasks", "narrations"):
        found = worlds.table(table, library)  # type: ignore[arg-type]
        assert isinstance(found, kind) and len(found) == len(worlds.rows(table)) > 0
    assert worlds.totals["operations"] == len(worlds.rows("operations"))
    run = e2w.run_planner(worlds, tmp_path, "reference", episodes=(EPISODE,))
    per_task = run.per_task(library)  # type: ignore[arg-type]
    assert len(per_task) == run.score()["tasks"] and list(per_task["metrics.gcr"]) == [1.0] * len(per_task)
    with pytest.raises(e2w.Ego2WorldError, match="no library"):
        e2w.frame([], "excel")  # type: ignore[arg-type]


class Opener:
    """Opens what is closed in front of it, then is done."""

    name = "opener"

    def begin_group(self, context: e2w.Context) -> None:
        self.left = [fixture.id for fixture in context.local.fixtures if fixture.openness == "closed"]

    def next_step(self, context: e2w.Context) -> e2w.Step:
        return e2w.Act(e2w.Proposal("open", {"object": self.left.pop()})) if self.left else e2w.Done()


def test_a_planner_of_ones_own_runs_resumes_and_is_scored(sample_worlds: Path, tmp_path: Path) -> None:
    run = e2w.run_planner(str(sample_worlds), str(tmp_path), lambda given: Opener(), "reset")
    assert run.score()["pooled"]["accepted"] > 0 and run.settings["planner"].endswith("<lambda>")
    again = e2w.run_planner(sample_worlds, tmp_path, lambda given: Opener(), "reset")
    assert again.score() == run.score() == e2w.score_run(str(tmp_path))
    assert "goal conditions reached" in run._repr_html_() and len(repr(run)) < 300


def read_nothing_new(folder: Path, videos: object) -> Dataset:
    from ego2world.annotations.hd_epic import read_hd_epic

    return read_hd_epic(folder, [EPISODE])


def test_a_reader_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ego2world.samples import sample_source

    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    worlds = e2w.compile_annotations(str(sample_source()), str(tmp_path), "test_api:read_nothing_new")
    assert list(worlds) == [EPISODE]


def test_questions(sample_worlds: Path, tmp_path: Path) -> None:
    made = e2w.build_questions(sample_worlds, tmp_path, e2w.QuestionSettings(episodes=(EPISODE,)))
    report = e2w.check_questions(str(tmp_path))
    assert made["totals"]["accepted"] == report["groups"] > 50 and report["verdict"] == "pass"


def test_judging(rendered: Path, tmp_path: Path) -> None:
    summary = e2w.judge_videos(str(rendered), tmp_path, f"answers:{rendered / 'truth.jsonl'}")
    assert summary["raters"]["oracle"]["overall"]["scored"] == 120
    with pytest.raises(e2w.Ego2WorldError, match="needs a model"):
        e2w.judge_videos(rendered, tmp_path / "other")
