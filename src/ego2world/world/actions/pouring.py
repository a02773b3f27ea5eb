"""Substances and loose food: pouring, adding, filling, emptying, scooping, sprinkling, spraying, squeezing."""

from ego2world.world.actions.base import (
    ActionType,
    Apart,
    Becomes,
    Empties,
    Gains,
    Goes,
    Held,
    Holds,
    Is,
    Reach,
    Receives,
    Var,
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

_INTO = Var("target", VESSELS | INSIDES)
_ONTO = Var("target", SURFACES | CLOTHS | frozenset({"hand"}))
_FROM = Var("source", VESSELS | INSIDES)
_FROM_OPTIONAL = Var("source", VESSELS | INSIDES, optional=True)
_CONTENT = Var("content", SUBSTANCE | FOOD)
_POURED = (Reach("source"), Reach("target"), Holds("source", "content"), Is("openness", "source", ("open",), soft=True))

ACTIONS = (
    ActionType(
        "pour_away", "pour", "pour {content} away from {source} into {target}",
        (_CONTENT, _FROM, Var("target", frozenset({"sink", "bin"}))), (Held("source"), *_POURED),
        (Gains("source", "content", False),), ("pour",), "verb class pour, into the sink",
    ),
    ActionType(
        "pour_into", "pour", "pour {content} from {source} into {target}", (_CONTENT, _FROM, _INTO),
        (Held("source"), *_POURED, Apart("source", "target")), (Gains("target", "content"),), ("pour",),
        "verb class pour, between vessels",
    ),
    ActionType(
        "pour_onto", "pour", "pour {content} from {source} onto {target}", (_CONTENT, _FROM, Var("target", ANY)),
        (Held("source"), *_POURED), (Gains("target", "content"),), ("pour",), "verb class pour, onto something",
    ),
    ActionType(
        "pour_in", "pour", "pour {content} into {target}", (_CONTENT, Var("target", ANY)),
        (Reach("target"),), (Gains("target", "content"),), ("pour",), "verb class pour, vessel not named",
    ),
    ActionType(
        "pour_food", "pour", "pour {object}[ from {source}] into {target}",
        (obj(FOOD | frozenset({"rubbish", "thing"})), _FROM_OPTIONAL, Var("target", SURFACES | INSIDES)),
        (Reach("object"), Reach("target"), Apart("object", "target")), (Goes("object", "in", "target"),), ("pour",),
        "verb class pour, bound to loose food",
    ),
    ActionType(
        "pour_out", "pour", "pour {content} out of {source}", (_CONTENT, _FROM),
        (Held("source"), Holds("source", "content")), (Gains("source", "content", False),), ("pour",),
        "verb class pour, target not named",
    ),
    act("tip_vessel", "pour", "pour out {object}", (obj(VESSELS | PACKS),), "pour", "verb class pour, bound to a vessel",
        makes=(Empties("object"),)),
    ActionType(
        "add_to", "add", "add {object} to {target}", (obj(PORTABLE - PACKS), Var("target", VESSELS | INSIDES | FOOD)),
        (Reach("object"), Reach("target"), Apart("object", "target")), (Goes("object", "in", "target"),), ("add",),
        "verb class add, bound to solid food",
    ),
    ActionType(
        "add_pack_to", "add", "add {object} to {target}", (obj(PACKS), Var("target", VESSELS | INSIDES)),
        (Held("object"), Reach("target"), Apart("object", "target")), (Goes("object", "in", "target"),), ("add",),
        "verb class add, bound to a packed thing",
    ),
    ActionType(
        "add_substance", "add", "add {content}[ from {source}] to {target}",
        (_CONTENT, Var("source", VESSELS | INSIDES, optional=True), Var("target", ANY)),
        (Reach("target"),), (Gains("target", "content"),), ("add", "insert", "put", "drop", "move", "throw"),
        "verb class add, bound to a substance",
    ),
    ActionType(
        "fill_from_tap", "fill", "fill {target} with {content} from {source}",
        (Var("target", VESSELS | INSIDES), Var("source", frozenset({"tap"})), _CONTENT),
        (Reach("target"), Reach("source"), Is("power", "source", ("on",))),
        (Gains("target", "content"),), ("fill",), "verb class fill, at the tap",
    ),
    ActionType(
        "fill_with", "fill", "fill {target} with {content}[ from {source}]",
        (Var("target", VESSELS | INSIDES | PORTABLE), _CONTENT, Var("source", VESSELS | INSIDES, optional=True)),
        (Reach("target"),), (Gains("target", "content"),), ("fill",), "verb class fill, with a substance",
    ),
    ActionType(
        "fill_with_things", "fill", "fill {target} with {object}", (Var("target", INSIDES | VESSELS), obj(PORTABLE)),
        (Reach("target"), Reach("object"), Apart("object", "target")), (Goes("object", "in", "target"),), ("fill",),
        "verb class fill, with solid food",
    ),
    ActionType(
        "empty_into", "empty", "empty {object} into {target}", (obj(VESSELS | INSIDES, many=False), Var("target", VESSELS | INSIDES)),
        (Reach("object"), Reach("target"), Apart("object", "target")), (Receives("target", "object"), Empties("object")),
        ("empty",), "verb class empty, into something",
    ),
    act("empty_out", "empty", "empty {object}", (obj(VESSELS | INSIDES | PORTABLE),), "empty", "verb class empty",
        makes=(Empties("object"),)),
    ActionType(
        "drain_from", "empty", "drain {content} from {source}[ into {target}]",
        (_CONTENT, _FROM, Var("target", SURFACES | INSIDES, optional=True)), (Reach("source"), Holds("source", "content")),
        (Gains("source", "content", False),), ("empty", "remove"), "verb class filter, bound to a liquid",
    ),
    ActionType(
        "scoop_into", "scoop", "scoop {content} from {source} into {target}[ with {instrument}]",
        (_CONTENT, _FROM, Var("target", ANY), WITH),
        (Reach("source"), Reach("target"), Held("instrument"), Holds("source", "content")), (Gains("target", "content"),),
        ("scoop",), "verb class scoop, between vessels",
    ),
    ActionType(
        "scoop_up", "scoop", "scoop {content} from {source} with {instrument}", (_CONTENT, _FROM, Var("instrument", TOOLS)),
        (Reach("source"), Held("instrument"), Holds("source", "content")), (Gains("instrument", "content"),),
        ("scoop", "take", "take_out", "lift"), "verb class scoop, onto the tool",
    ),
    ActionType(
        "scoop_to", "scoop", "scoop {content} into {target}[ with {instrument}]", (_CONTENT, Var("target", ANY), WITH),
        (Reach("target"), Held("instrument")), (Gains("target", "content"),), ("scoop",), "verb class scoop, source not named",
    ),
    ActionType(
        "scoop_food", "scoop", "scoop {object}[ from {source}] into {target}[ with {instrument}]",
        (obj(FOOD | PORTABLE), Var("source", ANY, optional=True), Var("target", SURFACES | INSIDES), WITH),
        (Reach("object"), Reach("target"), Held("instrument"), Apart("object", "target")), (Goes("object", "in", "target"),),
        ("scoop",), "verb class scoop, bound to solid food",
    ),
    ActionType(
        "scoop_food_up", "scoop", "scoop {object} with {instrument}[ from {source}]",
        (obj(FOOD | PORTABLE), Var("source", ANY, optional=True), Var("instrument", TOOLS)),
        (Reach("object"), Held("instrument")), (Goes("object", "on", "instrument"),), ("scoop",),
        "verb class scoop, solid food onto the tool",
    ),
    ActionType(
        "scoop", "scoop", "scoop {object}[ with {instrument}]", (obj(EDIBLE | PORTABLE), WITH), (Held("instrument"),), (),
        ("scoop",), "verb class scoop, neither source nor target known", event_only=True,
    ),
    ActionType(
        "sprinkle_on", "sprinkle", "sprinkle {content} on {target}[ from {source}]",
        (_CONTENT, Var("target", ANY), Var("source", ANY, optional=True), WITH), (Reach("target"), Held("instrument")),
        (Gains("target", "content"),), ("sprinkle", "shake"), "verb class sprinkle",
    ),
    ActionType(
        "sprinkle_food", "sprinkle", "sprinkle {object} on {target}", (obj(PORTABLE), Var("target", SURFACES | INSIDES)),
        (Reach("object"), Reach("target"), Apart("object", "target")), (Goes("object", "on", "target"),), ("sprinkle",),
        "verb class sprinkle, bound to solid food",
    ),
    ActionType(
        "season", "sprinkle", "season {target}[ with {content}]", (Var("target", ANY), Var("content", SUBSTANCE | FOOD)),
        (Reach("target"),), (Gains("target", "content"),), ("season",), "verb class season",
    ),
    ActionType(
        "spray_on", "sprinkle", "spray {content} on {target}[ from {source}]",
        (_CONTENT, Var("target", ANY), Var("source", ANY, optional=True)), (Reach("target"),), (Gains("target", "content"),),
        ("spray",), "verb class spray, with a substance",
    ),
    act("spray", "sprinkle", "spray {object}[ on {target}]", (obj(ANY), Var("target", ANY, optional=True)), "spray sprinkle",
        "verb class spray, bound to anything else", makes=becomes(wetness="wet")),
    ActionType(
        "spread_on", "spread", "spread {content} on {target}[ with {instrument}]",
        (_CONTENT, Var("target", ANY), WITH), (Reach("target"), Held("instrument")), (Gains("target", "content"),),
        ("spread",), "verb class apply, with a substance",
    ),
    ActionType(
        "spread_food", "spread", "spread {object} on {target}[ with {instrument}]",
        (obj(FOOD | PORTABLE), Var("target", SURFACES | INSIDES), WITH),
        (Reach("object"), Reach("target"), Held("instrument"), Apart("object", "target")), (Goes("object", "on", "target"),),
        ("spread",), "verb class apply, bound to solid food or cloth",
    ),
    ActionType(
        "spread_around", "spread", "spread {object}[ with {instrument}]", (obj(ANY), WITH), (Held("instrument"),),
        (), ("spread",), "verb class apply, no target", event_only=True,
    ),
    ActionType(
        "squeeze_onto", "squeeze", "squeeze {content} from {source} onto {target}",
        (_CONTENT, Var("source", ANY), Var("target", ANY)), (Reach("source"), Reach("target")),
        (Gains("target", "content"),), ("squeeze",), "verb class squeeze, contents onto something",
    ),
    ActionType(
        "squeeze_into", "squeeze", "squeeze {object} into {target}[ with {instrument}]", (obj(FOOD | PORTABLE), Var("target", ANY), WITH),
        (Reach("object"), Reach("target"), Held("instrument")), (Becomes("form", "object", "squeezed"),), ("squeeze",),
        "verb class squeeze, bound to a fruit or a pack",
    ),
    act("wring", "squeeze", "squeeze {object} out", (obj(CLOTHS),), "squeeze wring", "verb class squeeze, bound to a cloth",
        makes=becomes(form="squeezed")),
    act("squeeze", "squeeze", "squeeze {object}[ with {instrument}]", (obj(ANY), WITH), "squeeze wring", "verb class squeeze",
        makes=becomes(form="squeezed")),
)  # fmt: skip
