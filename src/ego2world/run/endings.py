"""How groups and episodes end, as values. Stage: run."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from enum import StrEnum

GIVE_UP = 3  # episodes in a row that a model's service failed in


class Ending(StrEnum):
    """How an action group ended."""

    COMPLETED = "completed"  # the planner said that it was done, after at least one attempt
    EMPTY_PLAN = "empty_plan"  # it said so without an attempt
    PARSE_FAILURE = "parse_failure"  # the instruction or the model's reply could not be read
    EXECUTION_BLOCKED = "execution_blocked"  # the limit was reached, or nothing changed any more


class Block(StrEnum):
    """Why a group's execution was blocked."""

    LIMIT = "limit"
    NO_PROGRESS = "no_progress"


class Halt(StrEnum):
    """Why an episode stopped before its end."""

    SERVICE_ERROR = "service_error"
    BUDGET = "budget"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class Stopped:
    """An episode that stopped before its end; ``message`` is what the model's service or the budget said."""

    halt: Halt
    message: str = ""

    def __str__(self) -> str:
        return f"{self.halt.value}: {self.message}" if self.message else self.halt.value


class Outage:
    """Counts the episodes in a row that a model's service failed in: when it is down, the others would only wait for it."""

    def __init__(self) -> None:
        self._in_a_row, self._lock = 0, threading.Lock()

    def after(self, stopped: Stopped | None) -> bool:
        """Whether the service is given up with the episode that ended so."""
        with self._lock:
            if stopped is None:
                self._in_a_row = 0
            elif stopped.halt is Halt.SERVICE_ERROR:
                self._in_a_row += 1
            return self._in_a_row == GIVE_UP
