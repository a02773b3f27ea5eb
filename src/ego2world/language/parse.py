"""Sentences to clauses: which verbs are acts, which only tell how, why, or what goes on meanwhile.

A rule parser for the language of kitchen narrations. Decision and measurements: design/narration-parsing.md.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ego2world.language.lexicon import PARTICLES, Lexicon, VerbForm, lexicon
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


@dataclass(frozen=True)
class Clause:
    """One verb with what it governs.

    ``mode`` is act (done), attempt (tried, not done), how, purpose, background or reason (all not done);
    ``places`` are (preposition, phrase) pairs in order; ``hands`` the hands named for this act;
    ``passed`` the (from, to) hands of a change of hands.
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


_HAND = re.compile(
    r"\b(?:(?:the|my|your|his|her|their)\s+)?(left|right|both|other|same|free)\s+(?:of\s+)?(?:my\s+|the\s+)?hands?"
    r"(?!['’]s\b)(?!\s+(?:side|gloves?|handle|soap|door|part|mixer|corner|end|cupboard|drawer|flap|oven|cabinet|"
    r"wash|bottle|towel|sleeve|wearing))(?:\s+(?:index\s+finger|thumb|fingers?|palm))?\b"
)
_LEFT_AND_RIGHT = re.compile(r"\b(?:the\s+|my\s+)?(?:left\s+and\s+right|right\s+and\s+left)\s+hands?\b")
_REWRITES = tuple(
    (re.compile(pattern), text)
    for pattern, text in (
        (r"['’]s\b", " 's"),
        (r"(\w)s['’](?=\s)", r"\1s 's"),
        (r"n['’]t\b", " not"),
        (r"\b(?:i['’]m|i am)\b", "i am"),
        (r"\bas well as\b", "and"),
        (r"\bas well\b", ""),
        (r"\bat the same time\b", ""),
        (r"\bof (?:my|the) own\b", ""),
        (r"\b(?:so as to|in order to|so to|as to)\b", "purposeto"),
        (r"\bso that\b", "sothat"),
        (r"\bso (?=(?:i|we|it|they|the|you) (?:can|could|may|might|will|would|do|does|is|are|fits?)\b)", "sothat "),
        (r"\b(?:turning|flipping) (.{2,40}?) upside down\b", r"flipping \1 "),
        (r"\b(?:turned|flipped) (.{2,40}?) upside down\b", r"flipped \1 "),
        (r"\b(?:turn|flip)s? (.{2,40}?) upside down\b", r"flip \1 "),
        (r"\bto (?:fully|completely|further|slightly|gently|carefully|quickly|better|properly|slowly|just|also|easily|actually|"
         r"temporarily|eventually|firmly|partially|finally) (?=[a-z])", "to "),
        (r"\bupside down\b", ""),
        (r"\b(?:on|onto|to|at) (?:the )?(?:very )?top of\b", "on"),
        (r"\bfrom (?:on )?(?:the )?(?:very )?top of\b", "from"),
        (r"\b(?:from (?:on|inside|under|underneath|within|out of|behind|off|in))\b", "from"),
        (r"\b(?:to|on|at|towards|in) the (?:far |very |top |bottom )?(?:left|right)(?:[- ]hand)?(?: side)? (?:of|to)\b",
         "beside"),
        (r"\bfrom the (?:far |top |bottom )?(?:left|right)(?:[- ]hand)?(?: side)? of\b", "from"),
        (r"\b(?:next to|close to|adjacent to|in front of|by the side of|alongside|nearby)\b", "beside"),
        (r"\bout of the way\b", "away"),
        (r"\b(?:out of|out from)\b", "outof"),
        (r"\baway from\b", "awayfrom"),
        (r"\boff of\b", "off"),
        (r"(?<!the )\binside of\b", "inside"),
        (r"\b(?:around |about |by )?(?:\d+|ninety|180|forty-five|a few) degrees?\b", ""),
        (r"\b(in|into|at|on|onto|to|towards|toward|from|off) (?:the )?(?:very |far )?(?:middle|center|centre|corner|back|front|"
         r"bottom|side|edge|end|rim|inside|surface|far end|other side|bottom part|top part|upper part|lower part) of\b",
         r"\1"),
        (r"\bin (?:the )?between\b", "between"),
        (r"\b(?:one another|each other)\b", "eachother"),
        (r"\b(?:in place|into place|in its place|back in place|in position)\b", "back"),
        (r"\bto (?:the|my) (?:left|right|side|front|back)\b", ""),
        (r"\bfrom (?:the )?(?:left|right) to (?:the )?(?:left|right)\b", ""),
        (r"\bmak(?:e|ing) (?:a|an|another|one|the|one more)(?: \w+)? cuts? (?:in|on|through|into|across|to|along)\b", "cut"),
        (r"\b(?:stuck|glued|sticking|clinging) (?:to|on|onto|in|inside|at)\b", "from"),
        (r"\b(pick|put|turn|take|pull|push|lift|switch)-(up|down|on|off|out|in|away|back)\b", r"\1 \2"),
        (r"\btry and\b", "try to"),
        (r"\bgo and\b", ""),
        (r"\bmake use of\b", "use"),
        (r"\bwith the help of\b", "with"),
        (r"\bwith the use of\b", "with"),
        (r"\bby means of\b", "with"),
        (r"\b(?:by using|usnig|usign)\b", "using"),
        (r"\bwash(?:ing)?[- ]up\b(?= (?:liquid|bottle|soap|sponge|glove|brush|bowl))", "washing-up"),
        (r"\btea towel", "teatowel"),
        (r"\b(?:newly |just |previously )?(?:picked|lifted|taken)[- ](?:up|out) (?=[a-z])(?!from|in|with|by|and|using)", ""),
        (r"\bin one go\b|\bin one (?:swift )?(?:motion|movement)\b", ""),
        (r"\b(?:a |an )?(?:couple|number|few|lot|lots) (?:of )?(?:times|seconds|minutes|motions|movements)\b", ""),
        (r"\b(?:several|multiple|many|two|three|few|one more|another|one last|a second|a third) (?:times?|seconds?|"
         r"motions?|movements?|strokes?)\b", ""),
        (r"\bin (?:a )?(?:short |small )?(?:circular|back and forth|sawing\S*|sawing-like) (?:motions?|fashion|"
         r"movements?)\b", ""),
        (r"\bback and forth\b", ""),
        (r"\bone (?:more|last|final) (?=time)", ""),
    )
)  # fmt: skip
_TOKEN = re.compile(r"@\w+|[a-z0-9_½¼¾/]+(?:[-'’.][a-z0-9_]+)*|'s|[,;:()]")
_SENTENCE = re.compile(r"[.!?]+(?=\s|$)|[\n;]+")
_FAILED = re.compile(
    r"\b(?:but (?:it |he |she |i )?(?:fails?|can ?not|cannot|could not|couldn't|does not|doesn't|did not|didn't)|"
    r"unsuccessful(?:ly)?|without success|in vain|to no avail|attempt (?:fails|failed|is not successful))\b"
)
_SUBORDINATE = {
    "because": REASON, "since": REASON, "as": REASON, "when": REASON, "if": REASON, "once": REASON, "after": REASON,
    "before": PURPOSE, "until": PURPOSE, "till": PURPOSE, "where": REASON, "which": REASON, "that": REASON,
    "who": REASON, "whose": REASON, "sothat": PURPOSE, "although": REASON, "though": REASON, "unless": REASON,
    "while": BACKGROUND, "whilst": BACKGROUND, "whist": BACKGROUND, "whereas": REASON, "having": REASON, "what": REASON,
    "how": REASON, "whether": REASON, "due": REASON, "ready": PURPOSE,
}  # fmt: skip
_AUXILIARY = frozenset(
    "is are was were be been being has have had do does did can could will would should may might must am get gets "
    "seems seem needs'".split()
)
_LYING = frozenset(
    "is are was were contains has fell falls lies lay sits sat stands stood hangs hung rests remains remained stays".split()
)
_RESTING = frozenset("hanging lying sitting standing leaning resting soaking sticking floating waiting".split())
_COGNITION = frozenset("realize realise notice think know decide understand remember hope assume wonder".split())
_POINTING = frozenset("this that it these those they".split())
_SUBJECTS = frozenset("i we you he she they it there".split())
_CONTAINING = frozenset("containing including filled attached placed located positioned called labelled made".split())
_COMPOUND_ING = frozenset(
    "chopping cutting washing washing-up rolling frying baking drying mixing measuring weighing cooking serving "
    "draining sparkling running boiling grilling carving bread-making processing roasting floating remaining living "
    "dining cleaning shopping parking recycling icing dressing seasoning topping filling scrubbing oven-baking "
    "peeling spring squeezing writing carrying lining grinding scouring vacuuming brewing heating ceiling wrapping "
    "packaging string pudding dumpling setting reading existing following missing hanging building plating".split()
)


