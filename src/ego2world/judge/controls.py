"""What a model must show before it judges: that it does not pass what has nothing to do with the video, and says the
same twice. Stage: judge.

A control asks T1 of a video about the plan of another case, whose objects the video does not show. Whoever passes that
would pass anything, and the run stops. Repeats ask the same questions again, past any cache, and record how far the
answers differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ego2world.core.canonical import pretty_json, strict_json, write_atomic
from ego2world.core.video import FileStatus
from ego2world.errors import UsageError
from ego2world.judge.backends import GateJudge, VideoView
from ego2world.judge.benchmark import Benchmark
from ego2world.judge.planning import plans_sha256
from ego2world.judge.policy import GATES
from ego2world.judge.records import GateAnswer, GateVerdict, SubgoalPlan
from ego2world.judge.run import JudgeSettings, videos_sha256

CONTROLS = "controls.json"


def try_out(
    bench: Benchmark,
    plans: Mapping[str, SubgoalPlan],
    backend: GateJudge,
    settings: JudgeSettings,
    controls: int,
    repeat: int,
    out: Path,
) -> dict[str, Any]:
    """Ask controls and repeats; write controls.json, and return it. What was asked alike before is not asked again.

    Raises:
        UsageError: the model passes a control.
    """
    head = {
        "backend": backend.plain(),
        "settings": settings.plain(),
        "asked": [controls, repeat],
        "videos_sha256": videos_sha256(bench.videos),
        "plans_sha256": plans_sha256(list({p.plan_id: p for p in plans.values()}.values())),
    }
    path = out / CONTROLS
    found: dict[str, Any] = strict_json(path.read_bytes()) if path.is_file() else {}
    if {name: found.get(name) for name in head} != strict_json(pretty_json(head)):
        found = head | {
            "controls": mismatched(bench, plans, backend, settings, controls),
            "repeats": repeated(bench, plans, backend, settings, repeat) if repeat > 1 else None,
        }
        unanswered = [row for row in found["controls"] if row["answer"] == GateVerdict.ERROR]
        if not unanswered:
            write_atomic(path, pretty_json(found))
    rows: list[dict[str, Any]] = found["controls"]
    passed = [row for row in rows if row["answer"] == GateVerdict.PASS]
    if passed:
        raise UsageError(
            f"{backend.rater.id} says that {passed[0]['video_id']} begins {passed[0]['subgoal']!r}, which is of another"
            f" case ({len(passed)} of {len(rows)} controls passed): it does not look, or does not understand the"
            " question. Choose another model, or --controls 0 to go on all the same"
        )
    return found


def mismatched(
    bench: Benchmark, plans: Mapping[str, SubgoalPlan], backend: GateJudge, settings: JudgeSettings, count: int
) -> list[dict[str, Any]]:
    """Ask T1 of some videos about the first subgoal of a case that shares no object with theirs."""
    rows: list[dict[str, Any]] = []
    cases = bench.by_case
    for video in (v for v in bench.videos if v.status is FileStatus.OK):
        if len(rows) >= count:
            break
        own = {o.casefold() for o in cases[video.case_id].objects} | _named(plans.get(video.video_id))
        other = next(
            (p for p in plans.values() if p.case_id != video.case_id and p.subgoals and not own & _named(p)), None
        )
        if other is None or any(row["case_id"] == video.case_id for row in rows):
            continue
        look = VideoView(video, bench.path(video), settings.sampling)
        said = backend.answer(look, cases[other.case_id], other, other.subgoals[0], "T1", {})
        rows.append(
            {
                "video_id": video.video_id,
                "case_id": video.case_id,
                "subgoal": other.subgoals[0].text,
                "answer": said.answer.value,
                "raw": said.raw,
            }
        )
    return rows


def _named(plan: SubgoalPlan | None) -> set[str]:
    return {o.casefold() for s in plan.subgoals for o in s.objects} if plan else set()


def repeated(
    bench: Benchmark, plans: Mapping[str, SubgoalPlan], backend: GateJudge, settings: JudgeSettings, count: int
) -> dict[str, Any]:
    """Ask every gate of one video several times; return the answers, and the share of gates that always had the same
    one."""
    video = next(
        v for v in bench.videos if v.status is FileStatus.OK and plans.get(v.video_id) and plans[v.video_id].subgoals
    )
    plan, case = plans[video.video_id], bench.by_case[video.case_id]
    said: dict[str, Counter[str]] = {}
    for _ in range(count):
        look = VideoView(video, bench.path(video), settings.sampling)
        for subgoal in plan.subgoals:
            before: dict[str, GateAnswer] = {}
            for gate in GATES:
                before[gate] = backend.answer(look, case, plan, subgoal, gate, before)
                said.setdefault(f"{subgoal.sid} {gate}", Counter())[before[gate].answer.value] += 1
    same = sum(len(answers) == 1 for answers in said.values())
    return {
        "video_id": video.video_id,
        "times": count,
        "gates": len(said),
        "always_the_same": same,
        "answers": {k: dict(v) for k, v in sorted(said.items())},
    }
