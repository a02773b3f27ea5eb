"""HD-EPIC's VQA benchmark: one JSON file per prototype, id -> inputs, question, choices, correct_idx. Stage: qa, input.

Source: hd-epic/hd-epic-annotations, vqa-benchmark. Choices may be lists; questions and choices hold tags <TIME
hh:mm:ss.sss video 1> and <BBOX y1 x1 y2 x2>, in pixels of a 1408 by 1408 picture.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ego2world.annotations.cells import parse_seconds
from ego2world.errors import Problem
from ego2world.qa.importers.cells import key_of, lettered, load
from ego2world.qa.items import Item


def read_hd_epic_vqa(path: Path, problems: list[Problem]) -> list[Item]:
    """Read a folder of prototypes, or one file."""
    folder = path / "vqa-benchmark" if (path / "vqa-benchmark").is_dir() else path
    files = sorted(folder.glob("*.json")) if folder.is_dir() else [folder]
    items: list[Item] = []
    for file in files:
        data = load(file)
        if not isinstance(data, dict):
            problems.append(Problem(file.name, None, None, type(data).__name__, "an object of questions by id"))
            continue
        for number, (identifier, row) in enumerate(data.items(), 1):
            item = _item(file.stem, number, str(identifier), row, problems)
            if item is not None:
                items.append(item)
    return items


def _item(prototype: str, number: int, identifier: str, row: Any, problems: list[Problem]) -> Item | None:
    try:
        inputs = {str(name): dict(value) for name, value in row["inputs"].items()}
        options = lettered(row["choices"])
        question = str(row["question"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        problems.append(
            Problem(
                f"{prototype}.json",
                number,
                None,
                f"{type(error).__name__} {error}",
                "inputs, question, choices, correct_idx",
            )
        )
        return None
    key = key_of(options, row.get("correct_idx"))
    if key is None:
        problems.append(
            Problem(
                f"{prototype}.json", number, "correct_idx", repr(row.get("correct_idx")), f"0 to {len(options) - 1}"
            )
        )
        return None
    videos = tuple(dict.fromkeys(str(value["id"]) for value in inputs.values() if "id" in value))
    first = next(iter(inputs.values()))
    identifier = identifier if identifier.startswith(prototype) else f"{prototype}_{identifier}"
    return Item(
        id=identifier,
        group=identifier,
        question=question,
        answer=options[key[0]],
        dataset="hd-epic-vqa",
        prototype=prototype,
        options=options,
        key=key,
        videos=videos,
        start_s=_time(first.get("start_time")),
        end_s=_time(first.get("end_time")),
        source=f"{prototype}.json",
        extra={"inputs": inputs},
    )


def _time(value: Any) -> float | None:
    try:
        return parse_seconds(value)
    except ValueError:
        return None
