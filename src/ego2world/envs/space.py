"""One task as numbers: which actions there are, what is known, what counts. Shared by the single and the vector
environment."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ego2world.core.canonical import pretty_json, write_atomic
from ego2world.core.extras import extra
from ego2world.envs.sight import Sight, optimistic
from ego2world.errors import UsageError
from ego2world.ontology.kinds import Trait, has
from ego2world.planning.problem import make_problem
from ego2world.planning.scope import scope_of
from ego2world.tasks.contract import TERMINAL, Contract
from ego2world.tasks.goal import TRUE, Goal
from ego2world.world.episode import Episode, TaskRecord, load_episode, load_manifest, reference_states
from ego2world.world.grounded import Batch, Grounding, ground_actions
from ego2world.world.grounded.symbols import HAND_ORDER
from ego2world.world.state import Action

with extra("gym", "ego2world.envs"):
    from gymnasium.envs import registration

ENV_ID = "ego2world/Episode-v0"
REWARDS = ("goal", "conditions")
Progress = Callable[[str, int, int], None]
LOOK = 0  # the number of the action that looks around; the ground actions follow


def register_envs() -> None:
    """Register the environment with Gymnasium, once."""
    if ENV_ID not in registration.registry:
        folder = "ego2world.envs"
        registration.register(
            ENV_ID, entry_point=f"{folder}.episode:EpisodeEnv", vector_entry_point=f"{folder}.vector:EpisodeVectorEnv"
        )


class TaskSpace:
    """A task of an episode with its actions, from the state in which the reference begins it.

    The actions are those that may have a part in the goal: with what the instruction names, what is held, every
    fixture and everything that can be opened. Action 0 looks at the zone; action n is ``action(n)``.

    Args:
        worlds: a compiled collection.
        episode: one of its episodes.
        task: one of the episode's tasks; by default its first terminal-state task.

    Raises:
        UsageError: no such episode or task.
    """

    def __init__(self, worlds: Path | str, episode: str, task: str | None = None) -> None:
        self.episode: Episode = load_episode(Path(worlds), episode)
        self.task = _task(self.episode, task)
        first = self.episode.groups[self.task.first_group].first
        self.start = next(state for number, state in enumerate(reference_states(self.episode)) if number == first)
        self.contract = Contract.of(self.task)
        world = self.episode.world
        known = {*world.zone_of, *(e for e in world.openable if has(world.entities[e].type, Trait.PORTABLE))}
        scope = scope_of(world, self.start, self.contract.conditions, also=known)
        wanted = make_problem("task", world, self.start, self.contract.conditions, scope).ground_actions()
        self.grounding: Grounding = ground_actions(
            world, self.start, [Action.of("wait", {}), *dict.fromkeys(wanted)], 0
        )
        wait = self.grounding.number(Action.of("wait", {}))
        assert wait is not None
        self._wait = wait

    @property
    def actions(self) -> int:
        """How many actions there are, looking included."""
        return self.grounding.actions + 1

    @cached_property
    def goal(self) -> Goal:
        """The contract on rows."""
        return Goal(self.contract, self.grounding)

    def action(self, number: int) -> Action | None:
        """Return what an action does in the world; None for looking."""
        return None if number == LOOK else self.grounding.action(number - 1)

    def numbers(self, actions: NDArray[Any]) -> NDArray[np.int32]:
        """Return the numbers of the ground actions; who looks waits."""
        return np.where(actions == LOOK, self._wait, actions - 1).astype(np.int32)

    def sight(self, worlds: int) -> Sight:
        """Return agents that know nothing yet; the recorded images show the episode's first state."""
        anchor = self.grounding.initial.copy()
        for column, key in enumerate(self.grounding.facts):
            value = self.episode.initial.facts.get(key)
            anchor[column] = 0 if value is None else self.grounding.symbols.code(key[0], value)
        return Sight(self.grounding, anchor, worlds)

    @cached_property
    def _hopes(self) -> Grounding:
        return optimistic(self.grounding)

    def mask(self, known: NDArray[np.int16]) -> NDArray[np.int8]:
        """Return which actions are not known to be refused, (worlds, actions); it tells nothing that the agents do not
        know."""
        batch = Batch([self._hopes], len(known))
        batch.states[:] = known
        return np.concatenate([np.ones((len(known), 1), np.int8), batch.applicable().astype(np.int8)], axis=1)

    def score(self, states: NDArray[np.int16], happened: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the share of the goal's conditions that are true, (worlds,)."""
        share: NDArray[np.float64] = (self.goal.each(states, happened) == TRUE).mean(axis=1)
        return share


def write_specs(worlds: Path, out: Path, progress: Progress | None = None) -> int:
    """Write for each task of a collection what its environment's spaces mean: OUT/EPISODE/TASK.json.

    Returns:
        How many tasks were written.
    """
    names, written = list(load_manifest(worlds)["episodes"]), 0
    for number, name in enumerate(names, 1):
        for task in load_episode(worlds, name).tasks:
            space = TaskSpace(worlds, name, task.id)
            spec = {
                "id": ENV_ID,
                "episode": name,
                "episode_sha256": space.episode.sha256,
                "task": task.id,
                "instruction": task.instruction,
                "action_space": {"type": "Discrete", "n": space.actions},
                "observation_space": {"type": "Box", "shape": [space.grounding.width], "dtype": "int16"},
                "actions": [
                    "look",
                    *(str(action) for action in map(space.grounding.action, range(space.grounding.actions))),
                ],
                "columns": [
                    *(" ".join(key) for key in space.grounding.facts),
                    *(f"things in {hand}" for hand in HAND_ORDER),
                ],
                "rewards": list(REWARDS),
            }
            write_atomic(out / name / f"{task.id}.json", pretty_json(spec))
            written += 1
        if progress:
            progress(name, number, len(names))
    return written


def check_reward(reward: str) -> None:
    """Refuse an unknown reward.

    Raises:
        UsageError: no such reward.
    """
    if reward not in REWARDS:
        raise UsageError(f"no reward {reward!r}; there are: {', '.join(REWARDS)}")


def _task(episode: Episode, name: str | None) -> TaskRecord:
    if name is None:
        terminal = [task for task in episode.tasks if task.tier == TERMINAL] or list(episode.tasks)
        if not terminal:
            raise UsageError(f"{episode.id} has no task; choose another episode")
        return terminal[0]
    found = next((task for task in episode.tasks if task.id == name), None)
    if found is None:
        raise UsageError(f"{episode.id} has no task {name}; it has: {', '.join(task.id for task in episode.tasks)}")
    return found
