"""Judges without gates, to compare with: one question about the whole, a list of yes-or-no questions, another tool's
table. Stage: judge, backends.

The question list follows the manner of PQSG (questions made from the goal, the share of yes); here they come from the
plan, so that two judges differ by how they ask and not by what they know. Neither is its authors' code.
"""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

from ego2world.core.canonical import sha256_file
from ego2world.core.models import Frames, Image, Message, ModelClient, Request, Stop, Text, json_object
from ego2world.core.prompting import prompt, prompts_sha256
from ego2world.core.video import jpeg
from ego2world.errors import AnnotationError, ModelError, Problem, UsageError
from ego2world.judge.backends.base import VideoView
from ego2world.judge.records import Case, Rater, Rating, ReplyStatus, SubgoalPlan

HERE = "ego2world.judge"
TASK_QUESTION = (
    "How far does the video reach the goal by actions that are seen? 0: nothing of it is done; 100: all of it."
)
PHYSICS_QUESTION = "How plausible is the physics of hands and objects? 0: impossible throughout; 100: nothing is wrong."


class _Asked:
    """What the two model baselines share: frames over the whole video, a question, a reply read strictly."""

    looks = True
    prompts: tuple[str, ...] = ()

    def __init__(self, client: ModelClient, name: str, attempts: int = 2) -> None:
        self.rater = Rater(kind="model", id=f"{name}:{client.name}")
        self._client, self._attempts = client, attempts
        self._prompt_sha = prompts_sha256(HERE, self.prompts)

    def plain(self) -> dict[str, Any]:
        return {
            "backend": self.rater.id.split(":", 1)[0],
            "model": self._client.name,
            "prompts_sha256": self._prompt_sha,
        }

    def _ask(
        self, look: VideoView, system: str, asked: str, schema: dict[str, Any], name: str, read: Any
    ) -> tuple[Any, dict[str, Any]]:
        times = look.sampling.spread(0.0, max(0.0, look.duration_s - 0.02))
        shots = look.shots(times)
        frames = Frames(tuple(Image(jpeg(s.picture), "image/jpeg") for s in shots), tuple(s.time_s for s in shots))
        messages = (Message("system", (Text(prompt(HERE, system)),)), Message("user", (Text(asked), frames)))
        value: Any = None
        note: dict[str, Any] = {
            "frame_spec": f"whole {len(times)}",
            "frame_pts": frames.times_s,
            "tokens_in": 0,
            "tokens_out": 0,
        }
        for attempt in range(self._attempts):
            reply = self._client.generate(Request(messages, schema, name, 0.0, attempt, 600, f"{look.video_id}/{name}"))
            note |= {"raw": reply.text, "served": reply.model}
            if reply.usage is not None:
                note["tokens_in"] += reply.usage.input_tokens
                note["tokens_out"] += reply.usage.output_tokens
            if reply.stop is Stop.TIMED_OUT:
                raise ModelError(self._client.name, "timed out")
            value = read(json_object(reply.text))
            if value is not None:
                break
        return value, note


class SimpleVQA(_Asked):
    """Two questions about the whole video: task and physics on 0-100, S their geometric mean."""

    prompts = ("vqa_system.txt", "vqa_user.txt.j2")

    def __init__(self, client: ModelClient) -> None:
        super().__init__(client, "simple-vqa")

    def rate(self, look: VideoView, case: Case, plan: SubgoalPlan | None) -> Rating:
        """Ask both questions."""
        schema = {
            "type": "object",
            "additionalProperties": False,
            "required": ["score", "rationale"],
            "properties": {"score": {"type": "integer", "minimum": 0, "maximum": 100}, "rationale": {"type": "string"}},
        }
        found: list[float | None] = []
        notes: list[dict[str, Any]] = []
        try:
            for question in (TASK_QUESTION, PHYSICS_QUESTION):
                asked = prompt(HERE, "vqa_user.txt.j2", goal=case.goal, question=question)
                value, note = self._ask(look, "vqa_system.txt", asked, schema, "rating", _score)
                found.append(value)
                notes.append(note)
        except ModelError as error:
            return _failed(look, self.rater, ReplyStatus.SERVICE, str(error))
        task, physics = found
        common = {
            **notes[-1],
            "raw": "\n".join(n["raw"] for n in notes),
            "prompt_sha": self._prompt_sha,
            "tokens_in": sum(n["tokens_in"] for n in notes),
            "tokens_out": sum(n["tokens_out"] for n in notes),
        }
        if task is None or physics is None:
            return _failed(look, self.rater, ReplyStatus.UNPARSED, "unreadable reply", **common)
        return Rating(
            video_id=look.video_id,
            rater=self.rater,
            task=task,
            physics=physics,
            final=math.sqrt(task * physics),
            **common,
        )


