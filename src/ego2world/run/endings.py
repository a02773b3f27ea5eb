"""How groups and episodes end, as values. Stage: run."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


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
