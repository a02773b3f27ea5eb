"""A finished run as an Inspect log, to be opened with ``inspect view``: a sample an episode, its calls as the
conversation."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalMetric,
    EvalResults,
    EvalSample,
    EvalScore,
    EvalSpec,
    EvalStats,
    write_eval_log,
)
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser, ModelOutput, ModelUsage
from inspect_ai.scorer import Score

from ego2world.evaluate.metrics import METRICS, read_settings, score_run
from ego2world.evaluate.replay import RunRecords

EPOCH = datetime.fromtimestamp(0, UTC).isoformat()  # a run's records carry no clock; the log needs a time


def write_inspect_log(folder: Path, out: Path) -> Path:
    """Write a run as one .eval file and return its path.

    Args:
        folder: a run folder.
        out: the folder for the log.

    Raises:
        RecordError: records are missing or damaged.
    """
    settings, score = read_settings(folder), score_run(folder)
    records = RunRecords.read(folder, settings)
    model = settings.get("model") or f"ego2world/{settings['planner']}"
    samples = [_sample(records, name, model, score) for name in settings["episodes"] if records.of("groups", name)]
    metrics = {
        name: EvalMetric(name=name, value=value) for name in METRICS if (value := score["metrics"][name]) is not None
    }
    log = EvalLog(
        status="success" if score["complete"] else "cancelled",
        eval=EvalSpec(
            created=EPOCH,
            task="ego2world/suite",
            task_id=settings["suite_sha256"][:22],
            run_id=folder.name,
            eval_id=folder.name,
            dataset=EvalDataset(
                name=settings["suite"], samples=len(settings["episodes"]), sample_ids=list(settings["episodes"])
            ),
            model=model,
            config=EvalConfig(),
            task_args={k: settings[k] for k in ("planner", "memory", "limit", "seed", "suite")},
            metadata={"suite_sha256": settings["suite_sha256"], "episode_sha256": settings["episode_sha256"]},
            packages={"ego2world": settings["ego2world"]},
        ),
        results=EvalResults(
            total_samples=len(settings["episodes"]),
            completed_samples=len(records.episodes),
            scores=[EvalScore(name="contracts", scorer="contracts", metrics=metrics)],
        ),
        stats=EvalStats(started_at=EPOCH, completed_at=EPOCH, model_usage={model: _usage(score["resources"])}),
        samples=samples,
    )
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{folder.name}.eval"
    write_eval_log(log, str(path))
    return path


def _usage(counts: dict[str, int]) -> ModelUsage:
    return ModelUsage(
        input_tokens=counts["tokens_in"] - counts["tokens_in_cached"],
        input_tokens_cache_read=counts["tokens_in_cached"],
        output_tokens=counts["tokens_out"],
        reasoning_tokens=counts["tokens_reasoning"],
        total_tokens=counts["tokens_in"] + counts["tokens_out"],
    )


def _sample(records: RunRecords, name: str, model: str, score: dict[str, Any]) -> EvalSample:
    """Return an episode as a sample: group by group what was asked, replied and tried."""
    turns: list[ChatMessage] = []
    calls, attempts = records.by_group("calls", name), records.by_group("attempts", name)
    for group in records.of("groups", name):
        for call in calls.get(group["group"], ()):
            turns.append(ChatMessageUser(content=call["request"]["messages"][-1]["parts"][0]["text"]))
            turns.append(ChatMessageAssistant(content=call["reply"]["text"], model=call["reply"]["model"]))
        tried = [
            f"{'+' if row['accepted'] else '-'}"
            f" {row['action']}({', '.join(f'{r}={v}' for r, v in row['roles'].items())})"
            + "".join(f" [{f['code']} {f['says']}]" for f in row["failures"])
            for row in attempts.get(group["group"], ())
        ]
        turns.append(
            ChatMessageUser(
                content="\n".join([f"{group['group']} {group['ending']} {group.get('reason', '')}".strip(), *tried])
            )
        )
    tasks = [t for t in score["per_task"] if t["episode"] == name]
    reached = sum(t["success"] for t in tasks)
    value = Score(
        value=reached / len(tasks) if tasks else 0.0,
        answer=f"{reached} of {len(tasks)} tasks",
        explanation="; ".join(f"{t['task']}: {t['endpoint']}" for t in tasks),
        metadata={"tasks": tasks},
    )
    last = records.of("calls", name)[-1]["reply"]["text"] if calls else ""
    own = next(row["sums"] for row in score["per_episode"] if row["episode"] == name)
    return EvalSample(
        id=name,
        epoch=1,
        input=f"Play episode {name}.",
        target="",
        messages=turns,
        output=ModelOutput.from_content(model, last),
        scores={"contracts": value},
        model_usage={model: _usage(own)} if calls else {},
        metadata={"finished": name in records.episodes},
    )
