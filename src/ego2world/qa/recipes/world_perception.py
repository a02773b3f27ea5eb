"""World Perception: what is looked at, checked, felt or tasted, and what is heard."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ego2world.qa.clauses import clause_of
from ego2world.qa.queries import ActQuery, ClauseQuery, Heard
from ego2world.qa.recipes.base import DraftTurn, QuestionDraft, RecipeContext, between, sentence
from ego2world.qa.taxonomy import Category
from ego2world.world.state import HANDS

_SENSES = re.compile(r"\b(?:check|look|inspect|examin|smell|sniff|tast|feel|read|watch|listen|observ)\w*", re.I)


def draft(context: RecipeContext) -> Iterator[QuestionDraft]:
    """Yield questions on perception."""
    yield from _looks(context)
    yield from _sounds(context)


def _looks(context: RecipeContext) -> Iterator[QuestionDraft]:
    recording, names = context.recording, context.names
    for i in context.told:
        (narration, *more) = recording.operations[i]["narration_ids"]
        text = recording.narrations[narration]["text"]
        if more or not _SENSES.search(text):
            continue
        start_s, end_s = context.window(i)
        clip = context.clip(start_s, end_s)
        quote = clause_of(text, "percept")
        things = recording.actions[i].ids("object")
        if quote is not None and recording.of_narration[narration][0] == i:
            turn = DraftTurn(
                f"I {context.act(i)} {between(clip, start_s, end_s)}. What do I want to find out or check?",
                sentence(quote),
                ClauseQuery(narration, "percept"),
                quote,
                (narration, *context.evidence(i)),
                key_points=(quote,),
            )
            yield QuestionDraft(Category.WORLD_PERCEPTION, "checked", clip, start_s, (turn,), operations=(i,))
        elif (
            recording.operations[i]["family"] == "check"
            and len(things) == 1
            and things[0] not in HANDS
            and names.sayable(things[0])
        ):
            if recording.mentions(i, things[0]) and i in context.alone:
                turn = DraftTurn(
                    f"What do I examine {between(clip, start_s, end_s)}?",
                    sentence(names.the(things[0])),
                    ActQuery(start_s, end_s, None, "object"),
                    list(things),
                    context.evidence(i),
                    anchors=context.anchors(i),
                    family="thing:check",
                    key_points=(names.base(things[0]),),
                )
                yield QuestionDraft(Category.WORLD_PERCEPTION, "examined", clip, start_s, (turn,), operations=(i,))


def _sounds(context: RecipeContext) -> Iterator[QuestionDraft]:
    for row in context.recording.annotations["sounds"]:
        start_s, end_s = row["span_s"]
        clip = context.clip(start_s, end_s)
        turn = DraftTurn(
            f"What kind of sound do I hear {between(clip, start_s, end_s)}?",
            sentence(row["label"]),
            Heard(start_s, end_s),
            row["label"],
            (row["id"],),
            family="sound",
            key_points=(row["label"],),
        )
        yield QuestionDraft(Category.WORLD_PERCEPTION, "heard", clip, start_s, (turn,), frozenset({"audio"}))
