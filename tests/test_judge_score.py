"""Scoring: the worked examples of the documentation, and a second implementation that enumerates."""

from __future__ import annotations

import math
import re
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ego2world.core.video import FileStatus
from ego2world.errors import UsageError
from ego2world.judge.policy import GATES, PHYSICS, TASK, Policy, Removal
from ego2world.judge.records import (
    FailureType,
    GateAnswer,
    GateVerdict,
    Rater,
    Subgoal,
    SubgoalCategory,
    SubgoalPlan,
    Video,
    VideoSource,
)
from ego2world.judge.score import band, by_subgoal, failures, score_video

LETTERS = {
    "1": GateVerdict.PASS,
    "0": GateVerdict.FAIL,
    "?": GateVerdict.UNCLEAR,
    "!": GateVerdict.ERROR,
    "-": GateVerdict.NOT_REACHED,
}
VIDEO = Video(video_id="v1", case_id="c1", source=VideoSource.MODEL, path="v1.mp4", model="m", status=FileStatus.OK)
EXAMPLES = Path(__file__).parents[1] / "docs" / "JUDGING.md"


def plan_of(n: int) -> SubgoalPlan:
    subgoals = tuple(
        Subgoal(sid=f"s{i + 1}", text="", objects=("mug",), post_state="", category=SubgoalCategory.RELOCATION)
        for i in range(n)
    )
    return SubgoalPlan(
        plan_id="p1", case_id="c1", video_id=None, subgoals=subgoals, backbone="", prompt_sha="", scene_sha256=""
    )


def read(text: str, asked: str = "seq") -> list[GateAnswer]:
    """Read "111/1111, 10/0, 0/-": task gates and physics gates of each subgoal."""
    rows = []
    for number, one in enumerate(text.split(",")):
        task, physics = one.strip().split("/")
        marks = {**dict(zip(TASK, task, strict=False)), **dict(zip(PHYSICS, physics, strict=False))}
        rows += [
            GateAnswer(
                video_id="v1",
                plan_id="p1",
                sid=f"s{number + 1}",
                gate=gate,
                answer=LETTERS[mark],
                rater=Rater(kind="human", id="a"),
                asked=asked,
            )
            for gate, mark in marks.items()
        ]
    return rows


def scored(text: str, policy: Policy | None = None, asked: str = "seq") -> tuple[float | None, ...]:
    answers = by_subgoal(read(text, asked))["a"]["v1"]
    made = score_video(VIDEO, plan_of(len(text.split(","))), answers, "a", policy or Policy())
    return made.T, made.P, made.S


@pytest.mark.parametrize(
    ("text", "task", "physics", "final"),
    [
        ("111/1111, 111/1111", 100, 100, 100),
        ("111/1111, 111/1111, 0/-", 66.67, 100, 81.65),
        ("0/-, 0/-", 0, None, 0),
        ("111/1111, 110/110, 10/0, 0/-", 50, 50, 50),
        ("111/0, 111/1111", 100, 50, 70.71),
        ("10/1111, 10/1111", 33.33, 100, 57.74),
        ("111/0, 111/0", 100, 0, 0),
    ],
)
def test_the_worked_examples(text: str, task: float, physics: float | None, final: float) -> None:
    assert scored(text) == (task, physics, final)


def test_independent_gates_are_the_published_reading() -> None:
    independent = Policy(independent=True)
    assert scored("111/0111, 111/1111", asked="all") == (100, 50, 70.71)
    assert scored("111/0111, 111/1111", independent, "all") == (100, 87.5, 93.54)


def test_the_examples_of_the_documentation() -> None:
    rows = re.findall(r"^\| `([^`]+)` \| ([\d.]+) \| ([\d.]+|N/A) \| ([\d.]+) \|", EXAMPLES.read_text("utf-8"), re.M)
    assert len(rows) >= 6 and any(row[2] == "N/A" for row in rows)
    for text, *numbers in rows:
        assert scored(text) == tuple(None if n == "N/A" else float(n) for n in numbers), text


def test_removed_gates_and_levels() -> None:
    text = "011/0111, 111/1101"
    assert scored(text, Policy(without=("P1",)), "all") == (50, 33.33, 40.82)
    assert scored(text, Policy(without=("T1",), removal=Removal.BYPASS), "all") == (100, 25, 50)
    assert scored(text, Policy(without=("T1",)), "all") == (100, 25, 50)
    assert scored("110/1111", Policy(task_levels=(0, 0.2, 0.5, 1))) == (50, 100, 70.71)
    with pytest.raises(UsageError, match="4 rising values"):
        Policy(task_levels=(0, 0.5, 1))
    with pytest.raises(UsageError, match="no gate 'T9'"):
        Policy(without=("T9",))
    with pytest.raises(UsageError, match="one at least must stay"):
        Policy(without=TASK)
    assert Policy().sha256 != Policy(independent=True).sha256 == Policy(independent=True).sha256


