"""Runs of the language planner: a hostile server, kills, budgets, service errors, pictures, and what the records say
of them."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ego2world.agents.mock import mock_reply
from ego2world.core import lock
from ego2world.core.journal import read_rows
from ego2world.core.models import Endpoint, MockModel, ModelClient, Reply, Request, Stop, Usage, connect, open_model
from ego2world.core.models.base import Message, Text
from ego2world.errors import ModelError, UsageError
from ego2world.evaluate import score_run
from ego2world.run.chat import Budget
from ego2world.run.loop import RunSettings, run
from ego2world.run.records import RECORDS
from fake_server import Script, fake_server

EPISODES = ("K01-20250301-080000", "K02-20250410-093000")
COMMAND = Path(sys.executable).parent / "ego2world"


def llm(**more: Any) -> RunSettings:
    return RunSettings("llm", **{"episodes": EPISODES, **more})


def play(
    worlds: Path, out: Path, respond: Callable[[Request], str | Reply] = mock_reply, **more: Any
) -> dict[str, Any]:
    run(worlds, out, llm(**more), client=ModelClient(MockModel(respond)))
    return score_run(out)


def same_records(a: Path, b: Path) -> None:
    for name in RECORDS:
        assert (a / name).read_bytes() == (b / name).read_bytes(), name


@pytest.fixture(scope="module")
def whole(sample_worlds: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An undisturbed run."""
    out = tmp_path_factory.mktemp("llm") / "whole"
    play(sample_worlds, out)
    return out


def test_the_mock_plans_and_tokens_add_up(whole: Path) -> None:
    score = score_run(whole)
    calls, groups = read_rows(whole / "calls.jsonl"), read_rows(whole / "groups.jsonl")
    usage = [call["reply"]["usage"] for call in calls]
    assert score["complete"] and score["metrics"]["operational_tsr"] > 0.3
    assert (
        score["resources"]["tokens_in"] == sum(u["input_tokens"] for u in usage) == sum(g["tokens_in"] for g in groups)
    )
    assert score["resources"]["tokens_out"] == sum(u["output_tokens"] for u in usage)
    assert score["pooled"]["calls"] == len(calls) and len({c["tag"] for c in calls}) == len(calls)
    assert score["planner_notes"]["reply:plain"] == len(calls)
    record = json.loads((whole / "run.json").read_text())
    assert set(record["prompts_sha256"]) == {
        "plan_system.txt.j2",
        "plan_user.txt.j2",
        "look_system.txt",
        "look_user.txt.j2",
    }


def test_concurrent_episodes_give_the_same_records(sample_worlds: Path, whole: Path, tmp_path: Path) -> None:
    play(sample_worlds, tmp_path / "r", concurrency=4)
    same_records(tmp_path / "r", whole)


def test_several_processes_give_the_same_records(sample_worlds: Path, whole: Path, tmp_path: Path) -> None:
    opening = partial(connect, "mock", mock_reply)
    run(sample_worlds, tmp_path / "r", llm(jobs=2), client=opening(), connect=opening)
    same_records(tmp_path / "r", whole)
    with pytest.raises(UsageError, match="counted in one process"):
        run(sample_worlds, tmp_path / "b", llm(jobs=2, budget=Budget(tokens=5)), client=opening(), connect=opening)


def test_recorded_replies_replay_the_run(sample_worlds: Path, whole: Path, tmp_path: Path) -> None:
    client = ModelClient(open_model(f"replay:{whole / 'calls.jsonl'}"), any_served_model=True)
    run(sample_worlds, tmp_path / "r", llm(), client=client)
    for name in ("attempts.jsonl", "groups.jsonl", "tasks.jsonl", "beliefs.jsonl", "looks.jsonl"):
        assert (tmp_path / "r" / name).read_bytes() == (whole / name).read_bytes()


