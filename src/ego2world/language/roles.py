"""One clause to an intent: which phrase plays which role, and which of a verb's senses what it is bound to selects.

It is long because the rules by which a binding decides between senses stand in one list, whose order is grammar.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from ego2world.language.lexicon import lexicon
from ego2world.language.phrases import NounPhrase
from ego2world.language.reading import Clause
from ego2world.ontology.kinds import Trait, kinds_with
from ego2world.ontology.senses import Tag, senses


class NotActed(StrEnum):
    """Why an intent is not to be executed."""

    ATTEMPT = "attempt"  # tried, and not said to have succeeded
    STATEMENT = "statement"  # nothing is said to be done
    OTHER_PERSON = "other_person"  # somebody else does it


@dataclass(frozen=True)
class Intent:
    """One act as said: a verb sense and phrases by role (object, source, target, instrument, content).

    ``prep`` is the preposition of the target ("in", "on", "under", ...); ``hands`` are left, right, both or other;
    ``to_hand`` is the receiving hand of a change of hands; ``holds`` are the things that are said to be held
    meanwhile, each with its hand. ``not_acted`` is set when nothing is to be executed.
    """

    sense: str
    verb: str
    phrases: tuple[tuple[str, tuple[NounPhrase, ...]], ...] = ()
    prep: str = ""
    hands: tuple[str, ...] = ()
    to_hand: str = ""
    from_hand: str = ""
    continued: bool = False
    not_acted: NotActed | None = None
    text: str = ""
    sentence: int = 0
    holds: tuple[tuple[NounPhrase, str], ...] = ()

    def of(self, role: str) -> tuple[NounPhrase, ...]:
        """Return the phrases of a role."""
        return dict(self.phrases).get(role, ())

    def with_role(self, role: str, phrases: Iterable[NounPhrase]) -> Intent:
        """Return a copy with a role's phrases replaced; none removes the role."""
        roles = dict(self.phrases)
        found = tuple(phrases)
        if found:
            roles[role] = found
        else:
            roles.pop(role, None)
        return replace(self, phrases=tuple(sorted(roles.items())))


FROM = frozenset("from outof off awayfrom".split())
_INTO = frozenset(
    "into in inside within onto on to under underneath beneath over above through towards toward against behind"
    " between at beside along around across near".split()
)
_PRIMARY = frozenset("into in inside within onto on to under underneath over through towards against".split())
_PULLED = frozenset("pull slide drag get bring".split())
_VAGUE = frozenset(
    "way place side view eyesight mind front back position time direction room order other space motion manner half"
    " degree fashion process circle left right use search pile color colour shape size middle center centre corner"
    " minute second lot bit".split()
)


@dataclass
class _Bound:
    """A clause on its way to an intent: the sense, roles and hands as far as they are decided."""

    clause: Clause
    sense: str
    roles: dict[str, list[NounPhrase]]
    prep: str = ""  # of the target
    hands: tuple[str, ...] = ()
    from_hand: str = ""
    to_hand: str = ""

    def has(self, tag: Tag) -> bool:
        """Say whether the sense has a tag."""
        return self.sense in senses(tag)

    @property
    def kinds(self) -> set[str | None]:
        """The kinds of the objects."""
        return {_kind(phrase) for phrase in self.roles["object"]}


def _kind(phrase: NounPhrase) -> str | None:
    return lexicon().kind(phrase.head)


def intent_of(clause: Clause) -> Intent:
    objects = [phrase for phrase in clause.objects if phrase.head not in {"@", "the"} and not _is_vague(phrase)]
    tools = [phrase for phrase in clause.instruments if not _is_vague(phrase)]
    roles = {"object": list(objects), "source": [], "target": [], "instrument": tools, "content": []}
    bound = _Bound(clause, clause.sense, roles, hands=clause.hands)
    places = [(prep, phrase) for prep, phrase in clause.places if not _is_vague(phrase)]
    places = _swap(bound, places)
    _take_source_first(bound, places)
    _sort_places(bound, places)
    if bound.sense == "record":
        roles["object"] = [replace(p, head=p.region, modifiers=(), of=None) if p.region else p for p in objects]
    _find_hands(bound)
    _find_object(bound)
    _hand_over(bound)
    for rule in _RULES:
        if rule(bound):
            break
    phrases = tuple(sorted((role, tuple(found)) for role, found in roles.items() if found))
    return Intent(
        bound.sense,
        clause.verb,
        phrases,
        bound.prep,
        bound.hands,
        bound.to_hand,
        bound.from_hand,
        clause.continued,
        text=clause.text,
    )


