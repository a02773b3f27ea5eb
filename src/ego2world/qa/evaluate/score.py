"""Judgements to scores with honest denominators. Stage: qa, evaluation.

Errors and review cases leave the denominator openly and are never counted as wrong; bounds say what the accuracy would
be with all of them wrong and all of them right. Every figure stands with the number it is of, and the ledger names who
is in it.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec

from ego2world import __version__
from ego2world.core.canonical import canonical_json, pretty_json, sha256, strict_json, write_atomic
from ego2world.core.journal import Records, read_rows, rewrite
from ego2world.core.provenance import Product, code_sha256
from ego2world.core.statistics import Interval, cluster_interval, mcnemar_exact
from ego2world.errors import UsageError
from ego2world.qa.evaluate.answer import MANIFEST, Prediction, membership, read_predictions, rotated
from ego2world.qa.evaluate.backsolve import fractions
from ego2world.qa.evaluate.choice import read_choice
from ego2world.qa.evaluate.judge import Judge, JudgeRecord, Verdict
from ego2world.qa.evaluate.verdicts import Parse
from ego2world.qa.items import Item

JUDGEMENTS, SCORES = "judgements.jsonl", "scores.json"
UNREADABLE = 0.05  # of a judge's replies, at most
Progress = Callable[[str, int, int], None]


def score(
    items: Sequence[Item],
    folder: Path,
    judge: Judge,
    seed: int = 0,
    concurrency: int = 4,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Judge the answers of a folder, write judgements.jsonl and scores.json, and return the scores.

    Judgements that are there and are of the same judge, item and answer are used again.

    Raises:
        UsageError: no answers, or answers to other items.
    """
    manifest = read_answers_manifest(folder)
    if manifest["items_sha256"] != membership(items):
        raise UsageError(
            f"{folder} holds answers to other questions than these (memberships differ); answer these first, or name"
            " the others"
        )
    predictions = {(row.item, row.rotation): row for row in read_predictions(folder)}
    records = _judged(items, predictions, folder, judge, concurrency, progress)
    scores = summarise(items, records, manifest, judge.identity(), seed)
    if manifest["settings"].get("circular"):
        scores["circular"] = _circular(items, predictions)
    write_atomic(folder / SCORES, pretty_json(scores))
    return scores


