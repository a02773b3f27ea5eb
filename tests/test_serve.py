"""The live page: it follows records that grow, hands out traces, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from ego2world.agents.mock import mock_reply
from ego2world.core.models import MockModel, ModelClient
from ego2world.run.chat import Budget
from ego2world.run.loop import RunSettings, run
from ego2world.web import live, live_app

EPISODE = "K01-20250301-080000"


def test_the_page_follows_a_run(sample_worlds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "REST", 0.0)
    model = ModelClient(MockModel(mock_reply))
    run(sample_worlds, tmp_path / "r", RunSettings("llm", budget=Budget(tokens=30000)), client=model)
    with TestClient(live_app([tmp_path / "r"])) as client:
        page = client.get("/")
        assert page.status_code == 200 and 'data-live="yes"' in page.text and "is incomplete" in page.text
        assert "default-src 'none'" in page.headers["content-security-policy"]
        before = client.get("/version").text
        assert f'data-version="{before}"' in page.text and client.get("/version").text == before
        run(sample_worlds, tmp_path / "r", RunSettings("llm"), client=model)
        assert client.get("/version").text != before
        assert "is incomplete" not in client.get("/").text
        trace = client.get(f"/trace/0/{EPISODE}").json()
        assert trace["tasks"] and trace["groups"][0]["steps"]
        for path in (
            "/trace/1/x",
            "/trace/0/nothing",
            "/trace/0/..%2f..%2fetc%2fpasswd",
            "/trace/-1/x",
            "/etc/passwd",
            "/docs",
        ):
            assert client.get(path).status_code in {404, 422}, path


def test_a_damaged_run_is_a_message(sample_worlds: Path, tmp_path: Path) -> None:
    run(sample_worlds, tmp_path / "r", RunSettings("reference", episodes=(EPISODE,)))
    (tmp_path / "r/groups.jsonl").write_text("{broken\n{}\n")
    with TestClient(live_app([tmp_path / "r"])) as client:
        reply = client.get("/")
        assert reply.status_code == 503 and "not a JSON record" in reply.text and "line 1" in reply.text
