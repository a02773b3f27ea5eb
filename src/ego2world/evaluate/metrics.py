"""The metrics of a run, by tier and pooled, with every task of the suite in every denominator.

operational_tsr     share of tasks that completed with every condition true
strict_tsr          the same over terminal-state tasks only
gcr                 mean over tasks of the share of true conditions; 0 for a run that did not complete
action_validity     mean over tasks of accepted / attempted; 0, and listed, for a task without attempts
completed_rate      share of tasks whose groups all completed
reference_coverage  mean over tasks of the share of the reference's action families that were attempted
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from operator import attrgetter
from pathlib import Path
from statistics import fmean
from typing import Any

from ego2world.core.journal import group_rows, read_rows
from ego2world.core.load import load
from ego2world.errors import RecordError, UsageError
from ego2world.run.endings import Ending, Halt
from ego2world.run.records import ended_episodes
from ego2world.tasks.contract import EVENT, TERMINAL


class TaskEndpoint(StrEnum):
    """Where a task's run came to: the ending that stopped it, or how many conditions a completed run made true."""

    PARSE_FAILURE = "parse_failure"
    EMPTY_PLAN = "empty_plan"
    EXECUTION_BLOCKED = "execution_blocked"
    COMPLETED_NONE = "completed_none"
    COMPLETED_SOME = "completed_some"
    COMPLETED_ALL = "completed_all"


RESOURCES = (
    "visual_queries",
    "visual_answers",
    "repeated_region_queries",
    "needless_looks",
    "cross_group_hits",
    "conflicts",
    "tokens_in",
    "tokens_in_cached",
    "tokens_out",
    "tokens_reasoning",
    "tokens_billed",
    "calls",
)
JSON_FIELDS = (
    "planner",
    "memory",
    "model",
    "suite",
    "complete",
    "incomplete",
    "metrics",
    "resources",
    "belief",
    "tasks",
    "groups",
)


@dataclass(frozen=True)
class TaskScore:
    """One task's figures."""

    episode: str
    task: str
    tier: str
    completed: bool
    true_conditions: int
    conditions: int
    attempts: int
    accepted: int
    coverage: float
    endpoint: TaskEndpoint
    resources: Mapping[str, int]
    groups: int

    @property
    def success(self) -> bool:
        """Completed with every condition true."""
        return self.completed and self.true_conditions == self.conditions

    @property
    def gcr(self) -> float:
        """Share of true conditions, 0 for an uncompleted run."""
        return self.true_conditions / self.conditions if self.completed else 0.0

    @property
    def validity(self) -> float:
        """Accepted over attempted, 0 without attempts."""
        return self.accepted / self.attempts if self.attempts else 0.0

    def plain(self, metrics: Mapping[str, Metric]) -> dict[str, Any]:
        """Return the row of scores.json; a metric of the other tier is None."""
        return {
            "metrics": {name: metric.of(self) for name, metric in metrics.items()},
            "episode": self.episode,
            "task": self.task,
            "tier": self.tier,
            "success": self.success,
            "completed": self.completed,
            "gcr": self.gcr,
            "endpoint": self.endpoint,
            "attempts": self.attempts,
            "accepted": self.accepted,
            "validity": self.validity,
            "coverage": self.coverage,
            "resources": dict(self.resources),
            "groups": self.groups,
        }


class Unit(StrEnum):
    """What a metric's value is."""

    SHARE = "share"  # 0 to 1, shown in per cent
    NUMBER = "number"


@dataclass(frozen=True)
class Metric:
    """One metric: its title, the value of a task, its unit, and the tier that it is restricted to.

    A run's value is the mean over tasks.
    """

    title: str
    value: Callable[[TaskScore], float]
    tier: str | None = None
    unit: Unit = Unit.SHARE

    @property
    def scale(self) -> int:
        """By what a value is multiplied to be shown."""
        return 100 if self.unit is Unit.SHARE else 1

    def text(self, value: float) -> str:
        """Return a value as it is shown."""
        return f"{100 * value:.1f} %" if self.unit is Unit.SHARE else f"{value:.2f}"

    def of(self, score: TaskScore) -> float | None:
        """Return a task's value, None for a task of another tier."""
        return float(self.value(score)) if self.tier in {None, score.tier} else None


METRICS: dict[str, Metric] = {
    "operational_tsr": Metric("operational TSR", attrgetter("success")),
    "strict_tsr": Metric("strict TSR", attrgetter("success"), TERMINAL),
    "gcr": Metric("goal conditions reached", attrgetter("gcr")),
    "action_validity": Metric("action validity", attrgetter("validity")),
    "completed_rate": Metric("completed runs", attrgetter("completed")),
    "reference_coverage": Metric("reference coverage", attrgetter("coverage")),
}


