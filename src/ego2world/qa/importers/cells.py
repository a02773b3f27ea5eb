"""What the importers share: letters for options, rows of a JSON file, a key as letters. Stage: qa, input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ego2world.annotations.cells import one_line
from ego2world.core.canonical import strict_json
from ego2world.errors import AnnotationError, Problem

LETTERS = "ABCDEFGHIJ"


def load(path: Path) -> Any:
    """Read a JSON file.

    Raises:
        AnnotationError: it is no JSON.
    """
    try:
        return strict_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise AnnotationError([Problem(str(path), None, None, str(error), "a JSON file")]) from None


def lettered(texts: Sequence[Any]) -> dict[str, str]:
    """Return options with letters in their order; a list as an option becomes one text."""
    return {letter: option_text(text) for letter, text in zip(LETTERS, texts, strict=False)}


def option_text(value: Any) -> str:
    """Return an option as one line; lists are joined by commas."""
    return ", ".join(map(one_line, value)) if isinstance(value, (list, tuple)) else one_line(value)


def key_of(options: Mapping[str, str], index: Any) -> tuple[str, ...] | None:
    """Return the key of a position, None where there is no such option."""
    letters = list(options)
    return (
        (letters[index],)
        if isinstance(index, int) and not isinstance(index, bool) and 0 <= index < len(letters)
        else None
    )
