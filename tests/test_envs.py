"""The Gymnasium environments: the standard's own checks, what they show against what an agent may see, learning."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from ego2world.agents import Belief
from ego2world.envs import ENV_ID, LOOK
from ego2world.envs.episode import EpisodeEnv
from ego2world.envs.vector import EpisodeVectorEnv
from ego2world.errors import UsageError
from ego2world.run.environment import Environment
from ego2world.tasks.contract import Contract
from ego2world.tasks.goal import TRUTHS
from ego2world.world.episode import load_manifest
from ego2world.world.observation import Proposal
from ego2world.world.state import State

EPISODE = "K01-20250301-080000"
ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def env(sample_worlds: Path) -> EpisodeEnv:
    return EpisodeEnv(sample_worlds, EPISODE)


def test_the_standards_own_checks_pass(sample_worlds: Path) -> None:
    made = gymnasium.make(ENV_ID, worlds=sample_worlds, episode=EPISODE, render_mode="ansi")
    check_env(made.unwrapped)
    made.reset(seed=1)
    assert "You are at" in str(made.render())


def test_it_is_made_by_name_after_one_import(sample_worlds: Path) -> None:
    code = (
        f"import gymnasium, ego2world.envs;e = gymnasium.make('ego2world/Episode-v0', worlds={str(sample_worlds)!r},"
        f" episode={EPISODE!r}); e.reset(seed=0);v = gymnasium.make_vec('ego2world/Episode-v0', num_envs=3,"
        f" vectorization_mode='vector_entry_point', worlds={str(sample_worlds)!r}, episode={EPISODE!r});"
        " print(v.reset(seed=0)[0].shape[0])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "3", done.stderr[-2000:]


def test_what_is_known_is_true_and_seen(sample_worlds: Path) -> None:
    """On random walks in every sample episode: what is seen is what the plain viewer shows, and nothing known is
    wrong."""
    rng = np.random.default_rng(0)
    for name in load_manifest(sample_worlds)["episodes"]:
        env = EpisodeEnv(sample_worlds, name, limit=10_000)
        _, info = env.reset()
        for number in range(60):
            action = LOOK if number % 9 == 4 else int(rng.choice(np.flatnonzero(info["action_mask"])))
            observation, _, terminated, _, info = env.step(action)
            known, row = observation["known"], env._row[0]
            assert ((known == 0) | (known == row)).all()
            viewer, state = env._environment._viewer, env._environment.state
            seen, carried = env._sight._walk(env._row, env._row[:, env._sight._at])
            things = np.array(env.space.grounding.world.things)
            assert set(things[seen[0]]) == set(viewer.visible(state))
            assert set(things[carried[0]]) == set(viewer.carried(state))
            if terminated:
                _, info = env.reset()


def test_what_is_known_is_what_a_belief_holds(sample_worlds: Path) -> None:
    """What the planners' belief holds after the same observations is known too, with the same values."""
    rng, compared = np.random.default_rng(1), 0
    for name in list(load_manifest(sample_worlds)["episodes"])[:4]:
        env = EpisodeEnv(sample_worlds, name, limit=10_000)
        observation, info = env.reset()
        plain = Environment(env.space.episode)
        plain.state = env.space.start
        belief = Belief()
        belief.see_local(plain.local())
        for number in range(50):
            action = LOOK if number % 11 == 3 else int(rng.choice(np.flatnonzero(info["action_mask"])))
            doing = env.space.action(action)
            observation, _, terminated, _, info = env.step(action)
            if doing is None:
                belief.see_region(plain.look())
                belief.see_local(plain.local())
            else:
                _, feedback = plain.attempt(Proposal(doing.name, dict(doing.roles)))
                belief.see_local(plain.local())
                belief.learn(feedback)
            if terminated:
                break
            decoded = env.space.grounding.decode(observation["known"]).facts
            for fluent, thing in [key for key in env.space.grounding.facts if key[0] in {"place", "openness", "power"}]:
                estimate = belief.entries.get((fluent, thing))
                if estimate is not None:  # the environment may know more: that something went with what carries it
                    assert decoded.get((fluent, thing)) == estimate.value, (name, number, fluent, thing)
                compared += estimate is not None
    assert compared > 1_000


