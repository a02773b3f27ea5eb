"""One rule per prototype of HD-EPIC's questions: which options the annotations make true, and by which rows. Stage:
qa, vqa.

A rule returns every option that holds, with its evidence. One option: that is the answer. None or several: cannot
tell. Options are never compared by what is likely, so nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from ego2world.annotations.records import NUTRIENTS
from ego2world.qa.clauses import clause_of
from ego2world.qa.items import Item
from ego2world.qa.vqa.archive import Archive, Row, plain
from ego2world.qa.vqa.common import EXACT_S, Holding, Span, seconds, spans_of
from ego2world.qa.vqa.objects import itinerary, movement_counting, stationary


def _same(row: Row, span: Span) -> bool:
    return row.video == span[0] and abs(row.start_s - span[1]) < EXACT_S and abs(row.end_s - span[2]) < EXACT_S


def _match(rows: Sequence[Row], spans: Sequence[Span]) -> list[Row] | None:
    """Return the rows of the spans, None where a span has none."""
    found = []
    for span in spans:
        row = next((one for one in rows if _same(one, span)), None)
        if row is None:
            return None
        found.append(row)
    return found if found else None


def _by_span(item: Item, rows: Sequence[Row], whole: bool = False) -> Holding:
    """Return the options whose spans all are rows; ``whole``: and that name all of the rows."""
    out: Holding = {}
    for letter, text in (item.options or {}).items():
        found = _match(rows, spans_of(item, text))
        if found and (not whole or {(r.video, r.start_s) for r in found} == {(r.video, r.start_s) for r in rows}):
            out[letter] = found
    return out


def _named(item: Item, rows: Iterable[Row], name: Callable[[Row], str] = lambda row: row.name) -> Holding:
    """Return the options that name a row."""
    out: Holding = {}
    for row in rows:
        for letter, text in (item.options or {}).items():
            if plain(text) == plain(name(row)):
                out.setdefault(letter, []).append(row)
    return out


def step_recognition(item: Item, archive: Archive) -> Holding:
    """The step whose segment the question's span is."""
    spans = spans_of(item, item.question)
    return _named(item, [row for row in archive.of(item.videos, "step") if any(_same(row, span) for span in spans)])


def _step_rows(item: Item, archive: Archive, kind: str, recipe: str, step: str) -> list[Row]:
    recipes = set(archive.recipes(recipe))
    return [row for row in archive.of(item.videos, kind) if row.recipe in recipes and plain(row.name) == plain(step)]


def rough_step_localization(item: Item, archive: Archive) -> Holding:
    """The option that is a segment of the step."""
    steps = {plain(row.name) for row in archive.of(item.videos, "step")}
    asked = plain(item.question)
    rows = [
        row
        for row in archive.of(item.videos, "step")
        if plain(row.name) in asked and plain(archive.recipe_names[row.recipe]) in asked
    ]
    longest = max((len(plain(row.name)) for row in rows), default=0)  # one step's text may contain another's
    return _by_span(item, [row for row in rows if len(plain(row.name)) == longest]) if steps else {}


def _step_localization(kind: str, pattern: str) -> Callable[[Item, Archive], Holding]:
    asks = re.compile(pattern)

    def rule(item: Item, archive: Archive) -> Holding:
        found = asks.search(item.question)
        if found is None:
            return {}
        rows = _step_rows(item, archive, kind, found["recipe"], found["step"])
        return _by_span(item, rows, whole=True) or _by_span(item, rows)

    return rule


def multi_step_localization(item: Item, archive: Archive) -> Holding:
    """The option whose spans are segments of the steps, in the question's order."""
    steps = re.findall(r'"([^"]+)"', item.question)
    rows = archive.of(item.videos, "step")
    out: Holding = {}
    for letter, text in (item.options or {}).items():
        spans = spans_of(item, text)
        found = [
            next((r for r in rows if _same(r, span) and plain(r.name) == plain(step)), None)
            for span, step in zip(spans, steps, strict=False)
        ]
        if len(spans) == len(steps) and found and all(found):
            out[letter] = [row for row in found if row is not None]
    return out


def adding_localization(item: Item, archive: Archive) -> Holding:
    """The option at which the ingredient was added to the recipe."""
    found = re.search(r"ingredient (?P<name>.+) added to recipe (?P<recipe>.+)\?", item.question)
    if found is None:
        return {}
    recipes = set(archive.recipes(found["recipe"]))
    rows = [
        row
        for row in archive.of(item.videos, "adding")
        if row.recipe in recipes and plain(row.name) == plain(found["name"])
    ]
    return _by_span(item, rows)


def ingredient_retrieval(item: Item, archive: Archive) -> Holding:
    """The ingredient that was added within the span."""
    spans = spans_of(item, item.question)
    rows = archive.of(item.videos, "adding")
    exact = [row for row in rows if any(_same(row, span) for span in spans)]
    inside = [row for row in rows if any(row.start_s >= s[1] - 0.1 and row.end_s <= s[2] + 0.1 for s in spans)]
    return _named(item, exact) or _named(item, inside)


