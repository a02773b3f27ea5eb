"""Human annotation: who sees which video in which order, under which name, and what they answered. Stage: judge.

    PANEL/
      panel.json            seed, plans, queues; which token is which video: never sent to a page
      clips/TOKEN.mp4       copies of one height and rate, without sound and metadata, under names that say nothing
      answers/NAME.jsonl    one annotator's answers, one per line as they are given; nothing is ever changed

Tokens are HMACs of the video's id under a salt. Each annotator has an order of their own, in which no video follows
one of the same case where that can be had, and some videos come twice without it being said.
"""

from __future__ import annotations

import hmac
import os
import random
import threading
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from ego2world.core.canonical import canonical_json, pretty_json, sha256, strict_json, write_atomic
from ego2world.core.folder import same_work
from ego2world.core.journal import Log, rewrite
from ego2world.core.provenance import Product, code_sha256
from ego2world.core.video import FileStatus, write_copy
from ego2world.errors import RecordError, UsageError
from ego2world.judge.benchmark import Benchmark, Progress
from ego2world.judge.policy import GATES, PHYSICS, TASK
from ego2world.judge.records import BenchmarkRecord, GateAnswer, GateVerdict, Rater, ReplyStatus, SubgoalPlan

PANEL, CLIPS, ANSWERS = "panel.json", "clips", "answers"
HEIGHT_PX, RATE = 480, 30
CLEARED = GateVerdict.NOT_REACHED  # what stands where an answer was taken back


class Annotation(BenchmarkRecord, frozen=True):
    """One answer as it was given. ``seconds``: since the page was opened; ``replays``: how often the clip was begun
    again."""

    annotator: str
    item_token: str
    order_index: int
    sid: str
    gate: str
    answer: GateVerdict
    failure: str = ""
    t_start: float | None = None
    t_end: float | None = None
    rationale: str = ""
    seconds: float = 0.0
    replays: int = 0
    is_duplicate: bool = False


