"""Layers point down, agents see observations only, and the public names are the pinned ones."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from collections import Counter
from pathlib import Path

from ego2world.ontology.kinds import KINDS, Trait, kinds_with
from ego2world.ontology.senses import Tag, senses
from ego2world.world.actions import BY_SENSE, FAMILIES

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src" / "ego2world"


def test_layers() -> None:
    done = subprocess.run([Path(sys.executable).parent / "lint-imports"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]


def test_no_printing_or_exiting_below_the_command_line() -> None:
    for path in SRC.rglob("*.py"):
        if "cli" not in path.parts:
            text = path.read_text("utf-8")
            assert "print(" not in text and "sys.exit" not in text, path


def test_no_source_rows_in_the_package() -> None:
    import re

    pattern = re.compile(r"P0[1-9]-2024[0-9]{4}-[0-9]{6}-[0-9]+")
    for path in (ROOT / "src").rglob("*"):
        if path.is_file() and path.suffix in {".py", ".csv", ".json", ".txt"}:
            assert not pattern.search(path.read_text("utf-8")), path


def test_exported_names() -> None:
    pinned = {
        "ego2world.agents": (
            "Act Belief Chat Context Decoding Done Look MEMORIES MemoryPolicy PLANNERS Planner PlannerContext Step"
            " make_memory make_planner"
        ),
        "ego2world.core.models": (
            "Audio Endpoint Frames Image Message MockModel Model ModelClient Part ReplayModel Reply Request Stop Text"
            " Usage connect json_object open_model user"
        ),
        "ego2world.evaluate": "JSON_FIELDS METRICS RESOURCES TaskEndpoint score_run",
        "ego2world.report": "write_report",
        "ego2world.world.actions": "ACTIONS ALIKE ActionType BY_NAME BY_SENSE FAMILIES Parameter candidates choose",
    }
    for module, names in pinned.items():
        assert sorted(importlib.import_module(module).__all__) == names.split()


def test_a_public_class_name_stands_for_one_concept() -> None:
    found = Counter(
        node.name
        for path in SRC.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, count in found.items() if count > 1] == []


TABLES = {"ontology", "actions", "fixtures.py", "cases.py"}  # the tables, declarations, a data set's names, a drawing's


def test_only_the_ontology_lists_kinds_and_senses() -> None:
    """Four words of which most are kinds, or senses that are no families, are a list of them."""
    senses = {line.split(":")[0] for line in (SRC / "language" / "verbs.txt").read_text("utf-8").splitlines()}
    listed = []
    for path in SRC.rglob("*.py"):
        if TABLES & set(path.parts):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            words = _words(node)
            of = max(sum(w in KINDS for w in words), sum(w in senses and w not in FAMILIES for w in words))
            if len(words) >= 4 and of > 0.7 * len(words):
                listed.append((path.name, node.lineno, words))  # type: ignore[attr-defined]
    assert [row for row in listed if row[0] != "scope.py"] == []  # there: an order of preference


def _words(node: ast.AST) -> list[str]:
    match node:
        case ast.Set(elts=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts):
            return [one.value for one in parts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str() as text), attr="split"), args=[]):
            return text.split()
    return []


def test_tags_are_of_senses_that_there_are() -> None:
    known = {line.split(":")[0] for line in (SRC / "language" / "verbs.txt").read_text("utf-8").splitlines()}
    known |= set(BY_SENSE)
    assert {sense for tag in Tag for sense in senses(tag)} - known == set()
    assert all(kinds_with(trait) for trait in Trait)
