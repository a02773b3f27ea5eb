"""Train a small agent on one task for a minute and compare it with random play.

    python examples/train_agent.py demo/worlds K01-20250301-080000 task_001 --seconds 60

It is tabular Q-learning over what the agent knows (the observation's row), in many worlds at a time; both it and the
random player choose among the actions of the mask.
"""

from __future__ import annotations

import argparse
import time
from typing import cast

import gymnasium
import numpy as np

import ego2world.envs  # noqa: F401  registers the environment
from ego2world.envs.vector import EpisodeVectorEnv

WORLDS = 256


class Table:
    """Values of actions by what is known, optimistic where nothing was tried."""

    def __init__(self, actions: int, seed: int) -> None:
        self._values: dict[bytes, np.ndarray] = {}
        self._actions = actions
        self._random = np.random.default_rng(seed)

    def values(self, row: np.ndarray) -> np.ndarray:
        key = row.tobytes()
        if key not in self._values:
            self._values[key] = np.full(self._actions, 0.05, np.float32)
        return self._values[key]

    def choose(self, rows: np.ndarray, masks: np.ndarray, explore: float) -> np.ndarray:
        chosen = random_actions(masks, self._random)
        for i in np.flatnonzero(self._random.random(len(rows)) >= explore):
            values = np.where(masks[i], self.values(rows[i]) + self._random.random(self._actions) * 1e-4, -np.inf)
            chosen[i] = values.argmax()
        return chosen

    def learn(self, row: np.ndarray, action: int, reward: float, then: np.ndarray, ended: bool) -> None:
        target = reward + (0.0 if ended else 0.95 * float(self.values(then).max()))
        values = self.values(row)
        values[action] += 0.5 * (target - values[action])


def random_actions(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return (masks * rng.random(masks.shape)).argmax(axis=1)


def play(env: gymnasium.vector.VectorEnv, choose, steps: int) -> tuple[float, float]:
    """Play and return the share of finished worlds that reached the goal, and the mean steps of those."""
    rows, info = env.reset(seed=0)
    length, done, reached, lengths = np.zeros(env.num_envs, int), 0, 0, []
    for _ in range(steps):
        rows, _, terminated, truncated, info = env.step(choose(rows, info["action_mask"]))
        length += 1
        done += int((terminated | truncated).sum())
        reached += int(terminated.sum())
        lengths += length[terminated].tolist()
        length[terminated | truncated] = -1  # the next step only begins anew
    return reached / max(1, done), float(np.mean(lengths)) if lengths else float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("worlds")
    parser.add_argument("episode")
    parser.add_argument("task")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--limit", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    env = gymnasium.make_vec(
        "ego2world/Episode-v0",
        num_envs=WORLDS,
        vectorization_mode="vector_entry_point",
        worlds=given.worlds,
        episode=given.episode,
        task=given.task,
        limit=given.limit,
    )
    space = cast(EpisodeVectorEnv, env.unwrapped).space
    print(f"{space.task.instruction}  {space.actions} actions, {space.grounding.width} columns")
    rng = np.random.default_rng(given.seed)
    share, length = play(env, lambda rows, masks: random_actions(masks, rng), 4 * given.limit)
    print(f"random  reaches the goal in {share:.1%} of its tries ({length:.1f} steps)")
    table, until, steps = Table(space.actions, given.seed), time.monotonic() + given.seconds, 0
    rows, info = env.reset(seed=given.seed)
    ended = np.zeros(WORLDS, bool)
    while time.monotonic() < until:
        actions = table.choose(rows, info["action_mask"], 0.3)
        then, rewards, terminated, truncated, info = env.step(actions)
        for i in np.flatnonzero(~ended):
            table.learn(rows[i], int(actions[i]), float(rewards[i]), then[i], bool(terminated[i]))
        rows, ended = then, terminated | truncated
        steps += WORLDS
    share, length = play(env, lambda rows, masks: table.choose(rows, masks, 0.0), 4 * given.limit)
    print(f"trained reaches the goal in {share:.1%} of its tries ({length:.1f} steps), after {steps:,} steps")


if __name__ == "__main__":
    main()
