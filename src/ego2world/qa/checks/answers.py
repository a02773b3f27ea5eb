"""Answers and options: nothing is given away, exactly one option is right. Stage: qa, check."""

from __future__ import annotations

import re
from collections.abc import Iterator
from statistics import median
from typing import Any

from ego2world.qa.checks.case import CheckContext, finding, turns, words
from ego2world.qa.queries import ActQuery, ChangeQuery, Contents, During, Enabler, Fact, Holding, Query, SaidQuery
from ego2world.qa.records import Finding, QuestionGroup
from ego2world.world.refusal import Refusal
from ego2world.world.state import State, carriers
from ego2world.world.step import step

OUTLIER = 2.5  # an option so many times as long as the others, or as short
_NONE = re.compile(r"\b(?:none|all|both) of (?:the|these|them)\b|\bnone of the above\b", re.I)
_YES_NO = re.compile(r"^(?:is|are|was|were|do|does|did|has|have|can|which (?:of|one)|what .* or )", re.I)


def leaks(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """ANS_IN_QUESTION, ANS_IN_HISTORY"""
    said = ""
    for path, turn in turns(group):
        answer = words(turn.answer)
        points = [words(point) for point in turn.key_points if point.strip()]
        question = words(turn.question)
        choice = _YES_NO.match(turn.question) or (
            turn.options is not None and all(words(o) in question for o in turn.options.values())
        )
        if not choice and (_said(answer, question) or (points and all(_said(point, question) for point in points))):
            yield finding("ANS_IN_QUESTION", f"{path}.question", f"it says {turn.answer!r}")
        if said and (_said(answer, said) or (points and all(_said(point, said) for point in points))):
            yield finding("ANS_IN_HISTORY", f"{path}.answer", "an earlier turn says it")
        if turn.standalone and turn.standalone != turn.question and _said(answer, words(turn.standalone)):
            yield finding("ANS_IN_QUESTION", f"{path}.standalone", f"it says {turn.answer!r}")
        said += f" {question} {answer}"


def _said(part: str, text: str) -> bool:
    part = re.sub(r"^(?:the|a|an|my|i|it is|by|to|so that) ", "", part)
    return len(part) > 3 and re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text) is not None


