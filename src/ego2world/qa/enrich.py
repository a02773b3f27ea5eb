"""What a model adds to interactions, stages and relations, checked before it is kept. Stage: qa, first to third, with
a model.

Rules come first; a model only fills what they left empty. A quote must stand in the event's own narration, a stage
must hold events in order and once, a relation must hold when the world is executed. What does not is left out, or kept
as ineligible with its code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from ego2world.core.models import ModelClient
from ego2world.qa.clauses import fresh
from ego2world.qa.propose import TEXT, ask, listed, windows
from ego2world.qa.queries import Linked
from ego2world.qa.recipes.base import RecipeContext
from ego2world.qa.records import Interaction, Relation, Stage
from ego2world.qa.replay import EpisodeReplayer

FIELDS = ("trigger", "intention", "feedback")
INTERACTIONS = listed("interactions", {"event": TEXT, **{name: TEXT for name in FIELDS}})
STAGES = listed("stages", {"first": TEXT, "last": TEXT, "label": TEXT})
RELATIONS = listed(
    "relations",
    {
        "source": TEXT,
        "target": TEXT,
        "type": {
            "type": "string",
            "enum": ["state_transfer", "resumed_work", "instruction_following", "failure_correction", "continued_goal"],
        },
        "carried": TEXT,
    },
)


class _Meant(msgspec.Struct):
    event: str
    trigger: str = ""
    intention: str = ""
    feedback: str = ""


class _Stage(msgspec.Struct):
    first: str
    last: str
    label: str


class _Link(msgspec.Struct):
    source: str
    target: str
    type: str = "state_transfer"
    carried: str = ""


def _rows(
    kind: str, schema: dict[str, Any], context: RecipeContext, client: ModelClient, shape: type[Any]
) -> Iterator[Any]:
    for text, start_s in windows(context):
        for row in ask(kind, schema, text, f"{context.recording.id}/{kind}/{start_s:.0f}", client):
            try:
                yield msgspec.convert(row, shape)
            except msgspec.ValidationError:
                continue


def meant(context: RecipeContext, interactions: Sequence[Interaction], client: ModelClient) -> list[Interaction]:
    """Return the interactions with the triggers, intentions and feedback that a model found in their narrations.

    Raises:
        ModelError: the service gave no reply.
    """
    found: dict[str, dict[str, str]] = {}
    recording = context.recording
    for row in _rows("interactions", INTERACTIONS, context, client, _Meant):
        i = recording.index.get(row.event)
        if i is None:
            continue
        text = recording.text(i)
        for name in FIELDS:
            quote = " ".join(getattr(row, name).split())
            said = len(quote.split()) >= 2 and quote.lower() in text.lower()
            if said and (name != "intention" or fresh(quote, context.act(i))):
                found.setdefault(row.event, {})[name] = quote
    out = []
    for one in interactions:
        new = {name: quote for name, quote in found.get(one.operation or "", {}).items() if getattr(one, name) is None}
        out.append(replace(one, **new, by_model=tuple(sorted(new))) if new else one)
    return out


def divided(
    context: RecipeContext, stages: Sequence[Stage], interactions: Sequence[Interaction], client: ModelClient
) -> list[Stage]:
    """Return the stages with those of a model in the place of stages that no step, preparation or activity names.

    Raises:
        ModelError: the service gave no reply.
    """
    order = {one.operation: n for n, one in enumerate(interactions) if one.operation}
    nameless = {one for stage in stages if stage.source == "none" for one in stage.interactions}
    made: list[Stage] = []
    used: set[str] = set()
    for row in _rows("stages", STAGES, context, client, _Stage):
        first, last = order.get(row.first), order.get(row.last)
        if first is None or last is None or last < first or not row.label.strip():
            continue
        members = interactions[first : last + 1]
        ids = [one.id for one in members]
        if not set(ids) <= nameless or used & set(ids):
            continue
        used |= set(ids)
        made.append(
            Stage(
                id=f"stage_m{len(made) + 1:03d}",
                episode=context.recording.id,
                label=row.label.strip()[:200],
                source="model",
                span_s=(members[0].span_s[0], max(one.span_s[1] for one in members)),
                interactions=tuple(ids),
                entities=(),
            )
        )
    span_of = {one.id: one.span_s for one in interactions}
    kept = []
    for stage in stages:
        left = tuple(one for one in stage.interactions if one not in used)
        if left:
            span_s = (min(span_of[one][0] for one in left), max(span_of[one][1] for one in left))
            kept.append(
                stage if len(left) == len(stage.interactions) else replace(stage, interactions=left, span_s=span_s)
            )
    return sorted([*kept, *made], key=lambda stage: (stage.span_s, stage.id))


def related(
    context: RecipeContext,
    replayer: EpisodeReplayer,
    relations: Sequence[Relation],
    stages: Sequence[Stage],
    client: ModelClient,
) -> list[Relation]:
    """Return the relations with those that a model proposes: eligible where the later event is refused without the
    earlier one.

    Raises:
        ModelError: the service gave no reply.
    """
    known = {one.events for one in relations}
    index = context.recording.index
    stage_of = {one: stage.id for stage in stages for one in stage.interactions}
    out = list(relations)
    for row in _rows("relations", RELATIONS, context, client, _Link):
        events = (row.source, row.target)
        if events in known or not all(one in index for one in events) or index[row.source] >= index[row.target]:
            continue
        known.add(events)
        holds = replayer.answer(Linked(*events)) is not None
        shared = set(context.recording.actions[index[row.source]].things) & set(
            context.recording.actions[index[row.target]].things
        )
        places = [stage_of.get(f"int_{one.removeprefix('op_')}", "") for one in events]
        out.append(
            Relation(
                id=f"link_{row.source}_{row.target}",
                type=row.type,
                source=places[0],
                target=places[1],
                events=events,
                carried=row.carried.strip()[:300],
                identity_basis="model",
                uncertainty="some" if holds else "unresolved",
                eligible=holds,
                reject_code=None if holds else "REL_SHARED_OBJECT_ONLY" if shared else "REL_ADJACENCY_ONLY",
            )
        )
    return out
