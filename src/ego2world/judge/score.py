"""Answers to scores: per subgoal, per video. Stage: judge.

    attempted  T1 passes
    task       how far the chain T1, T2, T3 holds, to the first gate that fails
    physics    how far the chain P1 to P4 holds; asked whatever T2 and T3 say; only of attempted subgoals
    T, P       means over all subgoals, over the attempted ones;  S = sqrt(T P), and 0 where nothing was attempted

An unclear answer counts as failed; ``S_lo`` and ``S_hi`` bound S over what it could have been. A missing answer makes
the video incomplete: it has no score, and is counted as such.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from msgspec.structs import replace

from ego2world.core.video import FileStatus
from ego2world.errors import UsageError
from ego2world.judge.policy import PHYSICS, TASK, Policy
from ego2world.judge.records import (
    FailureType,
    GateAnswer,
    GateVerdict,
    Lack,
    Score,
    ScoreStatus,
    Subgoal,
    SubgoalPlan,
    Video,
)

Answers = Mapping[str, GateVerdict]  # by gate, of one subgoal


@dataclass(frozen=True)
class Reached:
    """One subgoal's scores, 0 to 1; ``physics`` is None where it was not attempted."""

    task: float
    physics: float | None

    @property
    def attempted(self) -> bool:
        """Whether physics is judged at all."""
        return self.physics is not None


class Incomplete(Exception):
    """An answer that a score needs is missing."""

    def __init__(self, gate: str, lack: Lack) -> None:
        self.gate, self.lack = gate, lack
        super().__init__(f"{gate} {'error' if lack is Lack.GATE_ERROR else 'not answered'}")


def reach(answers: Answers, policy: Policy) -> Reached:
    """Return how far one subgoal got; unclear counts as failed.

    Raises:
        Incomplete: a gate that is needed was not answered.
    """
    attempted = _passes("T1", answers, policy)
    task = _axis("task", answers, policy)
    return Reached(task, _axis("physics", answers, policy) if attempted else None)


def _passes(gate: str, answers: Answers, policy: Policy) -> bool:
    if gate in policy.without:
        return True
    given = answers.get(gate)
    if given is None or given in (GateVerdict.ERROR, GateVerdict.NOT_REACHED):
        raise Incomplete(gate, Lack.GATE_ERROR if given is GateVerdict.ERROR else Lack.NOT_ANSWERED)
    return given is GateVerdict.PASS


def _axis(axis: str, answers: Answers, policy: Policy) -> float:
    passed = 0
    for gate in policy.chain(axis):
        if _passes(gate, answers, policy):
            passed += 1
        elif not policy.independent:
            break
    return policy.level(axis, passed)


def aggregate(reached: Sequence[Reached]) -> tuple[float, float | None, float]:
    """Return T, P and S on 0 to 1.

    Args:
        reached: every subgoal of the plan, at least one.
    """
    task = sum(one.task for one in reached) / len(reached)
    judged = [one.physics for one in reached if one.physics is not None]
    if not judged:
        return task, None, 0.0
    physics = sum(judged) / len(judged)
    return task, physics, math.sqrt(task * physics)


def band(subgoals: Sequence[Answers], policy: Policy) -> tuple[float, float]:
    """Return bounds of S, 0 to 1, over all readings of unclear answers: T and P bounded apart, so never too narrow."""
    tasks_low = tasks_high = 0.0
    always: list[tuple[float, float]] = []
    maybe: list[tuple[float, float]] = []
    for answers in subgoals:
        readings = [reach(reading, policy) for reading in _readings(answers)]
        tasks_low += min(one.task for one in readings)
        tasks_high += max(one.task for one in readings)
        judged = [one.physics for one in readings if one.physics is not None]
        if judged:
            (always if len(judged) == len(readings) else maybe).append((min(judged), max(judged)))
    n = len(subgoals)
    low, high = _mean_bounds(always, maybe)
    return math.sqrt(tasks_low / n * low), math.sqrt(tasks_high / n * high)


