"""Substances and loose food: pouring, adding, filling, emptying, scooping, sprinkling, spraying, squeezing."""

from ego2world.world.actions.base import (
    ActionType,
    Apart,
    Assign,
    EmptyOut,
    Held,
    Holds,
    Is,
    Move,
    Parameter,
    PourAll,
    Reach,
    SetContent,
)
from ego2world.world.actions.vocabulary import (
    ANY,
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

_INTO = Parameter("target", VESSELS | INSIDES)
_ONTO = Parameter("target", SURFACES | CLOTHS | frozenset({"hand"}))
_FROM = Parameter("source", VESSELS | INSIDES)
_FROM_OPTIONAL = Parameter("source", VESSELS | INSIDES, optional=True)
_POURABLE = Parameter("object", SUBSTANCE)
_CONTENT = Parameter("content", SUBSTANCE)
_POURED = (
    Reach("source"),
    Reach("target"),
    Holds("source", "object"),
    Is("openness", "source", ("open",), may_be_unknown=True),
)

ACTIONS = (
    ActionType(
        "pour_away", "pour", "pour {object} away from {source} into {target}",
        (_POURABLE, _FROM, Parameter("target", frozenset({"sink", "bin"}))), (Held("source"), *_POURED),
        (SetContent("source", "object", False),), ("pour",), "verb class pour, into the sink",
    ),
    ActionType(
        "pour_into", "pour", "pour {object} from {source} into {target}", (_POURABLE, _FROM, _INTO),
        (Held("source"), *_POURED, Apart("source", "target")), (SetContent("target", "object"),), ("pour",),
        "verb class pour, between vessels",
    ),
    ActionType(
        "pour_onto", "pour", "pour {object} from {source} onto {target}", (_POURABLE, _FROM, Parameter("target", ANY)),
        (Held("source"), *_POURED), (SetContent("target", "object"),), ("pour",), "verb class pour, onto something",
    ),
    ActionType(
        "pour_in", "pour", "pour {object} into {target}", (_POURABLE, Parameter("target", ANY)),
        (Reach("target"),), (SetContent("target", "object"),), ("pour",), "verb class pour, vessel not named",
    ),
    ActionType(
        "pour_food", "pour", "pour {object}[ from {source}] into {target}",
        (obj(FOOD | frozenset({"rubbish", "thing"})), _FROM_OPTIONAL, Parameter("target", SURFACES | INSIDES)),
        (Reach("object"), Reach("target"), Apart("object", "target")), (Move("object", "in", "target"),), ("pour",),
        "verb class pour, bound to loose food",
    ),
    ActionType(
        "pour_out", "pour", "pour {object} out of {source}", (_POURABLE, _FROM),
        (Held("source"), Holds("source", "object")), (SetContent("source", "object", False),), ("pour",),
        "verb class pour, target not named",
    ),
    act("tip_vessel", "pour", "pour out {object}", (obj(VESSELS | PACKS),), "pour", "verb class pour, bound to a vessel",
        effects=(EmptyOut("object"),)),
    ActionType(
        "add_to", "add", "add {object} to {target}", (obj(PORTABLE - PACKS), Parameter("target", VESSELS | INSIDES | FOOD)),
        (Reach("object"), Reach("target"), Apart("object", "target")), (Move("object", "in", "target"),), ("add",),
        "verb class add, bound to solid food",
    ),
    ActionType(
        "add_pack_to", "add", "add {object} to {target}", (obj(PACKS), Parameter("target", VESSELS | INSIDES)),
        (Held("object"), Reach("target"), Apart("object", "target")), (Move("object", "in", "target"),), ("add",),
        "verb class add, bound to a packed thing",
    ),
    ActionType(
        "add_substance", "add", "add {object}[ from {source}] to {target}",
        (_POURABLE, Parameter("source", VESSELS | INSIDES, optional=True), Parameter("target", ANY)),
        (Reach("target"),), (SetContent("target", "object"),), ("add",),
        "verb class add, bound to a substance",
    ),
    *(
        ActionType(
            name,
            family,
            f"{verb} {{object}}[ from {{source}}] {prep} {{target}}",
            (_POURABLE, Parameter("source", VESSELS | INSIDES, optional=True), Parameter("target", ANY)),
            (Reach("target"),),
            (SetContent("target", "object"),),
            tuple(senses.split()),
            f"verb class {verb}, bound to a substance",
        )
        for name, family, verb, prep, senses in (
            ("put_substance", "put_in", "put", "into", "insert put"),
            ("drop_substance", "drop", "drop", "into", "drop"),
            ("move_substance", "move", "move", "to", "move"),
            ("throw_substance", "throw_away", "throw", "into", "throw throw_away"),
        )
    ),
    ActionType(
        "fill_from_tap", "fill", "fill {object} with {content} from {source}",
        (Parameter("object", VESSELS | INSIDES), Parameter("source", frozenset({"tap"})), _CONTENT),
        (Reach("object"), Reach("source"), Is("power", "source", ("on",))),
        (SetContent("object", "content"),), ("fill",), "verb class fill, at the tap",
    ),
    ActionType(
        "fill_with", "fill", "fill {object} with {content}[ from {source}]",
        (Parameter("object", VESSELS | INSIDES | PORTABLE), _CONTENT, Parameter("source", VESSELS | INSIDES, optional=True)),
        (Reach("object"),), (SetContent("object", "content"),), ("fill",), "verb class fill, with a substance",
    ),
    ActionType(
        "fill_with_things", "fill", "fill {object} with {content}", (Parameter("object", INSIDES | VESSELS), Parameter("content", PORTABLE, many=True)),
        (Reach("object"), Reach("content"), Apart("content", "object")), (Move("content", "in", "object"),), ("fill",),
        "verb class fill, with solid food",
    ),
    ActionType(
        "empty_into", "empty", "empty {object} into {target}", (obj(VESSELS | INSIDES, many=False), Parameter("target", VESSELS | INSIDES)),
        (Reach("object"), Reach("target"), Apart("object", "target")), (PourAll("target", "object"), EmptyOut("object")),
        ("empty",), "verb class empty, into something",
    ),
    act("empty_out", "empty", "empty {object}", (obj(VESSELS | INSIDES | PORTABLE),), "empty", "verb class empty",
        effects=(EmptyOut("object"),)),
    ActionType(
        "drain_from", "empty", "drain {object} from {source}[ into {target}]",
        (_POURABLE, _FROM, Parameter("target", SURFACES | INSIDES, optional=True)), (Reach("source"), Holds("source", "object")),
        (SetContent("source", "object", False),), ("empty", "remove"), "verb class filter, bound to a liquid",
    ),
    ActionType(
        "scoop_into", "scoop", "scoop {object} from {source} into {target}[ with {instrument}]",
        (_POURABLE, _FROM, Parameter("target", ANY), WITH),
        (Reach("source"), Reach("target"), Held("instrument"), Holds("source", "object")), (SetContent("target", "object"),),
        ("scoop",), "verb class scoop, between vessels",
    ),
    ActionType(
        "scoop_up", "scoop", "scoop {object} from {source} with {instrument}", (_POURABLE, _FROM, Parameter("instrument", TOOLS)),
        (Reach("source"), Held("instrument"), Holds("source", "object")), (SetContent("instrument", "object"),),
        ("scoop", "take", "take_out", "lift"), "verb class scoop, onto the tool",
    ),
    ActionType(
        "scoop_to", "scoop", "scoop {object} into {target}[ with {instrument}]", (_POURABLE, Parameter("target", ANY), WITH),
        (Reach("target"), Held("instrument")), (SetContent("target", "object"),), ("scoop",), "verb class scoop, source not named",
    ),
    ActionType(
        "scoop_food", "scoop", "scoop {object}[ from {source}] into {target}[ with {instrument}]",
        (obj(FOOD | PORTABLE), Parameter("source", ANY, optional=True), Parameter("target", SURFACES | INSIDES), WITH),
        (Reach("object"), Reach("target"), Held("instrument"), Apart("object", "target")), (Move("object", "in", "target"),),
        ("scoop",), "verb class scoop, bound to solid food",
    ),
    ActionType(
        "scoop_food_up", "scoop", "scoop {object} with {instrument}[ from {source}]",
        (obj(FOOD | PORTABLE), Parameter("source", ANY, optional=True), Parameter("instrument", TOOLS)),
        (Reach("object"), Held("instrument"), Apart("object", "instrument")), (Move("object", "on", "instrument"),), ("scoop",),
        "verb class scoop, solid food onto the tool",
    ),
    ActionType(
        "scoop", "scoop", "scoop {object}[ with {instrument}]", (obj(EDIBLE | PORTABLE), WITH), (Held("instrument"),), (),
        ("scoop",), "verb class scoop, neither source nor target known", event_only=True,
    ),
    ActionType(
        "sprinkle_on", "sprinkle", "sprinkle {object} on {target}[ from {source}]",
        (_POURABLE, Parameter("target", ANY), Parameter("source", ANY, optional=True), WITH), (Reach("target"), Held("instrument")),
        (SetContent("target", "object"),), ("sprinkle", "shake"), "verb class sprinkle",
    ),
    ActionType(
        "sprinkle_food", "sprinkle", "sprinkle {object} on {target}", (obj(PORTABLE), Parameter("target", SURFACES | INSIDES)),
        (Reach("object"), Reach("target"), Apart("object", "target")), (Move("object", "on", "target"),), ("sprinkle",),
        "verb class sprinkle, bound to solid food",
    ),
    ActionType(
        "season", "sprinkle", "season {object}[ with {content}]", (Parameter("object", ANY), _CONTENT),
        (Reach("object"),), (SetContent("object", "content"),), ("season",), "verb class season",
    ),
    ActionType(
        "spray_on", "sprinkle", "spray {object} on {target}[ from {source}]",
        (_POURABLE, Parameter("target", ANY), Parameter("source", ANY, optional=True)), (Reach("target"),), (SetContent("target", "object"),),
        ("spray",), "verb class spray, with a substance",
    ),
    act("spray", "sprinkle", "spray {object}[ on {target}]", (obj(ANY), Parameter("target", ANY, optional=True)), "spray sprinkle",
        "verb class spray, bound to anything else", effects=becomes(wetness="wet")),
    ActionType(
        "spread_on", "spread", "spread {object} on {target}[ with {instrument}]",
        (_POURABLE, Parameter("target", ANY), WITH), (Reach("target"), Held("instrument")), (SetContent("target", "object"),),
        ("spread",), "verb class apply, with a substance",
    ),
    ActionType(
        "spread_food", "spread", "spread {object} on {target}[ with {instrument}]",
        (obj(FOOD | PORTABLE), Parameter("target", SURFACES | INSIDES), WITH),
        (Reach("object"), Reach("target"), Held("instrument"), Apart("object", "target")), (Move("object", "on", "target"),),
        ("spread",), "verb class apply, bound to solid food or cloth",
    ),
    ActionType(
        "spread_around", "spread", "spread {object}[ with {instrument}]", (obj(ANY), WITH), (Held("instrument"),),
        (), ("spread",), "verb class apply, no target", event_only=True,
    ),
    ActionType(
        "squeeze_onto", "squeeze", "squeeze {content} from {object} onto {target}",
        (_CONTENT, Parameter("object", ANY), Parameter("target", ANY)), (Reach("object"), Reach("target")),
        (SetContent("target", "content"),), ("squeeze",), "verb class squeeze, contents onto something",
    ),
    ActionType(
        "squeeze_into", "squeeze", "squeeze {object} into {target}[ with {instrument}]", (obj(FOOD | PORTABLE), Parameter("target", ANY), WITH),
        (Reach("object"), Reach("target"), Held("instrument")), (Assign("form", "object", "squeezed"),), ("squeeze",),
        "verb class squeeze, bound to a fruit or a pack",
    ),
    act("wring", "squeeze", "squeeze {object} out", (obj(CLOTHS),), "squeeze wring", "verb class squeeze, bound to a cloth",
        effects=becomes(form="squeezed")),
    act("squeeze", "squeeze", "squeeze {object}[ with {instrument}]", (obj(ANY), WITH), "squeeze wring", "verb class squeeze",
        effects=becomes(form="squeezed")),
)  # fmt: skip
