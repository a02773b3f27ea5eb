"""The same kind of step by others, and by the barest loop there can be. Each is None where it is not installed.

A benchmark for the developers of this package: it is left out of the wheel.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ego2world.errors import UsageError
from ego2world.planning.export import task_reference
from ego2world.world.episode import load_episode, load_manifest, reference_states
from ego2world.world.grounded import Grounding
from ego2world.world.grounded.tables import PLACE, SET

SHORTEST, LONGEST = 3, 12  # operations of the task that unified-planning replays


def upf_rate(worlds: Path, seconds: float) -> float | None:
    """Return applied steps per CPU-second of unified-planning's SequentialSimulator, replaying a task's reference as
    exported."""
    try:
        import unified_planning.shortcuts as up  # an optional dependency's single entry

        from ego2world.planning.solve import to_unified_planning
    except (ImportError, UsageError):
        return None
    up.get_environment().credits_stream = None
    for name in load_manifest(worlds)["episodes"]:
        episode = load_episode(worlds, name)
        states = list(reference_states(episode))
        for task in episode.tasks:
            first, last = episode.groups[task.first_group].first, episode.groups[task.last_group].last
            if SHORTEST <= last - first + 1 <= LONGEST:
                problem, plan = task_reference(episode, task, states[first])
                given = to_unified_planning(problem)
                steps = []
                for line in plan.splitlines():
                    action, *arguments = line.strip("()").split()
                    steps.append((given.action(action), tuple(up.ObjectExp(given.object(a)) for a in arguments)))
                with up.SequentialSimulator(problem=given) as simulator:
                    return _replays(simulator, steps, seconds)
    return None


def _replays(simulator: Any, steps: list[Any], seconds: float) -> float:
    done, start = 0, time.process_time()
    while True:
        state = simulator.get_initial_state()
        for action, arguments in steps:
            state = simulator.apply(state, action, arguments)
            assert state is not None
        done += len(steps)
        spent = time.process_time() - start
        if spent >= seconds:
            return done / spent


def textworld_rate(seconds: float) -> float | None:
    """Return steps per CPU-second of TextWorld's symbolic engine, walking at random through a game of its own with 60
    objects."""
    try:
        import textworld  # an optional dependency's single entry
        from textworld.generator import GameOptions, make_game
    except ImportError:
        return None
    options = GameOptions()
    options.nb_rooms, options.nb_objects, options.seeds = 6, 60, 1
    rng, game = np.random.default_rng(0), make_game(options)
    state = game.world.state.copy()
    done, start = 0, time.process_time()
    rules = list(game.kb.rules.values())
    while True:
        actions = list(state.all_applicable_actions(rules))
        state.apply(actions[int(rng.integers(len(actions)))])
        done += 1
        spent = time.process_time() - start
        if spent >= seconds:
            assert textworld is not None
            return done / spent


def pddlgym_rate(seconds: float) -> float | None:
    """Return steps per CPU-second of PDDLGym, walking at random through its bundled depot problem."""
    try:
        import pddlgym  # an optional dependency's single entry
    except ImportError:
        return None
    env = pddlgym.make("PDDLEnvDepot-v0")
    env.fix_problem_index(0)
    observation, _ = env.reset()
    done, start = 0, time.process_time()
    while True:
        observation, *_ = env.step(env.action_space.sample(observation))
        done += 1
        spent = time.process_time() - start
        if spent >= seconds:
            return done / spent


def bitset_rate(grounding: Grounding, walk: list[NDArray[np.int32]], worlds: int, seconds: float) -> float:
    """Return steps per CPU-second of a bare stepper on bits: a bit per fact and value, sparse masks, and nothing else.

    It tests a word for each test of the action and sets and clears the bits of its assignments; it cannot walk from
    carrier to carrier, count hands, or say what failed. It shows how much of what the machine can do is left. Every
    test passes.
    """
    bits = _first_bits(grounding)
    columns = np.diff(bits)
    tests, test_start = _words(grounding, bits)
    effects, effect_start = _flips(grounding, bits, columns)
    state = np.zeros((worlds, bits[-1] // 64 + 1), np.uint64)
    law = _law()
    law(state, walk[0], tests, test_start, effects, effect_start)
    done, start = 0, time.process_time()
    while True:
        for actions in walk:
            law(state, actions, tests, test_start, effects, effect_start)
        done += worlds * len(walk)
        spent = time.process_time() - start
        if spent >= seconds:
            return done / spent


def _first_bits(grounding: Grounding) -> NDArray[np.int64]:
    """Return where the bits of each column start: one bit for each value it has at the start or is ever given."""
    t = grounding.tables
    values: list[set[int]] = [{int(code)} for code in grounding.initial[: len(grounding.columns)]]
    for operation, a, b in t.effects.tolist():
        if operation == SET:
            values[a].add(b)
        elif operation == PLACE:
            values[t.place[a]].add(b)
    return np.concatenate([[0], np.cumsum([len(v) for v in values])]).astype(np.int64)


def _words(grounding: Grounding, bits: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """Return the words that the tests read and what must be found there: (word, mask, bits), with masks that every
    word passes."""
    t = grounding.tables
    out = np.zeros((len(t.tests), 3), np.uint64)
    out[:, 0] = bits[np.clip(t.tests[:, 1], 0, len(grounding.columns) - 1)] // 64
    return out, t.test_start


def _flips(
    grounding: Grounding, bits: NDArray[np.int64], columns: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """Return the words that each assignment clears and sets: (word, to clear, to set)."""
    t = grounding.tables
    rows, start = [], [0]
    for action in range(grounding.actions):
        for operation, a, _ in t.effects[t.effect_start[action] : t.effect_start[action + 1]].tolist():
            column = t.place[a] if operation == PLACE else a
            if operation in (SET, PLACE):
                first, last = int(bits[column]), int(bits[column] + columns[column]) - 1
                for word in range(first // 64, last // 64 + 1):
                    low, high = max(first, 64 * word) - 64 * word, min(last, 64 * word + 63) - 64 * word
                    clear = ((1 << (high - low + 1)) - 1) << low
                    rows.append((word, clear, 1 << low if word == first // 64 else 0))
        start.append(len(rows))
    return np.array(rows, np.uint64).reshape(-1, 3), np.array(start, np.int32)


def _law() -> Callable[..., None]:
    try:
        from numba import njit  # an optional dependency's single entry
    except ImportError:
        return _step_numpy
    compiled: Callable[..., None] = njit(_step_bits)
    return compiled


def _step_bits(state, actions, tests, test_start, effects, effect_start):  # type: ignore[no-untyped-def]
    for w in range(len(actions)):
        action = actions[w]
        ok = True
        for i in range(test_start[action], test_start[action + 1]):
            if state[w, tests[i, 0]] & tests[i, 1] != tests[i, 2]:
                ok = False
                break
        if ok:
            for i in range(effect_start[action], effect_start[action + 1]):
                word = effects[i, 0]
                state[w, word] = (state[w, word] & ~effects[i, 1]) | effects[i, 2]


def _step_numpy(
    state: NDArray[np.uint64],
    actions: NDArray[np.int32],
    tests: NDArray[np.uint64],
    test_start: NDArray[np.int32],
    effects: NDArray[np.uint64],
    effect_start: NDArray[np.int32],
) -> None:
    del tests, test_start
    start, count = effect_start[actions], np.diff(effect_start)[actions]
    for k in range(int(count.max(initial=0))):
        world = np.flatnonzero(k < count)
        word, clear, to_set = effects[start[world] + k].T
        column = word.astype(np.int64)
        state[world, column] = (state[world, column] & ~clear) | to_set


PEERS: dict[str, Callable[[Path, Grounding, list[NDArray[np.int32]], float], float | None]] = {
    "bitset_steps_per_cpu_s": lambda worlds, grounding, walk, seconds: bitset_rate(
        grounding, walk, walk[0].size, seconds
    ),
    "upf_steps_per_cpu_s": lambda worlds, grounding, walk, seconds: upf_rate(worlds, seconds),
    "textworld_steps_per_cpu_s": lambda worlds, grounding, walk, seconds: textworld_rate(seconds),
    "pddlgym_steps_per_cpu_s": lambda worlds, grounding, walk, seconds: pddlgym_rate(seconds),
}