def find_metrics(names: Iterable[str]) -> dict[str, Metric]:
    """Return the metrics with those that are named "module:name" added; the last part is what a metric is called.

    Raises:
        UsageError: there is no such thing, it is no ``Metric``, or its name is taken.
    """
    found = dict(METRICS)
    for path in names:
        metric, name = load(path, "metric"), path.rpartition(":")[2]
        if not isinstance(metric, Metric) or name in found:
            why = "its name is taken" if name in found else f"it is a {type(metric).__name__}"
            raise UsageError(f"metric {path!r}: {why}; needed an ego2world.evaluate.metrics.Metric under a new name")
        found[name] = metric
    return found


def score_run(folder: str | Path, metrics: Mapping[str, Metric] = METRICS) -> dict[str, Any]:
    """Compute scores.json of a run folder.

    A run that stopped early is scored as incomplete: ``metrics`` are None, and ``incomplete`` gives them over the
    tasks that were scored beside their lower bound over all tasks, with what kept the others from being scored.

    Args:
        folder: the run.
        metrics: by name; see ``find_metrics``.

    Returns:
        Settings, hashes, denominators, metrics pooled and by tier, endpoints, resources and belief quality (also by
        quarter), and one row a task.

    Raises:
        RecordError: records are missing or damaged.
    """
    folder = Path(folder)
    tasks = read_rows(folder / "tasks.jsonl")  # before the groups: a run that goes on writes a task after its groups
    return score_records(read_settings(folder), read_rows(folder / "groups.jsonl"), tasks, metrics)


def score_records(
    settings: Mapping[str, Any],
    groups: Sequence[dict[str, Any]],
    rows: Sequence[dict[str, Any]],
    metrics: Mapping[str, Metric] = METRICS,
) -> dict[str, Any]:
    """Compute the scores of records that are at hand; see ``score_run``.

    Args:
        settings: as in run.json.
        groups, rows: as in groups.jsonl and tasks.jsonl.
        metrics: by name.
    """
    by_episode = group_rows(groups, "episode")
    latest, duplicates = latest_tasks(rows)
    tasks_of = group_rows(latest, "episode")
    scores = [_task(row, by_episode[row["episode"]]) for row in latest]
    suite_tasks = settings.get("suite_tasks") or [f"{s.episode}/{s.task}" for s in scores]
    stops = [row for row in rows if row["type"] == "episode_stop"]
    scored = {f"{s.episode}/{s.task}" for s in scores}
    unscored = [task for task in suite_tasks if task not in scored]
    ended = ended_episodes(rows)
    broken = {row["episode"] for row in stops if row["reason"] == Halt.SERVICE_ERROR}
    complete = not unscored and set(settings["episodes"]) <= ended
    terminal = [s for s in scores if s.tier == TERMINAL]
    event = [s for s in scores if s.tier == EVENT]
    means = _means(scores, metrics)
    errors = sum(task.rsplit("/", 1)[0] in broken for task in unscored)
    empty = dict.fromkeys(means)
    return {
        **{
            key: settings.get(key)
            for key in ("planner", "memory", "model", "suite", "suite_sha256", "seed", "limit", "episode_sha256")
        },
        "complete": complete,
        "tasks": len(suite_tasks),
        "tasks_scored": len(scores),
        "tasks_terminal": len(terminal),
        "tasks_event": len(event),
        "groups": len(groups),
        "duplicates": duplicates,
        "metrics": means if complete else empty,
        "by_tier": {
            TERMINAL: _means(terminal, metrics) if complete else empty,
            EVENT: _means(event, metrics) if complete else empty,
        },
        "incomplete": (
            None
            if complete
            else {
                "errors": errors,
                "not_run": len(unscored) - errors,
                "episodes_open": [e for e in settings["episodes"] if e not in ended],
                "stops": [{k: row[k] for k in ("episode", "group", "reason", "message")} for row in stops],
                "of_scored": means,
                "lower_bound": {
                    k: _bound(v, len(scores), len(suite_tasks)) for k, v in means.items() if k != "strict_tsr"
                },
            }
        ),
        "endpoints": {end: sum(s.endpoint == end for s in scores) for end in TaskEndpoint},
        "group_endings": _count([row["ending"] for row in groups]),
        "group_reasons": _count([row["reason"] for row in groups if row.get("reason")]),
        "planner_notes": _sum_notes(groups),
        "resources": {name: sum(row.get(name, 0) for row in groups) for name in RESOURCES},
        "resources_by_quarter": {
            str(q): {name: sum(row.get(name, 0) for row in groups if row["quarter"] == q) for name in RESOURCES}
            for q in (1, 2, 3, 4)
        },
        "belief": belief_quality(groups),
        "belief_by_quarter": {
            str(q): belief_quality([row for row in groups if row["quarter"] == q]) for q in (1, 2, 3, 4)
        },
        "pooled": {
            name: sum(row.get(name, 0) for row in groups)
            for name in ("attempts", "accepted", "repairs", "repeats", "calls")
        },
        "tasks_without_attempts": [f"{s.episode}/{s.task}" for s in scores if not s.attempts],
        "per_episode": [{"episode": e, **_episode(own, tasks_of.get(e, []))} for e, own in by_episode.items()],
        "per_task": [s.plain(metrics) for s in scores],
    }


