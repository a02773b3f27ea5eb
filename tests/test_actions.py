"""One contract over every declared action type: it can be accepted and refused, and what it says and does fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import assert_never

import pytest

from conftest import SHARED, make_world, needs_data
from ego2world.annotations.cells import class_name
from ego2world.annotations.rows import read_classes
from ego2world.errors import DeclarationError
from ego2world.language.forms import form_sense
from ego2world.language.lexicon import lexicon
from ego2world.ontology.kinds import KINDS, Trait, has
from ego2world.world.actions import ACTIONS, ALIKE, BY_NAME, BY_SENSE, FAMILIES, ActionType, choose
from ego2world.world.actions.base import (
    Apart,
    Assign,
    Attach,
    Effect,
    EmptyOut,
    HandFree,
    HandRoom,
    HandSpace,
    Held,
    Holds,
    Is,
    Move,
    NotAt,
    Parameter,
    PourAll,
    Precondition,
    Reach,
    SetContent,
    Travel,
    Within,
)
from ego2world.world.codes import Code
from ego2world.world.fluents import DOMAINS, FactKey, Value
from ego2world.world.refusal import Refusal
from ego2world.world.state import Action, State, World
from ego2world.world.step import step, with_hand

DESIGN_FAMILIES = frozenset(
    "pick_up put_on put_in take_out move pass_hand open close turn_on turn_off adjust press pour add fill empty scoop"
    " sprinkle spread mix shake cut peel grate crush tear break separate wash rinse scrub wipe dry soak squeeze knead"
    " form fold wrap unwrap cover uncover attach detach flip turn tilt lift hold throw_away drop wear take_off weigh"
    " cook check eat drink navigate wait record other".split()
)


def setting(action: ActionType) -> tuple[World, State, Action]:
    """Build a world in which the action's needs hold, bound to one thing per declared, non-hand role."""
    kinds: dict[str, str] = {}
    roles: dict[str, str] = {}
    zones = {"counter_0": "zone_1", "far_counter": "zone_2"}
    facts: dict = {}
    taken: set[str] = set()
    for var in action.roles[: action.declared]:
        if var.role == "hand":
            continue
        options = sorted(var.accepts, key=lambda k: (k in taken, has(k, Trait.SUBSTANCE), k))
        kind = next(k for k in options if k not in {"hand", "agent"}) if var.accepts != {"hand"} else "hand"
        taken.add(kind)
        roles[var.role] = "left_hand" if kind == "hand" else "zone_2" if kind == "zone" else f"{kind}_{var.role}"
        if kind in {"hand", "zone"}:
            continue
        kinds[roles[var.role]] = kind
        if has(kind, Trait.FIXED):
            zones[roles[var.role]] = "zone_1"
        elif not has(kind, Trait.SUBSTANCE):
            facts[("place", roles[var.role])] = ("on", "counter_0")
    for need in action.preconditions:
        thing = roles.get(need.role, "")
        match type(need).__name__:
            case "Held" if thing and not has(kinds.get(thing, "hand"), Trait.BODY):
                facts[("place", thing)] = ("held", "left_hand" if need.role == "instrument" else "right_hand")
            case "Is":
                facts[(need.fluent, thing)] = need.values[0]
            case "Within":
                facts[("place", thing)] = ("in", roles[need.inside])
                if has(kinds[roles[need.inside]], Trait.OPENABLE):
                    facts[("openness", roles[need.inside])] = "open"
            case "Holds":
                facts[("contains", thing, roles[need.content])] = True
            case "HandRoom":
                kinds["spoon_extra"] = "spoon"
                facts[("place", "spoon_extra")] = ("held", "right_hand")
                roles["hand"] = "right_hand"
    if any(getattr(n, "role", "") == "hand" for n in action.preconditions) and "hand" not in roles:
        roles["hand"] = "left_hand"
    spares = dict.fromkeys(("spare_1", "spare_2", "spare_3"), "spoon")
    facts |= {("place", spare): ("on", "counter_0") for spare in spares}
    world, state = make_world({"counter_0": "counter", "far_counter": "counter", **spares, **kinds}, zones, facts)
    return world, state, Action.of(action.name, roles)


