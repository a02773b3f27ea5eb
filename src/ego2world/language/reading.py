"""The parser's place in a sentence, and what can be read there: a verb, or a whole noun phrase."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ego2world.language.lexicon import PARTICLES, Lexicon, VerbForm
from ego2world.language.phrases import (
    ADVERBS,
    DETERMINERS,
    NUMBERS,
    ORDINALS,
    PIECES,
    PREPOSITIONS,
    REGIONS,
    NounPhrase,
    join_of,
    make_phrase,
)

ACT, HOW, PURPOSE, BACKGROUND, REASON, ATTEMPT = "act", "how", "purpose", "background", "reason", "attempt"
OTHER = "other"  # done by somebody else


@dataclass(frozen=True)
class Clause:
    """One verb with what it governs.

    ``mode`` is act (done), attempt (tried, not done), other (done by somebody else), how, purpose, background or reason
    (all not done);
    ``places`` are (preposition, phrase) pairs in order; ``hands`` the hands named for this act;
    ``passed`` the (from, to) hands of a change of hands; ``holds`` the things said to be held, each with its hand;
    ``settings`` what ``quantities.setting_in`` reads.
    """

    verb: str
    particle: str
    sense: str
    mode: str
    objects: tuple[NounPhrase, ...] = ()
    places: tuple[tuple[str, NounPhrase], ...] = ()
    instruments: tuple[NounPhrase, ...] = ()
    hands: tuple[str, ...] = ()
    passed: tuple[str, str] | None = None
    continued: bool = False
    text: str = ""
    sentence: int = 0
    holds: tuple[tuple[NounPhrase, str], ...] = ()
    settings: tuple[tuple[str, str | float], ...] = ()


SUBORDINATE = {
    "because": REASON, "since": REASON, "as": REASON, "when": REASON, "if": REASON, "once": REASON, "after": REASON,
    "before": PURPOSE, "until": PURPOSE, "till": PURPOSE, "where": REASON, "which": REASON, "that": REASON,
    "who": REASON, "whose": REASON, "sothat": PURPOSE, "although": REASON, "though": REASON, "unless": REASON,
    "while": BACKGROUND, "whilst": BACKGROUND, "whist": BACKGROUND, "whereas": REASON, "having": REASON, "what": REASON,
    "how": REASON, "whether": REASON, "due": REASON, "ready": PURPOSE,
}  # fmt: skip


AUXILIARY = frozenset(
    "is are was were be been being has have had do does did can could will would should may might must am get gets "
    "seems seem needs'".split()
)


SUBJECTS = frozenset("i we you he she they it there".split())


CONTAINING = frozenset("containing including filled attached placed located positioned called labelled made".split())


_COMPOUND_ING = frozenset(
    "chopping cutting washing washing-up rolling frying baking drying mixing measuring weighing cooking serving "
    "draining sparkling running boiling grilling carving bread-making processing roasting floating remaining living "
    "dining cleaning shopping parking recycling icing dressing seasoning topping filling scrubbing oven-baking "
    "peeling spring squeezing writing carrying lining grinding scouring vacuuming brewing heating ceiling wrapping "
    "packaging string pudding dumpling setting reading existing following missing hanging building plating".split()
)


@dataclass
class Cursor:
    """The parser's place in one sentence."""

    words: list[str]
    at: int = 0
    mode: str = ACT
    fronted: bool = False
    main_seen: bool = False
    continued: bool = False
    carrier: str = ""
    in_clause: bool = False
    used: bool = False
    hands: list[str] = field(default_factory=list)
    places: list[tuple[str, NounPhrase]] = field(default_factory=list)
    instruments: list[NounPhrase] = field(default_factory=list)
    clauses: list[Clause] = field(default_factory=list)

    def word(self, offset: int = 0) -> str:
        index = self.at + offset
        return self.words[index] if 0 <= index < len(self.words) else ""


def readings(lex: Lexicon, word: str, tenses: Sequence[str]) -> VerbForm | None:
    for reading in lex.forms.get(word, ()):
        if reading.tense in tenses:
            return reading
    return None