def make_panel(
    bench: Benchmark,
    plans: dict[str, SubgoalPlan],
    out: Path,
    annotators: Sequence[str],
    seed: int = 0,
    duplicates: float = 0.05,
    all_gates: bool = False,
    limit: int | None = None,
    salt: str = "",
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Make a panel: queues, tokens and copies of the videos.

    Args:
        bench: whose videos; those of cases marked ``panel``, or all where none is.
        plans: by video: the same frozen ones for every annotator.
        out: the folder; a panel with the same settings is resumed.
        annotators: names of letters, digits, "-" and "_".
        seed: of the orders.
        duplicates: share of the videos that come twice.
        all_gates: ask every gate, also after a failure.
        limit: only so many videos, drawn.
        salt: of the tokens; by default made from seed and videos.
        progress: called with (copy, done, total).

    Raises:
        UsageError: bad names, no videos with a plan, or another panel in the folder.
    """
    if len(set(annotators)) != len(annotators) or not annotators or not all(_named(name) for name in annotators):
        raise UsageError(
            f"annotators {', '.join(annotators) or 'nobody'}: needed different names of letters, digits, - and _"
        )
    marked = {case.case_id for case in bench.cases if case.panel} or {case.case_id for case in bench.cases}
    videos = [
        v
        for v in bench.videos
        if v.case_id in marked and v.status is FileStatus.OK and plans.get(v.video_id) and plans[v.video_id].subgoals
    ]
    if not videos:
        raise UsageError(
            f"{bench.folder} has no usable video with a plan; see: ego2world judge check, ego2world judge plan"
        )
    videos = sorted(videos, key=lambda v: v.video_id)
    if limit is not None and limit < len(videos):
        videos = sorted(random.Random(f"{seed}/limit").sample(videos, limit), key=lambda v: v.video_id)
    salt = salt or sha256(canonical_json([seed, [[v.video_id, v.sha256] for v in videos]]))
    twice = set(random.Random(f"{seed}/twice").sample([v.video_id for v in videos], round(duplicates * len(videos))))
    items: dict[str, dict[str, Any]] = {}
    for video in videos:
        for copy in range(2 if video.video_id in twice else 1):
            items[token(salt, video.video_id, copy)] = {
                "video_id": video.video_id,
                "case_id": video.case_id,
                "plan_id": plans[video.video_id].plan_id,
                "is_duplicate": copy > 0,
            }
    cases = bench.by_case
    used = {plans[v.video_id].plan_id: plans[v.video_id] for v in videos}
    panel = {
        "code_sha256": code_sha256(Product.JUDGEMENTS),
        "seed": seed,
        "salt": salt,
        "all_gates": all_gates,
        "items": items,
        "queues": {name: _order(items, f"{seed}/{name}") for name in annotators},
        "goals": {v.case_id: cases[v.case_id].goal for v in videos},
        "plans": {name: used[name].plain() for name in sorted(used)},
        "videos_sha256": {v.video_id: v.sha256 for v in videos},
    }
    path = out / PANEL
    if path.is_file():
        before = strict_json(path.read_bytes())
        if not same_work(before, panel):
            raise UsageError(f"{out} contains another panel; choose another --out folder")
        panel = before
    by_id = {v.video_id: v for v in videos}
    for number, (name, item) in enumerate(items.items(), 1):
        clip = out / CLIPS / f"{name}.mp4"
        if not clip.is_file():
            video = by_id[item["video_id"]]
            write_copy(bench.path(video), clip, min(HEIGHT_PX, max(2, video.height_px // 2 * 2)), RATE)
            os.utime(clip, (0, 0))  # the order of making says nothing either
        if progress:
            progress(name, number, len(items))
    write_atomic(path, pretty_json(panel))
    return panel


def _named(name: str) -> bool:
    return 0 < len(name) <= 40 and all(c.isalnum() or c in "-_" for c in name)


def token(salt: str, video_id: str, copy: int = 0) -> str:
    """Return the name under which annotators see a video."""
    return hmac.new(salt.encode(), f"{video_id}#{copy}".encode(), "sha256").hexdigest()[:20]


def _order(items: dict[str, dict[str, Any]], seed: str) -> list[str]:
    """Return tokens in random order in which neighbours are of different cases, as far as there are enough of them."""
    chosen = random.Random(seed)
    by_case: dict[str, list[str]] = defaultdict(list)
    for name in sorted(items):
        by_case[items[name]["case_id"]].append(name)
    for names in by_case.values():
        chosen.shuffle(names)
    out: list[str] = []
    last = ""
    while by_case:
        left = sum(map(len, by_case.values())) - 1
        fitting = [  # those after which the rest can still be laid out
            c
            for c in by_case
            if c != last
            and 2 * (len(by_case[c]) - 1) <= left
            and all(2 * len(names) <= left + 1 for d, names in by_case.items() if d != c)
        ]
        others = fitting or [max(by_case, key=lambda c: (c != last, len(by_case[c])))]
        case = chosen.choices(others, [len(by_case[c]) for c in others])[0]
        out.append(by_case[case].pop())
        last = case
        if not by_case[case]:
            del by_case[case]
    return out


def read_panel_file(folder: Path) -> dict[str, Any]:
    """Read panel.json.

    Raises:
        UsageError: there is none.
    """
    path = folder / PANEL
    if not path.is_file():
        raise UsageError(
            f"{folder} contains no panel (no {PANEL}); make one with: ego2world judge panel BENCH --out {folder}"
        )
    found: dict[str, Any] = strict_json(path.read_bytes())
    return found


class PanelStore:
    """The answers of a panel, in memory and on disk; safe to use from several threads of one process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.panel = read_panel_file(folder)
        self.plans = {name: msgspec.convert(row, SubgoalPlan) for name, row in self.panel["plans"].items()}
        (folder / ANSWERS).mkdir(exist_ok=True)
        self._logs = {name: Log(folder / ANSWERS / f"{name}.jsonl", Annotation) for name in self.panel["queues"]}
        self._standing = {
            name: {(row.item_token, row.sid, row.gate): row for row in log.rows} for name, log in self._logs.items()
        }
        self._lock = threading.Lock()

    def close(self) -> None:
        """Close the files."""
        for log in self._logs.values():
            log.close()

    def queue(self, annotator: str) -> list[str]:
        """Return an annotator's tokens in order.

        Raises:
            UsageError: no such annotator.
        """
        if annotator not in self.panel["queues"]:
            raise UsageError(f"no annotator {annotator!r}")
        found: list[str] = self.panel["queues"][annotator]
        return found

    def plan(self, name: str) -> SubgoalPlan:
        """Return the plan of an item."""
        return self.plans[self.panel["items"][name]["plan_id"]]

    def given(self, annotator: str, name: str) -> dict[str, dict[str, Annotation]]:
        """Return an annotator's standing answers to an item, by subgoal and gate."""
        out: dict[str, dict[str, Annotation]] = defaultdict(dict)
        for (item, sid, gate), row in self._standing[annotator].items():
            if item == name and row.answer is not CLEARED:
                out[sid][gate] = row
        return out

    def complete(self, annotator: str, name: str) -> bool:
        """Whether every gate that is to be asked has an answer."""
        given = self.given(annotator, name)
        return all(
            gate in given.get(s.sid, {})
            for s in self.plan(name).subgoals
            for gate in asked({g: r.answer for g, r in given.get(s.sid, {}).items()}, self.panel["all_gates"])
        )

    def save(
        self,
        annotator: str,
        number: int,
        sid: str,
        gate: str,
        answer: str,
        failure: str = "",
        t_start: float | None = None,
        t_end: float | None = None,
        rationale: str = "",
        seconds: float = 0.0,
        replays: int = 0,
    ) -> Annotation:
        """Append an answer, on disk before this returns.

        Raises:
            UsageError: no such annotator, place, subgoal, gate or answer.
        """
        queue = self.queue(annotator)
        if not 0 <= number < len(queue):
            raise UsageError(f"no place {number} in the queue of {annotator}")
        name = queue[number]
        if sid not in {s.sid for s in self.plan(name).subgoals}:
            raise UsageError(f"no subgoal {sid!r}")
        if gate not in GATES:
            raise UsageError(f"no gate {gate!r}; there are: {', '.join(GATES)}")
        if answer not in ("pass", "fail", "unclear", CLEARED.value):
            raise UsageError(f"no answer {answer!r}; there are: pass, fail, unclear, {CLEARED.value}")
        row = Annotation(
            annotator=annotator,
            item_token=name,
            order_index=number,
            sid=sid,
            gate=gate,
            answer=GateVerdict(answer),
            failure=failure[:60],
            t_start=t_start,
            t_end=t_end,
            rationale=rationale[:2000],
            seconds=round(seconds, 1),
            replays=replays,
            is_duplicate=self.panel["items"][name]["is_duplicate"],
        )
        with self._lock:
            self._logs[annotator].add(row)
            self._standing[annotator][name, sid, gate] = row
        return row

    def progress(self) -> dict[str, tuple[int, int]]:
        """Return, by annotator, how many items are complete and how many there are."""
        return {
            name: (sum(self.complete(name, item) for item in queue), len(queue))
            for name, queue in self.panel["queues"].items()
        }


def asked(given: dict[str, GateVerdict], all_gates: bool) -> list[str]:
    """Return the gates of a subgoal that are to be answered, given the answers so far: each chain up to its first
    failure."""
    if all_gates:
        return list(GATES)
    out: list[str] = []
    for chain in (TASK, PHYSICS):
        if chain is PHYSICS and given.get("T1") is not GateVerdict.PASS:
            continue
        for gate in chain:
            out.append(gate)
            if given.get(gate) is not GateVerdict.PASS:
                break
    return out


def export(folder: Path, out: Path) -> dict[str, Any]:
    """Write the answers of all annotators in the judge's own format; return progress, consistency and drift.

    Args:
        folder: the panel.
        out: the file of answers, for ``judge run --backend answers:FILE``.

    Raises:
        UsageError: no panel, or no answer in it.
    """
    store = PanelStore(folder)
    try:
        rows: list[GateAnswer] = []
        people: dict[str, Any] = {}
        for name in store.panel["queues"]:
            mine = [answer for item in store.queue(name) for answer in _answers(store, name, item)]
            rows += mine
            people[name] = _report(store, name)
        if not rows:
            raise UsageError(f"nobody has answered anything in {folder} yet")
        rewrite(out, (row.plain() for row in rows))
        return {"answers": sum(row.answer is not GateVerdict.NOT_REACHED for row in rows), "annotators": people}
    finally:
        store.close()


def _answers(store: PanelStore, annotator: str, name: str) -> list[GateAnswer]:
    """Return an annotator's answers to an item; hidden second looks are no answers of their own."""
    item = store.panel["items"][name]
    if item["is_duplicate"]:
        return []
    all_gates = store.panel["all_gates"]
    out = []
    for subgoal in store.plan(name).subgoals:
        given = store.given(annotator, name).get(subgoal.sid, {})
        if not given:
            continue
        wanted = asked({g: row.answer for g, row in given.items()}, all_gates)
        for gate in GATES:
            row = given.get(gate)
            if gate in wanted and row is None:
                continue  # not answered yet
            reached = gate in wanted and row is not None
            out.append(
                GateAnswer(
                    video_id=item["video_id"],
                    plan_id=item["plan_id"],
                    sid=subgoal.sid,
                    gate=gate,
                    answer=row.answer if reached and row is not None else GateVerdict.NOT_REACHED,
                    rater=Rater(kind="human", id=annotator),
                    asked="all" if all_gates else "seq",
                    t_start=row.t_start if reached and row else None,
                    t_end=row.t_end if reached and row else None,
                    failure=row.failure if reached and row else "",
                    rationale=row.rationale if reached and row else "",
                    frame_spec="the whole video",
                    parse_status=ReplyStatus.ANNOTATED,
                )
            )
    return out


def _report(store: PanelStore, annotator: str) -> dict[str, Any]:
    """Return one annotator's progress, consistency on videos seen twice, drift over the queue, and pace."""
    queue = store.queue(annotator)
    items = store.panel["items"]
    done = [name for name in queue if store.complete(annotator, name)]
    first = {items[name]["video_id"]: name for name in queue if not items[name]["is_duplicate"]}
    same = total = 0
    for name in done:
        if items[name]["is_duplicate"] and store.complete(annotator, first[items[name]["video_id"]]):
            a, b = (store.given(annotator, n) for n in (first[items[name]["video_id"]], name))
            for sid in a.keys() & b.keys():
                for gate in a[sid].keys() & b[sid].keys():
                    total += 1
                    same += a[sid][gate].answer == b[sid][gate].answer
    halves = [done[: len(done) // 2], done[len(done) // 2 :]]
    share = [_pass_share(store, annotator, half) for half in halves]
    seconds = [
        max(row.seconds for gates in store.given(annotator, name).values() for row in gates.values())
        for name in done
        if store.given(annotator, name)
    ]
    return {
        "complete": len(done),
        "items": len(queue),
        "duplicate_answers": total,
        "duplicate_same": same,
        "pass_share_by_half": share,
        "median_seconds": sorted(seconds)[len(seconds) // 2] if seconds else None,
    }


def _pass_share(store: PanelStore, annotator: str, names: Sequence[str]) -> float | None:
    values = [
        row.answer is GateVerdict.PASS
        for name in names
        for gates in store.given(annotator, name).values()
        for row in gates.values()
    ]
    return sum(values) / len(values) if values else None


def check_clips(folder: Path) -> None:
    """Raise where a copy is missing.

    Raises:
        RecordError: some are.
    """
    panel = read_panel_file(folder)
    missing = [name for name in panel["items"] if not (folder / CLIPS / f"{name}.mp4").is_file()]
    if missing:
        raise RecordError(
            str(folder / CLIPS), f"{len(missing)} copies are missing; run the same ego2world judge panel command again"
        )
