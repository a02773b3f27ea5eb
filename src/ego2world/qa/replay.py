"""Answers to queries by executing the world: the independent check of every answer. Stage: qa, check.

Nothing of what the engine thought of enters here: only the initial state, the recorded actions, and the tables of the
annotations. ``without`` takes evidence away: operations are left out of the execution (what then is refused does not
happen), rows of the tables and narrations are not there. An answer that stays the same without its evidence does not
rest on it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property, singledispatchmethod
from typing import Any

from ego2world.qa.queries import (
    ActQuery,
    Adjustment,
    Amount,
    ChangeQuery,
    ClauseQuery,
    Contents,
    During,
    Enabler,
    Fact,
    Heard,
    Holding,
    Linked,
    NextStep,
    PreparedStep,
    Query,
    ResumedStep,
    SaidQuery,
    StepAt,
    Value,
)
from ego2world.qa.spans import Spans
from ego2world.world.episode import Episode
from ego2world.world.fluents import FactKey
from ego2world.world.refusal import Refusal
from ego2world.world.state import Action, State
from ego2world.world.step import step

NOTHING: frozenset[str] = frozenset()
SETTLED_S = 1e-6
TIE_S = 1.0  # two steps that begin within a second of each other: either could be meant

_MARKS = {
    "purpose": (r"in order to|so as to|so that to|so that|in order for", r"\bto (?=\w)"),
    "reason": (r"because of|because|since|due to", None),
    "manner": (r"by(?= \w+ing\b)", None),
    "percept": (r"\b(?:to (?:see|check|ensure|make sure|verify|know)|checking|ensuring|making sure)\b", None),
}


class EpisodeReplayer:
    """An episode that can be executed with and without parts of its record."""

    def __init__(self, episode: Episode) -> None:
        self.episode = episode
        self._number = {row["id"]: i for i, row in enumerate(episode.operations)}
        self._kept: dict[frozenset[str], tuple[int, list[State]]] = {}
        self._narrations = {row["id"]: " ".join(row["text"].split()) for row in episode.annotations["narrations"]}

    @cached_property
    def _states(self) -> list[State]:
        states = [self.episode.initial]
        for action in self.episode.actions:
            states.append(self._next(states[-1], action))
        return states

    def _next(self, state: State, action: Action) -> State:
        after = step(self.episode.world, state, action)
        return state if isinstance(after, Refusal) else after

    def state(self, i: int, without: Collection[str] = NOTHING) -> State:
        """Return the state before operation ``i``, executed without some operations."""
        gone = frozenset(one for one in without if one in self._number)
        first = min((self._number[one] for one in gone), default=len(self.episode.actions))
        if i <= first:
            return self._states[i]
        known = self._kept.get(gone)
        if known is None:
            self._kept.clear()  # one removal is looked at at a time
            known = self._kept[gone] = (first, [self._states[first]])
        states = known[1]
        while len(states) <= i - first:
            at = first + len(states) - 1
            skipped = self.episode.operations[at]["id"] in gone
            states.append(states[-1] if skipped else self._next(states[-1], self.episode.actions[at]))
        return states[i - first]

    def around(self, at_s: float) -> range:
        """Return the states that may be current at a time: none of the operations under way is taken as done or not
        done."""
        return self.spans.around(at_s, SETTLED_S)

    @cached_property
    def spans(self) -> Spans:
        """The operations' intervals."""
        return Spans([tuple(row["span_s"]) for row in self.episode.operations])

    def _steady(self, at_s: float, read: Callable[[State], Any], without: Collection[str]) -> Any:
        """Return what all states that may be current agree on, None where they do not."""
        found = [read(self.state(i, without)) for i in self.around(at_s)]
        return found[0] if all(one == found[0] for one in found) else None

    def _rows(self, table: str, without: Collection[str]) -> Iterable[Mapping[str, Any]]:
        return (row for row in self.episode.annotations[table] if row["id"] not in without)

    def _told(self, start_s: float, end_s: float, without: Collection[str]) -> list[int]:
        """Return the narrated operations that overlap a span."""
        found = []
        for i in self.spans.near(start_s, end_s):
            row = self.episode.operations[i]
            first_s, last_s = row["span_s"]
            inside = first_s < end_s - SETTLED_S and (last_s > start_s + SETTLED_S or first_s == last_s >= start_s)
            if inside and not row["inferred"] and row["narration_ids"] and row["id"] not in without:
                found.append(i)
        return found

    def holds(self, key: FactKey, value: Any, at_s: float) -> bool:
        """Say whether a fact has a value in any state that may be current at a time; for options that must not be
        true."""
        return any(_json(self.state(i).facts.get(key)) == value for i in self.around(at_s))

    # answers ------------------------------------------------------------------------------------------------

    @singledispatchmethod
    def answer(self, query: Query, without: Collection[str] = NOTHING) -> Value:
        """Return the answer as JSON, None where the world and its sources do not say, or say more than one thing."""
        raise AssertionError(f"undeclared query {query}")

    @answer.register
    def _(self, query: Holding, without: Collection[str] = NOTHING) -> Value:
        def read(state: State) -> list[str]:
            return sorted({thing for hand, thing in state.held if query.hand in (None, hand) or hand == "both_hands"})

        return self._steady(query.at_s, read, without)

    @answer.register
    def _(self, query: Fact, without: Collection[str] = NOTHING) -> Value:
        return self._steady(query.at_s, lambda state: _json(state.facts.get((query.fluent, query.entity))), without)

    @answer.register
    def _(self, query: Contents, without: Collection[str] = NOTHING) -> Value:
        def read(state: State) -> list[str]:
            return sorted(
                {
                    key[2] if key[0] == "contains" else key[1]
                    for key, value in state.facts.items()
                    if (key[0] == "contains" and key[1] == query.entity and value is True)
                    or (key[0] == "place" and isinstance(value, tuple) and value[1] == query.entity)
                }
            )

        return self._steady(query.at_s, read, without)

    @answer.register
    def _(self, query: ActQuery, without: Collection[str] = NOTHING) -> Value:
        about = [
            i
            for i in self._told(query.start_s, query.end_s, without)
            if query.entity is None or query.entity in self.episode.actions[i].things
        ]
        if len(about) != 1:
            return None
        action = self.episode.actions[about[0]]
        return action.plain() if query.role is None else sorted(action.ids(query.role)) or None

    @answer.register
    def _(self, query: ChangeQuery, without: Collection[str] = NOTHING) -> Value:
        i = self._number[query.operation]
        key = (query.fluent, query.entity)
        before = _json(self.state(i, without).facts.get(key))
        after = _json(self.state(i + 1, without).facts.get(key))
        return None if before == after else [before, after]

    @answer.register
    def _(self, query: Enabler, without: Collection[str] = NOTHING) -> Value:
        earlier, later = self._number[query.earlier], self._number[query.operation]
        action, world = self.episode.actions[later], self.episode.world
        gone = frozenset({query.earlier}) | frozenset(without)
        if isinstance(step(world, self.state(later, without), action), Refusal):
            return None
        refused = step(world, self.state(later, gone), action)
        if not isinstance(refused, Refusal) or query.earlier in without:
            return None
        before, after = self.state(earlier, without).facts, self.state(earlier + 1, without).facts
        named = frozenset[str]().union(*(failure.mentions() for failure in refused.failures))
        made = [
            [*key, _json(value)] for key, value in sorted(after.items()) if before.get(key) != value and key[1] in named
        ]
        return made[0] if len(made) == 1 else None

    @answer.register
    def _(self, query: Linked, without: Collection[str] = NOTHING) -> Value:
        if query.second in without:
            return None
        later = self._number[query.second]
        action, world = self.episode.actions[later], self.episode.world
        if isinstance(step(world, self.state(later, without), action), Refusal):
            return None
        gone = frozenset({query.first}) | frozenset(without)
        return action.plain() if isinstance(step(world, self.state(later, gone), action), Refusal) else None

    @answer.register
    def _(self, query: ClauseQuery, without: Collection[str] = NOTHING) -> Value:
        text = self._narrations.get(query.narration)
        if text is None or query.narration in without:
            return None
        strong, weak = _MARKS[query.relation]
        for marks in (strong, weak):
            if marks is None:
                continue
            found = list(re.finditer(rf"(?:{marks})\s*", text, re.I))
            if len(found) == 1:
                rest = text[found[0].end() :]
                return re.split(r"[.;!?]|,(?= )", rest)[0].strip() or None
            if found:
                return None
        return None

    @answer.register
    def _(self, query: SaidQuery, without: Collection[str] = NOTHING) -> Value:
        text = self._narrations.get(query.narration)
        if text is None or query.narration in without or len(query.quote.split()) < 2:
            return None
        return query.quote if " ".join(query.quote.lower().split()) in text.lower() else None

    @answer.register
    def _(self, query: StepAt, without: Collection[str] = NOTHING) -> Value:
        at_s = query.at_s
        return _one(row["step"] for row in self._rows("steps", without) if row["span_s"][0] <= at_s < row["span_s"][1])

    @answer.register
    def _(self, query: NextStep, without: Collection[str] = NOTHING) -> Value:
        rows = list(self._rows("steps", without))
        done = [row for row in rows if row["span_s"][1] <= query.cutoff_s + 0.05]
        if not done:
            return None
        recipe = max(done, key=lambda row: row["span_s"][1])["recipe"]
        begun = {row["step"] for row in rows if row["span_s"][0] < query.cutoff_s}
        ahead = [row for row in rows if row["recipe"] == recipe and row["step"] not in begun]
        if not ahead:
            return None
        listed = min(ahead, key=lambda row: row["position"])["step"]
        carried_out = _first_alone(sorted((row["span_s"][0], row["step"]) for row in ahead))
        return listed if listed == carried_out else None

    @answer.register
    def _(self, query: PreparedStep, without: Collection[str] = NOTHING) -> Value:
        middle_s = (query.start_s + query.end_s) / 2
        rows = self._rows("preparations", without)
        return _one(row["step"] for row in rows if row["span_s"][0] <= middle_s < row["span_s"][1])

    @answer.register
    def _(self, query: ResumedStep, without: Collection[str] = NOTHING) -> Value:
        def under_way(at_s: float) -> set[str]:
            rows = self._rows("steps", without)
            return {row["step"] for row in rows if row["span_s"][0] <= at_s < row["span_s"][1]}

        return _one(under_way(query.first_s) & under_way(query.again_s))

    @answer.register
    def _(self, query: Amount, without: Collection[str] = NOTHING) -> Value:
        found = {
            (row["amount"], row["unit"])
            for row in self._rows("weighings", without)
            if row["ingredient"] == query.ingredient
            and row["amount"] is not None
            and row["span_s"][0] < query.end_s
            and row["span_s"][1] > query.start_s
        }
        return list(found.pop()) if len(found) == 1 else None

    @answer.register
    def _(self, query: Heard, without: Collection[str] = NOTHING) -> Value:
        rows = self._rows("sounds", without)
        return _one(row["label"] for row in rows if row["span_s"][0] < query.end_s and row["span_s"][1] > query.start_s)

    @answer.register
    def _(self, query: During, without: Collection[str] = NOTHING) -> Value:
        heard = sorted(
            tuple(row["span_s"])
            for row in self._rows("sounds", without)
            if row["label"] == query.sound and row["span_s"][0] < query.to_s and row["span_s"][1] > query.from_s
        )
        if len(heard) != 1:
            return None
        under_way = self._told(heard[0][0], heard[0][1], without)
        return self.episode.actions[under_way[0]].plain() if len(under_way) == 1 else None

    @answer.register
    def _(self, query: Adjustment, without: Collection[str] = NOTHING) -> Value:
        if {query.action, query.feedback, query.adjustment} & set(without):
            return None
        act, check, adjust = (self._number[one] for one in (query.action, query.feedback, query.adjustment))
        touched = [self._changed(i) for i in (act, adjust)]
        if not (act < check < adjust) or self._changed(check) or not touched[0] & touched[1]:
            return None
        return self.episode.actions[adjust].plain()

    def _changed(self, i: int) -> set[FactKey]:
        before, after = self._states[i].facts, self._states[i + 1].facts
        return {key for key, value in after.items() if before.get(key) != value}


def _json(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _one(found: Iterable[str]) -> str | None:
    different = set(found)
    return different.pop() if len(different) == 1 else None


def _first_alone(coming: Sequence[tuple[float, str]]) -> str | None:
    if not coming or (len(coming) > 1 and coming[1][0] - coming[0][0] < TIE_S and coming[1][1] != coming[0][1]):
        return None
    return coming[0][1]
