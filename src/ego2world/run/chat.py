"""A model as a run sees it: every call is recorded, counted against the budget, and never made twice.

Calls of an episode are numbered. When an episode starts anew after a kill, its first calls are answered from the
journal: the same requests in the same order, so nothing is paid for twice and the records end up the same.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ego2world.core.journal import Recorder
from ego2world.core.models import ModelClient, Reply, Request, Usage
from ego2world.errors import RecordError
from ego2world.run.records import JOURNAL


class BudgetSpent(Exception):
    """The run's budget is used up; the run stops cleanly and can be resumed with a larger one."""


@dataclass(frozen=True)
class Budget:
    """Limits of a run; None is no limit.

    tokens: input and output together, over all calls of the run, those before a resume included.
    cost: in the currency of the prices, which are per million tokens; cached input at ``price_cached`` where given.
    seconds: of this process.
    """

    tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None
    price_in: float = 0.0
    price_out: float = 0.0
    price_cached: float | None = None

    def price(self, usage: Usage) -> float:
        """Return what some tokens cost."""
        cached = self.price_in if self.price_cached is None else self.price_cached
        return (
            usage.fresh_tokens * self.price_in + usage.cached_tokens * cached + usage.output_tokens * self.price_out
        ) / 1e6


class Meter:
    """What a run has spent so far; safe to use from several threads."""

    def __init__(self, budget: Budget, journal: Sequence[Mapping[str, Any]]) -> None:
        self.budget = budget
        self.usage = Usage()
        self._start = time.monotonic()
        self._lock = threading.Lock()
        for row in journal:
            self.count(Reply.of(row["reply"]))

    def count(self, reply: Reply) -> None:
        """Add the tokens of a reply; a reply from the cache costs nothing."""
        if reply.usage is not None and not reply.cached:
            with self._lock:
                self.usage += reply.usage

    def check(self) -> None:
        """Raise BudgetSpent when a limit is reached."""
        limit = self.budget
        with self._lock:
            spent = self.usage
        if limit.tokens is not None and spent.total_tokens >= limit.tokens:
            raise BudgetSpent(f"{spent.total_tokens} of {limit.tokens} tokens are spent")
        if limit.cost is not None and limit.price(spent) >= limit.cost:
            raise BudgetSpent(f"{limit.price(spent):.4f} of {limit.cost} are spent")
        if limit.seconds is not None and time.monotonic() - self._start >= limit.seconds:
            raise BudgetSpent(f"{limit.seconds:g} seconds are over")


NO_CALLS = dict.fromkeys(
    (
        "calls",
        "calls_without_usage",
        "tokens_in",
        "tokens_out",
        "tokens_in_cached",
        "tokens_reasoning",
        "tokens_billed",
    ),
    0,
)


class EpisodeChat:
    """The calls of one episode. ``usage`` counts every reply of the group, ``billed`` leaves out those from the
    cache."""

    def __init__(
        self, episode: str, client: ModelClient, meter: Meter, records: Recorder, journal: Sequence[Mapping[str, Any]]
    ) -> None:
        self.group = ""
        self.calls = 0
        self.usage = Usage()
        self.billed = Usage()
        self.without_usage = 0
        self._number = 0
        self._episode = episode
        self._client = client
        self._meter = meter
        self._records = records
        self._journal = {row["number"]: row for row in journal}

    def begin_group(self, group: str) -> None:
        """Count anew."""
        self.group, self.calls, self.without_usage = group, 0, 0
        self.usage = self.billed = Usage()

    def counts(self) -> dict[str, int]:
        """Return what the group's record says of its calls."""
        return {
            "calls": self.calls,
            "calls_without_usage": self.without_usage,
            "tokens_in": self.usage.input_tokens,
            "tokens_out": self.usage.output_tokens,
            "tokens_in_cached": self.usage.cached_tokens,
            "tokens_reasoning": self.usage.reasoning_tokens,
            "tokens_billed": self.billed.total_tokens,
        }

    def ask(self, request: Request) -> Reply:
        """Return the reply, from the journal when this call was made before.

        Raises:
            BudgetSpent: before a call that a budget does not allow.
            ModelError: the service gave no reply.
            RecordError: the journal belongs to another course of events.
        """
        self._number += 1
        tag = f"{self._episode}/{self.group}/{self._number}"
        known = self._journal.get(self._number)
        if known is not None:
            if known["key"] != request.key:
                raise RecordError(
                    JOURNAL,
                    f"call {tag} asked something else before; the program or its input changed, start the run anew",
                )
            reply = Reply.of(known["reply"])
        else:
            self._meter.check()
            reply = self._client.generate(replace(request, tag=tag))
            self._meter.count(reply)
            self._records.add(
                JOURNAL,
                {
                    "episode": self._episode,
                    "group": self.group,
                    "number": self._number,
                    "tag": tag,
                    "key": request.key,
                    "model": self._client.name,
                    "request": request.body,
                    "reply": reply.plain(),
                },
            )
        self.calls += 1
        if reply.usage is None:
            self.without_usage += 1
        else:
            self.usage += reply.usage
            self.billed += Usage() if reply.cached else reply.usage
        return reply
