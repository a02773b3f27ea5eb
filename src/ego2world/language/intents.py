"""Clauses to intents: which act is meant, and which phrase plays which role. Shared by compiler and agents."""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile

from ego2world.language.lexicon import lexicon
from ego2world.language.parse import parse
from ego2world.language.phrases import NounPhrase
from ego2world.language.reading import ACT, ATTEMPT, BACKGROUND, HOW, OTHER, PURPOSE, Clause
from ego2world.language.roles import FROM, Intent, NotActed, intent_of, tool_like
from ego2world.ontology.kinds import Trait, kinds_with
from ego2world.ontology.senses import Tag, senses


def read_intents(text: str) -> tuple[Intent, ...]:
    """Read what a sentence says was (or should be) done.

    Args:
        text: a narration or an instruction.

    Returns:
        Intents in order. Attempts and statements come back as intents with ``not_acted`` set and are not to be
        executed; the result is empty only for text without words.
    """
    clauses = parse(text)
    intents: list[Intent] = []
    for index, clause in enumerate(clauses):
        if clause.mode not in {ACT, ATTEMPT, OTHER} or (clause.sentence < 0 and _told_before(clause, clauses[:index])):
            continue
        intent = replace(intent_of(_without_pronoun(clauses, index)), sentence=abs(clause.sentence))
        if clause.objects and not intent.phrases and intent.sense not in {"pass", "wear"}:
            continue  # "change my mind", "make room"
        if clause.mode in {ATTEMPT, OTHER}:
            why = NotActed.ATTEMPT if clause.mode == ATTEMPT else NotActed.OTHER_PERSON
            intents.append(replace(intent, not_acted=why))
            continue
        intent = replace(_with_details(intent, clauses[index + 1 :]), holds=_holds(clauses, index))
        intents += _one_each(_by_purpose(intent, clause, clauses[index + 1 : index + 4]))
    intents = _without_holds(_inherited(intents))
    if not intents:
        for clause in clauses:
            if clause.mode in {BACKGROUND, HOW} and clause.objects:
                return (intent_of(clause),)
        if text.split():
            return (Intent("none", "", not_acted=NotActed.STATEMENT, text=" ".join(text.split())),)
    return tuple(intents)


def _without_pronoun(clauses: tuple[Clause, ...], index: int) -> Clause:
    """Replace a lone "it" by what an earlier, not executed clause of the same narration speaks of."""
    clause = clauses[index]
    if len(clause.objects) != 1 or not clause.objects[0].pronoun or clause.objects[0].plural:
        return clause
    for earlier in reversed(clauses[:index]):
        named = [phrase for phrase in earlier.objects if not phrase.pronoun and lexicon().kind(phrase.head) != "hand"]
        if named:
            if earlier.mode == ACT:
                return clause
            phrase = named[0]
            if phrase.of is not None and phrase.relation == "owner" and lexicon().kind(phrase.head) == "handle":
                phrase = phrase.of
            return replace(clause, objects=(phrase,))
    return clause


def _inherited(intents: list[Intent]) -> list[Intent]:
    """Let an act without any object go on with the one before: "pick up the cup and place back down"."""
    for index in range(1, len(intents)):
        intent, before = intents[index], intents[index - 1]
        if intent.of("object") or intent.of("target") or intent.not_acted or not before.of("object"):
            continue
        if intent.sense not in senses(Tag.NEEDS_NO_OBJECT):
            intents[index] = intent.with_role("object", before.of("object"))
    return intents


def _told_before(clause: Clause, earlier: tuple[Clause, ...]) -> bool:
    """Say whether a later "I ... because ..." sentence only explains what an earlier sentence has told."""
    heads = {phrase.head for phrase in clause.objects}
    return any(heads & {p.head for p in c.objects} for c in earlier if c.mode == ACT and c.sentence != clause.sentence)


_MOVED_TOOL = frozenset(
    "move rub slide place push use insert put rotate drag press position work run pull scrub wipe".split()
)


def _with_details(intent: Intent, following: tuple[Clause, ...]) -> Intent:
    """Take the instrument or the origin from how-details: "dry my hands by rubbing them against the cloth"."""
    kind = lexicon().kind
    for clause in following:
        if clause.mode not in {HOW, BACKGROUND}:
            break
        if (
            intent.sense in senses(Tag.USES_TOOL)
            and intent.sense not in senses(Tag.HOLDS_TOOL)
            and not intent.of("instrument")
        ):
            tools = list(clause.instruments) + [p for prep, p in clause.places if prep in {"with", "against", "using"}]
            if (clause.mode == HOW and clause.verb in _MOVED_TOOL) or clause.sense == "hold":
                tools += clause.objects
            tools = [p for p in tools if not p.pronoun and tool_like(kind(p.head))]
            own = {p.head for p in intent.of("object")}
            if tools and tools[0].head not in own:
                intent = intent.with_role("instrument", tools[:1])
        if intent.sense in senses(Tag.COMES_OFF) and not intent.of("source") and clause.mode == HOW:
            origins = [p for prep, p in clause.places if prep in FROM and not p.pronoun]
            intent = intent.with_role("source", origins[:1])
    return intent


