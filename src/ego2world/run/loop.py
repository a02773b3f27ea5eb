"""Running planners over episodes, group by group, with records appended as they happen and resumed after a kill.

An episode is the unit that is repeated: rows of episodes that were not finished are dropped when a run resumes, and these
episodes run again from their start. Since planners, belief and world are deterministic, a resumed run ends with the same
records as one that was never killed.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from ego2world import __version__
from ego2world.agents import Act, Belief, Context, Done, Look, Memory, Planner, make_planner
from ego2world.core.canonical import canonical_json, pretty_json, sha256, write_atomic
from ego2world.errors import RecordError, UsageError
from ego2world.run.environment import Environment
from ego2world.tasks.contract import Contract, Event
from ego2world.world.actions import BY_NAME
from ego2world.world.episode import Episode, Group, load_episode, load_manifest
from ego2world.world.observation import Feedback, Proposal

RECORDS = ("attempts.jsonl", "groups.jsonl", "tasks.jsonl")
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Settings:
    """What a run is made with; stored in run.json."""

    planner: str
    memory: Memory
    limit: int = 80
    seed: int = 0
    suite: str = "all"
    script: str | None = None
    episodes: tuple[str, ...] = ()


def run(
    worlds: Path,
    out: Path,
    settings: Settings,
    suite: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Run a planner over a collection (or a suite of it) and return run.json.

    Raises:
        UsageError: unknown episodes, or settings that differ from those the run folder was begun with.
        RecordError: the run folder belongs to other worlds, or artefacts were changed.
    """
    manifest = load_manifest(worlds)
    chosen = list(settings.episodes or (suite or {}).get("episodes") or manifest["episodes"])
    unknown = [e for e in chosen if e not in manifest["episodes"]]
    if unknown:
        raise UsageError(f"{worlds} has no episode {', '.join(unknown)}; it has: {', '.join(manifest['episodes'])}")
    frozen = {e: manifest["episodes"][e]["sha256"] for e in chosen}
    if suite is not None and suite.get("episode_sha256", frozen) != frozen:
        raise RecordError(
            str(worlds),
            f"suite {settings.suite} was fixed on other worlds (hashes differ); compile the same worlds or make the suite again",
        )
    script_hash = sha256(Path(settings.script).read_bytes()) if settings.script else None
    record = {
        "planner": settings.planner, "memory": settings.memory.value, "limit": settings.limit, "seed": settings.seed,
        "suite": settings.suite, "suite_tasks": (suite or {}).get("tasks"), "script_sha256": script_hash, "episodes": chosen,
        "episode_sha256": frozen, "worlds_dataset": manifest["dataset"], "ego2world": __version__, "python": platform.python_version(),
    }  # fmt: skip
    _open_run(out, record)
    finished = _finished(out, chosen)
    _keep_only(out, finished)
    for number, episode_id in enumerate(chosen, 1):
        if episode_id not in finished:
            episode = load_episode(worlds, episode_id)
            script = Path(settings.script) if settings.script else None
            recorded = {
                g.id: [Proposal(a.name, dict(a.roles)) for a in episode.actions[g.first : g.last + 1]]
                for g in episode.groups
            }
            planner = make_planner(settings.planner, episode_id, recorded, settings.seed + number, script)
            _run_episode(episode, planner, settings, record["suite_tasks"], out)
        if progress:
            progress(episode_id, number, len(chosen))
    return record


def _open_run(out: Path, record: Mapping[str, Any]) -> None:
    path = out / "run.json"
    if path.is_file():
        before = json.loads(path.read_text("utf-8"))
        if before.get("episode_sha256") != record["episode_sha256"]:
            raise RecordError(
                str(path), "this run was made on other worlds (hashes differ); choose another --out folder"
            )
        changed = [
            k
            for k in ("planner", "memory", "limit", "seed", "suite", "script_sha256", "suite_tasks")
            if before.get(k) != record[k]
        ]
        if changed:
            raise UsageError(
                f"{out} holds a run with other settings ({', '.join(changed)}); choose another --out folder"
            )
        return
    if out.is_dir() and any((out / name).exists() for name in RECORDS):
        raise RecordError(str(out), "records without run.json; choose another --out folder")
    write_atomic(path, pretty_json(record))


def _rows(path: Path) -> list[dict[str, Any]]:
    """Read the complete lines of a record file; a last line that was cut by a kill is left out."""
    if not path.is_file():
        return []
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    rows = []
    for number, line in enumerate(whole.splitlines(), 1):
        try:
            rows.append(json.loads(line))
        except ValueError:
            raise RecordError(str(path), "not a JSON record; restore the file or start the run anew", number) from None
    return rows


def _finished(out: Path, chosen: Sequence[str]) -> set[str]:
    done = {row["episode"] for row in _rows(out / "tasks.jsonl") if row.get("type") == "episode_end"}
    return done & set(chosen)


def _keep_only(out: Path, finished: set[str]) -> None:
    """Drop rows of unfinished episodes; the files are replaced whole."""
    for name in RECORDS:
        path = out / name
        if path.is_file():
            rows = [row for row in _rows(path) if row["episode"] in finished]
            write_atomic(path, b"".join(canonical_json(row) + b"\n" for row in rows))


class _Writer:
    """Appends records, each line whole and flushed."""

    def __init__(self, out: Path) -> None:
        self.files: dict[str, TextIO] = {name: (out / name).open("a", encoding="utf-8") for name in RECORDS}

    def add(self, name: str, row: Mapping[str, Any]) -> None:
        self.files[name].write(canonical_json(row).decode() + "\n")
        self.files[name].flush()

    def close(self) -> None:
        for file in self.files.values():
            file.close()


