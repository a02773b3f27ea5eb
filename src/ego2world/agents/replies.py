"""Model replies to plans: structure is normalised and every repair is named; what the planner meant is never mended.

The wanted form is {"actions": [{"action": NAME, "object": [ID, ...], "target": ID, ...}]}. Also understood, each with
its repair named: a bare list or a single action, "args" in the declared order, "arguments" or "roles" as an object,
and lines "Action: open(fridge_1)". Wordings of one and the same action ("put cup_1 into sink_1") go through the
published table ALIASES, and their use is counted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ego2world.world.actions import BY_NAME, BY_SENSE, FAMILIES
from ego2world.world.observation import Proposal

ROLES = ("object", "source", "target", "instrument", "content", "hand")
# Wordings that stand for one action: how a sentence begins, and the word that brings its second argument ("": there is
# none).
# "put_in_or_on" is put_in where the target takes things in, else put_on.
_PUT = {
    "in/on": "put_in_or_on",
    "into": "put_in",
    "inside": "put_in",
    "in": "put_in",
    "onto": "put_on",
    "on": "put_on",
    "to": "put_in_or_on",
    "at": "put_in_or_on",
    "": "put_in_or_on",
}
_TAKE = {"from": "pick_up", "out of": "pick_up", "": "pick_up"}
_THROW = {"into": "throw_away", "in": "throw_away", "": "throw_away"}
ALIASES: dict[str, dict[str, str]] = {
    "put": _PUT,
    "place": _PUT,
    "move": _PUT,
    "put down": _PUT,
    "take": _TAKE,
    "grab": _TAKE,
    "get": _TAKE,
    "pick up": _TAKE,
    "pickup": _TAKE,
    "go to": {"": "navigate"},
    "goto": {"": "navigate"},
    "walk to": {"": "navigate"},
    "go": {"": "navigate"},
    "switch on": {"": "turn_on"},
    "toggle on": {"": "turn_on"},
    "turn on": {"": "turn_on"},
    "switch off": {"": "turn_off"},
    "toggle off": {"": "turn_off"},
    "turn off": {"": "turn_off"},
    "throw away": _THROW,
    "discard": _THROW,
    "slice": {"with": "cut", "": "cut"},
    "look": {"for": "look", "at": "look", "": "look"},
    "look for": {"": "look"},
    "examine": {"": "look"},
}
_SECOND_ROLE = {"throw_away": "target", "pick_up": "source", "cut": "instrument"}
_STRUCTURE = frozenset(
    {"actions", "action", "name", "tool", "function", "args", "arguments", "roles", "parameters", *ROLES}
)
_KNOWN = frozenset({*FAMILIES, *BY_NAME, *BY_SENSE, "look", "put_in_or_on"})


class ParseStatus(StrEnum):
    """How a reply was read."""

    PLAIN = "plain"  # JSON and nothing else
    FENCED = "fenced"  # JSON in a code fence
    EMBEDDED = "embedded"  # JSON among words
    LINES = "lines"  # "Action: ..." lines
    NO_ANSWER = "no_answer"  # nothing after the reasoning
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class ParsedPlan:
    """A reply as read: the actions in order, the status, what was done to the text, what was left out of it."""

    status: ParseStatus
    actions: tuple[Proposal, ...] = ()
    repairs: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    extras: Mapping[str, Any] = field(default_factory=dict)

    @property
    def readable(self) -> bool:
        """Whether there is a plan, an empty one included."""
        return self.status not in {ParseStatus.NO_ANSWER, ParseStatus.UNREADABLE}


@dataclass
class _Notes:
    repairs: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    aliases: list[str] = field(default_factory=list)


def read_plan(reply: str) -> ParsedPlan:
    """Read a reply as a plan; see the module's docstring."""
    notes = _Notes()
    text = strip_reasoning(reply)
    if text != reply:
        notes.repairs.append("reasoning_removed")
    if not text.strip():
        return ParsedPlan(ParseStatus.NO_ANSWER, repairs=tuple(notes.repairs))
    for status, value in _json_values(text, notes):
        found = _actions(value, notes)
        if found is not None:
            extras = {k: v for k, v in value.items() if k not in _STRUCTURE} if isinstance(value, dict) else {}
            return _plan(status, found, notes, extras)
    line = _action_line(text, notes)
    if line is not None:
        return _plan(ParseStatus.LINES, [line], notes, {})
    return ParsedPlan(ParseStatus.UNREADABLE, repairs=tuple(notes.repairs))