_LAID_ON = frozenset("line top coat cover grease butter garnish dust drizzle dress glaze smear layer oil".split())


def _swap(bound: _Bound, places: list[tuple[str, NounPhrase]]) -> list[tuple[str, NounPhrase]]:
    """ "Line the plate with lettuce": what is said with "with" is what is put there, and the object is where."""
    roles = bound.roles
    if bound.clause.verb not in _LAID_ON or not roles["object"]:
        return places
    laid = [phrase for prep, phrase in places if prep == "with"] + roles["instrument"]
    laid = [phrase for phrase in laid if not tool_like(_kind(phrase)) and _kind(phrase) not in kinds_with(Trait.BODY)]
    if not laid or (bound.clause.verb == "cover" and not any(_kind(p) in kinds_with(Trait.SUBSTANCE) for p in laid)):
        return places
    roles["target"], roles["object"] = roles["object"][:1], laid
    roles["instrument"] = [phrase for phrase in roles["instrument"] if phrase not in laid]
    substance = _kind(laid[0]) in kinds_with(Trait.SUBSTANCE) or bound.clause.verb != "line"
    bound.sense, bound.prep = ("spread" if substance else "put"), "on"
    return [(prep, phrase) for prep, phrase in places if phrase not in laid]


def _take_source_first(bound: _Bound, places: list[tuple[str, NounPhrase]]) -> None:
    """Take a first place that is said of the object for its source: "pour the liquid in the mug into the sink"."""
    if bound.has(Tag.PLACES) and len(places) > 1 and places[0][0] in {"in", "on"}:
        if _kind(places[0][1]) in kinds_with(Trait.EATEN_WITH):
            bound.roles["source"].append(places.pop(0)[1])
    preps = [prep for prep, _ in places]
    if bound.has(Tag.PLACES) and len(places) > 1 and preps[0] in {"in", "inside", "on"}:
        if {"into", "onto", "to"} & set(preps[1:]) and not FROM & set(preps):
            bound.roles["source"].append(places.pop(0)[1])


def _sort_places(bound: _Bound, places: list[tuple[str, NounPhrase]]) -> None:
    """File the places that prepositions name by role."""
    roles, weak = bound.roles, list[tuple[str, NounPhrase]]()
    piled: list[NounPhrase] = []
    for prep, phrase in places:
        if prep in {"with", "using", "by"}:
            _with(roles, bound.sense, phrase, _kind(phrase))
        elif prep in FROM:
            heap = phrase.piece in {"pile", "stack", "row", "set"} or phrase.head in {"pile", "stack"}
            (piled if heap else roles["source"]).append(phrase)
        elif prep in _INTO:
            _into(bound, prep, phrase, weak)
        elif not roles["object"] and (prep == "of" or (prep == "for" and bound.has(Tag.SEEKS))):
            roles["object"].append(phrase)
    if not roles["source"] and not (weak and bound.has(Tag.TAKES)):
        roles["source"] = piled[:1]  # "from a pile of plates on the shelf": the shelf says more
    side = "source" if bound.has(Tag.TAKES) else "target"
    if weak and not roles[side]:
        prep, phrase = weak[0]
        roles[side].append(phrase)
        bound.prep = bound.prep or (prep if side == "target" else "")


def _into(bound: _Bound, prep: str, phrase: NounPhrase, weak: list[tuple[str, NounPhrase]]) -> None:
    """File a place where something may be or go; what is only likely becomes ``weak``."""
    if _kind(phrase) in kinds_with(Trait.BODY) and (bound.has(Tag.PLACES) or bound.has(Tag.TAKES)):
        return
    if bound.has(Tag.TAKES) and prep not in {"into", "onto", "to", "towards"}:
        weak.append((prep, phrase))
    elif bound.has(Tag.DIVIDES) and prep == "into":
        return
    elif prep in _PRIMARY and not bound.roles["target"]:
        bound.roles["target"].append(phrase)
        bound.prep = prep
    elif not bound.has(Tag.TAKES):
        weak.append((prep, phrase))


