"""A benchmark of drawn rollouts: every answer to every gate is known, exactly. Stage: rollouts.

Beside the files of a benchmark it holds which thing has which colour (legend.json, for the detector of pixels), and
what no judge may see:

    plans.jsonl      the subgoals that the rollouts were played from
    truth.jsonl      the answer to every gate of every video, by the oracle
    rollouts.jsonl   what was played: the way, the planted faults, and where they must land

Four "models" draw: careless (task faults), inconsistent (P1), unphysical (P2 to P4), and mixed, which does one of each.
"""

from __future__ import annotations

import io
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ego2world.core.canonical import pretty_json, sha256, write_atomic
from ego2world.core.journal import rewrite
from ego2world.core.processes import process_pool
from ego2world.errors import UsageError
from ego2world.judge.benchmark import Benchmark, Progress, find_all, write_benchmark
from ego2world.judge.gates import ROLLOUTS
from ego2world.judge.policy import GATES
from ego2world.judge.records import (
    Case,
    Clutter,
    GateAnswer,
    GateVerdict,
    Rater,
    Setting,
    Subgoal,
    SubgoalCategory,
    SubgoalPlan,
    Video,
    VideoSource,
)
from ego2world.rollouts import (
    FAULTS,
    Detour,
    Fault,
    Kind,
    RolloutCase,
    Script,
    Trace,
    Way,
    allowed,
    answers,
    draw_frame,
    draw_rollout,
    make_cases,
    play,
    scene,
)
from ego2world.rollouts.detector import LEGEND
from ego2world.world.episode import load_episode, load_manifest

PLANS, TRUTH = "plans.jsonl", "truth.jsonl"
SEEDS = (101, 202, 303)
ORACLE = Rater(kind="oracle", id="oracle")
CATEGORIES = {
    Kind.OPEN: SubgoalCategory.ARTICULATION,
    Kind.CLOSE: SubgoalCategory.ARTICULATION,
    Kind.MOVE: SubgoalCategory.RELOCATION,
    Kind.POUR: SubgoalCategory.TRANSFER,
    Kind.COVER: SubgoalCategory.ATTACHMENT,
}
TASK_FAULTS = (Fault.SKIP, Fault.HALF, Fault.NO_TILT, Fault.STOP, Fault.ABANDON)
MODELS: dict[str, tuple[Fault, ...]] = {
    "careless": TASK_FAULTS,
    "inconsistent": tuple(f for f, e in FAULTS.items() if e.gate == "P1"),
    "unphysical": tuple(f for f, e in FAULTS.items() if e.gate in ("P2", "P3", "P4")),
    "mixed": TASK_FAULTS,
}


@dataclass(frozen=True)
class Planned:
    """One clip to be drawn."""

    video: Video
    case: RolloutCase
    script: Script


