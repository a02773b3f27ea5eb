"""States and their replay: what the world says, since when, and whether anything showed it. Stage: qa, check."""

from __future__ import annotations

from collections.abc import Iterator

from ego2world.qa.checks.case import CheckContext, finding, turns
from ego2world.qa.checks.fields import operations_of
from ego2world.qa.queries import (
    ActQuery,
    ChangeQuery,
    ClauseQuery,
    Contents,
    Enabler,
    Fact,
    Holding,
    Linked,
    NextStep,
    PreparedStep,
    Query,
    SaidQuery,
)
from ego2world.qa.records import Finding, QuestionGroup, Turn
from ego2world.world.fluents import FactKey

STALE_S: dict[type[Query], float] = {Holding: 90.0, Fact: 240.0, Contents: 240.0}
# what a query that has no answer is called, where there is a better word than "not unique"
_UNANSWERED = {
    ChangeQuery: "DELTA_NONE",
    Enabler: "GROUND_NOT_NECESSARY",
    Linked: "CHAIN_LINK_UNUSED",
    NextStep: "GOAL_MULTI_ENABLED",
    SaidQuery: "EV_QUOTE_NOT_FOUND",
    PreparedStep: "INTENT_UNSUPPORTED",
    ClauseQuery: "INTENT_UNSUPPORTED",
}


def replayed(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """ANS_NOT_UNIQUE, STATE_CONTRADICTION, KEYPOINT_UNBOUND and what an unanswered query means; the heart of all
    checks."""
    for path, turn in turns(group):
        if not _known(turn, case):
            continue
        query = turn.spec.query
        value = case.replayer.answer(query)
        if value is None:
            code = _UNANSWERED.get(type(query), "ANS_NOT_UNIQUE")
            if isinstance(query, ClauseQuery) and query.relation == "percept":
                code = "PERCEPT_UNOBSERVED"
            elif isinstance(query, ClauseQuery) and query.relation == "manner":
                code = "EV_QUOTE_NOT_FOUND"
            yield finding(code, f"{path}.spec.query", "replayed, the world gives no answer, or more than one")
        elif value != turn.spec.value:
            yield finding("STATE_CONTRADICTION", f"{path}.spec.value", f"replayed: {value}; given: {turn.spec.value}")
        elif turn.spec.evidence and case.replayer.answer(query, frozenset(turn.spec.evidence)) == value:
            yield finding(
                "KEYPOINT_UNBOUND", f"{path}.spec", "the answer stays the same without the evidence that is named"
            )


def _known(turn: Turn, case: CheckContext) -> bool:
    """Whether the query can be put: its operations exist."""
    return all(one in case.numbers for one in operations_of(turn.spec.query))


def _setters(case: CheckContext, key: FactKey, operations: tuple[str, ...]) -> list[tuple[int, object]]:
    found = []
    for one in operations:
        if one in case.numbers:
            i = case.numbers[one]
            before, after = case.replayer.state(i).facts.get(key), case.replayer.state(i + 1).facts.get(key)
            if before != after:
                found.append((i, after))
    return sorted(found, key=lambda pair: pair[0])


def stale(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """STATE_STALE"""
    for path, turn in turns(group):
        query = turn.spec.query
        ends_s = [case.span(one)[1] for one in turn.spec.evidence if one in case.numbers]
        if isinstance(query, (Holding, Fact, Contents)) and ends_s and query.at_s - min(ends_s) > STALE_S[type(query)]:
            age_s, limit_s = query.at_s - min(ends_s), STALE_S[type(query)]
            yield finding("STATE_STALE", f"{path}.spec", f"last seen {age_s:.0f} s before; at most {limit_s:.0f} s")


def collapsed(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """ENT_STATE_COLLAPSED"""
    for path, turn in turns(group):
        query = turn.spec.query
        if isinstance(query, Fact):
            different = {str(value) for _, value in _setters(case, (query.fluent, query.entity), turn.spec.evidence)}
            if len(different) > 1:
                yield finding(
                    "ENT_STATE_COLLAPSED",
                    f"{path}.spec",
                    f"evidence of {len(different)} states of {query.entity} for one answer",
                )


def united(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """ENT_NAME_ONLY_MERGE"""
    for path, turn in turns(group):
        objects = {
            one.source.key.split("/")[1] for one in case.named(turn) if one.kind == "track" and "/" in one.source.key
        }
        if len(objects) > 1 and isinstance(turn.spec.query, (Fact, ChangeQuery)):
            yield finding("ENT_NAME_ONLY_MERGE", f"{path}.spec", f"tracks of {len(objects)} objects for one thing")


def effects(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """EFFECT_RULE_ONLY"""
    for path, turn in turns(group):
        query = turn.spec.query
        if isinstance(query, ChangeQuery) and query.operation in case.numbers:
            shown = [
                one
                for one in case.named(turn)
                if one.id != query.operation and one.kind in {"track", "sound", "replay", "step"}
            ]
            if not shown:
                yield finding(
                    "EFFECT_RULE_ONLY", f"{path}.spec", "no track, sound or later action shows the state afterwards"
                )


def single(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """CHAIN_LINK_UNUSED for dialogues: alone, the later turn must not say which thing is meant."""
    for path, turn in list(turns(group))[1:]:
        query = turn.spec.query
        if group.category == "Chain" and isinstance(query, ActQuery) and query.entity is not None:
            if case.replayer.answer(ActQuery(query.start_s, query.end_s)) is not None:
                yield finding(
                    "CHAIN_LINK_UNUSED",
                    f"{path}.spec.query",
                    "only one thing is handled then: the earlier turn is not needed",
                )


CHECKS = (replayed, stale, collapsed, united, effects, single)
