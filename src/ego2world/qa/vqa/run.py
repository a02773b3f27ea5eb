"""Official questions answered from annotations, with the rows that say so, or not at all. Stage: qa, vqa."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ego2world.qa.items import Item
from ego2world.qa.vqa.archive import Archive, Row
from ego2world.qa.vqa.rules import RULES

OUTCOMES = ("right", "wrong", "cannot_tell")


@dataclass(frozen=True)
class Answered:
    """An item with what the annotations say: the letter, None where they do not say or say several things."""

    item: Item
    letter: str | None
    holding: tuple[str, ...]
    evidence: tuple[Row, ...]

    @property
    def outcome(self) -> str:
        """One of OUTCOMES."""
        if self.letter is None:
            return "cannot_tell"
        return "right" if self.letter in self.item.key else "wrong"

    def plain(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "id": self.item.id,
            "prototype": self.item.prototype,
            "answer": self.letter,
            "key": list(self.item.key),
            "outcome": self.outcome,
            "holding": list(self.holding),
            "evidence": [row.plain() for row in self.evidence],
        }


def answer_all(items: Iterable[Item], archive: Archive) -> Iterator[Answered]:
    """Yield every item with its answer."""
    for item in items:
        rule = RULES.get(item.prototype)
        holding = rule(item, archive) if rule is not None else {}
        only = next(iter(holding)) if len(holding) == 1 else None
        yield Answered(item, only, tuple(sorted(holding)), tuple(holding[only]) if only else ())


def tally(answered: Iterable[Answered]) -> dict[str, dict[str, int]]:
    """Return per prototype how many are right, wrong, and cannot be told."""
    table: dict[str, dict[str, int]] = {}
    for one in answered:
        table.setdefault(one.item.prototype, dict.fromkeys(OUTCOMES, 0))[one.outcome] += 1
    return dict(sorted(table.items()))
