"""Covering, wrapping, attaching, detaching, turning and tilting."""

from ego2world.world.actions.base import ActionType, Apart, Becomes, Goes, Held, Joins, Reach, Var
from ego2world.world.actions.vocabulary import (
    ANY,
    CLOTHS,
    FOOD,
    HAND_ROLE,
    INSIDES,
    PACKS,
    PORTABLE,
    SURFACES,
    VESSELS,
    WITH,
    act,
    becomes,
    obj,
)

_LIDDED = INSIDES | VESSELS | PACKS
_COVERING = frozenset("lid plate board pan towel cloth foil tray bowl paper bag mat glove".split())

ACTIONS = (
    ActionType(
        "put_lid_on", "cover", "put {object} on {target}",
        (obj(frozenset({"lid"}), many=False), Var("target", _LIDDED), HAND_ROLE),
        (Held("object"), Reach("target"), Apart("object", "target")),
        (Goes("object", "on", "target"), Joins("object", "target"), Becomes("covered", "target", True)), ("cover_lid",),
        "verb class put, a lid on its vessel",
    ),
    ActionType(
        "cover_with", "cover", "cover {target} with {object}", (obj(_COVERING, many=False), Var("target", ANY)),
        (Reach("object"), Reach("target"), Apart("object", "target")),
        (Goes("object", "on", "target"), Becomes("covered", "target", True)), ("cover",), "verb class wrap, covered",
    ),
    act("cover", "cover", "cover {object}", (obj(ANY),), "cover", "verb class wrap, with nothing named",
        makes=becomes(covered=True)),
    ActionType(
        "take_lid_off", "uncover", "take {object} off {source}",
        (obj(frozenset({"lid", "foil"}), many=False), Var("source", _LIDDED), HAND_ROLE),
        (Reach("object"), Reach("source")),
        (Goes("object", "held", "hand"), Joins("object", None), Becomes("covered", "source", False)),
        ("uncover_lid",), "verb classes remove and lift, a lid off its vessel",
    ),
    act("uncover", "uncover", "uncover {object}", (obj(ANY),), "uncover", "verb class uncover", makes=becomes(covered=False)),
    ActionType(
        "wrap_in", "wrap", "wrap {object} in {target}", (obj(ANY), Var("target", CLOTHS | PACKS | FOOD)),
        (Reach("object"), Reach("target")), (Becomes("wrapped", "object", True),), ("wrap",), "verb class wrap, in something",
    ),
    act("wrap", "wrap", "wrap {object}", (obj(ANY), WITH), "wrap", "verb class wrap", makes=becomes(wrapped=True)),
    act("unwrap", "unwrap", "unwrap {object}", (obj(ANY),), "unwrap", "verb class unwrap", makes=becomes(wrapped=False)),
    ActionType(
        "attach", "attach", "attach {object} to {target}", (obj(PORTABLE | SURFACES), Var("target", ANY)),
        (Reach("object"), Reach("target"), Apart("object", "target")), (Joins("object", "target"),), ("attach", "screw"),
        "verb class attach",
    ),
    act("assemble", "attach", "assemble {object}", (obj(ANY),), "attach screw", "verb class attach, parts not told apart"),
    ActionType(
        "detach", "detach", "detach {object} from {source}", (obj(PORTABLE | SURFACES), Var("source", ANY), HAND_ROLE),
        (Reach("object"), Reach("source")), (Joins("object", None),), ("detach", "remove", "unscrew", "unplug"),
        "verb classes remove and divide, from something it is part of",
    ),
    act("take_apart", "detach", "take {object} apart", (obj(ANY),), "detach remove unscrew", "verb class divide, disassembled",
        makes=(Joins("object", None),)),
    act("flip_food", "flip", "flip {object}[ with {instrument}]", (obj(FOOD), WITH), "flip", "verb class flip, bound to food"),
    act("turn_over", "flip", "turn {object} over", (obj(ANY), WITH), "flip", "verb class flip, bound to a thing",
        makes=becomes(upside_down=True)),
    act("turn_upright", "flip", "turn {object} upright", (obj(ANY),), "", "verb class flip, back again",
        makes=becomes(upside_down=False)),
    act("turn_knob", "turn", "turn {object}", (obj(frozenset({"knob", "handle", "button", "tap"})), HAND_ROLE), "turn",
        "verb class turn, bound to a control"),
    act("turn_food", "turn", "turn {object}[ with {instrument}]", (obj(FOOD), WITH), "turn", "verb class turn, bound to food"),
    act("turn_lid", "turn", "turn {object}", (obj(frozenset({"lid", "part", "base", "filter"})), HAND_ROLE), "turn",
        "verb class turn, bound to a lid or part"),
    act("turn", "turn", "turn {object}", (obj(ANY), WITH, HAND_ROLE), "turn screw", "verb class turn"),
    act("tilt_vessel", "tilt", "tilt {object}[ over {target}]",
        (obj(VESSELS | PACKS), Var("target", SURFACES | INSIDES, optional=True)), "tilt", "verb class lift, tilted vessel"),
    act("tilt", "tilt", "tilt {object}", (obj(ANY),), "tilt", "verb class lift, tilted"),
    ActionType(
        "stack", "put_on", "stack {object} on {target}", (obj(frozenset("bowl plate cup pan tray tub glass pot board".split())),
                                                         Var("target", frozenset("bowl plate cup pan tray tub glass pot board".split()))),
        (Held("object"), Reach("target"), Apart("object", "target")), (Goes("object", "on", "target"),), ("stack",),
        "verb class sort, stacked",
    ),
)  # fmt: skip
