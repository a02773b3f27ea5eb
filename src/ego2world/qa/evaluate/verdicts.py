"""What a judge's reply says, read strictly: nothing off the scale is kept, and nothing unreadable becomes a score.
Stage: qa, evaluation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from ego2world.core.models import json_object


class Parse(StrEnum):
    """How reading a judge's reply went."""

    PARSED = "parsed"
    INVALID = "invalid"  # read, and not on the scale
    UNPARSED = "unparsed"
    CONTRADICTORY = "contradictory"


@dataclass(frozen=True)
class Rubric:
    """The scale that a judge is asked for: whole numbers from ``low`` to ``high``; from ``passing`` on an answer is
    correct."""

    low: int = 0
    high: int = 5
    passing: int = 4

    @property
    def words(self) -> str:
        """The range as it stands in prompts."""
        return f"{self.low}-{self.high}"

    def fits(self, correct: int, score: int) -> bool:
        """Whether score and decision agree."""
        return (score >= self.passing) == bool(correct)


@dataclass(frozen=True)
class ParsedReply:
    """A judge's reply as read: ``value`` is 0, 1 or None (decision) or a score or None; None with PARSED asks for
    review."""

    status: Parse
    value: int | None
    needs_review: bool
    reason: str


def read_decision(text: str) -> ParsedReply:
    """Read the first stage's reply: {"correct": 0 | 1 | null, "needs_review": bool, "reason": str}."""
    data = json_object(text)
    if data is None or "correct" not in data:
        return ParsedReply(Parse.UNPARSED, None, True, "")
    correct, review, reason = data["correct"], data.get("needs_review", False), str(data.get("reason", ""))
    if isinstance(correct, bool):
        correct = int(correct)
    if correct is None:
        return ParsedReply(Parse.PARSED, None, True, reason)
    if not isinstance(correct, int) or correct not in (0, 1) or not isinstance(review, bool):
        return ParsedReply(Parse.INVALID, None, True, reason)
    score = data.get("score")
    if (
        isinstance(score, (int, float))
        and not isinstance(score, bool)
        and (score > 0) != bool(correct)
        and score in (0, 1, 5)
    ):
        return ParsedReply(Parse.CONTRADICTORY, None, True, reason)  # right with no point, or wrong with full marks
    return ParsedReply(Parse.PARSED, None if review else correct, review, reason)


def read_score(text: str, rubric: Rubric) -> ParsedReply:
    """Read the second stage's reply: {"score": n | null, "needs_review": bool, "reason": str}, or a plain "score: n"
    or [[n]]."""
    data = json_object(text)
    if data is not None and "score" in data:
        score, review, reason = data["score"], bool(data.get("needs_review", False)), str(data.get("reason", ""))
        if score is None:
            return ParsedReply(Parse.PARSED, None, True, reason)
    else:
        found = re.findall(
            r"(?:\bscore\b\W{0,3}(?:is|of)?\W{0,3}|\[\[\s*)(-?\d+(?:\.\d+)?)(?!\s*(?:-|to|/)\s*\d)", text, re.I
        )
        if len(set(found)) != 1:
            alone = re.fullmatch(r"\s*(-?\d+(?:\.\d+)?)\s*", text)
            if alone is None:
                return ParsedReply(Parse.UNPARSED, None, True, "")
            found = [alone[1]]
        score, review, reason = float(found[0]), False, ""
    if (
        isinstance(score, bool)
        or not isinstance(score, (int, float))
        or score != int(score)
        or not rubric.low <= score <= rubric.high
    ):
        return ParsedReply(Parse.INVALID, None, True, reason)
    return ParsedReply(Parse.PARSED, None if review else int(score), review, reason)
