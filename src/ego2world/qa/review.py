"""Human review: cohorts, decisions that are only ever appended, agreement, export. Stage: qa, review. Source: the
paper's D.

    cohort.json     which groups, drawn once by a fixed seed, and who reviews which; with the hash of what they were
                    drawn from
    reviews.jsonl   one decision a line, apart from the questions; undoing appends too, nothing is ever changed

A reviewer sees no other reviewer's decisions. Every group has a version, the number of decisions on it: who saves on a
version that has passed is told so, and the decision is kept all the same, under its reviewer.
"""

from __future__ import annotations

import random
import threading
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ego2world.core.agreement import alpha
from ego2world.core.canonical import canonical_json, pretty_json, sha256, strict_json, write_atomic
from ego2world.core.folder import same_work
from ego2world.core.journal import Log, read_as
from ego2world.core.provenance import Product, code_sha256
from ego2world.errors import RecordError, UsageError
from ego2world.qa.build import FILES, read_manifest, read_records
from ego2world.qa.checks.case import finding
from ego2world.qa.records import Finding, QuestionGroup, QuestionRecord

SEED = 20260921
DECISIONS = ("accept", "needs_revision", "reject", "uncertain")
ISSUES = (
    "answer_wrong",
    "answer_incomplete",
    "evidence_missing",
    "evidence_misplaced",
    "modality_wrong",
    "structure_wrong",
    "ambiguous",
    "leaks_answer",
    "wording",
    "option_also_true",
    "media_unavailable",
)
FIELDS = ("question", "answer", "standalone")  # of a turn, that suggestions can be made for
COHORT, REVIEWS = "cohort.json", "reviews.jsonl"


class Suggestion(QuestionRecord, frozen=True):
    """Another wording of one field of one turn, with the hash of the words it would replace."""

    turn: int
    field: str
    text: str
    original_hash: str


class ReviewDecision(QuestionRecord, frozen=True):
    """One decision, or (``undoes``) the taking back of one."""

    id: str
    item: str
    reviewer: str
    version: int
    decision: str = ""
    issues: tuple[str, ...] = ()
    note: str = ""
    suggestions: tuple[Suggestion, ...] = ()
    played_s: tuple[tuple[float, float], ...] = ()
    media_verified: bool = False
    content_hash: str = ""
    supersedes: str = ""
    undoes: str = ""
    stale: bool = False  # saved on a version that had passed


class StaleVersion(Exception):
    """Somebody else decided in between; the decision was kept. ``version``: the current one."""

    def __init__(self, version: int, review: ReviewDecision) -> None:
        self.version, self.review = version, review
        super().__init__(f"version {version} now")


def make_cohort(
    qa: Path,
    out: Path,
    size: int,
    reviewers: Sequence[str],
    double: float = 0.2,
    seed: int = SEED,
    status: str = "accepted",
) -> dict[str, Any]:
    """Draw groups without replacement, give each to a reviewer and a share of them to a second one; write cohort.json.

    Args:
        qa: made by ``build``.
        out: the folder of the review.
        size: groups, at most as many as there are.
        reviewers: names; letters, digits, "-" and "_".
        double: share of the groups that two reviewers judge without seeing each other.
        seed: of the drawing.
        status: which groups: accepted, review or rejected.

    Raises:
        UsageError: no groups, bad names, or the folder holds another cohort.
    """
    read_manifest(qa)
    names = list(dict.fromkeys(reviewers))
    if not names or any(
        not name or not name.replace("-", "").replace("_", "").isalnum() or len(name) > 40 for name in names
    ):
        raise UsageError(f"reviewers {', '.join(reviewers) or 'nobody'}: needed names of letters, digits, - and _")
    if double > 0 and len(names) < 2:
        double = 0.0
    groups: list[QuestionGroup] = read_records(qa / FILES[status], QuestionGroup)
    if not groups:
        raise UsageError(f"{qa} has no groups that are {status}")
    ids = sorted(group.id for group in groups)
    drawn = random.Random(seed).sample(ids, min(size, len(ids)))
    queues: dict[str, list[str]] = {name: [] for name in names}
    second = round(double * len(drawn))
    for number, item in enumerate(drawn):
        queues[names[number % len(names)]].append(item)
        if number < second:
            queues[names[(number + 1) % len(names)]].append(item)
    hashes = {group.id: group.content_hash for group in groups}
    cohort = {
        "code_sha256": code_sha256(Product.QUESTIONS),
        "seed": seed,
        "population": len(ids),
        "population_hash": sha256(canonical_json(ids)),
        "status": status,
        "questions": str(qa),
        "items": drawn,
        "content_hashes": {item: hashes[item] for item in drawn},
        "double": drawn[:second],
        "queues": queues,
    }
    path = out / COHORT
    if path.is_file():
        before = strict_json(path.read_bytes())
        if not same_work(before, cohort):
            raise UsageError(f"{out} contains another cohort; choose another --out folder")
        kept: dict[str, Any] = before
        return kept
    write_atomic(path, pretty_json(cohort))
    return cohort


