"""A model of rules, for tests, demos and tutorials: it reads the same prompts as a language model and answers by the
parser.

It acts out the instruction's sentences; when one is refused for good, it goes on with the next. Pictures drawn by this
project carry what they show as text, and that is what it "sees".
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache

from ego2world.agents.prompting import call_text
from ego2world.agents.symbolic import SymbolicPlanner
from ego2world.core.models import Image, Request
from ego2world.core.pictures import read_caption
from ego2world.world.observation import GroupBrief, Hint, Proposal

_THING = re.compile(r"^- (\S+): (.*?) \((\w+)\)", re.M)
_FIXTURE = re.compile(r"(\S+) \(([^(),]+)[^()]*\)")


def mock_reply(request: Request) -> str:
    """Answer a plan or look request of this project's prompts."""
    text = request.messages[-1].text
    image = next((part for part in request.messages[-1].parts if isinstance(part, Image)), None)
    if image is not None:
        return _look(text, image)
    acts = _acts(text.partition("\nHolding:")[0])
    refused = re.findall(r"^- (.*?): refused \(", text, re.M)
    if refused:
        said = [call_text(act) for act in acts]
        done = max((i + 1 for i, one in enumerate(said) if one in refused), default=len(acts))
        acts = acts[done:]
    return json.dumps({"actions": [_plain(act) for act in acts]})


@lru_cache(maxsize=64)
def _acts(text: str) -> Sequence[Proposal]:
    """Return the acts that the instruction of a prompt names; asked again after a refusal, they are the same."""
    return tuple(SymbolicPlanner().read(_brief(text)))


def _plain(act: Proposal) -> dict[str, object]:
    return {"action": act.action} | {r: v if isinstance(v, str) else list(v) for r, v in act.roles.items()}


def _brief(text: str) -> GroupBrief:
    """Read the facts of a plan prompt back."""
    instruction = re.search(r"^Instruction: (.*)$", text, re.M)
    named, _, rest = text.partition("\nYou are in ")
    hints = tuple(Hint(i, name, kind) for i, name, kind in _THING.findall(named))
    here = re.match(r"(\S+) \((.*?)\)\. Here: (.*)", rest)
    zones, fixtures = [], []
    lines = [(here.group(1), here.group(2), here.group(3))] if here else []
    lines += re.findall(r"^(zone\S*) \((.*?)\): (.*)$", rest.partition("\nHolding:")[0], re.M)
    for zone, name, listed in lines:
        zones.append((zone, name))
        fixtures += [(Hint(i, n, re.sub(r"(_\d+)+$", "", i)), zone) for i, n in _FIXTURE.findall(listed)]
    return GroupBrief("", instruction.group(1) if instruction else "", hints, tuple(fixtures), tuple(zones))


def _look(text: str, image: Image) -> str:
    listed = {identifier for identifier, _, _ in _THING.findall(text)}
    shown = json.loads(read_caption(image.data) or "[]")
    return json.dumps({"things": [one for one in shown if one["id"] in listed and one["where"] in listed]})
