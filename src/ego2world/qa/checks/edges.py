"""Edges: both ends, the right direction, intentions that are more than actions, plans that know no future. Stage: qa,
check."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ego2world.qa.checks.case import CheckContext, finding, turns
from ego2world.qa.clauses import fresh
from ego2world.qa.queries import ChangeQuery, ClauseQuery, Enabler
from ego2world.qa.records import Finding, QuestionGroup
from ego2world.qa.taxonomy import LEVELS, Category, Level

# which queries ask for which category
_RELATION = {
    Category.INTENT_ATTRIBUTION: "purpose",
    Category.INTENT_FORMATION: "reason",
    Category.WORLD_PERCEPTION: "percept",
    Category.ACTION_STATUS: "manner",
}
_SENSES = re.compile(
    r"\b(?:check|look|inspect|examin|smell|sniff|tast|feel|read|watch|listen|hear|observ|see|notic|ensur|making"
    r" sure|make sure|know)\w*",
    re.I,
)


def direction(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """EDGE_DIRECTION"""
    edge = group.category in set(Category) and LEVELS[Category(group.category)] in (Level.NODE, Level.EDGE)
    for path, turn in turns(group):
        query = turn.spec.query
        wrong = edge and group.category not in query.categories
        wrong |= (
            isinstance(query, ClauseQuery) and _RELATION.get(Category(group.category), query.relation) != query.relation
        )
        if wrong:
            yield finding(
                "EDGE_DIRECTION",
                f"{path}.spec.query",
                f"a query of kind {type(query).__name__} does not ask for {group.category}",
            )


def ends(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """EDGE_ENDPOINT_MISSING"""
    for path, turn in turns(group):
        query = turn.spec.query
        needed: tuple[str, ...] = ()
        if isinstance(query, ChangeQuery):
            needed = (query.operation,)
        elif isinstance(query, Enabler):
            needed = (query.operation, query.earlier)
        elif isinstance(query, ClauseQuery):
            needed = (query.narration,)
        missing = [one for one in needed if one not in turn.spec.evidence]
        if missing:
            yield finding(
                "EDGE_ENDPOINT_MISSING",
                f"{path}.spec",
                f"{', '.join(missing)} is an end of the relation and not named as evidence",
            )
        if (
            isinstance(query, ClauseQuery)
            and group.category == Category.INTENT_ATTRIBUTION
            and len(case.named(turn)) < 2
        ):
            yield finding(
                "EDGE_ENDPOINT_MISSING", f"{path}.spec", "the action that serves the intention is not named as evidence"
            )


def intents(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """INTENT_IS_ACTION"""
    for path, turn in turns(group):
        query = turn.spec.query
        if isinstance(query, ClauseQuery) and query.relation == "purpose":
            done = " ".join(one.text for one in case.named(turn) if one.kind == "replay")
            if not fresh(str(turn.spec.value), done):
                yield finding("INTENT_IS_ACTION", f"{path}.answer", f"{turn.spec.value!r} repeats {done!r}")


def plans(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """GOAL_AFTER_CUTOFF, CLIP_NOT_CUTOFF_SAFE"""
    if group.category != Category.GOAL_PLANNING:
        return
    for path, turn in turns(group):
        cutoff_s = turn.spec.cutoff_s
        if cutoff_s is None:
            yield finding("CLIP_NOT_CUTOFF_SAFE", f"{path}.spec.cutoff_s", "no cutoff is given")
            continue
        late = [one.id for one in case.named(turn) if one.span_s[1] > cutoff_s + 0.1]
        if late:
            yield finding(
                "GOAL_AFTER_CUTOFF", f"{path}.spec", f"{', '.join(late)} ends after the cutoff at {cutoff_s:.1f} s"
            )
        if group.clip.end_s > cutoff_s + 1e-6 or not group.clip.cutoff_safe:
            yield finding(
                "CLIP_NOT_CUTOFF_SAFE",
                "clip.end_s",
                f"the clip ends at {group.clip.end_s:.1f} s, the decision is at {cutoff_s:.1f} s",
            )


def cues(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """CUE_AFTER_ACTION"""
    if group.category != Category.INTENT_FORMATION:
        return
    for path, turn in turns(group):
        cues_s = [
            case.evidence[one].span_s[0]
            for one in turn.spec.evidence
            if one in case.evidence and case.evidence[one].kind in {"narration", "sound"}
        ]
        acts_s = [one.span_s[1] for one in case.named(turn) if one.kind == "replay"]
        if cues_s and acts_s and min(cues_s) > min(acts_s):
            yield finding("CUE_AFTER_ACTION", f"{path}.spec", "what led to the action is seen or heard after it")


def percepts(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """PERCEPT_UNOBSERVED"""
    if group.category != Category.WORLD_PERCEPTION:
        return
    for path, turn in turns(group):
        narrated = [
            case.evidence[one].text
            for one in (*turn.spec.evidence, *turn.spec.anchors)
            if one in case.evidence and case.evidence[one].kind == "narration"
        ]
        heard = any(one.kind == "sound" for one in case.named(turn))
        if not heard and not any(_SENSES.search(text) for text in narrated):
            yield finding("PERCEPT_UNOBSERVED", f"{path}.spec", "no narration says that it was perceived, and no sound")


CHECKS = (direction, ends, intents, plans, cues, percepts)