def _holds(clauses: tuple[Clause, ...], index: int) -> tuple[tuple[NounPhrase, str], ...]:
    """Return what is said to be held, and in which hand, while the act of a clause is done."""
    meanwhile = list(takewhile(lambda clause: clause.mode in {HOW, BACKGROUND}, clauses[index + 1 :]))
    if not any(clause.mode == ACT for clause in clauses[:index]):
        meanwhile += [clause for clause in clauses[:index] if clause.mode == BACKGROUND]
    return clauses[index].holds + tuple(
        (phrase, clause.hands[0])
        for clause in meanwhile
        if clause.sense == "hold" and len(clause.hands) == 1
        for phrase in clause.objects
        if lexicon().kind(phrase.head) not in kinds_with(Trait.BODY)
    )


def _one_each(intent: Intent) -> list[Intent]:
    """Split "pick up the fork and the knife" into one intent a thing; joint acts stay together."""
    objects = intent.of("object")
    if len(objects) < 2 or intent.sense in senses(Tag.JOINT):
        return [intent]
    return [intent.with_role("object", [phrase]) for phrase in objects]


def _by_purpose(intent: Intent, clause: Clause, following: tuple[Clause, ...]) -> Intent:
    """ "Pull the cupboard to open it" opens; "press the button to start the machine" starts it by pressing."""
    for purpose in following:
        if purpose.mode != PURPOSE:
            if purpose.mode in {HOW, BACKGROUND}:
                continue
            break
        sense = purpose.sense
        if sense == "drop" and purpose.verb == "release" and any(prep in FROM for prep, _ in purpose.places):
            sense = "detach"
        if sense == "turn" and purpose.verb == "switch":
            break
        same = (
            not purpose.objects
            or purpose.objects[0].pronoun
            or (bool(intent.of("object")) and purpose.objects[0].head == intent.of("object")[0].head)
        )
        if intent.sense in senses(Tag.MEANS) and sense in senses(Tag.RESULTS) and same:
            changed = replace(intent, sense=sense)
            owner = intent.of("object")[0].of if intent.of("object") else None
            if sense in {"turn_on", "turn_off"} and owner is not None and intent.of("object")[0].relation == "owner":
                changed = changed.with_role("object", (owner,))  # turning the dial of the oven to start it
            if sense == "detach":
                changed = changed.with_role("source", [p for prep, p in purpose.places if prep in FROM][:1])
            return changed
        if intent.sense in senses(Tag.MEANS) and sense in {"open", "close"} and purpose.objects and intent.of("object"):
            if lexicon().kind(intent.of("object")[0].head) in kinds_with(Trait.TRANSPARENT_PART) | {"part", "button"}:
                return replace(intent, sense=sense).with_role("object", purpose.objects)
        if intent.sense == "press" and sense in {"turn_on", "turn_off"}:
            appliance = purpose.objects[:1] if purpose.objects and not purpose.objects[0].pronoun else ()
            owner = intent.of("object")[0].of if intent.of("object") else None
            if not appliance and owner is not None:
                appliance = (owner,)
            appliance = appliance or intent.of("target")
            if appliance:
                changed = replace(intent, sense="press_on" if sense == "turn_on" else "press_off")
                return changed.with_role("target", appliance)
        if intent.sense in {"hold", "move"} and sense == "wear" and same:
            return replace(intent, sense="wear")
        break
    return intent


def _without_holds(intents: list[Intent]) -> list[Intent]:
    """Drop "hold the pan" before "and shake it": the hold is how the second act is done."""
    kept: list[Intent] = []
    for index, intent in enumerate(intents):
        if intent.sense in {"hold", "reach"} and index + 1 < len(intents):
            following = intents[index + 1].of("object")
            own = intent.of("object")
            if following and own and (following[0].pronoun or following[0].head == own[0].head):
                if following[0].pronoun:
                    intents[index + 1] = intents[index + 1].with_role("object", own)
                continue
        if intent.sense == "hold" and kept and intent.of("object")[:1] and intent.of("object")[0].pronoun:
            continue
        if (
            intent.sense == "wear"
            and index
            and intents[index - 1].sense == "wear"
            and kept
            and (
                [p.head for p in intent.of("object")] == [p.head for p in kept[-1].of("object")]
                or (intent.of("object")[:1] and intent.of("object")[0].pronoun)
            )
        ):
            continue
        if (
            kept
            and intent.sense == kept[-1].sense == "take"
            and intent.sentence != kept[-1].sentence
            and [p.head for p in intent.of("object")] == [p.head for p in kept[-1].of("object")]
            and intent.hands
            and not kept[-1].hands
        ):
            kept[-1] = replace(kept[-1], hands=intent.hands)  # "Take a plate. With the right hand, take the top plate."
            continue
        if (
            kept
            and {intent.sense, kept[-1].sense} <= {"put", "insert"}
            and not kept[-1].of("target")
            and (_same_thing(intent, kept[-1]) or (intent.of("object")[:1] and intent.of("object")[0].pronoun))
        ):
            kept[-1] = intent.with_role("object", kept[-1].of("object"))  # "place it again, return it to the cone"
            continue
        if kept and intent.sense == kept[-1].sense and not intent.of("target") and _same_thing(intent, kept[-1]):
            if len(intent.phrases) >= len(kept[-1].phrases):
                kept[-1] = intent
            continue
        kept.append(intent)
    return kept


def _same_thing(one: Intent, other: Intent) -> bool:
    mine, its = one.of("object"), other.of("object")
    return bool(mine) and [(p.head, p.modifiers) for p in mine] == [(p.head, p.modifiers) for p in its]
