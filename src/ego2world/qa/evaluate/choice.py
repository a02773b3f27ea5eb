"""Which options a reply chooses. Stage: qa, evaluation.

Letters are keys, not positions. What is none of the options is never forced onto one, and no capital letter counts
that only begins a sentence.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from ego2world.qa.checks.case import words

_SEPARATED = r"(?:\s*(?:,|、|;|/|&|\+|and|or|和|及)?\s*)"


def read_choice(reply: str, options: Mapping[str, str], many: bool = False) -> tuple[str, ...] | None:
    """Return the letters that a reply chooses, in the order of the options, None where it chooses none, or not clearly.

    Args:
        reply: whatever a model said; letters may be full-width, in brackets, bold, after "Answer:", or stand for the
            option's words.
        options: letter -> text.
        many: several letters may be right; otherwise several are no choice.
    """
    text = unicodedata.normalize("NFKC", reply).replace("*", " ").replace("`", " ").strip()
    if not text:
        return None
    said = [letter for letter, option in options.items() if words(option) == words(text)]
    if len(said) == 1:
        return (said[0],)
    chosen = _letters(text, options)
    if chosen is None:
        chosen = _by_words(text, options)
    if not chosen or (len(chosen) > 1 and not many):
        return None
    return tuple(letter for letter in options if letter in chosen)


def _letters(text: str, options: Mapping[str, str]) -> tuple[str, ...] | None:
    one = "[" + "".join(map(re.escape, options)) + "]"
    run = rf"\(?\[?(?P<found>{one}(?:\)?{_SEPARATED}\(?{one})*)\)?\]?"
    not_word = r"(?![A-Za-z'’])(?!\s+(?!(?:is|was|are|seems|because|since|as|and)\b)[a-z])"
    alone = re.fullmatch(rf"\W*{run}\W*", text)
    if alone:
        return tuple(re.findall(one, alone["found"]))
    stated = [
        (
            r"(?:final answer|correct answer|right answer|best answer|answer|correct option|correct"
            rf" choice|option|choice)s?\b\W*(?:(?:is|are|would be|should be)\b)?\W*(?:option\s+)?{run}{not_word}"
        ),
        rf"(?:答案|选项|选择|选|應選|应选)\s*(?:是|为|為|:|：)?\s*{run}(?![A-Za-z])",
    ]
    for pattern in stated:
        found = list(re.finditer(pattern, text, re.I if pattern is stated[0] else 0))
        good = [m for m in found if re.fullmatch(rf"{one}(?:.*{one})?", m["found"], re.S)]
        if good:
            return tuple(re.findall(one, good[-1]["found"]))
    begins = re.match(rf"\W*(?P<found>{one})\s*[).:、](?:\s|$)", text)
    if begins:
        return (begins["found"],)
    ends = re.search(rf"(?:^|[\s,:;])\(?(?P<found>{one})\)?\W*$", text)
    if ends is None or re.search(
        rf"(?<![A-Za-z])(?!{ends['found']}){one}(?![A-Za-z'’])(?!\s+(?!or\b|and\b)[a-z])", text
    ):
        return None  # "either A or B"
    return (ends["found"],)


def _by_words(text: str, options: Mapping[str, str]) -> tuple[str, ...] | None:
    """Return the options whose words stand in the reply, the longer where one contains another."""
    plain = f" {_plain(text)} "
    inside = {}
    for letter, option in options.items():
        core = re.sub(r"^(?:it is|i) ", "", _plain(option))
        if len(core) > 1 and f" {core} " in plain:
            inside[letter] = core
    longest = [
        letter
        for letter, core in inside.items()
        if not any(core != other and f" {core} " in f" {other} " for other in inside.values())
    ]
    return (longest[0],) if len(longest) == 1 else None


def _plain(text: str) -> str:
    return " ".join(re.sub(r"\b(?:the|an?)\b|[^\w\s-]", " ", words(text)).split())
