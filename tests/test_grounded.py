"""Worlds in integers against the plain executor, which is the law: states, refusals, masks, contracts, on every
episode."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import SHARED, make_world, needs_data
from ego2world.annotations.hd_epic import read_hd_epic
from ego2world.collection import build_worlds
from ego2world.errors import DeclarationError, UsageError
from ego2world.tasks.contract import Contract, Event
from ego2world.tasks.goal import TRUTHS, Goal
from ego2world.tasks.stress import Span, spoiled
from ego2world.world.actions import ACTIONS
from ego2world.world.conditions import AnyCondition, CountCondition, EventCondition, FactCondition
from ego2world.world.episode import Episode, load_episode, load_manifest, reference_states
from ego2world.world.grounded import KERNELS, Batch, Grounding, ground, ground_actions
from ego2world.world.grounded.catalogue import essential, roles_that_matter
from ego2world.world.grounded.grounding import with_hands
from ego2world.world.refusal import Refusal
from ego2world.world.state import Action, State
from ego2world.world.step import GroundAction, ground_action, step, with_hand
from naive import bindings

FIRST_REAL = ("P01-20240202-161354", "P08-20240613-122900")


def episodes(worlds: Path) -> list[Episode]:
    return [load_episode(worlds, name) for name in load_manifest(worlds)["episodes"]]


@pytest.fixture(scope="module")
def grounded(sample_worlds: Path) -> list[tuple[Episode, Grounding]]:
    return [(episode, ground(episode)) for episode in episodes(sample_worlds)]


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> list[Episode]:
    worlds = tmp_path_factory.mktemp("real") / "worlds"
    build_worlds(read_hd_epic(SHARED / "hd-epic"), worlds, 2)
    return episodes(worlds)


def first_failure(grounding: Grounding, state: State, action: Action) -> int:
    """Return what the plain executor's checks say: the number of the first that fails, -1 when none does."""
    bound = ground_action(grounding.world, action)
    assert isinstance(bound, GroundAction)
    return next((number for number, check in enumerate(bound.checks) if check(state) is not None), -1)


def walk(batch: Batch, steps: int, seed: int) -> int:
    """Walk at random in every world, partly over what is applicable, and compare each step; return the accepted
    ones."""
    rng = np.random.default_rng(seed)
    states = [batch.state(world) for world in range(len(batch))]
    accepted = 0
    for number in range(steps):
        own = [batch.groundings[e] for e in batch.episode]
        if number % 3 == 0:
            mask = batch.applicable()
            actions = np.array([rng.choice(np.flatnonzero(row)) for row in mask])
        else:
            actions = np.array([rng.integers(grounding.actions) for grounding in own])
        failed = batch.step(actions)
        for world, grounding in enumerate(own):
            action = grounding.action(int(actions[world]))
            assert failed[world] == first_failure(grounding, states[world], action), f"{action} in world {world}"
            after = step(grounding.world, states[world], action)
            if isinstance(after, State):
                states[world] = after
                accepted += 1
            else:
                assert number % 3, f"the mask lets {action} pass: {after}"
            found = batch.state(world)
            assert found == states[world], f"{action}: {found.facts.items() ^ states[world].facts.items()}"
    return accepted


@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_every_step_agrees_with_the_plain_executor(grounded: list[tuple[Episode, Grounding]], kernel: str) -> None:
    for seed, (_, grounding) in enumerate(grounded):
        assert walk(Batch([grounding], 8, kernel), 45, seed) > 100


@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_different_episodes_in_one_batch(grounded: list[tuple[Episode, Grounding]], kernel: str) -> None:
    groundings = [grounding for _, grounding in grounded]
    assert walk(Batch(groundings, [n % len(groundings) for n in range(24)], kernel), 30, 5) > 200


@needs_data
@pytest.mark.slow
def test_every_step_agrees_on_the_real_episodes(real: list[Episode]) -> None:
    for seed, episode in enumerate(real):
        grounding = ground(episode)
        assert walk(Batch([grounding], 8), 45, seed) > 80
        assert walk(Batch([grounding], 2, "numpy"), 6, seed) > 3


def test_both_kernels_are_there() -> None:
    assert sorted(KERNELS) == ["numba", "numpy"]


