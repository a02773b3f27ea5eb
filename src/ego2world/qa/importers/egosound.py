"""EgoSound's format, and any list of questions like it: one JSON list, a question an object. Stage: qa, input.

Names of fields differ between releases; the first that is there counts:

    question, q      answer, gt_answer, ground_truth, a       options, choices, candidates (a list, or letter -> text)
    correct_idx, answer_idx, label (a position), correct, key (a letter or letters)
    type, question_type, task, category                       video, video_id, clip_id, video_path
    id, question_id, qid                                      start_time, start; end_time, end (seconds)
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ego2world.annotations.cells import one_line, parse_seconds
from ego2world.errors import Problem
from ego2world.qa.importers.cells import key_of, lettered, load, option_text
from ego2world.qa.items import Item
from ego2world.qa.taxonomy import LEVELS, Category

# EgoSound's kinds on the taxonomy [D]
CATEGORIES = {
    "sound-source identification": Category.WORLD_PERCEPTION,
    "spatial localization": Category.WORLD_PERCEPTION,
    "sound characteristics": Category.WORLD_PERCEPTION,
    "cross-modal reasoning": Category.ACTION_STATUS,
    "temporal information": Category.ACTION_STATUS,
    "counting": Category.ACTION_STATUS,
    "causal / contextual reasoning": Category.INTENT_ATTRIBUTION,
}
_NAMES: dict[str, tuple[str, ...]] = {
    "question": ("question", "q"),
    "answer": ("answer", "gt_answer", "ground_truth", "reference", "a"),
    "options": ("options", "choices", "candidates"),
    "index": ("correct_idx", "answer_idx", "label"),
    "key": ("correct", "key", "correct_option"),
    "kind": ("type", "question_type", "task", "category"),
    "video": ("video", "video_id", "clip_id", "video_path"),
    "id": ("id", "question_id", "qid"),
    "start": ("start_time", "start", "start_s"),
    "end": ("end_time", "end", "end_s"),
}


def read_egosound(path: Path, problems: list[Problem]) -> list[Item]:
    """Read one file."""
    data = load(path)
    rows = (
        next((data[name] for name in ("annotations", "data", "questions") if isinstance(data.get(name), list)), None)
        if isinstance(data, dict)
        else data
    )
    if not isinstance(rows, list):
        problems.append(Problem(path.name, None, None, type(data).__name__, "a list of questions"))
        return []
    items = []
    for number, row in enumerate(rows, 1):
        item = _item(path, number, row, problems) if isinstance(row, Mapping) else None
        if item is not None:
            items.append(item)
        elif not isinstance(row, Mapping):
            problems.append(Problem(path.name, number, None, type(row).__name__, "an object"))
    return items


def _field(row: Mapping[str, Any], name: str) -> Any:
    return next((row[one] for one in _NAMES[name] if row.get(one) is not None), None)


def _item(path: Path, number: int, row: Mapping[str, Any], problems: list[Problem]) -> Item | None:
    raw = _field(row, "options")
    options = (
        {str(k).strip().upper(): option_text(v) for k, v in raw.items()}
        if isinstance(raw, Mapping)
        else lettered(raw)
        if raw
        else None
    )
    question, answer = one_line(_field(row, "question") or ""), option_text(_field(row, "answer") or "")
    key: tuple[str, ...] = ()
    if options is not None:
        found = key_of(options, _field(row, "index"))
        named = _field(row, "key") or (answer if answer.upper() in options else None)
        if found is None and named is not None:
            letters = [named] if isinstance(named, str) and named.strip().upper() in options else list(named)
            found = tuple(str(letter).strip().upper() for letter in letters if str(letter).strip(" ,"))
        key = found or tuple(letter for letter, text in options.items() if text == answer)
        if len(key) == 1 and key[0] in options and (not answer or answer.upper() == key[0]):
            answer = options[key[0]]
    try:
        start_s, end_s = parse_seconds(_field(row, "start")), parse_seconds(_field(row, "end"))
    except ValueError as error:
        problems.append(Problem(path.name, number, "start_time", str(error), "seconds or hh:mm:ss"))
        return None
    kind = one_line(_field(row, "kind") or "")
    category = CATEGORIES.get(kind.lower())
    identifier = str(_field(row, "id") or f"{path.stem}_{number}")
    video = one_line(_field(row, "video") or "")
    return Item(
        id=identifier,
        group=identifier,
        question=question,
        answer=answer,
        dataset=path.stem,
        prototype=kind,
        options=options,
        key=key,
        category=category.value if category else "",
        level=LEVELS[category].value if category else "",
        modality="audio-visual",
        key_points=(answer,) if answer else (),
        videos=(video,) if video else (),
        start_s=start_s,
        end_s=end_s,
        source=path.name,
    )
