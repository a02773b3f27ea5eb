"""Switching, pressing, adjusting and plugging."""

from ego2world.world.actions.base import ActionType, Assign, Attach, Is, Parameter, Reach
from ego2world.world.actions.vocabulary import ANY, FIXED, HAND_ROLE, PORTABLE, SURFACES, WITH, act, obj

_SWITCHED = (
    ("tap", "tap"), ("hob", "hob"), ("oven", "oven"), ("microwave", "microwave"), ("kettle", "kettle"),
    ("light", "light"), ("fan", "fan"), ("scale", "scale"), ("dishwasher", "dishwasher washing_machine"),
    ("fridge", "fridge freezer"), ("screen", "alarm phone computer"),
    ("machine", "coffee_machine food_processor appliance toaster grinder"), ("thing", "part base tool thing"),
)  # fmt: skip


def _switch(name: str, kinds: str, turned: str) -> ActionType:
    other = "off" if turned == "on" else "on"
    senses = f"turn_{turned}"
    if name == "tap":
        senses += " open" if turned == "on" else " close"
    return ActionType(
        f"turn_{turned}_{name}", f"turn_{turned}", f"turn {turned} {{object}}", (obj(frozenset(kinds.split())), HAND_ROLE),
        (Reach("object"), Is("power", "object", (other,))), (Assign("power", "object", turned),), tuple(senses.split()),
        f"verb class turn-{turned}, bound to {kinds}",
    )  # fmt: skip


_KNOBS = frozenset("button knob handle plug flap part base".split())

ACTIONS = (
    *(_switch(name, kinds, "on") for name, kinds in _SWITCHED),
    *(_switch(name, kinds, "off") for name, kinds in _SWITCHED),
    ActionType(
        "press_start", "press", "press {object} to start {target}",
        (obj(_KNOBS), Parameter("target", frozenset(kind for _, kinds in _SWITCHED for kind in kinds.split())), HAND_ROLE),
        (Reach("object"), Reach("target"), Is("power", "target", ("off",))), (Assign("power", "target", "on"),),
        ("press_on",), "verb class press, with the purpose of starting",
    ),
    ActionType(
        "press_stop", "press", "press {object} to stop {target}",
        (obj(_KNOBS), Parameter("target", frozenset(kind for _, kinds in _SWITCHED for kind in kinds.split())), HAND_ROLE),
        (Reach("object"), Reach("target"), Is("power", "target", ("on",))), (Assign("power", "target", "off"),),
        ("press_off",), "verb class press, with the purpose of stopping",
    ),
    act("press_button", "press", "press {object}[ of {target}]", (obj(_KNOBS), Parameter("target", ANY, optional=True), HAND_ROLE),
        "press turn_on turn_off", "verb class press, bound to a button"),
    act("press_down", "press", "press {object}[ with {instrument}]", (obj(ANY), WITH, HAND_ROLE), "press",
        "verb class press, bound to anything else"),
    act("adjust_flow", "adjust", "adjust {object}", (obj(frozenset({"tap"})),), "adjust increase decrease move turn",
        "verb class adjust, bound to a tap"),
    act("adjust_heat", "adjust", "adjust {object}", (obj(frozenset({"hob", "oven", "microwave", "toaster", "kettle"})),),
        "adjust increase decrease", "verb class adjust, bound to a heater"),
    act("adjust_setting", "adjust", "adjust {object}",
        (obj(frozenset("alarm scale coffee_machine food_processor appliance knob button phone computer fan light "
                       "grinder washing_machine dishwasher".split())),),
        "adjust increase decrease", "verb class adjust, bound to a machine"),
    act("adjust_position", "adjust", "adjust {object}", (obj(ANY), WITH, HAND_ROLE), "adjust increase decrease",
        "verb class adjust, bound to anything else"),
    ActionType(
        "plug_in", "attach", "plug {object} in[ at {target}]",
        (obj(PORTABLE), Parameter("target", FIXED | PORTABLE | SURFACES)), (Reach("object"), Reach("target")),
        (Attach("object", "target"),), ("plug_in",), "verb class attach, bound to a plug",
    ),
    ActionType(
        "unplug", "detach", "unplug {object}[ from {source}]",
        (obj(PORTABLE), Parameter("source", FIXED | PORTABLE | SURFACES, optional=True)), (Reach("object"),),
        (Attach("object", None),), ("unplug",), "verb class divide, bound to a plug",
    ),
)  # fmt: skip
