"""Judging one answer: by rule where that is certain, else by a model in two stages, else by a person. Stage: qa,
evaluation.

The rules: an empty answer is wrong, and no judge is asked; multiple choice is compared by letter or words, all right
letters and no other; an open answer in the reference's own words is right. An answer that uses the other value of a
two-valued state (open, closed) is wrong. What no rule decides goes to the model: first whether it is correct, then how
good it is; the two must agree. Without a model, and wherever a judge's reply is unreadable, off the scale or
contradicts itself, a person decides: never a guess, never zero.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ego2world.core.models import Message, ModelClient, Request, Text
from ego2world.core.prompting import prompt, prompts_sha256
from ego2world.errors import ModelError
from ego2world.qa.checks.case import words
from ego2world.qa.evaluate.answer import HERE, Prediction
from ego2world.qa.evaluate.choice import read_choice
from ego2world.qa.evaluate.verdicts import Parse, ParsedReply, Rubric, read_decision, read_score
from ego2world.qa.items import Item
from ego2world.qa.records import QuestionRecord

PROMPTS = ("judge_system.txt", "judge_decide.txt.j2", "judge_score.txt.j2")
_OPPOSITES = (("open", "closed"), ("on", "off"), ("yes", "no"), ("covered", "not covered"))
_SCHEMAS: dict[str, dict[str, Any]] = {
    "correct": {"type": ["integer", "null"], "enum": [0, 1, None]},
    "needs_review": {"type": "boolean"},
    "reason": {"type": "string"},
}


class Verdict(StrEnum):
    """What becomes of an answer. Only JUDGED enters means; all five are counted."""

    JUDGED = "judged"
    REVIEW = "review"
    ERROR = "error"
    EXCLUDED = "excluded"
    MISSING = "missing"


class JudgeRecord(QuestionRecord, frozen=True):
    """One judgement: what was decided, by whom, and on which words."""

    item: str
    group: str
    round: int
    verdict: str
    correct: int | None = None
    score: int | None = None
    needs_review: bool = False
    reason: str = ""
    judge: dict[str, Any] | None = None
    stages: tuple[dict[str, Any], ...] = ()
    parse: str = ""
    conflict: bool = False


@dataclass(frozen=True)
class Judge:
    """Who judges: the rules alone, or a model for what they leave open."""

    client: ModelClient | None = None
    rubric: Rubric = field(default_factory=Rubric)
    attempts: int = 2  # at each stage, where a reply cannot be read
    max_tokens: int | None = 400
    temperature: float | None = 0.0

    def identity(self) -> dict[str, Any]:
        """Return who this is, for every record."""
        if self.client is None:
            return {"kind": "rule", "name": "ego2world rules", "rubric": self.rubric.words}
        return {
            "kind": "model",
            "name": self.client.name,
            "prompts_sha256": prompts_sha256(HERE, PROMPTS),
            "rubric": self.rubric.words,
        }

    def judge(self, item: Item, prediction: Prediction | None, history: Sequence[tuple[str, str]] = ()) -> JudgeRecord:
        """Judge one answer; ``history``: earlier questions with the candidate's own answers."""
        record = _Draft(item, {"kind": "rule", "name": "ego2world rules", "rubric": self.rubric.words}, self.rubric)
        if prediction is None:
            return record.end(Verdict.MISSING, reason="no answer was given in")
        if prediction.error or prediction.text is None:
            return record.end(Verdict.ERROR, reason=prediction.error or "no reply captured")
        if not item.options and not item.answer.strip():
            return record.end(Verdict.EXCLUDED, reason="no reference answer")
        if not prediction.text.strip():
            return record.right(False, "empty")
        ruled = by_rule(item, prediction)
        if ruled is not None:
            return record.right(*ruled)
        if self.client is None:
            return record.end(Verdict.REVIEW, needs_review=True, reason="no rule decides, and no judge model is set")
        return self._two_stages(item, prediction.text, history)

    def _two_stages(self, item: Item, text: str, history: Sequence[tuple[str, str]]) -> JudgeRecord:
        record = _Draft(item, self.identity(), self.rubric)
        values: dict[str, Any] = {
            "history": list(history),
            "question": item.question,
            "options": item.options or {},
            "reference": item.answer,
            "candidate": text,
        }
        try:
            asked = prompt(HERE, "judge_decide.txt.j2", **values, key_points=list(item.key_points))
            decided = self._ask(record, "decide", asked, "correct", read_decision)
            if decided.status is not Parse.PARSED or decided.value is None:
                return record.end(Verdict.REVIEW, needs_review=True, reason=decided.reason, parse=decided.status)
            asked = prompt(HERE, "judge_score.txt.j2", **values, correct=bool(decided.value), rubric=self.rubric)
            scored = self._ask(record, "score", asked, "score", lambda said: read_score(said, self.rubric))
        except ModelError as error:
            return record.end(Verdict.ERROR, reason=str(error))
        if scored.status is not Parse.PARSED or scored.value is None:
            return record.end(
                Verdict.REVIEW, needs_review=True, reason=scored.reason or decided.reason, parse=scored.status
            )
        if not self.rubric.fits(decided.value, scored.value):
            return record.end(
                Verdict.REVIEW,
                needs_review=True,
                parse=Parse.CONTRADICTORY,
                conflict=True,
                reason=f"decided {decided.value}, scored {scored.value}: {scored.reason}",
            )
        return record.end(
            Verdict.JUDGED,
            correct=decided.value,
            score=scored.value,
            reason=scored.reason or decided.reason,
            parse=Parse.PARSED,
        )

    def _ask(self, record: _Draft, stage: str, asked: str, field: str, read: Any) -> ParsedReply:
        assert self.client is not None
        said = ParsedReply(Parse.UNPARSED, None, True, "")
        value = (
            _SCHEMAS["correct"]
            if field == "correct"
            else {"type": ["integer", "null"], "minimum": self.rubric.low, "maximum": self.rubric.high}
        )
        schema = {
            "type": "object",
            "properties": {field: value, "needs_review": _SCHEMAS["needs_review"], "reason": _SCHEMAS["reason"]},
            "required": [field, "needs_review", "reason"],
            "additionalProperties": False,
        }
        for attempt in range(self.attempts):
            request = Request(
                (Message("system", (Text(prompt(HERE, "judge_system.txt")),)), Message("user", (Text(asked),))),
                schema=schema,
                schema_name=stage,
                temperature=self.temperature,
                seed=attempt,
                max_tokens=self.max_tokens,
                tag=f"{record.item.id}/{stage}",
            )
            reply = self.client.generate(request)
            said = read(reply.text)
            record.stages.append(
                {
                    "stage": stage,
                    "request": request.key,
                    "raw_text": reply.text,
                    "parse": said.status.value,
                    "value": said.value,
                    "served": reply.model,
                }
            )
            if said.status is Parse.PARSED:
                break
        return said


