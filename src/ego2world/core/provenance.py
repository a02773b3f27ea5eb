"""Which code made an artefact: one digest of the sources that a result depends on, the same wherever the package lies. Stage: core."""

from __future__ import annotations

from enum import Enum
from functools import cache
from pathlib import Path

from ego2world.core.canonical import sha256

PACKAGE = Path(__file__).parent.parent
_SOURCES = frozenset({".py", ".txt", ".md", ".j2", ".json"})  # code, word lists, prompts: no page scripts, no caches


class Product(Enum):
    """What is made, with the parts of the package that decide on it."""

    WORLDS = ("core", "annotations", "language", "world", "compiler", "tasks")
    RUN = ("core", "language", "world", "tasks", "planning", "agents", "render", "run")
    SCORES = ("core", "world", "tasks", "run", "evaluate")
    QUESTIONS = ("core", "language", "world", "compiler", "qa")
    ANSWERS = ("core", "qa")
    ROLLOUTS = ("core", "world", "render", "judge")
    JUDGEMENTS = ("core", "render", "judge")


@cache
def code_sha256(product: Product) -> str:
    """Return the digest of the sources that a product depends on."""
    files = sorted(
        path for part in product.value for path in (PACKAGE / part).rglob("*") if path.suffix in _SOURCES and path.is_file()
    )
    lines = [f"{path.relative_to(PACKAGE).as_posix()} {sha256(path.read_bytes())}\n" for path in files]
    return sha256("".join(lines).encode())
