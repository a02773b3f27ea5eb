"""Judges against people, people against each other, and what the scores say about the videos. Stage: judge.

The consensus of a video is the mean of its annotators' scores, axis by axis; P of those who saw something attempted. A
video enters where enough annotators scored it. Intervals resample cases whole. Every figure says of how many videos it
is, and how many were dropped.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ego2world.core.agreement import LEVELS, RESAMPLES, Figure, alpha, icc_figures, pair_agreement, paired
from ego2world.core.provenance import Product, code_sha256
from ego2world.core.video import FileStatus
from ego2world.errors import UsageError
from ego2world.judge.benchmark import Benchmark
from ego2world.judge.gates import Answers, gate_errors, planted_faults
from ego2world.judge.policy import GATES, Policy, Removal
from ego2world.judge.records import GateAnswer, GateVerdict, Lack, Score, ScoreStatus, Video, VideoSource
from ego2world.judge.run import read_answers
from ego2world.judge.score import by_subgoal, score_video
from ego2world.judge.tally import AXES, plans_of, read_run, score_run, summarise

STATISTICS = ("pearson", "kendall", "ccc", "mae", "spearman")
ICC_FORM = (  # the headline: two-way random, absolute agreement, of the mean of the annotators; all six are given
    "ICC(2,k)"
)
ALPHA_LEVEL = "interval"
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class AgreementSettings:
    """How agreement is worked out.

    reference: kind of rater that judges are held against: "human", or "oracle" for rendered rollouts.
    min_raters: annotators that a video needs to have a consensus; as many as there are where they are fewer.
    """

    reference: str = "human"
    min_raters: int = 2
    seed: int = 0
    resamples: int = RESAMPLES
    policy: Policy = field(default_factory=Policy)


@dataclass
class Panel:
    """All raters' scores, by rater and video, and who is reference."""

    bench: Benchmark
    scores: dict[str, dict[str, Score]]
    references: list[str]
    judges: list[str]
    run_of: dict[str, Path]
    _answers: dict[Path, dict[str, Answers]] = field(default_factory=dict)

    def answers(self, name: str) -> Answers:
        """Return a rater's answers, by video, subgoal and gate; none of one who rates whole videos."""
        run = self.run_of[name]
        if run not in self._answers:
            self._answers[run] = {rater: rows for rater, rows in by_subgoal(read_answers(run)).items()}
        return self._answers[run].get(name.removesuffix(f" ({run.name})"), {})


def agree(
    bench: Benchmark, runs: Sequence[Path], settings: AgreementSettings, progress: Progress | None = None
) -> dict[str, Any]:
    """Return everything about agreement, and the analyses, as JSON values.

    Args:
        bench: whose videos they are.
        runs: folders of ``judge run``; raters of the reference's kind are the panel, all others are judges.
        settings: see ``AgreementSettings``.
        progress: called with (what, done, total).

    Raises:
        UsageError: no reference rater, a rater twice, or nothing that a policy needs.
    """
    panel = read_panel(bench, runs, settings)
    consensus, lacking = consensus_of(panel, settings.min_raters)
    todo = [*panel.judges, "annotators"]
    judges: dict[str, Any] = {}
    for number, judge in enumerate(panel.judges):
        if progress:
            progress(judge, number, len(todo))
        judges[judge] = against(panel, panel.scores[judge], consensus, settings)
        mine = panel.answers(judge)
        judges[judge]["gates"] = gate_errors(mine, [panel.answers(r) for r in panel.references]) if mine else None
        judges[judge]["planted"] = planted_faults(bench.folder, mine, consensus) if mine else []
    if progress:
        progress("annotators", len(panel.judges), len(todo))
    people = annotators(panel, settings) if len(panel.references) > 1 else None
    out: dict[str, Any] = {
        "code_sha256": code_sha256(Product.JUDGEMENTS),
        "settings": {
            "reference": settings.reference,
            "min_raters": settings.min_raters,
            "seed": settings.seed,
            "resamples": settings.resamples,
            "policy": settings.policy.plain(),
            "policy_sha256": settings.policy.sha256,
            "icc_form": ICC_FORM,
            "alpha_level": ALPHA_LEVEL,
        },
        "panel": {
            "references": panel.references,
            "judges": panel.judges,
            "videos": len(bench.videos),
            "cases": len(bench.cases),
            "with_consensus": len(consensus),
            "too_few_raters": sum(row.status is ScoreStatus.INCOMPLETE for row in lacking.values()),
            "unusable": sum(row.status is ScoreStatus.UNUSABLE for row in lacking.values()),
        },
        "judges": judges,
        "annotators": people,
        "consensus": analyses(panel, consensus | lacking, settings),
        "by_judge": {j: analyses(panel, panel.scores[j], settings) for j in panel.judges},
        "ablations": {
            j: found for j in panel.judges if (found := ablations(panel, j, consensus, settings)) is not None
        },
    }
    out["videos"] = [_row(panel, v, consensus[v.video_id]) for v in bench.videos if v.video_id in consensus]
    first = judges[panel.judges[0]]["S"] if panel.judges else {}
    for name in ("pearson", "kendall", "ccc", "mae"):
        out[name] = first.get(name, {}).get("value")
    out["icc"] = people["S"]["icc"][ICC_FORM]["value"] if people else None
    out["alpha"] = people["S"]["alpha"][ALPHA_LEVEL]["value"] if people else None
    return out