def _amount(row: Row) -> str:
    return "" if row.amount is None else f"{row.amount:g} {row.unit or ''}".strip()


_UNITS = {"gr": "g", "grams": "g", "quantity": "g"}  # what is put on a scale and only called a quantity, is grams


def _quantity(text: str) -> tuple[float, str] | None:
    found = re.match(r"\s*([\d.]+)\s*([a-z]*)", text.lower())
    return (float(found[1]), _UNITS.get(found[2], found[2])) if found else None


def _of_amount(item: Item, rows: Sequence[Row]) -> Holding:
    out: Holding = {}
    for letter, text in (item.options or {}).items():
        same = [row for row in rows if row.amount is not None and _quantity(text) == _quantity(_amount(row))]
        if same:
            out[letter] = same
    return out


def ingredient_weight(item: Item, archive: Archive) -> Holding:
    """The amount of the ingredient that is weighed in the question's span."""
    found = re.search(r"weigh of (?P<name>.+) in this video", item.question)
    if found is None:
        return {}
    rows = [row for row in archive.of(item.videos, "weighing") if plain(row.name) == plain(found["name"])]
    if item.start_s is not None and item.end_s is not None:
        rows = [row for row in rows if row.start_s < item.end_s and row.end_s > item.start_s]
    return _of_amount(item, rows)


def exact_ingredient(item: Item, archive: Archive) -> Holding:
    """The amount of an ingredient in a recipe, where all captures agree."""
    found = re.search(r"exact quantity of (?P<name>.+) used in (?P<recipe>.+)", item.question)
    if found is None:
        return {}
    rows = [
        row
        for recipe in archive.recipes(found["recipe"].rstrip("?"))
        for row in archive.ingredients.get(recipe, ())
        if plain(row.name) == plain(found["name"])
    ]
    return _of_amount(item, rows)


def ingredient_recognition(item: Item, archive: Archive) -> Holding:
    """The ingredient that is, or is not, used in a recipe."""
    found = re.search(r"ingredients is (?P<no>not )?used in (?P<recipe>.+)", item.question)
    recipes = archive.recipes(found["recipe"].rstrip("?")) if found else []
    used = [row for recipe in recipes for row in archive.ingredients.get(recipe, ())]
    if found is None or not used:
        return {}
    there = _named(item, used)
    if not found["no"]:
        return there
    return {letter: used[:1] for letter in item.options or {} if letter not in there}


def ingredients_order(item: Item, archive: Archive) -> Holding:
    """The order in which the ingredients of one recipe were first added."""
    rows = archive.of(item.videos, "adding")
    out: Holding = {}
    for recipe in sorted({row.recipe for row in rows}):
        first: dict[str, Row] = {}
        for row in rows:
            if row.recipe == recipe:
                first.setdefault(plain(row.name), row)
        for letter, text in (item.options or {}).items():
            named = [first.get(plain(name)) for name in text.split(", ")]
            known = [row for row in named if row is not None]
            if len(known) == len(named) and all(a.start_s < b.start_s for a, b in pairwise(known)):
                out[letter] = known
    return out


def nutrition_change(item: Item, archive: Archive) -> Holding:
    """The nutrition of the ingredient that is added in the span."""
    spans = spans_of(item, item.question)
    rows = [row for row in archive.of(item.videos, "adding") if any(_same(row, span) for span in spans)]
    out: Holding = {}
    for letter, text in (item.options or {}).items():
        said = {name: float(value) for name, value in re.findall(r"(\w+) changed by ([\d.]+)", text)}
        same = [
            row for row in rows if said and all(_near(row.nutrition.get(name), value) for name, value in said.items())
        ]
        if same:
            out[letter] = same
    return out


def _near(annotated: float | None, said: float) -> bool:
    """Whether numbers agree, as far as rounding goes."""
    return annotated is not None and abs(annotated - said) <= 0.051 + 0.002 * said


def _highest(item: Item, rows: Sequence[Row], value: Callable[[Row], float | None]) -> Holding:
    named = _named(item, rows)
    values = {letter: {value(row) for row in found} for letter, found in named.items()}
    if len(named) < len(item.options or {}) or any(len(found) != 1 or None in found for found in values.values()):
        return {}
    numbers = {letter: max(v for v in found if v is not None) for letter, found in values.items()}
    top = max(numbers.values(), default=0.0)
    best = [letter for letter, number in numbers.items() if number == top]
    return {best[0]: named[best[0]]} if len(best) == 1 else {letter: named[letter] for letter in best}


def video_nutrition(item: Item, archive: Archive) -> Holding:
    """The ingredient of the video's recipes with the highest of a nutrient."""
    nutrient = next((name for name in NUTRIENTS if f"highest {name}" in item.question), None)
    recipes = sorted({recipe for video in item.videos for recipe in archive.cooked.get(video, ())})
    rows = [row for recipe in recipes for row in archive.ingredients.get(recipe, ())]
    return {} if nutrient is None else _highest(item, rows, lambda row: row.nutrition.get(nutrient))


