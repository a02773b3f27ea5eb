"""Where a judge errs, gate by gate: against the reference's answers, and against faults that were planted. Stage:
judge."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ego2world.core.journal import read_rows
from ego2world.judge.policy import GATES
from ego2world.judge.records import GateAnswer, GateVerdict

Answers = Mapping[str, Mapping[str, Mapping[str, GateAnswer]]]  # of one rater: video -> subgoal -> gate
ROLLOUTS = "rollouts.jsonl"


def gate_errors(mine: Answers, references: Sequence[Answers]) -> dict[str, dict[str, int]]:
    """Return how a judge's answers to each gate compare with what most of the reference's raters say; unclear counts
    as failed.

    Returns:
        By gate: both_pass, both_fail, missed (the reference fails it), false_alarm (the reference passes it). Gates
        that either was not asked, or that the reference is divided about, are in none of them.
    """
    out = {gate: {"both_pass": 0, "both_fail": 0, "missed": 0, "false_alarm": 0} for gate in GATES}
    names = {
        (True, True): "both_pass",
        (False, False): "both_fail",
        (True, False): "missed",
        (False, True): "false_alarm",
    }
    for video, subgoals in mine.items():
        for sid, gates in subgoals.items():
            for gate, one in gates.items():
                said = _holds(one)
                votes = Counter(_holds(r.get(video, {}).get(sid, {}).get(gate)) for r in references)
                if said is not None and votes[True] != votes[False]:
                    out[gate][names[said, votes[True] > votes[False]]] += 1
    return out


def _holds(answer: GateAnswer | None) -> bool | None:
    if answer is None or answer.answer in (GateVerdict.ERROR, GateVerdict.NOT_REACHED):
        return None
    return answer.answer is GateVerdict.PASS


def planted_faults(folder: Path, mine: Answers, videos: Iterable[str]) -> list[dict[str, Any]]:
    """Return, for each kind of planted fault of a drawn benchmark, in how many of its places the judge fails the gate
    where it lands.

    Args:
        folder: the benchmark; one without rollouts.jsonl has no planted faults.
        mine: the judge's answers.
        videos: those that count.
    """
    kept = set(videos)
    counts: dict[tuple[str, str, str], list[int]] = defaultdict(lambda: [0, 0])
    for row in read_rows(folder / ROLLOUTS):
        for fault in row["planted"] if row["video_id"] in kept else ():
            one = mine.get(row["video_id"], {}).get(fault["sid"], {}).get(fault["gate"])
            count = counts[fault["gate"], fault["fault"], fault["type"]]
            count[0] += 1
            count[1] += _holds(one) is False
    order = sorted(counts, key=lambda key: (GATES.index(key[0]), key[1]))
    return [
        {
            "gate": gate,
            "fault": fault,
            "type": kind,
            "planted": counts[gate, fault, kind][0],
            "found": counts[gate, fault, kind][1],
        }
        for gate, fault, kind in order
    ]
