"""Everything that can be named as evidence, with interval, modality and the place it was read from. Stage: qa,
grounding.

A narration anchors an event in time; what an answer rests on is a state replayed in the world, a track, a sound, or a
row of the recipes. All of these rest on annotations and are labelled so: passing every check means sound with respect
to them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ego2world.qa.recording import Recording
from ego2world.qa.records import Evidence, Source

_TABLES = {
    "tracks": "track",
    "sounds": "sound",
    "steps": "step",
    "preparations": "preparation",
    "weighings": "weighing",
    "addings": "adding",
    "activities": "activity",
}


def evidence_of(recording: Recording) -> tuple[Evidence, ...]:
    """Return an episode's pool of evidence; ids are unique in it and equal in any process."""
    return tuple(_all(recording))


def _all(recording: Recording) -> Iterator[Evidence]:
    rows = recording.annotations
    place = f"episodes/{recording.id}"
    for row in recording.narrations.values():
        source = Source(file=row["file"], key=f"row {row['row']}")
        yield Evidence(
            id=row["id"],
            kind="narration",
            modality="visual",
            span_s=_span(row["span_s"]),
            text=row["text"],
            source=source,
            anchor_only=True,
        )
    for operation, action in zip(recording.operations, recording.actions, strict=True):
        yield Evidence(
            id=operation["id"],
            kind="replay",
            modality="visual",
            span_s=_span(operation["span_s"]),
            text=operation["says"],
            source=Source(file=f"{place}/operations.jsonl", key=operation["id"]),
            entities=action.things,
        )
    for table, kind in _TABLES.items():
        for row in rows[table]:
            start_s, end_s = row["span_s"]
            yield Evidence(
                id=row["id"],
                kind=kind,
                modality="audio" if table == "sounds" else "visual",
                span_s=(float(start_s), recording.end_s if end_s is None else float(end_s)),
                text=_text(table, row),
                source=Source(file=row["file"], key=row["key"]),
            )


def _text(table: str, row: Mapping[str, Any]) -> str:
    if table == "tracks":
        return f"{row['name']} moves from {row['from'] or 'somewhere'} to {row['to'] or 'somewhere'}"
    if table in {"weighings", "addings"}:
        amount = "" if row["amount"] is None else f", {row['amount']:g} {row['unit'] or ''}".rstrip()
        return f"{row['name']}{amount}"
    return str(row.get("text") or row["label"])


def _span(span_s: list[float]) -> tuple[float, float]:
    return float(span_s[0]), float(span_s[1])
