"""Small benchmarks for tests of the judge: made-up panels of any size, and videos of any kind."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from PIL import Image

from ego2world.core.canonical import sha256
from ego2world.core.journal import rewrite
from ego2world.core.models import MockModel, ModelClient, Reply, Request
from ego2world.core.video import FileStatus, write_clip
from ego2world.judge.benchmark import Benchmark, read_benchmark, write_benchmark
from ego2world.judge.planning import SubgoalPlanner, make_plans
from ego2world.judge.policy import PHYSICS, TASK
from ego2world.judge.records import (
    Case,
    Clutter,
    GateAnswer,
    GateVerdict,
    Rater,
    Setting,
    SubgoalPlan,
    Video,
    VideoSource,
)

MODELS = ("aster", "birch", "cedar", "daisy", "elm", "fern")
SKILL = {
    "human_success": 0.99,
    "human_failure": 0.9,
    "aster": 0.85,
    "birch": 0.8,
    "cedar": 0.75,
    "daisy": 0.68,
    "elm": 0.6,
    "fern": 0.3,
}


def clip(path: Path, seconds: float = 2.0, level: int = 90, size: tuple[int, int] = (64, 48)) -> None:
    """Write a clip of one grey that grows lighter."""
    write_clip((Image.new("RGB", size, (level + n % 40,) * 3) for n in range(round(10 * seconds))), path, 10)


def simulated(
    folder: Path, cases: int = 25, seeds: tuple[int, ...] = (101, 202, 303), takes: int = 3, seed: int = 0
) -> tuple[Benchmark, Path]:
    """Write a benchmark of made-up videos, 6 models and human controls, and answers of a judge and three annotators.

    Returns:
        The benchmark, and the file of answers.
    """
    rng = random.Random(seed)
    made_cases, videos = [], []
    for number in range(cases):
        name = f"c{number + 1:03d}"
        things = [f"thing {n}" for n in range(2 + number % 4)]
        made_cases.append(
            Case(
                case_id=name,
                domain=list(Setting)[number % 5],
                goal="; ".join(f"the {thing} is in its box" for thing in things),
                scene_image="",
                scene_sha256="",
                clutter=list(Clutter)[number % 3],
                objects=tuple(things),
                panel=True,
                reference_sequences=(("a",), ("b",), ("c",)),
            )
        )
        for source in (VideoSource.SUCCESS, VideoSource.FAILURE):
            videos += [_video(name, source, take) for take in range(1, takes + 1)]
        videos += [_video(name, VideoSource.MODEL, number, model) for model in MODELS for number in seeds]
    bench = write_benchmark(folder, ".", made_cases, videos, {})
    plans = {plan.case_id: plan for plan in make_plans(bench, folder / "plans.jsonl", SubgoalPlanner())}
    answers = folder / "answers.jsonl"
    rewrite(answers, (row.plain() for row in _answers(rng, bench, plans)))
    return bench, answers


def _video(case: str, source: VideoSource, number: int, model: str = "") -> Video:
    kind = model or source.value
    return Video(
        video_id=f"{case}.{kind}.{number}",
        case_id=case,
        source=source,
        model=model,
        seed=number if model else None,
        take=1 if model else number,
        path=f"{case}/{kind}/{number}.mp4",
        sha256=sha256(f"{case}{kind}{number}".encode()),
        status=FileStatus.OK,
        n_frames=80,
        duration_s=8.0,
    )


def _answers(rng: random.Random, bench: Benchmark, plans: dict[str, SubgoalPlan]) -> Iterator[GateAnswer]:
    raters = [(Rater(kind="human", id=name), 0.03) for name in ("anna", "ben", "cem")] + [
        (Rater(kind="model", id="judge"), 0.12)
    ]
    for video in bench.videos:
        for subgoal in plans[video.case_id].subgoals:
            truth = {gate: rng.random() < SKILL[video.origin] for gate in (*TASK, *PHYSICS)}
            for rater, slip in raters:
                for gate, holds in truth.items():
                    said = holds != (rng.random() < slip)
                    yield GateAnswer(
                        video_id=video.video_id,
                        plan_id=f"{video.case_id}.plan",
                        sid=subgoal.sid,
                        gate=gate,
                        answer=GateVerdict.PASS if said else GateVerdict.FAIL,
                        rater=rater,
                        asked="all",
                    )


def part(source: Path, folder: Path, cases: int, videos: int | None = None) -> Benchmark:
    """Make a benchmark of the first cases of a drawn one, whose clips stay where they are."""
    whole = read_benchmark(source)
    kept = whole.cases[:cases]
    names = {case.case_id for case in kept}
    rows = [video for video in whole.videos if video.case_id in names]
    bench = write_benchmark(folder, str(source), kept, rows[:videos], whole.design)
    for name in ("legend.json", "truth.jsonl", "plans.jsonl", "rollouts.jsonl"):
        (folder / name).write_bytes((source / name).read_bytes())
    return bench


def scripted(truth: Iterable[GateAnswer], alter: Callable[[str], str | Reply | None] = lambda tag: None) -> ModelClient:
    """Return a model that replies with the truth, but where ``alter`` says otherwise for "VIDEO/SUBGOAL/GATE"."""
    known = {f"{row.video_id}/{row.sid}/{row.gate}": row.answer.value for row in truth}

    def respond(request: Request) -> str | Reply:
        said = alter(request.tag)
        given = known.get(request.tag, "fail")  # of another case's subgoals nothing is seen
        return (
            said
            if said is not None
            else json.dumps({"answer": given, "failure": None, "t_start": None, "t_end": None, "rationale": "seen"})
        )

    return ModelClient(MockModel(respond, "scripted"))