def _respond(body: dict[str, Any]) -> str:
    """Answer an OpenAI request by the mock, with the noise that models make."""
    turns = tuple(
        Message(m["role"], (Text(m["content"] if isinstance(m["content"], str) else m["content"][0]["text"]),))
        for m in body["messages"]
    )
    plan = mock_reply(Request(turns))
    noise = len(plan) % 5
    return (
        plan,
        f"```json\n{plan}\n```",
        f'<think>first {{"actions": []}}?</think>{plan}',
        f"Here is the plan.\n```bash\nls\n```\n```json\n{plan}\n```",
        f"<tool_call>{plan}</tool_call>",
    )[noise]


@pytest.mark.slow
def test_against_a_server_with_every_fault(sample_worlds: Path, tmp_path: Path) -> None:
    """Latency, 429, 500, cut replies, fences, reasoning, tool noise: nothing is lost or doubled, and the tokens are
    the server's."""
    draw = random.Random(3)
    faults = [draw.choice(["429", "500", "cut", "", "", "", "", ""]) for _ in range(9000)]
    script = Script(_respond, lambda n: faults[n], latency_s=0.002, cached_share=0.25)
    folders = [tmp_path / memory for memory in ("persistent", "reset")]
    with fake_server(script) as url:
        endpoint = Endpoint(base_url=url, api_key="none", retry_wait_s=0.01, retries=12)
        with closing(ModelClient(open_model("openai-api/local/tiny", endpoint=endpoint))) as client:
            for folder in folders:
                run(sample_worlds, folder, RunSettings("llm", folder.name, concurrency=4), client=client)
    scores = [score_run(folder) for folder in folders]
    groups = [row for folder in folders for row in read_rows(folder / "groups.jsonl")]
    calls = [row for folder in folders for row in read_rows(folder / "calls.jsonl")]
    assert all(score["complete"] for score in scores) and len(groups) > 200
    for folder in folders:
        rows = read_rows(folder / "groups.jsonl")
        assert len(rows) == len({(g["episode"], g["group"]) for g in rows})
    assert len(calls) == script.seen["ok"] and all(
        len(tags) == len(set(tags)) for tags in ([c["tag"] for c in read_rows(f / "calls.jsonl")] for f in folders)
    )
    assert min(script.seen[f] for f in ("429", "500", "cut")) > 0
    notes = {note for score in scores for note in score["planner_notes"] if note.startswith("reply:")}
    assert notes == {"reply:plain", "reply:fenced", "reply:embedded"}
    for resource, counted in (
        ("tokens_in", "input"),
        ("tokens_in_cached", "cached"),
        ("tokens_out", "output"),
        ("tokens_reasoning", "reasoning"),
    ):
        assert sum(score["resources"][resource] for score in scores) == script.tokens[counted]
    assert sum(len(c["reply"]["errors"]) for c in calls) == sum(script.seen[f] for f in ("429", "500", "cut"))


