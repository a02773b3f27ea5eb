"""All action types, by theme, and the lookups over them.

To add one: copy its nearest neighbour in a theme file and list it in that file's ``ACTIONS``.
"""

from collections.abc import Iterator
from dataclasses import replace

from ego2world.world.actions import bodily, cleaning, joining, opening, placing, pouring, powering, preparing, taking
from ego2world.world.actions.base import ActionType, Parameter
from ego2world.world.actions.vocabulary import ANY, HAND

__all__ = ["ACTIONS", "ALIKE", "BY_NAME", "BY_SENSE", "FAMILIES", "ActionType", "Parameter", "candidates", "choose"]

_CONTEXT = ("hand", "instrument", "source", "target")


def _with_context(action: ActionType) -> ActionType:
    """Let every type record where, whence, with what and with which hand, even where nothing depends on it."""
    extra = tuple(
        Parameter(role, HAND if role == "hand" else ANY, optional=True)
        for role in _CONTEXT
        if action.parameter(role) is None
    )
    return replace(action, roles=action.roles + extra, declared=len(action.roles))


THEMES = (taking, placing, opening, powering, pouring, joining, cleaning, preparing, bodily)
ACTIONS: tuple[ActionType, ...] = tuple(_with_context(action) for theme in THEMES for action in theme.ACTIONS)
BY_NAME: dict[str, ActionType] = {action.name: action for action in ACTIONS}
FAMILIES: tuple[str, ...] = tuple(sorted({action.family for action in ACTIONS}))
BY_SENSE: dict[str, tuple[ActionType, ...]] = {
    sense: tuple(action for action in ACTIONS if sense in action.senses)
    for sense in sorted({sense for action in ACTIONS for sense in action.senses})
}

# Where no type of a sense accepts the binding, these senses, which say the same of it, are tried in order.
ALIKE: dict[str, tuple[str, ...]] = {
    "insert": ("put",), "put": ("insert",), "hang": ("put",), "stack": ("put",), "drop": ("put",), "throw": ("throw_away",),
    "throw_away": ("throw", "put"), "take": ("take_out", "scoop"), "take_out": ("take", "remove"), "remove": ("take", "detach"),
    "lift": ("take",), "gather": ("take",), "bring": ("move",), "scoop": ("take",), "uncover_lid": ("remove", "detach"),
    "cover_lid": ("put", "cover"), "take_off": ("remove",), "press_on": ("press",), "press_off": ("press",),
    "turn_on": ("press_on",), "turn_off": ("press_off",), "unscrew": ("detach",), "screw": ("attach",), "plug_in": ("attach",),
    "unplug": ("detach",), "fill": ("add",), "add": ("insert",), "pour": ("add",), "sprinkle": ("add",), "wring": ("squeeze",),
    "wrap": ("cover",), "whisk": ("mix",), "position": ("hold",),
}  # fmt: skip

for _action in ACTIONS:
    _action.check()


def choose(sense: str, kinds: dict[str, str]) -> ActionType | None:
    """Return the most particular action type of a verb sense that accepts what is bound.

    Args:
        sense: a verb sense of the lexicon, or the name or family of an action type.
        kinds: role -> kind of what is bound to it. Roles the type does not know are tolerated only when they are
            hand, source, target or instrument (said, but without influence on this type).

    Returns:
        The first declared type that accepts the binding, most roles used first; None when no type does.
    """
    return next(iter(candidates(sense, kinds)), None)


def candidates(sense: str, kinds: dict[str, str]) -> tuple[ActionType, ...]:
    """Return all action types of a sense that accept what is bound, the best first; see ``choose``."""
    listed = BY_SENSE.get(sense) or tuple(action for action in ACTIONS if sense in {action.name, action.family})
    fitting = [(-used, index) for index, action in enumerate(listed) if (used := _accepts(action, kinds)) >= 0]
    return tuple(listed[index] for _, index in sorted(fitting))


def ways(sense: str, kinds: dict[str, str], most: int = 3) -> Iterator[ActionType]:
    """Yield the action types that may carry out a sense: its own, then those that say the same.

    Args:
        sense: a verb sense of the lexicon.
        kinds: role -> kind of what is bound to it.
        most: how many types of one sense to yield at most, the best first.
    """
    for attempt in (sense, *ALIKE.get(sense, ())):
        yield from candidates(attempt, kinds)[:most]


_TOLERATED = frozenset({"hand", "source", "target", "instrument"})


def _accepts(action: ActionType, kinds: dict[str, str]) -> int:
    """Return how many bound roles the type uses, or -1 when it does not fit."""
    used = 0
    for var in action.roles:
        kind = kinds.get(var.role)
        if kind is None:
            if not var.optional and var.role != "hand":
                return -1
        elif kind in var.accepts:
            used += var.role != "hand" and var in action.roles[: action.declared]
        elif not var.optional or var.role not in _TOLERATED:
            return -1
    for role in kinds:
        if role not in _TOLERATED and action.parameter(role) is None:
            return -1
    return used
