"""A judge goes through the videos: gate after gate, with early exit, appended as they come. Stage: judge.

    RUN/
      run.json        benchmark, plans, backend, sampling: what answers need in common; a folder with different
                      settings is refused
      plans.jsonl     the plans that were asked about
      answers.jsonl   one answer per line            (judges with gates)
      ratings.jsonl   a rating a line             (judges of whole videos)

A run that is killed at any moment is resumed by the same command, and ends with the same records as one that never
was. Answers that a service did not give are asked for again; answers that could not be read stay as they are, and are
counted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ego2world import __version__
from ego2world.core.breaker import Breaker
from ego2world.core.canonical import canonical_json, sha256
from ego2world.core.folder import open_folder
from ego2world.core.journal import Records, read_as, rewrite
from ego2world.core.lock import writing
from ego2world.core.provenance import Product, code_sha256
from ego2world.core.video import FileStatus
from ego2world.errors import UsageError, VideoError
from ego2world.judge.backends import GateJudge, ScoreJudge, VideoView
from ego2world.judge.benchmark import Benchmark, Progress
from ego2world.judge.planning import plans_sha256
from ego2world.judge.policy import GATES, PHYSICS, TASK
from ego2world.judge.records import Case, GateAnswer, GateVerdict, Rating, ReplyStatus, Subgoal, SubgoalPlan, Video
from ego2world.judge.sampling import FrameSampling

RUN, PLANS, ANSWERS, RATINGS = "run.json", "plans.jsonl", "answers.jsonl", "ratings.jsonl"
_ORDER = {gate: number for number, gate in enumerate(GATES)}


@dataclass(frozen=True)
class JudgeSettings:
    """How a judge is run; stored in run.json, concurrency apart.

    all_gates: every gate is asked, also after a failure: what independent scoring and removed gates need.
    """

    sampling: FrameSampling = field(default_factory=FrameSampling)
    all_gates: bool = False
    concurrency: int = 4

    def plain(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"sampling": self.sampling.plain(), "all_gates": self.all_gates}


def videos_sha256(videos: Sequence[Video]) -> str:
    """Return the hash of which videos there are, and what they are."""
    return sha256(canonical_json(sorted([v.video_id, v.case_id, v.sha256, v.status] for v in videos)))


def judge(
    bench: Benchmark,
    plans: Mapping[str, SubgoalPlan],
    out: Path,
    backends: Sequence[GateJudge | ScoreJudge],
    settings: JudgeSettings,
    progress: Progress | None = None,
    accept_code: bool = False,
) -> dict[str, Any]:
    """Run judges over a benchmark; return run.json with counts of answers, and of missing ones.

    Args:
        bench: the videos; those that are not "ok" are left out here, and stand in every score as unusable.
        plans: by video.
        out: the folder; an unfinished run in it is resumed.
        backends: one per rater.
        settings: see ``JudgeSettings``.
        progress: called with (video, done, total).
        accept_code: resume what other code began.

    Raises:
        UsageError: the folder contains a run with different settings, or no video can be judged.
    """
    usable = [video for video in bench.videos if video.status is FileStatus.OK]
    if not usable:
        raise UsageError(f"{bench.folder} has no video that can be judged; see: ego2world judge check {bench.folder}")
    used = {plan.plan_id: plan for plan in plans.values()}
    head = {
        "benchmark": {
            "videos_sha256": videos_sha256(bench.videos),
            "videos": len(bench.videos),
            "usable": len(usable),
            "cases": len(bench.cases),
        },
        "plans_sha256": plans_sha256(list(used.values())),
        "backends": [{"rater": one.rater.id, "kind": one.rater.kind} | one.plain() for one in backends],
        "raters": [one.rater.id for one in backends],
        "settings": settings.plain(),
        "ego2world": __version__,
        "code_sha256": code_sha256(Product.JUDGEMENTS),
    }
    with writing(out):
        open_folder(out / RUN, head, "a run", accept_code)
        rewrite(out / PLANS, (used[name].plain() for name in sorted(used)))
        kept = _Kept.read(out)
        kept.write(out)
        records = Records(out)
        try:
            work = _Work(bench, plans, settings, records, kept)
            work.all(backends, usable, progress)
        finally:
            records.close()
        kept = _Kept.read(out, again=False)
        kept.write(out)
    return head | kept.counts()


@dataclass
class _Kept:
    """What the folder holds: the last answer to each question, and the last rating of each video."""

    answers: dict[tuple[str, str, str, str, str], GateAnswer] = field(default_factory=dict)
    ratings: dict[tuple[str, str], Rating] = field(default_factory=dict)

    @staticmethod
    def read(out: Path, again: bool = True) -> _Kept:
        """Read the records; ``again``: without those that are to be asked for again."""
        kept = _Kept()
        for one in read_as(out / ANSWERS, GateAnswer):
            kept.answers[one.key] = one
        for rating in read_as(out / RATINGS, Rating):
            kept.ratings[rating.rater.id, rating.video_id] = rating
        if again:
            failed = {key[:4] for key, one in kept.answers.items() if one.parse_status == ReplyStatus.SERVICE}
            for key in [
                k
                for k, one in kept.answers.items()
                if k[:4] in failed
                and (one.parse_status == ReplyStatus.SERVICE or one.answer is GateVerdict.NOT_REACHED)
            ]:
                del kept.answers[key]
            kept.ratings = {key: one for key, one in kept.ratings.items() if one.parse_status != ReplyStatus.SERVICE}
        return kept

    def write(self, out: Path) -> None:
        """Make the files hold these records alone, in one order."""
        if self.answers or (out / ANSWERS).is_file():
            order = sorted(self.answers, key=lambda k: (*k[:3], _natural(k[3]), _ORDER[k[4]]))
            rewrite(out / ANSWERS, (self.answers[key].plain() for key in order))
        if self.ratings or (out / RATINGS).is_file():
            rewrite(out / RATINGS, (self.ratings[key].plain() for key in sorted(self.ratings)))

    def counts(self) -> dict[str, Any]:
        """Return how many answers and ratings there are, and why some are missing."""
        wrong = Counter(
            (one.parse_status or GateVerdict.ERROR).value
            for one in self.answers.values()
            if one.answer is GateVerdict.ERROR
        )
        wrong.update(one.parse_status.value for one in self.ratings.values() if one.parse_status)
        given = [one for one in self.answers.values() if one.answer is not GateVerdict.NOT_REACHED]
        asked: list[GateAnswer | Rating] = [*given, *self.ratings.values()]
        return {
            "answers": len(given),
            "ratings": len(self.ratings),
            "unanswered": sum(wrong.values()),
            "reasons": dict(wrong.most_common(5)),
            "service_failures": sum(one.parse_status == ReplyStatus.SERVICE for one in asked),
            "tokens_in": sum(one.tokens_in for one in asked),
            "tokens_out": sum(one.tokens_out for one in asked),
        }


def _natural(sid: str) -> tuple[int, str]:
    digits = sid.lstrip("s")
    return (int(digits), "") if digits.isdecimal() else (10**9, sid)


class _Work:
    """The videos, each by each judge; several at a time."""

    def __init__(
        self, bench: Benchmark, plans: Mapping[str, SubgoalPlan], settings: JudgeSettings, records: Records, kept: _Kept
    ) -> None:
        self.bench, self.plans, self.settings, self.records = bench, plans, settings, records
        self.cases = bench.by_case
        self.answers: dict[tuple[str, str], dict[tuple[str, str], GateAnswer]] = defaultdict(dict)
        for (rater, video, _, sid, gate), one in kept.answers.items():
            self.answers[rater, video][sid, gate] = one
        self.rated = set(kept.ratings)
        self.breaker = Breaker()  # of videos that a service gave nothing for

    def all(
        self, backends: Sequence[GateJudge | ScoreJudge], videos: Sequence[Video], progress: Progress | None
    ) -> None:
        """Judge everything that is not judged yet; stop early where a service gives nothing."""
        todo = [(backend, video) for backend in backends for video in videos]
        looks = any(backend.looks for backend in backends)
        with ThreadPoolExecutor(self.settings.concurrency if looks else 1) as pool:
            waiting = {pool.submit(self.one, backend, video): video for backend, video in todo}
            for number, future in enumerate(as_completed(waiting), 1):
                future.result()
                if progress:
                    progress(waiting[future].video_id, number, len(todo))

    def one(self, backend: GateJudge | ScoreJudge, video: Video) -> None:
        """Judge one video."""
        if self.breaker.is_open:
            return
        look = VideoView(video, self.bench.path(video), self.settings.sampling)
        case, plan = self.cases[video.case_id], self.plans.get(video.video_id)
        if _has_gates(backend):
            failed = self.gates(backend, look, case, plan)  # type: ignore[arg-type]
        elif (backend.rater.id, video.video_id) in self.rated:
            return
        else:
            failed = self.whole(backend, look, case, plan)  # type: ignore[arg-type]
        if failed is not None:
            self.breaker.note(failed)

    def whole(self, backend: ScoreJudge, look: VideoView, case: Case, plan: SubgoalPlan | None) -> bool | None:
        """Rate a video."""
        try:
            rating = backend.rate(look, case, plan)
        except VideoError as error:
            rating = Rating(
                video_id=look.video_id,
                rater=backend.rater,
                task=None,
                physics=None,
                final=None,
                parse_status=ReplyStatus.VIDEO,
                error=str(error),
            )
        self.records.add(RATINGS, rating.plain())
        return rating.parse_status == ReplyStatus.SERVICE

    def gates(self, backend: GateJudge, look: VideoView, case: Case, plan: SubgoalPlan | None) -> bool | None:
        """Ask the gates of every subgoal; return whether the service failed, None where nothing was asked."""
        known = self.answers[backend.rater.id, look.video_id]
        failed: bool | None = None
        for subgoal in plan.subgoals if plan else ():
            before = {gate: known[subgoal.sid, gate] for gate in GATES if (subgoal.sid, gate) in known}
            for chain in (TASK, PHYSICS):
                open_ = chain is TASK or self.settings.all_gates or _passed(before.get("T1"))
                for gate in chain:
                    if gate not in before:
                        made = self.ask(backend, look, case, plan, subgoal, gate, before, open_)  # type: ignore[arg-type]
                        before[gate] = made
                        self.records.add(ANSWERS, made.plain())
                        if made.answer is not GateVerdict.NOT_REACHED:
                            failed = made.parse_status == ReplyStatus.SERVICE
                            if failed:
                                return True
                    open_ = open_ and (self.settings.all_gates or _passed(before[gate]))
        return failed

    def ask(
        self,
        backend: GateJudge,
        look: VideoView,
        case: Case,
        plan: SubgoalPlan,
        subgoal: Subgoal,
        gate: str,
        before: Mapping[str, GateAnswer],
        open_: bool,
    ) -> GateAnswer:
        """Return the answer to one gate, or that it is not reached."""
        asked = "all" if self.settings.all_gates else "seq"
        common: dict[str, Any] = {
            "video_id": look.video_id,
            "plan_id": plan.plan_id,
            "sid": subgoal.sid,
            "gate": gate,
            "rater": backend.rater,
        }
        if not open_:
            return GateAnswer(**common, answer=GateVerdict.NOT_REACHED, asked=asked)
        try:
            made = backend.answer(look, case, plan, subgoal, gate, before)
        except VideoError as error:
            made = GateAnswer(**common, answer=GateVerdict.ERROR, parse_status=ReplyStatus.VIDEO, rationale=str(error))
        return made if made.asked == asked else replace(made, asked=asked)


def _passed(answer: GateAnswer | None) -> bool:
    return answer is not None and answer.answer is GateVerdict.PASS


def _has_gates(backend: GateJudge | ScoreJudge) -> bool:
    return hasattr(backend, "answer")


def read_answers(out: Path) -> list[GateAnswer]:
    """Read the answers of a run, finished or not."""
    return read_as(out / ANSWERS, GateAnswer)


def read_ratings(out: Path) -> list[Rating]:
    """Read the ratings of a run, finished or not."""
    return read_as(out / RATINGS, Rating)
