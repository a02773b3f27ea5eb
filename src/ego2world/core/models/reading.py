"""The one JSON object in a model's reply. Stage: core, model access."""

from __future__ import annotations

import json
import re
from typing import Any

from ego2world.core.canonical import strict_json


def json_object(text: str) -> dict[str, Any] | None:
    """Return the JSON object in a reply, in a code fence or among words; None where there is none or more than one."""
    plain = re.sub(r"^\s*```(?:json)?|```\s*$", "", text.strip(), flags=re.I | re.M).strip()
    try:
        data = strict_json(plain.encode())
        return data if isinstance(data, dict) else None
    except ValueError:
        pass
    found: list[dict[str, Any]] = []
    decoder = json.JSONDecoder(parse_constant=_refuse)
    at = plain.find("{")
    while at >= 0:
        try:
            data, end = decoder.raw_decode(plain, at)
        except ValueError:
            at = plain.find("{", at + 1)
            continue
        if isinstance(data, dict):
            found.append(data)
        at = plain.find("{", end)
    return found[0] if len(found) == 1 else None


def _refuse(token: str) -> Any:
    raise ValueError(f"{token} is not JSON")
