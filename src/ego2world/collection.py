"""A data set to a frozen collection of worlds on disk: compile, derive, admit, hash, write."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ego2world import __version__
from ego2world.annotations.records import Dataset, Narration
from ego2world.compiler.context import context_rows
from ego2world.compiler.episode import compile_video
from ego2world.compiler.freeze import EpisodeDraft, draft_episode, effect_rows, operation_row, transition_row
from ego2world.compiler.reason import Why, because
from ego2world.compiler.scene import note_row
from ego2world.compiler.truth import KINDS as TRUTH_KINDS
from ego2world.compiler.truth import hidden_agreement
from ego2world.core.canonical import json_lines, pretty_json, write_atomic
from ego2world.core.cluster import workers
from ego2world.core.provenance import Product, code_sha256
from ego2world.tasks.contract import TERMINAL
from ego2world.tasks.derive import Task, borders, derive_tasks
from ego2world.tasks.stress import Span, admission_failures
from ego2world.world.episode import PARTS, SCHEMA_VERSION, episode_digest
from ego2world.world.fluents import NarrationOutcome
from ego2world.world.state import row_fact

Progress = Callable[[str, int, int], None]


class Built(NamedTuple):
    """One compiled video: the bytes of its files, its totals, its action types, its agreement with hidden evidence."""

    parts: dict[str, bytes]
    totals: dict[str, int]
    action_types: list[str]
    truth: dict[str, dict[str, int]]


def build_worlds(
    dataset: Dataset, out: Path, jobs: int = 1, progress: Progress | None = None, ray: str | None = None
) -> Mapping[str, Any]:
    """Compile every video of a data set and write the collection.

    Args:
        dataset: the records.
        out: the folder to write; existing episodes of the same name are replaced, the manifest last.
        jobs: processes; the bytes written do not depend on it.
        progress: called as (episode, done, total) after each episode.
        ray: address of a Ray cluster that compiles, see ``core.cluster``; the bytes are the same again.

    Returns:
        The manifest. A video that fails is named there under ``failed`` with what was wrong, and the others are
        compiled.
    """
    videos = list(dataset.narrations)
    made: dict[str, dict[str, Any]] = {}
    failed: dict[str, str] = {}

    def take(number: int, video: str, result: Built | str) -> None:
        if isinstance(result, str):
            failed[video] = result
        else:
            made[video] = _write(out, video, result)
        if progress:
            progress(video, number, len(videos))

    if ray is not None or (jobs > 1 and len(videos) > 1):
        with workers(jobs, ray) as pool:
            results = pool.map(try_episode, videos, [_only(dataset, video) for video in videos])
            for number, (video, result) in enumerate(zip(videos, results, strict=True), 1):
                take(number, video, result)
    else:
        for number, video in enumerate(videos, 1):
            take(number, video, try_episode(video, dataset))
    manifest = {
        "schema_version": SCHEMA_VERSION,
        "compiler_version": __version__,
        "code_sha256": code_sha256(Product.WORLDS),
        "dataset": dataset.name,
        "sources": dict(dataset.sources),
        "settings": {"videos": videos},
        "warnings": [str(warning) for warning in dataset.warnings],
        "left_out": [str(problem) for problem in dataset.left_out],
        "failed": failed,
        "ambiguous_words": len(dataset.vocabulary.ambiguous),
        "episodes": {
            video: {key: row[key] for key in ("sha256", "totals", "truth")} for video, row in made.items()
        },
        "truth": _agreement([row["truth"] for row in made.values()]),
        "totals": _sum([row["totals"] for row in made.values()], [row["action_types"] for row in made.values()]),
    }
    write_atomic(out / "manifest.json", pretty_json(manifest))
    return manifest


def _only(dataset: Dataset, video: str) -> Dataset:
    """Return the part of a data set that one video needs, to keep what goes to a worker small."""

    def own(rows: Mapping[str, Any]) -> dict[str, Any]:
        return {video: rows[video]} if video in rows else {}

    return replace(
        dataset,
        narrations=own(dataset.narrations),
        associations=own(dataset.associations),
        activities=own(dataset.activities),
        sounds=own(dataset.sounds),
        mistakes=own(dataset.mistakes),
        priming=(),
        warnings=(),
        left_out=(),
    )


def try_episode(video: str, dataset: Dataset) -> Built | str:
    """Compile one video, or say what was wrong with it: one video must not take the others with it."""
    try:
        return build_episode(video, dataset)
    except Exception as error:  # whatever it is, it is reported with its video, and the others go on
        return f"{type(error).__name__}: {error}"


def build_episode(video: str, dataset: Dataset) -> Built:
    """Compile one video to the bytes of its files, its totals and its action types."""
    draft = draft_episode(compile_video(video, dataset), dataset, borders(video, dataset))
    tasks, notes = derive_tasks(draft, dataset)
    admitted: list[Task] = []
    for task in tasks:
        failures = admission_failures(task.contract, span_of(draft, task.first, task.last))
        if failures:
            evidence = [task.source.get("step") or task.source["label"]]
            notes.append(note_row("admit", because(Why.NOT_ADMITTED, failures=failures), evidence))
        else:
            admitted.append(task)
    rows = [operation_row(i, o) for i, o in enumerate(draft.operations, 1)]
    for i, row in enumerate(rows):
        row |= effect_rows(draft.states[i], draft.states[i + 1], draft.world, draft.operations[i])
    parts = {
        "episode.json": pretty_json(
            _episode(draft, admitted, dataset.name, dataset.narrations[video])
            | {"context": context_rows(video, dataset)}
        ),
        "operations.jsonl": json_lines(rows),
        "transitions.jsonl": json_lines(
            transition_row(draft.world, i, o, draft.states[i - 1], draft.states[i])
            for i, o in enumerate(draft.operations, 1)
        ),
        "notes.jsonl": json_lines([*draft.notes, *({"id": f"note_t{i:04d}", **n} for i, n in enumerate(notes, 1))]),
    }
    types = sorted({o.action.name for o in draft.operations})
    totals = {
        "videos": 1,
        "narrations": len(draft.outcomes),
        **{outcome.value: sum(o is outcome for o in draft.outcomes.values()) for outcome in NarrationOutcome},
        "operations": len(draft.operations),
        "operations_inferred": sum(o.inferred for o in draft.operations),
        "action_types_used": len(types),
        "entities": len(draft.world.entities),
        "associations": len([a for a in dataset.associations.get(video, ()) if not a.placeholder]),
        "groups": len(draft.groups),
        "tasks": len(admitted),
        "tasks_terminal": sum(t.contract.tier == TERMINAL for t in admitted),
        "tasks_event": sum(t.contract.tier != TERMINAL for t in admitted),
        "conditions": sum(len(t.contract.conditions) for t in admitted),
    }
    truth = {kind: found.plain() for kind, found in hidden_agreement(video, dataset).items()}
    return Built(parts, totals, types, truth)


def span_of(draft: EpisodeDraft, first: int, last: int) -> Span:
    """Return the reference's part [first, last] (operation indices)."""
    return Span(draft.world, draft.states[first : last + 2], [o.action for o in draft.operations[first : last + 1]])


