"""Loop: a goal, an action for it, its outcome, feedback that is perceived, and an adjustment of the same thing. All
five, or none."""

from __future__ import annotations

from collections.abc import Iterator

from ego2world.qa.clauses import clause_of
from ego2world.qa.queries import ActQuery, Adjustment
from ego2world.qa.recipes.base import DraftTurn, QuestionDraft, RecipeContext, between, sentence
from ego2world.qa.taxonomy import Category
from ego2world.world.state import HANDS

LOOP_S = 90.0


def draft(context: RecipeContext) -> Iterator[QuestionDraft]:
    """Yield loops: act on a fluent of a thing, look at the same thing, change the same fluent again, under one stated
    goal."""
    recording, names = context.recording, context.names
    checks = [
        i
        for i in context.told
        if recording.operations[i]["family"] in {"check", "weigh"} and not recording.changed_by.get(i)
    ]
    for check in checks:
        for thing in recording.actions[check].ids("object")[:1]:
            if thing in HANDS or not names.clear(thing):
                continue
            keys = [key for key in recording.changes if len(key) == 2 and key[1] == thing and key[0] != "place"]
            for key in keys:
                before = [i for i, _, _ in recording.changes[key] if i < check and recording.told(i)]
                after = [i for i, _, _ in recording.changes[key] if i > check and recording.told(i)]
                if not before or not after:
                    continue
                act, adjust = before[-1], after[0]
                goal = _goal(context, act, adjust)
                if goal is None or recording.span(adjust)[1] - recording.span(act)[0] > LOOP_S:
                    continue
                yield _loop(context, thing, (act, check, adjust), goal)


def _goal(context: RecipeContext, act: int, adjust: int) -> str | None:
    """Return the goal that a narration of the action states, or the recipe step that both actions are in."""
    recording = context.recording
    for narration in recording.operations[act]["narration_ids"]:
        quote = clause_of(recording.narrations[narration]["text"], "purpose")
        if quote:
            return quote
    for row in recording.annotations["steps"]:
        if row["span_s"][0] <= recording.span(act)[0] and recording.span(adjust)[1] <= row["span_s"][1]:
            return str(row["text"])
    return None


def _loop(context: RecipeContext, thing: str, roles: tuple[int, int, int], goal: str) -> QuestionDraft:
    recording, names = context.recording, context.names
    act, check, adjust = roles
    ids = [recording.operations[i]["id"] for i in roles]
    spans = [context.window(i) for i in roles]
    clip = context.clip(spans[0][0], spans[2][1])
    turns = (
        DraftTurn(
            f"What do I do with {names.the(thing)} {between(clip, *spans[0])}?",
            sentence("I " + context.act(act, thing)),
            ActQuery(*spans[0], thing),
            recording.actions[act].plain(),
            context.evidence(act),
            anchors=context.anchors(act),
            key_points=(context.act(act, thing),),
            standalone=f"What do I do with {names.the(thing)} {between(clip, *spans[0])}?",
        ),
        DraftTurn(
            f"And how do I perceive the outcome {between(clip, *spans[1])}?",
            sentence("I " + context.act(check, thing)),
            ActQuery(*spans[1], thing),
            recording.actions[check].plain(),
            inherited=context.evidence(act),
            new=context.evidence(check),
            anchors=context.anchors(check),
            key_points=(context.act(check, thing),),
            standalone=f"What do I do with {names.the(thing)} {between(clip, *spans[1])}?",
            depends_on=(0,),
            observation="the look at the outcome",
        ),
        DraftTurn(
            "After that feedback, how do I adjust what I had done?",
            sentence("I " + context.act(adjust, thing)),
            Adjustment(*ids),
            recording.actions[adjust].plain(),
            inherited=context.evidence(act, check),
            new=context.evidence(adjust),
            anchors=context.anchors(adjust),
            key_points=(context.act(adjust, thing),),
            standalone=f"After looking at {names.the(thing)}, how do I adjust it?",
            depends_on=(0, 1),
            observation="the adjustment",
        ),
    )
    outcome = ", ".join(f"{key[0]} {after}" for key, _, after in recording.changed_by[act])
    return QuestionDraft(
        Category.LOOP,
        "adjusted",
        clip,
        spans[2][0],
        turns,
        bridging_fact=f"{names.the(thing)} as the first action left it",
        lost_without_earlier="what was done and how it was seen",
        loop_roles={"goal": goal, "action": ids[0], "outcome": outcome, "feedback": ids[1], "adjustment": ids[2]},
        operations=roles,
    )
