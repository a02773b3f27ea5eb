"""Which counts a printed percentage can come from: a check of denominators. Stage: qa, evaluation."""

from __future__ import annotations

from collections.abc import Iterable


def fractions(percent: str, denominators: Iterable[int]) -> list[tuple[int, int]]:
    """Return all (k, n) whose share prints as the given percentage.

    Args:
        percent: as printed, with its digits, such as "73.13".
        denominators: the n to try.

    >>> fractions("73.13", [345, 67])
    [(49, 67)]
    """
    digits = len(percent.partition(".")[2])
    value = float(percent)
    found = []
    for n in denominators:
        for k in {int(value * n / 100) + step for step in (-1, 0, 1, 2)}:
            if 0 <= k <= n and f"{100 * k / n:.{digits}f}" == f"{value:.{digits}f}":
                found.append((k, n))
    return sorted(found)


def common_denominators(percents: Iterable[str], most: int) -> list[int]:
    """Return the n up to ``most`` that all of the printed percentages fit."""
    wanted = list(percents)
    return [n for n in range(1, most + 1) if all(fractions(percent, [n]) for percent in wanted)]
