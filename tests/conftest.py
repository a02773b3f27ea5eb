"""Shared fixtures: small hand-made kitchens, the compiled sample kitchens, the real data where present."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from ego2world.annotations.hd_epic import read_hd_epic
from ego2world.annotations.records import Dataset
from ego2world.cli.demo import MARK
from ego2world.collection import build_worlds
from ego2world.qa.build import QuestionSettings, build
from ego2world.render import draw_episode
from ego2world.rollouts.benchmark import make_rendered
from ego2world.samples import sample_source
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
    build(sample_worlds, out, QuestionSettings())
    return out


@pytest.fixture(scope="session")
def sample_clips(sample_worlds: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("clips")
    for name in sorted(load_manifest(sample_worlds)["episodes"])[:3]:
        draw_episode(load_episode(sample_worlds, name), out / f"{name}.mp4")
    return out


@pytest.fixture(scope="session")
def rendered(sample_worlds: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The benchmark of drawn rollouts: 20 cases, 120 clips; drawn once for all processes of a run, and never written
    to."""
    return once(tmp_path_factory, "rendered", lambda folder: make_rendered(sample_worlds, folder, jobs=2))


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which ``ego2world demo --out demo`` was run; once for all processes of a run, and never written
    to."""

    def make(folder: Path) -> None:
        (folder / "demo").mkdir(parents=True)
        (folder / "demo" / MARK).touch()
        (folder / "demo" / "old.txt").write_text("of an earlier demo")
        command = [Path(sys.executable).parent / "ego2world", "demo", "--out", "demo"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        (folder / "printed.txt").write_text(f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}", "utf-8")

    return once(tmp_path_factory, "demo", make)


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Return a folder that the first process of a test run to ask for it makes, while the others wait."""
    base = factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / f"{name}.made").is_file():
            make(shared / name)
            (shared / f"{name}.made").touch()
    return shared / name
