"""A run's scores laid out: one row per video, and means by model, case, domain, clutter, seed and type of subgoal.
Stage: judge.

Every mean reports its sample size and the expected sample size. Where some are missing there are two more means: with
the missing ones taken as 0, and the flag ``incomplete``; no rank is given on means of different videos. P always
stands beside the share of subgoals that were attempted, as a video in which nothing happens violates no physical
constraint.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ego2world.core.canonical import pretty_json, strict_json, write_atomic
from ego2world.core.journal import rewrite
from ego2world.core.provenance import Product, code_sha256
from ego2world.core.statistics import cluster_interval
from ego2world.core.video import FileStatus
from ego2world.errors import RecordError, UsageError
from ego2world.judge.benchmark import Benchmark, read_lines
from ego2world.judge.policy import Policy
from ego2world.judge.records import Lack, Rating, Score, ScoreStatus, SubgoalPlan, Video
from ego2world.judge.run import PLANS, RUN, read_answers, read_ratings, videos_sha256
from ego2world.judge.score import by_subgoal, failures, score_video

SCORES, SUMMARY = "scores.jsonl", "scores.json"
AXES = ("T", "P", "S")
RESAMPLES = 2000


def read_run(bench: Benchmark, run: Path) -> dict[str, Any]:
    """Read run.json and check that the run is of this benchmark as it is.

    Raises:
        UsageError: no run.
        RecordError: a run of other videos.
    """
    path = run / RUN
    if not path.is_file():
        raise UsageError(
            f"{run} contains no run of a judge (no {RUN}); make one with: ego2world judge run {bench.folder} --out"
            f" {run}"
        )
    head: dict[str, Any] = strict_json(path.read_bytes())
    if head.get("benchmark", {}).get("videos_sha256") != videos_sha256(bench.videos):
        raise RecordError(
            str(path), f"a run of other videos than those of {bench.folder} as they are now; run the judge again"
        )
    return head


def plans_of(bench: Benchmark, run: Path) -> dict[str, SubgoalPlan]:
    """Return the plans that a run asked about, by video."""
    plans = read_lines(run / PLANS, SubgoalPlan)
    own = {plan.video_id: plan for plan in plans if plan.video_id is not None}
    shared = {plan.case_id: plan for plan in plans if plan.video_id is None}
    return {
        v.video_id: found for v in bench.videos if (found := own.get(v.video_id) or shared.get(v.case_id)) is not None
    }


def score_run(bench: Benchmark, run: Path, policy: Policy) -> dict[str, list[Score]]:
    """Return the scores of every rater of a run, one row per video, in the manifest's order.

    Raises:
        UsageError: the policy needs answers that the run does not have.
        RecordError: the run is damaged or of other videos.
    """
    head = read_run(bench, run)
    plans, found = plans_of(bench, run), by_subgoal(read_answers(run))
    ratings: dict[str, dict[str, Rating]] = defaultdict(dict)
    for one in read_ratings(run):
        ratings[one.rater.id][one.video_id] = one
    out: dict[str, list[Score]] = {}
    for rater in head["raters"]:
        if rater in ratings:
            out[rater] = [of_rating(video, ratings[rater].get(video.video_id), rater) for video in bench.videos]
        else:
            mine = found.get(rater, {})
            out[rater] = [
                score_video(v, plans.get(v.video_id), mine.get(v.video_id, {}), rater, policy) for v in bench.videos
            ]
    return out


def of_rating(video: Video, rating: Rating | None, rater: str) -> Score:
    """Return a rating of a whole video as its score."""
    common: dict[str, Any] = {"video_id": video.video_id, "case_id": video.case_id, "rater": rater}
    if video.status is not FileStatus.OK:
        return Score(
            **common,
            T=None,
            P=None,
            S=None,
            status=ScoreStatus.UNUSABLE,
            cause=video.status,
            reason=f"{video.status}: {video.reason}",
        )
    if rating is None or rating.error or rating.final is None:
        cause = rating.parse_status.value if rating is not None and rating.parse_status else Lack.NO_RATING.value
        why = rating.error if rating is not None and rating.error else "no rating"
        return Score(**common, T=None, P=None, S=None, status=ScoreStatus.INCOMPLETE, cause=cause, reason=why)
    return Score(**common, T=rating.task, P=rating.physics, S=rating.final)


def write_scores(bench: Benchmark, run: Path, policy: Policy, seed: int = 0) -> dict[str, Any]:
    """Write scores.jsonl and scores.json; return the latter.

    Args:
        bench: whose videos they are.
        run: the run's folder.
        policy: how answers count.
        seed: of the resampling of cases.
    """
    scores = score_run(bench, run, policy)
    plans = plans_of(bench, run)
    answers = by_subgoal(read_answers(run))
    rewrite(run / SCORES, (one.plain() for rows in scores.values() for one in rows))
    summary = {
        "code_sha256": code_sha256(Product.JUDGEMENTS),
        "policy": policy.plain(),
        "policy_sha256": policy.sha256,
        "seed": seed,
        "raters": {
            rater: summarise(bench, rows, seed) | {"failures": _failures(bench, plans, answers.get(rater, {}), rows)}
            for rater, rows in scores.items()
        },
    }
    write_atomic(run / SUMMARY, pretty_json(summary))
    return summary


def summarise(bench: Benchmark, rows: Sequence[Score], seed: int = 0) -> dict[str, Any]:
    """Return the means of one rater's scores, over all videos and by every view."""
    videos, cases = {v.video_id: v for v in bench.videos}, bench.by_case
    views: dict[str, Callable[[Score], str]] = {
        "by_origin": lambda r: videos[r.video_id].origin,
        "by_case": lambda r: r.case_id,
        "by_domain": lambda r: cases[r.case_id].domain.value,
        "by_clutter": lambda r: cases[r.case_id].clutter.value,
        "by_seed": lambda r: str(videos[r.video_id].seed) if videos[r.video_id].seed is not None else "recorded",
        "by_domain_and_origin": lambda r: f"{cases[r.case_id].domain.value} / {videos[r.video_id].origin}",
    }
    out: dict[str, Any] = {"overall": means(rows, seed)}
    for name, key in views.items():
        groups: dict[str, list[Score]] = defaultdict(list)
        for row in rows:
            groups[key(row)].append(row)
        out[name] = {value: means(groups[value], seed) for value in sorted(groups)}
    out["by_subgoal_type"] = by_type(rows)
    out["reasons"] = dict(sorted(Counter(row.cause for row in rows if row.status is not ScoreStatus.SCORED).items()))
    return out


