"""Entity types ("kinds") and what each can be or do, as traits. Stage: ontology.

This is the only place that lists kinds by what they have in common: the first table says what they are to the executor,
the second what they are to reading, binding and planning.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache

from ego2world.errors import DeclarationError


class Trait(StrEnum):
    """One ability or property that action types ask for."""

    FIXED = "fixed"  # stands where it stands; has a zone
    PORTABLE = "portable"  # can be held in a hand
    SURFACE = "surface"  # things can be on it
    INSIDE = "inside"  # things can be in it
    STORAGE = "storage"  # a fixture with an inside
    OPENABLE = "openable"  # has openness; closed hides and blocks what is in it
    VESSEL = "vessel"  # holds liquids and loose stuff without a lid of its own
    PACK = "pack"  # closable packaging
    POWERED = "powered"  # has power on or off
    HEATS = "heats"
    COLD = "cold"
    TRANSPARENT = "transparent"  # contents are seen even when closed
    SUBSTANCE = "substance"  # poured or scooped; is contained, never held
    FOOD = "food"
    TOOL = "tool"
    BLADE = "blade"
    CLOTH = "cloth"
    PART = "part"  # belongs to something else
    BODY = "body"
    PLACE = "place"
    SELF = "self"
    WORKTOP = "worktop"  # where a thing may be put down
    GENERIC = "generic"  # so general that the name alone fits nothing
    VAGUE = "vague"  # so general that sharing it says nothing
    FLAT = "flat"  # things lie on it, not in it
    DOORED = "doored"  # has a door that ought not to stand open
    UNSEEN = "unseen"  # is no thing that is seen
    OWNED_PART = "owned_part"  # keeps its own identity although it belongs to something
    CONTAINER = "container"  # names its content when it is said with "of"
    VESSEL_NAMED = "vessel_named"  # a vessel that is said for its content
    TRANSPARENT_PART = "transparent_part"  # acts on it are acts on what has it
    OPENED = "opened"  # is opened and closed rather than moved
    INSTRUMENT = "instrument"  # is used as a tool
    EATEN_WITH = "eaten_with"  # holds a bite: a place said first is where it is from
    SHAKEN_OFF = "shaken_off"  # is shaken off something
    LIDDED = "lidded"  # has a lid
    KEEPS_LIDS = "keeps_lids"  # a lid there is no lid of it
    LAID_OVER = "laid_over"  # is laid over things
    WORN = "worn"  # is worn
    UNCLEAR = "unclear"  # tells a viewer too little to ask about it


def _traits(text: str) -> frozenset[Trait]:
    return frozenset(Trait(word) for word in text.split())


_EXECUTED: dict[str, frozenset[Trait]] = {
    kind: _traits(text)
    for kinds, text in (
        ("agent", ""),
        ("zone room", "place fixed surface inside"),
        ("counter table floor wall window chair ladder radiator", "fixed surface"),
        ("shelf", "fixed surface inside storage"),
        ("rack hook", "fixed surface inside storage"),
        ("sink", "fixed surface inside vessel"),
        ("hob", "fixed surface powered heats"),
        ("cupboard drawer", "fixed inside surface storage openable"),
        ("fridge freezer", "fixed inside surface storage openable cold powered"),
        ("oven microwave", "fixed inside surface storage openable powered heats"),
        ("dishwasher washing_machine", "fixed inside surface storage openable powered"),
        ("bin", "fixed inside surface openable"),
        ("door", "fixed openable surface"),
        ("socket", "fixed surface"),
        ("light fan", "fixed powered"),
        ("tap", "fixed powered"),
        ("kettle", "portable vessel inside openable powered heats"),
        ("coffee_machine food_processor appliance toaster", "portable inside surface vessel openable powered"),
        ("scale", "portable surface powered"),
        ("grinder", "portable inside vessel openable powered tool"),
        ("alarm", "portable powered"),
        ("phone computer", "portable powered surface"),
        ("battery", "portable"),
        ("button knob handle", "part portable"),
        ("plug nozzle", "part portable"),
        ("flap", "part portable openable"),
        ("base part", "part portable surface inside vessel openable powered"),
        ("bowl cup glass jug pan pot", "portable vessel inside surface"),
        ("plate tray board", "portable vessel inside surface"),
        ("colander", "portable vessel inside surface tool"),
        ("bottle", "portable inside pack vessel openable transparent"),
        ("jar tub", "portable inside pack vessel openable transparent surface"),
        ("can box bag packet", "portable inside pack vessel openable surface"),
        ("lid", "portable surface vessel inside openable"),
        ("knife scissors", "portable tool blade surface"),
        ("peeler grater opener", "portable tool blade"),
        ("spoon", "portable tool vessel inside surface"),
        ("fork chopsticks cutlery spatula whisk tongs", "portable tool surface vessel inside"),
        ("press", "portable tool vessel inside openable"),
        ("pestle rolling_pin thermometer brush pen", "portable tool"),
        ("funnel filter", "portable tool vessel inside surface openable"),
        ("skewer", "portable tool surface"),
        ("tool", "portable tool surface inside openable powered vessel"),
        ("book paper", "portable surface inside openable pack"),
        ("cloth sponge towel", "portable cloth tool surface inside"),
        ("mat", "portable cloth surface"),
        ("glove", "portable cloth tool inside"),
        ("apron clothes", "portable cloth inside"),
        ("foil", "portable cloth surface pack inside openable"),
        ("hand face", "body surface"),
        ("water oil milk soap juice coffee tea drink sauce salt spice sugar flour", "substance"),
        ("rice seed soup mixture yoghurt", "substance food"),
        ("vegetable fruit meat fish egg cheese bread dough pasta food", "portable food surface"),
        ("rubbish", "portable surface"),
        ("thing", "portable surface inside vessel openable powered"),
    )
    for kind in kinds.split()
}  # fmt: skip


_READ: dict[Trait, str] = {
    Trait.SELF: "face hand zone",
    Trait.WORKTOP: "counter floor hob shelf sink table",
    Trait.GENERIC: "food fruit meat part thing tool vegetable",
    Trait.VAGUE: "food part thing tool",
    Trait.FLAT: (
        "base board book chair cloth counter door floor hob hook ladder lid mat paper plate radiator scale "
        "shelf socket table towel tray wall window"
    ),
    Trait.DOORED: "cupboard dishwasher door drawer microwave oven washing_machine",
    Trait.UNSEEN: "agent face hand zone",
    Trait.OWNED_PART: "base button drawer flap handle knob lid nozzle part plug shelf",
    Trait.CONTAINER: "bag board bottle bowl box can cup glass jar jug packet pan plate pot spoon tray tub",
    Trait.VESSEL_NAMED: "bag bottle bowl box can colander cup glass jar jug kettle packet pan plate pot spoon tray tub",
    Trait.TRANSPARENT_PART: "door flap handle knob lid",
    Trait.OPENED: (
        "bin box cupboard dishwasher door drawer flap freezer fridge lid microwave oven rack shelf tray "
        "washing_machine window"
    ),
    Trait.INSTRUMENT: (
        "brush chopsticks cloth colander cutlery fork glove grater knife opener peeler pestle press scissors "
        "skewer spatula sponge spoon tongs tool towel whisk"
    ),
    Trait.EATEN_WITH: "chopsticks fork spatula spoon tongs",
    Trait.SHAKEN_OFF: "mixture soap water",
    Trait.LIDDED: "bottle bowl box can coffee_machine cup food_processor jar jug kettle pan pot tub",
    Trait.KEEPS_LIDS: "counter cupboard drawer shelf sink table",
    Trait.LAID_OVER: "cloth foil lid mat towel",
    Trait.WORN: "apron clothes glove",
    Trait.UNCLEAR: "agent base button face flap hand handle knob lid mixture part rubbish thing zone",
}

KINDS: dict[str, frozenset[Trait]] = {
    kind: traits | {trait for trait, kinds in _READ.items() if kind in kinds.split()}
    for kind, traits in _EXECUTED.items()
}


@cache
def kinds_with(*traits: Trait) -> frozenset[str]:
    """Return the kinds that have every one of the traits."""
    wanted = frozenset(traits)
    return frozenset(kind for kind, has in KINDS.items() if wanted <= has)


def has(kind: str, trait: Trait) -> bool:
    """Say whether a kind has a trait.

    Raises:
        DeclarationError: the kind is not declared.
    """
    if kind not in KINDS:
        raise DeclarationError(kind, "not a declared kind; kinds are listed in ego2world.ontology.kinds")
    return trait in KINDS[kind]
