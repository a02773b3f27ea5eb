"""Repair plans: primitives that would make a refused action valid. Stage: world, executor."""

from __future__ import annotations

from ego2world.ontology.kinds import Trait, has
from ego2world.world.actions import BY_NAME, choose
from ego2world.world.codes import Code
from ego2world.world.fluents import Value
from ego2world.world.refusal import FailedCheck, Refusal
from ego2world.world.state import BOTH, LEFT, RIGHT, Action, State, World, carriers, root_fixture
from ego2world.world.step import step

MAX_STEPS = 8
SWITCHES: dict[tuple[str, Value], str] = {  # which family of actions gives a fluent its value
    ("openness", "open"): "open",
    ("openness", "closed"): "close",
    ("power", "on"): "turn_on",
    ("power", "off"): "turn_off",
}


def repair_plan(world: World, state: State, refusal: Refusal) -> tuple[Action, ...] | None:
    """Return primitives after which the refused action is accepted, or None when none are found.

    The plan is found by mending failed checks one after the other and is verified by executing it.
    """
    action = refusal.action
    plan: list[Action] = []
    current: Refusal | State = refusal
    now = state
    for _ in range(MAX_STEPS):
        if isinstance(current, State):
            return tuple(plan) or None
        move = next((m for f in current.failures if (m := _mend(world, now, f, action)) is not None), None)
        if move is None:
            return None
        after = step(world, now, move)
        if isinstance(after, Refusal):
            inner = next((m for f in after.failures if (m := _mend(world, now, f, move)) is not None), None)
            if inner is None:
                return None
            first = step(world, now, inner)
            if isinstance(first, Refusal):
                return None
            plan.append(inner)
            now = first
            current = step(world, now, action)
            continue
        plan.append(move)
        now = after
        current = step(world, now, action)
    return tuple(plan) if isinstance(current, State) else None


def _mend(world: World, state: State, failure: FailedCheck, action: Action) -> Action | None:
    thing = failure.entity
    if failure.code is Code.ELSEWHERE:
        fixture = root_fixture(world, state, thing)
        return Action.of("navigate", {"target": world.zone_of[fixture]}) if fixture is not None else None
    if failure.code is Code.CLOSED_AROUND:
        for carrier in carriers(state.facts, thing):
            if carrier in world.openable and state.facts.get(("openness", carrier)) == "closed":
                return _switch(world, "open", carrier)
        return None
    if failure.code is Code.WRONG_VALUE and failure.fact is not None and len(failure.wanted) == 1:
        family = SWITCHES.get((failure.fact[0], failure.wanted[0]))
        return _switch(world, family, thing) if family else None
    if failure.code is Code.NOT_HELD and has(world.entities[thing].type, Trait.PORTABLE):
        busy = {hand for hand, _ in state.held}
        hand = next((h for h in (RIGHT, LEFT) if h not in busy and BOTH not in busy), None)
        return Action.of("pick_up", {"object": thing, "hand": hand}) if hand else _put_down(world, state, action)
    if failure.code is Code.HAND_FULL:
        return _put_down(world, state, action)
    return None


def _switch(world: World, family: str, thing: str) -> Action | None:
    kind = choose(family, {"object": world.entities[thing].type})
    return Action.of(kind.name, {"object": thing}) if kind is not None else None


def _put_down(world: World, state: State, action: Action) -> Action | None:
    """Put down something held that the action does not use, on a worktop of this zone."""
    used = (
        {thing for role in BY_NAME[action.name].roles for thing in action.ids(role.role)}
        if action.name in BY_NAME
        else set()
    )
    for _, thing in state.held:
        if thing in used:
            continue
        for fixture in sorted(world.zone_of):
            if world.zone_of[fixture] == state.zone and has(world.entities[fixture].type, Trait.SURFACE):
                kind = choose("put", {"object": world.entities[thing].type, "target": world.entities[fixture].type})
                if kind is not None:
                    return Action.of(kind.name, {"object": thing, "target": fixture})
    return None
