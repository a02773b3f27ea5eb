"""The targets on real annotations. The data stay outside the repository; without them these tests say so and skip."""

from __future__ import annotations

import resource
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

import measures
from conftest import SHARED, needs_data
from ego2world.annotations.hd_epic import read_hd_epic
from ego2world.annotations.records import Dataset
from ego2world.collection import build_worlds
from ego2world.compiler.episode import compile_video
from ego2world.compiler.freeze import EpisodeDraft, draft_episode
from ego2world.tasks.audit import audit
from ego2world.world.fluents import NarrationOutcome
from ego2world.world.state import HANDS

pytestmark = needs_data


@pytest.fixture(scope="module")
def real() -> tuple[Dataset, dict[str, EpisodeDraft]]:
    return measures.drafts(SHARED / "hd-epic")


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict, float]:
    out = tmp_path_factory.mktemp("real")
    start = time.process_time()
    manifest = build_worlds(read_hd_epic(SHARED / "hd-epic"), out)
    return out, dict(manifest), time.process_time() - start


def test_totals(worlds: tuple[Path, dict, float]) -> None:
    totals = worlds[1]["totals"]
    assert (totals["videos"], totals["narrations"]) == (16, 4597)
    assert sum(totals[outcome] for outcome in NarrationOutcome) == totals["narrations"]
    assert totals["acted"] >= 0.8 * totals["narrations"] and totals["lost"] <= 0.02 * totals["narrations"]
    assert totals["operations_inferred"] <= 0.20 * totals["operations"]
    assert totals["action_types_used"] >= 110
    assert totals["tasks"] >= 60 and totals["tasks_terminal"] >= 0.45 * totals["tasks"]


def test_audit(worlds: tuple[Path, dict, float]) -> None:
    result = audit(worlds[0])
    assert result["verdict"] == "pass", result["failures"][:5]
    assert result["operations_accepted"] == result["operations"] and result["initial_pass"] == 0


def test_memory_stays_small(worlds: tuple[Path, dict, float]) -> None:
    assert worlds[2] < 120  # generous: a bound against explosions, not a measurement
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 1.5 * 2**20


def test_faithfulness_to_the_gold_set(real: tuple[Dataset, dict[str, EpisodeDraft]]) -> None:
    found = measures.faithfulness(real[1])
    assert found.f1 >= 0.88, found.misses
    right, wrong, missed = found.facts
    assert right / (right + wrong) >= 0.93 and right / (right + missed) >= 0.90


def test_hands_stand_nowhere(real: tuple[Dataset, dict[str, EpisodeDraft]]) -> None:
    """What a hand carries moves with the agent: no track may put the hand itself on a fixture."""
    for video, draft in real[1].items():
        placed = [key for key in draft.states[0].facts if key[0] == "place" and key[1] in HANDS]
        assert not placed, (video, placed)


def test_main_actions_agree(real: tuple[Dataset, dict[str, EpisodeDraft]]) -> None:
    agree, total, misses = measures.main_actions(*real)
    assert total == 625 and agree / total >= 0.95, misses


def test_tracks_agree_on_fixtures(real: tuple[Dataset, dict[str, EpisodeDraft]]) -> None:
    agree, matched, reasons, _ = measures.track_fixtures(*real)
    assert matched > 1_000 and agree / matched >= 0.90, reasons


def test_no_two_tracked_objects_are_merged_on_name_alone(real: tuple[Dataset, dict[str, EpisodeDraft]]) -> None:
    for video, _, _, _, double in measures.identity(*real):
        assert double <= 2, video


def test_erratum_rows_are_marked(real: tuple[Dataset, dict[str, EpisodeDraft]]) -> None:
    assert any(n.erratum for rows in real[0].narrations.values() for n in rows)


def test_compiling_is_linear_in_narrations(real: tuple[Dataset, dict[str, EpisodeDraft]]) -> None:
    """An episode repeated end to end, with its tracks, takes work in proportion, counted in function calls (not in
    seconds)."""
    dataset = real[0]
    video = "P01-20240203-093333"
    rows = dataset.narrations[video]
    length_s = rows[-1].end_s + 10.0
    calls = []
    for times in (1, 4, 16):
        repeated = [
            replace(r, id=f"{r.id}x{k}", start_s=r.start_s + k * length_s, end_s=r.end_s + k * length_s)
            for k in range(times)
            for r in rows
        ]
        tracks = [
            replace(
                a,
                id=f"{a.id}x{k}",
                tracks=tuple(
                    replace(m, id=f"{m.id}x{k}", start_s=m.start_s + k * length_s, end_s=m.end_s + k * length_s)
                    for m in a.tracks
                ),
            )
            for k in range(times)
            for a in dataset.associations[video]
        ]
        longer = replace(dataset, narrations={video: tuple(repeated)}, associations={video: tuple(tracks)})
        count = 0

        def tick(_frame: object, event: str, _arg: object) -> None:
            nonlocal count
            count += event == "call"

        sys.setprofile(tick)
        try:
            draft_episode(compile_video(video, longer), longer, ())
        finally:
            sys.setprofile(None)
        calls.append(count / times)
    print(calls)
    assert max(calls) < 2.0 * calls[0], calls
