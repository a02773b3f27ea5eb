"""The record files of a run: appended line by line while it goes on, put into one order when it has ended.

Several episodes, in threads or processes, may write at the same time; a line is one write to the end of the file, so a kill can tear
the last line of a file and nothing else.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from io import FileIO
from pathlib import Path
from typing import Any, Protocol

import msgspec

from ego2world.core.canonical import canonical_json, write_atomic
from ego2world.errors import RecordError

# calls: what was asked of a model; looks: visual queries; beliefs: what changed in belief, group by group
RECORDS = ("attempts.jsonl", "beliefs.jsonl", "calls.jsonl", "groups.jsonl", "looks.jsonl", "tasks.jsonl")
JOURNAL = "calls.jsonl"  # replies are paid for: they outlive a kill even where their episode starts anew


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Read the complete lines of a record file; a last line that a kill tore is left out, a missing file is empty.

    Raises:
        RecordError: another line is no record.
    """
    if not path.is_file():
        return []
    data = path.read_bytes()
    rows = []
    for number, line in enumerate(data[: data.rfind(b"\n") + 1].splitlines(), 1):
        try:
            row = msgspec.json.decode(line)
        except msgspec.DecodeError:
            row = None
        if not isinstance(row, dict):
            raise RecordError(str(path), "not a JSON record; restore the file or start the run anew", number)
        rows.append(row)
    return rows


def group_rows(rows: Iterable[dict[str, Any]], key: str) -> dict[str, list[dict[str, Any]]]:
    """Return rows by the value of a key, in their order."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row[key], []).append(row)
    return found


def ended_episodes(tasks: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the episodes whose records are complete, from the rows of tasks.jsonl."""
    return {row["episode"] for row in tasks if row["type"] == "episode_end"}


class Recorder(Protocol):
    """Where the rows of a run go."""

    def add(self, name: str, row: Mapping[str, Any]) -> None:
        """Append one row to a record file, whole."""


class Records:
    """Appends rows; safe to use from several threads."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._lock = threading.Lock()
        self._files: dict[str, FileIO] = {}

    def add(self, name: str, row: Mapping[str, Any]) -> None:
        """Append one row to a record file, whole and flushed."""
        line = canonical_json(row) + b"\n"
        with self._lock:
            if name not in self._files:
                self._files[name] = (self._out / name).open("ab", buffering=0)
            self._files[name].write(line)  # one write to the end of the file: whole, whoever else appends to it

    def close(self) -> None:
        """Close the files."""
        with self._lock:
            for file in self._files.values():
                file.close()
            self._files.clear()


def tidy(out: Path, order: Sequence[str], keep: Iterable[str]) -> None:
    """Keep the rows of some episodes only, in the order of the episodes; files are replaced whole.

    The journal of calls keeps everything. Files that are in order already stay untouched.
    """
    kept, place = set(keep), {episode: number for number, episode in enumerate(order)}
    for name in RECORDS:
        path = out / name
        if not path.is_file():
            write_atomic(path, b"")
            continue
        rows = read_rows(path)
        left = [row for row in rows if name == JOURNAL or row["episode"] in kept]
        order_of = [place.get(row["episode"], len(place)) for row in left]
        if _is_torn(path) or len(left) < len(rows) or order_of != sorted(order_of):
            left.sort(key=lambda row: place.get(row["episode"], len(place)))
            write_atomic(path, b"".join(canonical_json(row) + b"\n" for row in left))


def _is_torn(path: Path) -> bool:
    """Say whether a file ends within a line."""
    with path.open("rb") as file:
        return file.seek(0, 2) > 0 and file.seek(-1, 2) >= 0 and file.read(1) != b"\n"
