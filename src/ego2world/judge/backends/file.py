"""Answers from a file, of people or of another tool: the judge that needs no model. Stage: judge, backends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ego2world.core.canonical import sha256_file
from ego2world.errors import UsageError
from ego2world.judge.backends.base import VideoView
from ego2world.judge.benchmark import read_lines
from ego2world.judge.records import Case, GateAnswer, GateVerdict, Rater, ReplyStatus, Subgoal, SubgoalPlan


class FileAnswers:
    """One rater's answers; what the file does not hold stays unanswered."""

    looks = False

    def __init__(self, rater: Rater, answers: Sequence[GateAnswer], source: str) -> None:
        self.rater = rater
        self._source = source
        self._answers = {(one.video_id, one.sid, one.gate): one for one in answers}

    @staticmethod
    def read(path: Path, rater: str | None = None) -> list[FileAnswers]:
        """Read a file of answers; return one backend a rater, in order of their names.

        Raises:
            RecordError: lines are no answers.
            UsageError: no such file or rater, or no answers.
        """
        if not path.is_file():
            raise UsageError(
                f"no answers {path}; needed a file such as ego2world judge answers writes of people, or answers.jsonl"
                " of a run"
            )
        rows = read_lines(path, GateAnswer)
        found: dict[str, list[GateAnswer]] = {}
        for one in rows:
            found.setdefault(one.rater.id, []).append(one)
        if rater is not None and rater not in found:
            raise UsageError(f"{path} has no answers of {rater!r}; it has those of: {', '.join(sorted(found))}")
        if not found:
            raise UsageError(f"{path} contains no answers")
        digest = sha256_file(path)
        return [
            FileAnswers(mine[0].rater, mine, digest) for name, mine in sorted(found.items()) if rater in (None, name)
        ]

    def plain(self) -> dict[str, Any]:
        """Return the file's hash."""
        return {"backend": "answers", "file_sha256": self._source}

    def answer(
        self,
        look: VideoView,
        case: Case,
        plan: SubgoalPlan,
        subgoal: Subgoal,
        gate: str,
        before: Mapping[str, GateAnswer],
    ) -> GateAnswer:
        """Return what the file says."""
        found = self._answers.get((look.video_id, subgoal.sid, gate))
        if found is None or found.answer is GateVerdict.NOT_REACHED:
            status = ReplyStatus.ABSENT if found is None else ReplyStatus.NOT_REACHED
            return GateAnswer(
                video_id=look.video_id,
                plan_id=plan.plan_id,
                sid=subgoal.sid,
                gate=gate,
                answer=GateVerdict.ERROR,
                rater=self.rater,
                parse_status=status,
            )
        if found.plan_id != plan.plan_id:
            raise UsageError(
                f"{look.video_id}, {subgoal.sid}, {gate}: answered about plan {found.plan_id}, and the plan here is"
                f" {plan.plan_id}; give the plans that were annotated with --plans"
            )
        return replace(found, rater=self.rater)
