"""Every error that reaches a user, in one tree.

    Ego2WorldError
      UsageError        the command was asked for something that is not there   what
      AnnotationError   rows are missing, malformed or contradictory            problems: file, row, field
      CompileError      good rows, no consistent world                          stage, evidence
      DeclarationError  an action, fluent or kind is declared wrongly           name, rule
      TaskError         a task is ill-posed or unsolvable                       task, reason
      VideoError        a video file or a time in it does not fit its facts     video
      RecordError       an artefact or run record is incomplete, changed,
                        or of another version                                   file, line
      ModelError        a model's service gave no reply                         model, attempts

A refused action, an unread instruction, an unreadable reply and an unsolved task are outcomes, not errors.
Each family has its own exit code (``exit_code``), documented in docs/EXIT_CODES.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


class Ego2WorldError(Exception):
    """Base of the tree; its text is one block that says where, what was found and what to do."""

    exit_code = 1


class UsageError(Ego2WorldError):
    """The command names something that does not exist or cannot be combined."""

    exit_code = 2


@dataclass(frozen=True)
class Problem:
    """One malformed place in a source file. ``row`` counts data rows from 1; None means the whole file."""

    file: str
    row: int | None
    field: str | None
    found: str
    needed: str

    def __str__(self) -> str:
        place = self.file
        if self.row is not None:
            place += f", row {self.row}"
        if self.field is not None:
            place += f", field {self.field}"
        return f"{place}: found {self.found}; needed {self.needed}"


class AnnotationError(Ego2WorldError):
    """Source files cannot be used; ``problems`` lists every place found, not just the first."""

    exit_code = 3

    def __init__(self, problems: Sequence[Problem], advice: str = "") -> None:
        self.problems = tuple(problems)
        self.advice = advice
        shown = [f"  {problem}" for problem in self.problems[:20]]
        if len(self.problems) > 20:
            shown.append(f"  ... and {len(self.problems) - 20} more")
        head = f"{len(self.problems)} problem(s) in the annotations:"
        super().__init__("\n".join([head, *shown] + ([advice] if advice else [])))


class CompileError(Ego2WorldError):
    """The rows are well-formed but give no consistent world."""

    exit_code = 4

    def __init__(self, stage: str, evidence: str, message: str) -> None:
        self.stage, self.evidence = stage, evidence
        super().__init__(f"{stage}: {message} (evidence: {evidence})")


class DeclarationError(Ego2WorldError):
    """An action, fluent or kind breaks a rule of the ontology."""

    exit_code = 5

    def __init__(self, name: str, rule: str) -> None:
        self.name, self.rule = name, rule
        super().__init__(f"{name}: {rule}")


class TaskError(Ego2WorldError):
    """A task's contract is ill-posed."""

    exit_code = 6

    def __init__(self, task: str, reason: str, because: Any = None) -> None:
        self.task, self.reason = task, reason
        self.because = because  # the reason as a value, see compiler.reason
        super().__init__(f"task {task}: {reason}")


class RecordError(Ego2WorldError):
    """An artefact or a run record cannot be trusted as it stands."""

    exit_code = 7

    def __init__(self, file: str, message: str, line: int | None = None) -> None:
        self.file, self.line = file, line
        place = file if line is None else f"{file}, line {line}"
        super().__init__(f"{place}: {message}")


class VideoError(Ego2WorldError):
    """A video file, its manifest entry or a time inside it do not fit together."""

    exit_code = 8

    def __init__(self, video: str, message: str) -> None:
        self.video = video
        super().__init__(f"{video}: {message}")


class ModelError(Ego2WorldError):
    """A model's service gave no reply, or not the model that was asked for; unreadable replies are outcomes, not
    errors."""

    exit_code = 10

    def __init__(self, model: str, message: str, attempts: Sequence[str] = ()) -> None:
        self.model, self.attempts = model, tuple(attempts)
        super().__init__(f"model {model}: {message}")
