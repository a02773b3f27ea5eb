"""What a model is told: the files of prompts/, filled in. Texts from data become one line each and cannot leave their
place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

from ego2world.agents.base import Context, Decoding
from ego2world.agents.replies import ROLES
from ego2world.core.canonical import sha256
from ego2world.core.models import Image, Message, Request, Text, user
from ego2world.world.actions import ACTIONS, FAMILIES
from ego2world.world.observation import Hint, Local, Proposal, Seen

PROMPTS = ("plan_system.txt.j2", "plan_user.txt.j2", "look_system.txt", "look_user.txt.j2")
MAX_FEEDBACK = 6  # entries of recent feedback that a prompt repeats
_ROLE = {"type": "string"}
PLAN_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "actions": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "action": {"type": "string", "enum": [*FAMILIES, "look"]},
                    "object": {"type": "array", "items": {"type": "string"}},
                    "source": _ROLE,
                    "target": _ROLE,
                    "instrument": _ROLE,
                    "content": _ROLE,
                    "hand": _ROLE,
                },
                "required": ["action", "object", "source", "target", "instrument", "content", "hand"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["actions"],
    "additionalProperties": False,
}
LOOK_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "things": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"id": _ROLE, "where": _ROLE, "how": {"type": "string", "enum": ["in", "on"]}},
                "required": ["id", "where", "how"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["things"],
    "additionalProperties": False,
}


def _read(name: str) -> str:
    return (files("ego2world.agents") / "prompts" / name).read_text("utf-8")


_templates = Environment(
    loader=FunctionLoader(_read), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
)


def prompt_hashes() -> dict[str, str]:
    """Return the SHA-256 of every prompt file; a run records them."""
    return {name: sha256(_read(name).encode()) for name in PROMPTS}


@lru_cache(maxsize=65536)
def one_line(text: str) -> str:
    """Return a text from data as one line without the markers that bound the data."""
    return re.sub(r"<<<|>>>", "", " ".join("".join(c if c.isprintable() else " " for c in text).split()))


def plan_request(context: Context, feedback: Sequence[str], sampling: Decoding) -> Request:
    """Return the request for the next plan of a group."""
    text = _templates.get_template("plan_user.txt.j2").render(plan_facts(context, feedback))
    return _request((_system(), user(text)), PLAN_SCHEMA, "plan", sampling)


def look_request(
    seeking: str, things: Iterable[Hint], fixtures: Iterable[Seen], image: Image, sampling: Decoding
) -> Request:
    """Return the request that asks what a picture of a region shows."""
    text = _templates.get_template("look_user.txt.j2").render(
        seeking=one_line(seeking), things=[_thing(t) for t in things], fixtures=[_thing(f) for f in fixtures]
    )
    turns = (Message("system", (Text(_read("look_system.txt")),)), user(text, image))
    return _request(turns, LOOK_SCHEMA, "things", sampling)


def _request(turns: tuple[Message, ...], schema: Mapping[str, Any], name: str, sampling: Decoding) -> Request:
    return Request(turns, schema, name, sampling.temperature, sampling.seed, sampling.max_tokens)


def plan_facts(context: Context, feedback: Sequence[str]) -> dict[str, Any]:
    """Return what the plan prompt is filled with."""
    brief, local, belief = context.brief, context.local, context.belief
    by_zone: dict[str, list[str]] = {}
    for fixture, zone in brief.fixtures:
        by_zone.setdefault(zone, []).append(f"{fixture.id} ({one_line(fixture.name)})")
    return {
        "instruction": one_line(brief.instruction),
        "things": [_thing(hint) for hint in brief.hints],
        "zone": local.zone,
        "zone_name": one_line(local.zone_name),
        "fixtures": ", ".join(map(_shown, local.fixtures)) or "nothing",
        "elsewhere": [
            {"id": zone, "name": one_line(name), "fixtures": ", ".join(by_zone.get(zone, ["nothing"]))}
            for zone, name in brief.zones
            if zone != local.zone
        ],
        "holding": (
            ", ".join(
                [f"{thing.id} in {hand}" for hand, thing in local.holding]
                + [f"{t.id} {' '.join(t.place)}" for t in local.carried if t.place]
            )
            or "nothing"
        ),
        "changed": "; ".join(_changes(local)) or "nothing",
        "believed": (
            [
                f"{thing}: {' '.join(e.value) if isinstance(e.value, tuple) else e.value} ({e.source},"
                f" {belief.step - e.step} steps ago)"
                for (fluent, thing), e in sorted(belief.entries.items(), key=lambda item: (item[0][1], item[0][0]))
                if fluent == "place" or e.source == "did"
            ]
            or ["nothing"]
        ),
        "feedback": list(feedback[-MAX_FEEDBACK:]) or ["none yet"],
        "attempts_left": context.attempts_left,
    }


def feedback_line(context: Context) -> str:
    """Return the last feedback as one line."""
    feedback = context.feedback
    assert feedback is not None
    said = call_text(feedback.proposal)
    if feedback.accepted:
        return f"{said}: done"
    failed = "; ".join(f"{f.code}: needs {f.needed}" for f in feedback.failures)
    repair = f"; try first: {', '.join(map(call_text, feedback.repair))}" if feedback.repair else ""
    return one_line(f"{said}: refused ({failed}){repair}")


def call_text(proposal: Proposal) -> str:
    """Return a proposal in words, such as "put_on(object=mug_1, target=counter_1)"."""
    inner = ", ".join(
        f"{role}={value if isinstance(value, str) else '+'.join(value)}" for role, value in proposal.roles.items()
    )
    return one_line(f"{proposal.action}({inner})")


def _thing(thing: Hint | Seen) -> dict[str, str]:
    return {"id": thing.id, "name": one_line(thing.name), "type": thing.type}


def _shown(fixture: Seen) -> str:
    states = ", ".join(s for s in (fixture.openness, fixture.power) if s)
    return f"{fixture.id} ({one_line(fixture.name)}{', ' + states if states else ''})"


def _changes(local: Local) -> list[str]:
    lines = []
    for change in local.delta:
        if change.now is None:
            lines.append(f"{change.id} is no longer there")
        else:
            lines.append(f"{change.id} {' '.join(change.now) if isinstance(change.now, tuple) else change.now}")
    return lines


@cache
def action_lines() -> tuple[str, ...]:
    """Return every action family with the roles that it needs and, in brackets, those that some of its types use."""
    lines = ["navigate: target", "look: object"]
    for family in FAMILIES:
        kinds = [a for a in ACTIONS if a.family == family]
        needed = set.intersection(*({v.role for v in a.roles[: a.declared] if not v.optional} for a in kinds))
        used = {v.role for a in kinds for v in a.roles[: a.declared]} - needed
        order = [role for role in ROLES if role in needed - {"hand"}] + [f"[{role}]" for role in ROLES if role in used]
        if family != "navigate":
            lines.append(f"{family}: {', '.join(order)}")
    return tuple(lines)


@cache
def _system() -> Message:
    return Message("system", (Text(_templates.get_template("plan_system.txt.j2").render(actions=action_lines())),))
