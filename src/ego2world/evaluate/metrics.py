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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from ego2world.errors import RecordError
from ego2world.tasks.contract import EVENT, TERMINAL

ENDPOINTS = ("parse_failure", "empty_plan", "execution_blocked", "completed_none", "completed_some", "completed_all")
RESOURCES = (
    "visual_queries",
    "visual_answers",
    "repeated_region_queries",
    "cross_group_hits",
    "conflicts",
    "tokens_in",
    "tokens_out",
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
    endpoint: str

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


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Read a record file.

    Raises:
        RecordError: it is missing or a line is no record.
    """
    if not path.is_file():
        raise RecordError(str(path), "missing; is this a run folder? Make one with: ego2world run WORLDS --out RUN")
    rows = []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            rows.append(json.loads(line))
        except ValueError:
            raise RecordError(
                str(path), "a cut or damaged record; run the same command again to resume and mend it", number
            ) from None
    return rows


def score_run(folder: Path) -> dict[str, Any]:
    """Compute scores.json of a run folder.

    Returns:
        Settings, hashes, denominators, metrics pooled and by tier, endpoints, resources (also by quarter), and one row a task.

    Raises:
        RecordError: records are missing or damaged, or the run has not finished.
    """
    if not (folder / "run.json").is_file():
        raise RecordError(
            str(folder), "no run.json; is this a run folder? Make one with: ego2world run WORLDS --out RUN"
        )
    settings = json.loads((folder / "run.json").read_text("utf-8"))
    groups, tasks = read_rows(folder / "groups.jsonl"), read_rows(folder / "tasks.jsonl")
    ended = {row["episode"] for row in tasks if row["type"] == "episode_end"}
    open_episodes = [e for e in settings["episodes"] if e not in ended]
    if open_episodes:
        raise RecordError(
            str(folder),
            f"the run is not finished ({len(open_episodes)} of {len(settings['episodes'])} episodes are open); run the same command again to resume",
        )
    by_episode: dict[str, list[dict[str, Any]]] = {}
    for row in groups:
        by_episode.setdefault(row["episode"], []).append(row)
    scores = [_task(row, by_episode[row["episode"]]) for row in tasks if row["type"] == "task"]
    terminal = [s for s in scores if s.tier == TERMINAL]
    event = [s for s in scores if s.tier == EVENT]
    return {
        "planner": settings["planner"], "memory": settings["memory"], "suite": settings["suite"], "seed": settings["seed"],
        "limit": settings["limit"], "episode_sha256": settings["episode_sha256"],
        "tasks": len(scores), "tasks_terminal": len(terminal), "tasks_event": len(event), "groups": len(groups),
        "metrics": _metrics(scores), "by_tier": {TERMINAL: _metrics(terminal), EVENT: _metrics(event)},
        "endpoints": {end: sum(s.endpoint == end for s in scores) for end in ENDPOINTS},
        "group_endings": _count([row["ending"] for row in groups]),
        "resources": {name: sum(row[name] for row in groups) for name in RESOURCES},
        "resources_by_quarter": {
            str(q): {name: sum(row[name] for row in groups if row["quarter"] == q) for name in RESOURCES} for q in (1, 2, 3, 4)
        },
        "pooled": {name: sum(row[name] for row in groups) for name in ("attempts", "accepted", "repairs")},
        "tasks_without_attempts": [f"{s.episode}/{s.task}" for s in scores if not s.attempts],
        "per_task": [
            {"episode": s.episode, "task": s.task, "tier": s.tier, "success": s.success, "gcr": s.gcr, "endpoint": s.endpoint,
             "attempts": s.attempts, "validity": s.validity, "coverage": s.coverage}
            for s in scores
        ],
    }  # fmt: skip


def _task(row: Mapping[str, Any], groups: Sequence[Mapping[str, Any]]) -> TaskScore:
    own = groups[row["first_group"] : row["last_group"] + 1]
    wanted = {family for group in own for family in group["reference_families"]}
    tried = {family for group in own for family in group["attempted_families"]}
    true = sum(value == "true" for value in row["conditions"])
    return TaskScore(
        row["episode"], row["task"], row["tier"], row["completed"], true, len(row["conditions"]),
        sum(g["attempts"] for g in own), sum(g["accepted"] for g in own), len(wanted & tried) / len(wanted) if wanted else 1.0,
        _endpoint(row, true),
    )  # fmt: skip


def _endpoint(row: Mapping[str, Any], true: int) -> str:
    for ending in ("parse_failure", "empty_plan", "execution_blocked"):
        if ending in row["endings"]:
            return ending
    return "completed_all" if true == len(row["conditions"]) else "completed_some" if true else "completed_none"


def _metrics(scores: Sequence[TaskScore]) -> dict[str, float | None]:
    """Return the metrics of a set of tasks; None where there is no task to average over."""
    terminal = [s for s in scores if s.tier == TERMINAL]

    def mean(values: list[float]) -> float | None:
        return fmean(values) if values else None

    return {
        "operational_tsr": mean([float(s.success) for s in scores]), "strict_tsr": mean([float(s.success) for s in terminal]),
        "gcr": mean([s.gcr for s in scores]), "action_validity": mean([s.validity for s in scores]),
        "completed_rate": mean([float(s.completed) for s in scores]), "reference_coverage": mean([s.coverage for s in scores]),
    }  # fmt: skip


def _count(values: Sequence[str]) -> dict[str, int]:
    return {value: values.count(value) for value in sorted(set(values))}
