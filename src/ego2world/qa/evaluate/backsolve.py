"""Which counts a printed percentage can come from: a check of denominators. Stage: qa, evaluation."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ego2world.annotations.cells import read_csv
from ego2world.errors import AnnotationError, Problem, UsageError


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


def read_figures(path: Path) -> list[dict[str, Any]]:
    """Read a table of printed percentages: columns name, percent, n.

    Raises:
        AnnotationError: columns or numbers are missing; all rows are listed.
        UsageError: no such file.
    """
    if not path.is_file():
        raise UsageError(f"{path}: no such file")
    problems: list[Problem] = []
    rows: list[dict[str, Any]] = []
    for number, row in read_csv(path, ("name", "percent", "n")):
        percent, n = row["percent"].strip().rstrip("%").strip(), row["n"].strip()
        if not re.fullmatch(r"\d+(?:\.\d+)?", percent) or not n.isdigit() or int(n) < 1:
            problems.append(
                Problem(
                    path.name,
                    number,
                    "percent/n",
                    f"{row['percent']!r} of {row['n']!r}",
                    "a percentage as printed, and a number",
                )
            )
            continue
        rows.append({"name": row["name"].strip(), "percent": percent, "n": int(n)})
    if problems or not rows:
        raise AnnotationError(problems or [Problem(path.name, None, None, "no rows", "figures to check")])
    return rows
