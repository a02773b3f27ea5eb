"""The record files of a run: appended line by line while it goes on, put into one order when it has ended.

Several episodes, in threads or processes, may write at the same time; a line is one write to the end of the file, so a
kill can tear the last line of a file and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ego2world.core.canonical import canonical_json, write_atomic
from ego2world.core.journal import is_torn, read_rows

# calls: what was asked of a model; looks: visual queries; beliefs: what changed in belief, group by group
RECORDS = ("attempts.jsonl", "beliefs.jsonl", "calls.jsonl", "groups.jsonl", "looks.jsonl", "tasks.jsonl")
JOURNAL = "calls.jsonl"  # replies are paid for: they outlive a kill even where their episode starts anew


def ended_episodes(tasks: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the episodes whose records are complete, from the rows of tasks.jsonl."""
    return {row["episode"] for row in tasks if row["type"] == "episode_end"}


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
        if is_torn(path) or len(left) < len(rows) or order_of != sorted(order_of):
            left.sort(key=lambda row: place.get(row["episode"], len(place)))
            write_atomic(path, b"".join(canonical_json(row) + b"\n" for row in left))
