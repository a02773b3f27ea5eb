"""Gates asked of a model: one question a gate, strictly read, asked again where a reply cannot be used, never guessed.
Stage: judge, backends."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from ego2world.core.canonical import sha256
from ego2world.core.models import Message, ModelClient, Reply, Request, Stop, Text, json_object
from ego2world.core.prompting import prompt, prompts_sha256
from ego2world.errors import ModelError
from ego2world.judge.backends.base import VideoView, span_of
from ego2world.judge.policy import TASK
from ego2world.judge.records import (
    TASK_FAILURES,
    Case,
    FailureType,
    GateAnswer,
    GateVerdict,
    Rater,
    ReplyStatus,
    Subgoal,
    SubgoalPlan,
)

HERE = "ego2world.judge"
PROMPTS = ("gate_system.txt", "gate_user.txt.j2", "questions.json")


@cache
def questions() -> Mapping[str, str]:
    """Return the question of every gate."""
    found: dict[str, str] = json.loads((files(HERE) / "prompts" / "questions.json").read_text("utf-8"))
    return found


def failure_types(gate: str) -> tuple[str, ...]:
    """Return the types that a failure of a gate may have."""
    return tuple(f.value for f in FailureType if (f in TASK_FAILURES) == (gate in TASK))


class ModelJudge:
    """Any model of the model layer.

    Args:
        client: the model.
        attempts: replies asked for where they cannot be read or contradict themselves.
        temperature, max_tokens: of the requests.
    """

    looks = True

    def __init__(
        self, client: ModelClient, attempts: int = 2, temperature: float | None = 0.0, max_tokens: int | None = 400
    ) -> None:
        self.rater = Rater(kind="model", id=client.name)
        self._client, self._attempts, self._temperature, self._max_tokens = client, attempts, temperature, max_tokens
        self._prompt_sha = prompts_sha256(HERE, PROMPTS)

    def plain(self) -> dict[str, Any]:
        """Return model, prompts and how they are sent."""
        return {
            "backend": "model",
            "model": self.rater.id,
            "prompts_sha256": self._prompt_sha,
            "attempts": self._attempts,
            "temperature": self._temperature,
            "max_tokens": self._max_tokens,
        }

    def answer(
        self,
        look: VideoView,
        case: Case,
        plan: SubgoalPlan,
        subgoal: Subgoal,
        gate: str,
        before: Mapping[str, GateAnswer],
    ) -> GateAnswer:
        """Ask about one gate."""
        span = span_of(before)
        spec, frames = look.frames(gate, span)
        asked = prompt(
            HERE,
            "gate_user.txt.j2",
            goal=case.goal,
            subgoal=subgoal,
            span=[f"{t:.1f}" for t in span] if span else [],
            gate=gate,
            question=questions()[gate],
            types=list(failure_types(gate)),
        )
        messages = (Message("system", (Text(prompt(HERE, "gate_system.txt")),)), Message("user", (Text(asked), frames)))
        common: dict[str, Any] = {
            "video_id": look.video_id,
            "plan_id": plan.plan_id,
            "sid": subgoal.sid,
            "gate": gate,
            "rater": self.rater,
            "frame_spec": spec,
            "frame_pts": frames.times_s,
            "prompt_sha": self._prompt_sha,
        }
        said: dict[str, Any] = {"answer": GateVerdict.ERROR, "parse_status": ReplyStatus.UNPARSED}
        reply, attempt, tokens = Reply(""), 1, (0, 0)
        for attempt in range(1, self._attempts + 1):
            request = Request(
                messages,
                _schema(gate),
                "gate",
                self._temperature,
                attempt - 1,
                self._max_tokens,
                f"{look.video_id}/{subgoal.sid}/{gate}",
            )
            try:
                reply = self._client.generate(request)
            except ModelError as error:
                return GateAnswer(
                    **common,
                    answer=GateVerdict.ERROR,
                    parse_status=ReplyStatus.SERVICE,
                    rationale=str(error),
                    attempt=attempt,
                )
            if reply.usage is not None:
                tokens = (tokens[0] + reply.usage.input_tokens, tokens[1] + reply.usage.output_tokens)
            said = read_gate(reply, gate, look.duration_s)
            if said["answer"] is not GateVerdict.ERROR:
                break
        return GateAnswer(
            **common,
            **said,
            raw=reply.text,
            raw_sha=sha256(reply.text.encode()),
            attempt=attempt,
            served=reply.model,
            tokens_in=tokens[0],
            tokens_out=tokens[1],
        )


def _schema(gate: str) -> dict[str, Any]:
    time = {"type": ["number", "null"], "minimum": 0}
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["answer", "failure", "t_start", "t_end", "rationale"],
        "properties": {
            "answer": {"type": "string", "enum": ["pass", "fail", "unclear"]},
            "failure": {"type": ["string", "null"], "enum": [*failure_types(gate), None]},
            "t_start": time,
            "t_end": time,
            "rationale": {"type": "string"},
        },
    }


def read_gate(reply: Reply, gate: str, duration_s: float) -> dict[str, Any]:
    """Read a reply to a gate; an answer of ERROR says in ``parse_status`` why it cannot be used.

    A reply that passes a gate and names a failure, or ends before it starts, contradicts itself.
    """
    error: dict[str, Any] = {"answer": GateVerdict.ERROR, "rationale": ""}
    if reply.stop in (Stop.REFUSED, Stop.TIMED_OUT):
        return error | {"parse_status": ReplyStatus.SERVICE if reply.stop is Stop.TIMED_OUT else ReplyStatus.REFUSED}
    data = json_object(reply.text)
    if data is None or "answer" not in data:
        return error | {"parse_status": ReplyStatus.CUT if reply.stop is Stop.CUT else "unparsed"}
    rationale = str(data.get("rationale", ""))[:2000]
    given = data["answer"]
    if given not in ("pass", "fail", "unclear"):
        return error | {"parse_status": ReplyStatus.INVALID, "rationale": rationale}
    failure = data.get("failure") or ""
    start, end = (_time(data.get(name), duration_s) for name in ("t_start", "t_end"))
    if (failure and given == "pass") or (start is not None and end is not None and end < start):
        return error | {"parse_status": ReplyStatus.CONTRADICTORY, "rationale": rationale}
    named = failure if given == "fail" and failure in failure_types(gate) else ""
    return {
        "answer": GateVerdict(given),
        "failure": named,
        "t_start": start,
        "t_end": end,
        "rationale": rationale,
        "parse_status": ReplyStatus.PARSED,
    }


def _time(value: Any, duration_s: float) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= duration_s + 0.5:
        return None  # a time outside the video says nothing
    return round(float(value), 3)


def mock_gate(request: Request) -> str:
    """Answer without a model, for trying things out: everything passes, in the middle of the frames' time."""
    if request.schema_name == "rating":
        return '{"score": 50, "rationale": "mock"}'
    if request.schema_name == "questions":
        return '{"answers": {}}'
    return '{"answer": "pass", "failure": null, "t_start": null, "t_end": null, "rationale": "mock"}'
