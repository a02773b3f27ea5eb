"""What the rules of all prototypes share: options that hold, and times as the questions write them. Stage: qa, vqa."""

from __future__ import annotations

import re

from ego2world.annotations.cells import parse_seconds
from ego2world.qa.items import Item
from ego2world.qa.vqa.archive import Row

Holding = dict[str, list[Row]]  # option -> the rows that make it true
Span = tuple[str, float, float]

EXACT_S = 0.006  # times in questions are rounded to milliseconds
_SPAN_TIME = re.compile(r"<TIME ([\d:.]+) video (\d+)>")
_TIME = re.compile(r"<TIME ([\d:.]+)(?: video \d+)?>")


def spans_of(item: Item, text: str) -> list[Span]:
    """Return the spans that a text names, as (video, start_s, end_s)."""
    times = [(seconds(time), video) for time, video in _SPAN_TIME.findall(text)]
    inputs = (item.extra or {}).get("inputs", {})
    pairs = zip(times[::2], times[1::2], strict=False)
    return [(str(inputs.get(f"video {video}", {}).get("id", "")), a, b) for (a, video), (b, _) in pairs]


def times_of(text: str) -> list[float]:
    """Return the times that a text names, in seconds."""
    return [seconds(time) for time in _TIME.findall(text)]


def seconds(text: str) -> float:
    """Return seconds of a time as the questions write it; parts of a second may stand for tenths ("00:03:1.8")."""
    value = parse_seconds(text)
    return -1.0 if value is None else value
