"""How far a collection may be trusted: what its hands hold, how easy its goals are, and what it predicts. Stage: audit.

The shares of held things and of goals one action away are read from the worlds themselves; the agreements are those
that the compiler measured on evidence it was not shown (``compiler.truth``) and wrote into the manifest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from scipy.stats import binomtest

from ego2world.tasks.contract import TERMINAL, truth
from ego2world.world.actions import ACTIONS, ActionType, Parameter
from ego2world.world.actions.base import Assign, Attach, Move, SetContent
from ego2world.world.conditions import FactCondition
from ego2world.world.episode import Episode
from ego2world.world.fluents import FactKey, Truth, Value
from ego2world.world.refusal import Refusal
from ego2world.world.state import HANDS, Action, State, World, vessels
from ego2world.world.step import step

IDLE_S = 20.0
MANY = 3
_MOST_TRIES = 60  # bindings of one action type that are tried for one condition


@dataclass
class Trust:
    """Counts over the states and goals of one or more episodes."""

    states: int = 0
    crowded: int = 0  # states in which MANY things or more are held
    holds: int = 0
    idle: int = 0  # holds of a thing that nothing was done with for IDLE_S
    conditions: int = 0
    near: int = 0  # goal conditions that hold at the start or after one applicable action

    def share(self) -> dict[str, float | None]:
        """Return the shares, None where there is nothing to count."""
        return {
            "held_3_share": _share(self.crowded, self.states),
            "idle_hold_share": _share(self.idle, self.holds),
            "one_action_share": _share(self.near, self.conditions),
        }

    def add(self, other: Trust) -> None:
        """Add another's counts."""
        for name in vars(other):
            setattr(self, name, getattr(self, name) + getattr(other, name))


def trust_of(episode: Episode, states: Sequence[State]) -> Trust:
    """Count one episode; ``states`` is the replay, one more than there are operations."""
    found = Trust()
    used_s: dict[str, float] = {}
    for operation, action, state in zip(episode.operations, episode.actions, states[1:], strict=False):
        now_s = operation["span_s"][0]
        used_s.update(dict.fromkeys(action.things, now_s))
        held = {thing for _, thing in state.held}
        found.states += 1
        found.crowded += len(held) >= MANY
        found.holds += len(held)
        found.idle += sum(now_s - used_s.get(thing, now_s) > IDLE_S for thing in held)
    for task in episode.tasks:
        if task.tier != TERMINAL:
            continue
        start = states[episode.groups[task.first_group].first]
        for condition in task.conditions:
            if isinstance(condition, FactCondition):
                found.conditions += 1
                found.near += _near(episode.world, start, condition)
    return found


def agreement(counts: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, float | int | None]]:
    """Return the agreement with hidden evidence by kind, with Wilson intervals at 95 %."""
    result: dict[str, dict[str, float | int | None]] = {}
    for kind, row in counts.items():
        low = high = None
        if row["of"]:
            interval = binomtest(row["agree"], row["of"]).proportion_ci(method="wilson")
            low, high = round(float(interval.low), 4), round(float(interval.high), 4)
        result[kind] = {**row, "share": _share(row["agree"], row["of"]), "low": low, "high": high}
    return result


def least_trusted(manifest: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Return the episodes by their agreement with hidden evidence of all kinds, the least trusted first; those with
    too little evidence (under 10 comparisons) are left out."""
    ranked = []
    for episode, row in manifest["episodes"].items():
        agree, of = (sum(kind[key] for kind in row["truth"].values()) for key in ("agree", "of"))
        if of >= 10:
            ranked.append((agree / of, episode))
    return [(episode, round(share, 4)) for share, episode in sorted(ranked)]


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


# --- one action away -----------------------------------------------------------------------------------------------


def _near(world: World, state: State, condition: FactCondition) -> bool:
    """Say whether a condition holds, or one applicable action makes it true."""
    if truth(condition, state) is Truth.TRUE:
        return True
    return any(_reaches(world, state, action, condition) for action in _makers(world, state, condition))


def _reaches(world: World, state: State, action: Action, condition: FactCondition) -> bool:
    after = step(world, state, action)
    return not isinstance(after, Refusal) and truth(condition, after) is Truth.TRUE


def _makers(world: World, state: State, condition: FactCondition) -> Iterator[Action]:
    """Yield actions that have the condition's fact among their effects."""
    key, value = condition.fact
    for kind in ACTIONS:
        for fixed in _bindings(kind, key, value):
            free = [var for var in kind.roles if var.role not in fixed and not var.optional and var.role != "hand"]
            choices = [_candidates(world, state, var, key) for var in free]
            for number, chosen in enumerate(product(*choices)):
                if number >= _MOST_TRIES:
                    break
                roles = {**fixed, **{var.role: thing for var, thing in zip(free, chosen, strict=True)}}
                if kind.parameter("hand") is not None and "hand" not in roles:
                    yield Action.of(kind.name, {**roles, "hand": HANDS[0]})
                yield Action.of(kind.name, roles)


def _bindings(kind: ActionType, key: FactKey, value: Value) -> Iterator[dict[str, str]]:
    """Yield the roles that an effect on a fact fixes."""
    for effect in kind.effects:
        match effect:
            case Assign() if effect.fluent == key[0] and effect.value == value:
                yield {effect.role: key[1]}
            case Move() if isinstance(value, tuple) and (effect.how == "held") == (value[0] == "held"):
                yield {effect.role: key[1], effect.to: value[1]}
            case SetContent() if key[0] == "contains" and effect.value == value:
                yield {effect.role: key[1], effect.content: key[2]}
            case Attach() if key[0] == "attached" and (value == "no") == (effect.to is None):
                yield {effect.role: key[1]} if effect.to is None else {effect.role: key[1], effect.to: str(value)}
            case _:
                pass


def _candidates(world: World, state: State, var: Parameter, key: FactKey) -> list[str]:
    """Return what a free role may be bound to: vessels of the substance first, then what is held, then the rest."""
    fits = [e for e in sorted(world.entities) if world.entities[e].type in var.accepts]
    first = set(vessels(state.facts, key[-1])) | {thing for _, thing in state.held}
    return sorted(fits, key=lambda e: (e not in first, e))