def test_what_is_hidden_changes_nothing_shown(env: EpisodeEnv) -> None:
    """Another content of a closed cupboard: the same observation and mask, until it is opened."""
    grounding, start = env.space.grounding, env.space.start
    hidden = next(
        (t, v[1])
        for (f, t), v in ((k, v) for k, v in start.facts.items() if k[0] == "place")
        if isinstance(v, tuple) and v[0] == "in" and start.facts.get(("openness", v[1])) == "closed" and f == "place"
    )
    shown = []
    for facts in (dict(start.facts), {k: v for k, v in start.facts.items() if k != ("place", hidden[0])}):
        env.reset()
        env._environment.state = State.of(facts)
        env._row = grounding.encode(State.of(facts))[None]
        env._sight = env.space.sight(1)
        shown.append((env._observation()["text"], env._observation()["known"].tolist(), env.action_mask().tolist()))
    assert shown[0] == shown[1]


def test_single_and_vector_agree(sample_worlds: Path) -> None:
    single = EpisodeEnv(sample_worlds, EPISODE, limit=25)
    vector = EpisodeVectorEnv(3, sample_worlds, EPISODE, limit=25)
    rng = np.random.default_rng(2)
    observation, info = single.reset()
    rows, infos = vector.reset()
    for _ in range(70):
        assert (rows == observation["known"]).all() and (infos["action_mask"] == info["action_mask"]).all()
        action = int(rng.choice(np.flatnonzero(info["action_mask"])))
        observation, reward, terminated, truncated, info = single.step(action)
        rows, rewards, ends, cuts, infos = vector.step(np.full(3, action))
        assert (rewards == reward).all() and (ends == terminated).all() and (cuts == truncated).all()
        if terminated or truncated:
            observation, info = single.reset()
            rows, rewards, ends, cuts, infos = vector.step(np.full(3, action))  # begins anew
            assert not rewards.any() and not ends.any() and not cuts.any()


def test_the_goal_ends_it_with_the_contract(sample_worlds: Path) -> None:
    """Rewards add up to the share that the contract says; the end is when it holds."""
    env = EpisodeEnv(sample_worlds, EPISODE, "task_006", limit=30)
    _, info = env.reset()
    rng, total = np.random.default_rng(3), 0.0
    first = info["share"]
    for _ in range(2_000):
        _, reward, terminated, truncated, info = env.step(int(rng.choice(np.flatnonzero(info["action_mask"]))))
        total += reward
        holds = Contract.of(env.space.task).holds(env._environment.state)
        assert terminated == (holds is TRUTHS[2]) and total == pytest.approx(info["share"] - first)
        if terminated:
            break
        if truncated:
            _, info = env.reset()
            total = 0.0
    assert terminated


def test_masks_forbid_only_what_is_refused(env: EpisodeEnv) -> None:
    """With everything seen, what the mask forbids is refused, but for what the agent still does not know."""
    _, info = env.reset()
    _, _, _, _, info = env.step(LOOK)
    before = env._environment.state
    refused = 0
    for number in np.flatnonzero(info["action_mask"] == 0)[::9]:
        env._environment.state = before
        doing = env.space.action(int(number))
        assert doing is not None
        attempt, _ = env._environment.attempt(Proposal(doing.name, dict(doing.roles)))
        refused += not attempt.accepted
        if attempt.accepted:
            known = env._sight.known[0]
            places = [env.space.grounding.column(("place", thing)) for thing in doing.things]
            assert any(column is not None and known[column] == 0 for column in places), str(doing)
    assert refused > 20


def test_bad_input_is_named(sample_worlds: Path) -> None:
    with pytest.raises(UsageError, match="no reward 'fun'"):
        EpisodeEnv(sample_worlds, EPISODE, reward="fun")
    with pytest.raises(UsageError, match="has no task nine; it has: task_001"):
        EpisodeEnv(sample_worlds, EPISODE, "nine")


def test_a_small_agent_learns(sample_worlds: Path) -> None:
    """The example, for seconds instead of a minute: far better than random afterwards."""
    command = [
        sys.executable,
        str(ROOT / "examples" / "train_agent.py"),
        str(sample_worlds),
        EPISODE,
        "task_004",
        "--seconds",
        "4",
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if "reaches the goal" in line]
    shares = [float(line.split("in ")[1].split("%")[0]) for line in lines]
    assert done.returncode == 0 and shares[0] < 60 and shares[1] > 95, done.stdout + done.stderr