def test_ablations_are_refused_on_answers_that_stop_at_a_failure() -> None:
    for policy in (Policy(independent=True), Policy(without=("P1",))):
        with pytest.raises(UsageError, match="every gate"):
            scored("110/0", policy)


def test_an_answer_that_could_not_be_had_makes_the_video_incomplete() -> None:
    for text in ("111/1111, 1!/1111", "111/1111, 111/11", "111/1111, 1"):
        text = text if "/" in text.split(",")[1] else text + "/"
        made = score_video(VIDEO, plan_of(2), by_subgoal(read(text))["a"]["v1"], "a", Policy())
        assert (made.status, made.T, made.P, made.S) == ("incomplete", None, None, None) and "s2" in made.reason
    gone = Video(
        video_id="v1", case_id="c1", source=VideoSource.MODEL, path="x", status=FileStatus.DAMAGED, reason="141 of 300"
    )
    made = score_video(gone, plan_of(1), by_subgoal(read("111/1111"))["a"]["v1"], "a", Policy())
    assert (made.status, made.S, made.reason) == ("unusable", None, "damaged: 141 of 300")
    assert score_video(VIDEO, None, {}, "a", Policy()).status == "incomplete"


def naive(subgoals: list[dict[str, str]], independent: bool) -> float:
    """S by the definition, one subgoal after the other; gates are "1" or "0"."""
    tasks, physics = [], []
    for gates in subgoals:
        task = [gates[g] == "1" for g in TASK]
        hold = [gates[g] == "1" for g in PHYSICS]
        tasks.append(sum(task) / 3 if independent else [*task, False].index(False) / 3)
        if task[0]:
            physics.append(sum(hold) / 4 if independent else [*hold, False].index(False) / 4)
    return math.sqrt(sum(tasks) / len(tasks) * sum(physics) / len(physics)) if physics else 0.0


MARKS = st.lists(st.fixed_dictionaries({g: st.sampled_from("1110") for g in GATES}), min_size=1, max_size=5)


@given(MARKS, st.booleans())
def test_scores_are_the_definition(subgoals: list[dict[str, str]], independent: bool) -> None:
    text = ", ".join("".join(g[x] for x in TASK) + "/" + "".join(g[x] for x in PHYSICS) for g in subgoals)
    final = scored(text, Policy(independent=independent), "all")[2]
    assert final == pytest.approx(100 * naive(subgoals, independent), abs=0.00501)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.fixed_dictionaries({g: st.sampled_from("1110?") for g in GATES}), min_size=1, max_size=3).filter(
        lambda s: sum(list(g.values()).count("?") for g in s) <= 6
    )
)
def test_the_band_holds_every_reading(subgoals: list[dict[str, str]]) -> None:
    low, high = band([{g: LETTERS[m] for g, m in one.items()} for one in subgoals], Policy())
    open_ = [(n, g) for n, one in enumerate(subgoals) for g, m in one.items() if m == "?"]
    for values in product("01", repeat=len(open_)):
        read_as = [dict(one) for one in subgoals]
        for (n, g), value in zip(open_, values, strict=True):
            read_as[n][g] = value
        assert low - 1e-9 <= naive(read_as, False) <= high + 1e-9
    if not open_:
        assert low == pytest.approx(high) == pytest.approx(naive(subgoals, False))


def test_an_unclear_answer_fails_with_a_band() -> None:
    answers = by_subgoal(read("111/1111, 1?-/1111"))["a"]["v1"]
    made = score_video(VIDEO, plan_of(2), answers, "a", Policy())
    assert (made.T, made.S) == (66.67, 81.65) and made.S_lo == 81.65 and made.S_hi == 100
    answers = by_subgoal(read("111/1111, ?--/----"))["a"]["v1"]
    made = score_video(VIDEO, plan_of(2), answers, "a", Policy())
    assert made.S == 70.71 and made.S_lo is not None and made.S_lo <= 57.74 and made.S_hi == 100


def test_failures_have_types() -> None:
    plan = plan_of(4)
    answers = by_subgoal(read("0/-, 110/0, 111/1101, 0/-"))["a"]["v1"]
    rows = failures([(s, answers[s.sid]) for s in plan.subgoals])
    assert [(r["sid"], r["gate"], r["type"]) for r in rows] == [
        ("s1", "T1", FailureType.SKIPPED_PREREQUISITE),
        ("s2", "T3", FailureType.INCOMPLETE_OUTCOME),
        ("s2", "P1", FailureType.OBJECT_INCONSISTENCY),
        ("s3", "P3", FailureType.MECHANISM_VIOLATION),
        ("s4", "T1", FailureType.INCOMPLETE_OUTCOME),
    ]
