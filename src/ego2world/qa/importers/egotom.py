"""EgoToM: goals, beliefs and next actions of camera wearers, multiple choice. Stage: qa, input.

Source: facebookresearch/EgoToM, egotom_{goal,belief,actions}_shuffled.csv. The key is given as its text (gt_...), and
one row may hold a text that is none of its choices: it is then refused. The narrations in context are the annotators'
view, not an input.
"""

from __future__ import annotations

from pathlib import Path

from ego2world.annotations.cells import one_line, parse_seconds, read_csv
from ego2world.errors import Problem
from ego2world.qa.importers.cells import LETTERS, lettered
from ego2world.qa.items import Item
from ego2world.qa.taxonomy import LEVELS, Category

_ASKS = {
    "goal": ("What is C's goal?", Category.INTENT_ATTRIBUTION),
    "belief": ("What does C believe?", Category.WORLD_PERCEPTION),
    "actions": ("What will C do next?", Category.GOAL_PLANNING),
}


def read_egotom(path: Path, problems: list[Problem]) -> list[Item]:
    """Read the folder, or one of its files."""
    items: list[Item] = []
    for file in sorted(path.glob("egotom_*.csv")) if path.is_dir() else [path]:
        kind = next((name for name in _ASKS if name in file.stem), None)
        if kind is None:
            problems.append(
                Problem(file.name, None, None, "none of goal, belief, actions in its name", "a file of EgoToM")
            )
            continue
        question, category = _ASKS[kind]
        for number, row in read_csv(file, ("vuid", "cuid", f"gt_{kind}")):
            options = lettered(
                [text for letter in LETTERS if (text := one_line(row.get(f"{kind}_choice_{letter.lower()}")))]
            )
            answer = one_line(row[f"gt_{kind}"])
            key = tuple(letter for letter, text in options.items() if text == answer)
            if len(key) != 1:
                problems.append(Problem(file.name, number, f"gt_{kind}", answer[:60], "the text of one of the choices"))
                continue
            identifier = f"egotom_{kind}_{row['cuid']}"
            items.append(
                Item(
                    id=identifier,
                    group=identifier,
                    question=question,
                    answer=answer,
                    dataset="egotom",
                    prototype=kind,
                    category=category.value,
                    level=LEVELS[category].value,
                    modality="visual",
                    options=options,
                    key=key,
                    key_points=(answer,),
                    videos=(row["vuid"],),
                    start_s=parse_seconds(row.get("clip_start_time")),
                    end_s=parse_seconds(row.get("clip_end_time")),
                    source=file.name,
                    cutoff_safe=kind == "actions",
                )
            )
    return items
