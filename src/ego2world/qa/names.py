"""How things are spoken of in questions: without the numbers that only the compiled world knows. Stage: qa, wording."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from ego2world.ontology.kinds import Trait, kinds_with
from ego2world.world.actions import BY_NAME
from ego2world.world.state import HANDS, Action, World

_NUMBER = re.compile(r"(?<=[a-z])\d+\b|\b\d+\b")
_LEADING = re.compile(
    r"^(?:the|a|an|some|more|one|another|added|other|remaining|rest of|piece of|pieces of|both|same)\s+"
)
_ORDINAL = re.compile(
    r"\b(?:first|second|third|fourth|fifth|last|next|previous|half|part|side|end|edge|top|bottom|two|three|four)\b"
)
_PLURAL = re.compile(r"(?:[^sui]s|ves|ies)$")
_EMPTY = re.compile(
    r"^(?:pieces?|slices?|parts?|contents?|things?|items?|stuff|rest|remaining|amount|bits?|last|earlier|contain|edge|air|body|ones?|"
    r"sides?|time|way|area|motion|content of .*|contents of .*)$"
)
_SPELLED = {"fridgefreezer": "fridge-freezer", "washingmachine": "washing machine"}


class Names:
    """The names of a world's entities as a person would say them."""

    def __init__(self, world: World) -> None:
        self.world = world

    @cached_property
    def bases(self) -> dict[str, str]:
        """Entity -> name without article, number and words that do not tell it apart."""
        found = {}
        for identifier, entity in self.world.entities.items():
            name = " ".join(_NUMBER.sub(" ", entity.name).split())
            while (short := _LEADING.sub("", name)) != name:
                name = short
            found[identifier] = _SPELLED.get(name, name) or entity.type.replace("_", " ")
        return found

    @cached_property
    def counts(self) -> Counter[str]:
        """How many entities bear each name."""
        return Counter(self.bases.values())

    def base(self, identifier: str) -> str:
        """Return the name without article."""
        if identifier in HANDS:
            return identifier.replace("_", " ").removeprefix("both ") if identifier != "both_hands" else "hands"
        return self.bases.get(identifier, identifier)

    def unique(self, identifier: str) -> bool:
        """Whether nothing else in the world is called so."""
        return self.counts[self.base(identifier)] == 1

    def the(self, identifier: str) -> str:
        """Return the name with its article: "the" where it is the only one of its name, else "a" ("my" for hands)."""
        if identifier in HANDS:
            return {"left_hand": "my left hand", "right_hand": "my right hand"}.get(identifier, "both hands")
        name = self.base(identifier)
        if self.unique(identifier) or identifier in self.world.substances:
            return f"the {name}"
        if _PLURAL.search(name.split(" of ")[0]):
            return name
        return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"

    def sayable(self, identifier: str) -> bool:
        """Whether its name tells a viewer what it is."""
        name = self.base(identifier)
        vague = (
            self.world.entities[identifier].type in kinds_with(Trait.UNCLEAR)
            or _ORDINAL.search(name)
            or _EMPTY.match(name)
        )
        return not vague and 2 < len(name) <= 40

    def clear(self, identifier: str) -> bool:
        """Whether a question can point at the thing by its name alone."""
        return self.unique(identifier) and self.sayable(identifier)

    def verb(self, identifier: str) -> str:
        """Return "is", or "are" for a name in the plural."""
        return "are" if _PLURAL.search(self.base(identifier).split(" of ")[0]) else "is"

    def listed(self, identifiers: Sequence[str]) -> str:
        """Return several things as one phrase."""
        words = sorted({self.the(one) for one in identifiers})
        return words[0] if len(words) == 1 else ", ".join(words[:-1]) + f" and {words[-1]}"

    def place(self, value: object) -> str:
        """Return a place ((how, where)) as words: "in the fridge", "in my right hand"."""
        if not isinstance(value, (tuple, list)):
            return str(value)
        how, where = value
        if how == "held":
            return f"in {self.the(where)}"
        return f"{how} {self.the(where)}"

    def fact(self, fluent: str, value: object) -> str:
        """Return what a fluent's value says, to follow "it is"."""
        if fluent == "place":
            return self.place(value)
        if fluent == "power":
            return f"switched {value}"
        if fluent == "attached":
            return "not attached" if value == "no" else f"attached to {self.the(str(value))}"
        if isinstance(value, bool):
            word = fluent.replace("_", " ")
            return word if value else f"not {word}"
        return str(value)

    def act(self, action: Action, it: str | None = None, without: Sequence[str] = ()) -> str:
        """Return an action as words; ``it``: a thing that is spoken of as "it"; ``without``: roles left out where
        optional."""
        spoken = {
            role: "it" if it is not None and action.ids(role) == (it,) else self.listed(action.ids(role))
            for role in action.bound
            if role not in without
        }
        text = BY_NAME[action.name].wording(spoken)
        text = _BARE.sub(r"\1 somewhere", _HIDDEN.sub("", text))
        return _PARTICLE.sub(r"\1 it \2", " ".join(text.replace("{", "").replace("}", "").split()))


_HIDDEN = re.compile(r"\s+(?:in|on|from|into|onto|with|to|over|under|off|out of|of|at|against|through|using)\s+\{\w+\}")
_BARE = re.compile(r"^((?:put|place|pass|move|insert|hang|stick|transfer) it)$")
_PARTICLE = re.compile(
    r"\b(pick|put|turn|take|throw|switch|lift|close|cut|tear|fold|set|hang|plug|screw|pour|wipe|clean|drop|roll|fill|"
    r"shake) "
    r"(up|down|off|out|away|back|on|over) it\b"
)
