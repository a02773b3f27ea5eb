"""Stages of an activity and what an earlier one hands on to a later one. Stage: qa, third.

A stage is a run of interactions under one recipe step, one preparation, or one activity; each interaction is in one of
them, so there are no overlaps to reconcile. Following each other, or sharing a thing, makes no relation: something
must be carried over without which the later action would be refused, a step must have been left and resumed, or a
preparation must name its step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from ego2world.qa.recipes.base import FAR_S, RecipeContext
from ego2world.qa.recipes.chain import links
from ego2world.qa.records import Interaction, Relation, Stage
from ego2world.world.state import HANDS


def episodes_of(context: RecipeContext, interactions: Sequence[Interaction]) -> tuple[Stage, ...]:
    """Return the stages of a recording, in order of time."""
    found = []
    labelled = [(_stage(context, one.span_s[0]), one) for one in interactions]
    for number, ((kind, label), members) in enumerate(groupby(labelled, key=lambda pair: pair[0]), 1):
        rows = [one for _, one in members]
        things = sorted({t for one in rows for t in _things(one)})
        later = any(pair[0] == (kind, label) and pair[1].span_s[0] > rows[-1].span_s[0] for pair in labelled)
        found.append(
            Stage(
                id=f"stage_{number:03d}",
                episode=context.recording.id,
                label=label,
                source=kind,
                span_s=(rows[0].span_s[0], max(one.span_s[1] for one in rows)),
                interactions=tuple(one.id for one in rows),
                entities=tuple(things),
                opening=_first(rows),
                result=_last(rows),
                failures=tuple(one.id for one in rows if one.progress == "failed"),
                unfinished=later and kind == "step",
            )
        )
    return tuple(found)


def _stage(context: RecipeContext, time_s: float) -> tuple[str, str]:
    tables = context.recording.annotations
    for table, kind in (("steps", "step"), ("preparations", "preparation")):
        here = {row["text"] for row in tables[table] if row["span_s"][0] <= time_s < row["span_s"][1]}
        if len(here) == 1:
            return kind, here.pop()
    for row in reversed(tables["activities"]):
        if row["span_s"][0] <= time_s and (row["span_s"][1] is None or time_s < row["span_s"][1]):
            return "activity", str(row["label"])
    return "none", ""


def _things(one: Interaction) -> Iterator[str]:
    for value in one.action.get("roles", {}).values():
        yield from [value] if isinstance(value, str) else value


def _first(rows: Sequence[Interaction]) -> tuple[object, ...]:
    found: dict[str, object] = {}
    for one in rows:
        for fact in one.pre_state:
            found.setdefault(str(fact[:-1]), fact)
    return tuple(found[key] for key in sorted(found))


def _last(rows: Sequence[Interaction]) -> tuple[object, ...]:
    found = {str(fact[:-1]): fact for one in rows for fact in one.post_state}
    return tuple(found[key] for key in sorted(found))


def relations_of(context: RecipeContext, stages: Sequence[Stage]) -> tuple[Relation, ...]:
    """Return the relations between stages (or within one), in order of the later event."""
    recording = context.recording
    stage_of = {one: stage.id for stage in stages for one in stage.interactions}

    def stage(i: int) -> str:
        return stage_of.get(f"int_{recording.operations[i]['id'].removeprefix('op_')}", "")

    found = []
    told = set(context.told)
    for j in context.told:
        for i, thing in links(context, j):
            if i not in told or thing in HANDS or recording.span(j)[0] - recording.span(i)[1] > FAR_S:
                continue
            first, second = recording.operations[i]["id"], recording.operations[j]["id"]
            tracked = bool(context.evidence(i)[1:] and context.evidence(j)[1:])
            sure = context.names.unique(thing) or tracked
            found.append(
                Relation(
                    id=f"link_{first}_{second}",
                    type="state_transfer",
                    source=stage(i),
                    target=stage(j),
                    events=(first, second),
                    carried=f"{context.names.base(thing)} as {recording.operations[i]['says']} left it",
                    identity_basis="track" if tracked else "name",
                    uncertainty="none" if sure else "unresolved",
                    eligible=sure,
                    reject_code=None if sure else "REL_UNRESOLVED",
                )
            )
    return (*found, *_steps(context))


def _steps(context: RecipeContext) -> Iterator[Relation]:
    steps = context.recording.annotations["steps"]
    for row in steps:
        later = next((one for one in steps if one["step"] == row["step"] and one["span_s"][0] > row["span_s"][1]), None)
        if later is not None:
            yield Relation(
                id=f"resumed_{row['id']}_{later['id']}",
                type="resumed_work",
                source=row["id"],
                target=later["id"],
                events=(row["id"], later["id"]),
                carried=row["text"],
                identity_basis="recipe step",
            )
    for row in context.recording.annotations["preparations"]:
        later = next(
            (one for one in steps if one["step"] == row["step"] and one["span_s"][0] >= row["span_s"][1]), None
        )
        if later is not None:
            yield Relation(
                id=f"prepared_{row['id']}_{later['id']}",
                type="preparation",
                source=row["id"],
                target=later["id"],
                events=(row["id"], later["id"]),
                carried=row["text"],
                identity_basis="recipe step",
            )
