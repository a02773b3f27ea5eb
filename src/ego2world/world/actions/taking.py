"""Taking things into a hand, from wherever they are, and passing them between hands."""

from ego2world.world.actions.base import ActionType, Goes, HandFree, HandRoom, HandSpace, Held, Is, Joins, Reach, Var
from ego2world.world.actions.vocabulary import (
    APPLIANCES,
    COLD,
    DISHES,
    FIXED,
    FOOD,
    HAND,
    HAND_ROLE,
    HEATERS,
    INSIDES,
    PACKS,
    PORTABLE,
    RACKS,
    STORES,
    SURFACES,
    TOOLS,
    VESSELS,
    WORKTOPS,
    act,
    grasp,
    obj,
    source,
)

OPEN_SOURCE = Is("openness", "source", ("open",))
_TAKE, _OUT = "take gather", "take_out remove"


def _from_open(action: ActionType) -> ActionType:
    """Add the need that the closable source is open (reaching what is inside implies it; the report names it)."""
    return ActionType(
        action.name, action.family, action.says, action.roles, (OPEN_SOURCE, *action.needs), action.makes,
        action.senses, action.source,
    )  # fmt: skip


ACTIONS = (
    ActionType(
        "pick_up_with_tool", "pick_up", "pick up {object} with {instrument}[ from {source}]",
        (obj(PORTABLE), Var("instrument", TOOLS), source(SURFACES | INSIDES, optional=True)),
        (Reach("object"), Held("instrument")), (Goes("object", "on", "instrument"),),
        ("take", "take_out", "remove", "gather"), "verb class take with an instrument",
    ),
    ActionType(
        "lift_with_tool", "lift", "lift {object} with {instrument}[ from {source}]",
        (obj(PORTABLE), Var("instrument", TOOLS), source(SURFACES | INSIDES, optional=True)),
        (Reach("object"), Held("instrument")), (Goes("object", "on", "instrument"),),
        ("lift",), "verb class lift with an instrument",
    ),
    _from_open(grasp("pick_up_from_cold_storage", "pick_up", "pick up {object} from {source}", COLD, _TAKE,
                     "verb class take, from fridge or freezer")),
    _from_open(grasp("pick_up_from_heater", "pick_up", "pick up {object} from {source}", HEATERS - {"toaster"}, _TAKE,
                     "verb class take, from oven or microwave")),
    _from_open(grasp("pick_up_from_dishwasher", "pick_up", "pick up {object} from {source}",
                     frozenset({"dishwasher", "washing_machine"}), _TAKE, "verb class take, from dishwasher")),
    grasp("pick_up_from_storage", "pick_up", "pick up {object} from {source}", STORES, _TAKE,
          "verb class take, from cupboard, drawer or shelf"),
    grasp("pick_up_from_sink", "pick_up", "pick up {object} from {source}", frozenset({"sink"}), _TAKE,
          "verb class take, from the sink"),
    grasp("pick_up_from_rack", "pick_up", "pick up {object} from {source}", RACKS, _TAKE,
          "verb class take, from rack, rail or hook"),
    grasp("pick_up_from_hob", "pick_up", "pick up {object} from {source}", frozenset({"hob"}), _TAKE,
          "verb class take, from the hob"),
    grasp("pick_up_from_pack", "pick_up", "pick up {object} from {source}", PACKS, _TAKE,
          "verb class take, from packaging"),
    grasp("pick_up_from_dish", "pick_up", "pick up {object} from {source}", DISHES, _TAKE,
          "verb class take, from crockery, cookware or a board"),
    grasp("pick_up_from_appliance", "pick_up", "pick up {object} from {source}", APPLIANCES | {"base", "part"}, _TAKE,
          "verb class take, from an appliance or its base"),
    grasp("pick_up_from_surface", "pick_up", "pick up {object} from {source}", WORKTOPS, _TAKE,
          "verb class take, from a worktop, table or floor"),
    grasp("pick_up_from_thing", "pick_up", "pick up {object} from {source}", SURFACES | INSIDES, _TAKE,
          "verb class take, from anything else"),
    grasp("pick_up", "pick_up", "pick up {object}", None, _TAKE, "verb class take, source not named"),
    ActionType(
        "pick_up_also", "pick_up", "also pick up {object}[ from {source}] in the same hand",
        (obj(PORTABLE), source(SURFACES | INSIDES, optional=True), Var("hand", HAND)),
        (Reach("object"), HandRoom()), (Goes("object", "held", "hand"),), (),
        "verb class take while the hand already holds something small",
    ),
    ActionType(
        "take_out_also", "take_out", "also take out {object}[ from {source}] in the same hand",
        (obj(PORTABLE), source(SURFACES | INSIDES, optional=True), Var("hand", HAND)),
        (Reach("object"), HandRoom()), (Goes("object", "held", "hand"),), (),
        "verb class take-out while the hand already holds something small",
    ),
    ActionType(
        "lift_also", "lift", "also lift {object}[ from {source}] in the same hand",
        (obj(PORTABLE), source(SURFACES | INSIDES, optional=True), Var("hand", HAND)),
        (Reach("object"), HandRoom()), (Goes("object", "held", "hand"),), (),
        "verb class lift while the hand already holds something small",
    ),
    grasp("take_out_of_storage", "take_out", "take {object} out of {source}", STORES, _OUT,
          "verb classes take-out and remove, from storage"),
    _from_open(grasp("take_out_of_cold_storage", "take_out", "take {object} out of {source}", COLD, _OUT,
                     "verb classes take-out and remove, from fridge or freezer")),
    _from_open(grasp("take_out_of_heater", "take_out", "take {object} out of {source}", HEATERS - {"toaster"}, _OUT,
                     "verb classes take-out and remove, from oven or microwave")),
    _from_open(grasp("take_out_of_dishwasher", "take_out", "take {object} out of {source}",
                     frozenset({"dishwasher", "washing_machine"}), _OUT, "take-out and remove, from dishwasher")),
    grasp("take_out_of_sink", "take_out", "take {object} out of {source}", frozenset({"sink", "bin"}), _OUT,
          "verb classes take-out and remove, from sink or bin"),
    grasp("take_out_of_pack", "take_out", "take {object} out of {source}", PACKS, _OUT,
          "verb classes take-out and remove, from packaging"),
    grasp("take_out_of_vessel", "take_out", "take {object} out of {source}", VESSELS, _OUT,
          "verb classes take-out and remove, from a vessel"),
    grasp("take_out", "take_out", "take out {object}", None, _OUT, "verb class take-out, source not named"),
    grasp("remove_from_surface", "pick_up", "take {object} off {source}", SURFACES | INSIDES, "remove take_out take",
          "verb class remove, from something it lies on"),
    ActionType(
        "pass_hand", "pass_hand", "pass {object} to {hand}", (obj(PORTABLE), Var("hand", HAND)),
        (Held("object"), HandSpace()), (Goes("object", "held", "hand"),), ("pass",), "verb class move between hands",
    ),
    ActionType(
        "lift", "lift", "lift {object}[ from {source}]", (obj(PORTABLE), source(SURFACES | INSIDES, optional=True), HAND_ROLE),
        (Reach("object"), HandFree()), (Goes("object", "held", "hand"),), ("lift",), "verb class lift",
    ),
    act("lift_held", "lift", "lift {object}", (obj(PORTABLE),), "", "verb class lift, of something in the hand"),
    act("lift_part", "lift", "lift {object}", (obj(SURFACES | INSIDES),), "lift", "verb class lift, of a fixed part"),
    act("take_hold", "pick_up", "take hold of {object}", (obj(FIXED | PORTABLE), HAND_ROLE), "take gather take_out lift remove",
        "verb class take, bound to something that stays where it is"),
    act("lower", "lift", "lower {object}[ towards {target}]",
        (obj(PORTABLE | SURFACES), Var("target", SURFACES | INSIDES, optional=True)), "lower", "verb class lower"),
    act("hold", "hold", "hold {object}", (obj(PORTABLE | SURFACES | INSIDES | frozenset({"tap", "light", "plug"})), HAND_ROLE),
        "hold", "verb class hold"),
    ActionType(
        "pluck_food", "take_out", "take {object} off {source}", (obj(FOOD), source(FOOD), HAND_ROLE),
        (Reach("object"), HandFree()), (Goes("object", "held", "hand"), Joins("object", None)), ("remove", "take_out"),
        "verb class remove, part of a food off the rest",
    ),
)  # fmt: skip