def read_json(reply: str) -> Any:
    """Return the first JSON value of a reply, its reasoning left aside; None where there is none."""
    return next((value for _, value in _json_values(strip_reasoning(reply), _Notes())), None)


def _plan(status: ParseStatus, actions: Sequence[Proposal], notes: _Notes, extras: Mapping[str, Any]) -> ParsedPlan:
    return ParsedPlan(
        status, tuple(actions), tuple(dict.fromkeys(notes.repairs)), tuple(notes.dropped), tuple(notes.aliases), extras
    )


def strip_reasoning(text: str) -> str:
    """Return a reply without its thinking: whole blocks, and everything before a closing tag that was never opened."""
    text = re.sub(r"<(think|thinking|reasoning)>.*?</\1>", "", text, flags=re.S | re.I)
    text = re.split(r"</(?:think|thinking|reasoning)>", text, flags=re.I)[-1]
    return re.split(r"<(?:think|thinking|reasoning)>", text, maxsplit=1, flags=re.I)[0]


def _json_values(text: str, notes: _Notes) -> Iterator[tuple[ParseStatus, Any]]:
    """Yield the JSON values of a text: the text itself, its code fences, then objects and lists among the words."""
    whole = _decode(text.strip(), notes)
    if whole is not None:
        yield ParseStatus.PLAIN, whole
    for fence in re.finditer(r"^[ \t]*```[^\n]*\n(.*?)^[ \t]*```", text, re.S | re.M):
        value = _decode(fence.group(1).strip(), notes)
        if value is not None:
            yield ParseStatus.FENCED, value
    decoder = json.JSONDecoder()
    at = 0
    while (start := next((i for i in range(at, len(text)) if text[i] in "{["), -1)) >= 0:
        try:
            value, at = decoder.raw_decode(text, start)
            yield ParseStatus.EMBEDDED, value
        except json.JSONDecodeError as error:
            if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
                return  # cut off: its inner parts are no plan of their own
            at = start + 1


def _decode(text: str, notes: _Notes) -> Any:
    if text[:1] not in {"{", "["}:
        return None
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        value = json.loads(re.sub(r",(\s*[\]}])", r"\1", text))
    except ValueError:
        return None
    notes.repairs.append("trailing_comma_removed")
    return value


def _actions(value: Any, notes: _Notes) -> list[Proposal] | None:
    """Return the actions of a decoded value, None when it is no plan."""
    if isinstance(value, dict) and isinstance(value.get("actions"), list):
        items: list[Any] = value["actions"]
    elif isinstance(value, list) and all(isinstance(item, dict | str) for item in value):
        items = value
        notes.repairs.append("list_taken_as_actions")
    elif isinstance(value, dict) and _name_of(value) is not None:
        items = [value]
        notes.repairs.append("single_action_taken_as_list")
    else:
        return None
    found = []
    for item in items:
        proposal = _call(item, notes) if isinstance(item, str) else _action(item, notes)
        if proposal is None:
            notes.dropped.append(json.dumps(item, ensure_ascii=False)[:200])
        else:
            found.append(proposal)
    return None if items and not found else found


def _name_of(item: Mapping[str, Any]) -> str | None:
    for key in ("action", "name", "tool", "function"):
        if isinstance(item.get(key), str):
            return str(item[key])
    return None


