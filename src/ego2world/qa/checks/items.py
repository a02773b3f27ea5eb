"""Checks of items from elsewhere, without a world. Stage: qa, check."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from ego2world.qa.checks.answers import option_findings
from ego2world.qa.checks.case import finding
from ego2world.qa.checks.fields import PLACEHOLDER
from ego2world.qa.items import Item
from ego2world.qa.records import Finding

TAG = re.compile(r"<(TIME|BBOX)\s+([^<>]*)>")
TIME = re.compile(r"^(\d{1,2}):([0-5]?\d):([0-5]\d(?:\.\d+)?|60(?:\.0+)?)$")
PICTURE_PX = 1408.0  # HD-EPIC's pictures are square


def item_findings(items: Sequence[Item], durations_s: Mapping[str, float] | None = None) -> dict[str, list[Finding]]:
    """Return what is found: item id -> findings. ``durations_s``: of the videos, where they are known."""
    found: dict[str, list[Finding]] = defaultdict(list)
    ids: Counter[str] = Counter()
    split_of: dict[str, str] = {}
    for item in items:
        ids[item.id] += 1
        if ids[item.id] > 1:
            found[item.id].append(finding("ID_DUP", "id", f"{item.id} stands there {ids[item.id]} times"))
        found[item.id] += list(_one(item, durations_s or {}))
        for video in item.videos if item.split else ():
            if split_of.setdefault(video, item.split) != item.split:
                found[item.id].append(
                    finding("SPLIT_LEAK_VIDEO", "split", f"{video} is in {split_of[video]} and in {item.split}")
                )
    return {name: rows for name, rows in found.items() if rows}


def _one(item: Item, durations_s: Mapping[str, float]) -> Iterator[Finding]:
    if PLACEHOLDER.search(item.question):
        yield finding("FIELD_EMPTY", "question", f"placeholder question {item.question!r}")
    if not item.options and not item.answer.strip():
        yield finding("FIELD_EMPTY", "answer", "no reference answer")
    for letter, text in (item.options or {}).items():
        if not text.strip():
            yield finding("FIELD_EMPTY", f"options.{letter}", "an option is empty")
    if item.options:
        yield from option_findings("", item.question, item.options, item.key, item.answer)
    if item.start_s is not None and item.end_s is not None and item.end_s <= item.start_s:
        yield finding("IVL_EMPTY", "start_s", f"[{item.start_s}, {item.end_s}) s")
    known = [durations_s[video] for video in item.videos if video in durations_s]
    if item.end_s is not None and known and item.end_s > max(known) + 0.05:
        code = "UNIT_SCALE" if item.end_s > 20 * max(known) else "IVL_OUT_OF_MEDIA"
        yield finding(code, "end_s", f"evidence {item.end_s} s after end {max(known)} s")
    if durations_s:
        for video in item.videos:
            if video not in durations_s:
                yield finding("SRC_MEDIA_MISSING", "videos", f"no video {video}")
    for text in (item.question, *(item.options or {}).values()):
        yield from _tags(text)


def _tags(text: str) -> Iterator[Finding]:
    for kind, inner in TAG.findall(text):
        if kind == "TIME":
            time = inner.split()[0] if inner.split() else ""
            if not TIME.match(time):
                yield finding("TIME_FORMAT", "question", f"{time!r}; needed hh:mm:ss.sss")
            continue
        numbers = [float(n) for n in re.findall(r"-?\d+(?:\.\d+)?", inner)]
        if len(numbers) != 4 or numbers[0] >= numbers[2] or numbers[1] >= numbers[3]:
            yield finding("BOX_ORDER", "question", f"{inner!r}; needed the upper left corner, then the lower right one")
        elif min(numbers) < -0.5 or max(numbers) > PICTURE_PX + 0.5:
            yield finding("BOX_OOB", "question", f"{inner!r} in a picture of {PICTURE_PX:.0f} px")
