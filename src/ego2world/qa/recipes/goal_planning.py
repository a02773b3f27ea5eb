"""Goal Planning: what comes next, from what was before a cutoff alone. What comes after only confirms that the plan
was carried out."""

from __future__ import annotations

from collections.abc import Iterator

from ego2world.qa.queries import NextStep, PreparedStep
from ego2world.qa.recipes.base import DraftTurn, QuestionDraft, RecipeContext, between, sentence
from ego2world.qa.taxonomy import Category

CONTEXT_S = 60.0


def draft(context: RecipeContext) -> Iterator[QuestionDraft]:
    """Yield questions on plans; every clip ends at its cutoff."""
    yield from _next_steps(context)
    yield from _prepared(context)


def _next_steps(context: RecipeContext) -> Iterator[QuestionDraft]:
    """Ask for the next step in the recipe's order, where it is also the next that was begun."""
    rows = context.recording.annotations["steps"]
    for recipe in sorted({row["recipe"] for row in rows}):
        own = [row for row in rows if row["recipe"] == recipe]
        begun: dict[str, dict[str, object]] = {}
        for row in own:
            begun.setdefault(row["step"], row)
        for row in own:
            cutoff_s = round(row["span_s"][1], 1)
            done = [one for one in own if one["span_s"][1] <= cutoff_s + 0.05]
            started = {one["step"] for one in own if one["span_s"][0] < cutoff_s}
            ahead = [one for one in begun.values() if one["step"] not in started]
            if not done or not ahead:
                continue
            following = min(ahead, key=lambda one: int(str(one["position"])))
            clip = context.clip(max(0.0, done[-1]["span_s"][0] - CONTEXT_S), cutoff_s, cutoff_s)
            turn = DraftTurn(
                f"I am cooking {row['recipe_name']}, and this clip ends just after a step of it. Which step that I"
                " have not started yet will I do next?",
                sentence(str(following["text"])),
                NextStep(cutoff_s),
                following["step"],
                tuple(one["id"] for one in done),
                family=f"step:{recipe}",
                key_points=(str(following["text"]),),
            )
            yield QuestionDraft(Category.GOAL_PLANNING, "next_step", clip, cutoff_s, (turn,), cutoff_s=cutoff_s)


def _prepared(context: RecipeContext) -> Iterator[QuestionDraft]:
    """Ask which step a preparation leads to, where that step is done after it."""
    steps = context.recording.annotations["steps"]
    for row in context.recording.annotations["preparations"]:
        start_s, end_s = row["span_s"]
        if not any(s["step"] == row["step"] and s["span_s"][0] >= end_s for s in steps) or end_s - start_s < 1:
            continue
        cutoff_s = round(end_s, 1)
        clip = context.clip(start_s, cutoff_s, cutoff_s)
        turn = DraftTurn(
            f"Judging by what I prepare {between(clip, start_s, cutoff_s)}, where the clip ends, which step of the"
            f" recipe {row['recipe_name']} do I plan to do?",
            sentence(row["text"]),
            PreparedStep(start_s, end_s),
            row["step"],
            (row["id"],),
            family=f"step:{row['recipe']}",
            key_points=(row["text"],),
        )
        yield QuestionDraft(Category.GOAL_PLANNING, "prepared_step", clip, cutoff_s, (turn,), cutoff_s=cutoff_s)
