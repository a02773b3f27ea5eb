"""What a planner is: asked again and again for its next step until it is done."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Protocol

from ego2world.agents.belief import Belief
from ego2world.core.models import Reply, Request
from ego2world.world.observation import Feedback, GroupBrief, Local, Proposal


@dataclass(frozen=True)
class Act:
    """Propose an action; it spends an attempt, accepted or not."""

    proposal: Proposal


@dataclass(frozen=True)
class Look:
    """Ask to see the region of the current zone: a visual query, made to find ``seeking``."""

    seeking: str


@dataclass(frozen=True)
class Done:
    """Nothing is left to do; ``unread`` when the instruction or the model's reply could not be read, and ``detail``
    how."""

    unread: bool = False
    detail: str = ""


Step = Act | Look | Done


@dataclass
class Context:
    """What a planner sees when it is asked: the brief, the latest local observation, its belief, the last feedback.

    ``notes`` is for the planner to count what is worth a record, such as repairs made to a reply.
    """

    brief: GroupBrief
    local: Local
    belief: Belief
    feedback: Feedback | None = None
    attempts_left: int = 0
    notes: Counter[str] = field(default_factory=Counter)


class Planner(Protocol):
    """A planner. ``begin_group`` is called once a group, ``next_step`` until it returns Done or the limit is
    reached."""

    name: str

    def begin_group(self, context: Context) -> None:
        """Start on a group."""

    def next_step(self, context: Context) -> Step:
        """Return the next step; ``context.feedback`` tells about the last attempt."""


@dataclass(frozen=True)
class Decoding:
    """How replies are drawn: the longest reply in tokens, a seed, and a temperature (None leaves each to the
    provider)."""

    max_tokens: int | None = 2048
    seed: int | None = None
    temperature: float | None = 0.0


class Chat(Protocol):
    """A model as planners reach it; every call is recorded and counted by whoever made it."""

    def ask(self, request: Request) -> Reply:
        """Return the model's reply."""