def _episode(
    draft: EpisodeDraft, tasks: Sequence[Task], dataset: str, narrations: Sequence[Narration]
) -> dict[str, Any]:
    world = draft.world
    return {
        "schema_version": SCHEMA_VERSION,
        "id": draft.id,
        "dataset": dataset,
        "entities": [
            {"id": e.id, "type": e.type, "name": e.name, "names": list(e.names), "evidence": list(e.evidence)}
            for e in sorted(world.entities.values(), key=lambda e: e.id)
        ],
        "zones": [
            {
                "id": zone,
                "name": draft.zone_names[zone],
                "fixtures": sorted(f for f, z in world.zone_of.items() if z == zone),
            }
            for zone in world.zones
        ],
        "narrations": [
            {
                "id": n.id,
                "text": n.text,
                "span_s": [n.start_s, n.end_s],
                "file": n.file,
                "row": n.row,
                "outcome": draft.outcomes[n.id].value,
            }
            for n in narrations
        ],
        "initial_state": draft.initial.rows(),
        "initial_basis": [draft.initial_basis[row_fact(row)[0]].value for row in draft.initial.rows()],
        "initial_state_sha256": draft.initial.digest(),
        "final_state_sha256": draft.states[-1].digest(),
        "groups": [
            {
                "id": g.id,
                "instruction": g.instruction,
                "first": g.first,
                "last": g.last,
                "narration_ids": list(g.narration_ids),
                "span_s": list(g.span_s),
                "objects": list(g.objects),
            }
            for g in draft.groups
        ],
        "tasks": [
            {
                "id": t.id,
                "instruction": t.instruction,
                "tier": t.contract.tier,
                "first_group": t.first_group,
                "last_group": t.last_group,
                "contract": t.contract.plain(),
                "contract_sha256": t.contract.digest(),
                "source": dict(t.source),
            }
            for t in tasks
        ],
    }


def _write(out: Path, video: str, built: Built) -> dict[str, Any]:
    """Write one episode's files and return what the manifest says of it."""
    for name in PARTS:
        write_atomic(out / "episodes" / video / name, built.parts[name])
    row = built._asdict() | {"sha256": episode_digest(built.parts)}
    del row["parts"]
    return row


def _agreement(rows: Sequence[Mapping[str, Mapping[str, int]]]) -> dict[str, dict[str, int]]:
    """Return the agreement with hidden evidence over all videos."""
    return {
        kind: {key: sum(row[kind][key] for row in rows) for key in ("agree", "of", "unknown")} for kind in TRUTH_KINDS
    }


def _sum(totals: Sequence[Mapping[str, int]], types: Sequence[Sequence[str]]) -> dict[str, int]:
    keys = list(dict.fromkeys(key for row in totals for key in row))
    summed = {key: sum(row[key] for row in totals) for key in keys}
    summed["action_types_used"] = len({name for row in types for name in row})
    return summed
