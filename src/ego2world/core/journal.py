"""Files of records that are appended to while work goes on: a line is one write, so a kill can tear only the last.
Stage: core."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping
from io import FileIO
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from ego2world.core.canonical import canonical_json, json_lines, write_atomic
from ego2world.errors import RecordError, UsageError

T = TypeVar("T")


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


def read_as(path: Path, kind: type[T]) -> list[T]:
    """Read the complete lines of a record file as values of a type.

    Raises:
        RecordError: a line is no such record.
    """
    found = []
    for number, row in enumerate(read_rows(path), 1):
        try:
            found.append(msgspec.convert(row, kind))
        except msgspec.ValidationError as error:
            raise RecordError(str(path), f"{error}; restore the file", number) from None
    return found


def read_versioned(path: Path, version: int, missing: str, again: str) -> dict[str, Any]:
    """Read a JSON file that says which schema version it is of.

    Args:
        path: the file.
        version: the one that is read here.
        missing: what to tell the user where there is no such file.
        again: what to do about a damaged file or one of another version.

    Raises:
        UsageError: there is no such file.
        RecordError: it is damaged, or of another version.
    """
    if not path.is_file():
        raise UsageError(missing)
    try:
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise RecordError(str(path), f"not valid JSON ({error}); {again}") from None
    if found.get("schema_version") != version:
        raise RecordError(str(path), f"schema version {found.get('schema_version')}, needed {version}; {again}")
    return found


def group_rows(rows: Iterable[dict[str, Any]], key: str) -> dict[str, list[dict[str, Any]]]:
    """Return rows by the value of a key, in their order."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row[key], []).append(row)
    return found


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

    def add(self, name: str, row: Any) -> None:
        """Append one row, a mapping or a struct, to a record file, whole and flushed."""
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


class Log(Generic[T]):
    """One file of rows of a type, in memory and on disk: read when it is opened, then only appended to."""

    def __init__(self, path: Path, kind: type[T]) -> None:
        """Open a file, which need not be there yet.

        Raises:
            RecordError: a line of it is no such row.
        """
        self.rows = read_as(path, kind)
        if path.is_file() and is_torn(
            path
        ):  # the last row was not written whole; its sender was never told that it was
            write_atomic(path, json_lines(self.rows))
        self._name, self._records = path.name, Records(path.parent)

    def add(self, row: T) -> None:
        """Append a row, on disk before this returns."""
        self._records.add(self._name, row)
        self.rows.append(row)

    def close(self) -> None:
        """Close the file."""
        self._records.close()


def rewrite(path: Path, rows: Iterable[Any]) -> None:
    """Make a record file hold these rows alone, in their order; a file that does already is left as it is."""
    data = json_lines(rows)
    if not path.is_file() or path.read_bytes() != data:
        write_atomic(path, data)


def is_torn(path: Path) -> bool:
    """Say whether a file ends within a line."""
    with path.open("rb") as file:
        return file.seek(0, 2) > 0 and file.seek(-1, 2) >= 0 and file.read(1) != b"\n"
