"""The audit of a collection: does the evaluator itself stand? Replays, contracts, negatives, stress, nameability."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ego2world.tasks.contract import Contract
from ego2world.tasks.stress import (
    Span,
    has_witness,
    independent_pairs,
    invalid_leaves_untouched,
    misbound,
    replays,
    spoiled,
    swap_agrees,
)
from ego2world.tasks.truth import Trust, agreement, least_trusted, trust_of
from ego2world.world.actions import BY_NAME
from ego2world.world.conditions import subjects_in
from ego2world.world.episode import Episode, load_episode, load_manifest
from ego2world.world.explain import explain
from ego2world.world.fluents import Truth
from ego2world.world.refusal import Refusal
from ego2world.world.state import State
from ego2world.world.step import step

Progress = Callable[[str, int, int], None]
_MUST_PASS = ("replay", "witness", "repeated_replay", "invalid_immutable")
_MUST_FAIL = ("initial", "partial", "wrong_binding", "missing_state")


def audit(worlds: Path, progress: Progress | None = None) -> dict[str, Any]:
    """Audit every episode and task of a collection.

    Returns:
        verdict ("pass" or "fail"), counts, and every failure by name. ``stress`` counts tasks per check: the cases
        initial, partial, wrong_binding and missing_state count as rejected when their contract is not true. ``truth``
        says how far the worlds may be trusted (see ``tasks.truth``); it does not decide the verdict.
    """
    manifest = load_manifest(worlds)
    result: dict[str, Any] = {
        "episodes": len(manifest["episodes"]),
        "contracts": 0,
        "reference_pass": 0,
        "initial_pass": 0,
        "negative_suites": 0,
        "negative_rejected": 0,
        "operations": 0,
        "operations_accepted": 0,
        "action_types": 0,
        "stress": {name: 0 for name in (*_MUST_PASS, *_MUST_FAIL)} | {"swaps_possible": 0, "swaps_agree": 0},
        "failures": [],
    }
    types: set[str] = set()
    trust = Trust()
    for number, episode_id in enumerate(manifest["episodes"], 1):
        episode = load_episode(worlds, episode_id)
        states = _replay(episode, result)
        types |= {action.name for action in episode.actions}
        _nameable(episode, result)
        if len(states) == len(episode.actions) + 1:
            trust.add(trust_of(episode, states))
            for task in episode.tasks:
                _audit_task(episode, task, states, result)
        if progress:
            progress(episode_id, number, len(manifest["episodes"]))
    changing = {name for name in types if BY_NAME[name].effects}
    result["action_types"] = len(types)
    result["action_types_event_only"] = len(types) - len(changing)
    stress, tasks = result["stress"], result["contracts"]
    whole = (
        not result["failures"]
        and result["reference_pass"] == tasks
        and result["initial_pass"] == 0
        and result["negative_rejected"] == result["negative_suites"]
        and all(stress[name] == tasks for name in (*_MUST_PASS, *_MUST_FAIL))
        and stress["swaps_agree"] == stress["swaps_possible"]
    )
    hidden = agreement(manifest["truth"])
    result["truth"] = {
        **trust.share(),
        **{f"{kind.removesuffix('s')}_agreement": row["share"] for kind, row in hidden.items()},
        "hidden": hidden,
        "least_trusted": least_trusted(manifest),
    }
    result["verdict"] = "pass" if whole else "fail"
    return result


def _replay(episode: Episode, result: dict[str, Any]) -> list[State]:
    states = [episode.initial]
    result["operations"] += len(episode.actions)
    for index, action in enumerate(episode.actions):
        after = step(episode.world, states[-1], action)
        if isinstance(after, Refusal):
            result["failures"].append(f"{episode.id} {episode.operations[index]['id']}: {explain(after)}")
            break
        result["operations_accepted"] += 1
        states.append(after)
    return states


def _nameable(episode: Episode, result: dict[str, Any]) -> None:
    """Check that agents can name every action type of the reference and every thing in a contract."""
    names = [e.name.lower() for e in episode.world.entities.values()]
    for action in episode.actions:
        if action.name not in BY_NAME:
            result["failures"].append(f"{episode.id}: no agent can name action type {action.name}")
    for task in episode.tasks:
        for entity in subjects_in(task.conditions):
            known = episode.world.entities.get(entity)
            if known is None or names.count(known.name.lower()) != 1:
                result["failures"].append(f"{episode.id}/{task.id}: no agent can name {entity}")


def _audit_task(episode: Episode, task: Any, states: list[State], result: dict[str, Any]) -> None:
    first, last = episode.groups[task.first_group].first, episode.groups[task.last_group].last
    span = Span(episode.world, states[first : last + 2], episode.actions[first : last + 1])
    contract = Contract.of(task)
    label = f"{episode.id}/{task.id}"
    end, events = span.states[-1], span.events
    result["contracts"] += 1
    if contract.digest() != task.contract_sha256:
        result["failures"].append(f"{label}: the contract is not the frozen one")
    result["reference_pass"] += contract.holds(end, events) is Truth.TRUE
    at_start = contract.holds(span.states[0], ()) is Truth.TRUE
    result["initial_pass"] += at_start
    for condition in contract.conditions:
        result["negative_suites"] += 1
        state, kept = spoiled(condition, end, events, "false")
        if contract.holds(state, kept) is not Truth.TRUE:
            result["negative_rejected"] += 1
        else:
            result["failures"].append(f"{label}: still true with {condition} spoiled")
    stress = result["stress"]
    replayed = replays(span)
    stress["replay"] += replayed
    stress["witness"] += all(has_witness(contract, i, span) for i in range(len(contract.conditions)))
    stress["repeated_replay"] += replayed and replays(span)
    stress["invalid_immutable"] += invalid_leaves_untouched(span)
    stress["initial"] += not at_start
    stress["partial"] += _partial_fails(contract, span)
    stress["wrong_binding"] += all(
        contract.holds(*misbound(c, span.world, end, events)) is not Truth.TRUE for c in contract.conditions
    )
    stress["missing_state"] += all(
        contract.holds(*spoiled(c, end, events, "unknown")) is not Truth.TRUE for c in contract.conditions
    )
    for i in independent_pairs(span):
        agrees = swap_agrees(span, i)
        if agrees is not None:
            stress["swaps_possible"] += 1
            stress["swaps_agree"] += agrees


def _partial_fails(contract: Contract, span: Span) -> bool:
    """Say whether the run cut just before the last condition became true fails."""
    for cut in range(len(span.actions), -1, -1):
        if contract.holds(span.states[cut], span.events[:cut]) is not Truth.TRUE:
            return True
    return False
