"""Clauses of narrations that say why, how, because of what, and what was perceived: exact quotes. Stage: qa,
drafting."""

from __future__ import annotations

import re

_STRONG = {
    "purpose": re.compile(r"\b(?:in order to|so as to|so that to|so that|in order for)\s+", re.I),
    "reason": re.compile(r"\b(?:because of|because|since|due to)\s+", re.I),
    "manner": re.compile(r"\bby\s+(?=\w+ing\b)", re.I),
    "percept": re.compile(
        r"\b(?:to (?:see|check|ensure|make sure|verify|know)|checking|ensuring|making sure)\s+", re.I
    ),
}
_TO = re.compile(r"\bto\s+(?=\w)", re.I)
# "to" after these, or before these, leads to a place or an infinitive of another kind, not to a purpose
_NOT_BEFORE = re.compile(
    r"\b(?:next|close|due|according|up|back|down|over|attached|on|in|out|from|left|right|begin|start|starting|starts|continue|need|want|"
    r"trying|try|attempt|able|going|go|ready|similar|used|about|hand|proceed|access|move|moving|bring|return|turn|stuck)\s+$",
    re.I,
)
_NOT_AFTER = re.compile(
    r"to\s+(?:the|a|an|my|his|her|its|their|it|me|left|right|one|another|other|this|that|both|off|on|each|where|which|\w+(?:side|wards|hand)|"
    r"position|place|hob|sink|counter\w*|surface)\b",
    re.I,
)
_END = re.compile(r"[.;!?]|,(?= )")
_TALK = re.compile(r"\b(?:off[- ]?screen|hear|camera|narrat|not sure|probably|maybe|perhaps|seems|unclear)\b", re.I)


def clause_of(text: str, relation: str) -> str | None:
    """Return the one clause of a relation that a narration has, quoted, None where there is none or more than one.

    Args:
        text: a narration on one line.
        relation: "purpose", "reason", "manner" or "percept".
    """
    found = list(_STRONG[relation].finditer(text))
    if not found and relation == "purpose":
        found = [m for m in _TO.finditer(text)]
        if (
            len(found) != 1
            or _NOT_BEFORE.search(text[: found[0].start()])
            or _NOT_AFTER.match(text[found[0].start() :])
        ):
            return None
    if len(found) != 1:
        return None
    quote = _END.split(text[found[0].end() :])[0].strip()
    words = quote.split()
    if not 2 <= len(words) <= 25 or _TALK.search(quote):
        return None
    return quote


def fresh(quote: str, other: str) -> bool:
    """Whether a clause says more than other words do: more than half of its content words are new."""
    mine = {word for word in re.findall(r"[a-z]{3,}", quote.lower()) if word not in _EMPTY}
    theirs = set(re.findall(r"[a-z]{3,}", other.lower()))
    return bool(mine) and len(mine - theirs) * 2 > len(mine)


_EMPTY = frozenset(
    "the and any all into onto from with that this them its for can could would will more some out off".split()
)
