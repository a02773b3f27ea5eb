"""Object tracks against narrations: how well a track's name and times fit a mention. Stage: bind."""

from __future__ import annotations

from dataclasses import dataclass

from ego2world.annotations.records import Association, Track
from ego2world.annotations.rows import track_base_name
from ego2world.language.forms import phrase_of
from ego2world.language.lexicon import lexicon, singular
from ego2world.language.phrases import ORDINALS, NounPhrase
from ego2world.ontology.kinds import Trait, has, kinds_with

NEAR_S = 2.5  # how far a narration may lie from a track's pick-up or put-down
_COLOURS = frozenset(
    "red green blue yellow orange white black brown grey gray pink purple silver clear transparent".split()
)
_CONTRAST = (
    frozenset(ORDINALS)
    | _COLOURS
    | frozenset(
        "left right big small large little upper lower top bottom other half wooden plastic metal glass new old".split()
    )
)


@dataclass(frozen=True)
class NamedTrack:
    """An association with its name taken apart."""

    association: Association
    head: str
    kind: str | None
    words: frozenset[str]


def named(association: Association) -> NamedTrack:
    """Take an association's name apart into head, kind and words."""
    base, number = track_base_name(association.name)
    words = [
        word for word in base.replace("-", " ").split() if word not in {"the", "a", "of", "with", "and", "in", "one"}
    ]
    main = base
    for cut in (" with ", " in ", " containing ", " for ", " from "):
        main = main.split(cut)[0]
    phrase = phrase_of(main.strip() or "thing")
    head = phrase.head if phrase is not None else main
    bag = {singular(word) for word in words}
    if number:
        bag.add(f"#{number}")
    return NamedTrack(association, head, lexicon().kind(head), frozenset(bag))


def name_fit(phrase: NounPhrase, track: NamedTrack) -> float:
    """Return how well a phrase names a track's object: 0 (not at all) to about 1.5."""
    kind = lexicon().kind(phrase.head)
    words = {singular(word) for word in phrase.head.split()} | {singular(word) for word in phrase.modifiers}
    if phrase.of is not None:
        words |= {singular(word) for word in phrase.of.head.split()}
    shared = words & track.words
    if phrase.head == track.head:
        score = 1.0
    elif phrase.head.split()[-1] == track.head.split()[-1]:
        score = 0.9
    elif kind is not None and kind == track.kind and shared - _CONTRAST:
        score = 0.7
    elif {singular(word) for word in phrase.head.split()} & track.words or track.head in words:
        if _only_described_so(phrase, kind, track, words):
            return 0.0  # the "dough scraper" is no "pizza dough"
        score = 0.55
    elif kind is not None and kind == track.kind and kind not in kinds_with(Trait.VAGUE):
        score = 0.35
    else:
        return 0.0
    extra = {singular(word) for word in phrase.modifiers}
    score += 0.15 * len(extra & track.words)
    mine, its = extra & _CONTRAST, track.words & _CONTRAST
    if (mine and its and not mine & its) or described_otherwise(
        described(phrase), track.words - {phrase.head.split()[-1]}
    ):
        score -= 0.35
    return max(score, 0.0)


def described(phrase: NounPhrase) -> frozenset[str]:
    """Return the words that describe a phrase's last word: {"pizza", "oven"} of "pizza oven lid"."""
    return frozenset(singular(word) for word in (*phrase.modifiers, *phrase.head.split()[:-1]))


def described_otherwise(mine: frozenset[str] | set[str], its: frozenset[str] | set[str]) -> bool:
    """Say whether both are described by nouns and share none: the "oven lid" is not the "box lid"."""
    nouns, others = (
        {word for word in words - _CONTRAST if lexicon().known_noun(word) or word.endswith("ing")}
        for words in (mine, its)
    )
    return bool(nouns and others) and not mine & its


def _only_described_so(phrase: NounPhrase, kind: str | None, track: NamedTrack, words: set[str]) -> bool:
    """Say whether a track of another known kind, no container, shares but a describing word with a phrase."""
    if kind is None or track.kind is None or kind == track.kind or track.head.split()[-1] in words:
        return False
    holds = has(track.kind, Trait.INSIDE) or has(track.kind, Trait.SURFACE) or has(track.kind, Trait.FOOD)
    return not holds and track.kind not in {"thing", "part"}


def take_fit(track: Track, start_s: float, end_s: float) -> float:
    """Return how well a track begins within a pick-up's span: 1 inside, falling to 0 at NEAR_S outside."""
    return _closeness(track.start_s, start_s, end_s)


def put_fit(track: Track, start_s: float, end_s: float) -> float:
    """Return how well a track ends within a put-down's span."""
    return _closeness(track.end_s, start_s, end_s)


def use_fit(track: Track, start_s: float, end_s: float) -> float:
    """Return 1 when the object was in motion throughout the span, less when only in part."""
    overlap = min(track.end_s, end_s) - max(track.start_s, start_s)
    if end_s <= start_s:
        return 1.0 if track.start_s <= start_s <= track.end_s else 0.0
    return max(0.0, overlap / (end_s - start_s))


def _closeness(moment_s: float, start_s: float, end_s: float) -> float:
    away = max(start_s - moment_s, moment_s - end_s, 0.0)
    return max(0.0, 1.0 - away / NEAR_S)