@dataclass
class _Cursor:
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


def parse(sentence: str) -> tuple[Clause, ...]:
    """Parse one narration, of one or more sentences, into clauses in order of mention.

    Args:
        sentence: any text; case, spacing and a missing full stop do not matter.

    Returns:
        All clauses; only those with mode "act" were done.
    """
    clauses: list[Clause] = []
    for number, part in enumerate(_SENTENCE.split(sentence.replace("’", "'"))):
        text = _rewrite(part)
        words = _TOKEN.findall(text)
        if words:
            failed = bool(_FAILED.search(part.lower())) and words[0] not in {"this", "the"}
            found = _clauses(lexicon(), words)
            if failed:
                acts = [index for index, clause in enumerate(found) if clause.mode == ACT]
                if acts:
                    found[acts[-1]] = replace(found[acts[-1]], mode=ATTEMPT)
            if words[0] == "using" and clauses and not any(c.mode in {ACT, ATTEMPT} for c in found):
                clauses = _with_fragment(lexicon(), words, clauses)  # "Wipe the sink. Using the cloth."
            if words[0] in _POINTING:  # "This was left there, so it has to be put back": nothing of it is told as done
                found = [replace(c, mode=REASON) if c.mode in {ACT, ATTEMPT} else c for c in found]
            explains = words[0] in {"i", "we"} and any(w in _SUBORDINATE or w == "purposeto" for w in words)
            clauses += [replace(c, sentence=-number if explains and number else number) for c in found]
    return tuple(clauses)