def _episode(groups: Sequence[Mapping[str, Any]], tasks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the sums of an episode's groups: all together, by quarter, and of the groups that tasks of a tier are
    made of."""

    def sums(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
        total = {name: sum(row.get(name, 0) for row in rows) for name in (*RESOURCES, "attempts", "accepted")}
        return total | {"tokens": total["tokens_in"] + total["tokens_out"], "groups": len(rows)}

    members = {
        tier: {n for t in tasks if t["tier"] == tier for n in range(t["first_group"], t["last_group"] + 1)}
        for tier in (TERMINAL, EVENT)
    }
    return {
        "sums": sums(groups),
        "quarters": {str(q): sums([r for r in groups if r["quarter"] == q]) for q in (1, 2, 3, 4)},
        "tiers": {tier: sums([r for n, r in enumerate(groups) if n in own]) for tier, own in members.items()},
    }


def read_settings(folder: Path) -> dict[str, Any]:
    """Read run.json.

    Raises:
        RecordError: it is missing or damaged.
    """
    path = folder / "run.json"
    if not path.is_file():
        raise RecordError(
            str(folder), "no run.json; is this a run folder? Make one with: ego2world run WORLDS --out RUN"
        )
    try:
        settings: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise RecordError(str(path), f"not valid JSON ({error}); restore the file or start the run anew") from None
    return settings


def latest_tasks(rows: Sequence[dict[str, Any]]) -> tuple[list[dict[str, Any]], int]:
    """Return the last row of each (episode, task, trial), in the order of the first, and how many rows were
    superseded."""
    found: dict[tuple[str, str, int], dict[str, Any]] = {}
    tasks = [row for row in rows if row["type"] == "task"]
    for row in tasks:
        found[row["episode"], row["task"], row.get("trial", 0)] = row
    return list(found.values()), len(tasks) - len(found)


def _bound(value: float | None, scored: int, tasks: int) -> float | None:
    """Return a mean over the scored tasks as a mean over all, the others counted 0."""
    return value * scored / tasks if value is not None and tasks else None


def belief_quality(groups: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Return precision, recall and staleness of belief at the groups' ends, pooled, and the share of looks that taught
    nothing."""
    known = [row["belief"] for row in groups if "belief" in row]
    entries, right, wrong, stale, facts = (
        sum(b[k] for b in known) for k in ("entries", "right", "wrong", "stale", "facts")
    )
    looks = sum(row["visual_queries"] for row in groups)
    return {
        "precision": right / entries if entries else None,
        "recall": right / facts if facts else None,
        "stale_share": stale / entries if entries else None,
        "stale_of_wrong": stale / wrong if wrong else None,
        "entries_per_group": entries / len(known) if known else None,
        "needless_looks": sum(row.get("needless_looks", 0) for row in groups) / looks if looks else None,
    }


def _sum_notes(groups: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for row in groups:
        total.update(row.get("planner_notes", {}))
    return dict(sorted(total.items()))


def _task(row: Mapping[str, Any], groups: Sequence[Mapping[str, Any]]) -> TaskScore:
    own = groups[row["first_group"] : row["last_group"] + 1]
    wanted = {family for group in own for family in group["reference_families"]}
    tried = {family for group in own for family in group["attempted_families"]}
    true = sum(value == "true" for value in row["conditions"])
    return TaskScore(
        row["episode"],
        row["task"],
        row["tier"],
        row["completed"],
        true,
        len(row["conditions"]),
        sum(g["attempts"] for g in own),
        sum(g["accepted"] for g in own),
        len(wanted & tried) / len(wanted) if wanted else 1.0,
        _endpoint(row, true),
        {name: sum(g.get(name, 0) for g in own) for name in RESOURCES},
        len(own),
    )


def _endpoint(row: Mapping[str, Any], true: int) -> TaskEndpoint:
    for ending in (Ending.PARSE_FAILURE, Ending.EMPTY_PLAN, Ending.EXECUTION_BLOCKED):
        if ending in row["endings"]:
            return TaskEndpoint(ending)
    if true == len(row["conditions"]):
        return TaskEndpoint.COMPLETED_ALL
    return TaskEndpoint.COMPLETED_SOME if true else TaskEndpoint.COMPLETED_NONE


def _means(scores: Sequence[TaskScore], metrics: Mapping[str, Metric]) -> dict[str, float | None]:
    """Return the metrics of a set of tasks; None where there is no task to average over."""
    found: dict[str, float | None] = {}
    for name, metric in metrics.items():
        values = [value for score in scores if (value := metric.of(score)) is not None]
        found[name] = fmean(values) if values else None
    return found


def _count(values: Sequence[str]) -> dict[str, int]:
    return {value: values.count(value) for value in sorted(set(values))}
