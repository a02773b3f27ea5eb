"""HD-EPIC's official questions, answered from annotations: at least the counts of the notes, and how few are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import SHARED, needs_data
from ego2world.qa.importers import read_items
from ego2world.qa.items import Item
from ego2world.qa.vqa import RULES, answer_all, read_archive, tally
from ego2world.qa.vqa.archive import Archive, Row
from ego2world.qa.vqa.common import seconds

LEAST = {
    "recipe_step_recognition": 100,
    "recipe_rough_step_localization": 100,
    "ingredient_ingredient_adding_localization": 99,
    "ingredient_ingredient_retrieval": 99,
    "ingredient_ingredient_weight": 50,
    "nutrition_nutrition_change": 49,
    "object_motion_stationary_object_localization": 179,
    "object_motion_object_movement_counting": 173,
    "ingredient_ingredients_order": 31,
}


@needs_data
@pytest.mark.slow
def test_official_keys_are_derived_again() -> None:
    items = read_items(SHARED / "hd-epic")
    answered = list(answer_all(items, read_archive(SHARED / "hd-epic")))
    table = tally(answered)
    assert {name: table[name]["right"] for name, least in LEAST.items() if table[name]["right"] < least} == {}
    assert sum(row["wrong"] for row in table.values()) <= 4
    assert all(sum(row.values()) == sum(item.prototype == name for item in items) for name, row in table.items())
    assert all(one.evidence or one.item.prototype.startswith("recipe_") for one in answered if one.letter is not None)
    assert {name for name, row in table.items() if row["right"] + row["wrong"] == 0} == set(table) - set(
        RULES
    )  # gaze, directions, boxes


def test_times_as_the_questions_write_them() -> None:
    assert seconds("00:03:1.8") == 181.8 and seconds("00:10:03.693") == 603.693


def test_nothing_is_answered_that_is_not_said() -> None:
    row = Row("v", "adding", "I1", "Salt", 10.0, 12.0, "here", "R1")
    archive = Archive({"v": (row,)}, {"R1": "Soup"})
    question = (
        "Between <TIME 00:00:10.000 video 1> and <TIME 00:00:12.000 video 1>, which of these ingredients were added to"
        " the dish being prepared?"
    )
    item = Item(
        id="q",
        group="q",
        question=question,
        prototype="ingredient_ingredient_retrieval",
        options={"A": "pepper", "B": "salt"},
        key=("B",),
        videos=("v",),
        extra={"inputs": {"video 1": {"id": "v"}}},
    )
    (said,) = answer_all([item], archive)
    assert said.letter == "B" and said.outcome == "right" and said.evidence == (row,)
    (silent,) = answer_all([item], Archive({}, {}))
    assert silent.letter is None and silent.outcome == "cannot_tell"


@needs_data
def test_worlds_answer_what_was_compiled_into_them(tmp_path: Path) -> None:
    from ego2world.annotations.hd_epic import read_hd_epic
    from ego2world.collection import build_worlds

    build_worlds(read_hd_epic(SHARED / "hd-epic", ["P08-20240613-123547"]), tmp_path)
    items = [i for i in read_items(SHARED / "hd-epic") if i.videos == ("P08-20240613-123547",)]
    table = tally(answer_all(items, read_archive(tmp_path)))
    assert (
        table["recipe_rough_step_localization"] == {"right": 2, "wrong": 0, "cannot_tell": 0}
        or table["recipe_rough_step_localization"]["right"] > 0
    )
    assert sum(row["wrong"] for row in table.values()) == 0