def _find_hands(bound: _Bound) -> None:
    """Take a hand among the instruments for the hand that acts."""
    limbs = [phrase for phrase in bound.roles["instrument"] if _kind(phrase) == "hand"]
    if limbs:
        bound.roles["instrument"] = [phrase for phrase in bound.roles["instrument"] if phrase not in limbs]
        bound.hands = bound.hands or tuple(m for m in limbs[0].modifiers if m in {"left", "right"})
    if bound.sense in {"open", "close"}:
        bound.roles["target"], bound.roles["source"] = [], []


def _find_object(bound: _Bound) -> None:
    """Give an act without an object the one that its places, hands or contents stand for."""
    roles = bound.roles
    if not roles["object"] and bound.sense == "move" and bound.hands:
        if any(_kind(p) == "glove" for p in roles["target"]):
            bound.sense, roles["object"], roles["target"] = "wear", roles["target"], []
    words = bound.clause.text.split()
    if not roles["object"] and bound.sense in {"put", "insert"} and len(words) > 1 and words[1].startswith("@"):
        bound.sense, roles["object"], roles["target"] = "reach", roles["target"], []  # "places his hand on the table"
        return
    if not roles["object"] and bound.hands and bound.has(Tag.DONE_TO_HANDS):
        roles["object"] = [_hand_phrase(bound.hands[0])]
        bound.hands = ()
    if not roles["object"] and roles["target"] and bound.has(Tag.MOVES_WHAT_IS_HELD):
        if bound.prep in {"into", "in", "onto", "on", "over", "to", "inside"}:
            roles["object"] = [NounPhrase("it", "it", pronoun=True)]  # "pour into the bowl": what is in the hand
    if not roles["object"] and roles["target"] and not bound.has(Tag.GOES_TO):
        roles["object"], roles["target"] = roles["target"], []
    if bound.sense == "reach" and not roles["object"]:
        roles["object"], roles["target"] = roles["target"], []
    if not roles["object"] and roles["source"] and bound.has(Tag.USES_UP):
        roles["object"], roles["source"] = roles["source"], []
    if bound.sense == "shake" and roles["object"] and _kind(roles["object"][0]) in kinds_with(Trait.SHAKEN_OFF):
        if roles["source"]:
            roles["object"], roles["source"] = roles["source"], []
        elif bound.clause.passed:
            roles["object"] = [_hand_phrase(bound.clause.passed[0])]


def _hand_over(bound: _Bound) -> None:
    """Decide between passing a thing from hand to hand and moving it."""
    if bound.clause.passed:
        bound.from_hand, bound.to_hand = bound.clause.passed
        if bound.to_hand and bound.has(Tag.CHANGES_HANDS):
            bound.sense = "pass"
    elif bound.sense == "pass" and bound.hands:
        bound.to_hand, bound.hands = bound.hands[0], ()
    elif bound.sense in {"put", "insert", "bring"} and bound.hands:
        if not bound.roles["object"] and not bound.roles["target"]:  # "grab the box and place in left hand"
            bound.sense, bound.to_hand, bound.hands = "pass", bound.hands[0], ()
    if bound.sense == "pass" and not bound.to_hand:
        bound.sense = "move" if bound.roles["target"] else "pass"


# Rules by which what a verb is bound to decides between its senses, in order. Each returns whether it has decided.


def _worn(bound: _Bound) -> bool:
    """ "Put on" is wearing only of what is worn; taking that is taking off."""
    verb = bound.clause.verb
    if bound.sense == "wear" and not bound.kinds & kinds_with(Trait.WORN):
        if verb == "wear":
            return True
        bound.sense = "put" if verb == "put" else "move"
    if bound.sense == "remove" and bound.kinds & {"glove", "apron"} and not bound.roles["source"]:
        if verb in {"take", "remove", "pull", "get"}:
            bound.sense = "take_off"
            return True
    return False


