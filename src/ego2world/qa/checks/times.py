"""Videos, intervals and clocks. Stage: qa, check."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from ego2world.qa.checks.case import CheckContext, finding, turns
from ego2world.qa.records import Finding, QuestionGroup

_SECONDS = re.compile(r"(?<![\w.:])(\d+(?:\.\d+)?) s\b")
_BARE = re.compile(
    r"\b(?:at|until|from|after|before) \d+(?:\.\d+)?(?![\w.:]|\s*(?:s|seconds?|min|minutes?|g|ml|degrees?)\b)", re.I
)
CLOCK = re.compile(r"\b\d{1,2}:\d{1,2}(?::\d{1,2})?(?:\.\d+)?\b")
WHOLE = re.compile(r"^(?:\d{1,2}:)?\d{2}:\d{2}(?:\.\d+)?$")
SLACK_S = 1.5  # clips are cut to whole seconds


def media(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """SRC_MEDIA_MISSING, SRC_PART_MISSING"""
    if group.clip.video != case.replayer.episode.id:
        yield finding(
            "SRC_MEDIA_MISSING", "clip.video", f"{group.clip.video!r} is not the video {case.replayer.episode.id}"
        )
    for path, turn in turns(group):
        for one in case.named(turn):
            outside = one.span_s[0] > group.clip.end_s + SLACK_S or one.span_s[1] < group.clip.start_s - SLACK_S
            confirms = one.id == turn.spec.evidence[-1] or one.kind in {
                "track",
                "step",
            }  # shown later, or a whole stretch
            if (
                outside
                and not confirms
                and not group.clip.cutoff_safe
                and group.category not in {"Action Effects", "Ego State"}
            ):
                yield finding(
                    "SRC_PART_MISSING", f"{path}.spec", f"{one.id} at {one.span_s[0]:.1f} s is not in the clip"
                )


def intervals(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """IVL_EMPTY, IVL_OUT_OF_MEDIA, UNIT_SCALE"""
    clip = group.clip
    if clip.end_s <= clip.start_s or clip.start_s < 0:
        yield finding("IVL_EMPTY", "clip", f"[{clip.start_s}, {clip.end_s}) s")
    if clip.end_s > 20 * max(case.end_s, 1.0):
        yield finding(
            "UNIT_SCALE",
            "clip",
            f"ends at {clip.end_s:.0f} s in a video of {case.end_s:.0f} s: frames or milliseconds?",
        )
    elif clip.end_s > case.end_s + SLACK_S:
        yield finding("IVL_OUT_OF_MEDIA", "clip", f"evidence {clip.end_s:.1f} s after end {case.end_s:.1f} s")
    for path, turn in turns(group):
        start_s, end_s = turn.spec.span_s
        if end_s < start_s:
            yield finding("IVL_EMPTY", f"{path}.spec.span_s", f"[{start_s}, {end_s}) s")


def asked(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """IVL_OUTSIDE_PARENT"""
    clip = group.clip
    for path, turn in turns(group):
        for name in ("at_s", "start_s", "end_s", "first_s", "again_s"):
            time_s = getattr(turn.spec.query, name, None)
            if time_s is not None and not clip.start_s - SLACK_S <= time_s <= clip.end_s + SLACK_S:
                yield finding(
                    "IVL_OUTSIDE_PARENT", f"{path}.spec.query.{name}", f"{time_s:.1f} s lies outside of the clip"
                )


def clocks(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """TIME_FORMAT, UNIT_AMBIG, CLOCK_MIX"""
    length_s = group.clip.end_s - group.clip.start_s
    for path, turn in turns(group):
        for text in (turn.question, turn.standalone):
            for found in CLOCK.findall(text):
                if not WHOLE.match(found):
                    yield finding("TIME_FORMAT", f"{path}.question", f"{found!r}; needed hh:mm:ss.sss or seconds")
            if _BARE.search(text) and not CLOCK.search(text):
                yield finding("UNIT_AMBIG", f"{path}.question", f"{_BARE.search(text).group()!r} has no unit")  # type: ignore[union-attr]
            if any(float(number) > length_s + SLACK_S for number in _SECONDS.findall(text)):
                yield finding(
                    "CLOCK_MIX",
                    f"{path}.question",
                    f"a time after the end of the clip at {length_s:.1f} s: of the video's clock?",
                )


def narrations(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """NAR_POINT_ONLY, NAR_ORDER"""
    for path, turn in turns(group):
        spans = [case.evidence[one].span_s for one in turn.spec.anchors if one in case.evidence]
        if spans and all(start_s == end_s for start_s, end_s in spans):
            yield finding(
                "NAR_POINT_ONLY", f"{path}.spec.anchors", f"narrated at {spans[0][0]:.1f} s, without an interval"
            )
        if spans != sorted(spans, key=lambda span_s: span_s[0]):
            yield finding("NAR_ORDER", f"{path}.spec.anchors", "narrations are not in the order of their starts")


def overlaps(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """IVL_OVERLAP_SAME_ENTITY"""
    for path, turn in turns(group):
        tracks = sorted((one for one in case.named(turn) if one.kind == "track"), key=lambda one: one.span_s)
        for one, other in pairwise(tracks):
            if one.source.key.split("/")[1:2] == other.source.key.split("/")[1:2] and other.span_s[0] < one.span_s[1]:
                yield finding(
                    "IVL_OVERLAP_SAME_ENTITY", f"{path}.spec", f"{one.id} and {other.id} move one thing at once"
                )


CHECKS = (media, intervals, asked, clocks, narrations, overlaps)