def read_answers_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a folder of answers.

    Raises:
        UsageError: there is none.
    """
    path = folder / MANIFEST
    if not path.is_file():
        raise UsageError(
            f"{folder} contains no answers (no {MANIFEST}); make some with: ego2world qa answer QUESTIONS --model NAME"
            f" --out {folder}"
        )
    manifest: dict[str, Any] = strict_json(path.read_bytes())
    return manifest


def _judged(
    items: Sequence[Item],
    predictions: Mapping[tuple[str, int], Prediction],
    folder: Path,
    judge: Judge,
    concurrency: int,
    progress: Progress | None,
) -> list[JudgeRecord]:
    known = {row["item"]: row for row in read_rows(folder / JUDGEMENTS)}
    identity = judge.identity()
    turns: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        turns[item.group].append(item)

    def judged_from(item: Item) -> str:
        prediction = predictions.get((item.id, 0))
        return sha256(
            canonical_json(
                [identity, msgspec.to_builtins(item), msgspec.to_builtins(prediction) if prediction else None]
            )
        )

    basis = {item.id: judged_from(item) for item in items}
    writer = Records(folder)

    def one(item: Item) -> JudgeRecord:
        row = known.get(item.id)
        if row is not None and row.get("basis") == basis[item.id] and row["record"]["verdict"] != Verdict.ERROR:
            return msgspec.convert(row["record"], JudgeRecord)
        history = [
            (earlier.question, said.text or "")
            for earlier in turns[item.group]
            if earlier.round < item.round and (said := predictions.get((earlier.id, 0))) is not None
        ]
        record = judge.judge(item, predictions.get((item.id, 0)), history)
        writer.add(JUDGEMENTS, {"item": item.id, "basis": basis[item.id], "record": msgspec.to_builtins(record)})
        return record

    try:
        if judge.client is None:
            records = [one(item) for item in items]
        else:
            with ThreadPoolExecutor(concurrency) as pool:
                records = []
                for done, record in enumerate(pool.map(one, items), 1):
                    records.append(record)
                    if progress:
                        progress(record.item, done, len(items))
    finally:
        writer.close()
    rows = [
        {"item": record.item, "basis": basis[record.item], "record": msgspec.to_builtins(record)} for record in records
    ]
    rewrite(folder / JUDGEMENTS, sorted(rows, key=lambda row: str(row["item"])))
    return records


def summarise(
    items: Sequence[Item],
    records: Sequence[JudgeRecord],
    manifest: Mapping[str, Any],
    judge: Mapping[str, Any],
    seed: int,
) -> dict[str, Any]:
    """Return the scores of judged items; records of one item and round count once."""
    pairs = list(
        {(record.item, record.round): (item, record) for item, record in zip(items, records, strict=True)}.values()
    )
    views: dict[str, Callable[[Item], str]] = {
        "by_level": lambda item: item.level,
        "by_category": lambda item: item.category,
        "by_prototype": lambda item: item.prototype,
        "by_modality": lambda item: item.modality,
        "by_round": lambda item: str(item.round),
        "by_split": lambda item: item.split,
        "by_format": lambda item: "multiple_choice" if item.options else "open",
    }
    out: dict[str, Any] = {
        "ego2world": __version__,
        "code_sha256": code_sha256(Product.ANSWERS),
        "model": manifest["model"],
        "settings": manifest["settings"],
        "source": manifest["source"],
        "judge": dict(judge),
        "ledger": {
            "items_sha256": manifest["items_sha256"],
            "items": len(pairs),
            "prompts_sha256": manifest["prompts_sha256"],
        },
        "overall": _figures(pairs, seed),
    }
    for name, view in views.items():
        split: dict[str, list[tuple[Item, JudgeRecord]]] = defaultdict(list)
        for item, record in pairs:
            split[view(item)].append((item, record))
        out[name] = {key: _figures(rows, seed) for key, rows in sorted(split.items()) if key}
    out["groups"] = _groups(pairs)
    out["not_judged"] = {
        verdict.value: [
            {"item": r.item, "reason": r.reason, "parse": r.parse} for _, r in pairs if r.verdict == verdict
        ]
        for verdict in Verdict
        if verdict is not Verdict.JUDGED
    }
    read = Counter(record.parse for _, record in pairs if record.verdict == Verdict.REVIEW)
    out["unread"] = {parse.value: read[parse] for parse in (Parse.UNPARSED, Parse.INVALID, Parse.CONTRADICTORY)}
    out["findings"] = score_findings([record for _, record in pairs])
    return out


def _figures(pairs: Sequence[tuple[Item, JudgeRecord]], seed: int) -> dict[str, Any]:
    """Return counts of all verdicts, accuracy and mean score of the judged, with intervals over videos, and bounds."""
    counts = Counter(record.verdict for _, record in pairs)
    judged = [(item, record) for item, record in pairs if record.verdict == Verdict.JUDGED]
    n, right = len(judged), sum(record.correct or 0 for _, record in judged)
    undecided = counts[Verdict.REVIEW]
    clusters: dict[str, list[JudgeRecord]] = defaultdict(list)
    for item, record in judged:
        clusters[item.videos[0] if item.videos else item.group].append(record)
    rows = [clusters[key] for key in sorted(clusters)]
    accuracy = cluster_interval([sum(r.correct or 0 for r in row) for row in rows], [len(row) for row in rows], seed)
    mean = cluster_interval([sum(r.score or 0 for r in row) for row in rows], [len(row) for row in rows], seed)
    return {
        "items": len(pairs),
        **{verdict.value: counts[verdict] for verdict in Verdict},
        "correct": right,
        "accuracy": right / n if n else None,
        "accuracy_interval": _within(accuracy, 0.0, 1.0),
        "mean_score": sum(r.score or 0 for _, r in judged) / n if n else None,
        "mean_score_interval": _within(mean, -math.inf, math.inf),
        "bounds": {
            "review_wrong": right / (n + undecided) if n + undecided else None,
            "review_right": (right + undecided) / (n + undecided) if n + undecided else None,
        },
        "videos": len(clusters),
    }


def _within(interval: Interval | None, low: float, high: float) -> dict[str, Any] | None:
    """Return an interval's JSON form, cut to what is possible."""
    return (
        None
        if interval is None
        else interval.plain() | {"low": max(low, interval.low), "high": min(high, interval.high)}
    )


def _groups(pairs: Iterable[tuple[Item, JudgeRecord]]) -> dict[str, int]:
    """Return how many groups are judged in all their turns, and right in all of them."""
    found: dict[str, list[JudgeRecord]] = defaultdict(list)
    for item, record in pairs:
        found[item.group].append(record)
    whole = [rows for rows in found.values() if all(r.verdict == Verdict.JUDGED for r in rows)]
    return {
        "groups": len(found),
        "judged_whole": len(whole),
        "all_turns_correct": sum(all(r.correct for r in rows) for rows in whole),
    }


