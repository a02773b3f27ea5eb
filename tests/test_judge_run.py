"""Running judges: answers as asked and no others, resumed byte for byte, and never a guess where nothing was
answered."""

from __future__ import annotations

import csv
import json
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from ego2world.core.journal import read_as
from ego2world.core.models import MockModel, ModelClient, Reply, Request, Stop
from ego2world.errors import AnnotationError, ModelError, RecordError, UsageError
from ego2world.judge.backends import FileAnswers, ModelJudge, QuestionList, ScoreTable, SimpleVQA
from ego2world.judge.benchmark import Benchmark, read_benchmark
from ego2world.judge.controls import try_out
from ego2world.judge.planning import SubgoalPlanner, by_rule, make_plans, mock_plan, read_plans, stability
from ego2world.judge.policy import GATES, PHYSICS, TASK, Policy, Removal
from ego2world.judge.records import Case, Clutter, GateAnswer, GateVerdict, Setting, SubgoalPlan
from ego2world.judge.run import JudgeSettings, judge, read_answers, read_ratings
from ego2world.judge.sampling import Density, FrameSampling
from ego2world.judge.tally import score_run
from ego2world.rollouts.detector import Detector
from fake_server import Script, fake_server
from judge_data import part, scripted

COMMAND = str(Path(sys.executable).parent / "ego2world")


@pytest.fixture(scope="module")
def bench(rendered: Path, tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    """Three cases, 18 clips; never written to."""
    return part(rendered, tmp_path_factory.mktemp("part"), 3)


@pytest.fixture(scope="module")
def plans(bench: Benchmark) -> dict[str, SubgoalPlan]:
    return read_plans(bench.folder / "plans.jsonl", bench)


@pytest.fixture(scope="module")
def truth(bench: Benchmark) -> list[GateAnswer]:
    here = {video.video_id for video in bench.videos}
    return [row for row in read_as(bench.folder / "truth.jsonl", GateAnswer) if row.video_id in here]


def command(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, "judge", *map(str, words)], capture_output=True, text=True)


def given(rows: list[GateAnswer]) -> dict[tuple[str, str, str], str]:
    return {(row.video_id, row.sid, row.gate): row.answer.value for row in rows}


def chains_end_at_failures(rows: list[GateAnswer]) -> None:
    answers = given(rows)
    for video, sid in {(row.video_id, row.sid) for row in rows}:
        for chain in (TASK, PHYSICS):
            open_ = chain is TASK or answers[video, sid, "T1"] == "pass"
            for gate in chain:
                assert (answers[video, sid, gate] != "not_reached") == open_, (video, sid, gate)
                open_ = open_ and answers[video, sid, gate] == "pass"


# --- answers from a file, from a model, from pixels ------------------------------------------------------------


def test_answers_from_a_file_are_that_rater(
    bench: Benchmark, plans: dict[str, SubgoalPlan], truth: list[GateAnswer], tmp_path: Path
) -> None:
    backends = FileAnswers.read(bench.folder / "truth.jsonl")
    done = judge(bench, plans, tmp_path / "all", backends, JudgeSettings(all_gates=True))
    assert done["unanswered"] == 0 and given(read_answers(tmp_path / "all")) == given(truth)
    judge(bench, plans, tmp_path / "seq", backends, JudgeSettings())
    rows = read_answers(tmp_path / "seq")
    chains_end_at_failures(rows)
    whole = given(truth)
    assert all(one in ("not_reached", whole[key]) for key, one in given(rows).items()) and len(rows) == len(truth)
    (both,) = score_run(bench, tmp_path / "all", Policy()).values()
    (early,) = score_run(bench, tmp_path / "seq", Policy()).values()
    assert [(s.T, s.P, s.S) for s in both] == [(s.T, s.P, s.S) for s in early]
    with pytest.raises(UsageError, match="every gate"):
        score_run(bench, tmp_path / "seq", Policy(independent=True))
    assert score_run(bench, tmp_path / "all", Policy(without=("T1",), removal=Removal.BYPASS))


