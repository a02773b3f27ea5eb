"""Questions that a model proposes from the same observations, under a schema; the same validators decide. Stage: qa,
questions.

The prompts are this project's own, after the paper's appendix H. What a model says is only ever a proposal: its
events, narrations and quotes must exist, its relations must hold when executed, and a further call that sees neither
its reasons nor its repairs must keep the result. Unreadable replies and refused proposals are records with their
reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import msgspec
from msgspec.structs import replace

from ego2world.core.models import Message, ModelClient, Request, Text, json_object
from ego2world.core.prompting import prompt, prompts_sha256
from ego2world.qa.checks.case import finding
from ego2world.qa.choose import named, with_id
from ego2world.qa.queries import SaidQuery
from ego2world.qa.recipes.base import RecipeContext
from ego2world.qa.records import Clip, Finding, QuestionGroup, Spec, Turn
from ego2world.qa.taxonomy import LEVELS, Category, modality_of

HERE = "ego2world.qa"
PROMPTS = (
    "observations.txt.j2",
    "interactions_system.txt",
    "stages_system.txt",
    "relations_system.txt",
    "questions_system.txt",
    "dialogues_system.txt",
    "validate_system.txt",
    "validate_user.txt.j2",
)
WINDOW_S = 60.0
MAX_TOKENS = 4096
TEXT = {"type": "string"}
ASKED = tuple(
    c for c in Category if LEVELS[c].value in ("Node", "Edge") and c is not Category.GOAL_PLANNING
)  # no plan from what is known after


class Proposed(msgspec.Struct):
    """One turn as a model proposes it."""

    question: str
    answer: str
    event: str
    narration: str
    quote: str
    category: str = ""
    key_points: list[str] = []
    standalone: str = ""


class Dialogue(msgspec.Struct):
    """A dialogue as a model proposes it."""

    turns: list[Proposed]
    bridging_fact: str = ""
    lost_without_earlier: str = ""


def listed(name: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with one list of objects, all of whose fields are given."""
    items = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    return {
        "type": "object",
        "properties": {name: {"type": "array", "items": items}},
        "required": [name],
        "additionalProperties": False,
    }


_TURN = {name: TEXT for name in ("question", "answer", "event", "narration", "quote")}
SCHEMAS = {
    "questions": listed(
        "questions",
        {
            **_TURN,
            "category": {"type": "string", "enum": [c.value for c in ASKED]},
            "key_points": {"type": "array", "items": TEXT},
        },
    ),
    "dialogues": listed(
        "dialogues",
        {
            "turns": listed("turns", {**_TURN, "standalone": TEXT})["properties"]["turns"],
            "bridging_fact": TEXT,
            "lost_without_earlier": TEXT,
        },
    ),
}


VALIDATION: dict[str, Any] = {
    "type": "object",
    "properties": {"keep": {"type": "boolean"}, "reason": TEXT},
    "required": ["keep", "reason"],
    "additionalProperties": False,
}


def identity(client: ModelClient) -> dict[str, str]:
    """Return who proposes, for provenance."""
    return {"model": client.name, "prompts_sha256": prompts_sha256(HERE, PROMPTS)}


def observations(context: RecipeContext, start_s: float, end_s: float) -> str:
    """Return the events of a window as a model reads them."""
    recording = context.recording
    rows = []
    for i in context.told:
        first_s, last_s = recording.span(i)
        if first_s < end_s and last_s >= start_s:
            narration = recording.operations[i]["narration_ids"][0]
            changed = "; ".join(
                f"{key[0]} of {context.names.base(key[1])}: {context.names.fact(key[0], new)}"
                for key, _, new in recording.changed_by.get(i, ())
                if len(key) == 2
            )
            heard = "; ".join(
                s["label"]
                for s in recording.annotations["sounds"]
                if s["span_s"][0] < last_s and s["span_s"][1] > first_s
            )
            rows.append(
                {
                    "event": recording.operations[i]["id"],
                    "start": f"{first_s:.1f}",
                    "end": f"{last_s:.1f}",
                    "narration": narration,
                    "text": recording.narrations[narration]["text"],
                    "changes": changed,
                    "sounds": heard,
                }
            )
    return prompt(HERE, "observations.txt.j2", rows=rows) if rows else ""


def propose(context: RecipeContext, client: ModelClient) -> list[QuestionGroup]:
    """Return what a model proposes for an episode, window by window, as candidates; replies that cannot be read become
    rejected ones.

    Raises:
        ModelError: the service gave no reply.
    """
    found: dict[str, QuestionGroup] = {}
    for text, start_s in windows(context):
        for kind, schema in SCHEMAS.items():
            for row in ask(kind, schema, text, f"{context.recording.id}/{kind}/{start_s:.0f}", client):
                group = _read(kind, row, context, client.name)
                if group is not None:
                    found.setdefault(group.id, group)
    return list(found.values())


def windows(context: RecipeContext) -> Iterator[tuple[str, float]]:
    """Yield the observations of each window that has any, with its start in seconds."""
    start_s = 0.0
    while start_s < context.recording.end_s:
        text = observations(context, start_s, start_s + WINDOW_S)
        if text:
            yield text, start_s
        start_s += WINDOW_S


