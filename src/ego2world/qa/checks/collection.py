"""What can only be seen over all items: duplicates, conflicts, positions, splits. Stage: qa, check."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from scipy.stats import binomtest

from ego2world.qa.checks.case import finding, words
from ego2world.qa.near import near_duplicates
from ego2world.qa.queries import ActQuery, Query
from ego2world.qa.records import Finding, QuestionGroup

NEAR_S = 5.0  # clips that begin further apart show something else, whatever the words
POSITION_P = 0.001  # of an exact two-sided test, over all positions (Bonferroni)


def collection_findings(groups: Sequence[QuestionGroup]) -> dict[str, list[Finding]]:
    """Return what is found over all groups: group id -> findings; the first of several alike is never blamed."""
    found: dict[str, list[Finding]] = defaultdict(list)
    ids: Counter[str] = Counter()
    contents: dict[str, str] = {}
    asked: dict[tuple[str, ...], QuestionGroup] = {}
    events: dict[tuple[str, ...], str] = {}
    for group in groups:
        ids[group.id] += 1
        if ids[group.id] > 1:
            found[group.id].append(finding("ID_DUP", "id", f"{group.id} occurs {ids[group.id]} times"))
        first = contents.setdefault(group.content_hash, group.id)
        if first != group.id:
            found[group.id].append(finding("DUP_GROUP", "", f"the same as {first}"))
            continue
        last = group.turns[-1]
        question = (
            group.clip.video,
            str(group.clip.start_s),
            str(group.clip.end_s),
            *(words(turn.question) for turn in group.turns),
        )
        before = asked.setdefault(question, group)
        if before is not group and words(before.turns[-1].answer) != words(last.answer):
            found[group.id].append(
                finding("ANS_CONFLICT_GROUP", "turns", f"{before.id} asks the same and is answered otherwise")
            )
        event = (group.episode, group.template, *map(_event, (turn.spec.query for turn in group.turns)))
        named = events.setdefault(event, group.id)
        if named != group.id and before is group:
            found[group.id].append(finding("DUP_EVENT", "turns", f"{named} asks about the same event in the same way"))
    for one, other in near_duplicates(
        (g.id, f"{g.clip.video} {g.category} {g.clip.start_s // NEAR_S}", _gist(g)) for g in groups
    ):
        if not any(f.code in {"DUP_GROUP", "DUP_EVENT", "ANS_CONFLICT_GROUP"} for f in found[other]):
            found[other].append(finding("DUP_NEAR", "turns", f"hardly differs from {one}"))
    for group_id, problem in _splits(groups):
        found[group_id].append(problem)
    return {name: rows for name, rows in found.items() if rows}


def _event(query: Query) -> str:
    return (
        f"{query.start_s}-{query.end_s} {query.role}"
        if isinstance(query, ActQuery) and query.entity is None
        else repr(query)
    )


def _gist(group: QuestionGroup) -> str:
    """Return what a near duplicate would share: wording, times and answers."""
    return " ".join(f"{turn.question} {turn.answer}" for turn in group.turns) + f" {group.clip.start_s:.0f}"


def _splits(groups: Iterable[QuestionGroup]) -> Iterator[tuple[str, Finding]]:
    split_of: dict[str, str] = {}
    for group in groups:
        if group.split:
            first = split_of.setdefault(group.clip.video, group.split)
            if first != group.split:
                yield (
                    group.id,
                    finding("SPLIT_LEAK_VIDEO", "split", f"{group.clip.video} is in {first} and in {group.split}"),
                )


def position_findings(keys: Iterable[tuple[int, tuple[str, ...]]]) -> list[Finding]:
    """KEY_POSITION_BIAS: keys as (number of options, key), tested per number of options and position."""
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    for size, key in keys:
        if len(key) == 1:
            counts[size][key[0]] += 1
    out = []
    for size, places in sorted(counts.items()):
        total = places.total()
        for letter, count in sorted(places.items()):
            if binomtest(count, total, 1 / size).pvalue * size < POSITION_P:
                out.append(
                    finding(
                        "KEY_POSITION_BIAS",
                        "key",
                        f"{letter} is the key of {count} of {total} items with {size} options",
                    )
                )
    return out


def drift(manifest: Mapping[str, Any], groups: Mapping[str, Sequence[QuestionGroup]]) -> list[Finding]:
    """COUNT_DRIFT: the counts of a manifest against the files (accepted, rejected, review)."""
    out = []
    for name, written in manifest.get("totals", {}).items():
        there = len(groups.get(name, ()))
        if name in groups and written != there:
            out.append(finding("COUNT_DRIFT", f"manifest.json totals.{name}", f"{written} written, {there} there"))
    for field, attribute in (("by_category", "category"), ("by_level", "level"), ("by_modality", "modality")):
        counted = Counter(getattr(group, attribute) for group in groups.get("accepted", ()))
        written = {k: v for k, v in manifest.get(field, {}).items() if v}
        if written != dict(counted):
            out.append(finding("COUNT_DRIFT", f"manifest.json {field}", "counts differ from the accepted groups"))
    return out
