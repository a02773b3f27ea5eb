"""The validators. Every check yields findings with a code of ``codes``; one list, in the order in which reports name
them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ego2world.qa.checks import answers, edges, fields, grounds, states, structure, times
from ego2world.qa.checks.case import CheckContext, finding
from ego2world.qa.records import Finding, QuestionGroup

CHECKS: tuple[Callable[[QuestionGroup, CheckContext], Iterator[Finding]], ...] = (
    *fields.CHECKS,
    *times.CHECKS,
    *grounds.CHECKS,
    *states.CHECKS,
    *answers.CHECKS,
    *edges.CHECKS,
    *structure.CHECKS,
)


def check_group(group: QuestionGroup, case: CheckContext) -> list[Finding]:
    """Return everything that is wrong with a group, by all checks of single groups."""
    if not group.turns:
        return [finding("TURN_COUNT", "turns", "0 turns")]
    return [found for check in CHECKS for found in check(group, case)]


__all__ = ["CHECKS", "CheckContext", "check_group", "finding"]