@pytest.mark.slow
def test_killed_at_random_moments_it_ends_with_the_same_records(sample_worlds: Path, tmp_path: Path) -> None:
    """SIGKILL at 20 moments of one run, each when its records have grown to a random size, resumed each time."""
    command = [COMMAND, "run", sample_worlds, "--planner", "llm", "--model", "mock", "--concurrency", "2", "--out"]
    env = {**os.environ, "NO_COLOR": "1"}
    subprocess.run([*command, tmp_path / "whole"], check=True, capture_output=True, env=env)
    whole_bytes, attempts = (tmp_path / "whole/attempts.jsonl").stat().st_size, tmp_path / "r/attempts.jsonl"
    draw = random.Random(1)
    left, kills = set(), 0
    for target in sorted(draw.uniform(0, 0.9 * whole_bytes) for _ in range(20)):
        process = subprocess.Popen(
            [*command, tmp_path / "r"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env
        )
        while process.poll() is None and not (attempts.is_file() and attempts.stat().st_size > target):
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        kills += process.wait() == -signal.SIGKILL
        left.add(attempts.stat().st_size)
    assert kills == 20, "every kill came before the end"
    assert len(left) > 10, "the kills hit different moments"
    subprocess.run([*command, tmp_path / "r"], check=True, capture_output=True, env=env)
    same_records(tmp_path / "r", tmp_path / "whole")


def test_processes_of_a_killed_run_write_nothing_into_the_next(sample_worlds: Path, tmp_path: Path) -> None:
    command = [COMMAND, "run", sample_worlds, "--memory", "none", "--jobs", "2", "--out"]
    env = {**os.environ, "NO_COLOR": "1"}
    subprocess.run([*command, tmp_path / "whole"], check=True, capture_output=True, env=env)
    attempts = tmp_path / "r/attempts.jsonl"
    process = subprocess.Popen(
        [*command, tmp_path / "r"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env
    )
    while not (attempts.is_file() and attempts.stat().st_size > 2000):
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    subprocess.run([*command, tmp_path / "r"], check=True, capture_output=True, env=env)
    same_records(tmp_path / "r", tmp_path / "whole")


def test_two_runs_do_not_write_to_one_folder(
    sample_worlds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "PATIENCE_S", 0.2)
    with lock.writing(tmp_path / "r"), pytest.raises(UsageError, match="another run is writing"):
        play(sample_worlds, tmp_path / "r")
    assert play(sample_worlds, tmp_path / "r")["complete"]


@pytest.mark.parametrize("name", RECORDS)
def test_c081_a_torn_line_is_removed_and_a_broken_one_in_the_middle_is_an_error(
    sample_worlds: Path, whole: Path, tmp_path: Path, name: str
) -> None:
    import shutil

    from ego2world.errors import RecordError

    out = tmp_path / "r"
    shutil.copytree(whole, out)
    tasks = (out / "tasks.jsonl").read_bytes().splitlines(keepends=True)
    (out / "tasks.jsonl").write_bytes(b"".join(tasks[:-1]))  # the last episode has not ended
    with (out / name).open("ab") as file:
        file.write(b'{"episode":"K02-20250410-09')
    play(sample_worlds, out)
    same_records(out, whole)
    lines = (out / name).read_bytes().splitlines(keepends=True)
    (out / name).write_bytes(b"".join([*lines[:1], b'{"broken\n', *lines[1:]]))
    with pytest.raises(RecordError) as caught:
        play(sample_worlds, out)
    assert caught.value.line == 2


def failing(after: int, with_error: Exception) -> Callable[[Request], str]:
    calls = 0

    def respond(request: Request) -> str:
        nonlocal calls
        calls += 1
        if calls > after:
            raise with_error
        return mock_reply(request)

    return respond


def test_c086_errors_of_the_service_are_no_failures_of_the_agent(
    sample_worlds: Path, whole: Path, tmp_path: Path
) -> None:
    score = play(sample_worlds, tmp_path / "r", failing(30, ModelError("mock", "HTTP 500")))
    missing = score["incomplete"]
    assert not score["complete"] and set(score["metrics"].values()) == {None}
    assert 0 < score["tasks_scored"] < score["tasks"] == score["tasks_scored"] + missing["errors"] + missing["not_run"]
    assert missing["errors"] > 0 and {stop["reason"] for stop in missing["stops"]} == {"service_error"}
    share = score["tasks_scored"] / score["tasks"]
    assert missing["lower_bound"]["operational_tsr"] == pytest.approx(missing["of_scored"]["operational_tsr"] * share)
    calls = read_rows(tmp_path / "r/calls.jsonl")
    again = play(
        sample_worlds, tmp_path / "r"
    )  # C088: the retry goes on after what had happened, nothing happens twice
    assert again["complete"] and read_rows(tmp_path / "r/calls.jsonl")[: len(calls)] == calls
    same_records(tmp_path / "r", whole)


def test_a_service_that_is_down_is_given_up_after_three_episodes(sample_worlds: Path, tmp_path: Path) -> None:
    calls = 0

    def down(request: Request) -> str:
        nonlocal calls
        calls += 1
        raise ModelError("mock", "HTTP 503")

    run(sample_worlds, tmp_path / "r", RunSettings("llm"), client=ModelClient(MockModel(down)))
    missing = score_run(tmp_path / "r")["incomplete"]
    assert calls == len(missing["stops"]) == 3 < len(missing["episodes_open"])
    assert missing["errors"] > 0 and missing["not_run"] > 0


def test_a_run_that_cannot_begin_leaves_nothing_behind(sample_worlds: Path, tmp_path: Path) -> None:
    for wrong in (
        llm(frames="nowhere"),
        llm(memory="forever"),
        llm(jobs=2, budget=Budget(tokens=1)),
        llm(episodes=("K99",)),
    ):
        with pytest.raises(UsageError):
            run(sample_worlds, tmp_path / "r", wrong, client=ModelClient(MockModel(mock_reply)))
        assert not (tmp_path / "r").exists()


def test_c086_the_figures_of_the_case(tmp_path: Path) -> None:
    """10 tasks: 6 successes, 2 failures, 2 lost to the service: 0.75 of the scored, 0.60 at least, 2 errors."""
    group = {
        "episode": "a",
        "group": "g",
        "ending": "completed",
        "attempts": 1,
        "accepted": 1,
        "visual_queries": 0,
        "repairs": 0,
        "quarter": 1,
        "reference_families": ["open"],
        "attempted_families": ["open"],
    }
    task = {
        "type": "task",
        "episode": "a",
        "tier": "terminal-state",
        "completed": True,
        "first_group": 0,
        "last_group": 0,
        "endings": ["completed"],
    }
    rows = [{**task, "task": f"t{n}", "conditions": ["true" if n < 6 else "false"]} for n in range(8)]
    rows.append({"type": "episode_end", "episode": "a"})
    rows.append(
        {"type": "episode_stop", "episode": "b", "group": "g", "reason": "service_error", "message": "HTTP 500"}
    )
    settings = {
        "planner": "p",
        "memory": "reset",
        "suite": "s",
        "seed": 0,
        "limit": 80,
        "episodes": ["a", "b"],
        "suite_tasks": [f"a/t{n}" for n in range(8)] + ["b/t8", "b/t9"],
        "episode_sha256": {},
    }
    (tmp_path / "run.json").write_text(json.dumps(settings))
    (tmp_path / "groups.jsonl").write_text(json.dumps(group) + "\n")
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    score = score_run(tmp_path)
    assert score["incomplete"]["of_scored"]["operational_tsr"] == pytest.approx(0.75)
    assert score["incomplete"]["lower_bound"]["operational_tsr"] == pytest.approx(0.60)
    assert (score["incomplete"]["errors"], score["complete"], score["metrics"]["operational_tsr"]) == (2, False, None)


def test_c080_the_latest_row_of_a_task_counts(tmp_path: Path) -> None:
    group = {
        "episode": "e",
        "group": "g",
        "ending": "completed",
        "attempts": 1,
        "accepted": 1,
        "visual_queries": 0,
        "repairs": 0,
        "quarter": 1,
        "reference_families": [],
        "attempted_families": [],
    }
    task = {
        "type": "task",
        "episode": "e",
        "tier": "terminal-state",
        "completed": True,
        "first_group": 0,
        "last_group": 0,
        "endings": ["completed"],
    }
    rows = [
        {**task, "task": t, "conditions": [c]}
        for t, c in (("t1", "true"), ("t2", "false"), ("t2", "true"), ("t3", "false"))
    ]
    rows.append({"type": "episode_end", "episode": "e"})
    settings = {
        "planner": "p",
        "memory": "reset",
        "suite": "s",
        "seed": 0,
        "limit": 80,
        "episodes": ["e"],
        "episode_sha256": {},
    }
    (tmp_path / "run.json").write_text(json.dumps(settings))
    (tmp_path / "groups.jsonl").write_text(json.dumps(group) + "\n")
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    score = score_run(tmp_path)
    assert (score["tasks"], score["duplicates"]) == (3, 1) and score["metrics"]["operational_tsr"] == pytest.approx(
        2 / 3
    )
    (tmp_path / "tasks.jsonl").write_text(
        "".join(json.dumps({**r, "trial": n}) + "\n" for n, r in enumerate(rows[:4])) + json.dumps(rows[4]) + "\n"
    )
    assert score_run(tmp_path)["tasks"] == 4 and score_run(tmp_path)["duplicates"] == 0


def test_c085_a_budget_stops_cleanly_and_a_resume_remembers_the_cost(
    sample_worlds: Path, whole: Path, tmp_path: Path
) -> None:
    total = score_run(whole)["resources"]["tokens_billed"]
    score = play(sample_worlds, tmp_path / "r", budget=Budget(tokens=total // 3))
    assert not score["complete"] and {s["reason"] for s in score["incomplete"]["stops"]} == {"budget"}
    spent = sum(
        sum(c["reply"]["usage"][k] for k in ("input_tokens", "output_tokens"))
        for c in read_rows(tmp_path / "r/calls.jsonl")
    )
    assert total // 3 <= spent < total // 3 + 4000
    again = play(sample_worlds, tmp_path / "r", budget=Budget(tokens=total // 3 + 1))
    assert not again["complete"], "what was spent before counts"
    assert play(sample_worlds, tmp_path / "r", budget=Budget(tokens=total + 1))["complete"]
    same_records(tmp_path / "r", whole)


def test_budgets_in_money_and_time(sample_worlds: Path, tmp_path: Path) -> None:
    assert Budget(price_in=2, price_out=8, price_cached=0.5).price(Usage(1_000_000, 400_000, 500_000)) == pytest.approx(
        1.2 + 0.2 + 4
    )
    money = play(sample_worlds, tmp_path / "m", budget=Budget(cost=0.01, price_in=1.0, price_out=1.0))
    assert [s["reason"] for s in money["incomplete"]["stops"]] == ["budget"]
    timed = play(sample_worlds, tmp_path / "t", budget=Budget(seconds=0.0))
    assert timed["tasks_scored"] == 0 and timed["incomplete"]["stops"][0]["reason"] == "budget"


def scripted(reply: str | Reply) -> Callable[[Request], str | Reply]:
    return lambda request: reply


@pytest.mark.parametrize(
    ("reply", "ending", "reason"),
    [
        ('{"actions": []}', "empty_plan", ""),
        ("no plan", "parse_failure", "unreadable"),
        ("<think>hm</think>", "parse_failure", "no_answer"),
        (Reply('{"actions": [{"action": "op', Stop.CUT), "parse_failure", "cut"),
        (Reply("I can't help with that", Stop.REFUSED), "parse_failure", "refused"),
        (Reply("", Stop.TIMED_OUT), "parse_failure", "timed_out"),
        (Reply("", Stop.CONTEXT), "parse_failure", "context_exceeded"),
    ],
)
def test_bad_replies_are_outcomes(
    sample_worlds: Path, tmp_path: Path, reply: str | Reply, ending: str, reason: str
) -> None:
    score = play(sample_worlds, tmp_path / "r", scripted(reply), episodes=EPISODES[:1])
    groups = read_rows(tmp_path / "r/groups.jsonl")
    assert score["complete"] and {(g["ending"], g["reason"]) for g in groups} == {(ending, reason)}
    assert score["endpoints"][ending] == score["tasks"]
    calls = read_rows(tmp_path / "r/calls.jsonl")
    assert calls[0]["reply"]["text"] == (reply if isinstance(reply, str) else reply.text), "the raw reply is kept"


def test_c078_the_same_step_again_and_again(sample_worlds: Path, tmp_path: Path) -> None:
    stuck = scripted('{"actions": [{"action": "examine", "object": "cupboard_1"}]}')
    guarded = play(sample_worlds, tmp_path / "g", stuck, episodes=EPISODES[:1], limit=30, no_progress=5)
    groups = read_rows(tmp_path / "g/groups.jsonl")
    assert guarded["complete"] and {(g["ending"], g["reason"], g["repeats"]) for g in groups} == {
        ("execution_blocked", "no_progress", 5)
    }
    play(sample_worlds, tmp_path / "u", stuck, episodes=EPISODES[:1], limit=30)
    groups = read_rows(tmp_path / "u/groups.jsonl")
    assert {(g["ending"], g["reason"], g["visual_queries"]) for g in groups} == {("execution_blocked", "limit", 30)}


def test_c088_a_failed_call_repeats_no_effect() -> None:
    """The pour is accepted, the next call fails and is retried: one pour in the log, one step."""
    from conftest import make_world
    from ego2world.agents import Act, Belief, Context, Decoding
    from ego2world.agents.llm import LanguagePlanner
    from ego2world.run.environment import Environment
    from ego2world.world.episode import Episode, Group

    world, state = make_world(
        {"milk_box_1": "bottle", "milk_1": "milk", "cup_1": "cup", "counter_1": "counter"},
        {"counter_1": "zone_1"},
        {
            ("place", "milk_box_1"): ("held", "right_hand"),
            ("openness", "milk_box_1"): "open",
            ("place", "cup_1"): ("on", "counter_1"),
            ("contains", "milk_box_1", "milk_1"): True,
        },
    )
    environment = Environment(Episode("e", world, state, (), (), (), (), {"zone_1": "counter"}, {}, ""))
    pour = (
        '{"actions": [{"action": "pour", "object": "milk_1", "source": "milk_box_1", "target": "cup_1"}, {"action":'
        ' "open", "object": "cup_9"}]}'
    )
    replies = [pour, '{"actions": []}']
    with fake_server(Script(lambda body: replies.pop(0), lambda n: ["", "500", "500", ""][n])) as url:
        endpoint = Endpoint(base_url=url, api_key="none", retry_wait_s=0.01)
        with closing(open_model("openai-api/local/tiny", endpoint=endpoint)) as model:

            class Chat:
                def ask(self, request: Request) -> Reply:
                    return model.generate(request)

            planner = LanguagePlanner(Chat(), Decoding())
            context = Context(
                environment.brief(Group("g", "Pour milk into cup.", 0, -1, (), (0, 0), ())),
                environment.local(),
                Belief(),
            )
            planner.begin_group(context)
            accepted = []
            while isinstance(step := planner.next_step(context), Act):
                attempt, context.feedback = environment.attempt(step.proposal)
                accepted += [attempt.action.name] if attempt.accepted and attempt.action else []
    assert len(accepted) == 1 and environment.state.get("contains", "cup_1", "milk_1") is True


def test_pictures_are_asked_about_and_the_delta_wins(sample_worlds: Path, tmp_path: Path) -> None:
    seen: list[Request] = []

    def respond(request: Request) -> str:
        seen.append(request)
        return mock_reply(request)

    plain = play(sample_worlds, tmp_path / "plain", memory="reset")
    drawn = play(sample_worlds, tmp_path / "drawn", respond, memory="reset", frames="drawn")
    looks = read_rows(tmp_path / "drawn/looks.jsonl")
    assert looks and all(look["picture"] for look in looks)
    asked = [r for r in seen if len(r.messages[-1].parts) == 2]
    assert len(asked) == len(looks) == drawn["resources"]["visual_queries"]
    assert drawn["resources"]["tokens_in"] > plain["resources"]["tokens_in"]
    assert drawn["resources"]["visual_answers"] > 0
    assert drawn["metrics"]["gcr"] == pytest.approx(plain["metrics"]["gcr"], abs=0.1)


def test_the_command(sample_worlds: Path, tmp_path: Path) -> None:
    def command(*args: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [COMMAND, "run", sample_worlds, *map(str, args)],
            capture_output=True,
            text=True,
            env={**os.environ, "NO_COLOR": "1"},
        )

    assert "go together" in command("--planner", "llm", "--out", tmp_path / "a").stderr
    assert "no memory policy" in command("--memory", "forever", "--out", tmp_path / "a").stderr
    assert "a capacity is a whole number" in command("--memory", "recency:0", "--out", tmp_path / "a").stderr
    assert not (tmp_path / "a").exists()
    stopped = command(
        "--planner", "llm", "--model", "mock", "--budget-tokens", 20000, "--out", tmp_path / "b", "--json"
    )
    assert stopped.returncode == 11 and "Re-run the same command" in stopped.stderr
    assert json.loads(stopped.stdout)["complete"] is False
