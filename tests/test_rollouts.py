"""Drawn rollouts: the executor and the trace agree, every fault lands where it must, and the clips are what the
benchmark says."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from ego2world.core.video import frames_at
from ego2world.judge.benchmark import check, read_benchmark, read_lines
from ego2world.judge.policy import GATES, Policy
from ego2world.judge.records import GateAnswer, SubgoalPlan, VideoSource
from ego2world.judge.score import by_subgoal, failures, score_video
from ego2world.rollouts import (
    FAULTS,
    Fault,
    Kind,
    RolloutCase,
    Script,
    allowed,
    answers,
    execute,
    first_failures,
    make_cases,
    play,
)
from ego2world.rollouts.benchmark import make_rendered
from ego2world.world.episode import load_episode, load_manifest


@pytest.fixture(scope="module")
def cases(sample_worlds: Path) -> list[RolloutCase]:
    return make_cases([load_episode(sample_worlds, name) for name in load_manifest(sample_worlds)["episodes"]], 20)


def test_cases_are_of_every_kind_and_have_three_ways(cases: list[RolloutCase]) -> None:
    assert len(cases) == 20 and len({(case.episode, case.goal) for case in cases}) == 20
    assert {step.kind for case in cases for step in case.steps} == set(Kind)
    assert all(len({way.words(case.steps) for way in case.ways}) >= 3 for case in cases)
    assert all(2 <= len(case.steps) <= 3 for case in cases) and len({case.episode for case in cases}) >= 6


def test_every_way_does_what_the_executor_says(cases: list[RolloutCase]) -> None:
    for case in cases:
        for way in case.ways:
            end, refused = execute(case.world, case.state, [case.steps[n] for n in way.order])
            wanted = {key: value for step in case.steps for key, value in step.post}
            found = answers(case, play(case, Script(way)))
            assert not refused and all(end.facts[key] == value for key, value in wanted.items())
            assert all(found[n, gate].holds for n in range(len(case.steps)) for gate in GATES), (case.id, way)


def test_what_is_left_out_fails_in_the_executor_too(cases: list[RolloutCase]) -> None:
    """Steps that a script omits: the facts that the executor then lacks are those whose T3 the trace denies."""
    checked = 0
    for case in cases:
        way = case.ways[0]
        for fault in (Fault.SKIP, Fault.STOP, Fault.THROUGH_CLOSED):
            for number in range(len(case.steps)):
                if not allowed(case, way, number, fault):
                    continue
                left_out = (
                    {number}
                    if fault is not Fault.THROUGH_CLOSED
                    else {n for n, s in enumerate(case.steps) if s.kind is Kind.OPEN}
                )
                end, refused = execute(case.world, case.state, [case.steps[n] for n in way.order if n not in left_out])
                found = answers(case, play(case, Script(way, {number: fault})))
                if fault is Fault.THROUGH_CLOSED:
                    assert [r.action.ids("target") for r in refused] == [(case.store,)], (
                        "the executor does not pass closed doors"
                    )
                    assert found[number, "P3"].failure == "boundary_violation"
                    continue
                assert not refused
                for n, step in enumerate(case.steps):
                    holds = all(end.facts.get(key) == value for key, value in step.post)
                    later = any(key in dict(other.post) for other in case.steps[n + 1 :] for key, _ in step.post)
                    assert later or found[n, "T3"].holds == holds, (case.id, fault, n)
                checked += 1
    assert checked > 20


def test_every_fault_lands_in_its_gate_with_its_type(cases: list[RolloutCase]) -> None:
    """Every fault in every step of every way that it fits: the first failure of that step, and nothing else fails
    anywhere."""
    planted: Counter[Fault] = Counter()
    for case in cases:
        for way in case.ways:
            for number in range(len(case.steps)):
                for fault in Fault:
                    if not allowed(case, way, number, fault):
                        continue
                    found = answers(case, play(case, Script(way, {number: fault})))
                    wanted: dict[int, list[str]] = {n: [] for n in range(len(case.steps))}
                    wanted[number] = [(FAULTS[fault].gate, FAULTS[fault].failure)]
                    if fault is Fault.THROUGH_CLOSED:
                        door = next(n for n, step in enumerate(case.steps) if step.kind is Kind.OPEN)
                        wanted[door] = [("T1", "skipped_prerequisite")]
                    assert {n: first_failures(found, n) for n in wanted} == wanted, (case.id, way, number, fault)
                    planted[fault] += 1
    assert set(planted) == set(Fault) and min(planted.values()) >= 10 and planted.total() > 2500
    assert {FAULTS[fault].gate for fault in planted} == set(GATES)


def test_the_benchmark_is_sound_and_its_truth_is_what_was_planted(rendered: Path) -> None:
    bench = read_benchmark(rendered)
    assert len(bench.cases) == 20 and len(bench.videos) == 120 >= 60 and not check(bench, jobs=2)
    plans = {plan.case_id: plan for plan in read_lines(rendered / "plans.jsonl", SubgoalPlan)}
    truth = by_subgoal(read_lines(rendered / "truth.jsonl", GateAnswer))["oracle"]
    played = {row["video_id"]: row for row in map(json.loads, (rendered / "rollouts.jsonl").read_text().splitlines())}
    faults: Counter[str] = Counter()
    for video in bench.videos:
        plan, mine = plans[video.case_id], truth[video.video_id]
        planted = {(one["sid"], one["gate"], one["type"]) for one in played[video.video_id]["planted"]}
        faults.update(one["fault"] for one in played[video.video_id]["planted"])
        found = {(r["sid"], r["gate"], r["type"]) for r in failures([(s, mine[s.sid]) for s in plan.subgoals])}
        assert planted <= found
        extra = {row for row in found - planted if "through_closed" not in str(played[video.video_id])}
        assert not extra, (video.video_id, extra)
        score = score_video(video, plan, mine, "oracle", Policy())
        assert score.status == "scored" and (score.S == 100) == (not planted) == (video.source is VideoSource.SUCCESS)
    assert set(faults) == {fault.value for fault in Fault}


def test_clips_show_the_trace(rendered: Path, cases: list[RolloutCase]) -> None:
    """The colour of a thing is where the trace has it; same worlds, same bytes."""
    from ego2world.rollouts import PALETTE

    case = cases[1]
    trace = play(case, Script(case.ways[0]))
    for shot in frames_at(rendered / f"{case.id}/human_success/1.mp4", [0.05, 4.05, 9.05, trace.duration_s - 0.05]):
        frame = trace.frames[round(shot.time_s * 10)]
        for thing in case.stand:
            body = frame.bodies[thing]
            if body.tilt_deg or body.skew:
                continue
            x, y = (round(body.x), round(body.y - 2)) if body.look != "flat" else (round(body.x) + 8, round(body.y - 4))
            color = np.asarray(shot.picture)[y - 1 : y + 1, x - 1 : x + 1].reshape(-1, 3).mean(0)
            near = min(range(len(PALETTE)), key=lambda n: float(np.abs(color - PALETTE[n]).sum()))
            assert near == body.color, (thing, shot.time_s)


def test_the_same_kitchens_give_the_same_bytes(sample_worlds: Path, rendered: Path, tmp_path: Path) -> None:
    make_rendered(sample_worlds, tmp_path / "again", count=2, jobs=2)
    for path in sorted((tmp_path / "again").rglob("*.mp4")):
        assert path.read_bytes() == (rendered / path.relative_to(tmp_path / "again")).read_bytes(), path
