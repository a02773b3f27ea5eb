"""What the person does with their own body: wearing, eating, perceiving, recording, moving about, waiting."""

from ego2world.world.actions.base import ActionType, Assign, Is, Move, NotAt, Parameter, Reach, Travel
from ego2world.world.actions.vocabulary import (
    ANY,
    CLOTHS,
    EDIBLE,
    HAND_ROLE,
    INSIDES,
    PORTABLE,
    SURFACES,
    VESSELS,
    WITH,
    act,
    becomes,
    obj,
)

_LOOKED_AT = Parameter("object", ANY, many=True)
_WHERE = Parameter("target", SURFACES | INSIDES, optional=True)


def _event(name: str, family: str, says: str, roles: tuple[Parameter, ...], senses: str, text: str) -> ActionType:
    return ActionType(name, family, says, roles, (), (), tuple(senses.split()), text, event_only=True)


def _sees(name: str, family: str, verb: str, senses: str, text: str) -> ActionType:
    return ActionType(name, family, f"{verb} {{object}}[ with {{instrument}}]", (_LOOKED_AT, WITH), (Reach("object"),), (),
                      tuple(senses.split()), text, event_only=True)  # fmt: skip


ACTIONS = (
    ActionType(
        "wear", "wear", "put {object} on", (obj(CLOTHS | PORTABLE), Parameter("target", frozenset({"hand"}), optional=True)),
        (Reach("object"),), (Assign("worn", "object", True), Move("object", "on", "target")), ("wear",), "verb class wear",
    ),
    ActionType(
        "take_off", "take_off", "take {object} off", (obj(CLOTHS), HAND_ROLE),
        (Reach("object"), Is("worn", "object", (True,))),
        (Assign("worn", "object", False), Move("object", "held", "hand")), ("take_off",),
        "verb class remove, bound to clothing",
    ),
    act("eat", "eat", "eat {object}", (obj(EDIBLE | PORTABLE),), "eat", "verb class eat", effects=becomes(discarded=True)),
    _event("drink", "drink", "drink {object}[ from {source}]", (obj(ANY), Parameter("source", VESSELS, optional=True)), "drink",
           "verb class drink"),
    _event("taste", "eat", "taste {object}", (obj(ANY), WITH), "taste", "verb class eat, tasted"),
    _sees("look_into", "check", "look into", "look search check", "verb class look, into storage"),
    _sees("check", "check", "check", "check look taste", "verb class check"),
    _sees("read", "check", "read", "read", "verb class look, read"),
    _sees("smell", "check", "smell", "smell", "verb class smell"),
    _sees("feel", "check", "feel", "feel", "verb class feel"),
    _event("search_for", "check", "search for {object}[ in {source}]", (obj(ANY), Parameter("source", ANY, optional=True)), "search",
           "verb class search"),
    _event("look_around", "check", "look around", (), "look search check read", "verb class look, at nothing named"),
    act("weigh", "weigh", "weigh {object}[ on {target}]", (obj(ANY), Parameter("target", frozenset({"scale"}), optional=True)),
        "weigh", "verb class measure", effects=becomes(weighed=True)),
    act("tare", "weigh", "zero {object}", (obj(frozenset({"scale"})),), "weigh", "verb class set, bound to a scale"),
    ActionType(
        "write_in", "record", "write in {target}[ with {instrument}]",
        (Parameter("target", frozenset({"book", "paper", "phone", "computer"})), WITH), (Reach("target"),),
        (Assign("written", "target", True),), ("record",), "verb class write, in a notebook",
    ),
    _event("record", "record", "record[ {object}][ with {instrument}]", (Parameter("object", ANY, optional=True, many=True), WITH),
           "record", "verb class write"),
    _event("tap_phone", "other", "tap {object}", (obj(frozenset({"phone", "computer"})), HAND_ROLE), "tap feel press",
           "verb class pat, bound to a screen"),
    _event("tap", "other", "tap {object}[ with {instrument}][ on {target}]", (obj(ANY), WITH, Parameter("target", ANY, optional=True)), "tap",
           "verb class pat"),
    _event("reach_for", "other", "reach for {object}", (obj(ANY), HAND_ROLE), "reach", "verb class reach, bound to a thing"),
    _event("reach_out", "other", "reach out", (HAND_ROLE, _WHERE), "reach", "verb class reach"),
    ActionType(
        "navigate", "navigate", "go to {target}", (Parameter("target", frozenset({"zone"})),), (NotAt("target"),), (Travel("target"),),
        ("navigate",), "verb class transition; also inferred between zones",
    ),
    _event("walk", "navigate", "walk about", (Parameter("target", ANY, optional=True),), "navigate",
           "verb class transition, within one zone"),
    _event("wait", "wait", "wait", (Parameter("object", ANY, optional=True, many=True),), "wait", "verb class wait"),
    _event("do_with", "other", "use {object}", (obj(ANY), WITH), "other", "verb classes use and work, bound to a thing"),
    _event("do", "other", "do something else", (), "other tap record hold shake press adjust", "any other verb class"),
)  # fmt: skip