def test_one_question_a_gate_ends_at_the_first_failure(
    bench: Benchmark, plans: dict[str, SubgoalPlan], truth: list[GateAnswer], tmp_path: Path
) -> None:
    asked: Counter[str] = Counter()
    lock = threading.Lock()

    def count(tag: str) -> None:
        with lock:
            asked[tag] += 1

    done = judge(
        bench, plans, tmp_path / "seq", [ModelJudge(scripted(truth, count))], JudgeSettings(FrameSampling(frames=3))
    )
    rows = read_answers(tmp_path / "seq")
    chains_end_at_failures(rows)
    reached = {f"{r.video_id}/{r.sid}/{r.gate}" for r in rows if r.answer is not GateVerdict.NOT_REACHED}
    assert set(asked) == reached and set(asked.values()) == {1} and done["answers"] == len(reached) < len(truth)
    (mine,) = score_run(bench, tmp_path / "seq", Policy()).values()
    judge(bench, plans, tmp_path / "truth", FileAnswers.read(bench.folder / "truth.jsonl"), JudgeSettings())
    (right,) = score_run(bench, tmp_path / "truth", Policy()).values()
    assert [(s.T, s.P, s.S) for s in mine] == [(s.T, s.P, s.S) for s in right]
    for row in rows:
        if row.answer is not GateVerdict.NOT_REACHED:
            assert row.prompt_sha and row.frame_spec and row.frame_pts and row.raw and row.served == "scripted"
            assert row.tokens_in > 85 * len(row.frame_pts) and list(row.frame_pts) == sorted(set(row.frame_pts))


def test_frames_follow_the_gate_and_dense_sees_between_them() -> None:
    span = (4.0, 6.0)
    for density in Density:
        sampling = FrameSampling(8, density)
        for gate in GATES:
            _, times = sampling.choose(gate, 10.0, span)
            assert times == sorted(set(times)) and times[0] >= 0 and times[-1] < 10
        assert all(3.4 <= t <= 4.7 for t in sampling.choose("P2", 10.0, span)[1])
        assert all(4.0 <= t <= 6.1 for t in sampling.choose("P3", 10.0, span)[1])
        assert sampling.choose("T3", 10.0, span)[1][0] == 0.0
    sparse, dense = (FrameSampling(8, d).choose("P1", 10.0, span)[1] for d in (Density.SPARSE, Density.DENSE))
    assert len(dense) == 8 * len(sparse) and min(b - a for a, b in pairwise(dense)) < 0.11
    assert len(FrameSampling(8, Density.ALL).choose("T1", 10.0, None)[1]) == 100


# --- replies that cannot be used ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ("I think that it passes.", "unparsed"),
        (
            '{"answer": "pass", "failure": "object_inconsistency", "rationale": "the mug doubles"}',
            "contradictory",
        ),  # C099
        ('{"answer": "pass", "failure": null, "t_start": 3.0, "t_end": 1.0}', "contradictory"),
        ('{"answer": "maybe"}', "invalid"),
        ('{"answer": true}', "invalid"),
        (Reply("", stop=Stop.REFUSED), "refused"),
        (Reply('{"answer": "pa', stop=Stop.CUT), "cut"),
    ],
)
def test_c099_replies_that_cannot_be_read_are_asked_again_then_unanswered(
    bench: Benchmark,
    plans: dict[str, SubgoalPlan],
    truth: list[GateAnswer],
    tmp_path: Path,
    reply: str | Reply,
    status: str,
) -> None:
    video = next(v for v in bench.videos if v.source == "human_success")
    tag = f"{video.video_id}/s1/P1"
    times: Counter[str] = Counter()

    def always(asked: str) -> str | Reply | None:
        times[asked] += 1
        return reply if asked == tag else None

    settings = JudgeSettings(FrameSampling(frames=1), concurrency=1)
    done = judge(bench, plans, tmp_path / "a", [ModelJudge(scripted(truth, always))], settings)
    (bad,) = [r for r in read_answers(tmp_path / "a") if r.answer is GateVerdict.ERROR]
    assert (bad.video_id, bad.sid, bad.gate, bad.parse_status, bad.attempt) == (video.video_id, "s1", "P1", status, 2)
    assert times[tag] == 2 and done["unanswered"] == 1 and done["reasons"] == {status: 1}
    (rows,) = score_run(bench, tmp_path / "a", Policy()).values()
    (row,) = [s for s in rows if s.status != "scored"]
    assert (row.video_id, row.status, row.S) == (video.video_id, "incomplete", None)  # neither 0 nor dropped
    assert sum(s.status == "scored" for s in rows) == len(bench.videos) - 1
    times.clear()

    def once(asked: str) -> str | Reply | None:
        times[asked] += 1
        return reply if asked == tag and times[asked] == 1 else None

    done = judge(bench, plans, tmp_path / "b", [ModelJudge(scripted(truth, once))], settings)
    assert done["unanswered"] == 0 and times[tag] == 2