def read_cohort(folder: Path) -> dict[str, Any]:
    """Read a review's cohort.

    Raises:
        UsageError: there is none.
    """
    path = folder / COHORT
    if not path.is_file():
        raise UsageError(
            f"{folder} contains no review (no {COHORT}); make one with: ego2world qa cohort QA --out {folder}"
        )
    cohort: dict[str, Any] = strict_json(path.read_bytes())
    return cohort


class ReviewStore:
    """The decisions of a review, in memory and on disk; safe to use from several threads of one process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cohort = read_cohort(folder)
        groups: list[QuestionGroup] = read_records(
            Path(self.cohort["questions"]) / FILES[self.cohort["status"]], QuestionGroup
        )
        wanted = set(self.cohort["items"])
        self.groups = {group.id: group for group in groups if group.id in wanted}
        missing = [item for item in self.cohort["items"] if item not in self.groups]
        if missing:
            raise RecordError(
                str(folder / COHORT),
                f"{len(missing)} groups are no longer among the questions, such as {missing[0]}; make another cohort",
            )
        self._log = Log(folder / REVIEWS, ReviewDecision)
        self._of_item: dict[str, list[ReviewDecision]] = defaultdict(list)
        for one in self._log.rows:
            self._of_item[one.item].append(one)
        self._lock = threading.Lock()

    def close(self) -> None:
        """Close the file."""
        self._log.close()

    def version(self, item: str) -> int:
        """Return how often something was decided, or taken back, on an item."""
        return len(self._of_item[item])

    def current(self, item: str, reviewer: str) -> ReviewDecision | None:
        """Return a reviewer's decision on an item, None where there is none or it was taken back."""
        return standing(self._of_item[item], item, reviewer)

    def save(
        self,
        item: str,
        reviewer: str,
        version: int,
        decision: str,
        issues: Sequence[str] = (),
        note: str = "",
        suggestions: Sequence[Suggestion] = (),
        played_s: Sequence[tuple[float, float]] = (),
    ) -> ReviewDecision:
        """Append a decision, on disk before this returns.

        Raises:
            UsageError: unknown item, reviewer, decision, issue or field.
            StaleVersion: the item's version is another one; the decision was kept, marked as stale.
        """
        self._check(item, reviewer, decision, issues, suggestions)
        with self._lock:
            group, now = self.groups[item], self.version(item)
            before = self.current(item, reviewer)
            review = ReviewDecision(
                id=self._next_id(),
                item=item,
                reviewer=reviewer,
                version=version,
                decision=decision,
                issues=tuple(dict.fromkeys(issues)),
                note=note,
                suggestions=tuple(suggestions),
                played_s=tuple(played_s),
                media_verified=covers(played_s, group),
                content_hash=group.content_hash,
                supersedes=before.id if before else "",
                stale=version != now,
            )
            self._append(review)
            if review.stale:
                raise StaleVersion(now + 1, review)
            return review

    def undo(self, item: str, reviewer: str) -> ReviewDecision | None:
        """Take back a reviewer's standing decision; what stood before it stands again. None where there is nothing to
        undo."""
        self._check(item, reviewer, DECISIONS[0], (), ())
        with self._lock:
            before = self.current(item, reviewer)
            if before is None:
                return None
            review = ReviewDecision(
                id=self._next_id(), item=item, reviewer=reviewer, version=self.version(item), undoes=before.id
            )
            self._append(review)
            return review

    def _next_id(self) -> str:
        return f"review_{len(self._log.rows) + 1:06d}"

    def _append(self, review: ReviewDecision) -> None:
        self._log.add(review)
        self._of_item[review.item].append(review)

    def _check(
        self, item: str, reviewer: str, decision: str, issues: Sequence[str], suggestions: Sequence[Suggestion]
    ) -> None:
        if reviewer not in self.cohort["queues"]:
            raise UsageError(f"no reviewer {reviewer!r}; there are: {', '.join(self.cohort['queues'])}")
        if item not in self.cohort["queues"][reviewer]:
            raise UsageError(f"{item!r} is not in the queue of {reviewer}")
        if decision not in DECISIONS:
            raise UsageError(f"no decision {decision!r}; there are: {', '.join(DECISIONS)}")
        unknown = [issue for issue in issues if issue not in ISSUES]
        if unknown:
            raise UsageError(f"no issue {unknown[0]!r}; there are: {', '.join(ISSUES)}")
        turns = self.groups[item].turns
        for one in suggestions:
            if one.field not in FIELDS or not 0 <= one.turn < len(turns):
                raise UsageError(f"no field {one.field!r} of turn {one.turn}")
            if one.original_hash != original_hash(turns[one.turn], one.field):
                raise UsageError(f"the {one.field} of turn {one.turn} is another one now; load the page again")


