"""One task in thousands of worlds at a time, over the batched executor, as a Gymnasium vector environment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ego2world.envs.space import LOOK, TaskSpace, check_reward
from ego2world.world.grounded import Batch

Array = NDArray[Any]


class EpisodeVectorEnv(gymnasium.vector.VectorEnv[Array, Array, Array]):
    """See ``EpisodeEnv``; the observation is its ``known`` row alone, and a finished world starts anew with its next
    step.

    Args:
        num_envs: how many worlds.
        worlds, episode, task, limit, reward: as in ``EpisodeEnv``.
        masks: put ``action_mask`` (worlds, actions) into the info of every step.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012  gymnasium's own form

    def __init__(
        self,
        num_envs: int,
        worlds: Path | str,
        episode: str,
        task: str | None = None,
        limit: int = 80,
        reward: str = "conditions",
        masks: bool = True,
    ) -> None:
        check_reward(reward)
        self.space = TaskSpace(worlds, episode, task)
        self.num_envs, self._limit, self._reward, self._masks = num_envs, limit, reward, masks
        self.single_action_space = gymnasium.spaces.Discrete(self.space.actions)
        self.single_observation_space = gymnasium.spaces.Box(
            0, np.iinfo(np.int16).max, (self.space.grounding.width,), np.int16
        )
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._batch = Batch([self.space.grounding], num_envs)
        self._sight = self.space.sight(num_envs)
        self._happened = self.space.goal.start(num_envs)
        self._ended = np.zeros(num_envs, bool)
        self._steps = np.zeros(num_envs, np.int32)
        self._share = self.space.score(self._batch.states, self._happened)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begin the task anew in all worlds; it is deterministic, so the seed changes nothing."""
        super().reset(seed=seed if isinstance(seed, int) else None, options=options)
        self._restart(np.ones(self.num_envs, bool))
        return self._observe()

    def _restart(self, worlds: NDArray[np.bool_]) -> None:
        self._batch.reset(worlds)
        self._sight.forget(worlds)
        self._happened[worlds] = False
        self._steps[worlds] = 0
        self._ended[worlds] = False
        self._share[worlds] = self.space.score(self._batch.states[worlds], self._happened[worlds])

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Do one action a world; worlds that ended begin anew instead, with reward 0."""
        fresh = self._ended.copy()
        given = np.where(fresh, LOOK, np.asarray(actions))
        numbers = self.space.numbers(given)
        failed = self._batch.step(numbers)
        states = self._batch.states
        self._sight.look(states, (given == LOOK) & ~fresh)
        self._sight.did(numbers, failed < 0)
        self.space.goal.note(self._happened, numbers, failed)
        if fresh.any():
            self._restart(fresh)
        self._steps += ~fresh
        share = self.space.score(states, self._happened)
        done = (share == 1.0) & ~fresh
        rewards = done.astype(np.float64) if self._reward == "goal" else np.where(fresh, 0.0, share - self._share)
        self._share = share
        truncated = (self._steps >= self._limit) & ~done
        self._ended = done | truncated
        known, info = self._observe()
        return known, rewards, done, truncated, info | {"accepted": failed < 0}

    def _observe(self) -> tuple[Array, dict[str, Any]]:
        known = self._sight.observe(self._batch.states).copy()
        return known, {"action_mask": self.space.mask(known)} if self._masks else {}