def _with_fragment(lex: Lexicon, words: list[str], clauses: list[Clause]) -> list[Clause]:
    """Give the instruments of a fragment sentence to the last act before it."""
    cursor = _Cursor(words)
    _read_instrument(lex, cursor)
    cursor.clauses = clauses
    return _hand_out(list(clauses), cursor)


def _rewrite(text: str) -> str:
    text = " " + " ".join(text.lower().split()) + " "
    text = _LEFT_AND_RIGHT.sub("@both", text)
    text = _HAND.sub(lambda match: "@" + match.group(1), text)
    for pattern, replacement in _REWRITES:
        text = pattern.sub(replacement, text)
    return text


def _readings(lex: Lexicon, word: str, tenses: Sequence[str]) -> VerbForm | None:
    for reading in lex.forms.get(word, ()):
        if reading.tense in tenses:
            return reading
    return None


def _verb_at(lex: Lexicon, cursor: _Cursor) -> VerbForm | None:
    """Return the verb read at the cursor, given what stands before and after it; None if it is no verb here."""
    word, before, after = cursor.word(), cursor.word(-1), cursor.word(1)
    if word in _AUXILIARY and word not in {"get", "do"}:
        return None
    if word in PREPOSITIONS and word not in lex.forms:
        return None
    ing = _readings(lex, word, ("ing",))
    if ing:
        if before in DETERMINERS or before in {"'s"} or before in PREPOSITIONS - {"by", "for", "from", "without", "to"}:
            return None
        if (
            word in _COMPOUND_ING
            and after
            and _noun_start(lex, after)
            and after not in DETERMINERS
            and (before not in {"by", "while", "whilst"})
        ):
            return None
        return ing
    base = _readings(lex, word, ("base",))
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
        return _readings(lex, word, ("ed", "s"))
    if (cursor.at == 0 or before in {",", "now"} or before.startswith("@")) and not lex.known_noun(word):
        return _readings(lex, word, ("s", "ed"))
    return None


def _reads_as_noun(lex: Lexicon, cursor: _Cursor, word: str, after: str) -> bool:
    """After "and", a word that is both noun and verb is a noun unless something to act on follows."""
    if not lex.known_noun(word):
        return False
    if (
        after in DETERMINERS
        or after.startswith("@")
        or after in {"it", "them"}
        or (after in PARTICLES and any((reading.lemma, after) in lex.senses for reading in lex.forms[word]))
    ):
        return False
    return not (after and after not in PREPOSITIONS and lex.known_noun(after))


def _noun_start(lex: Lexicon, word: str) -> bool:
    return bool(word) and (
        word in DETERMINERS
        or (word not in PREPOSITIONS and word not in _AUXILIARY and word not in _SUBORDINATE and word[0].isalnum())
    )


