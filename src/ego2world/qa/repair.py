"""Repairs: small changes inside the evidence and the question there is. What they cannot mend is refused. Source: the
paper's C.7.

A repaired group goes through every check again, by the same validators and without knowledge of what was repaired, and
against the group it was, so that nothing was brought in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from ego2world.qa.checks.case import CheckContext, words
from ego2world.qa.records import Finding, QuestionGroup, Repair, Turn
from ego2world.qa.taxonomy import modality_of

ROUNDS = 2
_Mend = Callable[[QuestionGroup, CheckContext], QuestionGroup]


def repaired(group: QuestionGroup, findings: Sequence[Finding], case: CheckContext) -> QuestionGroup | None:
    """Return the group with its errors mended, None where one of them cannot be."""
    codes = [code for code in dict.fromkeys(f.code for f in findings if f.severity == "error")]
    if not codes or any(code not in REPAIRS for code in codes):
        return None
    after = group
    for code in codes:
        mended = REPAIRS[code](after, case)
        changed = [
            Repair(code=code, path=path, before=old, after=new) for path, old, new in _differences(after, mended)
        ]
        after = replace(mended, repairs=(*after.repairs, *changed))
    return after


def _to_open(group: QuestionGroup, case: CheckContext) -> QuestionGroup:
    """Multiple choice to open, where no valid options could be made."""
    turns = tuple(replace(turn, options=None, option_values=None, key=()) for turn in group.turns)
    return replace(group, turns=turns, format="open")


def _relabelled(group: QuestionGroup, case: CheckContext) -> QuestionGroup:
    """The modality that the named evidence is of."""
    streams = {one.modality for turn in group.turns for one in case.named(turn)}
    modality = modality_of(streams).value
    return replace(group, modality=modality, turns=tuple(_with_modality(turn, modality) for turn in group.turns))


def _with_modality(turn: Turn, modality: str) -> Turn:
    return replace(turn, spec=replace(turn.spec, modality=modality))


def _ordered(group: QuestionGroup, case: CheckContext) -> QuestionGroup:
    """Narrations in the order of time."""

    def start_s(one: str) -> float:
        return case.evidence[one].span_s[0] if one in case.evidence else 0.0

    turns = (replace(t, spec=replace(t.spec, anchors=tuple(sorted(t.spec.anchors, key=start_s)))) for t in group.turns)
    return replace(group, turns=tuple(turns))


def _cut(group: QuestionGroup, case: CheckContext) -> QuestionGroup:
    """The clip ends at the cutoff."""
    cutoffs = [turn.spec.cutoff_s for turn in group.turns if turn.spec.cutoff_s is not None]
    if not cutoffs:
        return group
    return replace(group, clip=replace(group.clip, end_s=min(group.clip.end_s, *cutoffs), cutoff_safe=True))


def _bound(group: QuestionGroup, case: CheckContext) -> QuestionGroup:
    """Key points that the answer does not say are dropped."""
    turns = []
    for turn in group.turns:
        said = tuple(point for point in turn.key_points if words(point) in words(turn.answer))
        turns.append(replace(turn, key_points=said or (turn.answer.rstrip("."),)))
    return replace(group, turns=tuple(turns))


REPAIRS: Mapping[str, _Mend] = {
    "OPT_DUP": _to_open,
    "OPT_SUBSUMES_KEY": _to_open,
    "OPT_ALSO_TRUE": _to_open,
    "OPT_ELIMINABLE": _to_open,
    "MOD_LABEL_EXTRA": _relabelled,
    "MOD_LABEL_MISSING": _relabelled,
    "NAR_ORDER": _ordered,
    "CLIP_NOT_CUTOFF_SAFE": _cut,
    "KEYPOINT_UNBOUND": _bound,
}


def _differences(before: QuestionGroup, after: QuestionGroup) -> list[tuple[str, Any, Any]]:
    rows: list[tuple[str, Any, Any]] = [
        (name, getattr(before, name), getattr(after, name))
        for name in ("format", "modality")
        if getattr(before, name) != getattr(after, name)
    ]
    if before.clip != after.clip:
        rows.append(("clip.end_s", before.clip.end_s, after.clip.end_s))
    for number, (old, new) in enumerate(zip(before.turns, after.turns, strict=True)):
        for name in ("options", "key_points"):
            if getattr(old, name) != getattr(new, name):
                rows.append((f"turns[{number}].{name}", getattr(old, name), getattr(new, name)))
        if old.spec.anchors != new.spec.anchors:
            rows.append((f"turns[{number}].spec.anchors", old.spec.anchors, new.spec.anchors))
    return rows
