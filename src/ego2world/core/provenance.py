"""Which code made an artefact: one digest of the sources that a result depends on, the same wherever the package lies.
Stage: core."""

from __future__ import annotations

from enum import Enum
from functools import cache
from pathlib import Path

from ego2world.core.canonical import sha256

PACKAGE = Path(__file__).parent.parent
_SOURCES = frozenset({".py", ".txt", ".md", ".j2", ".json"})  # code, word lists, prompts: no page scripts, no caches


class Product(Enum):
    """What is made, with the parts of the package that decide on it."""

    WORLDS = ("core", "ontology", "annotations", "language", "world", "compiler", "tasks", "collection")
    RUN = ("core", "ontology", "language", "world", "tasks", "planning", "agents", "render", "run")
    SCORES = ("core", "ontology", "world", "tasks", "run", "evaluate")
    QUESTIONS = ("core", "ontology", "language", "world", "compiler", "qa")
    ANSWERS = ("core", "ontology", "qa")
    ROLLOUTS = ("core", "ontology", "world", "judge", "rollouts")
    JUDGEMENTS = ("core", "ontology", "world", "judge", "rollouts")


@cache
def code_sha256(product: Product) -> str:
    """Return the digest of the sources that a product depends on."""
    lines = [f"{path.relative_to(PACKAGE).as_posix()} {sha256(path.read_bytes())}\n" for path in sources(product)]
    return sha256("".join(lines).encode())


def sources(product: Product) -> list[Path]:
    """Return the files of the package that a product depends on, in order."""
    parts = [path for part in product.value for path in (PACKAGE / part, PACKAGE / f"{part}.py")]
    files = [path for part in parts for path in ([part] if part.is_file() else part.rglob("*"))]
    return sorted(path for path in files if path.suffix in _SOURCES and path.is_file())