def test_what_a_service_did_not_answer_is_asked_again_by_the_same_command(
    bench: Benchmark, plans: dict[str, SubgoalPlan], truth: list[GateAnswer], tmp_path: Path
) -> None:
    settings = JudgeSettings(FrameSampling(frames=1), concurrency=1)
    down = bench.videos[4].video_id

    def broken(tag: str) -> None:
        if tag.startswith(down) and tag.endswith("T2"):
            raise ModelError("scripted", "503")

    done = judge(bench, plans, tmp_path / "a", [ModelJudge(scripted(truth, broken))], settings)
    assert done["service_failures"] == 1
    asked: list[str] = []
    done = judge(bench, plans, tmp_path / "a", [ModelJudge(scripted(truth, lambda tag: asked.append(tag)))], settings)
    assert done["service_failures"] == done["unanswered"] == 0
    assert asked and all(tag.startswith(down) for tag in asked)  # nothing that was answered is paid for twice
    judge(bench, plans, tmp_path / "b", [ModelJudge(scripted(truth))], settings)
    assert (tmp_path / "a/answers.jsonl").read_bytes() == (tmp_path / "b/answers.jsonl").read_bytes()


def test_a_service_that_is_gone_ends_the_run_early(
    bench: Benchmark, plans: dict[str, SubgoalPlan], truth: list[GateAnswer], tmp_path: Path
) -> None:
    asked: list[str] = []

    def gone(tag: str) -> None:
        asked.append(tag)
        raise ModelError("scripted", "connection refused")

    settings = JudgeSettings(FrameSampling(frames=1), concurrency=1)
    judge(bench, plans, tmp_path, [ModelJudge(scripted(truth, gone))], settings)
    assert len(asked) == 3


def test_a_run_made_otherwise_is_refused(bench: Benchmark, plans: dict[str, SubgoalPlan], tmp_path: Path) -> None:
    backends = FileAnswers.read(bench.folder / "truth.jsonl")
    judge(bench, plans, tmp_path, backends, JudgeSettings())
    with pytest.raises(UsageError, match="with different settings"):
        judge(bench, plans, tmp_path, backends, JudgeSettings(all_gates=True))
    with pytest.raises(UsageError, match="with different settings"):
        judge(bench, plans, tmp_path, backends, JudgeSettings(FrameSampling(frames=9)))
    with pytest.raises(UsageError, match="with different settings"):
        judge(bench, plans, tmp_path, [Detector(bench.folder)], JudgeSettings())


# --- killed and gone on with ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_run_killed_ten_times_ends_with_the_same_records(rendered: Path, tmp_path: Path) -> None:
    words = [COMMAND, "judge", "run", str(rendered), "--backend", "vision", "--frames", "8", "--all-gates", "--out"]
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert subprocess.run([*words, str(whole)], capture_output=True).returncode == 0
    size = (whole / "answers.jsonl").stat().st_size
    rng, deaths = random.Random(6), 0
    answers = killed / "answers.jsonl"
    for number in range(10):
        process = subprocess.Popen([*words, str(killed)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = size * (number + rng.random()) / 11
        while process.poll() is None and not (answers.is_file() and answers.stat().st_size >= until):
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        deaths += process.wait() == -signal.SIGKILL
    assert deaths == 10
    assert subprocess.run([*words, str(killed)], capture_output=True).returncode == 0
    for name in ("run.json", "plans.jsonl", "answers.jsonl"):
        assert (whole / name).read_bytes() == (killed / name).read_bytes(), name


def test_a_line_cut_anywhere_is_made_again(bench: Benchmark, plans: dict[str, SubgoalPlan], tmp_path: Path) -> None:
    backends = FileAnswers.read(bench.folder / "truth.jsonl")
    judge(bench, plans, tmp_path, backends, JudgeSettings())
    path = tmp_path / "answers.jsonl"
    whole = path.read_bytes()
    rng = random.Random(0)
    for _ in range(10):
        path.write_bytes(whole[: rng.randrange(len(whole))])
        judge(bench, plans, tmp_path, backends, JudgeSettings())
        assert path.read_bytes() == whole
    lines = whole.splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], b"{broken}\n", *lines[3:]]))
    with pytest.raises(RecordError, match="line 4"):
        judge(bench, plans, tmp_path, backends, JudgeSettings())