def score_findings(records: Sequence[JudgeRecord]) -> list[dict[str, str]]:
    """Return JUDGE_FAIL_AS_SCORE, JUDGE_SCORE_CONFLICT, JUDGE_IDENTITY, PARSE_RATE of judgements."""
    found = []
    asked = [stage for record in records for stage in record.stages]
    unread = sum(stage["parse"] != "parsed" for stage in asked)
    if asked and unread / len(asked) > UNREADABLE:
        found.append(
            {
                "code": "PARSE_RATE",
                "item": "",
                "message": f"{unread} of {len(asked)} replies of the judge could not be read",
            }
        )
    for record in records:
        if record.verdict != Verdict.JUDGED and (record.correct is not None or record.score is not None):
            found.append(
                {"code": "JUDGE_FAIL_AS_SCORE", "item": record.item, "message": f"{record.verdict} with a score"}
            )
        if record.verdict == Verdict.JUDGED:
            passing = Judge().rubric.passing
            low, high = (int(part) for part in str((record.judge or {}).get("rubric", "0-5")).split("-"))
            passing = passing if (low, high) == (0, 5) else high
            if (
                record.correct is None
                or record.score is None
                or not low <= record.score <= high
                or (record.score >= passing) != bool(record.correct)
            ):
                found.append(
                    {
                        "code": "JUDGE_SCORE_CONFLICT",
                        "item": record.item,
                        "message": f"correct {record.correct}, score {record.score}",
                    }
                )
        judge = record.judge or {}
        if not judge.get("name") or (judge.get("kind") == "model" and not judge.get("prompts_sha256")):
            found.append(
                {
                    "code": "JUDGE_IDENTITY",
                    "item": record.item,
                    "message": "who judged, and by which prompt, is not said",
                }
            )
    return found


def figure_findings(figures: Iterable[Mapping[str, Any]]) -> list[dict[str, str]]:
    """DEN_MISMATCH: printed percentages ("percent", "name") that no k of their "n" gives."""
    return [
        {"code": "DEN_MISMATCH", "item": str(row["name"]), "message": f"{row['percent']} % is no k of {row['n']}"}
        for row in figures
        if not fractions(str(row["percent"]), [int(row["n"])])
    ]


def _circular(items: Sequence[Item], predictions: Mapping[tuple[str, int], Prediction]) -> dict[str, Any]:
    """Return how many single questions are right in all rotations of their options, and how often each position was
    chosen."""
    whole, right, single = 0, 0, 0
    chosen: Counter[str] = Counter()
    for item in items:
        size = len(item.options or {})
        rows = [predictions.get((item.id, r)) for r in range(size)]
        if not size or len(item.key) != 1 or any(row is None or row.text is None for row in rows):
            continue
        picks = [
            read_choice(row.text or "", rotated(item, r).options or {}) for r, row in enumerate(rows) if row is not None
        ]
        hits = [pick == rotated(item, r).key for r, pick in enumerate(picks)]
        whole, right, single = whole + 1, right + all(hits), single + sum(hits)
        chosen.update(pick[0] if pick else "none" for pick in picks)
    return {
        "items": whole,
        "right_in_all_rotations": right,
        "rotations_right": single,
        "chosen_positions": dict(sorted(chosen.items())),
        "accuracy": right / whole if whole else None,
    }


def compare(items: Sequence[Item], folders: Sequence[Path], seed: int = 0) -> list[dict[str, Any]]:
    """Compare models pair by pair, on the items that both were judged on.

    Raises:
        UsageError: answers to other items, by other settings or other judges (PROTO_DRIFT), or not scored yet.
    """
    loaded = []
    for folder in folders:
        manifest = read_answers_manifest(folder)
        rows = read_rows(folder / JUDGEMENTS)
        if not rows:
            raise UsageError(f"{folder} is not scored; run: ego2world qa score QUESTIONS {folder}")
        judges = {
            canonical_json(row["record"].get("judge"))
            for row in rows
            if (row["record"].get("judge") or {}).get("kind") == "model"
        }
        loaded.append(
            (folder, manifest, {row["item"]: msgspec.convert(row["record"], JudgeRecord) for row in rows}, judges)
        )
    first = loaded[0]
    for folder, manifest, _, judges in loaded[1:]:
        differs = [name for name in ("items_sha256", "prompts_sha256", "settings") if manifest[name] != first[1][name]]
        if judges and first[3] and judges != first[3]:
            differs.append("judge")
        if differs:
            raise UsageError(
                f"PROTO_DRIFT: {folder} and {first[0]} differ in {', '.join(differs)}; only results of one protocol are"
                " compared"
            )
    videos = {item.id: item.videos[0] if item.videos else item.group for item in items}
    out = []
    for i, (_, one, mine, _) in enumerate(loaded):
        for _, other, theirs, _ in loaded[i + 1 :]:
            both = [
                k
                for k in sorted(mine)
                if k in theirs and mine[k].verdict == theirs[k].verdict == Verdict.JUDGED and k in videos
            ]
            clusters: dict[str, list[int]] = defaultdict(list)
            for k in both:
                clusters[videos[k]].append((mine[k].correct or 0) - (theirs[k].correct or 0))
            interval = cluster_interval(
                [sum(clusters[c]) for c in sorted(clusters)], [len(clusters[c]) for c in sorted(clusters)], seed
            )
            test = mcnemar_exact([bool(mine[k].correct) for k in both], [bool(theirs[k].correct) for k in both])
            out.append(
                {
                    "first": one["model"],
                    "second": other["model"],
                    "items": len(both),
                    "left_out": len(set(mine) | set(theirs)) - len(both),
                    "difference": interval.plain() if interval else None,
                    "discordance": test.plain(),
                }
            )
    return out