def _row(panel: Panel, video: Video, mine: Score) -> dict[str, Any]:
    """Return one video's scores by everyone, for figures and other tools."""
    judges = {j: [_value(panel.scores[j].get(video.video_id), axis) for axis in AXES] for j in panel.judges}
    return {
        "video_id": video.video_id,
        "case_id": video.case_id,
        "origin": video.origin,
        "consensus": [mine.T, mine.P, mine.S],
        "judges": judges,
    }


def read_panel(bench: Benchmark, runs: Sequence[Path], settings: AgreementSettings) -> Panel:
    """Read all runs' scores.

    Raises:
        UsageError: a rater stands in two runs, or nobody is a reference.
    """
    scores: dict[str, dict[str, Score]] = {}
    kinds: dict[str, str] = {}
    run_of: dict[str, Path] = {}
    for run in runs:
        head = read_run(bench, run)
        for rater, rows in score_run(bench, run, settings.policy).items():
            name = rater
            if name in scores:
                name = f"{rater} ({run.name})"
            if name in scores:
                raise UsageError(f"{rater} stands in two runs of one name; give each run once")
            scores[name] = {row.video_id: row for row in rows}
            run_of[name] = run
        kinds |= {b.get("rater", ""): b.get("kind", "") for b in head["backends"]}
    references = [r for r in scores if kinds.get(r) == settings.reference]
    if not references:
        have = ", ".join(f"{r} ({kinds.get(r) or 'judge'})" for r in scores)
        raise UsageError(
            f"no rater of kind {settings.reference!r} in these runs, which hold: {have}; add the annotators' run, or"
            " name another kind with --reference"
        )
    return Panel(bench, scores, references, [r for r in scores if r not in references], run_of)


def consensus_of(panel: Panel, min_raters: int) -> tuple[dict[str, Score], dict[str, Score]]:
    """Return the mean of the annotators' scores by video, and the videos of annotated cases that have none, with the
    reason."""
    needed = min(min_raters, len(panel.references))
    found: dict[str, Score] = {}
    lacking: dict[str, Score] = {}
    rated: dict[str, list[Score]] = {
        v.video_id: [panel.scores[r][v.video_id] for r in panel.references if _rated(panel, r, v.video_id)]
        for v in panel.bench.videos
    }
    cases = {v.case_id for v in panel.bench.videos if rated[v.video_id]}
    for video in panel.bench.videos:
        rows = rated[video.video_id]
        common: dict[str, Any] = {"video_id": video.video_id, "case_id": video.case_id, "rater": "consensus"}
        if len(rows) >= needed:
            mean = {axis: _mean([v for row in rows if (v := getattr(row, axis)) is not None]) for axis in AXES}
            found[video.video_id] = Score(
                **common,
                T=mean["T"],
                P=mean["P"],
                S=mean["S"],
                n_sub=rows[0].n_sub,
                n_attempted=round(sum(row.n_attempted for row in rows) / len(rows)),
                subgoals=_merged(rows),
            )
        elif rows:
            why = f"too few annotators: {len(rows)}"
            lacking[video.video_id] = Score(
                **common,
                T=None,
                P=None,
                S=None,
                status=ScoreStatus.INCOMPLETE,
                cause=Lack.TOO_FEW_RATERS.value,
                reason=why,
            )
        elif video.status is not FileStatus.OK and video.case_id in cases:
            why = f"{video.status}: {video.reason}"
            lacking[video.video_id] = Score(
                **common, T=None, P=None, S=None, status=ScoreStatus.UNUSABLE, cause=video.status, reason=why
            )
    return found, lacking


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _merged(rows: Sequence[Score]) -> tuple[dict[str, Any], ...]:
    """Return subgoals with the mean of the annotators' scores."""
    by_sid: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        for one in row.subgoals:
            by_sid[one["sid"]].append(one)
    return tuple(
        {
            "sid": sid,
            "category": ones[0]["category"],
            "T": _mean([o["T"] for o in ones]),
            "P": _mean([o["P"] for o in ones if o["P"] is not None]),
        }
        for sid, ones in by_sid.items()
    )


