"""The door to models: identity of requests, cache, single flight, token counts, recorded replies, and a real HTTP
server."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from ego2world.core.models import (
    Audio,
    Endpoint,
    Frames,
    Image,
    MockModel,
    ModelClient,
    Reply,
    Request,
    Stop,
    Usage,
    open_model,
    user,
)
from ego2world.core.models.client import serves
from ego2world.errors import ModelError, UsageError
from fake_server import Script, fake_server

ASK = Request((user("hello there"),))


def endpoint(url: str, **more: object) -> Endpoint:
    return Endpoint(base_url=url, api_key="none", **{"retry_wait_s": 0.01, "retries": 4, **more})  # type: ignore[arg-type]


def ask(where: Endpoint, request: Request = ASK) -> Reply:
    with closing(open_model("openai-api/local/tiny", endpoint=where)) as model:
        return model.generate(request)


def test_c083_two_models_never_share_a_reply(tmp_path: Path) -> None:
    calls: list[str] = []

    def model(name: str) -> MockModel:
        return MockModel(lambda request: calls.append(name) or name, name)  # type: ignore[func-returns-value]

    first, second = ModelClient(model("m1"), tmp_path), ModelClient(model("m2"), tmp_path)
    assert [first.generate(ASK).text, first.generate(ASK).text] == ["m1", "m1"]
    assert second.generate(ASK).text == "m2" and not second._model.generate(ASK).cached
    assert calls == ["m1", "m2", "m2"]
    for other in (
        Request(ASK.messages, seed=1),
        Request(ASK.messages, temperature=0.5),
        Request(ASK.messages, schema={"type": "object"}),
        Request((user("hello"),)),
    ):
        assert other.key != ASK.key and not first.generate(other).cached
    assert Request(ASK.messages, tag="elsewhere").key == ASK.key


def test_c083_another_serving_model_is_refused_unless_allowed() -> None:
    mini = MockModel(lambda request: Reply("x", model="m1-mini"), "m1")
    with pytest.raises(ModelError, match="m1-mini answered in its place"):
        ModelClient(mini).generate(ASK)
    assert ModelClient(mini, any_served_model=True).generate(ASK).model == "m1-mini"
    assert serves("openai/gpt-5", "gpt-5-2026-01-01") and serves("openai-api/local/tiny", "tiny") and serves("x/M", "m")
    assert not serves("openai/gpt-5", "gpt-5-mini") and not serves("openai/gpt-5", "gpt-55")


def test_equal_requests_at_the_same_time_are_made_once(tmp_path: Path) -> None:
    calls: list[float] = []

    def slow(request: Request) -> str:
        calls.append(time.monotonic())
        time.sleep(0.05)
        return "done"

    client = ModelClient(MockModel(slow), tmp_path)
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda _: client.generate(ASK), range(8)))
    assert len(calls) == 1 and sum(not r.cached for r in replies) == 1


def test_no_more_calls_at_the_same_time_than_allowed() -> None:
    running, most, lock = 0, 0, threading.Lock()

    def count(request: Request) -> str:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.01)
        with lock:
            running -= 1
        return "done"

    client = ModelClient(MockModel(count), connections=3)
    with ThreadPoolExecutor(12) as pool:
        list(pool.map(lambda n: client.generate(Request((user(str(n)),))), range(24)))
    assert most == 3


@pytest.mark.parametrize(
    "counts",
    [
        {"prompt_tokens": 1000, "cached_tokens": 800, "completion_tokens": 50},
        {"prompt_tokens": 1000, "prompt_tokens_details": {"cached_tokens": 800}, "completion_tokens": 50},
        {"input_tokens": 200, "cache_read_input_tokens": 800, "output_tokens": 50},
    ],
)
def test_c084_cached_tokens_are_part_of_the_input_whoever_counts(counts: dict[str, object]) -> None:
    usage = Reply.of({"text": "", "usage": counts}).usage
    assert usage is not None
    assert (usage.input_tokens, usage.cached_tokens, usage.fresh_tokens, usage.output_tokens) == (1000, 800, 200, 50)
    assert usage.total_tokens == 1050 and Usage.of(usage.plain()) == usage


def test_c084_through_the_provider_library() -> None:
    from inspect_ai.model import ModelOutput, ModelUsage

    from ego2world.core.models.providers import reply_of

    output = ModelOutput.from_content("m", "hi")
    output.usage = ModelUsage(
        input_tokens=150, input_tokens_cache_read=800, input_tokens_cache_write=50, output_tokens=50, total_tokens=1050
    )
    assert reply_of(output, ()).usage == Usage(1000, 800, 50)


def test_recorded_replies_answer_the_same_requests(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    rows = [{"key": ASK.key, "tag": t, "reply": Reply(t, usage=Usage(1, 0, 1)).plain()} for t in ("first", "second")]
    file.write_text("".join(json.dumps(r) + "\n" for r in rows))
    model = open_model(f"replay:{file}")
    assert model.generate(Request(ASK.messages, tag="second")).text == "second"
    assert [model.generate(ASK).text, model.generate(ASK).text] == ["first", "first"]
    with pytest.raises(ModelError, match="no reply to this request"):
        model.generate(Request((user("never asked"),)))
    (tmp_path / "bad.jsonl").write_text("{}\n")
    with pytest.raises(UsageError, match="line 1"):
        open_model(f"replay:{tmp_path / 'bad.jsonl'}")
    with pytest.raises(UsageError, match="PROVIDER/MODEL"):
        open_model("gpt")


def test_a_server_with_faults_is_retried_and_counted_to_the_token() -> None:
    script = Script(lambda body: "one two three", lambda n: ["500", "429", "cut", ""][n % 4], cached_share=0.5)
    with fake_server(script) as url:
        reply = ask(endpoint(url))
    assert reply.text == "one two three" and reply.model == "tiny" and len(reply.errors) == 3
    assert script.seen["requests"] == 4, "retries are made once, not multiplied"
    assert reply.usage is not None and reply.usage.plain() == {
        "input_tokens": script.tokens["input"],
        "cached_tokens": script.tokens["cached"],
        "output_tokens": script.tokens["output"],
        "reasoning_tokens": script.tokens["reasoning"],
    }


def test_a_service_that_stays_down_is_an_error_and_a_slow_one_an_outcome() -> None:
    script = Script(lambda body: "x", lambda n: "500")
    with fake_server(script) as url:
        with pytest.raises(ModelError, match="no reply after 3 attempt"):
            ask(endpoint(url, retries=2))
        assert script.seen["requests"] == 3
        script.faults = lambda n: "hang"
        assert ask(endpoint(url, retries=0, timeout_s=1.0)).stop is Stop.TIMED_OUT


def test_media_and_schema_reach_the_server() -> None:
    script = Script(lambda body: "{}", finish=lambda body: "length")
    png = b"\x89PNG\r\n\x1a\n" + b"0" * 20
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    request = Request(
        (user("see", Image(png), Frames((Image(png), Image(png)), (0.5, 1.0)), Audio(b"RIFF0000WAVE", "wav")),),
        schema,
        seed=7,
    )
    with fake_server(script) as url:
        reply = ask(endpoint(url), request)
    body = script.bodies[0]
    kinds = [part["type"] for part in body["messages"][0]["content"]]
    assert kinds == ["text", "image_url", "text", "image_url", "text", "image_url", "input_audio"]
    assert body["messages"][0]["content"][2]["text"] == "frame at 0.50 s:"
    assert body["response_format"]["json_schema"]["schema"]["required"] == ["a"] and body["seed"] == 7
    assert reply.stop is Stop.CUT


def test_a_model_that_cannot_be_opened_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCAL_API_KEY", raising=False)
    with pytest.raises(ModelError, match="LOCAL_API_KEY"):
        open_model("openai-api/local/tiny")
    with pytest.raises(ModelError, match="nosuch"):
        open_model("nosuch/model")
