"""A collection or a run as columns: one Parquet file a kind of row (extra "parquet"). Values of mixed types become
JSON text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ego2world.core.journal import read_rows
from ego2world.errors import UsageError
from ego2world.run.records import RECORDS
from ego2world.world.episode import COLLECTION_TABLES, collection_table


def write_tables(source: Path, out: Path) -> list[str]:
    """Write a collection (operations, transitions, notes, entities, groups, tasks, narrations) or a run (its record
    files).

    Every row of a collection names its episode.

    Returns:
        The names of the files written.

    Raises:
        UsageError: the folder is neither.
    """
    if (source / "manifest.json").is_file():
        tables = {name: collection_table(source, name) for name in COLLECTION_TABLES}
    elif (source / "run.json").is_file():
        tables = {name.removesuffix(".jsonl"): read_rows(source / name) for name in RECORDS}
    else:
        raise UsageError(f"{source} is neither a compiled collection (manifest.json) nor a run (run.json)")
    out.mkdir(parents=True, exist_ok=True)
    written = []
    for name, rows in tables.items():
        if rows:
            path, temporary = out / f"{name}.parquet", out / f".{name}.parquet.tmp"
            pq.write_table(table_of(rows), temporary)
            temporary.replace(path)
            written.append(path.name)
    return written


def table_of(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Return rows as columns, in the order in which their keys first appear."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    columns = {}
    for key in keys:
        values = [row.get(key) for row in rows]
        columns[key] = values if all(map(_plain, values)) else [None if v is None else json.dumps(v) for v in values]
        kinds = {type(value) for value in values if value is not None} - {list}
        if len(kinds - {int, float}) > 1 or kinds >= {bool, int}:
            columns[key] = [None if v is None else json.dumps(v) for v in values]
    return pa.table(columns)


def _plain(value: Any) -> bool:
    """Say whether a value is a scalar or a list of texts or of numbers."""
    if isinstance(value, list):
        return all(isinstance(item, str) for item in value) or all(isinstance(item, float) for item in value)
    return value is None or isinstance(value, str | bool | int | float)