def against(
    panel: Panel, scores: Mapping[str, Score], consensus: Mapping[str, Score], settings: AgreementSettings
) -> dict[str, Any]:
    """Return a judge's agreement with the consensus, axis by axis, and of the order of models."""
    videos = [v for v in panel.bench.videos if v.video_id in consensus]
    clusters = [v.case_id for v in videos]
    out: dict[str, Any] = {}
    for axis in AXES:
        theirs = [_value(scores.get(v.video_id), axis) for v in videos]
        ours = [_value(consensus.get(v.video_id), axis) for v in videos]
        out[axis] = {
            name: (
                paired(name, theirs, ours, clusters, settings.seed, settings.resamples, ("judge", "consensus")).plain()
            )
            for name in STATISTICS
        }
        both = [(a, b) for a, b in zip(theirs, ours, strict=True) if a is not None and b is not None]
        out[axis]["bias"] = _mean([a - b for a, b in both])
    out["models"] = ranks(panel, scores, consensus, settings)
    out["coverage"] = dict(sorted(Counter(row.status for v in videos if (row := scores.get(v.video_id))).items()))
    return out


def _value(score: Score | None, axis: str) -> float | None:
    return getattr(score, axis) if score is not None and score.status is ScoreStatus.SCORED else None


def ranks(
    panel: Panel, scores: Mapping[str, Score], consensus: Mapping[str, Score], settings: AgreementSettings
) -> dict[str, Any]:
    """Return mean S of every model by both, on the videos that both scored, and Spearman's rho of their order."""
    rows: dict[str, list[tuple[str, float, float]]] = defaultdict(list)
    for v in panel.bench.videos:
        a, b = _value(scores.get(v.video_id), "S"), _value(consensus.get(v.video_id), "S")
        if v.source is VideoSource.MODEL and a is not None and b is not None:
            rows[v.model].append((v.case_id, a, b))
    means = {m: (_mean([a for _, a, _ in r]), _mean([b for _, _, b in r]), len(r)) for m, r in sorted(rows.items())}
    rho = paired(
        "spearman", [a for a, _, _ in means.values()], [b for _, b, _ in means.values()], names=("judge", "consensus")
    )
    return {
        "spearman": rho.plain(),
        "means": {m: {"judge": a, "consensus": b, "videos": n} for m, (a, b, n) in means.items()},
    }


def annotators(panel: Panel, settings: AgreementSettings) -> dict[str, Any]:
    """Return how far annotators agree: scores, single gates, their biases, and what they left out."""
    videos = [v for v in panel.bench.videos if any(_rated(panel, r, v.video_id) for r in panel.references)]
    clusters = [v.case_id for v in videos]
    out: dict[str, Any] = {}
    for axis in AXES:
        table = [[_value(panel.scores[r].get(v.video_id), axis) for r in panel.references] for v in videos]
        offsets = [_offsets(row) for row in table]
        out[axis] = {
            "icc": {
                form: f.plain() for form, f in icc_figures(table, clusters, settings.seed, settings.resamples).items()
            },
            "alpha": {
                level: (
                    alpha(
                        table, level, clusters if level == ALPHA_LEVEL else None, settings.seed, settings.resamples
                    ).plain()
                )
                for level in LEVELS
            },
            "bias": {r: _mean([off[n] for off in offsets if n in off]) for n, r in enumerate(panel.references)},
        }
    out["videos"] = len(videos)
    out["null_physics"] = {
        r: sum(_rated(panel, r, v.video_id) and panel.scores[r][v.video_id].P is None for v in videos)
        for r in panel.references
    }
    out["gates"] = gate_agreement(panel, settings)
    return out


def _offsets(row: Sequence[float | None]) -> dict[int, float]:
    """Return by how much each rating of a video lies above the mean of its ratings."""
    rated = {n: value for n, value in enumerate(row) if value is not None}
    mean = _mean(list(rated.values()))
    return {} if mean is None else {n: value - mean for n, value in rated.items()}


def _rated(panel: Panel, rater: str, video: str) -> bool:
    row = panel.scores[rater].get(video)
    return row is not None and row.status is ScoreStatus.SCORED


