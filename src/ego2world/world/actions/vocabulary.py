"""Kind sets and role declarations that the action themes share."""

from __future__ import annotations

from ego2world.ontology.kinds import KINDS, Trait, kinds_with
from ego2world.world.actions.base import (
    ActionType,
    Apart,
    Assign,
    Effect,
    HandFree,
    Held,
    Move,
    Parameter,
    Precondition,
    Reach,
    Within,
)

ANY = frozenset(KINDS) - {"agent", "zone"}
PORTABLE = kinds_with(Trait.PORTABLE)
FIXED = kinds_with(Trait.FIXED)
SUBSTANCE = kinds_with(Trait.SUBSTANCE)
FOOD = kinds_with(Trait.FOOD)
SURFACES = kinds_with(Trait.SURFACE) - {"agent", "zone"}
INSIDES = kinds_with(Trait.INSIDE) - {"agent", "zone"}
VESSELS = kinds_with(Trait.VESSEL)
PACKS = kinds_with(Trait.PACK)
TOOLS = kinds_with(Trait.TOOL) | frozenset({"fork", "lid", "board", "plate", "cup", "bowl", "glass", "part", "hand"})
BLADES = kinds_with(Trait.BLADE)
CLOTHS = kinds_with(Trait.CLOTH)
HAND = frozenset({"hand"})
BODY = kinds_with(Trait.BODY)
DISHES = frozenset("bowl plate cup glass jug pan pot tray board colander".split())
APPLIANCES = frozenset("coffee_machine food_processor appliance toaster grinder scale kettle press filter".split())
STORES = frozenset("cupboard drawer shelf".split())
COLD = frozenset("fridge freezer".split())
HEATERS = frozenset("oven microwave toaster".split())
WORKTOPS = frozenset("counter table floor wall window chair radiator ladder socket room".split())
RACKS = frozenset("rack hook".split())
STUFF = SUBSTANCE | FOOD | frozenset({"rubbish", "thing", "tool", "part", "packet"})
EDIBLE = FOOD | SUBSTANCE | frozenset({"rubbish", "thing"})
ROOM_SURFACES = FIXED - {"zone", "room"}


def obj(accepts: frozenset[str], many: bool = True) -> Parameter:
    """Declare the thing acted on."""
    return Parameter("object", accepts, many=many)


HAND_ROLE = Parameter("hand", HAND, optional=True)
WITH = Parameter("instrument", PORTABLE | HAND, optional=True)


def source(accepts: frozenset[str], optional: bool = False) -> Parameter:
    """Declare where the thing comes from."""
    return Parameter("source", accepts, optional=optional)


def target(accepts: frozenset[str], optional: bool = False) -> Parameter:
    """Declare where the thing goes."""
    return Parameter("target", accepts, optional=optional)


def act(
    name: str,
    family: str,
    says: str,
    roles: tuple[Parameter, ...],
    senses: str,
    source_text: str,
    preconditions: tuple[Precondition, ...] = (),
    effects: tuple[Effect, ...] = (),
) -> ActionType:
    """Declare an action on things within reach: reach of the object and a held instrument are always needed."""
    names = {var.role for var in roles}
    common: tuple[Precondition, ...] = ()
    if "object" in names and not any(
        getattr(need, "role", "") == "object" and isinstance(need, Reach | Held) for need in preconditions
    ):
        common += (Reach("object"),)
    if "instrument" in names:
        common += (Held("instrument"),)
    return ActionType(
        name,
        family,
        says,
        roles,
        common + preconditions,
        effects,
        tuple(senses.split()),
        source_text,
        event_only=not effects,
    )


def grasp(
    name: str, family: str, says: str, origins: frozenset[str] | None, senses: str, source_text: str
) -> ActionType:
    """Declare one way of taking something into a hand."""
    roles: tuple[Parameter, ...] = (obj(PORTABLE),)
    preconditions: tuple[Precondition, ...] = (Reach("object"), HandFree())
    if origins is not None:
        roles += (source(origins),)
        preconditions += (Within("object", "source"),)
    return ActionType(
        name, family, says, (*roles, HAND_ROLE), preconditions, (Move("object", "held", "hand"),),
        tuple(senses.split()), source_text,
    )  # fmt: skip


def release(
    name: str, family: str, says: str, how: str, targets: frozenset[str], senses: str, source_text: str,
    objects: frozenset[str] = PORTABLE, extra: tuple[Effect, ...] = (), preconditions: tuple[Precondition, ...] = (),
) -> ActionType:  # fmt: skip
    """Declare one way of letting a held thing go onto or into something."""
    return ActionType(
        name, family, says, (obj(objects), target(targets), HAND_ROLE),
        (Held("object"), Reach("target"), Apart("object", "target"), *preconditions),
        (Move("object", how, "target"), *extra), tuple(senses.split()), source_text,
    )  # fmt: skip


def becomes(**values: str | bool) -> tuple[Effect, ...]:
    """Return effects on the object, one per fluent."""
    return tuple(Assign(fluent, "object", value) for fluent, value in values.items())
