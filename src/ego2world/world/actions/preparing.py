"""Mixing, cutting, breaking, shaping and cooking food."""

from ego2world.world.actions.base import ActionType, Apart, Assign, Held, Move, Parameter, Reach, SetContent
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

_BLADE = Parameter("instrument", BLADES | TOOLS, optional=True)
_LYING = Parameter("target", SURFACES | INSIDES, optional=True)
_THINGS = FOOD | PORTABLE
_HEATED = Parameter("target", SURFACES | INSIDES, optional=True)


def _cuts(name: str, form: str, senses: str, things: frozenset[str] = _THINGS) -> ActionType:
    return act(
        name, "cut", f"{name.replace('_', ' ')} {{object}}[ with {{instrument}}]", (obj(things), _BLADE, _LYING), senses,
        f"verb class cut, {name}", effects=becomes(form=form),
    )  # fmt: skip


def _cooks(name: str, state: str, senses: str) -> ActionType:
    return act(
        name, "cook", f"{name} {{object}}[ in {{target}}]", (obj(EDIBLE | VESSELS | PORTABLE), _HEATED, WITH), senses,
        f"verb class cook, {name}", effects=becomes(cooked=state),
    )  # fmt: skip


ACTIONS = (
    # mixing
    ActionType(
        "mix_into", "mix", "mix {object} into {target}[ with {instrument}]",
        (Parameter("object", SUBSTANCE), Parameter("target", VESSELS | INSIDES | FOOD), WITH), (Reach("target"), Held("instrument")),
        (SetContent("target", "object"), Assign("mixed", "target", True)), ("mix",), "verb class mix, one thing into another",
    ),
    ActionType(
        "mix_food_into", "mix", "mix {object} into {target}[ with {instrument}]",
        (obj(FOOD), Parameter("target", VESSELS | INSIDES), WITH),
        (Reach("object"), Reach("target"), Held("instrument"), Apart("object", "target")),
        (Move("object", "in", "target"), Assign("mixed", "target", True)), ("mix",), "verb class mix, solid food into a vessel",
    ),
    act("stir_vessel", "mix", "stir {object}[ with {instrument}]", (obj(VESSELS | INSIDES), WITH), "mix",
        "verb class mix, bound to a vessel", effects=becomes(mixed=True)),
    ActionType(
        "stir_substance", "mix", "stir {object}[ in {target}][ with {instrument}]",
        (obj(EDIBLE), Parameter("target", ANY, optional=True), WITH), (Held("instrument"),),
        (Assign("mixed", "object", True),), ("mix",), "verb class mix, bound to food",
    ),
    act("stir_thing", "mix", "stir with {object}", (obj(PORTABLE),), "mix", "verb class mix, bound to the tool"),
    act("whisk", "mix", "whisk {object}[ with {instrument}]", (obj(VESSELS | EDIBLE), WITH), "whisk",
        "verb class mix, whisked", effects=becomes(form="whisked", mixed=True)),
    act("blend", "mix", "blend {object}[ with {instrument}]", (obj(VESSELS | EDIBLE | PORTABLE), WITH), "blend",
        "verb class mix, blended", effects=becomes(form="blended", mixed=True)),
    act("shake_cloth", "shake", "shake {object}[ over {target}]", (obj(CLOTHS), _LYING), "shake",
        "verb class shake, bound to a cloth"),
    act("shake_vessel", "shake", "shake {object}[ over {target}]", (obj(VESSELS | PACKS), _LYING), "shake",
        "verb class shake, bound to a vessel or pack", effects=becomes(mixed=True)),
    act("shake_hands", "shake", "shake {object}", (obj(frozenset({"hand"})),), "shake",
        "verb class shake, bound to hands", effects=becomes(wetness="dry")),
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
        effects=becomes(form="pierced")),
    act("peel_food", "peel", "peel {object}[ with {instrument}]", (obj(FOOD), _BLADE), "peel", "verb class peel, bound to food",
        effects=becomes(peeled=True)),
    act("peel_off", "peel", "peel {object}[ off {source}]", (obj(ANY), Parameter("source", ANY, optional=True), _BLADE), "peel",
        "verb class peel, bound to a skin, label or film", effects=becomes(peeled=True)),
    act("grate", "grate", "grate {object}[ with {instrument}]", (obj(ANY), _BLADE, _LYING), "grate", "verb class grate",
        effects=becomes(form="grated")),
    act("crush", "crush", "crush {object}[ with {instrument}]", (obj(ANY), WITH, _LYING), "crush", "verb class crush",
        effects=becomes(form="crushed")),
    act("grind", "crush", "grind {object}[ with {instrument}]", (obj(ANY), WITH, _LYING), "grind", "verb class crush, ground",
        effects=becomes(form="ground")),
    act("mash", "crush", "mash {object}[ with {instrument}]", (obj(ANY), WITH, _LYING), "mash", "verb class crush, mashed",
        effects=becomes(form="mashed")),
    ActionType(
        "crack_egg", "break", "crack {object} into {target}", (obj(frozenset({"egg"})), Parameter("target", SURFACES | INSIDES)),
        (Reach("object"), Reach("target"), Apart("object", "target")),
        (Move("object", "in", "target"), Assign("form", "object", "cracked")), ("crack", "break"),
        "verb class break, bound to an egg",
    ),
    act("crack", "break", "crack {object}[ with {instrument}]", (obj(ANY), WITH), "crack", "verb class break, cracked",
        effects=becomes(form="cracked")),
    act("break", "break", "break {object}[ with {instrument}]", (obj(ANY), WITH), "break", "verb class break",
        effects=becomes(form="broken")),
    act("tear", "tear", "tear {object}[ off {source}]", (obj(ANY), Parameter("source", ANY, optional=True)), "tear", "verb class rip",
        effects=becomes(form="torn")),
    act("separate", "separate", "separate {object}[ from {source}][ with {instrument}]",
        (obj(ANY), Parameter("source", ANY, optional=True), WITH), "separate", "verb class divide", effects=becomes(form="divided")),
    # shaping
    act("knead", "knead", "knead {object}", (obj(ANY),), "knead", "verb class knead", effects=becomes(form="kneaded")),
    act("form", "form", "shape {object}", (obj(ANY), WITH), "form", "verb class form", effects=becomes(form="shaped")),
    act("flatten", "form", "flatten {object}[ with {instrument}]", (obj(ANY), WITH), "flatten",
        "verb classes flatten and stretch", effects=becomes(form="flat")),
    act("fold_cloth", "fold", "fold {object}", (obj(CLOTHS),), "fold", "verb class fold, bound to cloth",
        effects=becomes(form="folded")),
    act("fold_pack", "fold", "fold {object} shut", (obj(PACKS),), "fold", "verb class fold, bound to packaging",
        effects=becomes(form="folded")),
    act("fold_food", "fold", "fold {object}[ with {instrument}]", (obj(ANY), WITH), "fold", "verb class fold, bound to food",
        effects=becomes(form="folded")),
    act("roll_up", "fold", "roll {object}", (obj(ANY), WITH), "roll", "verb class roll", effects=becomes(form="rolled")),
    act("unfold", "unwrap", "unfold {object}", (obj(ANY),), "unfold", "verb class unroll", effects=becomes(form="unfolded")),
    # cooking
    _cooks("fry", "fried", "fry"),
    _cooks("boil", "boiled", "boil"),
    _cooks("bake", "baked", "bake"),
    _cooks("toast", "toasted", "toast"),
    _cooks("cook", "cooked", "cook"),
    act("heat", "cook", "heat {object}[ in {target}]", (obj(ANY), _HEATED), "heat", "verb class cook, heated",
        effects=becomes(temperature="hot")),
    act("cool", "cook", "cool {object}", (obj(ANY),), "cool", "verb class cook, cooled", effects=becomes(temperature="cold")),
    act("defrost", "cook", "defrost {object}", (obj(ANY),), "defrost", "verb class unfreeze",
        effects=becomes(temperature="warm")),
)  # fmt: skip
