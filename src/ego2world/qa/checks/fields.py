"""Fields, references and labels of a group. Stage: qa, check."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ego2world.qa.checks.case import CheckContext, finding, turns
from ego2world.qa.queries import ActQuery, Adjustment, ChangeQuery, Enabler, Linked, Query
from ego2world.qa.records import Finding, QuestionGroup
from ego2world.qa.taxonomy import LEVELS, Category, Modality

PLACEHOLDER = re.compile(
    r"^\W*(?:hold|todo|tbd|n/?a|none|null|xxx+|lorem"
    r" ipsum.*|question|answer|placeholder|\?+|\.+|-+)?\W*$|\{\w*\}|<(?:question|answer|object)>",
    re.I,
)
_FORMATS = ("open", "multiple_choice")


def operations_of(query: Query) -> tuple[str, ...]:
    """Return the operations that a query names."""
    if isinstance(query, ChangeQuery):
        return (query.operation,)
    if isinstance(query, Enabler):
        return (query.operation, query.earlier)
    if isinstance(query, Linked):
        return (query.first, query.second)
    return (query.action, query.feedback, query.adjustment) if isinstance(query, Adjustment) else ()


def empty(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """FIELD_EMPTY"""
    for path, turn in turns(group):
        for name, text in (
            ("question", turn.question),
            ("answer", turn.answer),
            *(("key_points", point) for point in turn.key_points),
        ):
            if (name == "question" and PLACEHOLDER.search(text)) or not text.strip() or "{" in text:
                yield finding("FIELD_EMPTY", f"{path}.{name}", f"{text!r} is no text")
        for letter, text in (turn.options or {}).items():
            if not text.strip():
                yield finding("FIELD_EMPTY", f"{path}.options.{letter}", "an option is empty")
        if not turn.key_points:
            yield finding("FIELD_EMPTY", f"{path}.key_points", "no key point")


def dangling(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """REF_DANGLING"""
    for path, turn in turns(group):
        for one in (*turn.spec.evidence, *turn.spec.anchors):
            if one not in case.evidence and not one.startswith(("qa_", "spec_")):
                yield finding("REF_DANGLING", f"{path}.spec", f"no evidence {one!r} in episode {group.episode}")
        query = turn.spec.query
        for one in operations_of(query):
            if one not in case.numbers:
                yield finding("REF_DANGLING", f"{path}.spec.query", f"no operation {one!r}")
        for earlier in turn.depends_on:
            if not 0 <= earlier < int(path[6:-1]):
                yield finding("REF_DANGLING", f"{path}.depends_on", f"no earlier turn {earlier}")
    for first, second in group.links:
        if first not in case.numbers or second not in case.numbers:
            yield finding("REF_DANGLING", "links", f"no operation {first!r} or {second!r}")


def classes(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """CLASS_CONFLICT"""
    known = {category.value for category in Category}
    if group.category not in known:
        yield finding("CLASS_CONFLICT", "category", f"{group.category!r} is none of the categories")
    elif LEVELS[Category(group.category)].value != group.level:
        yield finding(
            "CLASS_CONFLICT",
            "level",
            f"{group.category} is of level {LEVELS[Category(group.category)].value}, found {group.level}",
        )
    if group.modality not in {modality.value for modality in Modality}:
        yield finding("CLASS_CONFLICT", "modality", f"{group.modality!r} is no modality")
    options = group.turns[-1].options if group.turns else None
    if group.format not in _FORMATS or (group.format == "multiple_choice") != bool(options):
        yield finding("CLASS_CONFLICT", "format", f"{group.format} with {len(options or {})} options")


def merged(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """ACT_MERGED"""
    if group.category != Category.ACTION_STATUS:
        return
    for path, turn in turns(group):
        if isinstance(turn.spec.query, ActQuery):
            for narration in turn.spec.anchors:
                if case.told[narration] > 1:
                    yield finding(
                        "ACT_MERGED", f"{path}.spec.anchors", f"{narration} tells of {case.told[narration]} actions"
                    )


def count(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """TURN_COUNT"""
    if not 1 <= len(group.turns) <= 4:
        yield finding("TURN_COUNT", "turns", f"{len(group.turns)} turns")


CHECKS = (empty, dangling, classes, merged, count)
