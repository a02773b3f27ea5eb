"""A task folder for lmms-eval: the rows, the task, and the few functions it calls. Stage: qa, export.

The videos' folder comes from the environment (EGO2WORLD_VIDEOS); multiple choice is scored by letter, with this
project's reader of replies where it is installed.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

from ego2world.core.canonical import json_lines, write_atomic
from ego2world.qa.export.rows import accepted, by_split
from ego2world.qa.records import QuestionGroup


def to_lmms_eval(qa: Path, out: Path) -> dict[str, Any]:
    """Write ego2world_mc.yaml, utils.py and a JSON-lines file a split; single multiple-choice questions only."""
    _, groups = accepted(qa)
    written, counts = [], {}
    for split, members in by_split(groups).items():
        chosen = [_row(group) for group in members if group.format == "multiple_choice" and len(group.turns) == 1]
        write_atomic(out / f"ego2world_{split}.jsonl", json_lines(chosen))
        written.append(f"ego2world_{split}.jsonl")
        counts[split] = len(chosen)
    for name in ("ego2world_mc.yaml", "utils.py"):
        text = (files("ego2world.qa.export") / "lmms" / f"{name}.txt").read_text("utf-8")
        write_atomic(out / name, text.encode())
    return {"target": "lmms-eval", "questions": counts, "files": ["ego2world_mc.yaml", "utils.py", *written]}


def _row(group: QuestionGroup) -> dict[str, Any]:
    turn = group.turns[0]
    return {
        "question_id": group.id,
        "task_type": group.category,
        "question": turn.question,
        "choices": list((turn.options or {}).values()),
        "correct_idx": list(turn.options or {}).index(turn.key[0]),
        "video_ids": [group.clip.video],
        "start_times": [group.clip.start_s],
        "end_times": [group.clip.end_s],
    }