def test_a_server_with_faults_is_asked_once_a_gate_with_pictures_and_without_origins(
    rendered: Path, tmp_path: Path
) -> None:
    one = part(rendered, tmp_path / "bench", 1)
    script = Script(
        lambda body: '{"answer": "pass", "failure": null, "t_start": 1.0, "t_end": 2.0, "rationale": "seen"}',
        lambda number: {2: "429", 5: "500", 9: "cut"}.get(number, ""),
    )
    with fake_server(script) as url:
        words = [
            "run",
            one.folder,
            "--model",
            "openai-api/local/tiny",
            "--base-url",
            url,
            "--controls",
            "0",
            "--frames",
            "3",
        ]
        done = command(*words, "--out", tmp_path / "a")
        assert done.returncode == 0 and "0 missing" in done.stdout, done.stderr
        answers, bodies = read_answers(tmp_path / "a"), list(script.bodies)
        assert {row.answer for row in answers} == {GateVerdict.PASS}
        assert script.seen["ok"] == len(answers) and sum(script.seen[f] for f in ("429", "500", "cut")) == 3
        tokens = sum(r.tokens_in for r in answers), sum(r.tokens_out for r in answers)
        assert tokens == (script.tokens["input"], script.tokens["output"])
        asked = []
        for out in ("b", "c"):
            assert command(*words, "--cache", tmp_path / "cache", "--out", tmp_path / out).returncode == 0
            assert (tmp_path / out / "answers.jsonl").read_bytes() == (tmp_path / "a/answers.jsonl").read_bytes()
            asked.append(script.seen["ok"])
        assert asked[0] == asked[1]  # what is in the cache is not paid for again
    shown = Counter(json.dumps(body).count("data:image/jpeg;base64") for body in bodies)
    frames = Counter(len(row.frame_pts) for row in answers)
    assert set(shown) == set(frames) and min(frames) >= 1
    sent = re.sub(r"base64,[^\"]*", "", json.dumps(bodies))
    assert one.cases[0].goal in sent
    assert not any(v.video_id in sent or v.origin in sent for v in one.videos) and one.cases[0].case_id not in sent


# --- controls ------------------------------------------------------------------------------------------------------


def test_c137_a_control_that_passes_stops_the_run(
    bench: Benchmark, plans: dict[str, SubgoalPlan], tmp_path: Path
) -> None:
    settings = JudgeSettings(FrameSampling(frames=1))
    goals = {case.case_id: case.goal for case in bench.cases}

    def looks(request: Request) -> str:  # at the goal that it is asked about, and knows what its video shows
        return f'{{"answer": "{"pass" if goals[request.tag.split(".")[0]] in request.messages[-1].text else "fail"}"}}'

    found = try_out(bench, plans, ModelJudge(ModelClient(MockModel(looks))), settings, 2, 5, tmp_path)
    assert [row["answer"] for row in found["controls"]] == ["fail", "fail"]
    assert found["repeats"]["times"] == 5 and found["repeats"]["always_the_same"] == found["repeats"]["gates"]
    yes = ModelClient(MockModel(lambda request: '{"answer": "pass"}', "yes-man"))
    with pytest.raises(UsageError, match="2 of 2 controls"):
        try_out(bench, plans, ModelJudge(yes), settings, 2, 1, tmp_path)
    assert len(json.loads((tmp_path / "controls.json").read_text())["controls"]) == 2
    asked: list[str] = []
    kept = ModelClient(MockModel(lambda request: asked.append(request.tag) or looks(request)))
    for _ in range(2):
        try_out(bench, plans, ModelJudge(kept), settings, 2, 1, tmp_path / "kept")
    assert len(asked) == 2  # not again when a run is gone on with
    turns = iter(range(10**6))
    fickle = ModelClient(MockModel(lambda request: f'{{"answer": "{("fail", "pass")[next(turns) % 2]}"}}', "fickle"))
    found = try_out(bench, plans, ModelJudge(fickle), settings, 0, 3, tmp_path)
    assert found["repeats"]["always_the_same"] < found["repeats"]["gates"]