@pytest.mark.parametrize("action", ACTIONS, ids=lambda a: a.name)
def test_accepted_when_every_need_holds_and_then_every_effect_does(action: ActionType) -> None:
    world, state, proposed = setting(action)
    before = state.digest()
    after = step(world, state, proposed)
    assert isinstance(after, State), after
    assert state.digest() == before
    bound = with_hand(state, proposed)
    for effect in action.effects:
        for thing in bound.ids(effect.role):
            assert_made(effect, thing, bound, state, after)
    if not action.effects:
        assert after.facts == state.facts


def assert_made(effect: Effect, thing: str, action: Action, before: State, after: State) -> None:
    match effect:
        case Assign():
            assert after.get(effect.fluent, thing) == effect.value
        case Move():
            assert after.get("place", thing) == (effect.how, action.ids(effect.to)[0])
        case Attach():
            assert after.get("attached", thing) == ("no" if effect.to is None else action.ids(effect.to)[0])
        case SetContent():
            assert all(after.get("contains", thing, what) is effect.value for what in action.ids(effect.content))
        case PourAll():
            for source in action.ids(effect.source):
                assert {k[2] for k, v in before.facts.items() if k[:2] == ("contains", source) and v is True} <= {
                    k[2] for k, v in after.facts.items() if k[:2] == ("contains", thing) and v is True
                }
        case EmptyOut():
            assert not [k for k, v in after.facts.items() if k[:2] == ("contains", thing) and v is True]
        case Travel():
            assert after.zone == thing
        case _:
            assert_never(effect)


@pytest.mark.parametrize("action", ACTIONS, ids=lambda a: a.name)
def test_refused_for_each_need_that_is_broken(action: ActionType) -> None:
    world, state, proposed = setting(action)
    bound = with_hand(state, proposed)
    assert {need for need in action.preconditions for _ in bound.ids(need.role)} == set(action.preconditions), (
        "a need about nothing"
    )
    for need in action.preconditions:
        for thing in bound.ids(need.role):
            facts = broken(need, thing, bound, world, state)
            if facts is None:  # it cannot fail for what is bound: a hand, a substance, a thing that never closes
                continue
            spoiled = State.of(facts)
            digest = spoiled.digest()
            refused = step(world, spoiled, bound)
            assert isinstance(refused, Refusal), f"{need} of {thing} is not tested"
            assert need in [failure.need for failure in refused.failures], refused
            assert spoiled.digest() == digest


def broken(need: Precondition, thing: str, action: Action, world: World, state: State) -> dict[FactKey, Value] | None:
    """Return the state with one need broken, None where the bound thing cannot break it."""
    facts = dict(state.facts)
    kind = world.entities[thing].type
    place = ("place", thing)
    match need:
        case Reach():
            if has(kind, Trait.SUBSTANCE) or kind in {"hand", "face"}:
                return None
            if thing not in world.zone_of:
                facts[place] = ("on", "far_counter")
            else:
                facts["at", "agent"] = "zone_2"
        case Held():
            if kind == "hand":
                return None
            facts[place] = ("on", "counter_0")
        case Is():
            if need.fluent == "openness" and not has(kind, Trait.OPENABLE):
                return None
            others = [value for value in DOMAINS[need.fluent] if value not in need.values]
            if others:
                facts[need.fluent, thing] = others[0]
            elif need.may_be_unknown:
                return None
            else:
                del facts[need.fluent, thing]
        case HandFree():
            facts["place", "spare_1"] = ("held", thing)
        case HandSpace() | HandRoom():
            for spare in ("spare_1", "spare_2", "spare_3"):
                facts["place", spare] = ("held", thing)
        case Within():
            facts[place] = ("on", "far_counter")
        case Holds():
            facts["contains", thing, action.ids(need.content)[0]] = False
        case Apart():
            (other,) = action.ids(need.other)
            facts["place", other] = ("in", thing)
        case NotAt():
            facts["at", "agent"] = thing
        case _:
            assert_never(need)
    return facts


