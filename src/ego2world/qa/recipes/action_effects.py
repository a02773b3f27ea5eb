"""Action Effects: what an action changes, where the state afterwards is seen and not only predicted by the rule of the
action."""

from __future__ import annotations

from collections.abc import Iterator

from ego2world.qa.queries import ChangeQuery
from ego2world.qa.recipes.base import DraftTurn, QuestionDraft, RecipeContext, between, sentence
from ego2world.qa.taxonomy import Category
from ego2world.world.fluents import FactKey
from ego2world.world.state import HANDS

CONFIRM_S = 180.0


def draft(context: RecipeContext) -> Iterator[QuestionDraft]:
    """Yield questions on changes."""
    recording, names = context.recording, context.names
    for i in context.told:
        for key, before, after in recording.changed_by.get(i, ()):
            if (
                len(key) != 2
                or before is None
                or key[0] in {"at", "weighed"}
                or key[1] in HANDS
                or key[1] not in recording.world.entities
            ):
                continue
            thing = key[1]
            if not names.clear(thing) or not recording.mentions(i, thing):
                continue
            seen = confirmation(context, key, i)
            if seen is None:
                continue
            start_s, end_s = context.window(i)
            clip = context.clip(start_s, end_s)
            was, now = names.fact(key[0], before), names.fact(key[0], after)
            if was == now:
                continue  # from one cupboard to another: words that a viewer cannot tell apart
            turn = DraftTurn(
                f"What changes about {names.the(thing)} through what I do {between(clip, start_s, end_s)}?",
                sentence(f"it was {was} before and is now {now}"),
                ChangeQuery(recording.operations[i]["id"], key[0], thing),
                [list(v) if isinstance(v, tuple) else v for v in (before, after)],
                (*context.evidence(i), *seen),
                anchors=context.anchors(i),
                family=f"change:{key[0]}",
                key_points=(f"is now {now}", f"was {was} before"),
            )
            yield QuestionDraft(Category.ACTION_EFFECTS, key[0], clip, start_s, (turn,), operations=(i,))


def confirmation(context: RecipeContext, key: FactKey, i: int) -> tuple[str, ...] | None:
    """Return what shows a change beside the action itself: a track that ends with it, or a later narrated action that
    needs it.

    A later action needs a fact when it is the one that ends it (an open door that is closed, a cup taken from where it
    was put).
    """
    recording = context.recording
    tracks = context.evidence(i)[1:]
    if key[0] == "place" and tracks:
        return tracks
    until_s, j = recording.lasts(key, i)
    if j < len(recording.operations) and recording.told(j) and until_s - recording.span(i)[1] <= CONFIRM_S:
        return context.evidence(j)
    return None
