"""No decision is read off English: with random words for every text that explains one, worlds, records and answers
stay the same."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parent / "scrambled.py"
TEXTS = {  # by file, the fields that are wording; everything else has to be equal
    "notes.jsonl": {"reason"},
    "operations.jsonl": {"reason"},
    "transitions.jsonl": {"checks"},
    "episode.json": set(),  # but for the instructions of tasks, which end with their conditions in words
    "attempts.jsonl": {"says"},
    "interactions.jsonl": {"preconditions"},
}
HASHES = {
    "sha256",
    "episode_sha256",
    "suite_sha256",
    "input_hash",
    "worlds",
}  # of files that contain those texts, and where they lie
QUESTIONS = Path("qa/manifest.json")  # its ``episodes`` are such hashes


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("words")
    running = {
        name: subprocess.Popen(
            [sys.executable, str(SCRIPT), str(folder / name), *seed], stdout=subprocess.PIPE, text=True
        )
        for name, seed in (("said", ()), ("scrambled", ("7",)))
    }
    for name, process in running.items():
        said, _ = process.communicate()
        assert process.returncode == 0 and said.strip() == "pass", name
    return {name: folder / name for name in running}


def rows(path: Path) -> Iterator[Any]:
    text = path.read_text("utf-8")
    yield from ([json.loads(text)] if path.suffix == ".json" else map(json.loads, text.splitlines()))


def without(value: Any, fields: set[str]) -> Any:
    if isinstance(value, dict):
        return {key: without(one, fields) for key, one in value.items() if key not in fields}
    return [without(one, fields) for one in value] if isinstance(value, list) else value


def test_random_words_change_nothing_but_the_words(made: dict[str, Path]) -> None:
    files = {
        name: sorted(p.relative_to(root) for p in root.rglob("*.json*") if p.is_file()) for name, root in made.items()
    }
    assert files["said"] == files["scrambled"] and len(files["said"]) > 60
    differing: set[str] = set()
    for file in files["said"]:
        pairs = zip(rows(made["said"] / file), rows(made["scrambled"] / file), strict=True)
        for said, scrambled in pairs:
            fields = TEXTS.get(file.name, set()) | HASHES | ({"episodes"} if file == QUESTIONS else set())
            if said != scrambled:
                differing.add(file.name)
            if file.name == "episode.json":
                for task in (*said["tasks"], *scrambled["tasks"]):
                    task["instruction"] = task["instruction"].partition(" Goal: ")[0]
            assert without(said, fields) == without(scrambled, fields), file
    assert set(TEXTS) - {"interactions.jsonl"} <= differing, "the texts were not replaced"


def test_texts_are_made_in_one_module_for_each_audience() -> None:
    """The wording of refusals and reasons is imported where something is shown or written, and by nothing that
    decides."""
    source = SCRIPT.parents[1] / "src" / "ego2world"
    users = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        if "compiler.wording import" in path.read_text("utf-8") or "world.explain import" in path.read_text("utf-8")
    }
    deciding = {
        "world/step.py",
        "world/checks.py",
        "world/repair.py",
        "compiler/reconcile.py",
        "compiler/bind.py",
        "compiler/episode.py",
        "qa/replay.py",
        "agents/symbolic.py",
        "agents/llm.py",
        "agents/belief.py",
        "evaluate/metrics.py",
    }
    assert users and not users & deciding