def test_what_is_not_there_is_refused_by_role() -> None:
    for action in ACTIONS:
        world, state, proposed = setting(action)
        roles = {role: "no_such_thing" for role, _ in proposed.roles} | {"nonsense": "x"}
        refused = step(world, state, Action.of(action.name, roles))
        assert isinstance(refused, Refusal)
        codes = {(failure.code, failure.role) for failure in refused.failures}
        assert codes == {(Code.UNKNOWN_OBJECT, r) for r, _ in proposed.roles} | {(Code.UNKNOWN_ROLE, "nonsense")}


def test_the_ontology_is_large_and_well_formed() -> None:
    assert len(ACTIONS) >= 155 and len(BY_NAME) == len(ACTIONS)
    assert set(FAMILIES) <= DESIGN_FAMILIES
    for action in ACTIONS:
        action.check()
        assert action.source and action.says
        named = {part.split("}")[0] for part in action.says.split("{")[1:]}
        assert named <= {v.role for v in action.roles}
    assert {fallback for values in ALIKE.values() for fallback in values} <= set(BY_SENSE) | set(FAMILIES)


def test_a_wrong_declaration_is_refused_by_name_and_rule() -> None:
    thing = Parameter("object", frozenset({"cup"}))
    with pytest.raises(DeclarationError) as caught:
        ActionType(
            "x", "open", "x {object}", (thing,), (Is("openness", "lid", ("open",)),), (), (), "test", True
        ).check()
    assert caught.value.name == "x" and "lid" in caught.value.rule
    with pytest.raises(DeclarationError, match="no such fluent or value"):
        ActionType("x", "open", "x", (thing,), (), (Assign("openness", "object", "ajar"),), (), "test").check()


def test_opening_depends_on_what_is_bound() -> None:
    types = {
        choose("open", {"object": k}).name for k in ("cupboard", "bottle", "tap", "packet", "bag", "drawer", "fridge")
    }  # type: ignore[union-attr]
    assert len(types) == 7


def test_every_lexicon_kind_is_declared() -> None:
    assert set(lexicon().kinds.values()) <= set(KINDS)


@needs_data
def test_every_official_verb_form_and_noun_class_is_covered() -> None:
    folder = SHARED / "hd-epic" / "narrations-and-action-segments"
    verbs = read_classes(folder / "HD_EPIC_verb_classes.csv", "v", [], [])
    nouns = read_classes(folder / "HD_EPIC_noun_classes.csv", "n", [], [])
    assert len(verbs) > 2_000
    for form in verbs:
        sense = form_sense(form, verbs)
        possible = [a for s in (sense, *ALIKE.get(sense, ()), "other") for a in BY_SENSE.get(s, ())]
        assert possible, form
    keys = set(nouns.values())
    assert len(keys) == 303
    missing = sorted(k for k in keys if lexicon().kind(class_name(k)) is None)
    assert missing == []


def test_golden_pages_are_current() -> None:
    import sys

    root = Path(__file__).parents[1]
    sys.path.insert(0, str(root / "tools"))
    try:
        from make_docs import PAGES
    finally:
        sys.path.pop(0)
    for name, make in PAGES.items():
        assert (root / "docs" / name).read_text("utf-8") == make(), f"docs/{name} is stale: python tools/make_docs.py"


def test_declarations_print_as_plain_values() -> None:
    text = json.dumps([repr((a.roles, a.preconditions, a.effects)) for a in ACTIONS])
    assert "<function" not in text and "lambda" not in text
