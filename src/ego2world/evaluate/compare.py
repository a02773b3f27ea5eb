"""Runs beside each other: intervals of every metric, all pairwise contrasts at once, memory effects in pairs, profiles
by quarter.

over tasks        intervals of one run's metrics, and the contrasts between planners
over episodes     everything about memory: tasks of an episode share a world and a belief, so whole episodes are
resampled
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from ego2world.core.statistics import Interval, cluster_interval, mcnemar_exact, mean_interval, simultaneous_intervals
from ego2world.evaluate.metrics import RESOURCES
from ego2world.tasks.contract import EVENT, TERMINAL

Score = Mapping[str, Any]
CONTRASTED = ("gcr", "action_validity", "completed_rate")  # six planners: 15 pairs x 3 metrics = 45 contrasts
PROFILED = ("visual_queries", "visual_answers", "repeated_region_queries", "attempts", "tokens_in", "tokens_out")
# The paper's paired study (51 terminal-state tasks, 22 episodes), persistent against reset: what it reports, and the
# direction.
PAPER_MEMORY: dict[str, tuple[str, int]] = {
    "action_validity": ("45.94 % against 41.79 %", 1),
    "operational_tsr": ("6 of 51 against 6 of 51", 0),
    "visual_queries": ("-90.27 %", -1),
    "tokens": ("27.14 M against 23.58 M", 1),
    "cross_group_hits": ("351,114 against 0", 1),
    "repeated_region_queries": ("2 against 370", -1),
    "conflicts": ("3 against 218", -1),
}


def intervals(score: Score, seed: int, resamples: int) -> dict[str, dict[str, Any]]:
    """Return the intervals of a run's metrics, pooled and by tier; None where there is no task."""
    tasks = score["per_task"]
    parts = {"all": tasks, **{tier: [t for t in tasks if t["tier"] == tier] for tier in (TERMINAL, EVENT)}}
    return {
        part: {name: _plain(mean_interval(_values(own, name), seed, resamples)) for name in score["metrics"]}
        for part, own in parts.items()
    }


def _values(tasks: Sequence[Mapping[str, Any]], metric: str) -> list[float]:
    """Return a metric's values over the tasks that have it."""
    return [value for t in tasks if (value := t["metrics"][metric]) is not None]


def contrasts(scores: Sequence[Score], labels: Sequence[str], seed: int, resamples: int) -> list[dict[str, Any]]:
    """Return every pair of runs on every contrasted metric, with intervals that hold all at once; zero inside is a tie.

    Only complete runs over the same tasks can be contrasted; others give an empty list.
    """
    if len(scores) < 2 or not comparable(scores) or len(scores[0]["per_task"]) < 2:
        return []
    rows, names = [], []
    for metric in CONTRASTED:
        values = [np.array(_values(_ordered(score), metric)) for score in scores]
        for a, b in combinations(range(len(scores)), 2):
            rows.append(values[a] - values[b])
            names.append((metric, labels[a], labels[b]))
    found = simultaneous_intervals(np.array(rows), seed, resamples=resamples)
    return [
        {"metric": metric, "first": first, "second": second, **interval.plain(), "tie": interval.tie}
        for (metric, first, second), interval in zip(names, found, strict=True)
    ]


def comparable(scores: Sequence[Score]) -> bool:
    """Say whether runs are complete, on the same worlds, and over the same tasks."""
    first = scores[0]
    return all(
        s["complete"] and s["episode_sha256"] == first["episode_sha256"] and _ids(s) == _ids(first) for s in scores
    )


def _ids(score: Score) -> set[tuple[str, str]]:
    return {(t["episode"], t["task"]) for t in score["per_task"]}


def _ordered(score: Score) -> list[Mapping[str, Any]]:
    return sorted(score["per_task"], key=lambda t: (t["episode"], t["task"]))


def memory_pairs(scores: Sequence[Score]) -> list[tuple[int, int]]:
    """Return the pairs of comparable runs that differ in memory only, "persistent" first where it is one of them."""
    pairs = []
    for a, b in combinations(range(len(scores)), 2):
        one, two = scores[a], scores[b]
        alike = all(one.get(k) == two.get(k) for k in ("planner", "model", "limit", "seed", "suite_sha256"))
        if alike and one["memory"] != two["memory"] and comparable([one, two]):
            pairs.append((b, a) if two["memory"] == "persistent" else (a, b))
    return pairs


