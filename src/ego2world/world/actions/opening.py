"""Opening and closing: what is opened decides what must hold and what changes."""

from ego2world.world.actions.base import ActionType, Assign, Attach, HandFree, Is, Parameter, Reach
from ego2world.world.actions.vocabulary import HAND_ROLE, INSIDES, PACKS, PORTABLE, TOOLS, VESSELS, obj

_JARS = (INSIDES | VESSELS) & PORTABLE  # what a lid is screwed on
_TOOL = Parameter("instrument", TOOLS, optional=True)


def _opens(name: str, kinds: str, senses: str = "open", by_hand: bool = True) -> ActionType:
    return ActionType(
        f"open_{name}", "open", "open {object}", (obj(frozenset(kinds.split())), HAND_ROLE),
        (Reach("object"), Is("openness", "object", ("closed",)), *((HandFree(),) if by_hand else ())),
        (Assign("openness", "object", "open"),), tuple(senses.split()), f"verb class open, bound to {kinds}",
    )  # fmt: skip


def _closes(name: str, kinds: str, senses: str = "close") -> ActionType:
    return ActionType(
        f"close_{name}", "close", "close {object}", (obj(frozenset(kinds.split())), HAND_ROLE),
        (Reach("object"), Is("openness", "object", ("open",))), (Assign("openness", "object", "closed"),),
        tuple(senses.split()), f"verb class close, bound to {kinds}",
    )  # fmt: skip


_LIDDED = frozenset("jug pot pan bowl cup glass tray".split())  # open on top, with a lid that may be on it
_RACKS = frozenset({"rack"})


def _slides(name: str, family: str, says: str, out: bool, senses: str) -> ActionType:
    return ActionType(
        name, family, says, (obj(_RACKS), Parameter("source", INSIDES, optional=True), Parameter("target", INSIDES, optional=True),
                             HAND_ROLE),
        (Reach("object"),), (Assign("pulled_out", "object", out),), tuple(senses.split()),
        f"verb classes pull and push, bound to a rack that slides, {'out' if out else 'in'}",
    )  # fmt: skip


_KINDS = (
    ("cupboard", "cupboard"), ("drawer", "drawer"), ("fridge", "fridge"), ("freezer", "freezer"), ("oven", "oven"),
    ("microwave", "microwave"), ("dishwasher", "dishwasher"), ("washing_machine", "washing_machine"), ("bin", "bin"),
    ("door", "door window"), ("bottle", "bottle"), ("jar", "jar"), ("can", "can"), ("tub", "tub"), ("box", "box"),
    ("bag", "bag"), ("packet", "packet foil"), ("appliance", "coffee_machine food_processor appliance kettle grinder"),
    ("book", "book paper"), ("lid", "lid flap"), ("tool", "press tool filter"),
)  # fmt: skip

ACTIONS = (
    *(_opens(name, kinds, by_hand=False) for name, kinds in _KINDS),
    _opens("part", "part base thing", by_hand=False),
    *(_closes(name, kinds) for name, kinds in _KINDS),
    _closes("part", "part base thing"),
    _slides("pull_rack_out", "take_out", "pull {object} out[ of {source}]", True, "take_out"),
    _slides("pull_rack", "move", "pull {object} out", True, "pull_out"),
    _slides("open_rack", "open", "pull {object} open", True, "open"),
    _slides("push_rack_in", "move", "push {object} in", False, "push_in"),
    _slides("close_rack", "close", "push {object} shut", False, "close"),
    ActionType(
        "open_lidded", "open", "open {object}", (obj(_LIDDED), HAND_ROLE), (Reach("object"),),
        (Assign("covered", "object", False),), ("open",), "verb class open, bound to a vessel with a lid",
    ),
    ActionType(
        "close_lidded", "close", "close {object}", (obj(_LIDDED), HAND_ROLE), (Reach("object"),),
        (Assign("covered", "object", True),), ("close",), "verb class close, bound to a vessel with a lid",
    ),
    ActionType(
        "cut_open", "open", "cut {object}[ with {instrument}]", (obj(PACKS), _TOOL),
        (Reach("object"), Is("openness", "object", ("closed",))),
        (Assign("openness", "object", "open"), Assign("form", "object", "cut")), ("cut", "pierce"),
        "verb class cut, bound to packaging",
    ),
    ActionType(
        "tear_open", "open", "tear {object} open", (obj(frozenset({"packet", "bag", "box", "foil"})), HAND_ROLE),
        (Reach("object"), Is("openness", "object", ("closed",))),
        (Assign("openness", "object", "open"), Assign("form", "object", "torn")), ("tear",),
        "verb class rip, bound to packaging",
    ),
    ActionType(
        "unscrew_lid", "uncover", "unscrew {object}[ from {source}]",
        (obj(frozenset({"lid"})), Parameter("source", _JARS, optional=True), HAND_ROLE),
        (Reach("object"), Reach("source")), (Attach("object", None), Assign("openness", "source", "open"),
                             Assign("covered", "source", False)), ("unscrew",), "verb class unscrew, bound to a lid",
    ),
    ActionType(
        "screw_on_lid", "cover", "screw {object} on {target}",
        (obj(frozenset({"lid"})), Parameter("target", _JARS), HAND_ROLE), (Reach("object"), Reach("target")),
        (Attach("object", "target"), Assign("openness", "target", "closed")), ("screw",),
        "verb class screw, bound to a lid",
    ),
    ActionType(
        "unlock", "open", "unlock {object}", (obj(INSIDES | PORTABLE | frozenset({"door"})),), (Reach("object"),),
        (Assign("locked", "object", False),), ("unlock",), "verb class unlock",
    ),
    ActionType(
        "lock", "close", "lock {object}", (obj(INSIDES | PORTABLE | frozenset({"door"})),), (Reach("object"),),
        (Assign("locked", "object", True),), ("lock",), "verb class lock",
    ),
)  # fmt: skip