def _not_opened(bound: _Bound) -> bool:
    """ "Slide out" opens a drawer, and moves what is not opened."""
    verb, objects = bound.clause.verb, bound.roles["object"]
    if bound.sense not in {"open", "close"} or verb not in {"slide", "pull", "push", "flip", "move"}:
        return False
    if not objects or bound.kinds & kinds_with(Trait.OPENED):
        return False
    bound.sense = "flip" if verb == "flip" else "take_out" if bound.clause.particle == "out" else "move"
    return True


def _with_tool(bound: _Bound) -> bool:
    """A press crushes; a spoonful is scooped."""
    objects = bound.roles["object"]
    if bound.sense == "press" and any(_kind(phrase) == "press" for phrase in bound.roles["instrument"]):
        bound.sense = "crush"
    elif bound.sense == "take" and objects and objects[0].piece in {"scoop", "spoonful", "spoon", "ladle"}:
        bound.sense = "scoop"
    elif bound.sense in {"lift", "remove"} and bound.kinds == {"lid"} and bound.roles["source"]:
        bound.sense = "uncover_lid"
    else:
        return False
    return True


def _put(bound: _Bound) -> bool:
    """ "Put" is positioning under or over, and inserting into."""
    places = bound.clause.places
    if bound.sense in {"put", "insert"} and places:
        if places[0][0] in {"under", "underneath", "beneath", "above", "over"}:
            laid = bound.kinds & kinds_with(Trait.LAID_OVER) and places[0][0] == "over"
            bound.sense = "put" if laid else "position"
            return True
    inside = {"in", "into", "inside", "within"}
    if bound.sense == "put" and any(p in inside and phrase in bound.roles["target"] for p, phrase in places):
        bound.sense = "insert"
        return bound.kinds != {"lid"}
    return False


def _lid(bound: _Bound) -> bool:
    """A lid is taken off, and put on, what has it."""
    roles, objects = bound.roles, bound.roles["object"]
    if bound.kinds != {"lid"}:
        return False
    if bound.sense == "remove" and bound.clause.verb in {"remove", "take", "lift"}:
        owner = objects[0].of if objects[0].relation == "owner" else None
        if owner is not None and not roles["source"]:
            roles["source"] = [owner]
        if roles["source"] and _kind(roles["source"][0]) not in kinds_with(Trait.KEEPS_LIDS):
            bound.sense = "uncover_lid"
            return True
    if bound.sense in {"put", "insert", "bring"} and roles["target"]:
        if _kind(roles["target"][0]) in kinds_with(Trait.LIDDED):
            bound.sense = "cover_lid"
            return True
    return False


def _owner(bound: _Bound) -> bool:
    """Who opens the lid of a jar opens the jar."""
    objects = bound.roles["object"]
    if not bound.has(Tag.DONE_TO_OWNER) or not objects:
        return False
    if _kind(objects[0]) in kinds_with(Trait.TRANSPARENT_PART):
        owner = objects[0].of if objects[0].relation == "owner" else None
        if owner is None and objects[0].determiner == "its":
            owner = NounPhrase("it", "it", pronoun=True)
        if owner is not None and (bound.sense != "hold" or _kind(objects[0]) == "handle"):
            bound.roles["object"] = [owner, *objects[1:]]
    return False


_HEAT = frozenset("heat gas fire flame".split()) | {"cooking gas"}


def _switched(bound: _Bound) -> bool:
    """Water is turned on at its tap, heat adjusted at the hob, a button pressed."""
    roles, objects, kinds, verb = bound.roles, bound.roles["object"], bound.kinds, bound.clause.verb
    if verb == "run" and kinds & {"tap", "water"}:
        bound.sense = "turn_on"
    elif verb == "run" and any(prep in {"under", "through", "in"} for prep, _ in bound.clause.places):
        bound.sense = "rinse"  # "run it under the tap"
    elif bound.has(Tag.SWITCHES) and kinds == {"water"}:
        roles["object"] = [NounPhrase("tap", "tap")]
        bound.sense = {"open": "turn_on", "close": "turn_off"}.get(bound.sense, bound.sense)
    elif bound.has(Tag.SETS_POWER) and kinds & {"button"} and verb in {"switch", "press", "push", "click"}:
        bound.sense = "press"
    elif bound.sense in {"turn_on", "turn_off"} and objects and objects[0].head in _HEAT:
        roles["object"] = [NounPhrase("the hob", "hob")]
    elif bound.has(Tag.SETS_HEAT) and objects and objects[0].head in {"heat", "temperature", "flame"}:
        roles["object"] = [NounPhrase("the hob", "hob")] if objects[0].of is None else [objects[0].of]
        bound.sense = "adjust"
    else:
        return False
    return True