def memory_effect(first: Score, second: Score, tier: str | None, seed: int, resamples: int) -> dict[str, Any]:
    """Return what changing the memory policy alone changes: outcomes task by task, and resources group by group.

    Args:
        first, second: runs that differ in memory only; effects are first minus second.
        tier: only tasks of this tier, with the resources spent on them; None takes all tasks and every group of the
            episodes.
        seed: of the resampling.
        resamples: how many.
    """
    ones, twos = ([t for t in _ordered(s) if tier in {None, t["tier"]}] for s in (first, second))
    episodes = sorted({t["episode"] for t in ones})
    outcomes = {}
    for name in first["metrics"]:
        pairs = [
            (a["metrics"][name], b["metrics"][name], a)
            for a, b in zip(ones, twos, strict=True)
            if a["metrics"][name] is not None
        ]
        interval = _by_episode([a - b for a, b, _ in pairs], [t for _, _, t in pairs], episodes, seed, resamples)
        outcomes[name] = {
            "first": _mean([a for a, _, _ in pairs]),
            "second": _mean([b for _, b, _ in pairs]),
            "difference": _plain(interval),
            **_direction(name, interval),
        }
    table = mcnemar_exact([t["success"] for t in ones], [t["success"] for t in twos])
    named = {
        which: [
            f"{a['episode']}/{a['task']}"
            for a, b in zip(ones, twos, strict=True)
            if (a["success"], b["success"]) == cell
        ]
        for which, cell in (("only_first", (True, False)), ("only_second", (False, True)))
    }
    return {
        "first": first["memory"],
        "second": second["memory"],
        "planner": first["planner"],
        "model": first.get("model"),
        "tier": tier or "all",
        "tasks": len(ones),
        "episodes": len(episodes),
        "outcomes": outcomes,
        "success": table.plain() | {"discordant_tasks": named},
        "resources": _resources(first, second, tier, seed, resamples),
        "belief": {name: [first["belief"][name], second["belief"][name]] for name in first["belief"]},
    }


def _resources(first: Score, second: Score, tier: str | None, seed: int, resamples: int) -> dict[str, Any]:
    """Return totals of resources and their difference per group, whole episodes resampled."""
    ones, twos = (_episode_sums(s, tier) for s in (first, second))
    episodes = sorted(ones)
    groups = [ones[e]["groups"] for e in episodes]
    found = {}
    for name in (*RESOURCES, "tokens", "attempts"):
        a, b = ([side[e][name] for e in episodes] for side in (ones, twos))
        difference = cluster_interval(np.subtract(a, b), groups, seed, resamples)
        found[name] = {
            "first": int(sum(a)),
            "second": int(sum(b)),
            "change": (sum(a) - sum(b)) / sum(b) if sum(b) else None,
            "per_group": _plain(difference),
            **_direction(name, difference),
        }
    return found


def _episode_sums(score: Score, tier: str | None) -> dict[str, Mapping[str, float]]:
    """Return the resources of each episode: of all its groups, or of the groups that tasks of one tier are made of."""
    rows = {row["episode"]: row["sums"] if tier is None else row["tiers"][tier] for row in score["per_episode"]}
    return {episode: sums for episode, sums in rows.items() if sums["groups"]}


def _by_episode(
    values: Sequence[float], tasks: Sequence[Mapping[str, Any]], episodes: Sequence[str], seed: int, resamples: int
) -> Interval | None:
    own: dict[str, list[float]] = {episode: [] for episode in episodes}
    for value, task in zip(values, tasks, strict=True):
        own[task["episode"]].append(value)
    return cluster_interval([sum(v) for v in own.values()], [len(v) for v in own.values()], seed, resamples)


def _direction(name: str, interval: Interval | None) -> dict[str, Any]:
    """Return the direction of an effect, 0 for a tie, beside the paper's finding; None where there is none."""
    own = None if interval is None else 0 if interval.tie else 1 if interval.value > 0 else -1
    said, direction = PAPER_MEMORY.get(name, (None, None))
    return {"direction": own, "paper": said, "paper_direction": direction}


def profiles(score: Score, seed: int, resamples: int) -> dict[str, list[dict[str, Any] | None]]:
    """Return for each profiled resource four means per group, one a quarter of the episodes, with pointwise
    intervals."""
    rows = score["per_episode"]
    found: dict[str, list[dict[str, Any] | None]] = {}
    for name in PROFILED:
        quarters: list[dict[str, Any] | None] = []
        for q in ("1", "2", "3", "4"):
            sums = [row["quarters"][q][name] for row in rows]
            counts = [row["quarters"][q]["groups"] for row in rows]
            quarters.append(_plain(cluster_interval(sums, counts, seed, resamples)))
        found[name] = quarters
    return found


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if len(values) else None


def _plain(interval: Interval | None) -> dict[str, Any] | None:
    return interval.plain() if interval is not None else None


def compare_runs(
    scores: Sequence[Score], labels: Sequence[str], seed: int = 0, resamples: int = 10_000
) -> dict[str, Any]:
    """Return everything that scores.json says beyond the single runs; seeds and resamples are recorded."""
    pairs = memory_pairs(scores)
    return {
        "seed": seed,
        "resamples": resamples,
        "confidence": 0.95,
        "intervals": {label: intervals(s, seed, resamples) for label, s in zip(labels, scores, strict=True)},
        "contrasts": contrasts(scores, labels, seed, resamples),
        "memory": [
            memory_effect(scores[a], scores[b], tier, seed, resamples)
            for a, b in pairs
            for tier in (TERMINAL, None)
            if any(tier in {None, t["tier"]} for t in scores[a]["per_task"])
        ],
        "profiles": {label: profiles(s, seed, resamples) for label, s in zip(labels, scores, strict=True)},
    }
