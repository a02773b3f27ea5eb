"""Official words to senses and phrases: verb forms such as turn-on, nouns such as bottle of oil."""

from __future__ import annotations

from collections.abc import Mapping

from ego2world.language.lexicon import lexicon
from ego2world.language.parse import parse
from ego2world.language.phrases import NounPhrase, make_phrase


def phrase_of(words: str) -> NounPhrase | None:
    """Read a bare noun phrase, such as an official noun."""
    found = make_phrase(lexicon(), [word for word in words.lower().split() if word not in {"of", "the"}])
    if " of " in words:
        from_parse = parse(f"take the {words}")
        if from_parse and from_parse[0].objects:
            return from_parse[0].objects[0]
    return found


def form_sense(form: str, class_of: Mapping[str, str]) -> str:
    """Return the sense of an official verb form such as "turn-on" or "pull out", by lexicon, else by its class.

    A form that the data set puts in a class spelt with a particle ("turn-of" in class "turn-off") follows the class.
    """
    key = class_of.get(form, "")
    known = lexicon()
    words = form.replace("-", " ").split()
    if not words:
        return "other"
    lemma, particle = words[0], " ".join(words[1:])
    exact = known.senses.get((lemma, particle))
    if exact:
        return exact
    if key:
        by_class = _CLASS_SENSES.get(key) or known.sense(*([*key.replace("-", " ").split(), ""])[:2])
        if by_class and (particle or known.sense(lemma) is None):
            bare = known.sense(lemma)
            return by_class if bare is None or "-" in key else bare
    return known.sense(lemma) or "other"


_CLASS_SENSES = {
    "transition": "navigate", "pat": "tap", "unscrew": "unscrew", "finish": "other", "let-go": "drop", "work": "other",
    "match": "other", "balance": "hold", "produce": "other", "solidify": "cool", "set": "put", "use": "use",
    "turn-down": "decrease", "serve": "put", "rub": "scrub", "brush": "scrub", "water": "soak", "coat": "spread",
}  # fmt: skip
