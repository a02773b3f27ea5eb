"""One question as anybody may have written it: what audits, models and judges need of it. Stage: qa, declarations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ego2world.qa.records import QuestionGroup, QuestionRecord


class Item(QuestionRecord, frozen=True):
    """One turn of one question. ``options`` maps letters to texts; ``key`` holds the right letters."""

    id: str
    group: str
    question: str
    answer: str = ""
    round: int = 0
    dataset: str = ""
    prototype: str = ""
    level: str = ""
    category: str = ""
    modality: str = ""
    options: dict[str, str] | None = None
    key: tuple[str, ...] = ()
    key_points: tuple[str, ...] = ()
    videos: tuple[str, ...] = ()
    start_s: float | None = None
    end_s: float | None = None
    split: str = ""
    cutoff_safe: bool = False
    source: str = ""
    extra: dict[str, Any] | None = None


def items_of(groups: Iterable[QuestionGroup]) -> Iterator[Item]:
    """Return the turns of the engine's own questions."""
    for group in groups:
        for number, turn in enumerate(group.turns):
            yield Item(
                id=f"{group.id}/{number}",
                group=group.id,
                question=turn.question,
                answer=turn.answer,
                round=number,
                dataset="ego2world",
                prototype=group.template,
                level=group.level,
                category=group.category,
                modality=group.modality,
                options=turn.options,
                key=turn.key,
                key_points=turn.key_points,
                videos=(group.clip.video,),
                start_s=group.clip.start_s,
                end_s=group.clip.end_s,
                split=group.split,
                cutoff_safe=group.clip.cutoff_safe,
            )