def gate_agreement(panel: Panel, settings: AgreementSettings) -> dict[str, Any]:
    """Return the agreement of annotators on each gate that at least two of them were asked; "not reached" is no
    answer."""
    found: dict[tuple[str, str], dict[str, dict[str, GateAnswer]]] = defaultdict(lambda: defaultdict(dict))
    for rater in panel.references:
        for video, subgoals in panel.answers(rater).items():
            for sid, gates in subgoals.items():
                for gate, one in gates.items():
                    found[video, sid][gate][rater] = one
    out = {}
    codes = {GateVerdict.PASS: 1.0, GateVerdict.UNCLEAR: 0.5, GateVerdict.FAIL: 0.0}
    for gate in GATES:
        table = [
            [codes.get(gates[gate][r].answer) if r in gates.get(gate, {}) else None for r in panel.references]
            for gates in found.values()
        ]
        out[gate] = pair_agreement(table) | {
            "alpha": alpha(table, "nominal").plain() if table else Figure(None, 0).plain()
        }
    return out


def analyses(panel: Panel, scores: Mapping[str, Score], settings: AgreementSettings) -> dict[str, Any]:
    """Return what one rater's scores say about the videos: the paper's analyses; what has no score stays in every
    count."""
    bench, cases = panel.bench, panel.bench.by_case
    rows = [
        (v, row)
        for v in bench.videos
        if (row := scores.get(v.video_id)) is not None and row.status is ScoreStatus.SCORED
    ]
    clusters = [v.case_id for v, _ in rows]
    clutter = {name: n for n, name in enumerate(("low", "medium", "high"))}
    final = [row.S for _, row in rows]

    def spearman(values: Sequence[float]) -> dict[str, Any]:
        return paired("spearman", values, final, clusters, settings.seed, settings.resamples, ("feature", "S")).plain()

    both = [(row.T, row.P) for _, row in rows if row.T is not None and row.P is not None]
    return {
        "coupling": (
            paired(
                "pearson",
                [row.T for _, row in rows],
                [row.P for _, row in rows],
                clusters,
                settings.seed,
                settings.resamples,
                ("T", "P"),
            ).plain()
            | {"spread": float(np.std([a - b for a, b in both])) if both else None}
        ),
        "task_length": spearman([float(row.n_sub) for _, row in rows]),
        "clutter": spearman([float(clutter[cases[v.case_id].clutter.value]) for v, _ in rows]),
        "object_count": spearman([float(len(cases[v.case_id].objects)) for v, _ in rows]),
        "seeds": seed_spread(rows),
        "summary": summarise(bench, [scores[v.video_id] for v in bench.videos if v.video_id in scores], settings.seed),
    }


def seed_spread(rows: Sequence[tuple[Any, Score]]) -> dict[str, Any]:
    """Return, by model, how far S differs between seeds of one case: mean standard deviation and mean range."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for video, row in rows:
        if video.source is VideoSource.MODEL and row.S is not None:
            found[video.model][video.case_id].append(row.S)
    out = {}
    for model, by_case in sorted(found.items()):
        several = [values for values in by_case.values() if len(values) > 1]
        out[model] = {
            "cases": len(several),
            "sd": _mean([float(np.std(v, ddof=1)) for v in several]),
            "range": _mean([max(v) - min(v) for v in several]),
        }
    return out


def ablations(
    panel: Panel, judge: str, consensus: Mapping[str, Score], settings: AgreementSettings
) -> list[dict[str, Any]] | None:
    """Return how other ways of counting change a judge's agreement on S; None where it was not asked every gate."""
    run = panel.run_of[judge]
    answers = panel.answers(judge)
    if not answers or any(
        one.asked != "all" for s in answers.values() for gates in s.values() for one in gates.values()
    ):
        return None
    policies = {
        "sequential": Policy(),
        "independent": Policy(independent=True),
        **{f"without {g}": Policy(without=(g,)) for g in GATES},
        **{f"{g} bypassed": Policy(without=(g,), removal=Removal.BYPASS) for g in GATES},
    }
    videos = [v for v in panel.bench.videos if v.video_id in consensus]
    ours = [consensus[v.video_id].S for v in videos]
    plans = plans_of(panel.bench, run)
    out = []
    for name, policy in policies.items():
        scored = {
            v.video_id: score_video(v, plans.get(v.video_id), answers.get(v.video_id, {}), judge, policy)
            for v in videos
        }
        theirs = [_value(scored.get(v.video_id), "S") for v in videos]
        row: dict[str, Any] = {
            "name": name,
            "policy_sha256": policy.sha256,
            "mean_S": _mean([s for s in theirs if s is not None]),
        }
        row |= {
            stat: paired(stat, theirs, ours, names=("judge", "consensus")).value
            for stat in ("pearson", "kendall", "ccc", "mae")
        }
        out.append(row)
    base = out[0]
    for row in out:
        row["delta_S"] = _difference(row["mean_S"], base["mean_S"])
        row["delta_mae"] = _difference(row["mae"], base["mae"])
        row["delta_pearson"] = _difference(row["pearson"], base["pearson"])
    return out


def _difference(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None or math.isnan(a) or math.isnan(b) else a - b
