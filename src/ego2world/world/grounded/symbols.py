"""Numbers for entities, facts and values, one to one, so that a state is a row of integers. Stage: world, grounded.

    place       1 + how + 4 x entity, how being 0 "in", 1 "on", 2 "held"
    attached    1 "no", 2 + entity
    at          1 + number of the zone
    contains    1 true, 2 false
    the others  1 + position in the fluent's domain

0 is "unknown" for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ego2world.errors import DeclarationError
from ego2world.ontology.kinds import Trait, has
from ego2world.world.fluents import DOMAINS, FactKey, Value
from ego2world.world.state import BOTH, HANDS, LEFT, RIGHT, World

Ints = NDArray[np.int32]

HOWS = ("in", "on", "held")
IN, ON, HELD = 1, 2, 3  # as the two lowest bits of the code of a place
TRUE, FALSE = 1, 2  # codes of "contains"
OPEN = 1 + DOMAINS["openness"].index("open")
FLUENTS = ("place", *DOMAINS, "attached", "at")
HAND_ORDER = (LEFT, RIGHT, BOTH)
BOTH_HANDS = HAND_ORDER.index(BOTH)

# what an entity is, as bits
IS_HAND, IS_HAND_TYPE, IS_TOOL, IS_OPENABLE, IS_SUBSTANCE, IS_BODY = 1, 2, 4, 8, 16, 32


class Symbols:
    """The numbers of one world's entities, zones and possible facts."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.ids = tuple(sorted(world.entities))
        self.number = {identifier: number for number, identifier in enumerate(self.ids)}
        self.zone_codes = {zone: 1 + number for number, zone in enumerate(world.zones)}
        self._of_kinds: dict[frozenset[str], NDArray[np.bool_]] = {}
        self._values: Mapping[str, Mapping[Value, int]] = {
            fluent: {value: 1 + i for i, value in enumerate(domain)} for fluent, domain in DOMAINS.items()
        }

    @property
    def entities(self) -> int:
        """How many entities there are."""
        return len(self.ids)

    def of_kinds(self, kinds: frozenset[str]) -> NDArray[np.bool_]:
        """Return whether each entity is of one of the types; shape (entities,)."""
        if kinds not in self._of_kinds:
            self._of_kinds[kinds] = np.array([self.world.entities[i].type in kinds for i in self.ids], bool)
        return self._of_kinds[kinds]

    @cached_property
    def flags(self) -> NDArray[np.uint8]:
        """What each entity is, as bits; shape (entities,)."""
        out = np.zeros(self.entities, np.uint8)
        for number, identifier in enumerate(self.ids):
            kind = self.world.entities[identifier].type
            out[number] = (
                IS_HAND * (identifier in HANDS)
                | IS_HAND_TYPE * (kind == "hand")
                | IS_TOOL * has(kind, Trait.TOOL)
                | IS_OPENABLE * has(kind, Trait.OPENABLE)
                | IS_SUBSTANCE * has(kind, Trait.SUBSTANCE)
                | IS_BODY * has(kind, Trait.BODY)
            )
        return out

    @cached_property
    def zone(self) -> NDArray[np.int16]:
        """The code of the zone that each fixture stands in, 0 for what can move; shape (entities,)."""
        out = np.zeros(self.entities, np.int16)
        for fixture, zone in self.world.zone_of.items():
            out[self.number[fixture]] = self.zone_codes[zone]
        return out

    @cached_property
    def hand(self) -> NDArray[np.int8]:
        """0 left, 1 right, 2 both, -1 for what is no hand; shape (entities,)."""
        out = np.full(self.entities, -1, np.int8)
        for index, hand in enumerate(HAND_ORDER):
            if hand in self.number:
                out[self.number[hand]] = index
        return out

    # facts --------------------------------------------------------------------------------------------------

    def key(self, fluent: str, entity: Ints | int) -> Ints:
        """Return the numbers of a fluent's facts about some entities."""
        return np.asarray(FLUENTS.index(fluent) * self.entities + entity, np.int32)

    def contains(self, vessel: Ints | int, content: Ints | int) -> Ints:
        """Return the numbers of the facts that vessels contain substances."""
        return np.asarray(len(FLUENTS) * self.entities + vessel * self.entities + content, np.int32)

    @property
    def keys(self) -> int:
        """How many facts can be spoken of."""
        return (len(FLUENTS) + self.entities) * self.entities

    def key_of(self, key: FactKey) -> int:
        """Return the number of a fact."""
        if key[0] == "contains":
            return int(self.contains(self.number[key[1]], self.number[key[2]]))
        return int(self.key(key[0], self.number[key[1]]))

    def fact_of(self, number: int) -> FactKey:
        """Return the fact of a number."""
        group, last = divmod(number, self.entities)
        if group < len(FLUENTS):
            return (FLUENTS[group], self.ids[last])
        return ("contains", self.ids[group - len(FLUENTS)], self.ids[last])

    # values -------------------------------------------------------------------------------------------------

    def code(self, fluent: str, value: Value) -> int:
        """Return the code of a value of a fluent; never 0, which is "unknown".

        Raises:
            DeclarationError: the fluent has no such value in this world.
        """
        try:
            return self._code(fluent, value)
        except (KeyError, ValueError):
            raise DeclarationError(f"{fluent} {value}", "no such value in this world") from None

    def _code(self, fluent: str, value: Value) -> int:
        if fluent == "contains":
            return TRUE if value is True else FALSE
        if fluent == "place":
            return place_code(HOWS.index(value[0]), self.number[value[1]])  # type: ignore[index]
        if fluent == "attached":
            return 1 if value == "no" else 2 + self.number[str(value)]
        if fluent == "at":
            return self.zone_codes[str(value)]
        return self._values[fluent][value]

    def value(self, fluent: str, code: int) -> Value:
        """Return the value of a code; the inverse of ``code``."""
        if fluent == "contains":
            return code == TRUE
        if fluent == "place":
            return (HOWS[(code & 3) - 1], self.ids[code >> 2])
        if fluent == "attached":
            return "no" if code == 1 else self.ids[code - 2]
        if fluent == "at":
            return self.world.zones[code - 1]
        return DOMAINS[fluent][code - 1]


def place_code(how: int, entity: int) -> int:
    """Return the code of a place; ``how`` is an index into HOWS."""
    return 1 + how + 4 * entity