# --- baselines -----------------------------------------------------------------------------------------------------


def test_two_questions_about_the_whole(bench: Benchmark, plans: dict[str, SubgoalPlan], tmp_path: Path) -> None:
    def respond(request: Request) -> str:
        return '{"score": 81, "rationale": ""}' if "physics" in request.messages[-1].text else '{"score": 64}'

    judge(
        bench,
        plans,
        tmp_path / "a",
        [SimpleVQA(ModelClient(MockModel(respond)))],
        JudgeSettings(FrameSampling(frames=1)),
    )
    rows = read_ratings(tmp_path / "a")
    assert len(rows) == len(bench.videos) and {(r.task, r.physics, r.final) for r in rows} == {(64, 81, 72.0)}
    bad = ModelClient(MockModel(lambda request: '{"score": 101}'))
    done = judge(bench, plans, tmp_path / "b", [SimpleVQA(bad)], JudgeSettings(FrameSampling(frames=1)))
    assert done["unanswered"] == len(bench.videos) and all(r.final is None for r in read_ratings(tmp_path / "b"))
    (scores,) = score_run(bench, tmp_path / "a", Policy()).values()
    assert {s.S for s in scores} == {72.0}


def test_a_baseline_asks_again_what_a_service_did_not_answer(
    bench: Benchmark, plans: dict[str, SubgoalPlan], tmp_path: Path
) -> None:
    asked: list[str] = []
    down = bench.videos[3].video_id

    def broken(request: Request) -> str | Reply:
        asked.append(request.tag)
        return Reply("", stop=Stop.TIMED_OUT) if request.tag.startswith(f"{down}/") else '{"score": 49}'

    settings = JudgeSettings(FrameSampling(frames=1), concurrency=1)
    done = judge(bench, plans, tmp_path, [SimpleVQA(ModelClient(MockModel(broken)))], settings)
    assert done["service_failures"] == 1 and done["reasons"] == {"service": 1} and done["tokens_in"] > 0
    asked.clear()
    fine = ModelClient(MockModel(lambda request: asked.append(request.tag) or '{"score": 49}'))
    done = judge(bench, plans, tmp_path, [SimpleVQA(fine)], settings)
    assert done["service_failures"] == 0 and asked == [f"{down}/rating"] * 2
    assert {r.final for r in read_ratings(tmp_path)} == {49}
    gone = ModelClient(MockModel(lambda request: asked.append(request.tag) or Reply("", stop=Stop.TIMED_OUT)))
    asked.clear()
    judge(bench, plans, tmp_path / "gone", [SimpleVQA(gone)], settings)
    assert len(asked) == 3


def test_a_list_of_questions(bench: Benchmark, plans: dict[str, SubgoalPlan], tmp_path: Path) -> None:
    def respond(request: Request) -> str:  # of each subgoal's three: yes, no, unseen
        count = request.messages[-1].text.count("\n") and request.messages[-1].text.count("?</data>")
        return json.dumps({"answers": {str(n + 1): (True, False, None)[n % 3] for n in range(count)}})

    judge(
        bench, plans, tmp_path, [QuestionList(ModelClient(MockModel(respond)))], JudgeSettings(FrameSampling(frames=1))
    )
    for row in read_ratings(tmp_path):
        assert (row.task, row.physics) == (50, 0) and row.final == pytest.approx(100 / 3)
        assert len(row.questions) == 3 * len(plans[row.video_id].subgoals)