class QuestionList(_Asked):
    """Yes-or-no questions made from the plan: two on the task and one on physics a subgoal; scores are shares of
    yes."""

    prompts = ("list_system.txt", "list_user.txt.j2")

    def __init__(self, client: ModelClient) -> None:
        super().__init__(client, "question-list")

    def rate(self, look: VideoView, case: Case, plan: SubgoalPlan | None) -> Rating:
        """Ask the list at once."""
        if plan is None or not plan.subgoals:
            return _failed(look, self.rater, ReplyStatus.ABSENT, "no plan")
        listed = [
            (axis, text)
            for s in plan.subgoals
            for axis, text in (
                ("task", f"Is this done by hands: {s.text}?"),
                ("task", f"Is this so at the end: {s.post_state}?"),
                ("physics", f"Do {', '.join(s.objects)} move and stay as real objects would?"),
            )
        ]
        schema = {"type": "object", "required": ["answers"], "properties": {"answers": {"type": "object"}}}
        asked = prompt(HERE, "list_user.txt.j2", goal=case.goal, questions=[text for _, text in listed])
        try:
            value, note = self._ask(
                look, "list_system.txt", asked, schema, "questions", lambda data: _yes(data, len(listed))
            )
        except ModelError as error:
            return _failed(look, self.rater, ReplyStatus.SERVICE, str(error))
        common = {**note, "prompt_sha": self._prompt_sha}
        if value is None:
            return _failed(look, self.rater, ReplyStatus.UNPARSED, "unreadable reply", **common)
        rows = tuple(
            {"axis": axis, "question": text, "answer": said} for (axis, text), said in zip(listed, value, strict=True)
        )
        share = {
            axis: (
                100 * sum(r["answer"] is True for r in rows if r["axis"] == axis) / sum(r["axis"] == axis for r in rows)
            )
            for axis in ("task", "physics")
        }
        final = 100 * sum(r["answer"] is True for r in rows) / len(rows)
        return Rating(
            video_id=look.video_id,
            rater=self.rater,
            task=share["task"],
            physics=share["physics"],
            final=final,
            questions=rows,
            **common,
        )


def _failed(look: VideoView, rater: Rater, status: ReplyStatus, why: str, **more: Any) -> Rating:
    return Rating(
        video_id=look.video_id, rater=rater, task=None, physics=None, final=None, parse_status=status, error=why, **more
    )


def _score(data: dict[str, Any] | None) -> float | None:
    value = None if data is None else data.get("score")
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 100:
        return None
    return float(value)


def _yes(data: dict[str, Any] | None, count: int) -> list[bool | None] | None:
    """Return an answer a question; None where the reply answers none of them, or something else than true, false and
    null."""
    answers = None if data is None else data.get("answers")
    if not isinstance(answers, dict):
        return None
    found = [answers.get(str(n + 1)) for n in range(count)]
    return None if all(f is None for f in found) or any(f not in (True, False, None) for f in found) else found


class ScoreTable:
    """Scores of another tool from a CSV: video_id and score, or task, physics and final; on any scale, said by its
    ends."""

    looks = False

    def __init__(self, path: Path, low: float = 0.0, high: float = 100.0) -> None:
        if not path.is_file():
            raise UsageError(f"no such table {path}; needed a CSV with video_id and score, or task, physics and final")
        if not high > low:
            raise UsageError(f"a scale from {low:g} to {high:g}: needed the lower end first")
        self.rater = Rater(kind="file", id=path.stem)
        self._scale, self._sha = (low, high), sha256_file(path)
        self._rows: dict[str, dict[str, float | None]] = {}
        problems = []
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            names = set(reader.fieldnames or ())
            if "video_id" not in names or not names & {"score", "final", "task", "physics"}:
                raise UsageError(
                    f"{path} has the columns {', '.join(sorted(names)) or 'none'}; needed video_id and score, or task,"
                    " physics, final"
                )
            for number, row in enumerate(reader, 1):
                values: dict[str, float | None] = {}
                for name, axis in (("score", "final"), ("final", "final"), ("task", "task"), ("physics", "physics")):
                    text = (row.get(name) or "").strip()
                    if name not in names or not text:
                        continue
                    try:
                        value = float(text)
                    except ValueError:
                        value = math.nan
                    if not low <= value <= high:
                        problems.append(
                            Problem(str(path), number, name, repr(text), f"a number from {low:g} to {high:g}")
                        )
                    values[axis] = 100 * (value - low) / (high - low)
                name = (row["video_id"] or "").strip()
                if name in self._rows:
                    problems.append(Problem(str(path), number, "video_id", repr(name), "one row a video"))
                self._rows[name] = values
        if problems:
            raise AnnotationError(problems, "the ends of the scale are set with --low and --high")

    def plain(self) -> dict[str, Any]:
        """Return the table's hash and scale."""
        return {"backend": "csv", "rater": self.rater.id, "file_sha256": self._sha, "scale": list(self._scale)}

    def rate(self, look: VideoView, case: Case, plan: SubgoalPlan | None) -> Rating:
        """Return the row of a video."""
        row = self._rows.get(look.video_id)
        if not row:
            return _failed(look, self.rater, ReplyStatus.ABSENT, "not in the table")
        task, physics, final = (row.get(axis) for axis in ("task", "physics", "final"))
        if final is None and task is not None and physics is not None:
            final = math.sqrt(task * physics)
        if final is None:
            return _failed(look, self.rater, ReplyStatus.ABSENT, "no score in the table")
        return Rating(video_id=look.video_id, rater=self.rater, task=task, physics=physics, final=final)
