"""The rules by which a clause is read, word by word: hands, objects, places and instruments. Stage: language.

Each rule below looks at the words at the cursor and says what comes next: the following word, the end of the clause, or
another rule. Their order in ``RULES`` is part of the grammar, which is why they are all in one file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum

from ego2world.language.lexicon import PARTICLES, Lexicon
from ego2world.language.phrases import ADVERBS, DETERMINERS, PREPOSITIONS, NounPhrase
from ego2world.language.quantities import setting_in
from ego2world.language.reading import (
    ACT,
    AUXILIARY,
    BACKGROUND,
    CONTAINING,
    SUBJECTS,
    SUBORDINATE,
    Clause,
    Cursor,
    compound,
    noun_phrase,
    noun_start,
    readings,
    verb_at,
)
from ego2world.ontology.senses import Tag, senses

_LYING = frozenset(
    "is are was were contains has fell falls lies lay sits sat stands stood hangs hung rests remains remained "
    "stays".split()
)
_RESTING = frozenset("hanging lying sitting standing leaning resting soaking sticking floating waiting".split())


class Then(Enum):
    """What follows a rule."""

    NEXT = "next"  # it has read something: on with the next word
    END = "end"  # the clause ends before this word
    OTHER = "other"  # it does not apply: the next rule


@dataclass
class Draft:
    """A clause under construction."""

    lex: Lexicon
    cursor: Cursor
    lemma: str
    mode: str
    particle: str = ""
    hands: list[str] = field(default_factory=list)
    from_hand: str = ""
    to_hand: str = ""
    objects: list[NounPhrase] = field(default_factory=list)
    places: list[tuple[str, NounPhrase]] = field(default_factory=list)
    instruments: list[NounPhrase] = field(default_factory=list)
    gapped: list[Clause] = field(default_factory=list)
    holds: list[tuple[NounPhrase, str]] = field(default_factory=list)
    settings: list[tuple[str, str | float]] = field(default_factory=list)
    last_prep: str = ""

    @property
    def word(self) -> str:
        """The word at the cursor."""
        return self.cursor.word()

    @property
    def after(self) -> str:
        """The word after it."""
        return self.cursor.word(1)


# --- the rules -----------------------------------------------------------------------------------------------------


def _hand_phrase(draft: Draft) -> Then:
    """ "with the left hand", "from the left hand to the right hand" """
    cursor, word = draft.cursor, draft.word
    if word not in {"with", "using", "by", "in", "from", "to", "into", "on"} or not draft.after.startswith("@"):
        return Then.OTHER
    hand = draft.after[1:]
    following = readings(draft.lex, cursor.word(2), ("base",))
    if word == "using" and draft.mode == BACKGROUND and cursor.fronted and following:
        return Then.END
    said = [*draft.objects, *(phrase for _, phrase in draft.places), *draft.instruments]
    if cursor.word(-1) in {"held", "holding"} and said:
        draft.holds.append((said[-1], hand))
        cursor.at += 2
        return Then.NEXT
    if word == "in" and draft.places:
        pass
    elif word == "from":
        draft.from_hand = hand
    elif word in {"to", "into"}:
        draft.to_hand = hand
    else:
        draft.hands.append(hand)
    cursor.at += 2
    if cursor.word() == "and" and cursor.word(1).startswith("@"):
        draft.hands.append(cursor.word(1)[1:])
        cursor.at += 2
    return Then.NEXT


def _setting(draft: Draft) -> Then:
    """ "on high", "for 30 seconds" """
    setting = setting_in(draft.word)
    if setting is None:
        return Then.OTHER
    draft.settings.append(setting)
    draft.cursor.at += 1
    return Then.NEXT


def _hand(draft: Draft) -> Then:
    if not draft.word.startswith("@"):
        return Then.OTHER
    draft.hands.append(draft.word[1:])
    draft.cursor.at += 1
    return Then.NEXT


def _using(draft: Draft) -> Then:
    if draft.word != "using":
        return Then.OTHER
    cursor, begun = draft.cursor, draft.cursor.at
    saved_hands, saved_tools = cursor.hands, cursor.instruments
    cursor.hands, cursor.instruments = [], []
    read_instrument(draft.lex, cursor)
    draft.hands += cursor.hands
    draft.instruments += cursor.instruments
    cursor.hands, cursor.instruments = saved_hands, saved_tools
    if cursor.at == begun:
        cursor.at += 1
    return Then.NEXT


def _preposition(draft: Draft) -> Then:
    """A place, or a particle that comes late: "put the lid on"."""
    lex, cursor, word, after = draft.lex, draft.cursor, draft.word, draft.after
    if word not in PREPOSITIONS:
        return Then.OTHER
    if _begins_another(lex, cursor, word, after):
        return Then.END
    spot = read_particle(lex, cursor, draft.lemma, has_object=bool(draft.objects)) if not draft.places else ""
    if spot:
        draft.particle = draft.particle or spot
        return Then.NEXT
    cursor.at += 1
    while cursor.word() in ADVERBS and cursor.word() not in {"open", "closed", "dry"}:
        cursor.at += 1
    if cursor.word() in PREPOSITIONS - {"of"}:
        return Then.NEXT
    phrase = noun_phrase(lex, cursor)
    if word == "with" and cursor.word() in {"in", "inside", "on"} and cursor.word(1) in {"it", "them"}:
        cursor.at += 2  # "the plate with a fork inside it": company, no tool
        return Then.NEXT
    it = phrase is not None and phrase.pronoun and phrase.head == "it"
    if phrase is not None and not (it and draft.objects and word in {"on", "in", "inside"}):
        draft.places.append((word, phrase))
        draft.last_prep = word
    return Then.NEXT


def _begins_another(lex: Lexicon, cursor: Cursor, word: str, after: str) -> bool:
    """Say whether a preposition begins a manner, a purpose or a reason: "by turning", "for cooking", "to open"."""
    if word == "by":
        return bool(readings(lex, after, ("ing",)))
    if word in {"for", "without", "from"}:
        return bool(readings(lex, after, ("ing",))) and not compound(lex, cursor, 1)
    return word == "to" and bool(readings(lex, after, ("base",))) and not place_like(lex, cursor)


def _comma_before_place(draft: Draft) -> Then:
    if draft.word != "," or draft.mode != ACT:
        return Then.OTHER
    if draft.after not in {"on", "in", "into", "onto", "from", "inside", "beside", "under"}:
        return Then.OTHER
    if draft.cursor.word(2) in {"it", "order", "which", "case"}:
        return Then.OTHER
    draft.cursor.at += 1
    return Then.NEXT


def _listed(draft: Draft) -> Then:
    """A further object or place: "the cup and the plate"."""
    lex, cursor, word = draft.lex, draft.cursor, draft.word
    if word not in {"and", ","}:
        return Then.OTHER
    probe = Cursor(cursor.words, cursor.at + 1, main_seen=True)
    while probe.word() in {"and", "then", "also"}:
        probe.at += 1
    if _begins_clause(lex, probe):
        return Then.END
    phrase = noun_phrase(lex, probe)
    if phrase is None or probe.word() in AUXILIARY or (word == "," and not _list_goes_on(probe)):
        return Then.END
    if draft.places and probe.word() in PREPOSITIONS - {"with", "using", "of", "from", "off", "outof"}:
        if not probe.word(1).startswith("@"):
            # "put cup on table and milk on table": the verb is understood again
            prep = probe.word()
            probe.at += 1
            target = noun_phrase(lex, probe)
            if target is None:
                return Then.END
            said = Clause(draft.lemma, draft.particle, "", draft.mode, (phrase,), ((prep, target),), text=phrase.text)
            draft.gapped.append(said)
            cursor.at = probe.at
            return Then.NEXT
    if draft.places:
        draft.places.append((draft.last_prep, phrase))
    elif draft.objects:
        draft.objects.append(phrase)
    else:
        return Then.END
    cursor.at = probe.at
    return Then.NEXT


def _begins_clause(lex: Lexicon, probe: Cursor) -> bool:
    word = probe.word()
    return (
        word in {"", ",", "using", "then", "i"}
        or word.startswith("@")
        or word in PREPOSITIONS
        or word in SUBORDINATE
        or word in ADVERBS
        or word in SUBJECTS
        or verb_at(lex, probe) is not None
    )


def _that_thing(draft: Draft) -> Then:
    """ "move that knife" """
    if draft.word == "that" and not draft.objects and not draft.places:
        if noun_start(draft.lex, draft.after) and draft.lex.known_noun(draft.after):
            draft.cursor.at += 1
            return Then.NEXT
    return Then.OTHER


def _that_lies(draft: Draft) -> Then:
    """ "the cup that is lying on the table": the place is a place of the object"""
    cursor = draft.cursor
    if draft.word not in {"that", "which"} or draft.after not in _LYING:
        return Then.OTHER
    cursor.at += 2
    while cursor.word() in ADVERBS or cursor.word() in {"being", "held", "placed", "located", "positioned"}:
        cursor.at += 1
    if cursor.word() not in PREPOSITIONS - {"with", "by"}:
        _skip_relative(draft.lex, cursor)
    return Then.NEXT


def _resting(draft: Draft) -> Then:
    if draft.word not in _RESTING or not draft.objects:
        return Then.OTHER
    draft.cursor.at += 1
    return Then.NEXT


def _relative(draft: Draft) -> Then:
    """ "the bowl that needs cleaning from the sink" """
    cursor = draft.cursor
    if draft.word not in {"that", "which"} or not draft.objects or draft.places or cursor.word(-1) in {",", "and"}:
        return Then.OTHER
    while cursor.at < len(cursor.words) and not _ends_relative(cursor):
        cursor.at += 1
    return Then.NEXT


def _containing(draft: Draft) -> Then:
    """ "the bowl containing rice" """
    cursor, word = draft.cursor, draft.word
    held = word in {"holding", "held"} and cursor.word(-1) not in {",", "and"} and draft.objects
    if word not in CONTAINING and not held:
        return Then.OTHER
    if word == "holding":
        return Then.END
    cursor.at += 1
    if word in {"containing", "including", "filled"}:
        if cursor.word() == "with":
            cursor.at += 1
        phrase = noun_phrase(draft.lex, cursor)
        if phrase is not None:
            _set_content(draft.objects, draft.places, phrase)
    return Then.NEXT


def _i_did(draft: Draft) -> Then:
    """ "the cup I washed" """
    cursor = draft.cursor
    if draft.word not in {"i", "we"} or not draft.objects or not readings(draft.lex, draft.after, ("ed",)):
        return Then.OTHER
    if cursor.word(-1) in {",", "and", "then", "so", "but"}:
        return Then.OTHER
    cursor.at += 2
    return Then.NEXT


def _that(draft: Draft) -> Then:
    """ "put that in the sink" """
    after = draft.after
    if draft.word != "that" or draft.objects or draft.places:
        return Then.OTHER
    if after not in PREPOSITIONS and after not in ADVERBS and after not in {"", ","}:
        return Then.OTHER
    draft.objects.append(NounPhrase("that", "it", pronoun=True))
    draft.cursor.at += 1
    return Then.NEXT


def _next_clause(draft: Draft) -> Then:
    word = draft.word
    ends = {"purposeto", "then", "but", ";", ":", "(", ")", "so"}
    if word not in SUBORDINATE and word not in ends and word not in SUBJECTS:
        return Then.OTHER
    if word not in {"it", "they"} or draft.objects or draft.places:
        return Then.END
    draft.objects.append(NounPhrase(word, word, pronoun=True, plural=word != "it"))
    draft.cursor.at += 1
    return Then.NEXT


def _late_particle(draft: Draft) -> Then:
    here = draft.cursor.at
    spot = read_particle(draft.lex, draft.cursor, draft.lemma, has_object=bool(draft.objects))
    if not spot and draft.cursor.at == here:
        return Then.OTHER
    draft.particle = draft.particle or spot
    return Then.NEXT


def _after_object(draft: Draft) -> Then:
    """What is not understood after an object or place is passed over, up to the next verb."""
    cursor, word = draft.cursor, draft.word
    if not draft.objects and not draft.places:
        return Then.OTHER
    if verb_at(draft.lex, cursor) is not None and word not in ADVERBS:
        return Then.END
    if word in AUXILIARY and word not in ADVERBS and not word.endswith("ly"):
        return Then.END
    cursor.at += 1
    return Then.NEXT


def _adverb(draft: Draft) -> Then:
    word = draft.word
    if word not in ADVERBS or draft.lex.known_noun(word) or word in DETERMINERS:
        return Then.OTHER
    draft.cursor.at += 1
    return Then.NEXT


def _object(draft: Draft) -> Then:
    phrase = noun_phrase(draft.lex, draft.cursor)
    if phrase is None:
        draft.cursor.at += 1
    else:
        draft.objects.append(phrase)
    return Then.NEXT


RULES: tuple[Callable[[Draft], Then], ...] = (
    _setting,
    _hand_phrase,
    _hand,
    _using,
    _preposition,
    _comma_before_place,
    _listed,
    _that_thing,
    _that_lies,
    _resting,
    _relative,
    _containing,
    _i_did,
    _that,
    _next_clause,
    _late_particle,
    _after_object,
    _adverb,
    _object,
)


# --- what the rules ask --------------------------------------------------------------------------------------------


def place_like(lex: Lexicon, cursor: Cursor) -> bool:
    """ "to" before a word that is a noun with nothing to act on ("to place", "to rest") introduces a place."""
    return cursor.word(2) in {",", ""} and lex.known_noun(cursor.word(1)) and cursor.word(1) not in {"open", "cool"}


def fronted_instrument(lex: Lexicon, cursor: Cursor) -> bool:
    if cursor.word() == "with":
        return True
    # "use X to VERB" and "use @left and VERB"
    rest = cursor.words[cursor.at + 1 :]
    return "to" in rest or "purposeto" in rest or "and" in rest or any(word.startswith("@") for word in rest[:2])


def read_instrument(lex: Lexicon, cursor: Cursor) -> None:
    """Read "using/with/use X [and Y] [in the right hand]" before or after the act it serves."""
    cursor.used = cursor.word() == "use"
    cursor.at += 1
    while True:
        if cursor.word().startswith("@"):
            cursor.hands.append(cursor.word()[1:])
            cursor.at += 1
        else:
            phrase = noun_phrase(lex, cursor)
            if phrase is None:
                break
            if phrase.head in {"hand", "finger", "thumb", "palm", "fingertip"}:
                cursor.hands.append("any")
            else:
                cursor.instruments.append(phrase)
        if cursor.word() in {"in", "from", "with", "by", "inside"} and cursor.word(1).startswith("@"):
            cursor.hands.append(cursor.word(1)[1:])
            cursor.at += 2
        if cursor.word() == "and" and noun_start(lex, cursor.word(1)) and not readings(lex, cursor.word(1), ("base",)):
            cursor.at += 1
            continue
        break
    if cursor.word() == "and" and cursor.word(1) == "using":
        cursor.at += 1


def _list_goes_on(probe: Cursor) -> bool:
    return any(word == "and" for word in probe.words[probe.at : probe.at + 8])


def _ends_relative(cursor: Cursor) -> bool:
    """Say whether a relative clause ends at the cursor: at a place phrase, a comma, a conjunction or a new marker."""
    word = cursor.word()
    return word in {
        "from",
        "into",
        "onto",
        "on",
        "in",
        "to",
        "inside",
        "under",
        "beside",
        ",",
        "and",
        "using",
        "with",
        "purposeto",
        "sothat",
        "while",
        "whilst",
        "then",
        "by",
    }


def _skip_relative(lex: Lexicon, cursor: Cursor) -> None:
    while cursor.at < len(cursor.words) and cursor.word() not in {",", "to", "purposeto", "using", "with"}:
        word, after = cursor.word(), cursor.word(1)
        if word in PREPOSITIONS or (
            word == "and" and (after in ADVERBS or after.startswith("@") or readings(lex, after, ("base", "ing")))
        ):
            return
        cursor.at += 1


def _set_content(objects: list[NounPhrase], places: list[tuple[str, NounPhrase]], content: NounPhrase) -> None:
    if places:
        prep, owner = places[-1]
        places[-1] = (prep, replace(owner, of=content, relation="content"))
    elif objects:
        objects[-1] = replace(objects[-1], of=content, relation="content")


def read_particle(lex: Lexicon, cursor: Cursor, lemma: str, has_object: bool) -> str:
    """Consume and return a particle of the verb at the cursor, or return "" and leave the cursor."""
    word, after = cursor.word(), cursor.word(1)
    if word not in PARTICLES:
        return ""
    pair = (lemma, word)
    if word in {
        "on",
        "in",
        "inside",
        "into",
        "over",
        "off",
        "through",
        "around",
        "onto",
        "under",
        "across",
        "along",
        "against",
        "behind",
        "towards",
    }:
        object_follows = noun_start(lex, after) and not after.startswith("@") and after not in ADVERBS
        if pair not in lex.senses:
            return ""
        if has_object and object_follows and after not in {"using", "with", "by"}:
            return ""
        switched = lex.senses[pair] in senses(Tag.PARTICLE_FIRST)
        if not has_object and object_follows and not switched and word != "off":
            return ""
        if lex.senses[pair] == "wear" and object_follows and _places_follow(cursor):
            return ""
    elif pair not in lex.senses:
        if word in {"open", "closed", "shut"} and lemma in {"push", "pull", "slide", "swing", "lift", "flip", "keep"}:
            pass
        elif not has_object and noun_start(lex, after) and word not in {"up", "down", "back", "out", "away"}:
            return ""
        else:
            cursor.at += 1
            return ""
    cursor.at += 1
    return word


def _places_follow(cursor: Cursor) -> bool:
    """ "put on the counter the cup" is rare; "put on the table" without any object is an act of placing."""
    return not {cursor.word(1), cursor.word(2)}.isdisjoint(
        {"counter", "countertop", "table", "shelf", "worktop", "hob", "plate", "side"}
    ) or cursor.word(3) in {"counter", "countertop", "table", "shelf", "worktop", "hob", "top"}
