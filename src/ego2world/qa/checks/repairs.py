"""Repairs: inside the evidence there is, and the same question. Stage: qa, check."""

from __future__ import annotations

from collections.abc import Iterator

from ego2world.qa.checks.case import finding
from ego2world.qa.records import Finding, QuestionGroup

LIMIT = 2  # rounds of repair


def repair_findings(before: QuestionGroup, after: QuestionGroup) -> Iterator[Finding]:
    """REP_NEW_FACT, REP_TARGET_CHANGED, REP_LEVEL_CHANGED, REP_CUTOFF_CHANGED, REP_LIMIT"""
    if (before.category, before.level) != (after.category, after.level):
        yield finding("REP_LEVEL_CHANGED", "category", f"{before.category} became {after.category}")
    pool = {one for turn in before.turns for one in (*turn.spec.evidence, *turn.spec.anchors)}
    for number, turn in enumerate(after.turns):
        new = set(turn.spec.evidence) - pool
        if new:
            yield finding("REP_NEW_FACT", f"turns[{number}].spec", f"{', '.join(sorted(new))} was not in the evidence")
        if number < len(before.turns):
            old = before.turns[number].spec
            if old.query != turn.spec.query or old.value != turn.spec.value:
                yield finding("REP_TARGET_CHANGED", f"turns[{number}].spec.query", "another question is asked")
            if old.cutoff_s != turn.spec.cutoff_s:
                yield finding(
                    "REP_CUTOFF_CHANGED",
                    f"turns[{number}].spec.cutoff_s",
                    f"{old.cutoff_s} became {turn.spec.cutoff_s}",
                )
    if len({repair.code for repair in after.repairs}) > LIMIT:
        yield finding("REP_LIMIT", "repairs", f"{len(after.repairs)} repairs; at most {LIMIT}")
