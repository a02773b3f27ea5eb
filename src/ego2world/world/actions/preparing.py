"""Mixing, cutting, breaking, shaping and cooking food."""

from ego2world.world.actions.base import ActionType, Apart, Becomes, Gains, Goes, Held, Reach, Var
from ego2world.world.actions.vocabulary import (
    ANY,
    BLADES,
    CLOTHS,
    EDIBLE,
    FOOD,
    INSIDES,
    PACKS,
    PORTABLE,
    SUBSTANCE,
    SURFACES,
    TOOLS,
    VESSELS,
    WITH,
    act,
    becomes,
    obj,
)

_BLADE = Var("instrument", BLADES | TOOLS, optional=True)
_LYING = Var("target", SURFACES | INSIDES, optional=True)
_THINGS = FOOD | PORTABLE
_HEATED = Var("target", SURFACES | INSIDES, optional=True)


def _cuts(name: str, form: str, senses: str, things: frozenset[str] = _THINGS) -> ActionType:
    return act(
        name, "cut", f"{name.replace('_', ' ')} {{object}}[ with {{instrument}}]", (obj(things), _BLADE, _LYING), senses,
        f"verb class cut, {name}", makes=becomes(form=form),
    )  # fmt: skip


def _cooks(name: str, state: str, senses: str) -> ActionType:
    return act(
        name, "cook", f"{name} {{object}}[ in {{target}}]", (obj(EDIBLE | VESSELS | PORTABLE), _HEATED, WITH), senses,
        f"verb class cook, {name}", makes=becomes(cooked=state),
    )  # fmt: skip


