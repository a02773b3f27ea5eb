"""Suites: a fixed list of tasks with the hashes of their episodes and contracts. A suite names itself by its own
content hash.

{"name", "rule", "episodes": [...], "tasks": ["episode/task", ...], "episode_sha256": {...}, "contract_sha256": {...},
"sha256"}
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ego2world.core.canonical import canonical_json, pretty_json, sha256, write_atomic
from ego2world.errors import RecordError, UsageError
from ego2world.tasks.contract import EVENT, TERMINAL
from ego2world.world.episode import load_episode, load_manifest


@dataclass(frozen=True)
class SuiteRule:
    """How a suite is chosen: complete episodes in order, at most so many, of some scenes, tasks of one tier or both.

    An episode is complete when every narration of it was compiled and it has a task (of the tier, where one is asked
    for). A scene is a kitchen: the part of an episode's name before the first "-".
    """

    episodes: int | None = None
    scenes: tuple[str, ...] = ()
    tier: str | None = None

    def plain(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"episodes": self.episodes, "scenes": list(self.scenes), "tier": self.tier}


@dataclass(frozen=True)
class Suite:
    """A fixed list of tasks, by "episode/task", and the hashes that it was fixed with."""

    name: str
    rule: Mapping[str, Any]
    episodes: tuple[str, ...]
    tasks: tuple[str, ...]
    episode_sha256: Mapping[str, str]
    contract_sha256: Mapping[str, str]

    def plain(self) -> dict[str, Any]:
        """Return the stored form, its own hash included."""
        return self._body() | {"sha256": self.sha256}

    def _body(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "rule": dict(self.rule),
            "episodes": list(self.episodes),
            "tasks": list(self.tasks),
            "episode_sha256": dict(self.episode_sha256),
            "contract_sha256": dict(self.contract_sha256),
        }

    @property
    def sha256(self) -> str:
        """Hash of everything else."""
        return sha256(canonical_json(self._body()))


def scene_of(episode: str) -> str:
    """Return the kitchen of an episode."""
    return episode.split("-", 1)[0]


def make_suite(worlds: Path, name: str, rule: SuiteRule, only: Sequence[str] | None = None) -> Suite:
    """Choose a suite from a collection.

    Args:
        worlds: a compiled collection.
        name: what evaluations call it.
        rule: the selection.
        only: episodes to choose from; all by default.

    Raises:
        UsageError: an unknown tier, scene or episode, or nothing is left.
    """
    manifest = load_manifest(worlds)
    if rule.tier not in {None, TERMINAL, EVENT}:
        raise UsageError(f"no tier {rule.tier!r}; there are: {TERMINAL}, {EVENT}")
    known = list(manifest["episodes"])
    unknown = [e for e in only or () if e not in known]
    if unknown:
        raise UsageError(f"{worlds} has no episode {', '.join(unknown)}; it has: {', '.join(known)}")
    scenes = {scene_of(e) for e in known}
    missing = [s for s in rule.scenes if s not in scenes]
    if missing:
        raise UsageError(f"{worlds} has no scene {', '.join(missing)}; it has: {', '.join(sorted(scenes))}")
    chosen: list[str] = []
    tasks: dict[str, str] = {}
    for episode_id in only or known:
        if rule.scenes and scene_of(episode_id) not in rule.scenes:
            continue
        if rule.episodes is not None and len(chosen) == rule.episodes:
            break
        own = {
            f"{episode_id}/{t.id}": t.contract_sha256
            for t in load_episode(worlds, episode_id).tasks
            if rule.tier in {None, t.tier}
        }
        if only is None and not own:
            continue
        chosen.append(episode_id)
        tasks |= own
    if not tasks and only is None:
        raise UsageError("no task is left by this rule; loosen it")
    fixed = rule.plain() | ({} if only is None else {"only": list(only)})
    return Suite(
        name, fixed, tuple(chosen), tuple(tasks), {e: manifest["episodes"][e]["sha256"] for e in chosen}, tasks
    )


def write_suite(suite: Suite, path: Path) -> None:
    """Write a suite file."""
    write_atomic(path, pretty_json(suite.plain()))


def read_suite(path: Path) -> Suite:
    """Read a suite file.

    Raises:
        UsageError: no such file.
        RecordError: it is no suite, or was changed after it was made.
    """
    if not path.is_file():
        raise UsageError(f"no suite file {path}; make one with: ego2world suite make WORLDS --out {path}")
    try:
        data = json.loads(path.read_text("utf-8"))
        suite = Suite(
            data["name"],
            data["rule"],
            tuple(data["episodes"]),
            tuple(data["tasks"]),
            data["episode_sha256"],
            data["contract_sha256"],
        )
        said = data["sha256"]
    except (ValueError, KeyError, TypeError) as error:
        raise RecordError(str(path), f"not a suite ({error!r}); make it again with: ego2world suite make") from None
    if said != suite.sha256:
        raise RecordError(
            str(path),
            f"the suite was changed after it was made (hash {suite.sha256[:12]}..., named {said[:12]}...); make a"
            " new one",
        )
    return suite


def check_suite(suite: Suite, worlds: Path) -> None:
    """Compare a suite with a collection.

    Raises:
        RecordError: an episode is missing or has another hash.
    """
    manifest = load_manifest(worlds)
    for episode, digest in suite.episode_sha256.items():
        found = manifest["episodes"].get(episode, {}).get("sha256")
        if found != digest:
            what = "is not there" if found is None else f"has hash {found[:12]}..., fixed as {digest[:12]}..."
            raise RecordError(
                str(worlds),
                f"suite {suite.name}: episode {episode} {what}; compile the same worlds or make the suite again",
            )
