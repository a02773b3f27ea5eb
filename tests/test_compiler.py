"""The compiler on the sample kitchens: traceability, determinism, stated rules; and on another data set's rows."""

from __future__ import annotations

import csv
import json
import random
import shutil
from pathlib import Path

import pytest

from conftest import SHARED, needs_data
from ego2world.annotations.epic_kitchens import read_epic_kitchens
from ego2world.annotations.hd_epic import read_hd_epic
from ego2world.annotations.records import Dataset
from ego2world.collection import build_worlds
from ego2world.samples import sample_source
from ego2world.tasks.audit import audit
from ego2world.world.episode import load_episode, load_manifest
from ego2world.world.state import State
from ego2world.world.step import step

NARRATIONS = "narrations-and-action-segments/HD_EPIC_Narrations.csv"


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_totals_of_the_samples(sample_worlds: Path) -> None:
    totals = load_manifest(sample_worlds)["totals"]
    assert totals["videos"] == 8 and totals["narrations"] >= 400
    assert totals["acted"] / totals["narrations"] >= 0.85 and totals["lost"] <= 4
    assert totals["tasks_terminal"] > 0 and totals["tasks_event"] > 0
    assert totals["operations_inferred"] < 0.25 * totals["operations"]


def test_every_operation_is_traceable_and_every_effect_is_what_replay_gives(
    sample_worlds: Path, samples: Dataset
) -> None:
    for episode_id in load_manifest(sample_worlds)["episodes"]:
        episode = load_episode(sample_worlds, episode_id)
        known = {n.id for n in samples.narrations[episode_id]}
        transitions = lines(sample_worlds / "episodes" / episode_id / "transitions.jsonl")
        state = episode.initial
        for operation, action, transition in zip(episode.operations, episode.actions, transitions, strict=True):
            assert set(operation["narration_ids"]) <= known
            assert bool(operation["narration_ids"]) != operation["inferred"]
            assert not operation["inferred"] or operation["reason"]
            after = step(episode.world, state, action)
            assert isinstance(after, State)
            assert transition["state_sha256"] == after.digest()
            for fluent, entity, value in operation["effects"]:
                key = (
                    ("contains", entity, value if isinstance(value, str) else value[0])
                    if fluent == "contains"
                    else (fluent, entity)
                )
                found = after.facts[key]
                assert (list(found) if isinstance(found, tuple) else found) == (
                    isinstance(value, str) if fluent == "contains" else value
                )
            state = after
        for entity in episode.world.entities.values():
            assert entity.name and entity.names
        assert len({e.name for e in episode.world.entities.values()}) == len(episode.world.entities)


def test_no_object_is_in_two_places_and_hands_never_overflow(sample_worlds: Path) -> None:
    for episode_id in load_manifest(sample_worlds)["episodes"]:
        episode = load_episode(sample_worlds, episode_id)
        state = episode.initial
        for action in episode.actions:
            state = step(episode.world, state, action)  # type: ignore[assignment]
            assert sorted(state.held) == sorted(State.of(state.facts).held)
            for hand in ("left_hand", "right_hand"):
                assert sum(h in (hand, "both_hands") for h, _ in state.held) <= 4


def test_row_order_does_not_matter(tmp_path: Path, sample_worlds: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(sample_source(), source)
    with (source / NARRATIONS).open(encoding="utf-8", newline="") as file:
        header, *rows = list(csv.reader(file))
    random.Random(3).shuffle(rows)
    with (source / NARRATIONS).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    build_worlds(read_hd_epic(source), tmp_path / "worlds")
    for episode_id in load_manifest(sample_worlds)["episodes"]:
        for name in ("operations.jsonl", "transitions.jsonl", "notes.jsonl"):
            one, other = (root / "episodes" / episode_id / name for root in (sample_worlds, tmp_path / "worlds"))
            assert one.read_bytes() == other.read_bytes()


def test_the_number_of_processes_does_not_matter(tmp_path: Path, samples: Dataset, sample_worlds: Path) -> None:
    build_worlds(samples, tmp_path / "w", jobs=2)
    for path in sorted(sample_worlds.rglob("*")):
        if path.is_file():
            assert (tmp_path / "w" / path.relative_to(sample_worlds)).read_bytes() == path.read_bytes()


def test_audit_passes_and_notices_a_spoiled_collection(sample_worlds: Path) -> None:
    result = audit(sample_worlds)
    assert result["verdict"] == "pass" and result["reference_pass"] == result["contracts"] > 0
    assert result["initial_pass"] == 0 and result["negative_rejected"] == result["negative_suites"] > 0
    for name in (
        "replay",
        "witness",
        "repeated_replay",
        "invalid_immutable",
        "initial",
        "partial",
        "wrong_binding",
        "missing_state",
    ):
        assert result["stress"][name] == result["contracts"], name


def test_audit_fails_when_the_reference_is_cut(tmp_path: Path, sample_worlds: Path) -> None:
    from ego2world.core.canonical import pretty_json, write_atomic
    from ego2world.world.episode import PARTS, episode_digest

    worlds = tmp_path / "w"
    shutil.copytree(sample_worlds, worlds)
    manifest = dict(load_manifest(worlds))
    name = next(iter(manifest["episodes"]))
    folder = worlds / "episodes" / name
    kept = [line for line in (folder / "operations.jsonl").read_bytes().splitlines(keepends=True)]
    first_put = next(i for i, line in enumerate(kept) if b'"family":"put_on"' in line)
    wait = json.loads(kept[first_put]) | {"action": "wait", "roles": {}}
    kept[first_put] = json.dumps(wait).encode() + b"\n"
    (folder / "operations.jsonl").write_bytes(b"".join(kept))
    manifest["episodes"][name]["sha256"] = episode_digest({p: (folder / p).read_bytes() for p in PARTS})
    write_atomic(worlds / "manifest.json", pretty_json(manifest))
    assert audit(worlds)["verdict"] == "fail"


@pytest.mark.parametrize(
    ("text", "reason"), [("Try to open the packet.", "attempt"), ("The bin is full now.", "statement")]
)
def test_what_was_not_done_is_recorded_as_such(samples: Dataset, sample_worlds: Path, text: str, reason: str) -> None:
    for episode_id, rows in samples.narrations.items():
        for row in rows:
            if row.text.startswith(text.rstrip(".")):
                notes = lines(sample_worlds / "episodes" / episode_id / "notes.jsonl")
                assert any(row.id in n["evidence"] and n["reason"].startswith(reason) for n in notes)
                return
    pytest.fail(f"{text!r} is in no sample")


@needs_data
def test_epic_kitchens_feeds_the_same_compiler(tmp_path: Path) -> None:
    dataset = read_epic_kitchens(SHARED / "epic100", ["P01_11", "P01_12"])
    assert sum(map(len, dataset.sounds.values())) > 0
    totals = build_worlds(dataset, tmp_path)["totals"]
    assert totals["acted"] / totals["narrations"] > 0.8
    assert audit(tmp_path)["operations_accepted"] == totals["operations"]