def ask(kind: str, schema: dict[str, Any], text: str, tag: str, client: ModelClient) -> list[Any]:
    """Return the rows that a model gives to observations, none where its reply cannot be read."""
    request = Request(
        (Message("system", (Text(prompt(HERE, f"{kind}_system.txt")),)), Message("user", (Text(text),))),
        schema=schema,
        schema_name=kind,
        max_tokens=MAX_TOKENS,
        tag=tag,
    )
    data = json_object(client.generate(request).text)
    rows = data.get(kind) if data is not None else None
    return rows if isinstance(rows, list) else []


def _read(kind: str, row: Any, context: RecipeContext, model: str) -> QuestionGroup | None:
    """Return a proposal as a candidate, None where there is no question in it that could be shown to anybody."""
    try:
        if kind == "questions":
            proposed = msgspec.convert(row, Proposed)
            return _group(context, model, proposed.category, [proposed])
        dialogue = msgspec.convert(row, Dialogue)
        return _group(context, model, Category.CHAIN.value, dialogue.turns, dialogue)
    except (msgspec.ValidationError, ValueError):
        return None


def _group(
    context: RecipeContext, model: str, category: str, proposed: Sequence[Proposed], dialogue: Dialogue | None = None
) -> QuestionGroup:
    """Return a candidate; everything about it that does not exist stays in it, for the validators to name."""
    recording = context.recording
    if category not in set(Category) or not proposed or not all(one.question.strip() for one in proposed):
        raise ValueError("no category, or no question")
    spans = [recording.span(recording.index[one.event]) for one in proposed if one.event in recording.index] or [
        (0.0, WINDOW_S)
    ]
    clip: Clip = context.clip(min(a for a, _ in spans), max(b for _, b in spans))
    turns: list[Turn] = []
    for number, one in enumerate(proposed):
        evidence = (one.narration, one.event)
        earlier = tuple(name for turn in turns for name in turn.spec.evidence)
        spec = Spec(
            id="",
            query=SaidQuery(one.narration, one.quote),
            value=one.quote,
            direct=evidence if number == 0 else (),
            inherited=earlier if number else (),
            new=evidence if number else (),
            span_s=(clip.start_s, clip.end_s),
            modality="visual",
        )
        turns.append(
            Turn(
                question=one.question.strip(),
                answer=one.answer.strip(),
                spec=with_id(spec),
                key_points=tuple(p for p in one.key_points if p.strip()) or (one.answer.strip().rstrip("."),),
                depends_on=(number - 1,) if number else (),
                standalone=one.standalone.strip() if len(proposed) > 1 else "",
                new_observation=one.quote if number else "",
            )
        )
    events = [one.event for one in proposed]
    links = tuple(pairwise(events)) if dialogue is not None else ()
    group = QuestionGroup(
        id="",
        episode=recording.id,
        level=LEVELS[Category(category)].value,
        category=category,
        subtype="proposed",
        format="open",
        clip=clip,
        turns=tuple(turns),
        modality=modality_of(frozenset({"visual"})).value,
        producer=f"model:{model}",
        template=f"{category}/proposed",
        bridging_fact=dialogue.bridging_fact if dialogue else "",
        lost_without_earlier=dialogue.lost_without_earlier if dialogue else "",
        links=links,
    )
    return named(group)


def validated(group: QuestionGroup, text: str, client: ModelClient) -> list[Finding]:
    """MODEL_REJECTS: ask whether a group that passed every check is supported by the observations; what cannot be read
    is for review."""
    turns = [{"question": t.question, "answer": t.answer, "standalone": t.standalone} for t in group.turns]
    asked = prompt(
        HERE, "validate_user.txt.j2", observations="", category=group.category, modality=group.modality, turns=turns
    )
    request = Request(
        (Message("system", (Text(prompt(HERE, "validate_system.txt")),)), Message("user", (Text(f"{text}\n{asked}"),))),
        schema=VALIDATION,
        schema_name="validate",
        max_tokens=400,
        tag=f"{group.id}/validate",
    )
    data = json_object(client.generate(request).text)
    if data is None or not isinstance(data.get("keep"), bool):
        return [
            replace(finding("MODEL_REJECTS", "", "the validating call gave no readable verdict"), severity="review")
        ]
    return [] if data["keep"] else [finding("MODEL_REJECTS", "", str(data.get("reason", ""))[:300])]


def mock_proposal(request: Request) -> str:
    """Propose without a model, from the lines of the observations: for trying things out. Keeps everything when asked
    to validate."""
    if request.schema_name == "validate":
        return '{"keep": true, "reason": "as narrated"}'
    if request.schema_name != "questions":
        return json.dumps({request.schema_name: []})
    questions = []
    for line in request.messages[-1].text.splitlines():
        parts = [part.strip() for part in line.split(" | ")]
        because = (
            re.search(r"\b(?:in order to|so that|because) (.{8,80}?)(?:[.,]|$)", parts[3]) if len(parts) >= 4 else None
        )
        if because:
            category = "Intent Formation" if "because" in because[0] else "Intent Attribution"
            questions.append(
                {
                    "question": "What does the narration give as the reason for what I do here?",
                    "answer": because[1].capitalize() + ".",
                    "event": parts[0],
                    "narration": parts[2],
                    "quote": because[1],
                    "category": category,
                    "key_points": [because[1]],
                }
            )
    return json.dumps({"questions": questions})
