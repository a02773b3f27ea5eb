"""Cells and files to values: lists in strings, times, numbers, byte-order marks, and every fault with its place."""

from __future__ import annotations

import ast
import csv
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ego2world.core.canonical import strict_json
from ego2world.errors import AnnotationError, Problem

_CLOCK = re.compile(r"^(\d+):([0-5]?\d):([0-5]?\d(?:\.\d+)?)$")


def read_csv(path: Path, required: tuple[str, ...]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield (row number from 1, row) of a UTF-8 CSV, whatever the machine's code page.

    Column names are lower-cased, so that "ID" and "id" are the same column.

    Raises:
        AnnotationError: the file is not UTF-8, has no header, or lacks a required column.
    """
    csv.field_size_limit(1 << 27)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            names = [name.strip().lower() for name in reader.fieldnames or ()]
            missing = [name for name in required if name not in names]
            if missing:
                raise AnnotationError(
                    [
                        Problem(
                            str(path),
                            None,
                            name,
                            "no such column; columns are " + (", ".join(names) or "none"),
                            f"a column {name}",
                        )
                        for name in missing
                    ],
                    "Is this the right file? The expected layout is in docs/DATA.md.",
                )
            reader.fieldnames = names
            for number, row in enumerate(reader, 1):
                yield number, {key: value or "" for key, value in row.items() if isinstance(key, str)}
    except UnicodeDecodeError as error:
        raise AnnotationError(
            [Problem(str(path), None, None, f"bytes that are not UTF-8 at {error.start}", "a UTF-8 file")]
        ) from None


def read_json(path: Path) -> Any:
    """Read a JSON file strictly.

    Raises:
        AnnotationError: it is not JSON.
    """
    try:
        return strict_json(path.read_bytes())
    except (json.JSONDecodeError, UnicodeDecodeError, ValueError) as error:
        raise AnnotationError([Problem(str(path), None, None, str(error), "valid JSON")]) from None


def one_line(value: Any) -> str:
    """Return text with every run of white space, line breaks included, as one space."""
    return " ".join(value.split()) if isinstance(value, str) else ""


def parse_list(value: Any) -> tuple[Any, ...]:
    """Return the list in a cell: a real list, a Python literal, or JSON; empty cells give ().

    Raises:
        ValueError: the cell holds something else.
    """
    if isinstance(value, list | tuple):
        return tuple(tuple(item) if isinstance(item, list) else item for item in value)
    if value is None or (isinstance(value, float) and math.isnan(value)) or not str(value).strip():
        return ()
    text = str(value).strip()
    try:
        found = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        try:
            found = json.loads(text)
        except ValueError:
            raise ValueError(f"{text[:60]!r} is not a list") from None
    if not isinstance(found, list | tuple):
        raise ValueError(f"{text[:60]!r} is not a list")
    return tuple(tuple(item) if isinstance(item, list) else item for item in found)


def parse_seconds(value: Any) -> float | None:
    """Return a time in seconds from a number or hh:mm:ss.ss; None for an empty cell.

    Raises:
        ValueError: it is neither, negative, or not finite.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    text = str(value).strip()
    if not text or text.lower() in {"nan", "null", "none"}:
        return None
    match = _CLOCK.match(text)
    seconds = int(match.group(1)) * 3600 + int(match.group(2)) * 60 + float(match.group(3)) if match else float(text)
    if not math.isfinite(seconds) or seconds < 0:
        raise ValueError(f"{text!r} is not a time in seconds")
    return seconds


def parse_amount(amount: Any, unit: Any) -> tuple[float | None, str | None]:
    """Return an ingredient's (amount, unit); "N/A", empty, and 0 without a unit mean not known."""
    unit_text = one_line(unit) or None
    if unit_text in {"N/A", "n/a"}:
        unit_text = None
    try:
        value = float(str(amount).strip())
    except ValueError:
        return None, unit_text
    if not math.isfinite(value) or (value == 0 and unit_text is None):
        return None, unit_text
    return value, unit_text


_UNITS = {
    "teaspoon": "tsp",
    "teaspoons": "tsp",
    "tsps": "tsp",
    "tsp": "tsp",
    "tablespoon": "tbsp",
    "tablespoons": "tbsp",
    "tbsps": "tbsp",
    "tbsp": "tbsp",
    "gram": "g",
    "grams": "g",
    "gr": "g",
    "g": "g",
    "kg": "kg",
    "ml": "ml",
    "millilitre": "ml",
    "litre": "l",
    "l": "l",
    "cubes": "cube",
    "cube": "cube",
    "cup": "cup",
    "cups": "cup",
    "piece": "piece",
    "pieces": "piece",
    "slice": "slice",
    "slices": "slice",
    "clove": "clove",
    "cloves": "clove",
}
_GRAMS = {"g": 1.0, "kg": 1000.0}


def canonical_unit(unit: str | None) -> str | None:
    """Return one spelling per unit; free text such as "small tub" stays as it is."""
    return None if unit is None else _UNITS.get(unit.strip().lower(), unit.strip().lower())


def grams(amount: float | None, unit: str | None) -> float | None:
    """Return an amount in grams, or None when its unit has no fixed mass."""
    factor = _GRAMS.get(canonical_unit(unit) or "")
    return None if amount is None or factor is None else amount * factor


def fixture_name(value: Any) -> str | None:
    """Return a fixture's name, None for a missing key, JSON null, or the words Null and None."""
    text = one_line(value)
    return None if not text or text.lower() in {"null", "none", "nan"} else text


def class_name(key: str) -> str:
    """Return a class key as it would be said: "filter:coffee:maker" -> "coffee maker filter"."""
    parts = [part for part in key.split(":") if part]
    return " ".join([*parts[1:], *parts[:1]])


def frame_time_s(frame: int, fps: float, first: int) -> float:
    """Return the time of a frame in seconds; ``first`` is the number of the first frame (0 in HD-EPIC, 1 in EPIC).

    Raises:
        ValueError: the frame lies before the first one (negative codes are not frames).
    """
    if frame < first:
        raise ValueError(f"frame {frame} lies before the first frame {first}; negative values are codes, not frames")
    return (frame - first) / fps