def _clauses(lex: Lexicon, words: list[str]) -> list[Clause]:
    cursor = _Cursor(words)
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
            and clause.sense not in {"navigate", "wait", "look", "reach"}
        ):
            clauses[index] = replace(
                clause,
                objects=following.objects,
                places=following.places,
                instruments=clause.instruments or following.instruments,
            )
    return [clause for clause in clauses if clause.sense not in {"aspect", "use"}]


def _hand_out(clauses: list[Clause], cursor: _Cursor) -> list[Clause]:
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
            if word in _AUXILIARY or (_readings(lex, word, ("s",)) and not lex.known_noun(word)):
                return True
            if word == ",":
                return False
    return False


def _step(lex: Lexicon, cursor: _Cursor) -> None:
    """Consume one thing at the cursor: punctuation, a marker, a fronted phrase, or a whole clause."""
    word, after = cursor.word(), cursor.word(1)
    if word in {",", ";", ":", "(", ")"}:
        if cursor.mode != ACT and (not cursor.main_seen or cursor.fronted or word == ";"):
            cursor.mode, cursor.fronted = ACT, False
        elif cursor.mode in {HOW, BACKGROUND, PURPOSE, REASON} and _readings(lex, after, ("base",)):
            cursor.mode = ACT
        cursor.at += 1
        return
    if word in {"and", "then", "but", "or", "afterwards"}:
        nxt = 1
        while cursor.word(nxt) in ADVERBS or cursor.word(nxt) in {"then", ","} or cursor.word(nxt).endswith("ly"):
            nxt += 1
        if cursor.mode in {HOW, BACKGROUND, REASON} and (
            (_readings(lex, cursor.word(nxt), ("base",)) and cursor.word(nxt - 1) not in DETERMINERS)
            or cursor.word(nxt) in {"using", "i", "with"}
        ):
            cursor.mode, cursor.fronted = ACT, False
        if word == "then" and cursor.mode == PURPOSE and _readings(lex, cursor.word(nxt), ("base",)):
            cursor.mode = ACT
        cursor.at += 1
        return
    if (
        word == "so"
        and (after in {"i", "we"} or (cursor.word(-1) == "," and _readings(lex, after, ("base",))))
        and cursor.words[0] not in _POINTING
    ):
        cursor.mode, cursor.fronted = ACT, False
        cursor.at += 1
        return
    if word in {"i", "we"} and cursor.mode == REASON and not cursor.fronted and cursor.word(-1) == ",":
        cursor.mode = ACT
    if word in {"for", "without", "instead"} and _readings(lex, after, ("ing",)) and not _compound(lex, cursor, 1):
        cursor.mode = PURPOSE
        cursor.at += 1
        return
    if word == "purposeto" or (word == "to" and _readings(lex, after, ("base",)) and not _place_like(lex, cursor)):
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
    if word == "by" and (_readings(lex, after, ("ing",)) or cursor.word(1) in ADVERBS):
        cursor.mode = HOW
        cursor.at += 1
        return
    if word in _SUBORDINATE and not (word == "that" and _noun_start(lex, after) and cursor.at == 0):
        if word == "as" and not (
            after in _SUBJECTS or after in _AUXILIARY or after in DETERMINERS or _readings(lex, after, ("ing",))
        ):
            cursor.at += 1
            return
        cursor.fronted = not cursor.main_seen
        cursor.mode = _SUBORDINATE[word]
        cursor.at += 1
        return
    if (
        word in {"from", "on", "in", "inside"}
        and cursor.mode == ACT
        and not cursor.clauses
        and not cursor.main_seen
        and not (after.startswith("@") or _readings(lex, after, ("ing",)))
    ):
        start = cursor.at
        cursor.at += 1
        place = _noun_phrase(lex, cursor)
        if place is not None and (cursor.word() == "," or _readings(lex, cursor.word(), ("base",))):
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
        if cursor.mode == BACKGROUND and cursor.fronted and _readings(lex, cursor.word(), ("base",)):
            cursor.mode, cursor.fronted = ACT, False
        return
    if word.startswith("@"):
        if cursor.mode == ACT:
            cursor.hands.append(word[1:])
        cursor.at += 1
        return
    verb = _verb_at(lex, cursor)
    if verb is not None:
        if verb.tense == "base" and cursor.mode == BACKGROUND and cursor.fronted and cursor.word(-1).startswith("@"):
            cursor.mode, cursor.fronted = ACT, False  # "while holding the box in my left hand close the lid"
        _read_clause(lex, cursor, verb)
        return
    cursor.at += 1


