"""Actions from a file, for tests and for plans made elsewhere: JSON lines with episode, group, action, roles."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from ego2world.agents.reference import ReferencePlanner
from ego2world.errors import RecordError
from ego2world.world.observation import Proposal


class ScriptedPlanner(ReferencePlanner):
    """Replays what a script says for each group; groups that it does not name get an empty plan."""

    name = "scripted"


def read_script(path: Path, episode: str) -> Mapping[str, Sequence[Proposal]]:
    """Read the lines of one episode from a script.

    Raises:
        RecordError: a line is no JSON object with group and action.
    """
    plans: dict[str, list[Proposal]] = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            proposal = Proposal(
                str(row["action"]),
                {
                    role: tuple(value) if isinstance(value, list) else str(value)
                    for role, value in row.get("roles", {}).items()
                },
            )
            group = str(row["group"])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise RecordError(
                str(path), f"found {line[:60]!r} ({error}); needed an object with group, action and roles", number
            ) from None
        if row.get("episode", episode) == episode:
            plans.setdefault(group, []).append(proposal)
    return plans
