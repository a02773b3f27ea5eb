"""Sentences to clauses: which verbs are acts, which only tell how, why, or what goes on meanwhile.

A rule parser for the language of kitchen narrations. Decision and measurements: design/narration-parsing.md.
One clause is read by clause.py.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from ego2world.language.clause import read_clause
from ego2world.language.clause_rules import fronted_instrument, place_like, read_instrument
from ego2world.language.lexicon import Lexicon, lexicon
from ego2world.language.phrases import ADVERBS, DETERMINERS
from ego2world.language.quantities import with_quantities
from ego2world.language.reading import (
    ACT,
    ATTEMPT,
    AUXILIARY,
    BACKGROUND,
    HOW,
    OTHER,
    PURPOSE,
    REASON,
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
from ego2world.language.sentences import FAILED, SENTENCE, TOKEN, of_other, rewrite
from ego2world.ontology.senses import Tag, senses

_POINTING = frozenset("this that it these those they".split())


def parse(sentence: str) -> tuple[Clause, ...]:
    """Parse one narration, of one or more sentences, into clauses in order of mention.

    Args:
        sentence: any text; case, spacing and a missing full stop do not matter.

    Returns:
        All clauses; only those with mode "act" were done.
    """
    clauses: list[Clause] = []
    for number, part in enumerate(SENTENCE.split(with_quantities(sentence.replace("’", "'")))):
        words, told = _sentence(part)
        if words:
            found = list(told)
            if words[0] == "using" and clauses and not any(c.mode in {ACT, ATTEMPT} for c in found):
                clauses = _with_fragment(lexicon(), words, clauses)  # "Wipe the sink. Using the cloth."
            if words[0] in _POINTING:  # "This was left there, so it has to be put back": nothing of it is told as done
                found = [replace(c, mode=REASON) if c.mode in {ACT, ATTEMPT} else c for c in found]
            explains = words[0] in {"i", "we"} and any(w in SUBORDINATE or w == "purposeto" for w in words)
            clauses += [replace(c, sentence=-number if explains and number else number) for c in found]
    return tuple(clauses)


@lru_cache(maxsize=8192)
def _sentence(part: str) -> tuple[list[str], tuple[Clause, ...]]:
    """Return the words and clauses of one sentence by itself; instructions say the same ones again and again."""
    other = of_other(part)
    words = TOKEN.findall(rewrite(part if other is None else other))
    if not words:
        return [], ()
    found = _clauses(lexicon(), words)
    if other is not None:
        found = [replace(clause, mode=OTHER) if clause.mode in {ACT, ATTEMPT} else clause for clause in found]
    if FAILED.search(part.lower()) and words[0] not in {"this", "the"}:
        acts = [index for index, clause in enumerate(found) if clause.mode == ACT]
        if acts:
            found[acts[-1]] = replace(found[acts[-1]], mode=ATTEMPT)
    return words, tuple(found)


def _with_fragment(lex: Lexicon, words: list[str], clauses: list[Clause]) -> list[Clause]:
    """Give the instruments of a fragment sentence to the last act before it."""
    cursor = Cursor(words)
    read_instrument(lex, cursor)
    cursor.clauses = clauses
    return _hand_out(list(clauses), cursor)


def _clauses(lex: Lexicon, words: list[str]) -> list[Clause]:
    cursor = Cursor(words)
    if _is_statement(lex, words):
        cursor.mode = REASON
    while cursor.at < len(words):
        _step(lex, cursor)
    clauses = _share_objects(cursor.clauses)
    if cursor.hands or cursor.instruments:
        clauses = _hand_out(clauses, cursor)
    return clauses


def _share_objects(clauses: list[Clause]) -> list[Clause]:
    """Give "wash" in "wash and rinse the sponge" the object of "rinse", and drop verbs that only carry others."""
    for index in reversed(range(len(clauses) - 1)):
        clause, following = clauses[index], clauses[index + 1]
        if (
            clause.mode == ACT == following.mode
            and not (clause.objects or clause.places)
            and clause.sense not in senses(Tag.INTRANSITIVE)
        ):
            clauses[index] = replace(
                clause,
                objects=following.objects,
                places=following.places,
                instruments=clause.instruments or following.instruments,
            )
    return [clause for clause in clauses if clause.sense not in {"aspect", "use"}]


def _hand_out(clauses: list[Clause], cursor: Cursor) -> list[Clause]:
    """Give trailing hands and instruments to the last act that has none."""
    for index in reversed(range(len(clauses))):
        clause = clauses[index]
        if clause.mode in {ACT, ATTEMPT}:
            clauses[index] = replace(
                clause,
                hands=clause.hands or tuple(cursor.hands),
                instruments=clause.instruments + tuple(cursor.instruments),
            )
            break
    return clauses


def _is_statement(lex: Lexicon, words: list[str]) -> bool:
    """Say whether the sentence is about how things are ("The plate is now empty") and not an act."""
    if words[0] in {"this", "there", "it", "you", "they", "these", "those", "that", "the", "a", "an", "its", "another"}:
        return True
    if words[0] == "so" and len(words) > 1 and words[1] not in {"i", "we", ","}:
        return True
    if words[0] in DETERMINERS or (lex.known_noun(words[0]) and not lex.forms.get(words[0])):
        for word in words[1:12]:
            if word in AUXILIARY or (readings(lex, word, ("s",)) and not lex.known_noun(word)):
                return True
            if word == ",":
                return False
    return False


def _step(lex: Lexicon, cursor: Cursor) -> None:
    """Consume one thing at the cursor: punctuation, a marker, a fronted phrase, or a whole clause."""
    if not any(rule(lex, cursor) for rule in _STEPS):
        cursor.at += 1


# Rules for what may stand between clauses, in order; each returns whether it has consumed something.


def _punctuation(lex: Lexicon, cursor: Cursor) -> bool:
    word = cursor.word()
    if word not in {",", ";", ":", "(", ")"}:
        return False
    if cursor.mode != ACT and (not cursor.main_seen or cursor.fronted or word == ";"):
        cursor.mode, cursor.fronted = ACT, False
    elif cursor.mode in {HOW, BACKGROUND, PURPOSE, REASON} and readings(lex, cursor.word(1), ("base",)):
        cursor.mode = ACT
    cursor.at += 1
    return True


def _conjunction(lex: Lexicon, cursor: Cursor) -> bool:
    word = cursor.word()
    if word not in {"and", "then", "but", "or", "afterwards"}:
        return False
    nxt = 1
    while cursor.word(nxt) in ADVERBS or cursor.word(nxt) in {"then", ","} or cursor.word(nxt).endswith("ly"):
        nxt += 1
    base = readings(lex, cursor.word(nxt), ("base",))
    begins = (base and cursor.word(nxt - 1) not in DETERMINERS) or cursor.word(nxt) in {"using", "i", "with"}
    if cursor.mode in {HOW, BACKGROUND, REASON} and begins:
        cursor.mode, cursor.fronted = ACT, False
    if word == "then" and cursor.mode == PURPOSE and base:
        cursor.mode = ACT
    cursor.at += 1
    return True


def _so(lex: Lexicon, cursor: Cursor) -> bool:
    """ "The knife is dirty, so I wash it": what follows is done."""
    word, after = cursor.word(), cursor.word(1)
    follows = after in {"i", "we"} or (cursor.word(-1) == "," and readings(lex, after, ("base",)))
    if word == "so" and follows and cursor.words[0] not in _POINTING:
        cursor.mode, cursor.fronted = ACT, False
        cursor.at += 1
        return True
    if word in {"i", "we"} and cursor.mode == REASON and not cursor.fronted and cursor.word(-1) == ",":
        cursor.mode = ACT
    return False


def _purpose(lex: Lexicon, cursor: Cursor) -> bool:
    word, after = cursor.word(), cursor.word(1)
    if word in {"for", "without", "instead"} and readings(lex, after, ("ing",)) and not compound(lex, cursor, 1):
        cursor.mode = PURPOSE
        cursor.at += 1
        return True
    infinitive = word == "to" and readings(lex, after, ("base",)) and not place_like(lex, cursor)
    if word != "purposeto" and not infinitive:
        return False
    if cursor.carrier and word == "to":
        if cursor.carrier != "go on":  # "I need to scrub it" tells of a purpose, "try to scrub it" of an attempt
            cursor.mode = ATTEMPT if cursor.carrier == "try" else PURPOSE
    elif not cursor.used or cursor.carrier == "want":
        cursor.mode = PURPOSE
    cursor.carrier = ""
    cursor.used = False
    cursor.at += 1
    return True


def _manner(lex: Lexicon, cursor: Cursor) -> bool:
    after = cursor.word(1)
    if cursor.word() != "by" or not (readings(lex, after, ("ing",)) or after in ADVERBS):
        return False
    cursor.mode = HOW
    cursor.at += 1
    return True


def _subordinate(lex: Lexicon, cursor: Cursor) -> bool:
    word, after = cursor.word(), cursor.word(1)
    if word not in SUBORDINATE or (word == "that" and noun_start(lex, after) and cursor.at == 0):
        return False
    clause = after in SUBJECTS or after in AUXILIARY or after in DETERMINERS or readings(lex, after, ("ing",))
    if word != "as" or clause:
        cursor.fronted = not cursor.main_seen
        cursor.mode = SUBORDINATE[word]
    cursor.at += 1
    return True


def _fronted_place(lex: Lexicon, cursor: Cursor) -> bool:
    """ "From the top shelf pick up the cup" """
    word, after = cursor.word(), cursor.word(1)
    if word not in {"from", "on", "in", "inside"} or cursor.mode != ACT or cursor.clauses or cursor.main_seen:
        return False
    if after.startswith("@") or readings(lex, after, ("ing",)):
        return False
    start = cursor.at
    cursor.at += 1
    place = noun_phrase(lex, cursor)
    if place is not None and (cursor.word() == "," or readings(lex, cursor.word(), ("base",))):
        cursor.places.append((word, place))
    else:
        cursor.at = start + 1
    return True


def _instrument(lex: Lexicon, cursor: Cursor) -> bool:
    word = cursor.word()
    used = word == "use" and cursor.word(-1) not in DETERMINERS
    fronted = used or (word == "with" and not cursor.main_seen)
    if word != "using" and not (cursor.mode == ACT and fronted and fronted_instrument(lex, cursor)):
        return False
    read_instrument(lex, cursor)
    if cursor.mode == BACKGROUND and cursor.fronted and readings(lex, cursor.word(), ("base",)):
        cursor.mode, cursor.fronted = ACT, False
    return True


def _hand(lex: Lexicon, cursor: Cursor) -> bool:
    if not cursor.word().startswith("@"):
        return False
    if cursor.mode == ACT:
        cursor.hands.append(cursor.word()[1:])
    cursor.at += 1
    return True


def _clause(lex: Lexicon, cursor: Cursor) -> bool:
    verb = verb_at(lex, cursor)
    if verb is None:
        return False
    if verb.tense == "base" and cursor.mode == BACKGROUND and cursor.fronted and cursor.word(-1).startswith("@"):
        cursor.mode, cursor.fronted = ACT, False  # "while holding the box in my left hand close the lid"
    read_clause(lex, cursor, verb)
    return True


_STEPS = (_punctuation, _conjunction, _so, _purpose, _manner, _subordinate, _fronted_place, _instrument, _hand, _clause)
