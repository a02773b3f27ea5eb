"""Blind guessers: what of a multiple choice can be got right without the video. Stage: qa, audit.

Each guesser scores the options of an item; the best scored is its guess, and of several equally good ones each counts
in part, so that a guesser that cannot tell options apart comes out at chance exactly. What it learns, it learns from
the items of other videos.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ego2world.qa.items import Item

_WORD = re.compile(r"[a-z0-9']+")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def tokens(text: str) -> tuple[str, ...]:
    """Return the words of a text in small letters."""
    return tuple(_WORD.findall(text.lower()))


@dataclass
class Counts:
    """What can be learnt from keyed items: how often a position, a text, a word was shown, and was (in) the key."""

    items: int = 0
    place: Counter[tuple[int, str]] = field(default_factory=Counter)
    shown_text: Counter[str] = field(default_factory=Counter)
    key_text: Counter[str] = field(default_factory=Counter)
    shown_word: Counter[str] = field(default_factory=Counter)
    key_word: Counter[str] = field(default_factory=Counter)

    def add(self, item: Item, sign: int = 1) -> None:
        """Count an item in, or out again (``sign`` -1)."""
        self.items += sign
        for letter, text in (item.options or {}).items():
            key = letter in item.key
            plain = " ".join(tokens(text))
            self.shown_text[plain] += sign
            self.key_text[plain] += sign * key
            self.place[(len(item.options or {}), letter)] += sign * key
            for word in set(tokens(text)):
                self.shown_word[word] += sign
                self.key_word[word] += sign * key


Guesser = Callable[[Item, Mapping[str, str], Counts, Sequence[Item]], dict[str, float]]


def _position(item: Item, options: Mapping[str, str], known: Counts, history: Sequence[Item]) -> dict[str, float]:
    return {letter: float(known.place[(len(options), letter)]) for letter in options}


def _longest(item: Item, options: Mapping[str, str], known: Counts, history: Sequence[Item]) -> dict[str, float]:
    return {letter: float(len(text)) for letter, text in options.items()}


def _shortest(item: Item, options: Mapping[str, str], known: Counts, history: Sequence[Item]) -> dict[str, float]:
    return {letter: -float(len(text)) for letter, text in options.items()}


def _key_prior(item: Item, options: Mapping[str, str], known: Counts, history: Sequence[Item]) -> dict[str, float]:
    """The text that was the key in the largest share of its showings."""
    chance = 1 / len(options)
    plain = {letter: " ".join(tokens(text)) for letter, text in options.items()}
    return {
        letter: (known.key_text[text] + 2 * chance) / (known.shown_text[text] + 2) for letter, text in plain.items()
    }


def _token_prior(item: Item, options: Mapping[str, str], known: Counts, history: Sequence[Item]) -> dict[str, float]:
    """The text whose words were in keys more often than chance."""
    chance = 1 / len(options)
    scores = {}
    for letter, text in options.items():
        words = set(tokens(text))
        ratios = [
            math.log((known.key_word[w] + 2 * chance) / ((known.shown_word[w] + 2) * chance)) for w in sorted(words)
        ]
        scores[letter] = math.fsum(ratios) / max(1, len(ratios))
    return scores


def _similarity(options: Mapping[str, str]) -> dict[str, float]:
    words = {letter: set(tokens(text)) for letter, text in options.items()}
    return {
        letter: math.fsum(
            len(mine & theirs) / max(1, len(mine | theirs)) for other, theirs in words.items() if other != letter
        )
        for letter, mine in words.items()
    }


def _odd_one_out(item: Item, options: Mapping[str, str], known: Counts, history: Sequence[Item]) -> dict[str, float]:
    return {letter: -value for letter, value in _similarity(options).items()}


def _most_alike(item: Item, options: Mapping[str, str], known: Counts, history: Sequence[Item]) -> dict[str, float]:
    """The option that shares most with the others: distractors made from the key stay near it."""
    return _similarity(options)


def _question_overlap(
    item: Item, options: Mapping[str, str], known: Counts, history: Sequence[Item]
) -> dict[str, float]:
    asked = set(tokens(item.question))
    return {letter: len(asked & set(tokens(text))) / max(1, len(set(tokens(text)))) for letter, text in options.items()}


def _numeric_middle(item: Item, options: Mapping[str, str], known: Counts, history: Sequence[Item]) -> dict[str, float]:
    values = {letter: _NUMBER.findall(text) for letter, text in options.items()}
    if not all(values.values()):
        return dict.fromkeys(options, 0.0)
    firsts = {letter: float(found[0]) for letter, found in values.items()}
    ranked = sorted(firsts.values())
    middle = (
        ranked[len(ranked) // 2] if len(ranked) % 2 else (ranked[len(ranked) // 2 - 1] + ranked[len(ranked) // 2]) / 2
    )
    return {letter: -abs(value - middle) for letter, value in firsts.items()}


def _history(item: Item, options: Mapping[str, str], known: Counts, history: Sequence[Item]) -> dict[str, float]:
    """What earlier turns spoke of is thought to be done with."""
    said = " ".join(f"{one.question} {one.answer}" for one in history).lower()
    return {letter: -float(bool(said) and text.lower().rstrip(".") in said) for letter, text in options.items()}


GUESSERS: dict[str, Guesser] = {
    "position": _position,
    "longest": _longest,
    "shortest": _shortest,
    "key_prior": _key_prior,
    "token_prior": _token_prior,
    "odd_one_out": _odd_one_out,
    "most_alike": _most_alike,
    "question_overlap": _question_overlap,
    "numeric_middle": _numeric_middle,
    "history": _history,
}


def guesses(items: Sequence[Item]) -> Iterator[tuple[Item, str, float]]:
    """Yield (item, guesser, credit) for every keyed item with one right option; credit is the chance of being right, 0
    to 1.

    Counts are kept per prototype, without the items of the item's own videos.
    """
    keyed = [item for item in items if item.options and len(item.key) == 1 and item.key[0] in item.options]
    rounds: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        rounds[item.group].append(item)
    prototypes: dict[str, list[Item]] = defaultdict(list)
    for item in keyed:
        prototypes[f"{item.dataset}/{item.prototype}"].append(item)
    for members in prototypes.values():
        known = Counts()
        of_video: dict[tuple[str, ...], list[Item]] = defaultdict(list)
        by_name: dict[str, list[int]] = defaultdict(list)
        for number, item in enumerate(members):
            known.add(item)
            of_video[item.videos].append(item)
            for video in item.videos:
                by_name[video].append(number)
        for videos, own in of_video.items():
            out = [members[n] for n in sorted({n for video in videos for n in by_name[video]})] or own
            for item in out:
                known.add(item, -1)
            for item in own:
                history = [one for one in rounds[item.group] if one.round < item.round]
                for name, guesser in GUESSERS.items():
                    yield item, name, _credit(guesser(item, item.options or {}, known, history), item.key[0])
            for item in out:
                known.add(item)


def _credit(scores: Mapping[str, float], key: str) -> float:
    best = max(scores.values())
    chosen = [letter for letter, score in scores.items() if score >= best - 1e-12]
    return 1 / len(chosen) if key in chosen else 0.0
