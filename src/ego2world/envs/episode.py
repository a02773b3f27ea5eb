"""One task as a Gymnasium environment with text and structured observations. What it shows is what an agent may see."""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from ego2world.envs.space import LOOK, TaskSpace, check_reward
from ego2world.run.environment import Environment
from ego2world.world.observation import Feedback, Local, Proposal, Seen

TEXT_LENGTH = 20_000
Observation = dict[str, Any]


class EpisodeEnv(gymnasium.Env[Observation, np.int64]):
    """Act in a task until its contract holds or the steps are spent.

    Observations are a dictionary: ``text`` says the instruction, what is seen and what came of the last action;
    ``known`` is a row of codes (columns: ``space.grounding.facts``; 0 is "not known") of what the agent has seen and
    done so far. ``info`` has the ``action_mask`` of actions that are not known to be refused.

    Args:
        worlds: a compiled collection.
        episode: one of its episodes.
        task: one of its tasks; by default its first terminal-state task.
        limit: steps until truncation, looks included.
        reward: "goal" (1 when the contract comes to hold) or "conditions" (what each step adds to the share of true
            conditions).
        render_mode: "ansi" renders the text.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012  gymnasium's own form

    def __init__(
        self,
        worlds: Path | str,
        episode: str,
        task: str | None = None,
        limit: int = 80,
        reward: str = "conditions",
        render_mode: str | None = None,
    ) -> None:
        check_reward(reward)
        self.space = TaskSpace(worlds, episode, task)
        self.render_mode = render_mode
        self._limit, self._reward = limit, reward
        self.action_space = gymnasium.spaces.Discrete(self.space.actions)
        self.observation_space = gymnasium.spaces.Dict(
            {
                "text": gymnasium.spaces.Text(TEXT_LENGTH, min_length=0, charset=string.printable),
                "known": gymnasium.spaces.Box(0, np.iinfo(np.int16).max, (self.space.grounding.width,), np.int16),
            }
        )
        self._begin()

    def _begin(self) -> None:
        self._environment = Environment(self.space.episode)
        self._environment.state = self.space.start
        self._sight = self.space.sight(1)
        self._happened = self.space.goal.start(1)
        self._row = self.space.grounding.initial[None].copy()
        self._share = float(self.space.score(self._row, self._happened)[0])
        self._steps, self._said = 0, ""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin the task anew; it is deterministic, so the seed changes nothing."""
        super().reset(seed=seed)
        self._begin()
        return self._observation(), self._info()

    def step(self, action: int | np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Look (0) or do an action; a refused one leaves the world as it is."""
        number, accepted = int(action), True
        doing = self.space.action(number)
        if doing is None:
            self._environment.look()
            self._sight.look(self._row, np.ones(1, bool))
            self._said = "You look around."
        else:
            attempt, feedback = self._environment.attempt(Proposal(doing.name, dict(doing.roles)))
            accepted = attempt.accepted
            self._row = self.space.grounding.encode(self._environment.state)[None]
            numbers = self.space.numbers(np.array([number]))
            self._sight.did(numbers, np.array([accepted]))
            self.space.goal.note(self._happened, numbers, np.array([-1 if accepted else 0]))
            self._said = _told(feedback)
        self._steps += 1
        share = float(self.space.score(self._row, self._happened)[0])
        done = share == 1.0
        reward = float(done) if self._reward == "goal" else share - self._share
        self._share = share
        return (
            self._observation(),
            reward,
            done,
            self._steps >= self._limit and not done,
            self._info() | {"accepted": accepted},
        )

    def action_mask(self) -> NDArray[np.int8]:
        """Return which actions are not known to be refused."""
        mask: NDArray[np.int8] = self.space.mask(self._sight.observe(self._row))[0]
        return mask

    def render(self) -> str | None:
        """Return the observation's text, in mode "ansi"."""
        return self._text() if self.render_mode == "ansi" else None

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.action_mask(), "share": self._share}

    def _observation(self) -> Observation:
        return {"text": self._text(), "known": self._sight.observe(self._row)[0].copy()}

    def _text(self) -> str:
        local = self._environment.local()
        text = "\n".join(part for part in (self.space.task.instruction, self._said, _scene(local)) if part)
        if self._said.startswith("You look"):
            content = self._environment.look().content
            text += "\nYou see: " + "; ".join(map(_thing, content))
        return text.encode("ascii", "replace").decode()[:TEXT_LENGTH]


def _scene(local: Local) -> str:
    lines = [f"You are at {local.zone_name}.", "Here: " + "; ".join(map(_thing, local.fixtures)) + "."]
    lines.append(
        "You hold: " + ("; ".join(f"{thing.name} ({hand})" for hand, thing in local.holding) or "nothing") + "."
    )
    changes = [
        f"{c.name} {'gone' if c.now is None else ' '.join(c.now) if isinstance(c.now, tuple) else c.now}"
        for c in local.delta
    ]
    return "\n".join([*lines, *(["Changed: " + "; ".join(changes) + "."] if changes else [])])


def _thing(thing: Seen) -> str:
    more = [part for part in (thing.openness, thing.power, " ".join(thing.place) if thing.place else "") if part]
    return f"{thing.name} [{thing.id}]" + (f" ({', '.join(more)})" if more else "")


def _told(feedback: Feedback) -> str:
    if feedback.accepted:
        return "Done."
    return "Refused: " + "; ".join(f"{failure.entity}: needed {failure.needed}" for failure in feedback.failures) + "."


__all__ = ["LOOK", "EpisodeEnv"]
