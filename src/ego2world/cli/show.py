"""ego2world show"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from ego2world.cli.common import out, print_json
from ego2world.errors import UsageError
from ego2world.tasks.contract import Contract, describe
from ego2world.world.episode import Episode, load_episode, load_manifest


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("show")
    def show_command(
        worlds: Path = typer.Argument(help="A compiled collection."),
        episode: str | None = typer.Argument(None, help="An episode in the collection."),
        task: str | None = typer.Argument(None, help="A task in the episode."),
        as_json: bool = typer.Option(False, "--json", help="Print as JSON."),
    ) -> None:
        """Show what is in a collection, an episode, or a task.

        Example: ego2world show worlds P01-20240202-110250 task_002
        """
        if episode is None:
            _collection(worlds, as_json)
            return
        loaded = load_episode(worlds, episode)
        if task is None:
            _episode(loaded, as_json)
        else:
            _task(loaded, task, as_json)


def _collection(worlds: Path, as_json: bool) -> None:
    manifest = load_manifest(worlds)
    if as_json:
        print_json(manifest)
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("episode")
    keys = ("narrations", "operations", "operations_inferred", "entities", "groups", "tasks", "tasks_terminal")
    for key in keys:
        table.add_column(key.replace("_", " "), justify="right")
    for name, row in manifest["episodes"].items():
        table.add_row(name, *(str(row["totals"][key]) for key in keys))
    out.print(table)


def _episode(episode: Episode, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "id": episode.id,
                "sha256": episode.sha256,
                "tasks": [dict(id=t.id, instruction=t.instruction, tier=t.tier) for t in episode.tasks],
            }
        )
        return
    for zone in episode.world.zones:
        fixtures = sorted(episode.world.entities[f].name for f, z in episode.world.zone_of.items() if z == zone)
        out.print(f"{zone}: {', '.join(fixtures)}", soft_wrap=True, markup=False)
    out.print()
    table = Table(box=None, pad_edge=False, expand=True)
    for name, width in (("time", 9), ("narration", 4), ("operations", 4)):
        table.add_column(name, ratio=width if name != "time" else None, overflow="fold", no_wrap=name == "time")
    shown: dict[str, list[str]] = defaultdict(list)
    order: list[str] = []
    for operation in episode.operations:
        key = operation["narration_ids"][0] if operation["narration_ids"] else f"+{operation['id']}"
        if key not in shown:
            order.append(key)
        mark = "+ " if operation["inferred"] else ""
        shown[key].append(mark + operation["says"])
    times = {(o["narration_ids"] or [f"+{o['id']}"])[0]: o["span_s"][0] for o in episode.operations}
    for key in order:
        table.add_row(f"{times[key]:.1f} s", episode.narrations.get(key, "(inferred)"), "; ".join(shown[key]))
    out.print(table, markup=False)
    out.print()
    for task in episode.tasks:
        out.print(
            f"{task.id}  {task.tier:<14}  groups {task.first_group + 1}-{task.last_group + 1}  {task.instruction}",
            soft_wrap=True,
            markup=False,
        )


def _task(episode: Episode, task_id: str, as_json: bool) -> None:
    task = next((t for t in episode.tasks if t.id == task_id), None)
    if task is None:
        raise UsageError(
            f"{episode.id} has no task {task_id}; it has: {', '.join(t.id for t in episode.tasks) or 'none'}"
        )
    if as_json:
        print_json(
            {
                "id": task.id,
                "instruction": task.instruction,
                "contract": Contract.of(task).plain(),
                "source": dict(task.source),
            }
        )
        return
    names = {i: e.name for i, e in episode.world.entities.items()}
    operations: dict[str, Any] = {o["id"]: o for o in episode.operations}
    out.print(f"{task.id} ({task.tier}): {task.instruction}", soft_wrap=True, markup=False)
    for condition in task.conditions:
        witness = operations.get(condition.witness or "")
        because = (
            f"   made true by {witness['id']}: {witness['says']} ({', '.join(witness['narration_ids'])})"
            if witness
            else ""
        )
        out.print(f"  - {describe(condition, names)}{because}", soft_wrap=True, markup=False)
    for group in episode.groups[task.first_group : task.last_group + 1]:
        out.print(f"{group.id}: {group.instruction}", soft_wrap=True, markup=False)
