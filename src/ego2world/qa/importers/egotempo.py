"""EgoTempo: 500 open questions of ten kinds on Ego4D clips, whose ids hold start and end in seconds (18 begin
a little before 0). Stage: qa, input.

Source: google-research-datasets/egotempo, egotempo_openQA.json.
"""

from __future__ import annotations

import re
from pathlib import Path

from ego2world.annotations.cells import one_line
from ego2world.errors import Problem
from ego2world.qa.importers.cells import load
from ego2world.qa.items import Item
from ego2world.qa.taxonomy import LEVELS, Category

_CLIP = re.compile(r"^(?P<video>[0-9a-f-]{36})_(?P<start>-?[\d.]+)_(?P<end>[\d.]+)$")
# the data set's kinds on the taxonomy [D]
CATEGORIES = {
    "action-specific object": Category.ACTION_STATUS,
    "object-specific action": Category.ACTION_STATUS,
    "action sequence": Category.CHAIN,
    "object sequence": Category.CHAIN,
    "temporal event ordering": Category.CHAIN,
    "counting actions": Category.ACTION_STATUS,
    "counting objects": Category.WORLD_STATE,
    "locating object": Category.WORLD_STATE,
    "spatial relationship": Category.WORLD_STATE,
    "future action prediction": Category.GOAL_PLANNING,
}


def read_egotempo(path: Path, problems: list[Problem]) -> list[Item]:
    """Read the file, or the folder that it is in."""
    file = path if path.is_file() else next(iter(sorted(path.glob("egotempo*.json"))), path / "egotempo_openQA.json")
    data = load(file)
    rows = data.get("annotations") if isinstance(data, dict) else None
    if not isinstance(rows, list):
        problems.append(Problem(file.name, None, "annotations", "no such list", "EgoTempo's openQA file"))
        return []
    items = []
    for number, row in enumerate(rows, 1):
        clip = _CLIP.match(str(row.get("clip_id", "")))
        missing = [
            name
            for name in ("question_id", "question_type", "question", "answer")
            if not str(row.get(name, "")).strip()
        ]
        if clip is None or missing:
            problems.append(
                Problem(
                    file.name,
                    number,
                    "clip_id" if clip is None else missing[0],
                    repr(row.get("clip_id"))[:60],
                    "a question with its clip",
                )
            )
            continue
        category = CATEGORIES.get(row["question_type"])
        answer = one_line(row["answer"])
        items.append(
            Item(
                id=row["question_id"],
                group=row["question_id"],
                question=one_line(row["question"]),
                answer=answer,
                dataset="egotempo",
                prototype=row["question_type"],
                category=category.value if category else "",
                level=LEVELS[category].value if category else "",
                modality="visual",
                key_points=(answer,),
                videos=(clip["video"],),
                start_s=max(0.0, float(clip["start"])),
                end_s=float(clip["end"]),
                source=file.name,
            )
        )
    return items