def test_masks_are_the_same_in_both_kernels_and_right(grounded: list[tuple[Episode, Grounding]]) -> None:
    for episode, grounding in grounded[:3]:
        masks = []
        for kernel in sorted(KERNELS):
            batch = Batch([grounding], 3, kernel)
            for action in with_hands(episode)[:20]:
                number = grounding.number(action)
                assert number is not None
                batch.step([number] * 3)
            masks.append(batch.applicable())
        assert (masks[0] == masks[1]).all()
        state = batch.state(0)
        plain = [first_failure(grounding, state, grounding.action(n)) < 0 for n in range(0, grounding.actions, 17)]
        assert masks[0][0, ::17].tolist() == plain


def test_states_and_hashes_convert_back(grounded: list[tuple[Episode, Grounding]]) -> None:
    for episode, grounding in grounded:
        for state in reference_states(episode):
            row = grounding.encode(state)
            assert grounding.decode(row) == state
            assert grounding.decode(row).digest() == state.digest()
            assert np.array_equal(grounding.encode(grounding.decode(row)), row)


def test_actions_convert_back(grounded: list[tuple[Episode, Grounding]]) -> None:
    for episode, grounding in grounded:
        for action in with_hands(episode):
            number = grounding.number(action)
            assert number is not None
            assert str(grounding.action(number)) == str(action)
        for number in range(0, grounding.actions, 101):
            assert grounding.number(grounding.action(number)) == number
    assert grounding.number(Action.of("pick_up", {"object": "no_such_thing"})) is None


def test_refusals_are_explained_in_full(grounded: list[tuple[Episode, Grounding]]) -> None:
    _, grounding = grounded[0]
    state, several = grounding.decode(grounding.initial), 0
    for number in range(0, grounding.actions, 13):
        plain = step(grounding.world, state, grounding.action(number))
        told = grounding.explain(grounding.initial, number)
        assert (told is None) == isinstance(plain, State)
        if told is not None:
            assert told == plain
            several += len(told.failures) > 1
    assert several


def test_what_any_action_does_an_essential_one_does_too(grounded: list[tuple[Episode, Grounding]]) -> None:
    """Of each type that binds two things at most: whatever is accepted, an applicable action of the grounding leads to
    the same."""
    rng = random.Random(3)
    for _, grounding in grounded[:4]:
        batch, state, compared = Batch([grounding], 1), grounding.decode(grounding.initial), 0
        for _ in range(3):
            mask = np.flatnonzero(batch.applicable()[0])
            many = Batch([grounding], len(mask))
            many.states[:] = batch.states[0]
            assert (many.step(mask) == -1).all()
            reached = {row.tobytes() for row in np.ascontiguousarray(many.states)}
            for kind in ACTIONS:
                if not kind.effects or sum(role != "hand" for role in roles_that_matter(kind)) > 2:
                    continue
                for proposed in bindings(grounding.world, kind, rng, 25):
                    after = step(grounding.world, state, with_hand(state, proposed))
                    if isinstance(after, State):
                        compared += 1
                        assert grounding.encode(after).tobytes() in reached, str(proposed)
            batch.step([int(rng.choice(mask.tolist()))])
            state = batch.state(0)
        assert compared > 100


def test_what_is_left_out_as_impossible_is_never_accepted(grounded: list[tuple[Episode, Grounding]]) -> None:
    rng, looked_at = random.Random(4), 0
    for _, grounding in grounded[:4]:
        all_of_them = [a for bindings in essential(grounding.symbols) for a in bindings.actions(grounding.symbols)]
        left_out = [action for action in all_of_them if grounding.number(action) is None]
        batch = Batch([grounding], 1)
        for _ in range(40):
            batch.step([int(rng.choice(np.flatnonzero(batch.applicable()[0]).tolist()))])
            state = batch.state(0)
            for action in rng.sample(left_out, min(40, len(left_out))):
                assert isinstance(step(grounding.world, state, action), Refusal), str(action)
                looked_at += 1
    assert looked_at > 1_000


