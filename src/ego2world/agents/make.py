"""Planner names to planners."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ego2world.agents.base import Planner
from ego2world.agents.random import RandomPlanner
from ego2world.agents.reference import ReferencePlanner
from ego2world.agents.scripted import ScriptedPlanner, read_script
from ego2world.agents.symbolic import SymbolicPlanner
from ego2world.errors import UsageError
from ego2world.world.observation import Proposal

PLANNERS = ("reference", "symbolic", "random", "scripted")


def make_planner(
    name: str, episode: str, recorded: Mapping[str, Sequence[Proposal]], seed: int, script: Path | None
) -> Planner:
    """Return a planner for one episode.

    Raises:
        UsageError: no such planner, or a script is missing.
    """
    if name == "reference":
        return ReferencePlanner(recorded)
    if name == "symbolic":
        return SymbolicPlanner()
    if name == "random":
        return RandomPlanner(seed)
    if name == "scripted":
        if script is None:
            raise UsageError("planner scripted needs --script FILE (JSON lines with group, action, roles)")
        return ScriptedPlanner(read_script(script, episode))
    raise UsageError(f"no planner {name!r}; there are: {', '.join(PLANNERS)}")
