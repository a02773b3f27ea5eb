"""Action overlap against goal attainment: does doing what the reference did mean reaching what it reached?

The overlap of a task is the F1 of accepted (family, object) pairs, as multisets, against the reference's own. It says
nothing of order or targets, which is the point: overlap can be high where the goal is not reached.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats

HIGH = 0.8  # an overlap from here on counts as high


def overlap(done: Counter[tuple[str, str]], reference: Counter[tuple[str, str]]) -> float:
    """Return the F1 of two multisets; 1 where both are empty."""
    both = sum((done & reference).values())
    total = sum(done.values()) + sum(reference.values())
    return 2 * both / total if total else 1.0


def overlap_summary(tasks: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return how overlap and attainment go together over tasks with ``overlap``, ``gcr`` and ``success``.

    The rank correlation is None where one of them does not vary.
    """
    overlaps, gcr = np.array([t["overlap"] for t in tasks]), np.array([t["gcr"] for t in tasks])
    high = [t for t in tasks if t["overlap"] >= HIGH]
    varies = len(tasks) > 2 and np.ptp(overlaps) > 0 and np.ptp(gcr) > 0
    return {
        "tasks": len(tasks),
        "mean_overlap": float(overlaps.mean()) if len(tasks) else None,
        "mean_gcr": float(gcr.mean()) if len(tasks) else None,
        "spearman": float(stats.spearmanr(overlaps, gcr).statistic) if varies else None,
        "high_overlap": len(high),
        "high_overlap_not_reached": sum(not t["success"] for t in high),
    }
