"""Canonical JSON, content hashes, and files that are never half-written."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

_ENCODER = msgspec.json.Encoder(order="sorted")


def canonical_json(value: Any) -> bytes:
    """Return the one JSON encoding of a value: sorted keys, no spaces, UTF-8, no NaN."""
    return _ENCODER.encode(value)


def pretty_json(value: Any) -> bytes:
    """Return sorted, indented JSON for files that people read, with a final newline."""
    return msgspec.json.format(canonical_json(value), indent=1) + b"\n"


def json_lines(values: Iterable[Any]) -> bytes:
    """Return one canonical JSON value a line."""
    return b"".join(canonical_json(value) + b"\n" for value in values)


def sha256(data: bytes) -> str:
    """Return the hexadecimal SHA-256 of bytes."""
    return hashlib.sha256(data).hexdigest()


def sha256_file(path: Path) -> str:
    """Return the hexadecimal SHA-256 of a file, read in blocks."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def write_atomic(path: Path, data: bytes) -> None:
    """Write bytes so that a reader sees the old file or the whole new one, never a part.

    The bytes go to a temporary file beside the target, are synced, and the file is renamed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def strict_json(data: bytes) -> Any:
    """Decode JSON, refusing NaN and Infinity, which are not JSON."""

    def refuse(token: str) -> Any:
        raise ValueError(f"{token} is not JSON")

    return json.loads(data.decode("utf-8-sig"), parse_constant=refuse)