ACTIONS = (
    # mixing
    ActionType(
        "mix_into", "mix", "mix {object} into {target}[ with {instrument}]",
        (Var("object", SUBSTANCE), Var("target", VESSELS | INSIDES | FOOD), WITH), (Reach("target"), Held("instrument")),
        (Gains("target", "object"), Becomes("mixed", "target", True)), ("mix",), "verb class mix, one thing into another",
    ),
    ActionType(
        "mix_food_into", "mix", "mix {object} into {target}[ with {instrument}]",
        (obj(FOOD), Var("target", VESSELS | INSIDES), WITH),
        (Reach("object"), Reach("target"), Held("instrument"), Apart("object", "target")),
        (Goes("object", "in", "target"), Becomes("mixed", "target", True)), ("mix",), "verb class mix, solid food into a vessel",
    ),
    act("stir_vessel", "mix", "stir {object}[ with {instrument}]", (obj(VESSELS | INSIDES), WITH), "mix",
        "verb class mix, bound to a vessel", makes=becomes(mixed=True)),
    ActionType(
        "stir_substance", "mix", "stir {object}[ in {target}][ with {instrument}]",
        (obj(EDIBLE), Var("target", ANY, optional=True), WITH), (Held("instrument"),),
        (Becomes("mixed", "object", True),), ("mix",), "verb class mix, bound to food",
    ),
    act("stir_thing", "mix", "stir with {object}", (obj(PORTABLE),), "mix", "verb class mix, bound to the tool"),
    act("whisk", "mix", "whisk {object}[ with {instrument}]", (obj(VESSELS | EDIBLE), WITH), "whisk",
        "verb class mix, whisked", makes=becomes(form="whisked", mixed=True)),
    act("blend", "mix", "blend {object}[ with {instrument}]", (obj(VESSELS | EDIBLE | PORTABLE), WITH), "blend",
        "verb class mix, blended", makes=becomes(form="blended", mixed=True)),
    act("shake_cloth", "shake", "shake {object}[ over {target}]", (obj(CLOTHS), _LYING), "shake",
        "verb class shake, bound to a cloth"),
    act("shake_vessel", "shake", "shake {object}[ over {target}]", (obj(VESSELS | PACKS), _LYING), "shake",
        "verb class shake, bound to a vessel or pack", makes=becomes(mixed=True)),
    act("shake_hands", "shake", "shake {object}", (obj(frozenset({"hand"})),), "shake",
        "verb class shake, bound to hands", makes=becomes(wetness="dry")),
    act("shake", "shake", "shake {object}[ over {target}]", (obj(ANY), _LYING), "shake", "verb class shake"),
    # cutting
    _cuts("slice", "sliced", "slice"),
    _cuts("chop", "chopped", "chop"),
    _cuts("dice", "diced", "dice"),
    _cuts("halve", "halved", "halve"),
    _cuts("carve", "carved", "carve"),
    _cuts("trim", "trimmed", "trim"),
    _cuts("cut", "cut", "cut"),
    _cuts("cut_thing", "cut", "cut slice chop dice halve trim", ANY),
    act("pierce", "cut", "pierce {object}[ with {instrument}]", (obj(ANY), _BLADE), "pierce", "verb class stab",
        makes=becomes(form="pierced")),
    act("peel_food", "peel", "peel {object}[ with {instrument}]", (obj(FOOD), _BLADE), "peel", "verb class peel, bound to food",
        makes=becomes(peeled=True)),
    act("peel_off", "peel", "peel {object}[ off {source}]", (obj(ANY), Var("source", ANY, optional=True), _BLADE), "peel",
        "verb class peel, bound to a skin, label or film", makes=becomes(peeled=True)),
    act("grate", "grate", "grate {object}[ with {instrument}]", (obj(ANY), _BLADE, _LYING), "grate", "verb class grate",
        makes=becomes(form="grated")),
    act("crush", "crush", "crush {object}[ with {instrument}]", (obj(ANY), WITH, _LYING), "crush", "verb class crush",
        makes=becomes(form="crushed")),
    act("grind", "crush", "grind {object}[ with {instrument}]", (obj(ANY), WITH, _LYING), "grind", "verb class crush, ground",
        makes=becomes(form="ground")),
    act("mash", "crush", "mash {object}[ with {instrument}]", (obj(ANY), WITH, _LYING), "mash", "verb class crush, mashed",
        makes=becomes(form="mashed")),
    ActionType(
        "crack_egg", "break", "crack {object} into {target}", (obj(frozenset({"egg"})), Var("target", SURFACES | INSIDES)),
        (Reach("object"), Reach("target"), Apart("object", "target")),
        (Goes("object", "in", "target"), Becomes("form", "object", "cracked")), ("crack", "break"),
        "verb class break, bound to an egg",
    ),
    act("crack", "break", "crack {object}[ with {instrument}]", (obj(ANY), WITH), "crack", "verb class break, cracked",
        makes=becomes(form="cracked")),
    act("break", "break", "break {object}[ with {instrument}]", (obj(ANY), WITH), "break", "verb class break",
        makes=becomes(form="broken")),
    act("tear", "tear", "tear {object}[ off {source}]", (obj(ANY), Var("source", ANY, optional=True)), "tear", "verb class rip",
        makes=becomes(form="torn")),
    act("separate", "separate", "separate {object}[ from {source}][ with {instrument}]",
        (obj(ANY), Var("source", ANY, optional=True), WITH), "separate", "verb class divide", makes=becomes(form="divided")),
    # shaping
    act("knead", "knead", "knead {object}", (obj(ANY),), "knead", "verb class knead", makes=becomes(form="kneaded")),
    act("form", "form", "shape {object}", (obj(ANY), WITH), "form", "verb class form", makes=becomes(form="shaped")),
    act("flatten", "form", "flatten {object}[ with {instrument}]", (obj(ANY), WITH), "flatten",
        "verb classes flatten and stretch", makes=becomes(form="flat")),
    act("fold_cloth", "fold", "fold {object}", (obj(CLOTHS),), "fold", "verb class fold, bound to cloth",
        makes=becomes(form="folded")),
    act("fold_pack", "fold", "fold {object} shut", (obj(PACKS),), "fold", "verb class fold, bound to packaging",
        makes=becomes(form="folded")),
    act("fold_food", "fold", "fold {object}[ with {instrument}]", (obj(ANY), WITH), "fold", "verb class fold, bound to food",
        makes=becomes(form="folded")),
    act("roll_up", "fold", "roll {object}", (obj(ANY), WITH), "roll", "verb class roll", makes=becomes(form="rolled")),
    act("unfold", "unwrap", "unfold {object}", (obj(ANY),), "unfold", "verb class unroll", makes=becomes(form="unfolded")),
    # cooking
    _cooks("fry", "fried", "fry"),
    _cooks("boil", "boiled", "boil"),
    _cooks("bake", "baked", "bake"),
    _cooks("toast", "toasted", "toast"),
    _cooks("cook", "cooked", "cook"),
    act("heat", "cook", "heat {object}[ in {target}]", (obj(ANY), _HEATED), "heat", "verb class cook, heated",
        makes=becomes(temperature="hot")),
    act("cool", "cook", "cool {object}", (obj(ANY),), "cool", "verb class cook, cooled", makes=becomes(temperature="cold")),
    act("defrost", "cook", "defrost {object}", (obj(ANY),), "defrost", "verb class unfreeze",
        makes=becomes(temperature="warm")),
)  # fmt: skip