class _Draft:
    """A judgement in the making."""

    def __init__(self, item: Item, judge: dict[str, Any], rubric: Rubric) -> None:
        self.item, self.judge, self.rubric = item, judge, rubric
        self.stages: list[dict[str, Any]] = []

    def right(self, correct: bool, reason: str) -> JudgeRecord:
        """End with what a rule decided: full marks or none."""
        score = self.rubric.high if correct else self.rubric.low
        return self.end(Verdict.JUDGED, correct=int(correct), score=score, reason=reason, parse=Parse.PARSED)

    def end(self, verdict: Verdict, parse: Parse | None = None, **fields: Any) -> JudgeRecord:
        """Return the record."""
        item = self.item
        return JudgeRecord(
            item=item.id,
            group=item.group,
            round=item.round,
            verdict=verdict.value,
            judge=self.judge,
            stages=tuple(self.stages),
            parse=parse.value if parse else "",
            **fields,
        )


def by_rule(item: Item, prediction: Prediction) -> tuple[bool, str] | None:
    """Return (correct, reason) where a rule decides, None where none does."""
    text = prediction.text or ""
    if item.options:
        shown = prediction.options or item.options
        chosen = read_choice(text, shown, many=len(item.key) > 1)
        if chosen is None:
            return None
        right = {item.options[letter] for letter in item.key if letter in item.options}
        picked = {shown[letter] for letter in chosen}
        return picked == right, f"chose {', '.join(chosen)}"
    said, meant = _plain(text), _plain(item.answer)
    if said == meant or said in {_plain(point) for point in item.key_points if len(item.key_points) == 1}:
        return True, "the reference's words"
    for one, other in (*_OPPOSITES, *((b, a) for a, b in _OPPOSITES)):
        points = {_plain(point) for point in item.key_points}
        if (
            points
            and all(re.search(rf"\b{one}$", point) and not point.endswith(f"not {one}") for point in points)
            and len(meant.split()) <= 4
        ):
            has_one, has_other = (re.search(rf"(?<!not )\b{word}\b", said) is not None for word in (one, other))
            if has_one != has_other and len(said.split()) <= 8 and "not" not in said.split():
                return has_one, f"says {one if has_one else other}"
    return None


def _plain(text: str) -> str:
    text = words(unicodedata.normalize("NFKC", text))
    return re.sub(r"^(?:i|the|a|an|it is|it's|they are|my|to|by) ", "", re.sub(r"[^\w\s-]", "", text)).strip()


def mock_judgement(request: Request) -> str:
    """Judge by shared words, without a model: for trying things out."""
    text = request.messages[-1].text

    def line(name: str) -> set[str]:
        found = re.search(rf"^{name}: (.*)$", text, re.M)
        return set(re.findall(r"[a-z0-9]+", found[1].lower())) if found else set()

    reference, candidate = line("Reference answer"), line("Candidate answer")
    share = len(reference & candidate) / max(1, len(reference))
    if request.schema_name == "decide":
        return f'{{"correct": {int(share >= 0.6)}, "needs_review": false, "reason": "{share:.2f} of the words"}}'
    correct = "it was decided that the candidate is correct" in text.lower()
    return (
        f'{{"score": {4 + (share > 0.9) if correct else min(3, int(4 * share))}, "needs_review": false, "reason":'
        f' "{share:.2f} of the words"}}'
    )
