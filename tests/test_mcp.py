"""An agent from outside over MCP, with the official client: it plays, and its run is scored like any other."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ego2world.agents.base import Context
from ego2world.agents.remote import RemotePlanner, Seat, finish
from ego2world.evaluate import score_run
from ego2world.world.episode import load_episode

mcp = pytest.importorskip("mcp", reason="needs the extra mcp")
EPISODE = "K01-20250301-080000"
COMMAND = str(Path(sys.executable).parent / "ego2world")


def server(worlds: Path, out: Path, *more: str) -> Any:
    arguments = ["serve-mcp", str(worlds), "--episodes", EPISODE, "--out", str(out), *more]
    return mcp.stdio_client(mcp.StdioServerParameters(command=COMMAND, args=arguments, env=dict(os.environ)))


async def call(session: Any, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await session.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return json.loads(result.content[0].text)


def test_a_client_replays_the_recorded_operations(sample_worlds: Path, tmp_path: Path) -> None:
    """Through the tools alone, by the ids it knows of the recording; the score is the reference's."""
    episode = load_episode(sample_worlds, EPISODE)

    async def play(groups: int) -> dict[str, Any]:
        async with server(sample_worlds, tmp_path / "run") as streams, mcp.ClientSession(*streams) as session:
            await session.initialize()
            tools = {tool.name for tool in (await session.list_tools()).tools}
            assert tools == {"observe", "act", "look", "recall", "finish", "give_up"}
            seen = await call(session, "observe")
            for group in episode.groups[:groups]:
                assert seen["group"] == group.id and seen["instruction"] == group.instruction
                for action in episode.actions[group.first : group.last + 1]:
                    roles = {
                        r: list(action.ids(r)) if len(action.ids(r)) > 1 else action.ids(r)[0] for r, _ in action.roles
                    }
                    seen = await call(session, "act", action=action.name, **roles)
                    assert seen["last"]["accepted"], seen["last"]
                seen = await call(session, "finish")
            return seen

    asyncio.run(play(3))  # the client leaves in the middle of the run
    over = asyncio.run(play(len(episode.groups)))  # an unfinished episode begins anew
    assert "operational_tsr 1.000" in over["over"]
    assert score_run(tmp_path / "run")["metrics"]["operational_tsr"] == 1.0


def test_looking_recalling_refusals_and_giving_up(sample_worlds: Path, tmp_path: Path) -> None:
    async def play() -> None:
        async with (
            server(sample_worlds, tmp_path / "run", "--agent", "visitor") as streams,
            mcp.ClientSession(*streams) as session,
        ):
            await session.initialize()
            before = await call(session, "observe")
            after = await call(session, "look", seeking="mug")
            assert len(after["known_here"]) > len(before["known_here"])
            thing = after["known_here"][0]
            recalled = await call(session, "recall", thing=thing["id"])
            assert recalled["believed"]["place"]["value"] == thing["place"]
            refused = await call(session, "act", action="fly", object=thing["id"])
            assert not refused["last"]["accepted"] and refused["last"]["failures"][0]["code"] == "unknown_action"
            assert refused["attempts_left"] == 79
            moved_on = await call(session, "give_up")
            assert moved_on["group"] != before["group"]

    asyncio.run(play())
    rows = [json.loads(line) for line in (tmp_path / "run" / "looks.jsonl").read_text().splitlines()]
    assert len(rows) == 1
    assert json.loads((tmp_path / "run" / "run.json").read_text())["planner"] == "visitor"


def test_what_is_wrong_is_said_before_a_client_connects(tmp_path: Path) -> None:
    done = subprocess.run(
        [COMMAND, "serve-mcp", str(tmp_path), "--out", str(tmp_path / "r")],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 2 and "no manifest.json" in done.stderr and not done.stdout
    assert not re.search("Traceback", done.stderr)


def test_the_server_ends_with_its_client(sample_worlds: Path, tmp_path: Path) -> None:
    command = [COMMAND, "serve-mcp", str(sample_worlds), "--episodes", EPISODE, "--out", str(tmp_path / "r")]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    assert done.returncode == 0 and "re-run the same command" in done.stderr and "Traceback" not in done.stderr
    rows = [json.loads(line) for line in (tmp_path / "r" / "tasks.jsonl").read_text().splitlines()]
    assert not rows or "the client left" in rows[0]["message"]


def test_a_seat_that_is_over_stays_over() -> None:
    seat = Seat()
    seat.end("done")
    assert seat.observe() == seat.take(finish()) == seat.recall("mug") == {"over": "done"}
    assert RemotePlanner("x", seat).name == "x"


def test_planners_get_nothing_but_the_context() -> None:
    assert Context.__dataclass_fields__.keys() == {"brief", "local", "belief", "feedback", "attempts_left", "notes"}
