"""Sentences to clauses: which verbs are acts, which only tell how, why, or what goes on meanwhile.

A rule parser for the language of kitchen narrations. Decision and measurements: design/narration-parsing.md.

It is long because its class is one grammar: its rules hand the same clause under construction to each other.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from ego2world.language.lexicon import PARTICLES, Lexicon, VerbForm, lexicon
from ego2world.language.phrases import ADVERBS, DETERMINERS, ORDINALS, PREPOSITIONS, NounPhrase
from ego2world.language.reading import (
    ACT,
    ATTEMPT,
    AUXILIARY,
    BACKGROUND,
    CONTAINING,
    HOW,
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
from ego2world.language.sentences import FAILED, SENTENCE, TOKEN, rewrite
from ego2world.ontology.senses import Tag, senses

_LYING = frozenset(
    "is are was were contains has fell falls lies lay sits sat stands stood hangs hung rests remains remained "
    "stays".split()
)
_RESTING = frozenset("hanging lying sitting standing leaning resting soaking sticking floating waiting".split())
_COGNITION = frozenset("realize realise notice think know decide understand remember hope assume wonder".split())
_POINTING = frozenset("this that it these those they".split())


def parse(sentence: str) -> tuple[Clause, ...]:
    """Parse one narration, of one or more sentences, into clauses in order of mention.

    Args:
        sentence: any text; case, spacing and a missing full stop do not matter.

    Returns:
        All clauses; only those with mode "act" were done.
    """
    clauses: list[Clause] = []
    for number, part in enumerate(SENTENCE.split(sentence.replace("’", "'"))):
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
    words = TOKEN.findall(rewrite(part))
    if not words:
        return [], ()
    found = _clauses(lexicon(), words)
    if FAILED.search(part.lower()) and words[0] not in {"this", "the"}:
        acts = [index for index, clause in enumerate(found) if clause.mode == ACT]
        if acts:
            found[acts[-1]] = replace(found[acts[-1]], mode=ATTEMPT)
    return words, tuple(found)


def _with_fragment(lex: Lexicon, words: list[str], clauses: list[Clause]) -> list[Clause]:
    """Give the instruments of a fragment sentence to the last act before it."""
    cursor = Cursor(words)
    _read_instrument(lex, cursor)
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
    word, after = cursor.word(), cursor.word(1)
    if word in {",", ";", ":", "(", ")"}:
        if cursor.mode != ACT and (not cursor.main_seen or cursor.fronted or word == ";"):
            cursor.mode, cursor.fronted = ACT, False
        elif cursor.mode in {HOW, BACKGROUND, PURPOSE, REASON} and readings(lex, after, ("base",)):
            cursor.mode = ACT
        cursor.at += 1
        return
    if word in {"and", "then", "but", "or", "afterwards"}:
        nxt = 1
        while cursor.word(nxt) in ADVERBS or cursor.word(nxt) in {"then", ","} or cursor.word(nxt).endswith("ly"):
            nxt += 1
        if cursor.mode in {HOW, BACKGROUND, REASON} and (
            (readings(lex, cursor.word(nxt), ("base",)) and cursor.word(nxt - 1) not in DETERMINERS)
            or cursor.word(nxt) in {"using", "i", "with"}
        ):
            cursor.mode, cursor.fronted = ACT, False
        if word == "then" and cursor.mode == PURPOSE and readings(lex, cursor.word(nxt), ("base",)):
            cursor.mode = ACT
        cursor.at += 1
        return
    if (
        word == "so"
        and (after in {"i", "we"} or (cursor.word(-1) == "," and readings(lex, after, ("base",))))
        and cursor.words[0] not in _POINTING
    ):
        cursor.mode, cursor.fronted = ACT, False
        cursor.at += 1
        return
    if word in {"i", "we"} and cursor.mode == REASON and not cursor.fronted and cursor.word(-1) == ",":
        cursor.mode = ACT
    if word in {"for", "without", "instead"} and readings(lex, after, ("ing",)) and not compound(lex, cursor, 1):
        cursor.mode = PURPOSE
        cursor.at += 1
        return
    if word == "purposeto" or (word == "to" and readings(lex, after, ("base",)) and not _place_like(lex, cursor)):
        if cursor.carrier and word == "to":
            if cursor.carrier != "go on":  # "I need to scrub it" tells of a purpose, "try to scrub it" of an attempt
                cursor.mode = ATTEMPT if cursor.carrier == "try" else PURPOSE
        elif cursor.used and cursor.carrier != "want":
            pass
        else:
            cursor.mode = PURPOSE
        cursor.carrier = ""
        cursor.used = False
        cursor.at += 1
        return
    if word == "by" and (readings(lex, after, ("ing",)) or cursor.word(1) in ADVERBS):
        cursor.mode = HOW
        cursor.at += 1
        return
    if word in SUBORDINATE and not (word == "that" and noun_start(lex, after) and cursor.at == 0):
        if word == "as" and not (
            after in SUBJECTS or after in AUXILIARY or after in DETERMINERS or readings(lex, after, ("ing",))
        ):
            cursor.at += 1
            return
        cursor.fronted = not cursor.main_seen
        cursor.mode = SUBORDINATE[word]
        cursor.at += 1
        return
    if (
        word in {"from", "on", "in", "inside"}
        and cursor.mode == ACT
        and not cursor.clauses
        and not cursor.main_seen
        and not (after.startswith("@") or readings(lex, after, ("ing",)))
    ):
        start = cursor.at
        cursor.at += 1
        place = noun_phrase(lex, cursor)
        if place is not None and (cursor.word() == "," or readings(lex, cursor.word(), ("base",))):
            cursor.places.append((word, place))  # "from the top shelf pick up the cup"
        else:
            cursor.at = start + 1
        return
    if word == "using" or (
        cursor.mode == ACT
        and ((word == "use" and cursor.word(-1) not in DETERMINERS) or (word == "with" and not cursor.main_seen))
        and _fronted_instrument(lex, cursor)
    ):
        _read_instrument(lex, cursor)
        if cursor.mode == BACKGROUND and cursor.fronted and readings(lex, cursor.word(), ("base",)):
            cursor.mode, cursor.fronted = ACT, False
        return
    if word.startswith("@"):
        if cursor.mode == ACT:
            cursor.hands.append(word[1:])
        cursor.at += 1
        return
    verb = verb_at(lex, cursor)
    if verb is not None:
        if verb.tense == "base" and cursor.mode == BACKGROUND and cursor.fronted and cursor.word(-1).startswith("@"):
            cursor.mode, cursor.fronted = ACT, False  # "while holding the box in my left hand close the lid"
        _read_clause(lex, cursor, verb)
        return
    cursor.at += 1


def _place_like(lex: Lexicon, cursor: Cursor) -> bool:
    """ "to" before a word that is a noun with nothing to act on ("to place", "to rest") introduces a place."""
    return cursor.word(2) in {",", ""} and lex.known_noun(cursor.word(1)) and cursor.word(1) not in {"open", "cool"}


def _fronted_instrument(lex: Lexicon, cursor: Cursor) -> bool:
    if cursor.word() == "with":
        return True
    # "use X to VERB" and "use @left and VERB"
    rest = cursor.words[cursor.at + 1 :]
    return "to" in rest or "purposeto" in rest or "and" in rest or any(word.startswith("@") for word in rest[:2])


def _read_instrument(lex: Lexicon, cursor: Cursor) -> None:
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


_ASPECT_TRY = frozenset({"try", "attempt", "struggle", "fail"})


def _read_clause(lex: Lexicon, cursor: Cursor, verb: VerbForm) -> None:
    start = cursor.at
    lemma, mode = verb.lemma, cursor.mode
    before = cursor.word(-1)
    if verb.tense == "ing" and not cursor.carrier and mode == ACT:
        mode = _participle_mode(lex, cursor, verb, before)
    if verb.tense == "ed" and before in {"is", "are", "was", "were", "been", "being", "be", "has", "have", "having"}:
        mode = REASON if mode == ACT else mode
    cursor.at += 1
    if lex.senses.get((lemma, "")) == "aspect" and (
        cursor.word() == "to"
        or readings(lex, cursor.word(), ("ing",))
        or (lemma in {"continue", "finish"} and not noun_start(lex, cursor.word()))
    ):
        cursor.carrier = "try" if lemma in _ASPECT_TRY else "want" if lemma in {"want", "need", "like"} else "go on"
        cursor.continued = lemma in {"continue", "keep", "resume", "finish"}
        if lemma in {"stop", "cease"} and mode == ACT:
            cursor.mode = REASON
        return
    if lemma in {"keep", "start", "stop"} and readings(lex, cursor.word(), ("ing",)):
        cursor.carrier, cursor.continued = "go on", lemma == "keep"
        if lemma == "stop":
            cursor.mode = REASON
        return
    if cursor.carrier == "try" and mode == ACT:
        mode = ATTEMPT
    if (
        mode == BACKGROUND
        and verb.tense == "ing"
        and before in {"while", "whilst"}
        and (lex.sense(lemma) in senses(Tag.ACT_OF_ITS_OWN) and cursor.word() not in {"it", "them", ""})
    ):
        mode = ACT  # "rinsing the cup while putting the sponge back"
    if lemma in _COGNITION and mode in {ACT, ATTEMPT}:
        mode = REASON
    cursor.carrier = ""
    cursor.in_clause = True
    particle = _particle(lex, cursor, lemma, has_object=False)
    hands: list[str] = []
    passed: list[str] = ["", ""]
    objects: list[NounPhrase] = []
    places: list[tuple[str, NounPhrase]] = []
    instruments: list[NounPhrase] = []
    gapped: list[Clause] = []
    last_prep = ""
    while cursor.at < len(cursor.words):
        word, after = cursor.word(), cursor.word(1)
        if word in {"with", "using", "by", "in", "from", "to", "into", "on"} and after.startswith("@"):
            hand = after[1:]
            if word == "using" and mode == BACKGROUND and cursor.fronted and readings(lex, cursor.word(2), ("base",)):
                break
            if word == "in" and places:
                pass
            elif word == "from":
                passed[0] = hand
            elif word in {"to", "into"}:
                passed[1] = hand
            else:
                hands.append(hand)
            cursor.at += 2
            if cursor.word() == "and" and cursor.word(1).startswith("@"):
                hands.append(cursor.word(1)[1:])
                cursor.at += 2
            continue
        if word.startswith("@"):
            hands.append(word[1:])
            cursor.at += 1
            continue
        if word == "using":
            break_at = cursor.at
            saved_hands, saved_tools = cursor.hands, cursor.instruments
            cursor.hands, cursor.instruments = [], []
            _read_instrument(lex, cursor)
            hands += cursor.hands
            instruments += cursor.instruments
            cursor.hands, cursor.instruments = saved_hands, saved_tools
            if cursor.at == break_at:
                cursor.at += 1
            continue
        if word in PREPOSITIONS:
            if word == "by" and readings(lex, after, ("ing",)):
                break
            if word in {"for", "without", "from"} and readings(lex, after, ("ing",)) and not compound(lex, cursor, 1):
                break
            if word == "to" and readings(lex, after, ("base",)) and not _place_like(lex, cursor):
                break
            spot = _particle(lex, cursor, lemma, has_object=bool(objects)) if not places else ""
            if spot:
                particle = particle or spot
                continue
            cursor.at += 1
            while cursor.word() in ADVERBS and cursor.word() not in {"open", "closed", "dry"}:
                cursor.at += 1
            if cursor.word() in PREPOSITIONS - {"of"}:
                word = cursor.word() if word in {"from", "to", "back"} and cursor.word() != "to" else word
                continue
            phrase = noun_phrase(lex, cursor)
            if phrase is None or (
                phrase.pronoun and phrase.head == "it" and objects and word in {"on", "in", "inside"}
            ):
                continue
            places.append((word, phrase))
            last_prep = word
            continue
        if (
            word == ","
            and after in {"on", "in", "into", "onto", "from", "inside", "beside", "under"}
            and mode == ACT
            and (cursor.word(2) not in {"it", "order", "which", "case"})
        ):
            cursor.at += 1
            continue
        if word in {"and", ","}:
            probe = Cursor(cursor.words, cursor.at + 1, main_seen=True)
            while probe.word() in {"and", "then", "also"}:
                probe.at += 1
            if (
                probe.word() in {"", ","}
                or probe.word().startswith("@")
                or probe.word() in PREPOSITIONS
                or probe.word() in {"using", "then", "i"}
                or probe.word() in SUBORDINATE
                or probe.word() in ADVERBS
                or probe.word() in SUBJECTS
                or verb_at(lex, probe) is not None
            ):
                break
            phrase = noun_phrase(lex, probe)
            if phrase is None or probe.word() in AUXILIARY:
                break
            if word == "," and not _list_goes_on(probe):
                break
            if (
                places
                and probe.word() in PREPOSITIONS - {"with", "using", "of", "from", "off", "outof"}
                and not probe.word(1).startswith("@")
            ):
                # "put cup on table and milk on table": the verb is understood again
                prep = probe.word()
                probe.at += 1
                target = noun_phrase(lex, probe)
                if target is not None:
                    gapped.append(Clause(lemma, particle, "", mode, (phrase,), ((prep, target),), text=phrase.text))
                    cursor.at = probe.at
                    continue
                break
            if places:
                places.append((last_prep, phrase))
            elif objects:
                objects.append(phrase)
            else:
                break
            cursor.at = probe.at
            continue
        if word == "that" and not objects and not places and noun_start(lex, after) and lex.known_noun(after):
            cursor.at += 1  # "move that knife"
            continue
        if word in {"that", "which"} and after in _LYING:
            cursor.at += 2
            while cursor.word() in ADVERBS or cursor.word() in {"being", "held", "placed", "located", "positioned"}:
                cursor.at += 1
            if cursor.word() in PREPOSITIONS - {"with", "by"}:
                continue
            _skip_relative(lex, cursor)
            continue
        if word in _RESTING and objects:
            cursor.at += 1
            continue
        if word in {"that", "which"} and objects and not places and cursor.word(-1) not in {",", "and"}:
            while cursor.at < len(cursor.words) and not _ends_relative(cursor):
                cursor.at += 1  # "the bowl that needs cleaning from the sink"
            continue
        if word in CONTAINING or (word in {"holding", "held"} and cursor.word(-1) not in {",", "and"} and objects):
            cursor.at += 1
            if word in {"containing", "including", "filled"}:
                if cursor.word() == "with":
                    cursor.at += 1
                phrase = noun_phrase(lex, cursor)
                if phrase is not None:
                    _set_content(objects, places, phrase)
            elif word == "holding":
                cursor.at -= 1
                break
            continue
        if (
            word in {"i", "we"}
            and objects
            and cursor.word(-1) not in {",", "and", "then", "so", "but"}
            and (readings(lex, after, ("ed",)))
        ):
            cursor.at += 2
            continue
        if (
            word == "that"
            and not objects
            and not places
            and (after in PREPOSITIONS or after in ADVERBS or after in {"", ","})
        ):
            objects.append(NounPhrase("that", "it", pronoun=True))
            cursor.at += 1
            continue
        if word in SUBORDINATE or word in {"purposeto", "then", "but", ";", ":", "(", ")", "so"} or word in SUBJECTS:
            if word in {"it", "they"} and not objects and not places:
                objects.append(NounPhrase(word, word, pronoun=True, plural=word != "it"))
                cursor.at += 1
                continue
            break
        here = cursor.at
        spot = _particle(lex, cursor, lemma, has_object=bool(objects))
        if spot or cursor.at != here:
            particle = particle or spot
            continue
        if objects or places:
            if verb_at(lex, cursor) is not None and word not in ADVERBS:
                break
            if word in ADVERBS or word.endswith("ly"):
                cursor.at += 1
                continue
            if word in AUXILIARY:
                break
            cursor.at += 1
            continue
        if word in ADVERBS and not lex.known_noun(word) and word not in DETERMINERS:
            cursor.at += 1
            continue
        phrase = noun_phrase(lex, cursor)
        if phrase is None:
            cursor.at += 1
        else:
            objects.append(phrase)
    cursor.in_clause = False
    if (
        lemma == "do"
        and mode == ACT
        and (cursor.word(-1) == "so" or cursor.word() == "so" or (objects and objects[0].pronoun))
    ):
        mode = REASON  # "I do this because ..."
    if len(objects) > 1 and objects[0].head in ORDINALS:
        objects = objects[1:]
    sense = lex.sense(lemma, particle) or "other"
    text = " ".join(cursor.words[start : cursor.at])
    if not hands and cursor.hands and mode in {ACT, ATTEMPT}:
        hands, cursor.hands = list(cursor.hands), []
    if cursor.instruments and mode in {ACT, ATTEMPT}:
        instruments = cursor.instruments + instruments
        cursor.instruments = []
    if cursor.places and mode in {ACT, ATTEMPT}:
        places, cursor.places = places + cursor.places, []
    clause = Clause(
        lemma,
        particle,
        sense,
        mode,
        tuple(objects),
        tuple(places),
        tuple(instruments),
        tuple(hand for hand in dict.fromkeys(hands) if hand != "any"),
        (passed[0], passed[1]) if any(passed) else None,
        cursor.continued,
        text,
    )
    cursor.continued = False
    cursor.clauses.append(clause)
    cursor.clauses += [replace(other, sense=sense, hands=clause.hands) for other in gapped]
    cursor.used = False
    if mode in {ACT, ATTEMPT}:
        cursor.main_seen = True
    elif cursor.mode == ACT and mode != ACT:
        cursor.mode = ACT


def _list_goes_on(probe: Cursor) -> bool:
    return any(word == "and" for word in probe.words[probe.at : probe.at + 8])


def _participle_mode(lex: Lexicon, cursor: Cursor, verb: VerbForm, before: str) -> str:
    """Decide whether an -ing verb is an act of its own, a how-detail or background."""
    sense = lex.sense(verb.lemma, cursor.word(1)) or lex.sense(verb.lemma) or "other"
    if verb.lemma in {"hold", "keep", "support", "steady", "use", "have", "grip", "wear"}:
        return BACKGROUND
    if before == "" or not cursor.clauses:
        return BACKGROUND if _main_follows(lex, cursor) else ACT
    following = cursor.word(1)
    ahead = cursor.words[cursor.at + 1 : cursor.at + 5]
    if "its" in ahead or any(lex.kind(word) in {"hand", "face"} for word in ahead[:3] if word not in DETERMINERS):
        return HOW
    if sense in senses(Tag.ACT_OF_ITS_OWN) and before in {",", "and", "then"} and following not in {"it", "them"}:
        return ACT
    if before in {"then", "start", "begin"}:
        return ACT
    return HOW


def _main_follows(lex: Lexicon, cursor: Cursor) -> bool:
    rest = cursor.words[cursor.at :]
    return any(
        word == "," and index + 1 < len(rest) and readings(lex, rest[index + 1], ("base",))
        for index, word in enumerate(rest)
    )


def _ends_relative(cursor: Cursor) -> bool:
    """Say whether a relative clause ends at the cursor: at a place phrase, a comma, a conjunction or a new marker."""
    word = cursor.word()
    return word in {"from", "into", "onto", "on", "in", "to", "inside", "under", "beside", ",", "and", "using",
    "with", "purposeto",
                    "sothat", "while", "whilst", "then", "by"}  # fmt: skip


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


def _particle(lex: Lexicon, cursor: Cursor, lemma: str, has_object: bool) -> str:
    """Consume and return a particle of the verb at the cursor, or return "" and leave the cursor."""
    word, after = cursor.word(), cursor.word(1)
    if word not in PARTICLES:
        return ""
    pair = (lemma, word)
    if word in {"on", "in", "inside", "into", "over", "off", "through", "around", "onto", "under", "across", "along",
                "against", "behind", "towards"}:  # fmt: skip
        object_follows = noun_start(lex, after) and not after.startswith("@") and after not in ADVERBS
        if pair not in lex.senses:
            return ""
        if has_object and object_follows and after not in {"using", "with", "by"}:
            return ""
        switched = lex.senses[pair] in senses(Tag.PARTICLE_FIRST)  # fmt: skip
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
