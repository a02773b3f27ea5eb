"""What reaches an agent: worked out quickly and from scratch alike, and nothing of what it has not observed."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from conftest import SHARED, needs_data
from ego2world.agents import Act, Belief, Context, Decoding
from ego2world.agents.prompting import plan_request
from ego2world.agents.random import RandomPlanner
from ego2world.annotations.hd_epic import read_hd_epic
from ego2world.collection import build_worlds
from ego2world.run.environment import Environment
from ego2world.world.episode import Episode, load_episode, load_manifest
from ego2world.world.fluents import DOMAINS, FactKey, Value
from ego2world.world.observation import Proposal, RegionView
from ego2world.world.observe import Viewer, carried, delta, visible
from ego2world.world.refusal import Refusal
from ego2world.world.state import State
from ego2world.world.step import step


@pytest.fixture(scope="session")
def real_worlds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("real") / "worlds"
    build_worlds(read_hd_epic(SHARED / "hd-epic"), out)
    return out


def walk(episode: Episode, draw: random.Random, steps: int) -> list[State]:
    """Return states of the reference, with random accepted actions in between."""
    planner, environment = RandomPlanner(draw.randrange(1 << 30)), Environment(episode)
    states = [environment.state]
    for action in episode.actions[:steps]:
        environment.attempt(Proposal(action.name, dict(action.roles)))
        states.append(environment.state)
        if draw.random() < 0.2 and episode.groups:
            context = Context(environment.brief(draw.choice(episode.groups)), environment.local(), Belief())
            planner.begin_group(context)
            tried = planner.next_step(context)
            if isinstance(tried, Act):
                environment.attempt(tried.proposal)
                states.append(environment.state)
    return states


def check_viewer(episode: Episode, draw: random.Random, steps: int) -> None:
    viewer = Viewer(episode.world, episode.initial, episode.zone_names)
    for state in walk(episode, draw, steps):
        now, then = visible(episode.world, state, state.zone), visible(episode.world, episode.initial, state.zone)
        assert list(viewer.visible(state).items()) == list(now.items())
        assert viewer.local(state).delta == delta(then, now)
        view = viewer.look(state)
        assert view == RegionView.of(state.zone, then.values(), delta(then, now))


def test_what_is_seen_is_the_same_from_scratch(sample_worlds: Path) -> None:
    for number, name in enumerate(load_manifest(sample_worlds)["episodes"]):
        check_viewer(load_episode(sample_worlds, name), random.Random(number), 1000)


@needs_data
def test_what_is_seen_is_the_same_from_scratch_on_real_episodes(real_worlds: Path) -> None:
    for number, name in enumerate(load_manifest(real_worlds)["episodes"]):
        check_viewer(load_episode(real_worlds, name), random.Random(number), 150)


def unobserved(episode: Episode, state: State, seen: set[str], draw: random.Random) -> State:
    """Return a state that differs in facts of things that were never in view: places, states, attributes and
    contents."""
    world = episode.world
    hidden = [e for e in world.entities if e not in seen and e in world.visible_things]
    facts: dict[FactKey, Value] = dict(state.facts)
    shut = {
        e
        for e in hidden
        if state.facts.get(("openness", e)) != "open" and world.entities[e].type not in {"zone", "agent"}
    }
    for thing in hidden:
        for fluent, domain in DOMAINS.items():
            if (fluent, thing) in facts and draw.random() < 0.7:
                facts[fluent, thing] = draw.choice(domain)
        if ("place", thing) in facts and thing not in world.zone_of and draw.random() < 0.7:
            homes = [f for f in shut if f in world.zone_of and f in world.openable and f != thing]
            if homes:  # somewhere that cannot be seen: in another hidden, closed fixture
                facts["place", thing] = ("in", draw.choice(homes))
                facts["openness", facts["place", thing][1]] = "closed"
    for key in [k for k in facts if k[0] == "contains" and k[1] in hidden]:
        if draw.random() < 0.5:
            facts[key] = not facts[key]
    return State.of(facts)


def told(episode: Episode, state: State, proposals: list[Proposal], group: int) -> list[str]:
    """Return every string that an agent gets in a state: observation, prompt, look, and the answers to some
    proposals."""
    lines = []
    for proposal in proposals:
        environment = Environment(episode)
        environment.state = state
        attempt, feedback = environment.attempt(proposal)
        if attempt.accepted:
            continue  # what an accepted action shows is observed by it
        belief = Belief()
        context = Context(environment.brief(episode.groups[group]), environment.local(), belief, feedback, 80)
        belief.see_local(context.local)
        lines += [repr(feedback), plan_request(context, [repr(feedback)], Decoding()).messages[-1].text]
    environment = Environment(episode)
    environment.state = state
    return [*lines, repr(environment.local()), repr(environment.look()), repr(environment.brief(episode.groups[group]))]


def check_non_interference(episode: Episode, draw: random.Random, moments: int) -> int:
    """Compare what an agent is told in two worlds that differ only in what it has never observed."""
    differing = 0
    for _ in range(4 * moments):
        if differing == moments:
            break
        state, cut = episode.initial, draw.randrange(len(episode.actions))
        for action in episode.actions[:cut]:
            after = step(episode.world, state, action)
            assert not isinstance(after, Refusal)
            state = after
        zones = {state.zone}
        seen = {e for zone in zones for e in visible(episode.world, state, zone)} | set(carried(episode.world, state))
        seen |= {e for zone in zones for e in visible(episode.world, episode.initial, zone)}  # the recorded image
        other = unobserved(episode, state, seen, draw)
        if other.facts == state.facts:  # nothing is hidden at this moment, or nothing of it was changed
            continue
        differing += 1
        group = draw.randrange(len(episode.groups))
        proposals = [
            Proposal(a.name, dict(a.roles)) for a in draw.sample(episode.actions, min(12, len(episode.actions)))
        ]
        things = draw.sample(sorted(episode.world.visible_things), 6)
        proposals += [Proposal(f, {"object": t}) for t in things for f in ("pick_up", "open", "wash")]
        assert told(episode, state, proposals, group) == told(episode, other, proposals, group), (episode.id, cut)
    return differing


def test_non_interference(sample_worlds: Path) -> None:
    names = list(load_manifest(sample_worlds)["episodes"])
    found = [
        check_non_interference(load_episode(sample_worlds, name), random.Random(n), 12) for n, name in enumerate(names)
    ]
    assert sum(found) > 3 * len(names), found


@needs_data
def test_non_interference_on_all_real_episodes(real_worlds: Path) -> None:
    names = list(load_manifest(real_worlds)["episodes"])
    found = [
        check_non_interference(load_episode(real_worlds, name), random.Random(n), 5) for n, name in enumerate(names)
    ]
    assert sum(found) > 3 * len(names) and sum(count > 0 for count in found) >= 0.9 * len(names), found