def test_another_tools_table(bench: Benchmark, tmp_path: Path) -> None:
    path = tmp_path / "WRA.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["video_id", "score"])
        writer.writerows([video.video_id, 1 + n % 5] for n, video in enumerate(bench.videos[1:]))
    judge(bench, {}, tmp_path / "run", [ScoreTable(path, 1, 5)], JudgeSettings())
    rows = {r.video_id: r for r in read_ratings(tmp_path / "run")}
    assert rows[bench.videos[1].video_id].final == 0 and rows[bench.videos[5].video_id].final == 100
    assert rows[bench.videos[0].video_id].error == "not in the table"
    (scores,) = score_run(bench, tmp_path / "run", Policy()).values()
    assert Counter(s.status for s in scores) == {"scored": len(bench.videos) - 1, "incomplete": 1}
    path.write_text("video_id,task,physics\n" + f"{bench.videos[0].video_id},2,5\n{bench.videos[1].video_id},2,\n")
    table = ScoreTable(path, 1, 5)
    judge(bench, {}, tmp_path / "axes", [table], JudgeSettings())
    found = {r.video_id: (r.task, r.physics, r.final) for r in read_ratings(tmp_path / "axes")}
    assert found[bench.videos[0].video_id] == (25, 100, 50) and found[bench.videos[1].video_id] == (None,) * 3
    path.write_text("video_id,score\na,7\nb,x\na,3\n")
    with pytest.raises(AnnotationError) as error:
        ScoreTable(path, 1, 5)
    assert [p.row for p in error.value.problems] == [1, 2, 3]


# --- plans -----------------------------------------------------------------------------------------------------------


def one_case(goal: str, *objects: str) -> Case:
    return Case(
        case_id="c",
        domain=Setting.OTHER,
        goal=goal,
        scene_image="",
        scene_sha256="",
        clutter=Clutter.LOW,
        objects=objects,
    )


def test_the_rule_reads_the_clauses_of_a_goal() -> None:
    found = by_rule(
        one_case("The mug is on the tray; tea is in the mug. The drawer is closed", "mug", "tray", "drawer")
    )
    assert [(s.sid, s.objects, s.category.value) for s in found] == [
        ("s1", ("mug", "tray"), "relocation_or_arrangement"),
        ("s2", ("mug",), "material_transfer_or_mixing"),
        ("s3", ("drawer",), "opening_or_closing"),
    ]
    assert len(by_rule(one_case("The lid is on the pot and the spoon is in the pot"))) == 2
    assert by_rule(one_case("")) == ()


def test_plans_of_a_model_are_validated_kept_and_compared(bench: Benchmark, tmp_path: Path) -> None:
    subgoal = {"text": "move it", "objects": ["the mug"], "post_state": "moved", "category": "other"}
    asked: list[str] = []

    def respond(request: Request) -> str:
        asked.append(request.tag)
        video = request.tag.removesuffix(".plan")
        if video == bench.videos[0].video_id:
            return "no plan"
        if video == bench.videos[1].video_id and asked.count(request.tag) == 1:
            return json.dumps({"subgoals": [subgoal | {"category": "magic"}]})
        more = [subgoal | {"text": "and another", "objects": ["Mug", "tray"]}] * (video == bench.videos[2].video_id)
        return json.dumps({"subgoals": [subgoal, *more]})

    out = tmp_path / "plans.jsonl"
    plans = make_plans(bench, out, SubgoalPlanner(ModelClient(MockModel(respond)), per_video=True, concurrency=1))
    assert len(plans) == len(bench.videos) and plans[0].error == "needed 1 to 12 subgoals" and plans[0].attempts == 2
    assert plans[1].attempts == 2 and not plans[1].error
    found = stability(plans)  # 5 plans of the first case, of which one is longer; 6 of the two others, all alike
    assert (found["plans"], found["without_subgoals"], found["pairs"]) == (18, 1, 10 + 15 + 15)
    assert found["same_count"] == pytest.approx(36 / 40) and found["same_objects"] == pytest.approx((36 + 4 * 0.5) / 40)
    assert found["usual_count"] == pytest.approx(16 / 17)
    asked.clear()
    again = make_plans(bench, out, SubgoalPlanner(ModelClient(MockModel(respond)), per_video=True, concurrency=1))
    assert again == plans and set(asked) == {f"{bench.videos[0].video_id}.plan"}  # only what has no plan is asked again
    by_video = read_plans(out, bench)
    assert all(by_video[v.video_id].video_id == v.video_id for v in bench.videos)