def keypoints(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """KEYPOINT_UNBOUND"""
    for path, turn in turns(group):
        answer = words(turn.answer)
        for point in turn.key_points:
            if words(point) not in answer and not set(words(point).split()) <= set(re.findall(r"[\w'-]+", answer)):
                yield finding("KEYPOINT_UNBOUND", f"{path}.key_points", f"{point!r} is not in the answer")


def quoted(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """KEYPOINT_UNBOUND of answers that rest on quotes: most of what they say must be in the evidence that is named"""
    for path, turn in turns(group):
        if isinstance(turn.spec.query, SaidQuery):
            said = {word for word in re.findall(r"[a-z]{3,}", turn.answer.lower()) if word not in _PLAIN}
            there = set(re.findall(r"[a-z]{3,}", " ".join(one.text for one in case.named(turn)).lower()))
            if said and 2 * len(said & there) < len(said):
                yield finding(
                    "KEYPOINT_UNBOUND",
                    f"{path}.answer",
                    f"{', '.join(sorted(said - there)[:4])} is not in the evidence",
                )


_PLAIN = frozenset("the and with that this they for from into was were are has have because".split())


def options(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """The checks of options that need no world, and OPT_ALSO_TRUE"""
    for path, turn in turns(group):
        if turn.options is None:
            continue
        yield from option_findings(path, turn.question, turn.options, turn.key, turn.answer)
        for letter, text in turn.options.items():
            if letter not in turn.key and about_itself(turn.spec.query, text, case):
                yield finding(
                    "OPT_ELIMINABLE", f"{path}.options.{letter}", f"{text!r} puts the thing in relation to itself"
                )
        for letter, value in sorted((turn.option_values or {}).items()):
            if letter not in turn.key and also_true(turn.spec.query, turn.spec.value, value, case):
                yield finding(
                    "OPT_ALSO_TRUE", f"{path}.options.{letter}", f"{turn.options.get(letter, '')!r} is true as well"
                )


def about_itself(query: Query, text: str, case: CheckContext) -> bool:
    """Whether an option names the very thing that is asked about, as in "the bowl: I put it in the bowl"."""
    thing = getattr(query, "entity", None)
    if thing is None or thing not in case.replayer.episode.world.entities:
        return False
    return re.search(rf"\b{re.escape(case.names.base(thing))}\b", text.lower()) is not None


def option_findings(
    path: str, question: str, given: dict[str, str], key: tuple[str, ...], answer: str
) -> Iterator[Finding]:
    """OPT_DUP, OPT_SUBSUMES_KEY, OPT_ELIMINABLE, KEY_OUT_OF_RANGE, KEY_VOCAB: what can be said of anybody's options."""
    said: dict[str, str] = {}
    for letter, text in given.items():
        plain = words(text)
        if plain in said:
            yield finding("OPT_DUP", f"{path}.options", f"duplicate choices {said[plain]} and {letter}")
        said.setdefault(plain, letter)
    if not key or any(letter not in given for letter in key):
        yield finding(
            "KEY_OUT_OF_RANGE", f"{path}.key", f"key {', '.join(key) or 'empty'} of options {', '.join(given)}"
        )
        return
    right = [words(given[letter]) for letter in key]
    if answer and len(key) == 1 and words(answer) != right[0]:
        yield finding("KEY_VOCAB", f"{path}.key", f"reference {answer!r} not in choices under its key")
    others = [words(text) for letter, text in given.items() if letter not in key]
    for other in others:
        if any(_within(other, one) or _within(one, other) for one in right if other != one):
            yield finding("OPT_SUBSUMES_KEY", f"{path}.options", f"{other!r} and {right[0]!r} contain each other")
    lengths = [len(other) for other in others if other]
    if lengths and len(key) == 1:
        size = len(right[0])
        if (size > OUTLIER * max(lengths) and size > 20) or (OUTLIER * size < min(lengths) and median(lengths) > 20):
            yield finding(
                "OPT_ELIMINABLE",
                f"{path}.options",
                f"the key has {size} characters, the others {min(lengths)} to {max(lengths)}",
            )
    if any(_NONE.search(text) for text in given.values()):
        yield finding("OPT_ELIMINABLE", f"{path}.options", "an option speaks of the others")


def _within(part: str, whole: str) -> bool:
    """Whether an option is the beginning of another, which then says the same and more."""
    return len(part) > 3 and whole.startswith(part) and len(whole) > len(part) and not whole[len(part)].isalnum()


def also_true(query: Query, truth: Any, value: object, case: CheckContext) -> bool:
    """Say whether another value than the true one answers a query as well, by the executed world."""
    replayer = case.replayer
    if value == truth:
        return True
    if isinstance(query, (Holding, Contents)) and isinstance(value, list):
        return bool(set(value) & set(truth)) or (not value and not truth)
    if isinstance(query, Fact):
        if query.fluent == "place" and isinstance(value, list):
            return any(value[1] in carriers(replayer.state(i).facts, query.entity) for i in replayer.around(query.at_s))
        return replayer.holds((query.fluent, query.entity), value, query.at_s)
    if isinstance(query, ChangeQuery) and isinstance(value, list):
        i = case.numbers[query.operation]
        return bool(replayer.state(i + 1).facts.get((query.fluent, query.entity)) == _tuple(value[1]))
    if isinstance(query, Enabler) and isinstance(value, list):
        return _needed(query, value, case)
    if isinstance(query, ActQuery):
        inside = _inside(query.start_s, query.end_s, case)
        if query.role is not None and isinstance(value, list):
            return any(set(value) & set(case.action(one).things) for one in inside)
        return any(
            case.action(one).plain() == value
            for one in inside
            if query.entity is None or query.entity in case.action(one).things
        )
    if isinstance(query, During):
        inside = _inside(query.from_s, query.to_s, case)
        return any(case.action(one).plain() == value for one in inside) and _heard_too(query, value, case)
    return False


def _heard_too(query: During, value: object, case: CheckContext) -> bool:
    spans = [one.span_s for one in case.evidence.values() if one.kind == "sound" and one.text == query.sound]
    return any(
        case.action(one).plain() == value
        for span_s in spans
        if query.from_s <= span_s[0] < query.to_s
        for one in _inside(*span_s, case)
    )


def _inside(start_s: float, end_s: float, case: CheckContext) -> list[str]:
    rows = (case.replayer.episode.operations[i] for i in case.replayer.spans.near(start_s, end_s))
    return [
        row["id"] for row in rows if row["span_s"][0] < end_s and row["span_s"][1] > start_s and row["narration_ids"]
    ]


def _needed(query: Enabler, value: list[object], case: CheckContext) -> bool:
    """Say whether an action would be refused if another fact had not the value it has."""
    *key, wanted = value
    i = case.numbers[query.operation]
    state = case.replayer.state(i)
    fact = tuple(str(part) for part in key)
    if state.facts.get(fact) != _tuple(wanted):
        return False
    facts = {k: v for k, v in state.facts.items() if k != fact}
    return isinstance(step(case.replayer.episode.world, State.of(facts), case.action(query.operation)), Refusal)


def _tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


CHECKS = (leaks, keypoints, quoted, options)
