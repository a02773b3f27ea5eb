"""Ego State: what the hands hold, and which step the wearer is in."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ego2world.qa.queries import Holding, StepAt
from ego2world.qa.recipes.base import SETTLE_S, STALE_S, DraftTurn, QuestionDraft, RecipeContext, at, sentence
from ego2world.qa.taxonomy import Category
from ego2world.world.state import LEFT, RIGHT

_SIDE = re.compile(r"\b(left|right) hand\b", re.I)


def draft(context: RecipeContext) -> Iterator[QuestionDraft]:
    """Yield questions on hands and steps."""
    yield from _hands(context)
    yield from _steps(context)


def _hands(context: RecipeContext) -> Iterator[QuestionDraft]:
    recording, names = context.recording, context.names
    for i in context.told:
        before, after = recording.states[i].held, recording.states[i + 1].held
        if before == after:
            continue
        hand = str(recording.actions[i].bound.get("hand", ""))
        sides = {side.lower() for side in _SIDE.findall(recording.text(i))}
        sided = hand in (LEFT, RIGHT) and sides == {hand.removesuffix("_hand")}
        asked = hand if sided else None
        load = tuple(sorted({thing for at_hand, thing in after if asked in (None, at_hand) or at_hand == "both_hands"}))
        if not all(names.sayable(thing) for thing in load):
            continue
        until_s = _until(context, i, asked)
        end_s = recording.span(i)[1]
        if until_s - end_s < 2 * SETTLE_S:
            continue
        time_s = round(end_s + min(1.5, (until_s - end_s) / 2), 1)
        setters = [recording.setter(("place", thing), i + 1) for thing in load] or [i]
        if any(s is None or not recording.told(s) or time_s - recording.span(s)[1] > STALE_S for s in setters):
            continue
        known = sorted({s for s in setters if s is not None})
        clip = context.clip(min(recording.span(s)[0] for s in known), time_s)
        where = f"in my {hand.replace('_', ' ')}" if sided else "in my hands"
        answer = sentence(names.listed(load)) if load else "Nothing."
        yield QuestionDraft(
            Category.EGO_STATE,
            "hand" if sided else "hands",
            clip,
            time_s,
            (
                DraftTurn(
                    f"What am I holding {where} at {at(clip, time_s)}?",
                    answer,
                    Holding(time_s, asked),
                    list(load),
                    context.evidence(*known),
                    anchors=context.anchors(*known),
                    family=f"load:{len(load)}",
                    key_points=tuple(names.base(thing) for thing in load) or ("nothing",),
                ),
            ),
            operations=tuple(known),
        )


def _until(context: RecipeContext, i: int, hand: str | None) -> float:
    """Return when the load of the hand, or of any, changes after operation ``i``."""
    recording = context.recording

    def load(n: int) -> list[tuple[str, str]]:
        return [pair for pair in recording.states[n].held if hand in (None, pair[0]) or pair[0] == "both_hands"]

    now = load(i + 1)
    for j in range(i + 1, len(recording.operations)):
        if load(j + 1) != now:
            return recording.span(j)[0]
    return recording.end_s


def _steps(context: RecipeContext) -> Iterator[QuestionDraft]:
    rows = context.recording.annotations["steps"]
    for row in rows:
        start_s, end_s = row["span_s"]
        if end_s - start_s < 2:
            continue
        time_s = round((start_s + end_s) / 2, 1)
        clip = context.clip(start_s, end_s)
        yield QuestionDraft(
            Category.EGO_STATE,
            "step",
            clip,
            time_s,
            (
                DraftTurn(
                    f"Which step of the recipe {row['recipe_name']} am I working on at {at(clip, time_s)}?",
                    sentence(row["text"]),
                    StepAt(time_s),
                    row["step"],
                    (row["id"],),
                    family=f"step:{row['recipe']}",
                    key_points=(row["text"],),
                ),
            ),
        )
