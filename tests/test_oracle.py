"""The oracle: plans made with full knowledge fulfil every task of the sample kitchens."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from ego2world.agents import PlannerContext, make_planner
from ego2world.agents.oracle import OraclePlanner
from ego2world.errors import UsageError
from ego2world.evaluate import score_run
from ego2world.run.loop import RunSettings, run

pytest.importorskip("unified_planning", reason="needs the extra planning")
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.mark.slow
def test_it_fulfils_every_task(sample_worlds: Path, tmp_path: Path) -> None:
    episodes = ("K01-20250301-080000", "K02-20250411-080000")
    run(sample_worlds, tmp_path / "a", RunSettings("oracle", episodes=episodes))
    score = score_run(tmp_path / "a")
    assert score["metrics"]["operational_tsr"] == 1.0 and score["metrics"]["action_validity"] == 1.0
    assert score["pooled"]["accepted"] > 5 and score["resources"]["visual_queries"] == 0
    run(sample_worlds, tmp_path / "b", RunSettings("oracle", episodes=episodes, jobs=2))
    assert (tmp_path / "a" / "attempts.jsonl").read_bytes() == (tmp_path / "b" / "attempts.jsonl").read_bytes()
    gc.collect()


def test_it_needs_someone_who_knows_the_world() -> None:
    with pytest.raises(UsageError, match="plans in the world itself"):
        make_planner("oracle", PlannerContext("e", {}))
    assert OraclePlanner(lambda group: []).name == "oracle"