def test_contracts_on_arrays(grounded: list[tuple[Episode, Grounding]]) -> None:
    """The truth of every condition is the same on arrays: along the reference, and with each condition spoiled."""
    kinds = set()
    for episode, grounding in grounded:
        states, actions = list(reference_states(episode)), with_hands(episode)
        for task in episode.tasks:
            contract = Contract.of(task)
            goal = Goal(contract, grounding)
            first, last = episode.groups[task.first_group].first, episode.groups[task.last_group].last
            kinds |= {type(condition) for condition in contract.conditions}
            happened, events = goal.start(2), []
            for index in range(first, last + 1):
                rows = np.stack([grounding.encode(states[index + 1])] * 2)
                number = grounding.number(actions[index])
                assert number is not None
                goal.note(happened, np.array([number, number]), np.array([-1, 0]))
                events.append(Event.of(actions[index]))
                done, refused = goal.each(rows, happened)
                assert [TRUTHS[code] for code in done] == list(contract.each(states[index + 1], events))
                assert [TRUTHS[code] for code in refused] == list(contract.each(states[index + 1], []))
            assert TRUTHS[goal.holds(rows, happened)[0]].value == "true"
            span = Span(episode.world, states[first : last + 2], actions[first : last + 1])
            for condition in contract.conditions:
                for how in ("false", "unknown"):
                    state, _ = spoiled(condition, span.states[-1], span.events, how)
                    try:
                        row = grounding.encode(state)
                    except DeclarationError:  # spoiled with a fact that no action could make
                        continue
                    assert [TRUTHS[c] for c in goal.each(row[None])[0]] == list(contract.each(state, []))
    assert FactCondition in kinds


def test_conditions_of_every_type() -> None:
    world, start = make_world(
        {"mug_1": "cup", "mug_2": "cup", "table_1": "table", "shelf_1": "shelf"},
        {"table_1": "zone_1", "shelf_1": "zone_1"},
        {("place", "mug_1"): ("on", "table_1"), ("place", "mug_2"): ("held", "left_hand")},
    )
    grounding = ground_actions(world, start, [Action.of("hold", {"object": "mug_1", "hand": "right_hand"})])
    fact = FactCondition("place", "mug_1", ["in", "table_1"])
    many = CountCondition(["mug_1", "mug_2"], "place", ["on", "table_1"], 2)
    event = EventCondition("hold", "mug_1")
    clean = FactCondition("written", "mug_1", True)
    either = AnyCondition([clean, event])
    contract = Contract("event", (fact, many, event, clean, either))
    goal, happened = Goal(contract, grounding), None
    rows = grounding.initial[None]
    assert [TRUTHS[c].value for c in goal.each(rows, happened)[0]] == ["true", "false", "false", "unknown", "unknown"]
    number = grounding.number(Action.of("hold", {"object": "mug_1", "hand": "right_hand"}))
    assert number is not None
    happened = goal.start(1)
    goal.note(happened, np.array([number]), np.array([-1]))
    assert [TRUTHS[c].value for c in goal.each(rows, happened)[0]] == ["true", "false", "true", "unknown", "true"]


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_cloning_and_resetting(grounded: list[tuple[Episode, Grounding]], data: st.DataObject) -> None:
    _, grounding = data.draw(st.sampled_from(grounded))
    batch = Batch([grounding], 4)
    clone = batch.states.copy()
    numbers = st.integers(0, grounding.actions - 1)
    moves = data.draw(st.lists(st.tuples(numbers, numbers, numbers, numbers), min_size=1, max_size=20))
    first = [batch.step(move).tolist() for move in moves]
    end = batch.states.copy()
    batch.states[:] = clone
    assert [batch.step(move).tolist() for move in moves] == first
    assert (batch.states == end).all()
    batch.reset(np.array([True, False, True, False]))
    assert (batch.states[[0, 2]] == grounding.initial).all()
    assert (batch.states[[1, 3]] == end[[1, 3]]).all()
    batch.reset()
    assert (batch.states == grounding.initial).all()


def test_bad_input_is_named(grounded: list[tuple[Episode, Grounding]]) -> None:
    _, grounding = grounded[0]
    batch = Batch([grounding], 2)
    with pytest.raises(UsageError, match=r"world 1: no action -1; its episode has 0 to"):
        batch.step([0, -1])
    with pytest.raises(UsageError, match="needed one a world"):
        batch.step([0])
    with pytest.raises(UsageError, match="no kernel 'cuda'"):
        Batch([grounding], 2, "cuda")
    with pytest.raises(DeclarationError, match="no column for this fact"):
        grounding.encode(State.of({("written", "left_hand"): True}))
    with pytest.raises(DeclarationError, match="cannot be grounded"):
        ground_actions(grounding.world, grounding.decode(grounding.initial), [Action.of("fly", {})])


def test_grounding_is_the_same_in_any_process(grounded: list[tuple[Episode, Grounding]]) -> None:
    episode, grounding = grounded[0]
    again = ground(episode)
    assert again.columns == grounding.columns
    assert all(np.array_equal(a, b) for a, b in zip(again.tables, grounding.tables, strict=True))
