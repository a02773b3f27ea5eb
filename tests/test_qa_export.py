"""Exports are what other tools accept: Croissant validates, Parquet holds every turn, conversations keep tags and
media in step."""

from __future__ import annotations

import json
from pathlib import Path

import mlcroissant
import pyarrow.parquet
import pytest
from msgspec.structs import replace

from ego2world.core.canonical import json_lines
from ego2world.errors import RecordError
from ego2world.qa.build import FILES, read_manifest, read_records
from ego2world.qa.export import to_huggingface, to_llamafactory, to_lmms_eval
from ego2world.qa.export.llamafactory import media_name
from ego2world.qa.export.rows import media_findings
from ego2world.qa.records import Clip, QuestionGroup, plain

PAPER = {
    "qwen2_5_omni_lora": ("2.0e-5", 8, 16, 1, 2, 8),
    "qwen2_5_omni_full": ("2.0e-6", None, None, 1, 2, 8),
    "qwen3_omni_lora": ("2.0e-5", 8, 16, 1, 4, 4),
    "qwen3_omni_full": ("2.0e-6", None, None, 1, 4, 4),
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_data_set_that_hugging_face_and_croissant_read(sample_questions: Path, tmp_path: Path) -> None:
    made = to_huggingface(sample_questions, tmp_path)
    groups: list[QuestionGroup] = read_records(sample_questions / FILES["accepted"], QuestionGroup)
    rows = {
        split: pyarrow.parquet.read_table(tmp_path / row["path"]).to_pylist() for split, row in made["splits"].items()
    }
    assert sum(len(found) for found in rows.values()) == sum(len(group.turns) for group in groups)
    turns = {f"{group.id}/{n}": (group, turn) for group in groups for n, turn in enumerate(group.turns)}
    for row in (row for found in rows.values() for row in found):
        group, turn = turns[row["question_id"]]
        assert (row["question"], row["answer"], row["video_id"]) == (turn.question, turn.answer, group.clip.video)
        assert (row["answer_idx"] >= 0) == bool(turn.options) and (
            not turn.options or row["options"][row["answer_idx"]] == turn.answer
        )
        assert row["evidence"] == list(turn.spec.evidence)
    videos = {split: {row["video_id"] for row in found} for split, found in rows.items()}
    assert not videos["train"] & videos["test"]
    dataset = mlcroissant.Dataset(jsonld=str(tmp_path / "croissant.json"))
    assert not dataset.metadata.issues.errors
    first = next(iter(dataset.records("train")))
    assert first["train/question_id"].decode() in turns
    card = (tmp_path / "README.md").read_text()
    assert card.startswith("---\n") and "data/test-00000-of-00001.parquet" in card and "| Chain |" in card
    again = to_huggingface(sample_questions, tmp_path / "again")
    assert [row["sha256"] for row in again["splits"].values()] == [row["sha256"] for row in made["splits"].values()]


def test_conversations_keep_tags_and_media_in_step(sample_questions: Path, tmp_path: Path) -> None:
    made = to_llamafactory(sample_questions, tmp_path)
    info = json.loads((tmp_path / "dataset_info.json").read_text())
    rows = [
        json.loads(line) for entry in info.values() for line in (tmp_path / entry["file_name"]).read_text().splitlines()
    ]
    assert len(rows) == read_manifest(sample_questions)["totals"]["accepted"] == sum(made["conversations"].values())
    assert media_findings(rows) == []
    assert any(len(row["messages"]) == 7 for row in rows) and any(row["audios"] for row in rows)
    clips = json.loads((tmp_path / "clips.json").read_text())
    assert {name.removeprefix("clips/").removesuffix(".mp4") for row in rows for name in row["videos"]} == set(clips)
    near = [
        Clip(video="v", start_s=1.0, end_s=2.0),
        Clip(video="v", start_s=1.4, end_s=2.0),
        Clip(video="v", start_s=1.0, end_s=2.001),
    ]
    assert len({media_name(clip) for clip in near}) == 3  # names by whole seconds would collide
    assert all(
        entry["columns"] == {"messages": "messages", "videos": "videos", "audios": "audios"} for entry in info.values()
    )


@pytest.mark.parametrize("name", PAPER)
def test_training_settings_are_the_papers(sample_questions: Path, tmp_path: Path, name: str) -> None:
    to_llamafactory(sample_questions, tmp_path)
    lines = (tmp_path / f"{name}.yaml").read_text().splitlines()
    found = dict(line.split(": ", 1) for line in lines if ": " in line and not line.startswith("#"))
    rate, rank, alpha, batch, steps, devices = PAPER[name]
    assert found["learning_rate"] == rate and found["cutoff_len"] == "32768" and found["warmup_ratio"] == "0.03"
    assert (found.get("lora_rank"), found.get("lora_alpha")) == (
        str(rank) if rank else None,
        str(alpha) if alpha else None,
    )
    assert (
        int(found["per_device_train_batch_size"]) * int(found["gradient_accumulation_steps"]) * devices
        == 16
        == batch * steps * devices
    )
    assert found["lr_scheduler_type"] == "cosine" and found["bf16"] == "true" and found["mask_history"] == "false"
    assert (
        found["flash_attn"] == "fa2"
        and found["num_train_epochs"] == "10.0"
        and found["finetuning_type"] == ("lora" if rank else "full")
    )
    if not rank:
        zero = json.loads((tmp_path / found["deepspeed"]).read_text())["zero_optimization"]["stage"]
        assert zero == (2 if name.startswith("qwen2") else 3)


def test_an_lmms_eval_task_folder(sample_questions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    to_lmms_eval(sample_questions, tmp_path)
    rows = [json.loads(line) for line in (tmp_path / "ego2world_train.jsonl").read_text().splitlines()]
    assert rows and all(
        set(row)
        == {"question_id", "task_type", "question", "choices", "correct_idx", "video_ids", "start_times", "end_times"}
        for row in rows
    )
    scope: dict[str, object] = {}
    exec(compile((tmp_path / "utils.py").read_text(), "utils.py", "exec"), scope)
    monkeypatch.setenv("EGO2WORLD_VIDEOS", str(tmp_path))
    row = rows[0]
    target = scope["doc_to_target"](row)  # type: ignore[operator]
    assert scope["process_results"](row, [f"The answer is ({target})."]) == {"accuracy": 1.0}  # type: ignore[operator]
    assert scope["process_results"](row, ["no idea"]) == {"accuracy": 0.0}  # type: ignore[operator]
    assert scope["doc_to_visual"](row) == [str(tmp_path / f"{row['video_ids'][0]}.mp4")]  # type: ignore[operator]
    assert "!function utils.doc_to_text" in (tmp_path / "ego2world_mc.yaml").read_text()


def test_an_unfilled_place_stops_an_export(sample_questions: Path, tmp_path: Path) -> None:
    groups: list[QuestionGroup] = read_records(sample_questions / FILES["accepted"], QuestionGroup)
    bad = replace(groups[0], turns=(replace(groups[0].turns[0], question="Where is {thing}? <video>"),))
    for path in sample_questions.iterdir():
        if path.is_file():
            (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / FILES["accepted"]).write_bytes(json_lines([plain(bad)]))
    for export in (to_huggingface, to_llamafactory):
        with pytest.raises(RecordError, match="EXP_PLACEHOLDER"):
            export(tmp_path, tmp_path / "out")
    assert not (tmp_path / "out" / "dataset_info.json").exists()
