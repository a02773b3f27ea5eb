"""Shared fixtures: small hand-made kitchens, the compiled sample kitchens, the real data where present."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from ego2world.annotations.hd_epic import read_hd_epic
from ego2world.annotations.records import Dataset
from ego2world.judge.rendered import make_rendered
from ego2world.qa.build import Settings, build
from ego2world.render import draw_episode
from ego2world.samples import sample_source
from ego2world.tasks.build import build_worlds
from ego2world.world.episode import load_episode, load_manifest
from ego2world.world.fluents import FactKey, Value
from ego2world.world.state import AGENT, BOTH, LEFT, RIGHT, Entity, State, World


def console_commands(page: Path) -> list[str]:
    """Return the commands of a page's console blocks, in order."""
    blocks = re.findall(r"```console\n(.*?)```", page.read_text("utf-8"), re.S)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


SHARED = Path(__file__).parents[2] / "shared" / "data"
needs_data = pytest.mark.skipif(
    not (SHARED / "hd-epic").is_dir(), reason="the real annotations are not on this machine"
)


def make_world(
    kinds: Mapping[str, str], zones: Mapping[str, str], facts: Mapping[FactKey, Value]
) -> tuple[World, State]:
    """Build a world: id -> kind, fixture -> zone, and facts; the agent starts in the first zone."""
    everyone = {AGENT: "agent", LEFT: "hand", RIGHT: "hand", BOTH: "hand", "body": "face", **kinds}
    names = list(dict.fromkeys(zones.values())) or ["zone_1"]
    everyone |= dict.fromkeys(names, "zone")
    world = World(
        {i: Entity(i, k, i.replace("_", " "), (i.replace("_", " "),)) for i, k in everyone.items()}, tuple(names), zones
    )
    return world, State.of({("at", AGENT): names[0], **facts})


@pytest.fixture(scope="session")
def samples() -> Dataset:
    return read_hd_epic(sample_source())


@pytest.fixture(scope="session")
def sample_worlds(samples: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("samples") / "worlds"
    build_worlds(samples, out)
    return out


@pytest.fixture(scope="session")
def sample_questions(sample_worlds: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("questions") / "qa"
    build(sample_worlds, out, Settings())
    return out


@pytest.fixture(scope="session")
def sample_clips(sample_worlds: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("clips")
    for name in sorted(load_manifest(sample_worlds)["episodes"])[:3]:
        draw_episode(load_episode(sample_worlds, name), out / f"{name}.mp4")
    return out


@pytest.fixture(scope="session")
def rendered(sample_worlds: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The benchmark of drawn rollouts: 20 cases, 120 clips; drawn once for all processes of a run, and never written to."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with (shared / "rendered.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "rendered" / "benchmark.json").is_file():
            make_rendered(sample_worlds, shared / "rendered", jobs=2)
    return shared / "rendered"