def make_rendered(
    worlds: Path,
    out: Path,
    count: int = 20,
    takes: int = 1,
    seeds: Sequence[int] = SEEDS[:1],
    seed: int = 0,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Benchmark:
    """Draw a benchmark from compiled kitchens.

    Args:
        worlds: a compiled collection.
        out: the folder to make.
        count: cases.
        takes: recordings of each human kind a case.
        seeds: of the four models.
        seed: of the choice of things, ways and faults.
        jobs: processes that draw.
        progress: called with (video, done, total).

    Raises:
        UsageError: the collection gives no case.
    """
    episodes = [load_episode(worlds, name) for name in load_manifest(worlds)["episodes"]]
    cases = make_cases(episodes, count, seed)
    if not cases:
        raise UsageError(f"{worlds} has no kitchen with a worktop, a storage and things to do something with")
    planned = list(_planned(cases, takes, seeds, seed))
    rows, truth = [], []
    tasks = []
    for one in planned:
        trace = play(one.case, one.script)
        truth += list(_truth(one, answers(one.case, trace)))
        rows.append(_row(one))
        tasks.append((trace, str(out / one.video.path), one.case.dish, one.case.shelf))
    if jobs > 1:
        with process_pool(jobs) as pool:
            done: Iterator[Any] = pool.map(_draw, tasks, chunksize=4)
            _follow(done, planned, progress)
    else:
        _follow(map(_draw, tasks), planned, progress)
    found = [_case(case, out) for case in cases]
    videos = find_all([one.video for one in planned], out, 0.0, None, jobs, None)
    plans = [plan_of(case, found[n].scene_sha256) for n, case in enumerate(cases)]
    rewrite(out / PLANS, (plan.plain() for plan in plans))
    rewrite(out / TRUTH, (one.plain() for one in truth))
    rewrite(out / ROLLOUTS, rows)
    write_atomic(out / LEGEND, pretty_json({case.id: _legend(case) for case in cases}))
    design = {
        "models": list(MODELS),
        "seeds": list(seeds),
        "takes": takes,
        "least_s": 0.0,
        "most_s": None,
        "rendered_seed": seed,
    }
    return write_benchmark(out, ".", found, videos, design)


def _follow(done: Iterator[Any], planned: Sequence[Planned], progress: Progress | None) -> None:
    for number, _ in enumerate(done, 1):
        if progress:
            progress(planned[number - 1].video.video_id, number, len(planned))


def _draw(task: tuple[Any, str, str, tuple[str, ...]]) -> None:
    trace, path, dish, shelf = task
    draw_rollout(trace, Path(path), dish, shelf)


def _planned(cases: Sequence[RolloutCase], takes: int, seeds: Sequence[int], seed: int) -> Iterator[Planned]:
    """Yield every clip; of the faults that a model may make, each time one that was planted least."""
    used: Counter[Fault] = Counter()
    for case in cases:
        shown: list[Trace] = []
        for take in range(1, takes + 1):
            way = case.ways[(take - 1) % len(case.ways)]
            yield Planned(_video(case.id, VideoSource.SUCCESS, take), case, Script(way))
        for take in range(1, takes + 1):
            chosen = random.Random(f"{seed}/{case.id}/failure/{take}")
            script = _script(case, chosen, used, shown, [(Fault.HALF, Fault.STOP, Fault.ABANDON, Fault.SKIP)])
            yield Planned(_video(case.id, VideoSource.FAILURE, take), case, script)
        for model, faults in MODELS.items():
            for number in seeds:
                chosen = random.Random(f"{seed}/{case.id}/{model}/{number}")
                wanted = [faults, MODELS["inconsistent"] + MODELS["unphysical"]] if model == "mixed" else [faults]
                yield Planned(
                    _video(case.id, VideoSource.MODEL, number, model), case, _script(case, chosen, used, shown, wanted)
                )


def _video(case: str, source: VideoSource, number: int, model: str = "") -> Video:
    kind = model or source.value
    name, path = f"{case}.{kind}.{number}", f"{case}/{kind}/{number}.mp4"
    if model:
        return Video(video_id=name, case_id=case, path=path, source=source, model=model, seed=number)
    return Video(video_id=name, case_id=case, path=path, source=source, take=number)


def _script(
    case: RolloutCase,
    chosen: random.Random,
    used: Counter[Fault],
    shown: list[Trace],
    wanted: Sequence[Sequence[Fault]],
) -> Script:
    """Return a way with a fault of each of some sets, in different steps, that shows what this case has not shown."""
    ways = list(case.ways)
    chosen.shuffle(ways)
    best: tuple[int, Script, list[Fault]] = (-1, Script(Way(ways[0].order, Detour.NONE)), [])
    for way in ways:
        faults: dict[int, Fault] = {}
        planted: list[Fault] = []
        for options in wanted:
            free = [n for n in range(len(case.steps)) if n not in faults]
            chosen.shuffle(free)
            fits = [
                (used[f], f, n) for f in options for n in free if allowed(case, way, n, f) and _apart(case, faults, f)
            ]
            if fits:
                _, fault, number = min(fits, key=lambda row: row[0])
                faults[number] = fault
                planted.append(fault)
        if len(planted) > best[0] and play(case, Script(way, faults)) not in shown:
            best = (len(planted), Script(way, faults), planted)
        if best[0] == len(wanted):
            break
    shown.append(play(case, best[1]))
    used.update(best[2])
    return best[1]


def _apart(case: RolloutCase, faults: dict[int, Fault], fault: Fault) -> bool:
    """Whether a fault leaves those planted before it where they land."""
    if not faults:
        return True
    other = next(iter(faults.values()))
    blocks = {Fault.THROUGH_CLOSED, Fault.STOP, Fault.SKIP}
    return fault is not Fault.THROUGH_CLOSED and not (other in blocks and fault in blocks)


def _row(one: Planned) -> dict[str, Any]:
    planted = [
        {
            "sid": f"s{n + 1}",
            "fault": fault.value,
            "gate": FAULTS[fault].gate,
            "type": FAULTS[fault].failure,
            "says": FAULTS[fault].says,
        }
        for n, fault in sorted(one.script.faults.items())
    ]
    way = one.script.way
    return {
        "video_id": one.video.video_id,
        "episode": one.case.episode,
        "order": [f"s{n + 1}" for n in way.order],
        "detour": way.detour.value,
        "planted": planted,
    }


def _truth(one: Planned, found: Any) -> Iterator[GateAnswer]:
    for number in range(len(one.case.steps)):
        for gate in GATES:
            true = found[number, gate]
            yield GateAnswer(
                video_id=one.video.video_id,
                plan_id=f"{one.case.id}.plan",
                sid=f"s{number + 1}",
                gate=gate,
                answer=GateVerdict.PASS if true.holds else GateVerdict.FAIL,
                rater=ORACLE,
                asked="all",
                t_start=true.t_start,
                t_end=true.t_end,
                failure=true.failure,
            )


def _case(case: RolloutCase, out: Path) -> Case:
    buffer = io.BytesIO()
    draw_frame(scene(case), case.dish, case.shelf).save(buffer, "PNG")
    path = f"{case.id}/scene.png"
    write_atomic(out / path, buffer.getvalue())
    stored = any(one.kind in (Kind.OPEN, Kind.CLOSE) for one in case.steps) and not any(
        one.kind is Kind.POUR for one in case.steps
    )
    return Case(
        case_id=case.id,
        domain=Setting.HOUSEHOLD if stored else Setting.KITCHEN,
        goal=case.goal,
        scene_image=path,
        scene_sha256=sha256(buffer.getvalue()),
        clutter=tuple(Clutter)[min(2, len(case.beside) - 1)],
        objects=case.objects,
        panel=True,
        reference_sequences=tuple(way.words(case.steps) for way in case.ways),
    )


def _legend(case: RolloutCase) -> dict[str, Any]:
    """Return which thing of a scene has which colour, as anybody sees who looks at it."""
    names = case.world.entities
    return {
        "store": names[case.store].name,
        "colors": {names[i].name: body.color for i, body in scene(case).bodies.items()},
    }


def plan_of(case: RolloutCase, scene_sha256: str) -> SubgoalPlan:
    """Return the steps of a rollout's case as a plan."""
    subgoals = tuple(
        Subgoal(
            sid=f"s{n + 1}",
            text=one.says,
            objects=tuple(case.world.entities[i].name for i in (one.thing, one.target) if i),
            post_state=one.done,
            category=CATEGORIES[one.kind],
        )
        for n, one in enumerate(case.steps)
    )
    return SubgoalPlan(
        plan_id=f"{case.id}.plan",
        case_id=case.id,
        video_id=None,
        subgoals=subgoals,
        backbone="rollout",
        prompt_sha="",
        scene_sha256=scene_sha256,
    )
