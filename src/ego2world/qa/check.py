"""The check of a folder of questions as it stands, against the worlds; and of items from elsewhere. Stage: qa, check.

Nothing is taken over from the build: the worlds are executed anew, every validator runs on what the files say now.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from pathlib import Path
from typing import Any

from ego2world.core.processes import process_pool
from ego2world.errors import RecordError, UsageError
from ego2world.qa.build import FILES, read_manifest, read_records, read_stage
from ego2world.qa.checks import CheckContext, check_group
from ego2world.qa.checks.collection import collection_findings, drift, position_findings
from ego2world.qa.checks.items import item_findings
from ego2world.qa.importers import read_items
from ego2world.qa.records import Finding, QuestionGroup
from ego2world.qa.replay import EpisodeReplayer
from ego2world.world.episode import load_episode, load_manifest

Progress = Callable[[str, int, int], None]


def check_folder(
    qa: Path, worlds: Path | None = None, jobs: int = 1, progress: Progress | None = None
) -> dict[str, Any]:
    """Check the accepted groups of a folder.

    Args:
        qa: made by ``build``.
        worlds: the collection they were made on; that of the manifest by default.
        jobs: processes.
        progress: called with (episode, finished, total).

    Returns:
        verdict, groups, turns, rederived (turns whose answer the executed world gives), without_evidence (turns whose
        answer is gone without the named evidence), findings: code -> items with path and message.

    Raises:
        UsageError: no questions, or no worlds.
        RecordError: the worlds are others than those the questions were made on.
    """
    manifest = read_manifest(qa)
    worlds = worlds or Path(manifest["worlds"])
    there = load_manifest(worlds)["episodes"]
    changed = [name for name, digest in manifest["episodes"].items() if there.get(name, {}).get("sha256") != digest]
    if changed:
        raise RecordError(
            str(worlds),
            f"not the worlds these questions were made on ({', '.join(changed[:3])}); build again, or name the others"
            " with --worlds",
        )
    by_status: dict[str, list[QuestionGroup]] = {
        status: read_records(qa / file, QuestionGroup) for status, file in FILES.items()
    }
    accepted = by_status["accepted"]
    episodes: dict[str, list[QuestionGroup]] = defaultdict(list)
    for group in accepted:
        episodes[group.episode].append(group)
    unknown = sorted(set(episodes) - set(manifest["episodes"]))
    found: dict[str, list[dict[str, str]]] = defaultdict(list)
    counts = dict.fromkeys(("rederived", "without_evidence"), 0)
    for item, finding in _findings(
        qa, worlds, {n: g for n, g in episodes.items() if n not in unknown}, jobs, progress, counts
    ):
        found[finding.code].append({"item": item, "path": finding.path, "message": finding.message})
    for name in unknown:
        found["SRC_MEDIA_MISSING"] += [
            {"item": g.id, "path": "episode", "message": f"no episode {name}"} for g in episodes[name]
        ]
    for item, findings in collection_findings(accepted).items():
        for finding in findings:
            found[finding.code].append({"item": item, "path": finding.path, "message": finding.message})
    keys = [(len(turn.options), turn.key) for group in accepted for turn in group.turns if turn.options]
    for finding in (*position_findings(keys), *drift(manifest, by_status)):
        found[finding.code].append({"item": "", "path": finding.path, "message": finding.message})
    turns = sum(len(group.turns) for group in accepted)
    good = counts["rederived"] == turns and not {code for code in found if code not in _KNOWN}
    return {
        "verdict": "pass" if good else "fail",
        "groups": len(accepted),
        "turns": turns,
        **counts,
        "findings": {code: rows for code, rows in sorted(found.items())},
    }


_KNOWN = frozenset({"NAR_POINT_ONLY", "IVL_OVERLAP_SAME_ENTITY", "KEY_POSITION_BIAS"})  # kept and marked, see codes


def _findings(
    qa: Path,
    worlds: Path,
    episodes: Mapping[str, Sequence[QuestionGroup]],
    jobs: int,
    progress: Progress | None,
    counts: dict[str, int],
) -> Iterator[tuple[str, Finding]]:
    def results() -> Iterator[tuple[str, list[tuple[str, Finding]], int, int]]:
        if jobs <= 1:
            for name, groups in episodes.items():
                yield (name, *check_episode(qa, worlds, name, groups))
            return
        with process_pool(min(jobs, max(1, len(episodes)))) as pool:
            futures = {pool.submit(check_episode, qa, worlds, name, groups): name for name, groups in episodes.items()}
            for future in as_completed(futures):
                yield (futures[future], *future.result())

    gathered = {}
    for done, (name, findings, rederived, without) in enumerate(results(), 1):
        gathered[name] = findings
        counts["rederived"] += rederived
        counts["without_evidence"] += without
        if progress:
            progress(name, done, len(episodes))
    for name in episodes:
        yield from gathered[name]


def check_episode(
    qa: Path, worlds: Path, name: str, groups: Sequence[QuestionGroup]
) -> tuple[list[tuple[str, Finding]], int, int]:
    """Return the findings of an episode's groups, how many turns are re-derived, and how many lose their answer
    without evidence."""
    replayer = EpisodeReplayer(load_episode(worlds, name))
    evidence = {one.id: one for one in read_stage(qa, name, "evidence")}
    case = CheckContext(replayer, evidence, {one.id: one for one in read_stage(qa, name, "relations")})
    found, rederived, without = [], 0, 0
    for group in groups:
        findings = check_group(group, case)
        found += [(group.id, finding) for finding in findings]
        broken = {finding.path.split(".")[0] for finding in findings if finding.code in {"REF_DANGLING"}}
        for number, turn in enumerate(group.turns):
            if f"turns[{number}]" not in broken and replayer.answer(turn.spec.query) == turn.spec.value:
                rederived += 1
                without += replayer.answer(turn.spec.query, frozenset(turn.spec.evidence)) != turn.spec.value
    return found, rederived, without


def necessity(qa: Path, worlds: Path | None = None) -> dict[str, dict[str, int]]:
    """Return which required modalities are needed: label -> groups, and how many give their answer without one of its
    streams.

    Every stream that a group's label names is taken away whole, with all evidence of it, and the group is answered
    again.
    """
    manifest = read_manifest(qa)
    worlds = worlds or Path(manifest["worlds"])
    of_episode: dict[str, list[QuestionGroup]] = defaultdict(list)
    for group in read_records(qa / FILES["accepted"], QuestionGroup):
        of_episode[group.episode].append(group)
    out: dict[str, dict[str, int]] = {}
    for name in manifest["episodes"]:
        replayer = EpisodeReplayer(load_episode(worlds, name))
        stream = {one.id: one.modality for one in read_stage(qa, name, "evidence")}
        for group in of_episode[name]:
            row = out.setdefault(group.modality, {"groups": 0, "redundant": 0})
            row["groups"] += 1
            row["redundant"] += any(
                all(
                    replayer.answer(
                        turn.spec.query, frozenset(one for one in turn.spec.evidence if stream.get(one) == lost)
                    )
                    == turn.spec.value
                    for turn in group.turns
                )
                for lost in group.modality.split("-")
            )
    return dict(sorted(out.items()))


def check_items(path: Path, form: str | None = None) -> dict[str, Any]:
    """Check questions from elsewhere, as far as possible without a world.

    Raises:
        UsageError, AnnotationError: the questions cannot be read.
    """
    items = read_items(path, form)
    if not items:
        raise UsageError(f"{path}: no questions in it")
    found: dict[str, list[dict[str, str]]] = defaultdict(list)
    for item, findings in item_findings(items).items():
        for finding in findings:
            found[finding.code].append({"item": item, "path": finding.path, "message": finding.message})
    for finding in position_findings((len(item.options), item.key) for item in items if item.options):
        found[finding.code].append({"item": "", "path": finding.path, "message": finding.message})
    errors = {code for code in found if code not in _KNOWN}
    return {"verdict": "fail" if errors else "pass", "items": len(items), "findings": dict(sorted(found.items()))}