def verb_at(lex: Lexicon, cursor: Cursor) -> VerbForm | None:
    """Return the verb read at the cursor, given what stands before and after it; None if it is no verb here."""
    word, before, after = cursor.word(), cursor.word(-1), cursor.word(1)
    if word in AUXILIARY and word not in {"get", "do"}:
        return None
    if word in PREPOSITIONS and word not in lex.forms:
        return None
    ing = readings(lex, word, ("ing",))
    if ing:
        if before in DETERMINERS or before in {"'s"} or before in PREPOSITIONS - {"by", "for", "from", "without", "to"}:
            return None
        if (
            word in _COMPOUND_ING
            and after
            and noun_start(lex, after)
            and after not in DETERMINERS
            and (before not in {"by", "while", "whilst"})
        ):
            return None
        return ing
    base = readings(lex, word, ("base",))
    if base:
        if before in DETERMINERS - {"that", "both"} or before in {"'s", "of", "not"} or before in PREPOSITIONS - {"to"}:
            return None
        start = before in {
            "",
            ",",
            ";",
            ":",
            "(",
            ")",
            "and",
            "then",
            "or",
            "but",
            "to",
            "purposeto",
            "i",
            "we",
            "now",
            "also",
            "again",
            "please",
            "you",
            "can",
            "could",
            "will",
            "would",
            "let",
        }
        start = (
            start or before.startswith("@") or (before in ADVERBS and before not in {"over"}) or before.endswith("ly")
        )
        if start:
            if before in {"and", ",", "or"} and _reads_as_noun(lex, cursor, word, after):
                return None
            return base
        # "with spoon in right hand scoop beans", "using press, press down on ...": no comma before the act
        if (
            not cursor.main_seen
            and not cursor.fronted
            and after
            and (after in DETERMINERS or (after in PARTICLES and (base.lemma, after) in lex.senses))
        ):
            return base
        return None
    if before in {"i", "having", "then", "and", "have", "has", "we", "was", "were", "been", "is", "are", "be", "being"}:
        if before == "and" and (not cursor.main_seen or lex.known_noun(word)):
            return None
        return readings(lex, word, ("ed", "s"))
    acted_on = after in DETERMINERS or after.startswith("@") or after in {"it", "them"}
    if (cursor.at == 0 or before in {",", "now"} or before.startswith("@")) and (acted_on or not lex.known_noun(word)):
        return readings(lex, word, ("s", "ed"))
    return None


def _reads_as_noun(lex: Lexicon, cursor: Cursor, word: str, after: str) -> bool:
    """After "and", a word that is both noun and verb is a noun unless something to act on follows."""
    if not lex.known_noun(word):
        return False
    if after == "that" and cursor.word(2) in AUXILIARY:
        return True  # "the knife and fork that is kept there"
    if (
        after in DETERMINERS
        or after.startswith("@")
        or after in {"it", "them"}
        or (after in PARTICLES and any((reading.lemma, after) in lex.senses for reading in lex.forms[word]))
    ):
        return False
    return not (after and after not in PREPOSITIONS and lex.known_noun(after))


def noun_start(lex: Lexicon, word: str) -> bool:
    return bool(word) and (
        word in DETERMINERS
        or (word not in PREPOSITIONS and word not in AUXILIARY and word not in SUBORDINATE and word[0].isalnum())
    )


def noun_phrase(lex: Lexicon, cursor: Cursor) -> NounPhrase | None:
    """Read a whole phrase with its possessives and "of" parts; None (cursor unmoved) if none starts here."""
    start = cursor.at
    first = _simple_phrase(lex, cursor)
    if first is None:
        cursor.at = start
        return None
    while True:
        if cursor.word() == "'s":
            cursor.at += 1
            part = _simple_phrase(lex, cursor)
            if part is None:
                return first
            first = join_of(part, first, lex)
            continue
        if cursor.word() == "of":
            cursor.at += 1
            second = noun_phrase(lex, cursor)
            if second is None:
                return first
            return join_of(first, second, lex)
        return first