def image_nutrition(item: Item, archive: Archive) -> Holding:
    """The ingredient, of those added at the pictures' times, with the highest of a nutrient."""
    nutrient = next((name for name in NUTRIENTS if f"higher {name}" in item.question), None)
    rows = []
    for image in (item.extra or {}).get("inputs", {}).values():
        at_s = seconds(str(image.get("time", "")))
        rows += [
            row for row in archive.of([str(image.get("id"))], "adding") if row.start_s - 1.0 <= at_s <= row.end_s + 1.0
        ]

    return {} if nutrient is None else _highest(item, rows, lambda row: row.nutrition.get(nutrient))


def recipe_recognition(item: Item, archive: Archive) -> Holding:
    """The recipe, or the recipes, that the videos are of."""
    found = sorted({recipe for video in item.videos for recipe in archive.cooked.get(video, ())})
    names = {plain(archive.recipe_names[recipe]) for recipe in found}
    rows = {plain(archive.recipe_names[recipe]): archive.ingredients.get(recipe, ())[:1] for recipe in found}
    out: Holding = {}
    for letter, text in (item.options or {}).items():
        whole = plain(text)
        parts = [plain(part) for part in text.split(" and ")]
        if whole in names:
            out[letter] = list(rows[whole])
        elif len(parts) > 1 and all(any(part == name or part in name for name in names) for part in parts):
            out[letter] = [row for name in names if any(part in name for part in parts) for row in rows[name]]
    return out


def following_activity(item: Item, archive: Archive) -> Holding:
    """The activity in which most of the step is done."""
    asked = plain(item.question)
    steps = [row for row in archive.of(item.videos, "step") if plain(row.name) and plain(row.name) in asked]
    longest = max((len(plain(row.name)) for row in steps), default=0)
    steps = [row for row in steps if len(plain(row.name)) == longest]
    activities = archive.of(item.videos, "activity")
    shared: dict[str, float] = {}
    for activity in activities:
        for step in steps:
            overlap_s = min(activity.end_s, step.end_s) - max(activity.start_s, step.start_s)
            if activity.video == step.video and overlap_s > 0:
                shared[plain(activity.name)] = shared.get(plain(activity.name), 0.0) + overlap_s
    named = _named(item, activities)
    held = {letter: rows for letter, rows in named.items() if shared.get(plain(rows[0].name), 0.0) > 0}
    return held


def fine_grained(relation: str) -> Callable[[Item, Archive], Holding]:
    """The clause that a narration of the segment gives, word for word."""

    def rule(item: Item, archive: Archive) -> Holding:
        if item.start_s is None or item.end_s is None:
            return {}
        rows = [
            row
            for row in archive.of(item.videos, "narration")
            if abs(row.start_s - item.start_s) < 0.5 and abs(row.end_s - item.end_s) < 0.5
        ]
        out: Holding = {}
        for row in rows:
            for letter, text in (item.options or {}).items():
                said = re.sub(r"^(?:in order to|so that|so|to|by|because|using)\s+", "", plain(text))
                if (
                    len(said.split()) >= 2
                    and said in plain(row.name)
                    and (clause_of(row.name, relation) is not None or len(said.split()) >= 3)
                ):
                    out.setdefault(letter, []).append(row)
        return out

    return rule


RULES: dict[str, Callable[[Item, Archive], Holding]] = {
    "recipe_step_recognition": step_recognition,
    "recipe_rough_step_localization": rough_step_localization,
    "recipe_step_localization": _step_localization("step", r"perform step (?P<step>.+) from recipe (?P<recipe>.+)\?"),
    "recipe_prep_localization": _step_localization(
        "preparation", r"perform prep for (?P<step>.+) from recipe (?P<recipe>.+)\?"
    ),
    "recipe_multi_step_localization": multi_step_localization,
    "recipe_recipe_recognition": recipe_recognition,
    "recipe_multi_recipe_recognition": recipe_recognition,
    "recipe_following_activity_recognition": following_activity,
    "ingredient_ingredient_adding_localization": adding_localization,
    "ingredient_ingredient_retrieval": ingredient_retrieval,
    "ingredient_ingredient_weight": ingredient_weight,
    "ingredient_ingredients_order": ingredients_order,
    "ingredient_ingredient_recognition": ingredient_recognition,
    "ingredient_exact_ingredient_recognition": exact_ingredient,
    "nutrition_nutrition_change": nutrition_change,
    "nutrition_video_nutrition_estimation": video_nutrition,
    "nutrition_image_nutrition_estimation": image_nutrition,
    "object_motion_object_movement_counting": movement_counting,
    "object_motion_stationary_object_localization": stationary,
    "object_motion_object_movement_itinerary": itinerary,
    "fine_grained_why_recognition": fine_grained("purpose"),
    "fine_grained_how_recognition": fine_grained("manner"),
}