def means(rows: Sequence[Score], seed: int = 0) -> dict[str, Any]:
    """Return means of T, P and S with intervals over cases, coverage, and S with the missing as 0."""
    scored = [row for row in rows if row.status is ScoreStatus.SCORED]
    out: dict[str, Any] = {
        "videos": len(rows),
        "scored": len(scored),
        "incomplete": sum(r.status is ScoreStatus.INCOMPLETE for r in rows),
        "unusable": sum(r.status is ScoreStatus.UNUSABLE for r in rows),
        "complete": len(scored) == len(rows),
    }
    for axis in AXES:
        values = [(row.case_id, value) for row in scored if (value := getattr(row, axis)) is not None]
        out[axis] = _mean(values)
        out[f"{axis}_interval"] = _interval(values, seed)
        out[f"{axis}_videos"] = len(values)
    finals = [row.S or 0.0 for row in scored]
    out["S_missing_as_0"] = round(sum(finals) / len(rows), 4) if rows else None
    out["S_lo"] = _mean([(r.case_id, r.S_lo) for r in scored if r.S_lo is not None])
    out["S_hi"] = _mean([(r.case_id, r.S_hi) for r in scored if r.S_hi is not None])
    subgoals = sum(row.n_sub for row in scored)
    out["attempt_rate"] = round(sum(row.n_attempted for row in scored) / subgoals, 4) if subgoals else None
    return out


def _mean(values: Sequence[tuple[str, float]]) -> float | None:
    return round(sum(value for _, value in values) / len(values), 4) if values else None


def _interval(values: Iterable[tuple[str, float]], seed: int) -> dict[str, Any] | None:
    """Return the interval of a mean with cases resampled whole, None with fewer than two."""
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for case, value in values:
        sums[case][0] += value
        sums[case][1] += 1
    found = cluster_interval([s for s, _ in sums.values()], [n for _, n in sums.values()], seed, RESAMPLES)
    if found is None:
        return None
    low, high = max(0.0, found.low), min(100.0, found.high)  # symmetric intervals of few cases may leave the scale
    return {"value": found.value, "low": low, "high": high, "method": "case-cluster bootstrap (studentised)"}


def by_type(rows: Sequence[Score]) -> dict[str, Any]:
    """Return task and physics scores of subgoals by their type; physics over the attempted ones."""
    found: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        for one in row.subgoals:
            found[one["category"]].append(one)
    out = {}
    for name, ones in sorted(found.items()):
        judged = [one["P"] for one in ones if one["P"] is not None]
        out[name] = {
            "subgoals": len(ones),
            "attempted": len(judged),
            "T": round(sum(one["T"] for one in ones) / len(ones), 4),
            "P": round(sum(judged) / len(judged), 4) if judged else None,
            "completed": round(sum(one["T"] == 100 for one in ones) / len(ones), 4),
        }
    return out


def _failures(
    bench: Benchmark, plans: Mapping[str, SubgoalPlan], answers: Mapping[str, Any], rows: Sequence[Score]
) -> dict[str, Any]:
    """Return how often each type of failure was found, by origin and by type of subgoal."""
    origins = {v.video_id: v.origin for v in bench.videos}
    total: Counter[str] = Counter()
    by_origin: dict[str, Counter[str]] = defaultdict(Counter)
    by_category: dict[str, Counter[str]] = defaultdict(Counter)
    by_gate: Counter[str] = Counter()
    for row in rows:
        if row.status is not ScoreStatus.SCORED or not row.subgoals:
            continue
        plan, mine = plans[row.video_id], answers.get(row.video_id, {})
        for one in failures([(s, mine.get(s.sid, {})) for s in plan.subgoals]):
            total[one["type"]] += 1
            by_gate[one["gate"]] += 1
            by_origin[origins[row.video_id]][one["type"]] += 1
            by_category[one["category"]][one["type"]] += 1
    return {
        "by_type": dict(sorted(total.items())),
        "by_gate": dict(sorted(by_gate.items())),
        "by_origin": {name: dict(sorted(c.items())) for name, c in sorted(by_origin.items())},
        "by_subgoal_type": {name: dict(sorted(c.items())) for name, c in sorted(by_category.items())},
    }