def _simple_phrase(lex: Lexicon, cursor: Cursor) -> NounPhrase | None:
    words: list[str] = []
    while cursor.at < len(cursor.words):
        word, after = cursor.word(), cursor.word(1)
        if _ends_phrase(cursor, words):
            break
        if word in {"inside", "outside", "in-between"} and after == "of" and words:
            words.append(word)
            cursor.at += 1
            break
        if words and (word in ADVERBS or word.endswith("ly")) and not _inside_phrase(lex, words[-1], word, after):
            break
        if not words and word in ADVERBS and word not in DETERMINERS and not lex.known_noun(word):
            if noun_start(lex, after) and word in {"open", "closed", "now", "dry"}:
                cursor.at += 1
                words.append(word)
                continue
            break
        if (
            word in DETERMINERS
            and words
            and word not in {"other", "same", "one", "half"}
            and word not in NUMBERS
            and (words[-1] not in DETERMINERS)
        ):
            break
        if readings(lex, word, ("ing",)) and not lex.known_noun(word) and not _ing_inside(lex, words, word, after):
            break
        if (
            words
            and words[-1] not in DETERMINERS
            and words[-1] not in ORDINALS
            and not lex.known_noun(word)
            and after != "of"
            and readings(lex, word, ("ed",) if cursor.main_seen or cursor.in_clause else ("base", "ed"))
            and lex.known_noun(words[-1])
            and not _noun_ahead(lex, after)
        ):
            break
        words.append(word)
        cursor.at += 1
        if word in {"it", "them", "they"}:
            break
    while len(words) > 1 and (words[-1] == "very" or (words[-1] in ADVERBS and not lex.known_noun(words[-1]))):
        words.pop()
        cursor.at -= 1
    if not words:
        return None
    return make_phrase(lex, words)


_ENDS = PREPOSITIONS | {"and", "or", "then", "but", "using", "purposeto", "sothat", "so", "eachother", "to"}


def _ends_phrase(cursor: Cursor, words: list[str]) -> bool:
    """Say whether the word at the cursor cannot belong to a noun phrase of the words so far."""
    word, after = cursor.word(), cursor.word(1)
    if not word[0].isalnum() or word.startswith("set_") or word in _ENDS or word in SUBJECTS - {"it", "they"}:
        return True
    if word in {"it", "they", "that"} and words:
        return True
    if (word in SUBORDINATE and word != "that") or (word in AUXILIARY and word != "can"):
        return True
    if word == "can" and not words and not (after in PREPOSITIONS or after in {"", ",", "and"}):
        return True
    return word in CONTAINING and not (words and words[-1] in DETERMINERS)


def _inside_phrase(lex: Lexicon, before: str, word: str, after: str) -> bool:
    """Say whether an adverb stands inside a phrase ("the now wet cloth", "the back tiles")."""
    if not after or word in {"again", "away", "together", "then", "up", "down"}:
        return False
    if word == "back" and before not in DETERMINERS:
        return False
    return (
        lex.known_noun(after) or after in REGIONS or after in PIECES or (word == "back" and after not in PREPOSITIONS)
    )


def compound(lex: Lexicon, cursor: Cursor, offset: int) -> bool:
    """Say whether the -ing word at an offset opens a compound noun ("from chopping board")."""
    return cursor.word(offset) in _COMPOUND_ING and lex.known_noun(cursor.word(offset + 1))


def _ing_inside(lex: Lexicon, words: list[str], word: str, after: str) -> bool:
    """Say whether an -ing word belongs to a compound noun ("chopping board", "the floating lid")."""
    if not after or not (lex.known_noun(after) or after in REGIONS):
        return False
    return word in _COMPOUND_ING or bool(words and words[-1] in DETERMINERS)


def _noun_ahead(lex: Lexicon, word: str) -> bool:
    return bool(word) and lex.known_noun(word) and word not in PREPOSITIONS
