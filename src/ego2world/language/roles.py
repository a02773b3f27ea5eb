"""One clause to an intent: which phrase plays which role, and which of a verb's senses what it is bound to selects."""

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


@dataclass(frozen=True)
class Intent:
    """One act as said: a verb sense and phrases by role (object, source, target, instrument, content).

    ``prep`` is the preposition of the target ("in", "on", "under", ...); ``hands`` are left, right, both or other;
    ``to_hand`` is the receiving hand of a change of hands. ``not_acted`` is set when nothing is to be executed.
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


def intent_of(clause: Clause) -> Intent:
    kind = lexicon().kind
    sense = clause.sense
    objects = [phrase for phrase in clause.objects if phrase.head not in {"@", "the"} and not _is_vague(phrase)]
    places = [(prep, phrase) for prep, phrase in clause.places if not _is_vague(phrase)]
    roles: dict[str, list[NounPhrase]] = {
        "object": objects,
        "source": [],
        "target": [],
        "instrument": [],
        "content": [],
    }
    roles["instrument"] += [phrase for phrase in clause.instruments if not _is_vague(phrase)]
    if (
        sense in senses(Tag.PLACES)
        and len(places) > 1
        and places[0][0] in {"in", "on"}
        and kind(places[0][1].head) in kinds_with(Trait.EATEN_WITH)
    ):
        roles["source"].append(places.pop(0)[1])
    if (
        sense in senses(Tag.PLACES)
        and len(places) > 1
        and places[0][0] in {"in", "inside", "on"}
        and (
            any(prep in {"into", "onto", "to"} for prep, _ in places[1:])
            and not any(prep in FROM for prep, _ in places)
        )
    ):
        roles["source"].append(places.pop(0)[1])  # "pour the liquid in the mug into the sink"
    prep_of_target, weak = "", []
    piled: list[NounPhrase] = []
    for prep, phrase in places:
        if prep in {"with", "using", "by"}:
            _with(roles, sense, phrase, kind(phrase.head))
        elif prep in FROM:
            heap = phrase.piece in {"pile", "stack", "row", "set"} or phrase.head in {"pile", "stack"}
            (piled if heap else roles["source"]).append(phrase)
        elif prep in _INTO:
            if kind(phrase.head) in {"hand", "face"} and sense in senses(Tag.PLACES) | senses(Tag.TAKES):
                continue
            if sense in senses(Tag.TAKES) and prep not in {"into", "onto", "to", "towards"}:
                weak.append((prep, phrase))
            elif sense in senses(Tag.DIVIDES) and prep == "into":
                continue
            elif prep in _PRIMARY and not roles["target"]:
                roles["target"].append(phrase)
                prep_of_target = prep
            elif sense not in senses(Tag.TAKES):
                weak.append((prep, phrase))
        elif (prep == "for" and sense in senses(Tag.SEEKS) and not roles["object"]) or (
            prep == "of" and not roles["object"]
        ):
            roles["object"].append(phrase)
    if not roles["source"] and not (weak and sense in senses(Tag.TAKES)):
        roles["source"] = piled[:1]  # "from a pile of plates on the shelf": the shelf says more
    if weak:
        side = "source" if sense in senses(Tag.TAKES) else "target"
        if not roles[side]:
            prep, phrase = weak[0]
            roles[side].append(phrase)
            prep_of_target = prep_of_target or (prep if side == "target" else "")
    hands = clause.hands
    limbs = [phrase for phrase in roles["instrument"] if kind(phrase.head) == "hand"]
    if sense == "record":
        roles["object"] = [replace(p, head=p.region, modifiers=(), of=None) if p.region else p for p in objects]
    if limbs:
        roles["instrument"] = [phrase for phrase in roles["instrument"] if phrase not in limbs]
        hands = hands or tuple(m for m in limbs[0].modifiers if m in {"left", "right"})
    if sense in {"open", "close"}:
        roles["target"], roles["source"] = [], []
    if not roles["object"] and sense == "move" and hands and any(kind(p.head) == "glove" for p in roles["target"]):
        sense, roles["object"], roles["target"] = "wear", roles["target"], []
    if not roles["object"] and hands and sense in senses(Tag.DONE_TO_HANDS):
        roles["object"] = [_hand_phrase(hands[0])]
        hands = ()
    if (
        not roles["object"]
        and roles["target"]
        and sense in senses(Tag.MOVES_WHAT_IS_HELD)
        and (prep_of_target in {"into", "in", "onto", "on", "over", "to", "inside"})
    ):
        roles["object"] = [NounPhrase("it", "it", pronoun=True)]  # "pour into the bowl": what is in the hand
    if not roles["object"] and roles["target"] and sense not in senses(Tag.GOES_TO):
        roles["object"], roles["target"] = roles["target"], []
    if sense == "reach" and not roles["object"]:
        roles["object"], roles["target"] = roles["target"], []
    if not roles["object"] and roles["source"] and sense in senses(Tag.USES_UP):
        roles["object"] = roles["source"]
        roles["source"] = []
    if sense == "shake" and roles["object"] and kind(roles["object"][0].head) in kinds_with(Trait.SHAKEN_OFF):
        if roles["source"]:
            roles["object"], roles["source"] = roles["source"], []
        elif clause.passed:
            roles["object"] = [_hand_phrase(clause.passed[0])]
    to_hand = from_hand = ""
    if clause.passed:
        from_hand, to_hand = clause.passed
        if to_hand and sense in senses(Tag.CHANGES_HANDS):
            sense = "pass"
    elif sense == "pass" and hands:
        to_hand, hands = hands[0], ()
    elif sense in {"put", "insert", "bring"} and hands and not roles["object"] and not roles["target"]:
        sense, to_hand, hands = "pass", hands[0], ()  # "grab the box and place in left hand"
    if sense == "pass" and not to_hand:
        sense = "move" if roles["target"] else "pass"
    sense = _bound_sense(sense, clause, roles, kind)
    phrases = tuple(sorted((role, tuple(found)) for role, found in roles.items() if found))
    return Intent(
        sense, clause.verb, phrases, prep_of_target, hands, to_hand, from_hand, clause.continued, text=clause.text
    )


def _hand_phrase(hand: str) -> NounPhrase:
    return NounPhrase(f"{hand} hand", "hand", (hand,) if hand not in {"any", "both"} else (), plural=hand == "both")


def _is_vague(phrase: NounPhrase) -> bool:
    if phrase.head in {"half", "pile"} and (phrase.plural or phrase.count or phrase.determiner in {"the", "both"}):
        return False  # "separate the two halves"
    return phrase.head in {"search", "way", "order", "case"} or (
        phrase.head in _VAGUE and not phrase.of and not phrase.pronoun
    )


def _with(roles: dict[str, list[NounPhrase]], sense: str, phrase: NounPhrase, kind: str | None) -> None:
    """File a "with" phrase: an instrument, contents, or (company of the object) nothing."""
    if kind in {"hand", "face"}:
        return
    if (sense in senses(Tag.COVERS_WITH) and kind is not None and sense == "fill") or sense == "season":
        roles["content"].append(phrase)
    elif sense in {"cover", "wrap"} or (
        sense in senses(Tag.USES_TOOL) and not (sense in senses(Tag.TAKES_WITH_TOOL) and not tool_like(kind))
    ):
        roles["instrument"].append(phrase)


def tool_like(kind: str | None) -> bool:
    return kind in kinds_with(Trait.INSTRUMENT)  # fmt: skip


def _bound_sense(sense: str, clause: Clause, roles: dict[str, list[NounPhrase]], kind: object) -> str:
    """Let what the verb is bound to decide between senses of one verb."""
    kind_of = lexicon().kind
    objects = roles["object"]
    kinds = {kind_of(phrase.head) for phrase in objects}
    if sense == "wear" and not kinds & kinds_with(Trait.WORN):
        if clause.verb == "wear":
            return "wear"
        sense = "put" if clause.verb == "put" else "move"
    if (
        sense == "remove"
        and kinds & {"glove", "apron"}
        and clause.verb in {"take", "remove", "pull", "get"}
        and not roles["source"]
    ):
        return "take_off"
    if (
        sense in {"open", "close"}
        and clause.verb in {"slide", "pull", "push", "flip", "move"}
        and objects
        and not (kinds & kinds_with(Trait.OPENED))
    ):
        return "flip" if clause.verb == "flip" else "take_out" if clause.particle == "out" else "move"
    if sense == "press" and any(kind_of(phrase.head) == "press" for phrase in roles["instrument"]):
        return "crush"
    if sense == "take" and objects and objects[0].piece in {"scoop", "spoonful", "spoon", "ladle"}:
        return "scoop"
    if sense in {"lift", "remove"} and kinds == {"lid"} and roles["source"]:
        return "uncover_lid"
    if (
        sense in {"put", "insert"}
        and clause.places
        and clause.places[0][0] in {"under", "underneath", "beneath", "above", "over"}
    ):
        return "put" if kinds & kinds_with(Trait.LAID_OVER) and clause.places[0][0] == "over" else "position"
    if (
        sense == "put"
        and clause.places
        and any(
            prep in {"in", "into", "inside", "within"} and phrase in roles["target"] for prep, phrase in clause.places
        )
    ):
        return "insert" if kinds != {"lid"} else _bound_sense("insert", clause, roles, kind)
    if sense in senses(Tag.LIFTS_LID) and kinds == {"lid"} and clause.verb in {"remove", "take", "lift"}:
        owner = objects[0].of if objects[0].relation == "owner" else None
        if owner is not None and not roles["source"] and sense == "remove":
            roles["source"] = [owner]
        if sense == "remove" and (
            roles["source"] and kind_of(roles["source"][0].head) not in kinds_with(Trait.KEEPS_LIDS)
        ):
            return "uncover_lid"
    if sense in {"put", "insert", "bring"} and kinds == {"lid"} and roles["target"]:
        where = kind_of(roles["target"][0].head)
        if where in kinds_with(Trait.LIDDED):
            return "cover_lid"
    if (
        sense in senses(Tag.DONE_TO_OWNER)
        and objects
        and kind_of(objects[0].head) in kinds_with(Trait.TRANSPARENT_PART)
    ):
        owner = objects[0].of if objects[0].relation == "owner" else None
        if owner is None and objects[0].determiner == "its":
            owner = NounPhrase("it", "it", pronoun=True)
        if owner is not None and (sense != "hold" or kind_of(objects[0].head) == "handle"):
            roles["object"] = [owner, *objects[1:]]
    if clause.verb == "run" and kinds & {"tap", "water"}:
        return "turn_on"
    if clause.verb == "run" and any(prep in {"under", "through", "in"} for prep, _ in clause.places):
        return "rinse"  # "run it under the tap"
    if sense in senses(Tag.SWITCHES) and kinds == {"water"}:
        roles["object"] = [NounPhrase("tap", "tap")]
        return {"open": "turn_on", "close": "turn_off"}.get(sense, sense)
    if sense in senses(Tag.SETS_POWER) and kinds & {"button"} and clause.verb in {"switch", "press", "push", "click"}:
        return "press"
    if sense in senses(Tag.SETS_HEAT) and objects and objects[0].head in {"heat", "temperature", "flame"}:
        roles["object"] = [NounPhrase("the hob", "hob")] if objects[0].of is None else [objects[0].of]
        return "adjust"
    if (
        sense == "move"
        and clause.verb == "slide"
        and roles["target"]
        and not roles["source"]
        and (any(prep in {"inside", "into"} for prep, _ in clause.places) and kinds - {"glove", "hand", None})
    ):
        return "insert"
    if sense == "move" and clause.verb in _PULLED and roles["source"] and not roles["target"]:
        return "take_out"
    if sense == "move" and kinds & {"button"}:
        return "press"
    if sense == "cut" and not objects:
        return "cut"
    return sense
