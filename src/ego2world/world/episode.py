"""An episode as it is stored: entities, zones, initial state, reference operations, groups and tasks. Read and
verified here."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import msgspec

from ego2world.core.canonical import sha256
from ego2world.core.journal import read_rows, read_versioned
from ego2world.errors import RecordError, UsageError
from ego2world.world.conditions import Condition, parse_condition
from ego2world.world.explain import explain
from ego2world.world.refusal import Refusal
from ego2world.world.state import Action, Entity, State, World
from ego2world.world.step import step

SCHEMA_VERSION = 3
COLLECTION_TABLES = ("operations", "transitions", "notes", "entities", "groups", "tasks", "narrations")
PARTS = ("episode.json", "operations.jsonl", "transitions.jsonl", "notes.jsonl")


@dataclass(frozen=True)
class Group:
    """One action group: an instruction for the agent and the reference operations [first, last] behind it."""

    id: str
    instruction: str
    first: int
    last: int
    narration_ids: tuple[str, ...]
    span_s: tuple[float, float]
    objects: tuple[str, ...]


@dataclass(frozen=True)
class TaskRecord:
    """One task: a run of groups [first_group, last_group] with an instruction and its frozen contract."""

    id: str
    instruction: str
    tier: str
    first_group: int
    last_group: int
    conditions: tuple[Condition, ...]
    source: Mapping[str, Any]
    contract_sha256: str


@dataclass(frozen=True, repr=False)
class Episode:
    """One executable episode."""

    id: str
    world: World
    initial: State
    operations: tuple[Mapping[str, Any], ...]
    actions: tuple[Action, ...]
    groups: tuple[Group, ...]
    tasks: tuple[TaskRecord, ...]
    zone_names: Mapping[str, str]
    narrations: Mapping[str, str]
    sha256: str
    annotations: Mapping[str, Any] = field(
        default_factory=dict
    )  # tables of episode.json: narrations, and those of its context

    def __repr__(self) -> str:
        counts = f"{len(self.world.entities)} entities, {len(self.operations)} operations, {len(self.groups)} groups"
        return f"Episode({self.id!r}, {counts}, {len(self.tasks)} tasks)"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{task.id}</td><td>{task.tier}</td><td>{escape(task.instruction)}</td></tr>" for task in self.tasks
        )
        return (
            f"<p>{escape(repr(self))}</p><table><tr><th>task</th><th>tier</th><th>instruction</th></tr>{rows}</table>"
        )


def _task(file: str, row: Mapping[str, Any]) -> TaskRecord:
    try:
        conditions = tuple(parse_condition(condition) for condition in row["contract"]["conditions"])
    except msgspec.ValidationError as error:
        raise RecordError(file, f"{row['id']}: not a contract ({error}); compile the worlds again") from error
    return TaskRecord(
        row["id"],
        row["instruction"],
        row["tier"],
        row["first_group"],
        row["last_group"],
        conditions,
        row["source"],
        row["contract_sha256"],
    )


def load_manifest(worlds: str | Path) -> Mapping[str, Any]:
    """Read a collection's manifest.

    Raises:
        UsageError: the folder is no collection of worlds.
        RecordError: the manifest is damaged or of another schema version.
    """
    missing = (
        f"{worlds} contains no compiled worlds (no manifest.json); make some with: ego2world compile SOURCE --out"
        f" {worlds}"
    )
    return read_versioned(Path(worlds) / "manifest.json", SCHEMA_VERSION, missing, "compile the worlds again")


def episode_digest(parts: Mapping[str, bytes]) -> str:
    """Return the content hash of an episode from its files' bytes."""
    return sha256(b"".join(f"{name} {sha256(parts[name])}\n".encode() for name in PARTS))


def collection_table(worlds: str | Path, table: str) -> list[dict[str, Any]]:
    """Return the rows of one of ``COLLECTION_TABLES`` over all episodes; each names its episode."""
    rows: list[dict[str, Any]] = []
    for episode in load_manifest(worlds)["episodes"]:
        folder = Path(worlds) / "episodes" / episode
        if f"{table}.jsonl" in PARTS:
            found = read_rows(folder / f"{table}.jsonl")
        else:
            found = json.loads((folder / "episode.json").read_text("utf-8"))[table]
        rows += [{"episode": episode, **row} for row in found]
    return rows


def load_episode(worlds: str | Path, episode_id: str, verify: bool = True) -> Episode:
    """Read one episode and check its bytes against the manifest.

    Raises:
        UsageError: no such episode.
        RecordError: a file is missing, damaged, or not the one that was frozen.
    """
    manifest = load_manifest(worlds)
    known = manifest["episodes"]
    if episode_id not in known:
        raise UsageError(f"{worlds} has no episode {episode_id}; it has: {', '.join(known)}")
    folder = Path(worlds) / "episodes" / episode_id
    parts = {}
    for name in PARTS:
        path = folder / name
        if not path.is_file():
            raise RecordError(str(path), "missing; compile the worlds again")
        parts[name] = path.read_bytes()
    digest = episode_digest(parts)
    if verify and digest != known[episode_id]["sha256"]:
        raise RecordError(
            str(folder),
            f"content hash {digest[:12]}..., frozen as {known[episode_id]['sha256'][:12]}...; the files were changed "
            "after compiling. Restore them or compile again",
        )
    data = json.loads(parts["episode.json"])
    operations = tuple(json.loads(line) for line in parts["operations.jsonl"].splitlines())
    entities = {
        row["id"]: Entity(row["id"], row["type"], row["name"], tuple(row["names"]), tuple(row["evidence"]))
        for row in data["entities"]
    }
    zone_of = {fixture: zone["id"] for zone in data["zones"] for fixture in zone["fixtures"]}
    world = World(entities, tuple(zone["id"] for zone in data["zones"]), zone_of)
    return Episode(
        episode_id,
        world,
        State.from_rows(data["initial_state"]),
        operations,
        tuple(Action.of(row["action"], row["roles"]) for row in operations),
        tuple(
            Group(
                g["id"],
                g["instruction"],
                g["first"],
                g["last"],
                tuple(g["narration_ids"]),
                (g["span_s"][0], g["span_s"][1]),
                tuple(g["objects"]),
            )
            for g in data["groups"]
        ),
        tuple(_task(str(folder / "episode.json"), row) for row in data["tasks"]),
        {zone["id"]: zone["name"] for zone in data["zones"]},
        {n["id"]: n["text"] for n in data["narrations"]},
        digest,
        {"narrations": data["narrations"], **data["context"]},
    )


def reference_states(episode: Episode) -> Iterator[State]:
    """Yield the initial state, then the state after each operation of the reference.

    Raises:
        RecordError: the reference does not replay.
    """
    state = episode.initial
    yield state
    for action in episode.actions:
        after = step(episode.world, state, action)
        if isinstance(after, Refusal):
            raise RecordError(episode.id, f"the reference does not replay ({explain(after)}); compile the worlds again")
        state = after
        yield state
