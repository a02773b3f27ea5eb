"""Records of episodes that are played on other machines: replies are written down at once, the rest when an episode
has ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ego2world.core.cluster import tell
from ego2world.core.journal import Records
from ego2world.run.records import JOURNAL


class Ledger:
    """Stands on the machine of the run folder and writes down replies as they come, wherever they come from."""

    def __init__(self, out: Path) -> None:
        self._records, self._rows = Records(out), list[Mapping[str, Any]]()

    def add(self, row: Mapping[str, Any]) -> None:
        """Append a row to the journal."""
        self._records.add(JOURNAL, row)
        self._rows.append(row)

    def rows(self, episode: str) -> list[Mapping[str, Any]]:
        """Return an episode's rows of this run, for when its worker died."""
        return [row for row in self._rows if row["episode"] == episode]


@dataclass
class Kept:
    """Keeps an episode's rows until it has ended; those of the journal go to the ledger at once."""

    ledger: Any
    rows: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)

    def add(self, name: str, row: Mapping[str, Any]) -> None:
        """Keep a row."""
        if name == JOURNAL and self.ledger is not None:
            tell(self.ledger, "add", row)
        else:
            self.rows.append((name, row))
