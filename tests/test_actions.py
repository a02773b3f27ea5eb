"""One contract over every declared action type: it can be accepted and refused, and what it says and does fit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import SHARED, make_world, needs_data
from ego2world.annotations.cells import class_name
from ego2world.annotations.rows import read_classes
from ego2world.errors import DeclarationError
from ego2world.language.forms import form_sense
from ego2world.language.lexicon import lexicon
from ego2world.world.actions import ACTIONS, BY_NAME, BY_SENSE, FALLBACKS, FAMILIES, ActionType, choose
from ego2world.world.actions.base import Becomes, Is, Reach, Var
from ego2world.world.kinds import KINDS, Trait, has
from ego2world.world.state import Action, State, World
from ego2world.world.step import Refusal, step

DESIGN_FAMILIES = frozenset(
    "pick_up put_on put_in take_out move pass_hand open close turn_on turn_off adjust press pour add fill empty scoop sprinkle spread "
    "mix shake cut peel grate crush tear break separate wash rinse scrub wipe dry soak squeeze knead form fold wrap unwrap cover "
    "uncover attach detach flip turn tilt lift hold throw_away drop wear take_off weigh cook check eat drink navigate wait record other".split()
)  # fmt: skip


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
    for need in action.needs:
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
    if any(getattr(n, "role", "") == "hand" for n in action.needs) and "hand" not in roles:
        roles["hand"] = "left_hand"
    world, state = make_world({"counter_0": "counter", "far_counter": "counter", **kinds}, zones, facts)
    return world, state, Action.of(action.name, roles)


@pytest.mark.parametrize("action", ACTIONS, ids=lambda a: a.name)
def test_accepted_once_and_refused_once(action: ActionType) -> None:
    world, state, proposed = setting(action)
    accepted = step(world, state, proposed)
    assert isinstance(accepted, State), str(accepted)
    changed = {k: v for k, v in accepted.facts.items() if state.facts.get(k) != v}
    effects = [e for e in action.makes if type(e).__name__ not in {"Receives", "Empties"}]
    idle = all(isinstance(e, Becomes) and state.get(e.fluent, *proposed.ids(e.role)) == e.value for e in effects)
    assert bool(changed) or not action.makes or idle or not effects
    before = state.digest()
    refused = step(
        world, state, Action.of(action.name, {r: "no_such_thing" for r, _ in proposed.roles} | {"nonsense": "x"})
    )
    assert isinstance(refused, Refusal) and refused.failures and state.digest() == before
    if any(isinstance(n, Reach) for n in action.needs) and not action.name.startswith("navigate"):
        far = State.of({**state.facts, ("at", "agent"): "zone_2"})
        result = step(world, far, proposed)
        reached = [i for n in action.needs if isinstance(n, Reach) for i in proposed.ids(n.role)]
        if any(state.get("place", i)[0] != "held" and not has(world.entities[i].type, Trait.SUBSTANCE | Trait.BODY if False else Trait.SUBSTANCE)
               and world.entities[i].type not in {"hand", "face"} for i in reached):  # fmt: skip
            assert isinstance(result, Refusal)


def test_the_ontology_is_large_and_well_formed() -> None:
    assert len(ACTIONS) >= 155 and len(BY_NAME) == len(ACTIONS)
    assert set(FAMILIES) <= DESIGN_FAMILIES
    for action in ACTIONS:
        action.check()
        assert action.source and action.says
        named = {part.split("}")[0] for part in action.says.split("{")[1:]}
        assert named <= {v.role for v in action.roles}
    assert {fallback for values in FALLBACKS.values() for fallback in values} <= set(BY_SENSE) | set(FAMILIES)


def test_a_wrong_declaration_is_refused_by_name_and_rule() -> None:
    thing = Var("object", frozenset({"cup"}))
    with pytest.raises(DeclarationError) as caught:
        ActionType(
            "x", "open", "x {object}", (thing,), (Is("openness", "lid", ("open",)),), (), (), "test", True
        ).check()
    assert caught.value.name == "x" and "lid" in caught.value.rule
    with pytest.raises(DeclarationError, match="no such fluent or value"):
        ActionType("x", "open", "x", (thing,), (), (Becomes("openness", "object", "ajar"),), (), "test").check()


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
        possible = [a for s in (sense, *FALLBACKS.get(sense, ()), "other") for a in BY_SENSE.get(s, ())]
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
    text = json.dumps([repr(a) for a in ACTIONS])
    assert "<function" not in text and "lambda" not in text