def _run_episode(
    episode: Episode, planner: Planner, settings: Settings, suite_tasks: Sequence[str] | None, out: Path
) -> None:
    environment = Environment(episode)
    belief = Belief(settings.memory)
    writer = _Writer(out)
    try:
        endings: list[str] = []
        events: list[list[Event]] = []
        for number, group in enumerate(episode.groups):
            ending, accepted, row = run_group(environment, planner, belief, group, settings, writer)
            endings.append(ending)
            events.append(accepted)
            writer.add(
                "groups.jsonl",
                {
                    "episode": episode.id,
                    "group": group.id,
                    "number": number,
                    "quarter": 1 + 4 * number // len(episode.groups),
                    **row,
                },
            )
            for task in episode.tasks:
                if task.last_group == number and (suite_tasks is None or f"{episode.id}/{task.id}" in suite_tasks):
                    writer.add("tasks.jsonl", _task_row(episode, task, environment, endings, events))
        writer.add(
            "tasks.jsonl", {"type": "episode_end", "episode": episode.id, "state_sha256": environment.state.digest()}
        )
    finally:
        writer.close()


def _task_row(
    episode: Episode, task: Any, environment: Environment, endings: Sequence[str], events: Sequence[Sequence[Event]]
) -> dict[str, Any]:
    contract = Contract.of(task.contract)
    own = [event for group in events[task.first_group : task.last_group + 1] for event in group]
    truths = contract.each(environment.state, own)
    completed = all(ending == "completed" for ending in endings[task.first_group : task.last_group + 1])
    return {
        "type": "task", "episode": episode.id, "task": task.id, "tier": task.tier, "completed": completed,
        "first_group": task.first_group, "last_group": task.last_group,
        "endings": list(endings[task.first_group : task.last_group + 1]), "conditions": [t.value for t in truths],
        "contract_sha256": task.contract_sha256,
    }  # fmt: skip


def run_group(
    environment: Environment, planner: Planner, belief: Belief, group: Group, settings: Settings, writer: _Writer
) -> tuple[str, list[Event], dict[str, Any]]:
    """Run one group to one of its endings.

    Returns:
        The ending, the events of the accepted attempts, and the group's record.
    """
    belief.begin_group(group.id)
    hits = belief.cross_group_hits
    context = Context(environment.brief(group), environment.local(), belief, None, settings.limit)
    belief.see_local(context.local)
    planner.begin_group(context)
    count = {
        "attempts": 0,
        "accepted": 0,
        "repairs": 0,
        "visual_queries": 0,
        "visual_answers": 0,
        "repeated_region_queries": 0,
        "conflicts": 0,
    }
    events: list[Event] = []
    types: set[str] = set()
    ending = "completed"
    looks_in_a_row = 0
    while True:
        step = planner.next_step(context)
        context.feedback = None
        if isinstance(step, Done):
            if step.reason == "parse_failure":
                ending = "parse_failure"
            elif count["attempts"] == 0:
                ending = "empty_plan"
            break
        if isinstance(step, Look):
            looks_in_a_row += 1
            if looks_in_a_row > 20:
                ending = "execution_blocked"
                break
            _look(environment, belief, step, count)
            belief.see_local(context.local)
            continue
        looks_in_a_row = 0
        if count["attempts"] >= settings.limit:
            ending = "execution_blocked"
            break
        feedback = _attempt(environment, step, group, count, events, types, writer)
        belief.tick()
        context.feedback, context.local = feedback, environment.local()
        context.attempts_left = settings.limit - count["attempts"]
        belief.see_local(context.local)
    key = {
        environment.episode.operations[i]["family"]
        for i in range(group.first, group.last + 1)
        if not environment.episode.operations[i]["inferred"]
    }
    row = {
        "ending": ending, **count, "cross_group_hits": belief.cross_group_hits - hits,
        "tokens_in": 0, "tokens_out": 0, "reference_families": sorted(key), "attempted_families": sorted(types),
    }  # fmt: skip
    return ending, events, row


def _look(environment: Environment, belief: Belief, step: Look, count: dict[str, int]) -> None:
    view = environment.look()
    count["visual_queries"] += 1
    count["visual_answers"] += any(thing.id == step.seeking for thing in view.content)
    count["repeated_region_queries"] += view.zone in belief.queried
    count["conflicts"] += view.conflict_about(step.seeking)
    belief.see_region(view)


def _attempt(
    environment: Environment,
    step: Act,
    group: Group,
    count: dict[str, int],
    events: list[Event],
    types: set[str],
    writer: _Writer,
) -> Feedback:
    attempt, feedback = environment.attempt(step.proposal)
    count["attempts"] += 1
    count["accepted"] += attempt.accepted
    count["repairs"] += step.proposal.by == "repair"
    if attempt.action is not None:
        from_type = feedback.proposal.action
        types.add(_family(from_type))
        if attempt.accepted:
            events.append(Event.of(attempt.action))
    writer.add(
        "attempts.jsonl",
        {
            "episode": environment.episode.id, "group": group.id, "number": count["attempts"], "by": step.proposal.by,
            "action": step.proposal.action, "roles": {r: list(v) if isinstance(v, tuple) else v for r, v in step.proposal.roles.items()},
            "accepted": attempt.accepted,
            "failures": [{"code": f.code.value, "entity": f.entity, "needed": f.needed, "found": f.found} for f in attempt.failures],
            "repair": [a.plain() for a in attempt.repair],
        },
    )  # fmt: skip
    return feedback


def _family(action: str) -> str:
    kind = BY_NAME.get(action)
    return kind.family if kind is not None else action
