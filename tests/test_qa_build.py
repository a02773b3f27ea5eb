"""The question engine on the sample kitchens and the real worlds: counts, replay, resumption, repeated fresh runs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import SHARED, needs_data
from ego2world.annotations.hd_epic import read_hd_epic
from ego2world.collection import build_worlds
from ego2world.errors import RecordError, UsageError
from ego2world.qa.audit import audit
from ego2world.qa.build import FILES, QuestionSettings, build, read_manifest, read_records, read_stage, stage_path
from ego2world.qa.check import check_folder, necessity
from ego2world.qa.choose import Quota
from ego2world.qa.importers import read_items
from ego2world.qa.records import QuestionGroup
from ego2world.qa.replay import EpisodeReplayer
from ego2world.qa.spans import Spans
from ego2world.qa.taxonomy import LEVELS, Category
from ego2world.world.episode import load_episode

EPISODE = "K01-20250301-080000"


def groups(qa: Path, status: str = "accepted") -> list[QuestionGroup]:
    found: list[QuestionGroup] = read_records(qa / FILES[status], QuestionGroup)
    return found


def test_every_category_that_the_samples_can_bear_has_questions(sample_questions: Path) -> None:
    manifest = read_manifest(sample_questions)
    assert {name for name, count in manifest["by_category"].items() if not count} == {"Cross-loop"}
    assert manifest["totals"]["accepted"] == len(groups(sample_questions)) == sum(manifest["by_category"].values())
    assert manifest["totals"]["rejected"] == len(groups(sample_questions, "rejected"))
    assert all(group.validation for group in groups(sample_questions, "rejected"))  # a failed record keeps its reason
    assert min(manifest["by_modality"].values()) > 0 and set(manifest["by_turns"]) == {"1", "2", "3"}
    for group in groups(sample_questions):
        assert LEVELS[Category(group.category)].value == group.level
        assert all(
            turn.spec.evidence and turn.question.endswith("?") and turn.answer.endswith(".") for turn in group.turns
        )
        assert len(group.turns) == 1 or all(turn.standalone for turn in group.turns)


def test_answers_are_derived_again_and_gone_without_their_evidence(sample_questions: Path, sample_worlds: Path) -> None:
    report = check_folder(sample_questions, sample_worlds)
    assert report["verdict"] == "pass" and report["rederived"] == report["without_evidence"] == report["turns"] > 500
    assert check_folder(sample_questions, sample_worlds, jobs=2) == report


def test_every_required_modality_is_needed(sample_questions: Path, sample_worlds: Path) -> None:
    found = necessity(sample_questions, sample_worlds)
    assert set(found) == {"audio", "audio-visual", "visual"} and all(
        row["groups"] and not row["redundant"] for row in found.values()
    )


def test_no_blind_guesser_beats_chance_on_the_samples(sample_questions: Path) -> None:
    report = audit(read_items(sample_questions))
    assert report["verdict"] == "pass" and not report["positions"] and report["multiple_choice"] > 100


def test_each_option_of_a_block_is_the_key_as_often_as_the_others(sample_questions: Path) -> None:
    keys: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for group in groups(sample_questions):
        for turn in group.turns:
            if turn.options:
                keys[(group.episode, group.template, *turn.options.values())][turn.options[turn.key[0]]] += 1
    assert len(keys) > 30
    for options, counts in keys.items():
        assert set(counts) == set(options[2:]) and len(set(counts.values())) == 1, options


def test_the_quota_of_a_window_holds(sample_questions: Path, sample_worlds: Path, tmp_path: Path) -> None:
    few = build(sample_worlds, tmp_path / "few", QuestionSettings(Quota(per_window=1)))
    many = read_manifest(sample_questions)
    assert few["totals"]["accepted"] < many["totals"]["accepted"] / 2
    for group in groups(tmp_path / "few"):
        assert group.format == "open" or len(group.turns[0].options or {}) in (2, 4)


def test_plans_know_nothing_of_what_comes_after(sample_questions: Path) -> None:
    found = [group for group in groups(sample_questions) if group.category == Category.GOAL_PLANNING]
    assert found
    for group in found:
        evidence = {one.id: one for one in read_stage(sample_questions, group.episode, "evidence")}
        for turn in group.turns:
            assert turn.spec.cutoff_s is not None and group.clip.end_s <= turn.spec.cutoff_s and group.clip.cutoff_safe
            assert all(evidence[one].span_s[1] <= turn.spec.cutoff_s + 0.1 for one in turn.spec.evidence)


def test_a_loop_binds_five_roles_and_its_parts_are_needed(sample_questions: Path, sample_worlds: Path) -> None:
    (loop,) = [group for group in groups(sample_questions) if group.category == Category.LOOP]
    roles = loop.loop_roles or {}
    assert set(roles) == {"goal", "action", "outcome", "feedback", "adjustment"} and roles["goal"] == "boil the water"
    replayer = EpisodeReplayer(load_episode(sample_worlds, loop.episode))
    last = loop.turns[-1].spec
    for role in ("action", "feedback", "adjustment"):
        assert replayer.answer(last.query, {roles[role]}) is None


def test_every_fact_leads_to_its_source_row(sample_questions: Path, samples: object) -> None:
    evidence = {one.id: one for one in read_stage(sample_questions, EPISODE, "evidence")}
    kinds = {one.kind for one in evidence.values()}
    assert {"narration", "replay", "track", "sound", "step", "preparation", "activity"} <= kinds
    assert all(one.source.file and one.source.key for one in evidence.values())
    narration = evidence[f"{EPISODE}-12"]
    row = next(n for n in samples.narrations[EPISODE] if n.id == narration.id)  # type: ignore[attr-defined]
    assert (
        narration.source.key == f"row {row.row}"
        and narration.text == " ".join(row.text.split())
        and narration.anchor_only
    )


def test_a_run_that_was_stopped_goes_on_and_unchanged_episodes_cost_nothing(
    sample_worlds: Path, sample_questions: Path, tmp_path: Path
) -> None:
    out = tmp_path / "qa"
    build(sample_worlds, out, QuestionSettings(episodes=(EPISODE,)))
    kept = stage_path(out, EPISODE, "checked").stat().st_mtime_ns
    torn = stage_path(out, EPISODE, "candidates")
    torn.write_bytes(torn.read_bytes()[:5000])  # as a disk that filled up leaves it: the head holds, a line is torn
    with pytest.raises(RecordError, match="candidates"):
        build(sample_worlds, out, QuestionSettings())
    torn.unlink()
    build(sample_worlds, out, QuestionSettings())
    assert stage_path(out, EPISODE, "checked").stat().st_mtime_ns == kept
    for path in sorted(sample_questions.rglob("*.jsonl")):
        assert (out / path.relative_to(sample_questions)).read_bytes() == path.read_bytes(), path


def test_two_fresh_processes_write_the_same_bytes(sample_worlds: Path, tmp_path: Path) -> None:
    for name, seed in (("a", "1"), ("b", "2")):
        command = [
            str(Path(sys.executable).parent / "ego2world"),
            "qa",
            "build",
            str(sample_worlds),
            "--out",
            str(tmp_path / name),
            "--jobs",
            "1" if name == "a" else "2",
        ]
        subprocess.run(command, check=True, capture_output=True, env={"PYTHONHASHSEED": seed, "PATH": ""})
    files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file())
    assert len(files) > 40
    for file in files:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes(), file


def test_questions_of_other_worlds_are_not_checked_against_these(
    sample_worlds: Path, sample_questions: Path, tmp_path: Path
) -> None:
    manifest = json.loads((sample_questions / "manifest.json").read_text())
    manifest["episodes"][EPISODE] = "0" * 64
    for path in sample_questions.iterdir():
        if path.is_file():
            (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(RecordError, match="not the worlds"):
        check_folder(tmp_path, sample_worlds)
    with pytest.raises(UsageError, match="no episode"):
        build(sample_worlds, tmp_path / "x", QuestionSettings(episodes=("K99",)))


@needs_data
@pytest.mark.slow
def test_the_real_worlds_give_what_the_benchmark_needs(tmp_path: Path) -> None:
    build_worlds(read_hd_epic(SHARED / "hd-epic"), tmp_path / "w")
    manifest = build(tmp_path / "w", tmp_path / "qa", QuestionSettings())
    assert manifest["totals"]["accepted"] >= 3000
    for category in (
        "Ego State",
        "Action Status",
        "World State",
        "Goal Planning",
        "Intent Attribution",
        "Action Effects",
        "Action Grounding",
        "Chain",
    ):
        assert manifest["by_category"][category] >= 100, category
    report = check_folder(tmp_path / "qa", tmp_path / "w")
    assert report["verdict"] == "pass" and report["rederived"] == report["without_evidence"] == report["turns"]
    assert audit(read_items(tmp_path / "qa"))["verdict"] == "pass"


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 6)), max_size=25), st.integers(-2, 40), st.integers(0, 8))
def test_looking_up_intervals_is_going_through_all_of_them(rows: list[tuple[int, int]], at: int, length: int) -> None:
    spans = [(float(start), float(start + more)) for start, more in rows]
    look = Spans(spans)
    touched = {i for i, (start_s, end_s) in enumerate(spans) if start_s <= at + length and end_s >= at}
    assert touched <= set(look.near(at, at + length))
    over = next((i for i, (_, end_s) in enumerate(spans) if end_s > at), len(spans))
    begun = max((i + 1 for i, (start_s, _) in enumerate(spans) if start_s < at), default=0)
    assert look.around(at, 0.0) == range(over, max(over, begun) + 1)