def original_hash(turn: Any, field: str) -> str:
    """Return the hash of the words that a suggestion would replace."""
    return sha256(str(getattr(turn, field)).encode())


def covers(played_s: Sequence[tuple[float, float]], group: QuestionGroup) -> bool:
    """Whether the parts that were played cover most of the clip (times in the video's clock)."""
    start_s, end_s = group.clip.start_s, group.clip.end_s
    parts = sorted((max(start_s, a), min(end_s, b)) for a, b in played_s if b > a)
    total, until = 0.0, start_s
    for a, b in parts:
        total += max(0.0, b - max(a, until))
        until = max(until, b)
    return total >= 0.8 * (end_s - start_s)


def standing(reviews: Sequence[ReviewDecision], item: str, reviewer: str) -> ReviewDecision | None:
    """Return the last decision of a reviewer on an item that was not taken back."""
    mine = [one for one in reviews if one.item == item and one.reviewer == reviewer]
    undone = {one.undoes for one in mine if one.undoes}
    left = [one for one in mine if not one.undoes and one.id not in undone]
    return left[-1] if left else None


def read_reviews(folder: Path) -> list[ReviewDecision]:
    """Read all decisions; a last line that a kill tore is left out.

    Raises:
        RecordError: another line is none.
    """
    return read_as(folder / REVIEWS, ReviewDecision)


def summary(folder: Path) -> dict[str, Any]:
    """Return what a review says so far: decisions, issues, agreement of those reviewed twice, findings, every standing
    decision."""
    store = ReviewStore(folder)
    try:
        queues: Mapping[str, list[str]] = store.cohort["queues"]
        kept = [
            one for name, queue in queues.items() for item in queue if (one := store.current(item, name)) is not None
        ]
        by_item: dict[str, list[ReviewDecision]] = defaultdict(list)
        for one in kept:
            by_item[one.item].append(one)
        return {
            "cohort": {
                "items": len(store.cohort["items"]),
                "population": store.cohort["population"],
                "seed": store.cohort["seed"],
                "status": store.cohort["status"],
            },
            "decisions": {name: sum(one.decision == name for one in kept) for name in DECISIONS},
            "issues": dict(sorted(Counter(issue for one in kept for issue in one.issues).items())),
            "reviewed": len(by_item),
            "progress": {
                name: [sum(store.current(i, name) is not None for i in queue), len(queue)]
                for name, queue in queues.items()
            },
            "agreement": agreement(by_item),
            "findings": [
                {"code": f.code, "item": f.path, "message": f.message} for f in review_findings(kept, store.groups)
            ],
            "reviews": [msgspec.to_builtins(one) for one in kept],
        }
    finally:
        store.close()


def review_findings(reviews: Sequence[ReviewDecision], groups: Mapping[str, QuestionGroup]) -> list[Finding]:
    """REVIEW_STALE, REVIEW_MEDIA_UNVERIFIED of standing decisions."""
    out = []
    for one in reviews:
        group = groups.get(one.item)
        if group is not None and one.content_hash != group.content_hash:
            out.append(finding("REVIEW_STALE", one.item, f"{one.reviewer} decided on another wording"))
        if one.decision == "accept" and not one.media_verified:
            out.append(
                finding(
                    "REVIEW_MEDIA_UNVERIFIED",
                    one.item,
                    f"{one.reviewer} accepted without playing the clip; it stays uncertain",
                )
            )
    return out


def agreement(by_item: Mapping[str, Sequence[ReviewDecision]]) -> dict[str, Any]:
    """Return how far two reviewers agree: shares, and Krippendorff's alpha (nominal) where decisions vary."""
    pairs = [(rows[0].decision, rows[1].decision) for rows in by_item.values() if len(rows) == 2]
    out: dict[str, Any] = {"items": len(pairs), "same": sum(a == b for a, b in pairs), "alpha": None}
    if pairs:
        codes = {name: float(number) for number, name in enumerate(DECISIONS)}
        out["alpha"] = alpha([[codes[a], codes[b]] for a, b in pairs], "nominal").value
    return out
