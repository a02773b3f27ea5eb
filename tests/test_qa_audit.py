"""Audits: guessers against constructed sets, Holm and Wilson against published values, HD-EPIC's known weaknesses,
near duplicates."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from conftest import SHARED, needs_data
from ego2world.errors import AnnotationError, UsageError
from ego2world.qa.audit import GUESSERS, audit, holm
from ego2world.qa.audit.heuristics import guesses
from ego2world.qa.importers import find_format, read_items
from ego2world.qa.importers.narrations import read_narrations
from ego2world.qa.items import Item
from ego2world.qa.near import near_duplicates
from ego2world.qa.select import SelectionRule, VideoSketch, clean, quotas, select, videos_of


def item(n: int, options: dict[str, str], key: str, question: str = "What?", video: str = "") -> Item:
    return Item(
        id=f"i{n}",
        group=f"i{n}",
        question=question,
        dataset="d",
        prototype="p",
        options=options,
        key=(key,),
        answer=options[key],
        videos=(video or f"v{n % 7}",),
    )


def rates(items: list[Item]) -> dict[str, float]:
    total = dict.fromkeys(GUESSERS, 0.0)
    for _, guesser, credit in guesses(items):
        total[guesser] += credit
    return {name: value / len(items) for name, value in total.items()}


def test_each_guesser_finds_its_own_weakness_and_only_ties_elsewhere() -> None:
    letters = "ABCD"

    def many(make) -> list[Item]:  # type: ignore[no-untyped-def]
        return [make(n, letters[(n * 7 + n // 4) % 4]) for n in range(80)]

    same = {letter: f"option {letter}" for letter in letters}
    assert rates([item(n, same, "B") for n in range(80)])["position"] == 1.0
    assert rates(many(lambda n, k: item(n, same | {k: "option that is far longer"}, k)))["longest"] == 1.0
    assert rates(many(lambda n, k: item(n, same | {k: "x"}, k)))["shortest"] == 1.0
    frequent = rates(
        many(lambda n, k: item(n, {letter: f"other {letter}{n}" for letter in letters} | {k: "the counter"}, k))
    )
    assert frequent["key_prior"] == 1.0 and frequent["token_prior"] == 1.0
    assert (
        rates(many(lambda n, k: item(n, {x: "red big cup" for x in letters} | {k: "spoon of salt"}, k)))["odd_one_out"]
        == 1.0
    )
    numbers = rates(
        many(
            lambda n, k: item(
                n, {x: str(v) for x, v in zip([k, *(y for y in letters if y != k)], [3, 1, 2, 9], strict=True)}, k
            )
        )
    )
    assert numbers["numeric_middle"] >= 0.5
    overlap = rates(many(lambda n, k: item(n, same | {k: "the red kettle"}, k, "Where is the red kettle?")))
    assert overlap["question_overlap"] == 1.0
    plain = rates(many(lambda n, k: item(n, {x: f"thing {x}" for x in letters}, k)))
    assert all(
        math.isclose(plain[name], 0.25, abs_tol=0.13)
        for name in ("longest", "shortest", "odd_one_out", "question_overlap", "numeric_middle")
    )


def test_a_guesser_learns_nothing_from_the_items_own_video() -> None:
    options = {"A": "red", "B": "blue"}
    assert rates([item(n, options, "A", video="v") for n in range(30)])["key_prior"] == 0.5
    assert rates([item(n, options, "A", video=f"v{n}") for n in range(30)])["key_prior"] == 1.0


def test_holm_against_a_worked_example() -> None:
    # Holm 1979 as worked in R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == [] and holm([0.9, 0.8]) == [1.0, 1.0]


def test_wilson_as_used_against_a_published_value() -> None:
    # Newcombe 1998, example: 81 of 263, 95 % Wilson without continuity correction: 0.2553 to 0.3662
    interval = binomtest(81, 263).proportion_ci(0.95, method="wilson")
    assert (round(interval.low, 4), round(interval.high, 4)) == (0.2553, 0.3662)


@needs_data
def test_the_known_weak_prototypes_of_hd_epic_are_found() -> None:
    report = audit(read_items(SHARED / "hd-epic"))
    best: dict[str, float] = {}
    for row in report["blind"]:
        if row["flagged"]:
            best[row["prototype"]] = max(best.get(row["prototype"], 0.0), row["rate"])
    assert best["hd-epic-vqa/object_motion_object_movement_counting"] == pytest.approx(0.68, abs=0.005)
    assert best["hd-epic-vqa/3d_perception_object_location"] == pytest.approx(0.56, abs=0.01)
    shortest = next(
        r for r in report["blind"] if r["prototype"].endswith("movement_itinerary") and r["guesser"] == "shortest"
    )
    assert shortest["rate"] == pytest.approx(0.50, abs=0.005) and shortest["flagged"]
    assert "hd-epic-vqa/recipe_step_recognition" not in best
    assert {row["item"] for row in report["findings"]["OPT_DUP"]} == {
        "fine_grained_how_recognition_98",
        "fine_grained_how_recognition_428",
    }


@needs_data
def test_other_peoples_questions_are_read_whole() -> None:
    assert len(read_items(SHARED / "hd-epic")) == 6550
    tempo = read_items(SHARED / "egotempo")
    assert len(tempo) == 500 and all(i.start_s is not None and i.start_s >= 0 and i.category for i in tempo)
    tom = read_items(SHARED / "egotom")
    assert (
        len(tom) == 1039
        and {len(i.options or {}) for i in tom} == {3, 4}
        and all(i.options[i.key[0]] == i.answer for i in tom if i.options)
    )


def test_egosounds_format_and_its_relatives(tmp_path: Path) -> None:
    path = tmp_path / "sound.json"
    path.write_text(
        '[{"id": 1, "video": "v", "question": "What rings?", "answer": "The timer.", "type": "Sound-source'
        ' identification"},{"qid": "b", "q": "Which?", "choices": {"a": "left", "b": "right"}, "correct": "B",'
        ' "start_time": "00:01:02.5", "end_time": 70},{"question": "Both?", "options": ["a", "b", "c"], "correct":'
        ' ["A", "C"]}]'
    )
    first, second, third = read_items(path)
    assert (
        find_format(path) == "egosound" and first.category == "World Perception" and first.key_points == ("The timer.",)
    )
    assert (
        second.options == {"A": "left", "B": "right"}
        and second.key == ("B",)
        and second.answer == "right"
        and second.start_s == 62.5
    )
    assert third.key == ("A", "C")
    path.write_text('[1, {"question": "When?", "start_time": "soon"}]')
    with pytest.raises(AnnotationError) as error:
        read_items(path)
    assert len(error.value.problems) == 2  # all rows are named, not only the first
    with pytest.raises(UsageError, match="no such file"):
        read_items(tmp_path / "nothing.json")


@given(st.lists(st.lists(st.sampled_from("abcdefg"), min_size=4, max_size=8), min_size=2, max_size=12))
def test_near_duplicates_are_those_of_the_slow_comparison(texts: list[list[str]]) -> None:
    def triples(words: list[str]) -> set[str]:
        return {" ".join(words[i : i + 3]) for i in range(max(1, len(words) - 2))}

    items = [(str(n), "bucket", " ".join(words)) for n, words in enumerate(texts)]
    found = {later for _, later in near_duplicates(items, 1.0)}
    slow = {str(n) for n, words in enumerate(texts) if any(triples(words) == triples(before) for before in texts[:n])}
    assert found == slow


def test_near_duplicates_stay_in_their_bucket() -> None:
    text = " ".join(f"word{n}" for n in range(60))
    pairs = list(near_duplicates([("a", "v1", text), ("b", "v1", text.replace("word30", "other")), ("c", "v2", text)]))
    assert pairs == [("a", "b")]


# --- selection of sources ------------------------------------------------------------------------------------


def test_cleaning_and_quotas() -> None:
    assert clean("#C C  picks <b>the</b> Knife*") == "c picks the knife"
    assert quotas({0: 10, 1: 1, 2: 5}, 8, 2) == {0: 4, 1: 1, 2: 3}
    assert quotas({0: 10, 1: 10}, 3, 2) == {0: 2, 1: 1}
    assert quotas({0: 2, 1: 0}, 5, 1) == {0: 2, 1: 0}


@given(st.dictionaries(st.integers(0, 20), st.integers(0, 30), min_size=1), st.integers(1, 100), st.integers(0, 5))
def test_quotas_use_what_there_is(capacity: dict[int, int], count: int, least: int) -> None:
    given_ = quotas(capacity, count, least)
    assert sum(given_.values()) == min(count, sum(capacity.values())) and all(
        0 <= given_[c] <= size for c, size in capacity.items()
    )


def test_videos_of_one_topic_come_together_and_every_topic_is_covered() -> None:
    topics = {
        "paint": "paints the wall with the roller and dips the brush",
        "dough": "kneads the dough and adds flour to the bowl",
        "bike": "tightens the bolt of the bicycle wheel with a wrench",
    }
    videos = [
        VideoSketch(f"{name}{n}", (text, f"{text} again", f"walks {n}"), 600.0 if n else 100.0)
        for name, text in topics.items()
        for n in range(6)
    ]
    report = select(videos, SelectionRule(6, 3, 1, components=5))
    cluster = {name: {report["assignment"][f"{name}{n}"]["cluster"] for n in range(6)} for name in topics}
    assert all(len(found) == 1 for found in cluster.values()) and len({min(found) for found in cluster.values()}) == 3
    assert report["coverage"] == {"clusters": 3, "covered": 3, "least": 2, "most": 2} and not any(
        v.endswith("0") for v in report["selected"]
    )
    assert select(reversed(videos), SelectionRule(6, 3, 1, components=5)) == report
    with pytest.raises(UsageError, match="--clusters"):
        select(videos, SelectionRule(6, 60))


@needs_data
def test_narrations_of_four_data_sets_are_read() -> None:
    assert len({row[0] for row in read_narrations(SHARED / "goalstep")}) == 134
    assert len({row[0] for row in read_narrations(SHARED / "easg_bench")}) == 219
    assert len({row[0] for row in read_narrations(SHARED / "epic100" / "EPIC_100_validation.csv")}) == 138
    assert len(videos_of(read_narrations(SHARED / "hd-epic"))) == 16
