"""Planner names to planners. To add one: a class with ``name``, ``begin_group`` and ``next_step``, and a line in
``PLANNERS``.

Your own planner needs no change here: "my_module:my_function" names a function that makes it from
``PlannerContext``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ego2world.agents.base import Chat, Decoding, Planner
from ego2world.agents.llm import LanguagePlanner
from ego2world.agents.oracle import OraclePlanner
from ego2world.agents.random import RandomPlanner
from ego2world.agents.reference import ReferencePlanner
from ego2world.agents.scripted import ScriptedPlanner, read_script
from ego2world.agents.symbolic import SymbolicPlanner
from ego2world.core.load import load
from ego2world.errors import UsageError
from ego2world.world.observation import Proposal


@dataclass(frozen=True)
class PlannerContext:
    """What a planner may be made from: the episode's name, its recorded operations by group, a seed, a script, a model
    and how it is sampled, and who knows the world and makes plans in it (planner "oracle" only)."""

    episode: str
    recorded: Mapping[str, Sequence[Proposal]]
    seed: int = 0
    script: Path | None = None
    chat: Chat | None = None
    sampling: Decoding = field(default_factory=Decoding)
    oracle: Callable[[str], Sequence[Proposal]] | None = None


def _scripted(given: PlannerContext) -> Planner:
    if given.script is None:
        raise UsageError("planner scripted needs --script FILE (JSON lines with group, action, roles)")
    return ScriptedPlanner(read_script(given.script, given.episode))


def _oracle(given: PlannerContext) -> Planner:
    if given.oracle is None:
        raise UsageError("planner oracle plans in the world itself; it runs in ego2world run only")
    return OraclePlanner(given.oracle)


def _language(given: PlannerContext) -> Planner:
    if given.chat is None:
        raise UsageError("planner llm needs --model NAME (mock, replay:FILE, or PROVIDER/MODEL)")
    return LanguagePlanner(given.chat, given.sampling)


PLANNERS: Mapping[str, Callable[[PlannerContext], Planner]] = {
    "reference": lambda given: ReferencePlanner(given.recorded),
    "symbolic": lambda given: SymbolicPlanner(),
    "random": lambda given: RandomPlanner(given.seed),
    "scripted": _scripted,
    "llm": _language,
    "oracle": _oracle,
}


def make_planner(name: str, given: PlannerContext) -> Planner:
    """Return a planner for one episode.

    Raises:
        UsageError: no such planner, or something that it needs is missing.
    """
    return find_planner(name)(given)


def find_planner(name: str) -> Callable[[PlannerContext], Planner]:
    """Return what makes a planner of this name.

    Raises:
        UsageError: no such planner.
    """
    if ":" in name:
        own: Callable[[PlannerContext], Planner] = load(name, "planner")
        return own
    if name not in PLANNERS:
        raise UsageError(f"no planner {name!r}; there are: {', '.join(PLANNERS)}, or MODULE:FUNCTION of your own")
    return PLANNERS[name]
