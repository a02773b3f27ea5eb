"""Local interactions: each narrated action with the state before, its purpose, outcome and feedback. Stage: qa, first.

What no source says stays empty. Tries that are not said to have succeeded are kept as failed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ego2world.compiler.reason import Why
from ego2world.qa.clauses import clause_of
from ego2world.qa.recipes.base import RecipeContext
from ego2world.qa.records import Interaction
from ego2world.world.explain import need_text
from ego2world.world.state import fact_row
from ego2world.world.step import GroundAction, ground_action


def interactions_of(context: RecipeContext, notes: Sequence[dict[str, Any]] = ()) -> tuple[Interaction, ...]:
    """Return the interactions of a recording, in order of time; ``notes`` are the compiler's, for what was tried and
    not done."""
    done = [_done(context, i) for i in context.told]
    done += [one for note in notes if (one := _tried(context, note)) is not None]
    return tuple(sorted(done, key=lambda one: (one.span_s, one.id)))


def _done(context: RecipeContext, i: int) -> Interaction:
    recording = context.recording
    row, action = recording.operations[i], recording.actions[i]
    before, after = recording.states[i], recording.states[i + 1]
    keys = [key for key, _, _ in recording.changed_by.get(i, ())]
    clauses: dict[str, str | None] = dict.fromkeys(("purpose", "reason", "manner", "percept"))
    for narration in row["narration_ids"]:
        if recording.of_narration[narration][0] == i:
            for relation in clauses:
                clauses[relation] = clauses[relation] or clause_of(recording.narrations[narration]["text"], relation)
    ground = ground_action(recording.world, action)
    start_s, end_s = recording.span(i)
    sounds = [s for s in recording.annotations["sounds"] if s["span_s"][0] < end_s and s["span_s"][1] > start_s]
    step = next((s for s in recording.annotations["steps"] if s["span_s"][0] <= start_s < s["span_s"][1]), None)
    return Interaction(
        id=f"int_{row['id'].removeprefix('op_')}",
        episode=recording.id,
        span_s=(start_s, end_s),
        operation=row["id"],
        narrations=tuple(row["narration_ids"]),
        action=action.plain() | {"family": row["family"], "says": row["says"]},
        progress="completed",
        pre_state=tuple(fact_row(key, before.facts[key]) if key in before.facts else [*key, "unknown"] for key in keys),
        delta=tuple(row["effects"]),
        post_state=tuple(fact_row(key, after.facts[key]) for key in keys),
        preconditions=(
            tuple(need_text(*need) for need in ground.preconditions()) if isinstance(ground, GroundAction) else ()
        ),
        trigger=clauses["reason"],
        intention=clauses["purpose"],
        subgoal=step["text"] if step else None,
        manner=clauses["manner"],
        feedback=clauses["percept"],
        attention=row["says"] if row["family"] == "check" else None,
        sounds=tuple(s["id"] for s in sounds),
        tracks=context.evidence(i)[1:],
    )


def _tried(context: RecipeContext, note: dict[str, Any]) -> Interaction | None:
    narration = next((one for one in note.get("evidence", ()) if one in context.recording.narrations), None)
    if narration is None or note["why"] != Why.ONLY_TRIED:
        return None
    row = context.recording.narrations[narration]
    return Interaction(
        id=f"int_{note['id']}",
        episode=context.recording.id,
        span_s=(row["span_s"][0], row["span_s"][1]),
        operation=None,
        narrations=(narration,),
        action={"says": row["text"]},
        progress="failed",
    )