def _place_like(lex: Lexicon, cursor: _Cursor) -> bool:
    """ "to" before a word that is a noun with nothing to act on ("to place", "to rest") introduces a place."""
    return cursor.word(2) in {",", ""} and lex.known_noun(cursor.word(1)) and cursor.word(1) not in {"open", "cool"}


def _fronted_instrument(lex: Lexicon, cursor: _Cursor) -> bool:
    if cursor.word() == "with":
        return True
    # "use X to VERB" and "use @left and VERB"
    rest = cursor.words[cursor.at + 1 :]
    return "to" in rest or "purposeto" in rest or "and" in rest or any(word.startswith("@") for word in rest[:2])


def _read_instrument(lex: Lexicon, cursor: _Cursor) -> None:
    """Read "using/with/use X [and Y] [in the right hand]" before or after the act it serves."""
    cursor.used = cursor.word() == "use"
    cursor.at += 1
    while True:
        if cursor.word().startswith("@"):
            cursor.hands.append(cursor.word()[1:])
            cursor.at += 1
        else:
            phrase = _noun_phrase(lex, cursor)
            if phrase is None:
                break
            if phrase.head in {"hand", "finger", "thumb", "palm", "fingertip"}:
                cursor.hands.append("any")
            else:
                cursor.instruments.append(phrase)
        if cursor.word() in {"in", "from", "with", "by", "inside"} and cursor.word(1).startswith("@"):
            cursor.hands.append(cursor.word(1)[1:])
            cursor.at += 2
        if (
            cursor.word() == "and"
            and _noun_start(lex, cursor.word(1))
            and not _readings(lex, cursor.word(1), ("base",))
        ):
            cursor.at += 1
            continue
        break
    if cursor.word() == "and" and cursor.word(1) == "using":
        cursor.at += 1


_ASPECT_TRY = frozenset({"try", "attempt", "struggle", "fail"})


def _read_clause(lex: Lexicon, cursor: _Cursor, verb: VerbForm) -> None:
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
        or _readings(lex, cursor.word(), ("ing",))
        or (lemma in {"continue", "finish"} and not _noun_start(lex, cursor.word()))
    ):
        cursor.carrier = "try" if lemma in _ASPECT_TRY else "want" if lemma in {"want", "need", "like"} else "go on"
        cursor.continued = lemma in {"continue", "keep", "resume", "finish"}
        if lemma in {"stop", "cease"} and mode == ACT:
            cursor.mode = REASON
        return
    if lemma in {"keep", "start", "stop"} and _readings(lex, cursor.word(), ("ing",)):
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
        and (lex.sense(lemma) in _PUTTING and cursor.word() not in {"it", "them", ""})
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
            if word == "using" and mode == BACKGROUND and cursor.fronted and _readings(lex, cursor.word(2), ("base",)):
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
            if word == "by" and _readings(lex, after, ("ing",)):
                break
            if word in {"for", "without", "from"} and _readings(lex, after, ("ing",)) and not _compound(lex, cursor, 1):
                break
            if word == "to" and _readings(lex, after, ("base",)) and not _place_like(lex, cursor):
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
            phrase = _noun_phrase(lex, cursor)
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
            probe = _Cursor(cursor.words, cursor.at + 1, main_seen=True)
            while probe.word() in {"and", "then", "also"}:
                probe.at += 1
            if (
                probe.word() in {"", ","} or probe.word().startswith("@") or probe.word() in PREPOSITIONS
                or probe.word() in {"using", "then", "i"} or probe.word() in _SUBORDINATE
                or probe.word() in ADVERBS or probe.word() in _SUBJECTS
                or _verb_at(lex, probe) is not None
            ):  # fmt: skip
                break
            phrase = _noun_phrase(lex, probe)
            if phrase is None or probe.word() in _AUXILIARY:
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
                target = _noun_phrase(lex, probe)
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
        if word == "that" and not objects and not places and _noun_start(lex, after) and lex.known_noun(after):
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
        if word in _CONTAINING or (word in {"holding", "held"} and cursor.word(-1) not in {",", "and"} and objects):
            cursor.at += 1
            if word in {"containing", "including", "filled"}:
                if cursor.word() == "with":
                    cursor.at += 1
                phrase = _noun_phrase(lex, cursor)
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
            and (_readings(lex, after, ("ed",)))
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
        if word in _SUBORDINATE or word in {"purposeto", "then", "but", ";", ":", "(", ")", "so"} or word in _SUBJECTS:
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
            if _verb_at(lex, cursor) is not None and word not in ADVERBS:
                break
            if word in ADVERBS or word.endswith("ly"):
                cursor.at += 1
                continue
            if word in _AUXILIARY:
                break
            cursor.at += 1
            continue
        if word in ADVERBS and not lex.known_noun(word) and word not in DETERMINERS:
            cursor.at += 1
            continue
        phrase = _noun_phrase(lex, cursor)
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
        lemma, particle, sense, mode, tuple(objects), tuple(places), tuple(instruments),
        tuple(hand for hand in dict.fromkeys(hands) if hand != "any"),
        (passed[0], passed[1]) if any(passed) else None, cursor.continued, text,
    )  # fmt: skip
    cursor.continued = False
    cursor.clauses.append(clause)
    cursor.clauses += [replace(other, sense=sense, hands=clause.hands) for other in gapped]
    cursor.used = False
    if mode in {ACT, ATTEMPT}:
        cursor.main_seen = True
    elif cursor.mode == ACT and mode != ACT:
        cursor.mode = ACT


