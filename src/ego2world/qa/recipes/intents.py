"""Intent Attribution (action to ego) and Intent Formation (world to ego): what narrations give as purpose and as
reason."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ego2world.qa.clauses import fresh
from ego2world.qa.queries import ClauseQuery, PreparedStep
from ego2world.qa.recipes.base import DraftTurn, QuestionDraft, RecipeContext, between, sentence
from ego2world.qa.taxonomy import Category

# a reason outside of the wearer: a thing that is, has or does something
_OUTSIDE = re.compile(
    r"^(?!(?:i|we|he|she|you|the"
    r" person|my)\b)(?:.*\b(?:is|are|was|were|has|have|had|does|do|did|can|could|will|would|\w+s)\b.*)",
    re.I,
)


def attribution(context: RecipeContext) -> Iterator[QuestionDraft]:
    """Yield questions on why something is done."""
    recording = context.recording
    for i in context.told:
        found = context.clause(i, "purpose")
        if found is None or not fresh(found[1], context.act(i)):
            continue
        narration, quote = found
        text = recording.narrations[narration]["text"]
        start_s, end_s = context.window(i)
        clip = context.clip(start_s, end_s)
        turn = DraftTurn(
            f"Why do I {context.act(i)} {between(clip, start_s, end_s)}?",
            sentence(_to(quote, text)),
            ClauseQuery(narration, "purpose"),
            quote,
            (narration, *context.evidence(i)),
            key_points=(quote,),
        )
        yield QuestionDraft(Category.INTENT_ATTRIBUTION, "purpose", clip, start_s, (turn,), operations=(i,))
    for row in recording.annotations["preparations"]:
        start_s, end_s = row["span_s"]
        if _begins_after(context, row):
            continue  # asked as a plan, see goal_planning
        clip = context.clip(start_s, end_s)
        turn = DraftTurn(
            f"Which step of the recipe {row['recipe_name']} do my actions {between(clip, start_s, end_s)} prepare?",
            sentence(row["text"]),
            PreparedStep(start_s, end_s),
            row["step"],
            (row["id"],),
            family=f"step:{row['recipe']}",
            key_points=(row["text"],),
        )
        yield QuestionDraft(Category.INTENT_ATTRIBUTION, "preparation", clip, start_s, (turn,))


def _begins_after(context: RecipeContext, row: dict[str, object]) -> bool:
    end_s = row["span_s"][1]  # type: ignore[index]
    return any(s["step"] == row["step"] and s["span_s"][0] >= end_s for s in context.recording.annotations["steps"])


def _to(quote: str, text: str) -> str:
    """Return a purpose as its narration says it: "so that ..." or "to ..."."""
    clause = re.search(rf"\bso that\s+{re.escape(quote)}", text, re.I)
    return f"so that {quote}" if clause else f"to {quote}"


def formation(context: RecipeContext) -> Iterator[QuestionDraft]:
    """Yield questions on what about the surroundings leads to a decision."""
    for i in context.told:
        found = context.clause(i, "reason")
        if found is None or not _OUTSIDE.match(found[1]):
            continue
        narration, quote = found
        start_s, end_s = context.window(i)
        clip = context.clip(start_s, end_s)
        turn = DraftTurn(
            f"I decide to {context.act(i)} {between(clip, start_s, end_s)}. What about my surroundings makes me do so?",
            sentence(quote),
            ClauseQuery(narration, "reason"),
            quote,
            (narration, *context.evidence(i)),
            key_points=(quote,),
        )
        yield QuestionDraft(Category.INTENT_FORMATION, "reason", clip, start_s, (turn,), operations=(i,))
