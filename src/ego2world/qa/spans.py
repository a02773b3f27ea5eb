"""Intervals in nearly the order of time, looked up without going through all of them. Stage: qa, input."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate


class Spans:
    """Intervals (start_s, end_s) in a fixed order; starts and ends may go back a little from one to the next."""

    def __init__(self, spans: Sequence[tuple[float, float]]) -> None:
        self._latest_end = list(accumulate((end_s for _, end_s in spans), max))
        self._earliest_start = list(accumulate((start_s for start_s, _ in reversed(spans)), min))[::-1]

    def near(self, start_s: float, end_s: float) -> range:
        """Return a range of positions that holds all intervals with a point in [start_s, end_s]."""
        return range(bisect_left(self._latest_end, start_s), bisect_right(self._earliest_start, end_s))

    def around(self, at_s: float, slack_s: float) -> range:
        """Return how many intervals may be over at a time: from those before the first that is not, to the last that
        has begun."""
        low, high = bisect_right(self._latest_end, at_s + slack_s), bisect_left(self._earliest_start, at_s - slack_s)
        return range(low, max(low, high) + 1)