def _list_goes_on(probe: _Cursor) -> bool:
    return any(word == "and" for word in probe.words[probe.at : probe.at + 8])


_PUTTING = frozenset("put insert add pour throw throw_away drop close open hang pass turn_on turn_off".split())


def _participle_mode(lex: Lexicon, cursor: _Cursor, verb: VerbForm, before: str) -> str:
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
    if sense in _PUTTING and before in {",", "and", "then"} and following not in {"it", "them"}:
        return ACT
    if before in {"then", "start", "begin"}:
        return ACT
    return HOW


def _main_follows(lex: Lexicon, cursor: _Cursor) -> bool:
    rest = cursor.words[cursor.at :]
    return any(
        word == "," and index + 1 < len(rest) and _readings(lex, rest[index + 1], ("base",))
        for index, word in enumerate(rest)
    )


def _ends_relative(cursor: _Cursor) -> bool:
    """Say whether a relative clause ends at the cursor: at a place phrase, a comma, a conjunction or a new marker."""
    word = cursor.word()
    return word in {"from", "into", "onto", "on", "in", "to", "inside", "under", "beside", ",", "and", "using", "with", "purposeto",
                    "sothat", "while", "whilst", "then", "by"}  # fmt: skip


def _skip_relative(lex: Lexicon, cursor: _Cursor) -> None:
    while cursor.at < len(cursor.words) and cursor.word() not in {",", "to", "purposeto", "using", "with"}:
        word, after = cursor.word(), cursor.word(1)
        if word in PREPOSITIONS or (
            word == "and" and (after in ADVERBS or after.startswith("@") or _readings(lex, after, ("base", "ing")))
        ):
            return
        cursor.at += 1


def _set_content(objects: list[NounPhrase], places: list[tuple[str, NounPhrase]], content: NounPhrase) -> None:
    if places:
        prep, owner = places[-1]
        places[-1] = (prep, replace(owner, of=content, relation="content"))
    elif objects:
        objects[-1] = replace(objects[-1], of=content, relation="content")


def _particle(lex: Lexicon, cursor: _Cursor, lemma: str, has_object: bool) -> str:
    """Consume and return a particle of the verb at the cursor, or return "" and leave the cursor."""
    word, after = cursor.word(), cursor.word(1)
    if word not in PARTICLES:
        return ""
    pair = (lemma, word)
    if word in {"on", "in", "inside", "into", "over", "off", "through", "around", "onto", "under", "across", "along",
                "against", "behind", "towards"}:  # fmt: skip
        object_follows = _noun_start(lex, after) and not after.startswith("@") and after not in ADVERBS
        if pair not in lex.senses:
            return ""
        if has_object and object_follows and after not in {"using", "with", "by"}:
            return ""
        switched = lex.senses[pair] in {"turn_on", "turn_off", "wear", "remove", "cover", "attach", "plug_in", "look",
                                        "search", "flip"}  # fmt: skip
        if not has_object and object_follows and not switched and word != "off":
            return ""
        if lex.senses[pair] == "wear" and object_follows and _places_follow(cursor):
            return ""
    elif pair not in lex.senses:
        if word in {"open", "closed", "shut"} and lemma in {"push", "pull", "slide", "swing", "lift", "flip", "keep"}:
            pass
        elif not has_object and _noun_start(lex, after) and word not in {"up", "down", "back", "out", "away"}:
            return ""
        else:
            cursor.at += 1
            return ""
    cursor.at += 1
    return word


