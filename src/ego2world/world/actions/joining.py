"""Covering, wrapping, attaching, detaching, turning and tilting."""

from ego2world.world.actions.base import ActionType, Apart, Assign, Attach, Held, Move, Parameter, Reach
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
        (obj(frozenset({"lid"}), many=False), Parameter("target", _LIDDED), HAND_ROLE),
        (Held("object"), Reach("target"), Apart("object", "target")),
        (Move("object", "on", "target"), Attach("object", "target"), Assign("covered", "target", True)), ("cover_lid",),
        "verb class put, a lid on its vessel",
    ),
    ActionType(
        "cover_with", "cover", "cover {target} with {object}", (obj(_COVERING, many=False), Parameter("target", ANY)),
        (Reach("object"), Reach("target"), Apart("object", "target")),
        (Move("object", "on", "target"), Assign("covered", "target", True)), ("cover",), "verb class wrap, covered",
    ),
    act("cover", "cover", "cover {object}", (obj(ANY),), "cover", "verb class wrap, with nothing named",
        effects=becomes(covered=True)),
    ActionType(
        "take_lid_off", "uncover", "take {object} off {source}",
        (obj(frozenset({"lid", "foil"}), many=False), Parameter("source", _LIDDED), HAND_ROLE),
        (Reach("object"), Reach("source")),
        (Move("object", "held", "hand"), Attach("object", None), Assign("covered", "source", False)),
        ("uncover_lid",), "verb classes remove and lift, a lid off its vessel",
    ),
    act("uncover", "uncover", "uncover {object}", (obj(ANY),), "uncover", "verb class uncover", effects=becomes(covered=False)),
    ActionType(
        "wrap_in", "wrap", "wrap {object} in {target}", (obj(ANY), Parameter("target", CLOTHS | PACKS | FOOD)),
        (Reach("object"), Reach("target")), (Assign("wrapped", "object", True),), ("wrap",), "verb class wrap, in something",
    ),
    act("wrap", "wrap", "wrap {object}", (obj(ANY), WITH), "wrap", "verb class wrap", effects=becomes(wrapped=True)),
    act("unwrap", "unwrap", "unwrap {object}", (obj(ANY),), "unwrap", "verb class unwrap", effects=becomes(wrapped=False)),
    ActionType(
        "attach", "attach", "attach {object} to {target}", (obj(PORTABLE | SURFACES), Parameter("target", ANY)),
        (Reach("object"), Reach("target"), Apart("object", "target")), (Attach("object", "target"),), ("attach", "screw"),
        "verb class attach",
    ),
    act("assemble", "attach", "assemble {object}", (obj(ANY),), "attach screw", "verb class attach, parts not told apart"),
    ActionType(
        "detach", "detach", "detach {object} from {source}", (obj(PORTABLE | SURFACES), Parameter("source", ANY), HAND_ROLE),
        (Reach("object"), Reach("source")), (Attach("object", None),), ("detach", "remove", "unscrew", "unplug"),
        "verb classes remove and divide, from something it is part of",
    ),
    act("take_apart", "detach", "take {object} apart", (obj(ANY),), "detach remove unscrew", "verb class divide, disassembled",
        effects=(Attach("object", None),)),
    act("flip_food", "flip", "flip {object}[ with {instrument}]", (obj(FOOD), WITH), "flip", "verb class flip, bound to food"),
    act("turn_over", "flip", "turn {object} over", (obj(ANY), WITH), "flip", "verb class flip, bound to a thing",
        effects=becomes(upside_down=True)),
    act("turn_upright", "flip", "turn {object} upright", (obj(ANY),), "", "verb class flip, back again",
        effects=becomes(upside_down=False)),
    act("turn_knob", "turn", "turn {object}", (obj(frozenset({"knob", "handle", "button", "tap"})), HAND_ROLE), "turn",
        "verb class turn, bound to a control"),
    act("turn_food", "turn", "turn {object}[ with {instrument}]", (obj(FOOD), WITH), "turn", "verb class turn, bound to food"),
    act("turn_lid", "turn", "turn {object}", (obj(frozenset({"lid", "part", "base", "filter"})), HAND_ROLE), "turn",
        "verb class turn, bound to a lid or part"),
    act("turn", "turn", "turn {object}", (obj(ANY), WITH, HAND_ROLE), "turn screw", "verb class turn"),
    act("tilt_vessel", "tilt", "tilt {object}[ over {target}]",
        (obj(VESSELS | PACKS), Parameter("target", SURFACES | INSIDES, optional=True)), "tilt", "verb class lift, tilted vessel"),
    act("tilt", "tilt", "tilt {object}", (obj(ANY),), "tilt", "verb class lift, tilted"),
    ActionType(
        "stack", "put_on", "stack {object} on {target}", (obj(frozenset("bowl plate cup pan tray tub glass pot board".split())),
                                                         Parameter("target", frozenset("bowl plate cup pan tray tub glass pot board".split()))),
        (Held("object"), Reach("target"), Apart("object", "target")), (Move("object", "on", "target"),), ("stack",),
        "verb class sort, stacked",
    ),
)  # fmt: skip