def _action(item: Any, notes: _Notes) -> Proposal | None:
    if not isinstance(item, dict) or (name := _name_of(item)) is None:
        return None
    if "action" not in item:
        notes.repairs.append("tool_call_taken_as_action")
    inner = next((item[k] for k in ("args", "arguments", "roles", "parameters") if k in item), item)
    if isinstance(inner, str):
        inner = _decode(inner, notes) or [inner]
    if isinstance(inner, list):
        notes.repairs.append("positional_arguments_named")
        if not re.fullmatch(r"[A-Za-z_]+", name):
            return None
        return _positional(name, [str(arg) for arg in inner], notes)
    if inner is not item:
        notes.repairs.append("nested_roles_lifted")
    if not isinstance(inner, dict):
        return None
    if re.search(r"[ (]", name.strip()) and not any(inner.get(role) for role in ROLES):
        return _call(name, notes)
    roles: dict[str, str | tuple[str, ...]] = {}
    for role in ROLES:
        said = inner.get(role)
        if isinstance(said, list):
            ids = tuple(str(one).strip() for one in said if str(one).strip())
            if ids:
                roles[role] = ids[0] if len(ids) == 1 else ids
        elif isinstance(said, str) and said.strip():
            roles[role] = said.strip()
    return Proposal(_known_name(name, notes), roles)


def _known_name(name: str, notes: _Notes) -> str:
    plain = re.sub(r"[\s-]+", "_", name.strip().lower())
    if plain in _KNOWN:
        return plain
    alias = ALIASES.get(plain.replace("_", " "))
    if alias is None:
        return plain
    notes.aliases.append(plain.replace("_", " "))
    return alias[""]


def _positional(name: str, args: Sequence[str], notes: _Notes) -> Proposal:
    """Bind arguments in order: the object, then the role that the action type declares next."""
    action = _known_name(name, notes)
    args = [arg.strip() for arg in args if arg.strip()]
    if action == "navigate":
        return Proposal(action, {"target": args[0]} if args else {})
    kinds = [BY_NAME[action]] if action in BY_NAME else [k for k in BY_NAME.values() if action in {k.family, *k.senses}]
    declared = [v.role for kind in kinds[:1] for v in kind.roles[: kind.declared] if v.role not in {"hand", "object"}]
    order = ["object", *(declared or [_SECOND_ROLE.get(action, "target")])]
    return Proposal(action, dict(zip(order, args, strict=False)))


def _call(text: str, notes: _Notes) -> Proposal | None:
    """Read "open(fridge_1)" or a sentence such as "put cup_1 into sink_1"."""
    text = text.strip().strip(".`")
    call = re.fullmatch(r"([A-Za-z_]+)\s*\(([^()]*)\)", text)
    if call:
        return _positional(call.group(1), [a.strip(" '\"").lower() for a in call.group(2).split(",")], notes)
    lower = text.lower()
    for alias in sorted(ALIASES, key=lambda a: (-len(a), a)):
        if not lower.startswith(alias + " "):
            continue
        rest = lower[len(alias) :].strip()
        for word, action in ALIASES[alias].items():
            first, found, second = rest.partition(f" {word} ") if word else (rest, "", "")
            if word and not found:
                continue
            notes.aliases.append(f"{alias} {word}".strip())
            if action == "navigate":
                return Proposal(action, {"target": rest})
            more = {_SECOND_ROLE.get(action, "target"): second.strip()} if found else {}
            return Proposal(action, {"object": first.strip(), **more})
    name, _, rest = lower.partition(" ")
    if name in _KNOWN and rest:
        return Proposal(name, {"object": rest.strip()})
    return None


def _action_line(text: str, notes: _Notes) -> Proposal | None:
    """Return the first "Action:" line; what the reply goes on to say, invented observations included, is dropped."""
    lines = [line for line in text.splitlines() if line.strip()]
    for number, line in enumerate(lines):
        said = re.match(r"\s*(?:action|act)\s*:\s*(.+)", line, re.I)
        call = said.group(1) if said else line if re.fullmatch(r"\s*[a-z_]+\([^()]*\)\s*", line) else None
        if call is not None:
            proposal = _call(call, notes)
            if proposal is not None:
                notes.dropped += lines[number + 1 :]
                return proposal
    return None