def _moved(bound: _Bound) -> bool:
    """ "Slide" inserts into a target, and takes out of a source."""
    roles, clause = bound.roles, bound.clause
    if bound.sense != "move":
        return False
    into = any(prep in {"inside", "into"} for prep, _ in clause.places)
    if bound.kinds == {"rack"} and clause.verb in {"push", "pull", "slide"}:
        if clause.verb == "push" or roles["target"]:
            bound.sense = "push_in"
        elif clause.verb == "pull" or roles["source"]:
            bound.sense = "take_out" if roles["source"] else "pull_out"
        return True
    if clause.verb == "slide" and roles["target"] and not roles["source"] and into:
        if bound.kinds - {"glove", "hand", None}:
            bound.sense = "insert"
            return True
    if clause.verb in _PULLED and roles["source"] and not roles["target"]:
        bound.sense = "take_out"
    elif bound.kinds & {"button"}:
        bound.sense = "press"
    return True


def _seasoned(bound: _Bound) -> bool:
    """ "Season pepper on the pan": the object is what it is seasoned with."""
    roles = bound.roles
    if bound.sense != "season" or roles["content"] or not roles["object"]:
        return False
    head = roles["object"][0].head.split()[-1]
    if head in {"pepper", "salt"} or _kind(roles["object"][0]) in {"salt", "spice", "sugar"}:
        roles["content"], roles["object"], roles["target"] = roles["object"], roles["target"], []
    return True


def _set_to(bound: _Bound) -> bool:
    """ "Turn the hob on high" and "set the oven to high" turn on; "put the pan on high heat" puts it on the hob."""
    levels = {key for key, _ in bound.clause.settings}
    if bound.sense in {"turn", "put", "adjust", "move"} and levels & {"level", "heat", "temperature_c"}:
        if bound.kinds & kinds_with(Trait.POWERED) - kinds_with(Trait.GENERIC):
            bound.sense = "turn_on" if bound.sense != "adjust" else "adjust"
            return True
    if bound.sense == "put" and "heat" in levels and not bound.roles["target"]:
        bound.roles["target"], bound.prep = [NounPhrase("the hob", "hob")], "on"
        return True
    return False


_RULES = (_seasoned, _set_to, _worn, _not_opened, _with_tool, _put, _lid, _owner, _switched, _moved)


def _hand_phrase(hand: str) -> NounPhrase:
    return NounPhrase(f"{hand} hand", "hand", (hand,) if hand not in {"any", "both"} else (), plural=hand == "both")


def _is_vague(phrase: NounPhrase) -> bool:
    if phrase.head in {"half", "pile"} and (phrase.plural or phrase.count or phrase.determiner in {"the", "both"}):
        return False  # "separate the two halves"
    if phrase.pronoun and phrase.head in {"half", "the", "its", "my", "a", "an", "each", "every"}:
        return True  # "in half", "using the back of my hand"
    return phrase.head in {"search", "way", "order", "case"} or (
        phrase.head in _VAGUE and not phrase.of and not phrase.pronoun
    )


def _with(roles: dict[str, list[NounPhrase]], sense: str, phrase: NounPhrase, kind: str | None) -> None:
    """File a "with" phrase: an instrument, contents, or (company of the object) nothing."""
    if kind in kinds_with(Trait.BODY):
        return
    if (sense == "fill" and kind is not None) or sense == "season":
        roles["content"].append(phrase)
    elif sense in {"cover", "wrap"} or (
        sense in senses(Tag.USES_TOOL) and not (sense in senses(Tag.TAKES_WITH_TOOL) and not tool_like(kind))
    ):
        roles["instrument"].append(phrase)


def tool_like(kind: str | None) -> bool:
    return kind in kinds_with(Trait.INSTRUMENT)
