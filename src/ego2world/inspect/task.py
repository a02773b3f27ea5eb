"""A suite as an Inspect task: a sample is an episode, since its world goes on from task to task.

The episode is played by the same loop as ``ego2world run``, in a thread of its own; each model call goes through the
sample's model, so that Inspect logs, caches, retries and limits it. The metrics are this project's, over the tasks of
all samples.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import anyio.from_thread
import anyio.to_thread
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig, ModelAPI, ModelOutput, ModelUsage, get_model, modelapi
from inspect_ai.model import Model as InspectModel
from inspect_ai.scorer import Metric, MetricProtocol, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from ego2world.agents import Belief, Decoding, PlannerContext, make_memory, make_planner
from ego2world.agents.mock import mock_reply
from ego2world.core.models import MockModel, ModelClient, Reply, Request, user
from ego2world.core.models.base import Message, Text
from ego2world.core.models.providers import config_of, messages, reply_of
from ego2world.evaluate.metrics import METRICS, score_records
from ego2world.run.chat import Budget, EpisodeChat, Meter
from ego2world.run.environment import Environment
from ego2world.run.frames import open_frames
from ego2world.run.group import Player
from ego2world.run.loop import play_episode
from ego2world.run.quality import BeliefScorer
from ego2world.tasks.suite import SuiteRule, check_suite, make_suite, read_suite
from ego2world.world.episode import load_episode, load_manifest


@task
def suite(
    worlds: str,
    suite: str | None = None,
    memory: str = "persistent",
    limit: int = 80,
    no_progress: int = 0,
    frames: str | None = None,
    max_tokens: int = 2048,
    seed: int = 0,
) -> Task:
    """Play a suite with the language planner.

    Args:
        worlds: a compiled collection.
        suite: a suite file; every task of every episode by default.
        memory: the memory policy.
        limit: attempts per group.
        no_progress: end a group after so many repeats of one step without effect; 0 never does.
        frames: "drawn", or a folder of videos, for visual queries.
        max_tokens: longest reply.
        seed: for models that take one.
    """
    folder = Path(worlds).absolute()
    chosen = (
        read_suite(Path(suite))
        if suite
        else make_suite(folder, "all", SuiteRule(), list(load_manifest(folder)["episodes"]))
    )
    check_suite(chosen, folder)
    samples = [
        Sample(
            id=name,
            input=f"Play episode {name}.",
            metadata={"tasks": [t for t in chosen.tasks if t.startswith(f"{name}/")]},
        )
        for name in chosen.episodes
    ]
    return Task(
        dataset=MemoryDataset(samples, name=chosen.name),
        solver=play(str(folder), memory, limit, no_progress, frames, max_tokens, seed),
        scorer=contracts(),
        metadata={
            "suite": chosen.name,
            "suite_sha256": chosen.sha256,
            "memory": make_memory(memory).name,
            "limit": limit,
        },
    )


class _Kept:
    """Rows in memory."""

    def __init__(self) -> None:
        self.rows: dict[str, list[dict[str, Any]]] = {}

    def add(self, name: str, row: Mapping[str, Any]) -> None:
        """Keep a row."""
        self.rows.setdefault(name, []).append(dict(row))


class _SampleModel:
    """The sample's model for the plain loop, called from its thread."""

    def __init__(self, model: InspectModel) -> None:
        self.name = str(model)
        self._model = model

    def generate(self, request: Request) -> Reply:
        """Ask on Inspect's event loop and wait."""
        ask = partial(self._model.generate, messages(request.messages), config=config_of(request))
        return reply_of(anyio.from_thread.run(ask), ())

    def close(self) -> None:
        """Do nothing: Inspect closes its models."""


@solver
def play(
    worlds: str, memory: str, limit: int, no_progress: int, frames: str | None, max_tokens: int, seed: int
) -> Solver:
    """Play the sample's episode."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        kept = _Kept()
        client = ModelClient(_SampleModel(get_model()), any_served_model=True)

        def run() -> None:
            episode = load_episode(Path(worlds), str(state.sample_id))
            sampling = Decoding(max_tokens, seed)
            chat = EpisodeChat(episode.id, client, Meter(Budget(), []), kept, [])
            planner = make_planner("llm", PlannerContext(episode.id, {}, seed, None, chat, sampling))
            player = Player(
                Environment(episode),
                planner,
                Belief(),
                make_memory(memory),
                BeliefScorer(episode.world),
                kept,
                limit,
                no_progress,
                chat,
                open_frames(frames, episode),
                sampling,
            )
            play_episode(player, set(state.metadata["tasks"]))

        await anyio.to_thread.run_sync(run)
        state.store.set("groups", kept.rows.get("groups.jsonl", []))
        state.store.set("tasks", kept.rows.get("tasks.jsonl", []))
        return state

    return solve


def _metric(name: str) -> Any:
    """Return an Inspect metric that is one of this project's, over the tasks of all samples."""

    def make() -> MetricProtocol:
        def compute(scores: list[SampleScore]) -> float:
            rows = [s.score.metadata or {} for s in scores]
            groups, tasks = ([row for one in rows for row in one.get(k, [])] for k in ("groups", "tasks"))
            settings = {"episodes": sorted({row["episode"] for row in groups})}
            value = score_records(settings, groups, tasks)["metrics"][name]
            return float("nan") if value is None else float(value)  # Inspect's own mark for "no value"

        return compute

    return metric(name=name)(make)


METRIC_FUNCTIONS: list[Metric] = [_metric(name)() for name in METRICS]


@scorer(metrics=METRIC_FUNCTIONS)
def contracts() -> Scorer:
    """Score a sample by the share of its episode's tasks whose contract holds; the rows go along for the metrics."""

    async def score(state: TaskState, target: Target) -> Score:
        groups: list[Any] = state.store.get("groups", [])
        tasks: list[Any] = state.store.get("tasks", [])
        own = [row for row in tasks if row["type"] == "task"]
        reached = sum(row["completed"] and all(c == "true" for c in row["conditions"]) for row in own)
        said = "; ".join(f"{row['task']}: {', '.join(row['conditions'])}" for row in own)
        return Score(
            value=reached / len(own) if own else 0.0,
            answer=f"{reached} of {len(own)} tasks",
            explanation=said,
            metadata={"groups": groups, "tasks": tasks},
        )

    return score


@modelapi(name="ego2world")
def mock_provider() -> type[ModelAPI]:
    """Register this project's model of rules as ``ego2world/mock``."""
    return _MockProvider


class _MockProvider(ModelAPI):
    async def generate(self, input: list[Any], tools: Any, tool_choice: Any, config: GenerateConfig) -> ModelOutput:
        turns = tuple(Message(m.role, (Text(m.text),)) for m in input)
        reply = MockModel(mock_reply).generate(Request(turns or (user(""),)))
        usage = reply.usage
        assert usage is not None
        output = ModelOutput.from_content(self.model_name, reply.text)
        output.usage = ModelUsage(
            input_tokens=usage.input_tokens, output_tokens=usage.output_tokens, total_tokens=usage.total_tokens
        )
        return output
