"""Exports for other tools: Parquet tables and the meaning of the environments' numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ego2world.cli import build_app
from ego2world.core.journal import read_rows
from ego2world.envs import TaskSpace
from ego2world.errors import UsageError
from ego2world.report.tables import table_of
from ego2world.run.loop import RunSettings, run
from ego2world.world.episode import load_episode, load_manifest

parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra parquet")


def export(*arguments: object) -> None:
    given = ["export", *map(str, arguments)]
    done = CliRunner().invoke(build_app(given), given, catch_exceptions=False)
    assert done.exit_code == 0, done.output


def test_a_collection_as_tables(sample_worlds: Path, tmp_path: Path) -> None:
    export(sample_worlds, "--to", "parquet", "--out", tmp_path)
    operations = parquet.read_table(tmp_path / "operations.parquet").to_pylist()
    first = next(iter(load_manifest(sample_worlds)["episodes"]))
    rows = read_rows(sample_worlds / "episodes" / first / "operations.jsonl")
    own = [row for row in operations if row["episode"] == first]
    assert [row["id"] for row in own] == [row["id"] for row in rows]
    assert [json.loads(row["roles"]) for row in own] == [row["roles"] for row in rows]
    assert [row["span_s"] for row in own] == [row["span_s"] for row in rows]
    entities = parquet.read_table(tmp_path / "entities.parquet").to_pylist()
    assert len([e for e in entities if e["episode"] == first]) == len(load_episode(sample_worlds, first).world.entities)


def test_a_run_as_tables(sample_worlds: Path, tmp_path: Path) -> None:
    run(sample_worlds, tmp_path / "run", RunSettings("reference"))
    export(tmp_path / "run", "--to", "parquet", "--out", tmp_path / "tables")
    attempts = parquet.read_table(tmp_path / "tables" / "attempts.parquet").to_pylist()
    assert len(attempts) == len(read_rows(tmp_path / "run" / "attempts.jsonl")) and all(
        row["accepted"] for row in attempts
    )
    with pytest.raises(UsageError, match="neither a compiled collection"):
        export(tmp_path, "--to", "parquet", "--out", tmp_path / "x")


def test_values_of_mixed_types_are_text() -> None:
    table = table_of([{"a": 1, "b": [["x", 1]]}, {"a": "one"}, {"a": True, "b": None}]).to_pylist()
    assert [row["a"] for row in table] == ["1", '"one"', "true"]
    assert [row["b"] for row in table] == ['[["x", 1]]', None, None]


def test_what_the_numbers_mean(sample_worlds: Path, tmp_path: Path) -> None:
    export(sample_worlds, "--to", "gymnasium-spec", "--out", tmp_path)
    written = sorted(tmp_path.rglob("*.json"))
    assert len(written) == load_manifest(sample_worlds)["totals"]["tasks"]
    spec = json.loads(written[0].read_text())
    space = TaskSpace(sample_worlds, spec["episode"], spec["task"])
    assert spec["action_space"]["n"] == len(spec["actions"]) == space.actions
    assert spec["observation_space"]["shape"] == [len(spec["columns"])] == [space.grounding.width]
    assert spec["actions"][7] == str(space.action(7))
