"""Chains, loops and dialogues: every part is needed, and closed where it says so. Stage: qa, check."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ego2world.qa.checks.case import CheckContext, finding, turns
from ego2world.qa.queries import Linked, ResumedStep
from ego2world.qa.records import Finding, QuestionGroup
from ego2world.qa.taxonomy import Category

ROLES = ("goal", "action", "outcome", "feedback", "adjustment")
_POINTING = re.compile(r"\bthat (?:thing|step|place|one)\b|\bit\b(?! is\b)", re.I)
_PERCEIVES = frozenset({"check", "weigh", "eat", "drink"})


def relations(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """REL_ADJACENCY_ONLY, REL_SHARED_OBJECT_ONLY, REL_UNRESOLVED, CHAIN_LINK_UNUSED"""
    relation = case.relations.get(group.relation or "")
    if relation is not None and (not relation.eligible or relation.uncertainty == "unresolved"):
        yield finding(
            "REL_UNRESOLVED", "relation", f"{relation.id} is {relation.uncertainty}: no question is made of it"
        )
    if group.category != Category.CHAIN:
        return
    carried = any(isinstance(turn.spec.query, ResumedStep) for _, turn in turns(group))
    if not group.links and not carried:
        yield finding("REL_ADJACENCY_ONLY", "links", "nothing says what the earlier part hands on")
    for first, second in group.links:
        if first not in case.numbers or second not in case.numbers:
            continue
        if case.replayer.answer(Linked(first, second)) is None:
            shared = set(case.action(first).things) & set(case.action(second).things)
            code = "REL_SHARED_OBJECT_ONLY" if shared else "REL_ADJACENCY_ONLY"
            yield finding(
                code,
                "links",
                f"{second} is possible without {first}"
                + (f"; they share {', '.join(sorted(shared))}" if shared else ""),
            )
    if len(group.turns) > 1 and not group.turns[-1].depends_on:
        yield finding("CHAIN_LINK_UNUSED", "turns[-1].depends_on", "the last turn depends on no earlier one")


def closes(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """CHAIN_CLOSES"""
    if group.category != Category.CHAIN:
        return
    if group.loop_roles:
        yield finding("CHAIN_CLOSES", "loop_roles", "roles of a loop are bound")
    families = [
        case.replayer.episode.operations[case.numbers[one]]["family"]
        for _, turn in turns(group)
        for one in turn.spec.evidence
        if one in case.numbers
    ]
    if "check" in families[:-1] and len(families) > 2:
        yield finding("CHAIN_CLOSES", "turns", "the outcome is looked at and acted upon")


def loops(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """LOOP_ROLE_MISSING, LOOP_ROLE_REUSED, LOOP_NO_FEEDBACK, LOOP_ORDER_ONLY, LOOP_SUCCESS_ASSUMED, XLOOP_*"""
    if group.category not in {Category.LOOP, Category.CROSS_LOOP}:
        return
    roles = group.loop_roles or {}
    missing = [role for role in ROLES if not str(roles.get(role, "")).strip()]
    if missing:
        yield finding("LOOP_ROLE_MISSING", "loop_roles", f"not bound: {', '.join(missing)}")
    bound = [roles[role] for role in ("action", "feedback", "adjustment") if roles.get(role)]
    if len(set(bound)) < len(bound):
        yield finding("LOOP_ROLE_REUSED", "loop_roles", "one event plays two roles")
    if not missing and len(set(bound)) == 3 and all(one in case.numbers for one in bound):
        yield from _closed(roles, case)
    if group.category == Category.CROSS_LOOP:
        if not group.bridging_fact.strip():
            yield finding(
                "XLOOP_BRIDGE_MISSING", "bridging_fact", "nothing is said to lead from the first loop to the second"
            )
        if not group.links or all(
            case.replayer.answer(Linked(*link)) is None for link in group.links if set(link) <= set(case.numbers)
        ):
            yield finding("XLOOP_FIRST_UNUSED", "links", "the second loop is possible without the first")


def _closed(roles: dict[str, str], case: CheckContext) -> Iterator[Finding]:
    act, check, adjust = (case.numbers[roles[role]] for role in ("action", "feedback", "adjustment"))
    family = case.replayer.episode.operations[check]["family"]
    if not act < check < adjust or family not in _PERCEIVES:
        yield finding(
            "LOOP_NO_FEEDBACK",
            "loop_roles.feedback",
            f"{roles['feedback']} ({family}) is no perception between action and adjustment",
        )

    def changed(i: int) -> dict[tuple[str, ...], object]:
        before, after = case.replayer.state(i).facts, case.replayer.state(i + 1).facts
        return {key: value for key, value in after.items() if before.get(key) != value}

    first, last = changed(act), changed(adjust)
    if not set(first) & set(last):
        yield finding("LOOP_ORDER_ONLY", "loop_roles.adjustment", "action and adjustment change nothing in common")
    said = roles["outcome"].lower()
    if not any(key[0] in said and str(value).lower() in said for key, value in first.items()):
        yield finding(
            "LOOP_SUCCESS_ASSUMED", "loop_roles.outcome", f"{roles['outcome']!r} is not what the action changed"
        )


def dialogue(group: QuestionGroup, case: CheckContext) -> Iterator[Finding]:
    """TURN_NO_NEW_EVIDENCE, TURN_NO_INHERITED, TURN_STANDALONE_DIFF"""
    if len(group.turns) < 2:
        return
    for path, turn in turns(group):
        if not turn.standalone.strip() or re.search(r"\bthat (?:thing|step|place|one)\b", turn.standalone):
            yield finding(
                "TURN_STANDALONE_DIFF", f"{path}.standalone", "no question that can be understood without the dialogue"
            )
        elif set(re.findall(r"\d+\.\d+ s", turn.question)) - set(re.findall(r"\d+\.\d+ s", turn.standalone)):
            yield finding("TURN_STANDALONE_DIFF", f"{path}.standalone", "it asks about another time than the turn")
        if path == "turns[0]":
            continue
        earlier = {one for one_turn in group.turns[: int(path[6:-1])] for one in one_turn.spec.evidence}
        if not set(turn.spec.new) - earlier:
            yield finding(
                "TURN_NO_NEW_EVIDENCE", f"{path}.spec.new", "the turn needs nothing that earlier turns have not shown"
            )
        if not set(turn.spec.inherited) & earlier:
            yield finding(
                "TURN_NO_INHERITED", f"{path}.spec.inherited", "the turn takes nothing over from earlier turns"
            )


CHECKS = (relations, closes, loops, dialogue)
