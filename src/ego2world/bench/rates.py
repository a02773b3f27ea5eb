"""How many steps a CPU-second makes, one process, state hashing off."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ego2world.annotations.hd_epic import read_hd_epic
from ego2world.compiler.episode import compile_video
from ego2world.core.canonical import canonical_json
from ego2world.core.video import FileStatus
from ego2world.judge.policy import GATES, Policy
from ego2world.judge.records import (
    GateAnswer,
    GateVerdict,
    Rater,
    Subgoal,
    SubgoalCategory,
    SubgoalPlan,
    Video,
    VideoSource,
)
from ego2world.judge.score import by_subgoal, score_video
from ego2world.qa.build import checked
from ego2world.qa.checks import CheckContext
from ego2world.qa.choose import Quota, blocks, choose, groups_of
from ego2world.qa.evidence import evidence_of
from ego2world.qa.interactions import interactions_of
from ego2world.qa.recipes import RECIPES, RecipeContext
from ego2world.qa.recording import Recording
from ego2world.qa.replay import EpisodeReplayer
from ego2world.qa.stages import episodes_of, relations_of
from ego2world.samples import sample_source
from ego2world.world.episode import Episode, load_episode, load_manifest
from ego2world.world.grounded import Batch, Grounding, ground
from ego2world.world.grounded.grounding import with_hands
from ego2world.world.refusal import Refusal
from ego2world.world.state import Action, State
from ego2world.world.step import step

WORLDS = 4096
WALK = 16  # steps of the recorded random walks, which are repeated
MOST_DRAWS = 20_000
MASK_WORLDS = 64
CLIP_FRAMES, FRAMES = 120, 12
PEER_RATES = tuple(f"{peer}_steps_per_cpu_s" for peer in ("bitset", "upf", "textworld", "pddlgym"))

Progress = Callable[[str, int, int], None]


def bench(worlds: Path, seconds: float, progress: Progress | None = None) -> dict[str, Any]:
    """Measure on the episode with the most operations.

    Args:
        worlds: a compiled collection.
        seconds: CPU seconds for each measurement.
        progress: called with (measurement, done, total).

    Returns:
        Rates per CPU-second, null for peers that are not installed, and ratios between them; see docs/MEASUREMENTS.md.
    """
    manifest = load_manifest(worlds)
    biggest = max(manifest["episodes"], key=lambda e: (manifest["episodes"][e]["totals"]["operations"], e))
    episode = load_episode(worlds, biggest)
    start = time.process_time()
    grounding = ground(episode)
    ground_s = time.process_time() - start
    batch = Batch([grounding], WORLDS)
    batch.step(np.zeros(WORLDS, np.int32))  # compiles the kernel
    walk = random_walk(grounding)
    measures: dict[str, Callable[[], Any]] = {
        "plain_steps_per_cpu_s": lambda: plain_rate(episode, seconds),
        "plain_mixed_steps_per_cpu_s": lambda: mixed_rate(episode, grounding, seconds),
        "batched_steps_per_cpu_s": lambda: batched_rate(batch, walk, seconds),
        "batched_replay_steps_per_cpu_s": lambda: batched_rate(batch, replay(episode, grounding), seconds),
        "mask_ns_per_ground_action": lambda: mask_cost_ns(grounding, seconds),
        **{name: partial(peer, worlds, grounding, walk, seconds) for name, peer in _peers().items()},
        "compile_narrations_per_s": lambda: compile_rate(seconds),
        "qa_groups_per_cpu_s": lambda: question_rate(episode, seconds),
        "judge_answers_per_cpu_s": lambda: score_rate(seconds),
        "json_answers_per_cpu_s": lambda: json_rate(seconds),
        "frames_per_cpu_s": lambda: frames_rate(seconds, FRAMES),
        "decoded_per_cpu_s": lambda: frames_rate(seconds, None),
    }
    found: dict[str, Any] = {}
    for number, (name, measure) in enumerate(measures.items(), 1):
        value = measure()
        found[name] = None if value is None else round(value, 1 if value < 1000 else None)
        if progress:
            progress(name, number, len(measures))
    upf, bitset = found["upf_steps_per_cpu_s"], found["bitset_steps_per_cpu_s"]
    return {
        "episode": biggest,
        "kernel": batch.kernel,
        "worlds": WORLDS,
        "ground_actions": grounding.actions,
        "bytes_per_world": grounding.width * batch.states.itemsize,
        "ground_s": round(ground_s, 2),
        **found,
        "plain_over_upf": None if not upf else round(found["plain_steps_per_cpu_s"] / upf, 1),
        "qa_replays_per_group": round(
            found["plain_steps_per_cpu_s"] / len(episode.actions) / found["qa_groups_per_cpu_s"], 2
        ),
        "score_over_json": round(found["json_answers_per_cpu_s"] / found["judge_answers_per_cpu_s"], 2),
        "frames_over_decoding": (
            None
            if not found["decoded_per_cpu_s"]
            else round(FRAMES * found["decoded_per_cpu_s"] / CLIP_FRAMES / found["frames_per_cpu_s"], 2)
        ),
        "batched_over_bitset": None if not bitset else round(found["batched_steps_per_cpu_s"] / bitset, 2),
    }


def _peers() -> dict[str, Callable[..., float | None]]:
    """Return the peers by the names of their rates; the wheel comes without them (pyproject.toml)."""
    try:
        from ego2world.bench.peers import PEERS
    except ImportError:
        return dict.fromkeys(PEER_RATES, lambda *_: None)
    return {name: PEERS[name] for name in PEER_RATES}


def per_cpu_second(seconds: float, work: Callable[[], int]) -> float:
    """Repeat some work for so many CPU seconds and return what it counts per CPU-second; the first time does not
    count."""
    work()
    done, start = 0, time.process_time()
    while True:
        done += work()
        spent = time.process_time() - start
        if spent >= seconds:
            return done / spent


def plain_rate(episode: Episode, seconds: float) -> float:
    """Return accepted reference steps per CPU-second of the plain executor, over whole replays."""

    def replay_once() -> int:
        state: State | Refusal = episode.initial
        for action in episode.actions:
            assert isinstance(state, State)
            state = step(episode.world, state, action)
        return len(episode.actions)

    return per_cpu_second(seconds, replay_once)


def mixed_rate(episode: Episode, grounding: Grounding, seconds: float) -> float:
    """Return steps of the plain executor per CPU-second where every second one is drawn at random, and mostly refused
    with reasons."""
    rng = np.random.default_rng(0)
    drawn = [grounding.action(int(n)) for n in rng.integers(0, grounding.actions, len(episode.actions))]
    pairs: list[tuple[Action, Action]] = list(zip(episode.actions, drawn, strict=True))

    def replay_once() -> int:
        state = episode.initial
        for action, other in pairs:
            step(episode.world, state, other)
            after = step(episode.world, state, action)
            assert isinstance(after, State)
            state = after
        return 2 * len(pairs)

    return per_cpu_second(seconds, replay_once)


def question_rate(episode: Episode, seconds: float) -> float:
    """Return questions made and checked per CPU-second, from the compiled episode on."""

    def make() -> int:
        recording, replayer = Recording(episode), EpisodeReplayer(episode)
        context = RecipeContext(recording)
        evidence = {one.id: one for one in evidence_of(recording)}
        relations = {one.id: one for one in relations_of(context, episodes_of(context, interactions_of(context)))}
        case, plan = CheckContext(replayer, evidence, relations), Quota()
        drafts = choose((draft for recipe in RECIPES for draft in recipe(context)), plan, replayer)
        return len([checked(group, case) for group in groups_of(episode.id, drafts, blocks(drafts, case, plan))])

    return per_cpu_second(seconds, make)


def _answers() -> tuple[Video, SubgoalPlan, list[GateAnswer]]:
    """Return a video of four subgoals with an answer to every gate."""
    video = Video(
        video_id="v", case_id="c", source=VideoSource.MODEL, path="v.mp4", model="m", seed=1, status=FileStatus.OK
    )
    steps = tuple(
        Subgoal(sid=f"s{n}", text="", objects=("mug",), post_state="", category=SubgoalCategory.RELOCATION)
        for n in range(4)
    )
    plan = SubgoalPlan(
        plan_id="p", case_id="c", video_id=None, subgoals=steps, backbone="", prompt_sha="", scene_sha256=""
    )
    rater = Rater(kind="model", id="m")
    rows = [
        GateAnswer(video_id="v", plan_id="p", sid=one.sid, gate=gate, answer=GateVerdict.PASS, rater=rater)
        for one in steps
        for gate in GATES
    ]
    return video, plan, rows


def score_rate(seconds: float) -> float:
    """Return answers of a judge scored per CPU-second."""
    video, plan, rows = _answers()
    answers, policy = by_subgoal(rows)["m"]["v"], Policy()

    def score() -> int:
        score_video(video, plan, answers, "m", policy)
        return len(rows)

    return per_cpu_second(seconds, score)


def json_rate(seconds: float) -> float:
    """Return answers of a judge read by the standard library's JSON reader per CPU-second: what scoring is held
    against."""
    lines = [canonical_json(row.plain()) for row in _answers()[2]]

    def read() -> int:
        return len([json.loads(line) for line in lines])

    return per_cpu_second(seconds, read)


def frames_rate(seconds: float, count: int | None) -> float | None:
    """Return frames of a clip per CPU-second, taken at so many times or, with None, all decoded in order; None without
    PyAV."""
    try:
        import av  # an optional dependency's single entry
        from PIL import Image

        from ego2world.core.video import frames_at, write_clip
    except ImportError:
        return None
    noise = np.random.default_rng(0).integers(0, 256, (30, 40, 3), np.uint8).repeat(16, 0).repeat(16, 1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "clip.mp4"
        write_clip((Image.fromarray(np.roll(noise, 4 * n, 1)) for n in range(CLIP_FRAMES)), path, 10)
        times_s = [(n + 0.5) * CLIP_FRAMES / 10 / count for n in range(count)] if count else []

        def work() -> int:
            if times_s:
                return len(frames_at(path, times_s))
            with av.open(str(path)) as container:
                return sum(1 for frame in container.decode(video=0) if frame.to_ndarray(format="rgb24").size)

        return per_cpu_second(seconds, work)


def random_walk(grounding: Grounding) -> list[NDArray[np.int32]]:
    """Return the actions of a walk at random in each world, all accepted: drawn again and again, and kept where they
    were accepted."""
    rng, batch = np.random.default_rng(0), Batch([grounding], WORLDS)
    taken, walk = np.zeros(WORLDS, np.int32), np.zeros((WALK, WORLDS), np.int32)
    for _ in range(MOST_DRAWS):
        drawn = rng.integers(0, grounding.actions, WORLDS, np.int32)
        world = np.flatnonzero((batch.step(drawn) < 0) & (taken < WALK))
        walk[taken[world], world] = drawn[world]
        taken[world] += 1
        if taken.min() == WALK:
            break
    return list(walk[: taken.min()])


def replay(episode: Episode, grounding: Grounding) -> list[NDArray[np.int32]]:
    """Return the actions of the reference, the same in all worlds."""
    numbers = [grounding.number(action) for action in with_hands(episode)]
    return [np.full(WORLDS, number, np.int32) for number in numbers if number is not None]


def batched_rate(batch: Batch, actions: list[NDArray[np.int32]], seconds: float) -> float:
    """Return steps of all worlds together per CPU-second, from the first state through the given actions, all
    accepted."""

    done, spent = 0, 0.0
    while spent < seconds:
        batch.reset()
        start = time.process_time()
        for given in actions:
            batch.step(given)
        spent += time.process_time() - start
        done += len(actions) * len(batch)
    return done / spent


def mask_cost_ns(grounding: Grounding, seconds: float) -> float:
    """Return what it costs to say whether one ground action is applicable in one world, in nanoseconds."""
    batch = Batch([grounding], MASK_WORLDS)

    def once() -> int:
        batch.applicable()
        return MASK_WORLDS * grounding.actions

    return 1e9 / per_cpu_second(seconds, once)


def compile_rate(seconds: float) -> float:
    """Return narrations compiled per CPU-second, on the sample kitchens."""
    dataset = read_hd_epic(sample_source())

    def once() -> int:
        for video in dataset.narrations:
            compile_video(video, dataset)
        return sum(len(rows) for rows in dataset.narrations.values())

    return per_cpu_second(seconds, once)
