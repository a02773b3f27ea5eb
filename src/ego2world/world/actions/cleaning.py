"""Washing, rinsing, scrubbing, scraping, wiping, drying and soaking: hands, dishes, food, cloths and surfaces."""

from ego2world.world.actions.base import ActionType, Apart, Held, Move, Parameter, Reach, SetContent
from ego2world.world.actions.vocabulary import (
    ANY,
    BODY,
    CLOTHS,
    FIXED,
    FOOD,
    INSIDES,
    PORTABLE,
    STUFF,
    SUBSTANCE,
    SURFACES,
    VESSELS,
    WITH,
    act,
    becomes,
    obj,
)

_AT = Parameter("target", SURFACES | INSIDES | frozenset({"tap"}), optional=True)
_OFF = Parameter("source", ANY, optional=True)
_STUFF = obj(STUFF)


def _on(
    name: str, family: str, verb: str, things: frozenset[str], senses: str, bound: str, **state: str | bool
) -> ActionType:
    return act(name, family, f"{verb} {{object}}[ with {{instrument}}]", (obj(things), WITH, _AT), senses,
               f"verb class {family}, bound to {bound}", effects=becomes(**state))  # fmt: skip


ACTIONS = (
    _on("wash_hands", "wash", "wash", BODY, "wash lather", "hands", cleanliness="clean", wetness="wet"),
    _on("wash_food", "wash", "wash", FOOD, "wash", "food", cleanliness="clean", wetness="wet"),
    _on("wash_cloth", "wash", "wash", CLOTHS, "wash", "a cloth", cleanliness="clean", wetness="wet"),
    _on("wash_surface", "wash", "clean", FIXED, "wash", "a surface", cleanliness="clean"),
    _on("wash_item", "wash", "wash", PORTABLE, "wash", "a thing", cleanliness="clean", wetness="wet"),
    _on("lather", "wash", "lather", ANY, "lather", "anything, with soap", cleanliness="soapy", wetness="wet"),
    _on("rinse_hands", "rinse", "rinse", BODY, "rinse", "hands", cleanliness="clean", wetness="wet"),
    _on("rinse_food", "rinse", "rinse", FOOD, "rinse", "food", cleanliness="clean", wetness="wet"),
    _on("rinse_cloth", "rinse", "rinse", CLOTHS, "rinse", "a cloth", cleanliness="clean", wetness="wet"),
    _on("rinse_surface", "rinse", "rinse", FIXED, "rinse", "a surface", cleanliness="clean", wetness="wet"),
    _on("rinse_item", "rinse", "rinse", PORTABLE, "rinse", "a thing", cleanliness="clean", wetness="wet"),
    _on("scrub_hands", "scrub", "rub", BODY, "scrub", "hands", cleanliness="clean"),
    _on("scrub_surface", "scrub", "scrub", FIXED, "scrub", "a surface", cleanliness="clean"),
    _on("scrub_item", "scrub", "scrub", PORTABLE, "scrub", "a thing", cleanliness="clean"),
    ActionType(
        "scrape_into", "move", "scrape {object}[ from {source}] into {target}[ with {instrument}]",
        (_STUFF, _OFF, Parameter("target", SURFACES | INSIDES), WITH),
        (Reach("object"), Reach("target"), Held("instrument"), Apart("object", "target")), (Move("object", "in", "target"),),
        ("scrape", "sweep"), "verb class scrape, from one place into another",
    ),
    ActionType(
        "scrape_substance", "move", "scrape {object}[ from {source}] into {target}[ with {instrument}]",
        (Parameter("object", SUBSTANCE), _OFF, Parameter("target", SURFACES | INSIDES), WITH), (Reach("target"), Held("instrument")),
        (SetContent("target", "object"),), ("scrape", "sweep"), "verb class scrape, bound to a substance",
    ),
    _on("scrape_clean", "scrub", "scrape", VESSELS | FIXED, "scrape", "a vessel or surface", cleanliness="clean"),
    act("scrape", "scrub", "scrape {object}[ off {source}][ with {instrument}]", (obj(ANY), _OFF, WITH), "scrape",
        "verb class scrape"),
    _on("wipe_surface", "wipe", "wipe", FIXED, "wipe", "a surface", cleanliness="clean"),
    _on("wipe_hands", "wipe", "wipe", BODY, "wipe", "hands", cleanliness="clean"),
    _on("wipe_item", "wipe", "wipe", PORTABLE, "wipe", "a thing", cleanliness="clean"),
    _on("sweep_surface", "wipe", "sweep", FIXED, "sweep", "a surface", cleanliness="clean"),
    act("sweep_stuff", "wipe", "sweep {object}[ with {instrument}]", (obj(ANY), WITH, _OFF), "sweep wipe",
        "verb class brush, bound to crumbs"),
    _on("dry_hands", "dry", "dry", BODY, "dry", "hands", wetness="dry"),
    _on("dry_surface", "dry", "dry", FIXED, "dry", "a surface", wetness="dry"),
    _on("dry_item", "dry", "dry", PORTABLE, "dry", "a thing", wetness="dry"),
    _on("soak_cloth", "soak", "wet", CLOTHS, "soak", "a cloth", wetness="wet"),
    ActionType(
        "dip_in", "soak", "dip {object} in {target}", (obj(PORTABLE), Parameter("target", VESSELS | INSIDES | SURFACES)),
        (Held("object"), Reach("target"), Apart("object", "target")), becomes(wetness="wet"), ("soak",),
        "verb class soak, into a vessel",
    ),
    _on("soak", "soak", "soak", ANY, "soak", "anything", wetness="wet"),
    act("remove_stuff", "wipe", "remove {object}[ from {source}][ with {instrument}]",
        (obj(STUFF | frozenset({"water", "mixture"})), _OFF, WITH), "remove", "verb class remove, bound to dirt or residue"),
)  # fmt: skip
