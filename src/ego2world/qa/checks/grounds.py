"""Evidence and modality: what an answer rests on, and which streams it needs. Stage: qa, check."""

from __future__ import annotations

from collections.abc import Iterator

from ego2world.qa.checks.case import CheckContext, finding, turns
from ego2world.qa.queries import ClauseQuery, SaidQuery
from ego2world.qa.records import Finding, QuestionGroup

EVENT_S = 10.0


def named(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """EV_NONE, EV_NARRATION_ONLY, EV_FROM_QA"""
    for path, turn in turns(group):
        found = case.named(turn)
        if any(one.startswith(("qa_", "spec_")) for one in turn.spec.evidence):
            yield finding("EV_FROM_QA", f"{path}.spec", "a question or answer is named as evidence")
        elif not turn.spec.evidence:
            yield finding("EV_NONE", f"{path}.spec", "no evidence is named")
        elif found and all(one.anchor_only for one in found):
            yield finding(
                "EV_NARRATION_ONLY", f"{path}.spec", "narrations anchor an event in time and are no proof of a state"
            )


def events(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """EV_OUTSIDE_EVENT"""
    for path, turn in turns(group):
        spans = [one.span_s for one in case.named(turn)]
        anchors = [case.evidence[one].span_s for one in turn.spec.anchors if one in case.evidence]
        if (
            spans
            and anchors
            and not any(a[0] - EVENT_S < s[1] and s[0] < a[1] + EVENT_S for s in spans for a in anchors)
        ):
            yield finding("EV_OUTSIDE_EVENT", f"{path}.spec", f"no evidence within {EVENT_S:.0f} s of the event")


def proposed(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """EV_OUTSIDE_EVENT of quotes: the event that is named is told of by the narration that is quoted"""
    for path, turn in turns(group):
        query = turn.spec.query
        if isinstance(query, SaidQuery):
            told = [one for one in (*turn.spec.direct, *turn.spec.new) if one in case.numbers]
            rows = [case.replayer.episode.operations[case.numbers[one]] for one in told]
            if rows and not any(query.narration in row["narration_ids"] for row in rows):
                yield finding(
                    "EV_OUTSIDE_EVENT", f"{path}.spec", f"{query.narration} does not tell of {', '.join(told)}"
                )


def quotes(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """EV_QUOTE_NOT_FOUND"""
    for path, turn in turns(group):
        query = turn.spec.query
        if isinstance(query, (ClauseQuery, SaidQuery)) and query.narration in case.evidence:
            if str(turn.spec.value).lower() not in case.evidence[query.narration].text.lower():
                yield finding(
                    "EV_QUOTE_NOT_FOUND", f"{path}.spec.value", f"{turn.spec.value!r} is not in {query.narration}"
                )


def streams(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """MOD_STREAM_ABSENT, MOD_LABEL_EXTRA, MOD_LABEL_MISSING, MOD_REDUNDANT, AV_UNLINKED"""
    wanted = {"audio-visual": {"audio", "visual"}, "audio": {"audio"}, "visual": {"visual"}}.get(group.modality, set())
    found = [one for _, turn in turns(group) for one in case.named(turn)]
    there = {one.modality for one in found}
    if "audio" in wanted and not any(one.modality == "audio" for one in case.evidence.values()):
        yield finding("MOD_STREAM_ABSENT", "modality", "nothing is known of this video's sound")
        return
    if found and wanted - there:
        yield finding(
            "MOD_LABEL_EXTRA", "modality", f"{', '.join(sorted(wanted - there))} is required and no evidence is of it"
        )
    if there - wanted:
        yield finding(
            "MOD_LABEL_MISSING", "modality", f"evidence is {', '.join(sorted(there - wanted))}, which is not required"
        )
    if wanted == {"audio", "visual"} == there:
        for stream in ("audio", "visual"):
            if all(
                case.replayer.answer(
                    turn.spec.query, frozenset(one.id for one in case.named(turn) if one.modality == stream)
                )
                == turn.spec.value
                for _, turn in turns(group)
            ):
                yield finding("MOD_REDUNDANT", "modality", f"the answer stays the same without anything {stream}")
        heard = [one.span_s for one in found if one.modality == "audio"]
        seen = [one.span_s for one in found if one.modality == "visual"]
        if not any(h[0] < s[1] and s[0] < h[1] for h in heard for s in seen):
            yield finding("AV_UNLINKED", "modality", "no sound overlaps what is seen")


CHECKS = (named, events, proposed, quotes, streams)
