"""Conversations for LLaMA-Factory, with the training settings of the paper's E.1 as ready files. Stage: qa, export.

One conversation a group: the clip's video (and sound, where the answer needs it) once, at the first question; every
assistant turn is supervised (``mask_history: false``). Rows with another number of tags than files are skipped by the
trainer with a warning only, so they are refused here. Media are named VIDEO_STARTms_ENDms.mp4 and .wav, in
milliseconds, so that no two clips share a name.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

from ego2world.core.canonical import json_lines, pretty_json, write_atomic
from ego2world.qa.export.rows import UNFILLED, accepted, by_split, media_findings, refuse
from ego2world.qa.records import Clip, QuestionGroup

SETTINGS = (
    "qwen2_5_omni_lora.yaml",
    "qwen2_5_omni_full.yaml",
    "qwen3_omni_lora.yaml",
    "qwen3_omni_full.yaml",
    "ds_z2.json",
    "ds_z3.json",
)
SYSTEM = (
    "You see a clip from a camera on my head. Answer my question about it in one short sentence, or with the letter of"
    " an option."
)


def media_name(clip: Clip) -> str:
    """Return a clip's file name without suffix; unique for video, start and end."""
    return f"{clip.video}_{round(clip.start_s * 1000):08d}_{round(clip.end_s * 1000):08d}"


def to_llamafactory(qa: Path, out: Path) -> dict[str, Any]:
    """Write ego2world_SPLIT.jsonl, dataset_info.json, clips.json (what to cut) and the training settings.

    Raises:
        RecordError: a text holds an unfilled place or a media tag, or tags and files differ in number.
    """
    _, groups = accepted(qa)
    splits = {split: [_conversation(group) for group in members] for split, members in by_split(groups).items()}
    refuse(qa, [problem for members in splits.values() for problem in media_findings(members)])
    info: dict[str, Any] = {}
    for split, members in splits.items():
        write_atomic(out / f"ego2world_{split}.jsonl", json_lines(members))
        info[f"ego2world_{split}"] = {
            "file_name": f"ego2world_{split}.jsonl",
            "formatting": "sharegpt",
            "columns": {"messages": "messages", "videos": "videos", "audios": "audios"},
            "tags": {
                "role_tag": "role",
                "content_tag": "content",
                "user_tag": "user",
                "assistant_tag": "assistant",
                "system_tag": "system",
            },
        }
    write_atomic(out / "dataset_info.json", pretty_json(info))
    clips = {
        media_name(g.clip): {"video": g.clip.video, "start_s": g.clip.start_s, "end_s": g.clip.end_s} for g in groups
    }
    write_atomic(out / "clips.json", pretty_json(clips))
    for name in SETTINGS:
        write_atomic(out / name, (files("ego2world.qa.export") / "training" / name).read_bytes())
    return {
        "target": "llamafactory",
        "conversations": {split: len(members) for split, members in splits.items()},
        "clips": len(clips),
        "files": ["dataset_info.json", "clips.json", *(f"ego2world_{split}.jsonl" for split in splits), *SETTINGS],
    }


def _conversation(group: QuestionGroup) -> dict[str, Any]:
    name = media_name(group.clip)
    sound = group.modality != "visual"
    messages = [{"role": "system", "content": SYSTEM}]
    for number, turn in enumerate(group.turns):
        tags = ("<video>" + ("<audio>" if sound else "")) if number == 0 else ""
        options = "".join(f"\n{letter}. {_plain(text)}" for letter, text in (turn.options or {}).items())
        messages.append({"role": "user", "content": f"{tags}{_plain(turn.question)}{options}"})
        messages.append({"role": "assistant", "content": ", ".join(turn.key) if turn.options else turn.answer})
    return {
        "id": group.id,
        "messages": messages,
        "videos": [f"clips/{name}.mp4"],
        "audios": [f"clips/{name}.wav"] if sound else [],
    }


def _plain(text: str) -> str:
    return UNFILLED.sub(" ", text)
