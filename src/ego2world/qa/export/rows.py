"""The rows that exports share: one turn of an accepted group, with ids and times, never media. Stage: qa, export."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ego2world.errors import RecordError
from ego2world.qa.build import FILES, read_manifest, read_records
from ego2world.qa.checks.case import finding
from ego2world.qa.records import Finding, QuestionGroup

UNFILLED = re.compile(r"\{\{|\}\}|\{\w+\}|<(?:video|audio|image)>|\bTODO\b|\bPLACEHOLDER\b")


def accepted(qa: Path) -> tuple[dict[str, Any], list[QuestionGroup]]:
    """Return manifest and accepted groups of a folder.

    Raises:
        RecordError: a text holds an unfilled place or a media tag (EXP_PLACEHOLDER).
    """
    manifest = read_manifest(qa)
    groups: list[QuestionGroup] = read_records(qa / FILES["accepted"], QuestionGroup)
    texts = (
        (f"{group.id} {name}", text)
        for group in groups
        for turn in group.turns
        for name, text in (("question", turn.question), ("answer", turn.answer))
    )
    refuse(qa, placeholder_findings(texts))
    return manifest, groups


def refuse(qa: Path, findings: Sequence[Finding]) -> None:
    """Raise RecordError where there are findings."""
    if findings:
        raise RecordError(str(qa), "; ".join(f"{one.code} {one.path}: {one.message}" for one in findings[:5]))


def rows(groups: Iterable[QuestionGroup]) -> Iterator[dict[str, Any]]:
    """Yield one row a turn."""
    for group in groups:
        for number, turn in enumerate(group.turns):
            letters = list(turn.options or {})
            yield {
                "question_id": f"{group.id}/{number}",
                "group_id": group.id,
                "round": number,
                "rounds": len(group.turns),
                "video_id": group.clip.video,
                "task": group.category,
                "level": group.level,
                "subtype": group.subtype,
                "format": group.format,
                "question": turn.question,
                "standalone_question": turn.standalone or (turn.question if number == 0 else ""),
                "options": list((turn.options or {}).values()),
                "answer_idx": letters.index(turn.key[0]) if turn.key else -1,
                "answer": turn.answer,
                "key_points": list(turn.key_points),
                "clip_start_s": group.clip.start_s,
                "clip_end_s": group.clip.end_s,
                "cutoff_safe": group.clip.cutoff_safe,
                "modality": group.modality,
                "evidence": list(turn.spec.evidence),
                "anchors": list(turn.spec.anchors),
                "status": group.status,
                "producer": group.producer,
            }


def by_split(groups: Sequence[QuestionGroup]) -> dict[str, list[QuestionGroup]]:
    """Return groups by split, in order of id."""
    found: dict[str, list[QuestionGroup]] = {}
    for group in sorted(groups, key=lambda group: group.id):
        found.setdefault(group.split or "train", []).append(group)
    return dict(sorted(found.items()))


def placeholder_findings(texts: Iterable[tuple[str, str]]) -> list[Finding]:
    """EXP_PLACEHOLDER: texts (path, text) with an unfilled place, or a media tag that came in with a text."""
    return [
        finding("EXP_PLACEHOLDER", path, f"{found.group()!r} in {text[:60]!r}")
        for path, text in texts
        if (found := UNFILLED.search(text))
    ]


def media_findings(conversations: Iterable[dict[str, Any]]) -> list[Finding]:
    """EXP_MEDIA_COUNT: conversations whose tags and media differ in number, or whose roles do not alternate."""
    out = []
    for number, row in enumerate(conversations):
        said = "".join(message["content"] for message in row["messages"])
        for tag, field in (("<video>", "videos"), ("<audio>", "audios")):
            if said.count(tag) != len(row.get(field, ())):
                out.append(
                    finding(
                        "EXP_MEDIA_COUNT",
                        f"[{number}].{field}",
                        f"{said.count(tag)} tags, {len(row.get(field, ()))} files",
                    )
                )
        roles = [message["role"] for message in row["messages"] if message["role"] != "system"]
        if roles != ["user", "assistant"] * (len(roles) // 2):
            out.append(finding("EXP_MEDIA_COUNT", f"[{number}].messages", f"roles {', '.join(roles)} do not alternate"))
    return out
