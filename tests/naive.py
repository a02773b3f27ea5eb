"""A second implementation of the transition law: the slow, obvious reading of the declarations, to compare with.

It knows nothing of grounding, closures or indices: every need and effect is interpreted anew from the declaration, on a
plain dictionary of facts, and hands are found by searching all places.
"""

from __future__ import annotations

import random
from typing import Any

from ego2world.ontology.kinds import KINDS, Trait
from ego2world.world.actions import ACTIONS, ActionType
from ego2world.world.refusal import Refusal
from ego2world.world.state import AGENT, BOTH, LEFT, RIGHT, Action, State, World
from ego2world.world.step import ground_action, step, with_hand

Facts = dict[tuple[str, ...], Any]


def held_by(facts: Facts, hand: str) -> set[str]:
    hands = {LEFT, RIGHT, BOTH} if hand == BOTH else {hand, BOTH}
    return {k[1] for k, v in facts.items() if k[0] == "place" and v[0] == "held" and v[1] in hands}


def around(facts: Facts, thing: str) -> list[tuple[str, str]]:
    out: list[tuple[str, str]] = []
    while ("place", thing) in facts and len(out) < 20:
        how, thing = facts[("place", thing)]
        out.append((how, thing))
    return out


def has(world: World, thing: str, trait: Trait) -> bool:
    return trait in KINDS[world.entities[thing].type]


def reachable(world: World, facts: Facts, thing: str) -> bool:
    if has(world, thing, Trait.SUBSTANCE) or world.entities[thing].type in {"hand", "face"}:
        return True
    if thing in world.zone_of:
        return world.zone_of[thing] == facts[("at", AGENT)]
    for how, where in around(facts, thing):
        if how == "held" or where in (LEFT, RIGHT, BOTH):
            return True
        if how == "in" and has(world, where, Trait.OPENABLE) and facts.get(("openness", where)) != "open":
            return False
        if where in world.zone_of:
            return world.zone_of[where] == facts[("at", AGENT)]
    return False


def need_holds(world: World, facts: Facts, need: Any, thing: str, action: Action) -> bool:
    name = type(need).__name__
    if name == "Reach":
        return reachable(world, facts, thing)
    if name == "Held":
        if world.entities[thing].type == "hand":
            return True
        chain = around(facts, thing)
        if not chain:
            return False
        how, where = chain[0]
        if how == "held" or world.entities[where].type == "hand":
            return True
        return has(world, where, Trait.TOOL) and facts.get(("place", where), ("",))[0] == "held"
    if name == "Is":
        if need.fluent == "openness" and not has(world, thing, Trait.OPENABLE):
            return True
        found = facts.get((need.fluent, thing))
        return need.may_be_unknown if found is None else found in need.values
    if name == "HandFree":
        return not held_by(facts, thing) - set(action.ids("object"))
    if name == "HandSpace":
        return len(held_by(facts, thing) | set(action.ids("object"))) <= 3
    if name == "HandRoom":
        own = {k[1] for k, v in facts.items() if k[0] == "place" and tuple(v) == ("held", thing)}
        return bool(own) and len(own | set(action.ids("object"))) <= 3
    if name == "Apart":
        return all(
            thing != other and thing not in [w for _, w in around(facts, other)] for other in action.ids(need.other)
        )
    if name == "Holds":
        return all(
            facts.get(("contains", thing, c)) is True or (around(facts, c)[:1] and around(facts, c)[0][1] == thing)
            for c in action.ids(need.content)
        )
    if name == "Within":
        return all(inside in [w for _, w in around(facts, thing)] for inside in action.ids(need.inside))
    if name == "NotAt":
        return facts[("at", AGENT)] != thing
    raise AssertionError(name)


def naive_step(world: World, facts: Facts, kind: ActionType, action: Action) -> Facts | None:
    """Return the successor facts, or None when the action is not applicable."""
    for need in kind.preconditions:
        for thing in action.ids(need.role):
            if not need_holds(world, facts, need, thing, action):
                return None
    new = dict(facts)
    for effect in kind.effects:
        name = type(effect).__name__
        if name == "PourAll":
            for target in action.ids("target"):
                for source in action.ids(effect.source):
                    new |= {
                        ("contains", target, k[2]): True
                        for k, v in facts.items()
                        if k[:2] == ("contains", source) and v
                    }
        if name == "EmptyOut":
            for vessel in action.ids(effect.role):
                new |= {k: False for k, v in facts.items() if k[:2] == ("contains", vessel) and v}
    for effect in kind.effects:
        for thing in action.ids(effect.role):
            match type(effect).__name__:
                case "Assign":
                    new[(effect.fluent, thing)] = effect.value
                case "Move":
                    for where in action.ids(effect.to)[:1]:
                        new[("place", thing)] = (effect.how, where)
                case "Attach":
                    new[("attached", thing)] = "no" if effect.to is None else action.ids(effect.to)[0]
                case "SetContent":
                    for what in action.ids(effect.content):
                        new[("contains", thing, what)] = effect.value
                case "Travel":
                    new[("at", AGENT)] = thing
    return new


def bindings(world: World, kind: ActionType, rng: random.Random, most: int) -> list[Action]:
    """Return ground actions of a type over declared roles: all of them, or a sample when there are more than
    ``most``."""
    roles: list[tuple[str, list[str]]] = []
    for var in kind.roles[: kind.declared]:
        fitting = sorted(i for i, e in world.entities.items() if e.type in var.accepts and i != "body")
        if not fitting and not var.optional and var.role != "hand":
            return []
        roles.append((var.role, ([""] if var.optional or var.role == "hand" else []) + fitting))
    total = 1
    for _, options in roles:
        total *= max(1, len(options))
    picks: list[dict[str, str]] = []
    if total <= most:
        picks = [{}]
        for role, options in roles:
            picks = [{**p, role: o} for p in picks for o in options]
    else:
        picks = [{role: rng.choice(options) for role, options in roles} for _ in range(most)]
    return [Action.of(kind.name, {r: v for r, v in p.items() if v}) for p in picks]


def differences(world: World, start: State, states: int, seed: int, most: int = 12) -> tuple[int, list[str]]:
    """Walk at random through states and compare both implementations on ground actions of every type in each.

    Returns:
        How many were compared, and every difference in applicability or successor facts.
    """
    rng = random.Random(seed)
    state, found, checked = start, [], 0
    for _ in range(states):
        before = state.digest()
        successors = []
        for kind in ACTIONS:
            for proposed in bindings(world, kind, rng, most):
                action = with_hand(state, proposed)
                if isinstance(ground_action(world, action), Refusal):
                    continue
                checked += 1
                fast = step(world, state, action)
                slow = naive_step(world, dict(state.facts), kind, action)
                if isinstance(fast, Refusal) != (slow is None):
                    found.append(f"applicability of {action}: executor {fast}, declarations {slow is not None}")
                elif isinstance(fast, State) and dict(fast.facts) != slow:
                    found.append(f"successor of {action}: {dict(fast.facts).items() ^ (slow or {}).items()}")
                if isinstance(fast, State):
                    successors.append(fast)
        if state.digest() != before:
            found.append("a state was changed in place")
        state = rng.choice(successors)
    return checked, found