def _mean_bounds(always: Sequence[tuple[float, float]], maybe: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the least and greatest mean of values, some of which may be absent; nothing at all counts as 0."""

    def extreme(fixed: list[float], free: list[float], better: Any) -> float:
        kept = list(fixed)
        best = sum(kept) / len(kept) if kept else 0.0
        for value in free:  # the most extreme first: each is taken while it helps
            kept.append(value)
            best = better(best, sum(kept) / len(kept))
        return float(best)

    return (
        extreme([a for a, _ in always], sorted(a for a, _ in maybe), min),
        extreme([b for _, b in always], sorted((b for _, b in maybe), reverse=True), max),
    )


def _readings(answers: Answers) -> Iterable[Answers]:
    """Yield what the answers could have been: each unclear one passed or failed, and what was not asked after it
    either way."""
    unclear = [gate for gate, given in answers.items() if given is GateVerdict.UNCLEAR]
    if not unclear:
        yield answers
        return
    hidden = [
        gate for gate in (*TASK, *PHYSICS) if answers.get(gate, GateVerdict.NOT_REACHED) is GateVerdict.NOT_REACHED
    ]
    for values in product((GateVerdict.FAIL, GateVerdict.PASS), repeat=len(unclear) + len(hidden)):
        yield {**answers, **dict(zip((*unclear, *hidden), values, strict=True))}


def failures(subgoals: Sequence[tuple[Subgoal, Mapping[str, GateAnswer]]]) -> list[dict[str, str]]:
    """Return the first failed gate of each chain with its type: that which the rater named, else what the gate implies.

    A subgoal that was not begun is a skipped prerequisite where a later one was, else an incomplete outcome.
    """
    begun = [bool((one := by_gate.get("T1")) and one.answer is GateVerdict.PASS) for _, by_gate in subgoals]
    rows = []
    for number, (subgoal, by_gate) in enumerate(subgoals):
        for chain in (TASK, PHYSICS) if begun[number] else (TASK,):
            first = next((by_gate[g] for g in chain if g in by_gate and by_gate[g].answer is GateVerdict.FAIL), None)
            if first is not None:
                named = first.failure or _implied(first.gate, any(begun[number + 1 :]))
                rows.append({"sid": subgoal.sid, "gate": first.gate, "type": named, "category": subgoal.category.value})
    return rows


def _implied(gate: str, later_begun: bool) -> str:
    if gate == "T1":
        return (FailureType.SKIPPED_PREREQUISITE if later_begun else FailureType.INCOMPLETE_OUTCOME).value
    return {
        "T2": FailureType.INCOMPLETE_OUTCOME,
        "T3": FailureType.INCOMPLETE_OUTCOME,
        "P1": FailureType.OBJECT_INCONSISTENCY,
        "P2": FailureType.CONTACT_VIOLATION,
        "P3": FailureType.MECHANISM_VIOLATION,
        "P4": FailureType.INSTABILITY,
    }[gate].value


def score_video(
    video: Video, plan: SubgoalPlan | None, answers: Mapping[str, Mapping[str, GateAnswer]], rater: str, policy: Policy
) -> Score:
    """Return the scores of one video, on 0-100.

    Args:
        video: from the manifest; one that cannot be used has no score, and the reason is given.
        plan: its subgoals.
        answers: by subgoal and gate.
        rater: whose they are.
        policy: how they count.

    Raises:
        UsageError: the policy needs answers to every gate, and these were asked up to the first failure.
    """
    none = Score(
        video_id=video.video_id, case_id=video.case_id, rater=rater, T=None, P=None, S=None, policy_sha=policy.sha256
    )
    if video.status is not FileStatus.OK:
        why = f"{video.status}{f': {video.reason}' if video.reason else ''}"
        return replace(none, status=ScoreStatus.UNUSABLE, cause=video.status, reason=why)
    if plan is None or not plan.subgoals:
        return replace(
            none,
            status=ScoreStatus.INCOMPLETE,
            cause=Lack.NO_PLAN.value,
            reason=(plan.error if plan else "") or "no plan",
        )
    if policy.exhaustive and any(one.asked != "all" for gates in answers.values() for one in gates.values()):
        raise UsageError(
            f"{video.video_id}: independent gates and removed gates need an answer to every gate, and {rater} was asked"
            " up to the first failure; run again with --all-gates"
        )
    given = [{gate: one.answer for gate, one in answers.get(s.sid, {}).items()} for s in plan.subgoals]
    rows, reached, lacking = [], [], []
    for subgoal, mine in zip(plan.subgoals, given, strict=True):
        try:
            one = reach(mine, policy)
        except Incomplete as error:
            lacking.append((subgoal.sid, error))
            continue
        reached.append(one)
        rows.append(
            {
                "sid": subgoal.sid,
                "category": subgoal.category.value,
                "T": _hundred(one.task, policy),
                "P": _hundred(one.physics, policy),
            }
        )
    if lacking:
        sid, first = lacking[0]
        why = f"{sid}: {first} ({len(lacking)} of {len(plan.subgoals)} subgoals)"
        return replace(
            none, n_sub=len(plan.subgoals), status=ScoreStatus.INCOMPLETE, cause=first.lack.value, reason=why
        )
    task, physics, final = aggregate(reached)
    low, high = band(given, policy)
    return replace(
        none,
        T=_hundred(task, policy),
        P=_hundred(physics, policy),
        S=_hundred(final, policy),
        S_lo=_hundred(low, policy),
        S_hi=_hundred(high, policy),
        n_sub=len(reached),
        n_attempted=sum(one.attempted for one in reached),
        subgoals=tuple(rows),
    )


def _hundred(value: float | None, policy: Policy) -> float | None:
    return None if value is None else round(100 * value, policy.digits)


def by_subgoal(answers: Iterable[GateAnswer]) -> dict[str, dict[str, dict[str, dict[str, GateAnswer]]]]:
    """Return answers as rater -> video -> subgoal -> gate; of two answers to the same, the later attempt stands."""
    found: dict[str, dict[str, dict[str, dict[str, GateAnswer]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(dict))
    )
    for one in answers:
        found[one.rater.id][one.video_id][one.sid][one.gate] = one
    return found