def _places_follow(cursor: _Cursor) -> bool:
    """ "put on the counter the cup" is rare; "put on the table" without any object is an act of placing."""
    return cursor.word(2) in {
        "counter",
        "countertop",
        "table",
        "shelf",
        "worktop",
        "hob",
        "plate",
        "side",
    } or cursor.word(3) in {"counter", "countertop", "table", "shelf", "worktop", "hob", "top"}


def _noun_phrase(lex: Lexicon, cursor: _Cursor) -> NounPhrase | None:
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
            second = _noun_phrase(lex, cursor)
            if second is None:
                return first
            return join_of(first, second, lex)
        return first


def _simple_phrase(lex: Lexicon, cursor: _Cursor) -> NounPhrase | None:
    words: list[str] = []
    while cursor.at < len(cursor.words):
        word, after = cursor.word(), cursor.word(1)
        if not word[0].isalnum() or word in _SUBJECTS - {"it", "they"}:
            break
        if word in {"it", "they"} and words:
            break
        if word == "that" and words:
            break
        if word in PREPOSITIONS or word in {
            "and",
            "or",
            "then",
            "but",
            "using",
            "purposeto",
            "sothat",
            "so",
            "eachother",
        }:
            break
        if word in _SUBORDINATE and word != "that":
            break
        if word in _AUXILIARY and word not in {"can"}:
            break
        if word == "can" and not words and not (after in PREPOSITIONS or after in {"", ",", "and"}):
            break
        if word in _CONTAINING and not (words and words[-1] in DETERMINERS):
            break
        if word == "to":
            break
        if word in {"inside", "outside", "in-between"} and after == "of" and words:
            words.append(word)
            cursor.at += 1
            break
        if words and (word in ADVERBS or word.endswith("ly")) and not _inside_phrase(lex, words[-1], word, after):
            break
        if not words and word in ADVERBS and word not in DETERMINERS and not lex.known_noun(word):
            if _noun_start(lex, after) and word in {"open", "closed", "now", "dry"}:
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
        if _readings(lex, word, ("ing",)) and not lex.known_noun(word) and not _ing_inside(lex, words, word, after):
            break
        if (
            words and words[-1] not in DETERMINERS and words[-1] not in ORDINALS and not lex.known_noun(word)
            and after != "of"
            and _readings(lex, word, ("ed",) if cursor.main_seen or cursor.in_clause else ("base", "ed"))
            and lex.known_noun(words[-1]) and not _noun_ahead(lex, after)
        ):  # fmt: skip
            break
        words.append(word)
        cursor.at += 1
        if word in {"it", "them", "they"}:
            break
    while words and words[-1] in ADVERBS and not lex.known_noun(words[-1]) and len(words) > 1:
        words.pop()
        cursor.at -= 1
    if not words:
        return None
    return make_phrase(lex, words)


def _inside_phrase(lex: Lexicon, before: str, word: str, after: str) -> bool:
    """Say whether an adverb stands inside a phrase ("the now wet cloth", "the back tiles")."""
    if not after or word in {"again", "away", "together", "then", "up", "down"}:
        return False
    if word == "back" and before not in DETERMINERS:
        return False
    return (
        lex.known_noun(after) or after in REGIONS or after in PIECES or (word == "back" and after not in PREPOSITIONS)
    )


def _compound(lex: Lexicon, cursor: _Cursor, offset: int) -> bool:
    """Say whether the -ing word at an offset opens a compound noun ("from chopping board")."""
    return cursor.word(offset) in _COMPOUND_ING and lex.known_noun(cursor.word(offset + 1))


def _ing_inside(lex: Lexicon, words: list[str], word: str, after: str) -> bool:
    """Say whether an -ing word belongs to a compound noun ("chopping board", "the floating lid")."""
    if not after or not (lex.known_noun(after) or after in REGIONS):
        return False
    return word in _COMPOUND_ING or bool(words and words[-1] in DETERMINERS)


def _noun_ahead(lex: Lexicon, word: str) -> bool:
    return bool(word) and lex.known_noun(word) and word not in PREPOSITIONS
