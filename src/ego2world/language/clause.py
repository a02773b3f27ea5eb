"""One clause: a verb with its mode, what the rules find after it, and what was said before it. Stage: language."""

from __future__ import annotations

from dataclasses import replace

from ego2world.language.clause_rules import RULES, Draft, Then, read_particle
from ego2world.language.lexicon import Lexicon, VerbForm
from ego2world.language.phrases import DETERMINERS, ORDINALS, NounPhrase
from ego2world.language.reading import ACT, ATTEMPT, BACKGROUND, HOW, REASON, Clause, Cursor, noun_start, readings
from ego2world.ontology.senses import Tag, senses

_ASPECT_TRY = frozenset({"try", "attempt", "struggle", "fail"})
_COGNITION = frozenset("realize realise notice think know decide understand remember hope assume wonder".split())


def read_clause(lex: Lexicon, cursor: Cursor, verb: VerbForm) -> None:
    """Read the clause of a verb at the cursor, and append it to the cursor's clauses.

    A verb that only says how another goes on ("continue to stir", "try to open") leaves that to the next one.
    """
    start = cursor.at
    mode = _mode_of(lex, cursor, verb)
    before = cursor.word(-1)
    cursor.at += 1
    if _carries(lex, cursor, verb.lemma, mode):
        return
    if cursor.carrier == "try" and mode == ACT:
        mode = ATTEMPT
    if mode == BACKGROUND and verb.tense == "ing" and before in {"while", "whilst"}:
        if lex.sense(verb.lemma) in senses(Tag.ACT_OF_ITS_OWN) and cursor.word() not in {"it", "them", ""}:
            mode = ACT  # "rinsing the cup while putting the sponge back"
    if verb.lemma in _COGNITION and mode in {ACT, ATTEMPT}:
        mode = REASON
    cursor.carrier = ""
    cursor.in_clause = True
    draft = Draft(lex, cursor, verb.lemma, mode, read_particle(lex, cursor, verb.lemma, has_object=False))
    while cursor.at < len(cursor.words):
        if next(then for rule in RULES if (then := rule(draft)) is not Then.OTHER) is Then.END:
            break
    cursor.in_clause = False
    _finish(draft, start)


def _mode_of(lex: Lexicon, cursor: Cursor, verb: VerbForm) -> str:
    """Return whether a verb's form says an act, a manner or a reason, going by what stands before it."""
    before = cursor.word(-1)
    mode = cursor.mode
    if verb.tense == "ing" and not cursor.carrier and mode == ACT:
        mode = _participle_mode(lex, cursor, verb, before)
    if verb.tense == "ed" and before in {"is", "are", "was", "were", "been", "being", "be", "has", "have", "having"}:
        mode = REASON if mode == ACT else mode
    return mode


def _carries(lex: Lexicon, cursor: Cursor, lemma: str, mode: str) -> bool:
    """Say whether a verb only carries the next one, and remember how."""
    if lex.senses.get((lemma, "")) == "aspect" and (
        cursor.word() == "to"
        or readings(lex, cursor.word(), ("ing",))
        or (lemma in {"continue", "finish"} and not noun_start(lex, cursor.word()))
    ):
        cursor.carrier = "try" if lemma in _ASPECT_TRY else "want" if lemma in {"want", "need", "like"} else "go on"
        cursor.continued = lemma in {"continue", "keep", "resume", "finish"}
        if lemma in {"stop", "cease"} and mode == ACT:
            cursor.mode = REASON
        return True
    if lemma in {"keep", "start", "stop"} and readings(lex, cursor.word(), ("ing",)):
        cursor.carrier, cursor.continued = "go on", lemma == "keep"
        if lemma == "stop":
            cursor.mode = REASON
        return True
    return False


def _finish(draft: Draft, start: int) -> None:
    """Append the clause, and take over what was said before it."""
    cursor, objects, places, instruments, hands = (
        draft.cursor,
        draft.objects,
        draft.places,
        draft.instruments,
        draft.hands,
    )
    mode = draft.mode
    if draft.lemma == "do" and mode == ACT and ("so" in {cursor.word(-1), cursor.word()} or _pronoun_first(objects)):
        mode = REASON  # "I do this because ..."
    if len(objects) > 1 and objects[0].head in ORDINALS:
        objects = objects[1:]
    sense = draft.lex.sense(draft.lemma, draft.particle) or "other"
    text = " ".join(cursor.words[start : cursor.at])
    if mode in {ACT, ATTEMPT}:
        if not hands:
            hands, cursor.hands = list(cursor.hands), []
        instruments, cursor.instruments = cursor.instruments + instruments, []
        places, cursor.places = places + cursor.places, []
    clause = Clause(
        draft.lemma,
        draft.particle,
        sense,
        mode,
        tuple(objects),
        tuple(places),
        tuple(instruments),
        tuple(hand for hand in dict.fromkeys(hands) if hand != "any"),
        (draft.from_hand, draft.to_hand) if draft.from_hand or draft.to_hand else None,
        cursor.continued,
        text,
        holds=tuple(draft.holds),
        settings=tuple(draft.settings),
    )
    cursor.continued = False
    cursor.clauses.append(clause)
    cursor.clauses += [replace(other, sense=sense, hands=clause.hands) for other in draft.gapped]
    cursor.used = False
    if mode in {ACT, ATTEMPT}:
        cursor.main_seen = True
    elif cursor.mode == ACT:
        cursor.mode = ACT


def _pronoun_first(objects: list[NounPhrase]) -> bool:
    return bool(objects) and objects[0].pronoun


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
