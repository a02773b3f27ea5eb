"""Action Status: what is done to a thing, to which thing, how, and what is under way while a sound is heard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ego2world.qa.queries import ActQuery, ClauseQuery, During
from ego2world.qa.recipes.base import DraftTurn, QuestionDraft, RecipeContext, at, between, sentence
from ego2world.qa.taxonomy import Category
from ego2world.world.state import HANDS

_DULL = frozenset({"navigate", "wait", "record", "hold"})


def draft(context: RecipeContext) -> Iterator[QuestionDraft]:
    """Yield questions on actions."""
    for i in context.told:
        if context.recording.operations[i]["family"] in _DULL or i not in context.alone:
            continue
        yield from _manner(context, i)
        yield from _what(context, i)
        yield from _which(context, i)
    yield from _heard(context)


def _what(context: RecipeContext, i: int) -> Iterator[QuestionDraft]:
    recording, names = context.recording, context.names
    action = recording.actions[i]
    start_s, end_s = context.window(i)
    for thing in action.ids("object")[:1]:
        if (
            thing in HANDS
            or not names.clear(thing)
            or not recording.mentions(i, thing)
            or len(action.ids("object")) > 1
        ):
            continue
        clip = context.clip(start_s, end_s)
        yield QuestionDraft(
            Category.ACTION_STATUS,
            "what",
            clip,
            start_s,
            (
                DraftTurn(
                    f"What do I do with {names.the(thing)} {between(clip, start_s, end_s)}?",
                    sentence("I " + context.act(i, thing)),
                    ActQuery(start_s, end_s, thing),
                    action.plain(),
                    context.evidence(i),
                    anchors=context.anchors(i),
                    family=f"act:{context.affords(thing)}",
                    key_points=(context.act(i, thing),),
                ),
            ),
            operations=(i,),
        )


def _which(context: RecipeContext, i: int) -> Iterator[QuestionDraft]:
    recording, names = context.recording, context.names
    action = recording.actions[i]
    things = action.ids("object")
    if len(things) != 1 or things[0] in HANDS or not names.sayable(things[0]) or not recording.mentions(i, things[0]):
        return
    start_s, end_s = context.window(i)
    clip = context.clip(start_s, end_s)
    verb = context.act(i, things[0], ("source", "target", "instrument", "content"))
    if "it" not in verb.split():
        return
    yield QuestionDraft(
        Category.ACTION_STATUS,
        "which",
        clip,
        start_s,
        (
            DraftTurn(
                f"There is something I handle {between(clip, start_s, end_s)}: I {verb}. What is it?",
                sentence(names.the(things[0])),
                ActQuery(start_s, end_s, None, "object"),
                [things[0]],
                context.evidence(i),
                anchors=context.anchors(i),
                family=f"thing:{recording.operations[i]['family']}",
                key_points=(names.base(things[0]),),
            ),
        ),
        operations=(i,),
    )


def _manner(context: RecipeContext, i: int) -> Iterator[QuestionDraft]:
    found = context.clause(i, "manner")
    if found is None:
        return
    narration, quote = found
    start_s, end_s = context.window(i)
    clip = context.clip(start_s, end_s)
    yield QuestionDraft(
        Category.ACTION_STATUS,
        "manner",
        clip,
        start_s,
        (
            DraftTurn(
                f"How do I {context.act(i)} {between(clip, start_s, end_s)}?",
                sentence("by " + quote),
                ClauseQuery(narration, "manner"),
                quote,
                (narration, *context.evidence(i)),
                key_points=(quote,),
            ),
        ),
        operations=(i,),
    )


def _heard(context: RecipeContext) -> Iterator[QuestionDraft]:
    """Ask what is done while a sound is heard: the sound alone gives the time, only the picture the answer."""
    recording = context.recording
    sounds = recording.annotations["sounds"]
    for row in sounds:
        start_s, end_s = row["span_s"]
        clip = context.clip(start_s, end_s)
        here = Counter(s["label"] for s in sounds if s["span_s"][0] < clip.end_s and s["span_s"][1] > clip.start_s)
        under_way = context.during(start_s, end_s)
        if here[row["label"]] != 1 or len(under_way) != 1 or under_way[0] not in context.alone:
            continue
        i = under_way[0]
        yield QuestionDraft(
            Category.ACTION_STATUS,
            "heard",
            clip,
            start_s,
            (
                DraftTurn(
                    f'A "{row["label"]}" sound is heard once in this clip. What am I doing while it is heard?',
                    sentence("I " + context.act(i)),
                    During(row["label"], clip.start_s, clip.end_s),
                    recording.actions[i].plain(),
                    (row["id"], *context.evidence(i)),
                    anchors=context.anchors(i),
                    family="act:named",
                    key_points=(context.act(i),),
                    observation=f"the sound, at {at(clip, start_s)}",
                ),
            ),
            streams=frozenset({"visual", "audio"}),
            operations=(i,),
        )