def test_planning_gives_up_on_a_service_that_is_gone(bench: Benchmark, tmp_path: Path) -> None:
    asked: list[str] = []

    def gone(request: Request) -> str:
        asked.append(request.tag)
        raise ModelError("mock", "connection refused")

    out = tmp_path / "plans.jsonl"
    plans = make_plans(bench, out, SubgoalPlanner(ModelClient(MockModel(gone)), per_video=True, concurrency=1))
    assert len(asked) == 3 and len(plans) == 18 and all("connection refused" in plan.error for plan in plans)
    fine = ModelClient(MockModel(lambda request: mock_plan(request)))
    assert not any(p.error for p in make_plans(bench, out, SubgoalPlanner(fine, per_video=True, concurrency=1)))


def test_plans_of_another_scene_are_refused(bench: Benchmark, tmp_path: Path) -> None:
    rows = (bench.folder / "plans.jsonl").read_text().replace(bench.cases[0].scene_sha256, "0" * 64)
    (tmp_path / "plans.jsonl").write_text(rows)
    with pytest.raises(RecordError, match="another scene"):
        read_plans(tmp_path / "plans.jsonl", bench)


# --- the commands ----------------------------------------------------------------------------------------------------


def test_the_commands_from_plan_to_score(bench: Benchmark, tmp_path: Path) -> None:
    plans, run = tmp_path / "plans.jsonl", tmp_path / "run"
    assert command("plan", bench.folder, "--out", plans).returncode == 0 and len(plans.read_text().splitlines()) == 3
    assert (
        command("plan", bench.folder, "--model", "mock", "--per-video", "--out", tmp_path / "m.jsonl").returncode == 0
    )
    done = command("run", bench.folder, "--backend", "vision", "--out", run)
    assert done.returncode == 0 and "0 missing" in done.stdout, done.stderr
    done = command("score", bench.folder, run)
    assert done.returncode == 0 and "human success" in done.stdout and "failures:" in done.stdout
    got = json.loads(command("score", bench.folder, run, "--json").stdout)
    assert len(got["videos"]["vision"]) == len(bench.videos)
    assert (run / "scores.json").is_file() and len((run / "scores.jsonl").read_text().splitlines()) == len(bench.videos)
    done = command("run", bench.folder, "--model", "mock", "--plans", plans, "--out", tmp_path / "mock")
    assert done.returncode == 0 and "answers by mock" in done.stdout, done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "BENCH", "--out", "OUT"], "needs a model (--model)"),
        (["run", "BENCH", "--backend", "magic", "--out", "OUT"], "no backend 'magic'"),
        (["run", "BENCH", "--backend", "vision", "--sampling", "x", "--out", "OUT"], "no sampling 'x'"),
        (["run", "BENCH", "--backend", "answers:none.jsonl", "--out", "OUT"], "no answers none.jsonl"),
        (["run", "BENCH", "--backend", "csv:none.csv", "--out", "OUT"], "no such table"),
        (["run", "BENCH", "--backend", "vision", "--plans", "none.jsonl", "--out", "OUT"], "judge plan"),
        (["run", "OUT", "--backend", "vision", "--out", "OUT"], "judge init"),
        (["score", "BENCH", "OUT"], "no run"),
        (["score", "BENCH", "BENCH", "--task-levels", "a"], "numbers from 0 to 1"),
        (["agree", "BENCH", "OUT"], "no run"),
    ],
)
def test_bad_input_is_one_message(bench: Benchmark, tmp_path: Path, words: list[str], said: str) -> None:
    places = {"BENCH": str(bench.folder), "OUT": str(tmp_path / "out")}
    done = command(*(places.get(word, word) for word in words))
    text = " ".join(done.stderr.split())
    assert done.returncode in (2, 3, 4) and said in text and "Traceback" not in text, text
    assert not (tmp_path / "out").exists() or not any((tmp_path / "out").iterdir())


def test_a_benchmark_without_its_legend_is_no_matter_for_the_detector(bench: Benchmark, tmp_path: Path) -> None:
    shutil.copytree(bench.folder, tmp_path / "b")
    (tmp_path / "b/legend.json").unlink()
    with pytest.raises(UsageError, match=r"legend\.json"):
        Detector(read_benchmark(tmp_path / "b").folder)
