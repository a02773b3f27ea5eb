"""A second reading of exported PDDL text: its actions grounded and evaluated over thousands of states at once, to
compare with the executor.

It reads nothing but the text. A state is a row of truths, one column a ground fact; conditions are evaluated on whole
columns.

    python tests/pddl_law.py WORLDS [STATES]    compare every task's domain with the executor, STATES random states an
    episode
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from ego2world.planning import Dialect, PlanningProblem
from ego2world.planning.export import task_problem
from ego2world.planning.problem import state_facts
from ego2world.tasks.contract import Event, truth
from ego2world.world.episode import Episode, load_episode, load_manifest, reference_states
from ego2world.world.fluents import Truth
from ego2world.world.grounded import Batch, ground_actions
from ego2world.world.state import Action, State

Expression = Any
MOST_SUCCESSORS = 8  # states that each ground action's successor is compared in


def read(text: str) -> Expression:
    """Parse an s-expression."""
    tokens = text.replace("(", " ( ").replace(")", " ) ").split()
    stack: list[list[Any]] = [[]]
    for token in tokens:
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    assert len(stack) == 1 and len(stack[0]) == 1
    return stack[0][0]


def typed(items: Sequence[str]) -> list[tuple[str, str]]:
    """Read a typed list; without types everything is an object."""
    out: list[tuple[str, str]] = []
    names: list[str] = []
    i = 0
    while i < len(items):
        if items[i] == "-":
            out += [(name, items[i + 1]) for name in names]
            names, i = [], i + 2
        else:
            names.append(items[i])
            i += 1
    return out + [(name, "object") for name in names]


class Law:
    """A domain and problem as text, grounded."""

    def __init__(self, domain: str, problem: str) -> None:
        d, p = read(domain), read(problem)
        parts = {part[0]: part for part in d[2:] if part[0] != ":action"}
        parent = dict(typed(parts.get(":types", [":types"])[1:]))
        objects = typed(parts[":constants"][1:]) + typed(next(x for x in p[2:] if x[0] == ":objects")[1:])
        self.members: dict[str, list[str]] = {}
        for name, kind in objects:
            while kind:
                self.members.setdefault(kind, []).append(name)
                kind = parent.get(kind, "") if kind != "object" else ""
        self.actions = [x for x in d[2:] if x[0] == ":action"]
        self.init = {tuple(fact) for fact in next(x for x in p[2:] if x[0] == ":init")[1:]}
        self.columns: dict[tuple[str, ...], int] = {}

    def ground(self) -> Iterator[tuple[str, tuple[str, ...], Expression, Expression]]:
        """Yield every ground action whose static part may hold: name, arguments, precondition, effect."""
        changed = {atom[0] for action in self.actions for atom in _changed(action[action.index(":effect") + 1])}
        for action in self.actions:
            variables = typed(action[action.index(":parameters") + 1])
            condition, effect = action[action.index(":precondition") + 1], action[action.index(":effect") + 1]
            conjuncts = condition[1:] if condition and condition[0] == "and" else [condition]
            static = [c for c in conjuncts if c and c[0] not in {"and", "or", "not", "forall", "exists", "=", *changed}]
            for arguments in product(*(self.members.get(kind, []) for _, kind in variables)):
                names = dict(zip([n for n, _ in variables], arguments, strict=True))
                if all(tuple(_bind(c, names)) in self.init for c in static):
                    yield action[1], arguments, _bind(condition, names), _bind(effect, names)

    def column(self, fact: tuple[str, ...]) -> int:
        return self.columns.setdefault(fact, len(self.columns))

    def rows(self, states: Sequence[set[tuple[str, ...]]]) -> np.ndarray:
        """Return states as rows of truths, over every fact met so far."""
        for state in states:
            for fact in state:
                self.column(fact)
        out = np.zeros((len(states), len(self.columns)), bool)
        for i, state in enumerate(states):
            out[i, [self.columns[fact] for fact in state]] = True
        return out

    def holds(self, e: Expression, rows: np.ndarray) -> np.ndarray:
        """Evaluate a ground condition in every state."""
        if not e or e[0] == "and":
            out = np.ones(len(rows), bool)
            for part in e[1:]:
                out &= self.holds(part, rows)
            return out
        if e[0] == "or":
            out = np.zeros(len(rows), bool)
            for part in e[1:]:
                out |= self.holds(part, rows)
            return out
        if e[0] == "not":
            return ~self.holds(e[1], rows)
        if e[0] == "=":
            return np.full(len(rows), e[1] == e[2])
        if e[0] in {"forall", "exists"}:
            parts = [self.holds(part, rows) for part in self._each(e)]
            if not parts:
                return np.full(len(rows), e[0] == "forall")
            return np.logical_and.reduce(parts) if e[0] == "forall" else np.logical_or.reduce(parts)
        column = self.columns.get(tuple(e))
        return rows[:, column] if column is not None and column < rows.shape[1] else np.zeros(len(rows), bool)

    def _each(self, e: Expression) -> list[Expression]:
        variables = typed(e[1])
        return [
            _bind(e[2], dict(zip([n for n, _ in variables], names, strict=True)))
            for names in product(*(self.members.get(kind, []) for _, kind in variables))
        ]

    def after(self, effect: Expression, rows: np.ndarray) -> np.ndarray:
        """Apply a ground effect in every state: deletes first, then adds, all conditions on the state before."""
        adds: list[Any] = []
        deletes: list[Any] = []
        for condition, atom in self._assignments(effect, []):
            when = self.holds(["and", *condition], rows)
            if when.any():
                (deletes if atom[0] == "not" else adds).append((tuple(atom[1] if atom[0] == "not" else atom), when))
        for fact, _ in adds:
            self.column(fact)
        out = np.zeros((len(rows), len(self.columns)), bool)
        out[:, : rows.shape[1]] = rows
        for fact, when in deletes:
            if fact in self.columns:
                out[when, self.columns[fact]] = False
        for fact, when in adds:
            out[when, self.columns[fact]] = True
        return out

    def _assignments(self, e: Expression, when: list[Expression]) -> Iterator[tuple[list[Expression], Expression]]:
        if not e or e[0] == "and":
            for part in e[1:]:
                yield from self._assignments(part, when)
        elif e[0] == "forall":
            for part in self._each(e):
                yield from self._assignments(part, when)
        elif e[0] == "when":
            yield from self._assignments(e[2], [*when, e[1]])
        else:
            yield when, e


def _bind(e: Expression, names: dict[str, str]) -> Expression:
    return [_bind(part, names) for part in e] if isinstance(e, list) else names.get(e, e)


def _changed(e: Expression) -> Iterator[Expression]:
    if not e or e[0] == "and":
        for part in e[1:]:
            yield from _changed(part)
    elif e[0] in {"forall", "when"}:
        yield from _changed(e[2])
    else:
        yield e[1] if e[0] == "not" else e


def differences(
    problem: PlanningProblem, start: State, states: int, seed: int, dialect: Dialect | None = None
) -> tuple[int, int, int, list[str]]:
    """Walk at random with the domain's own ground actions and compare text and executor in every state met.

    Returns:
        Ground actions, applicability tests, successors compared, and every difference.
    """
    law = Law(problem.domain_text(dialect), problem.problem_text(dialect))
    if {tuple(f) for f in state_facts(problem.domain, start)} != {
        f for f in law.init if not f[0].startswith("is_") or f[0] == "is_hand"
    }:
        return 0, 0, 0, ["the first facts are not those of the state"]
    schemas = {s.shape.name: s for s in problem.domain.schemas}
    grounds = list(law.ground())
    actions = [problem.action(name, arguments) for name, arguments, _, _ in grounds]
    grounding = ground_actions(problem.world, start, list(dict.fromkeys(actions)), 0)
    numbers = np.array([grounding.number(action) for action in actions])
    walkers = min(states, 64)
    batch, rng = Batch([grounding], walkers), np.random.default_rng(seed)
    met: list[Any] = []
    while len(met) < states:
        met += list(batch.states.copy())
        mask = batch.applicable()
        batch.step([int(rng.choice(np.flatnonzero(row))) if row.any() else 0 for row in mask])
        batch.reset(rng.random(walkers) < 0.03)
    rows = np.stack(met[:states])
    everyone = Batch([grounding], states)
    everyone.states[:] = rows
    applicable = everyone.applicable()
    cache: dict[bytes, set[tuple[str, ...]]] = {}

    def facts(row: np.ndarray) -> set[tuple[str, ...]]:
        key = np.ascontiguousarray(row).tobytes()
        if key not in cache:
            cache[key] = set(state_facts(problem.domain, grounding.decode(row)))
        return cache[key]

    before = law.rows([facts(row) | (law.init & _typing(law)) for row in rows])
    found: list[str] = []
    compared = tested = 0
    for (name, arguments, condition, effect), number in zip(grounds, numbers, strict=True):
        ok = law.holds(condition, before)
        executor = applicable[:, number]
        if (
            schemas[name].parameters and schemas[name].parameters[-1].variable == "?from"
        ):  # one of several; the zone decides
            here = law.holds(["agent_in", arguments[-1]], before)
            ok, executor = ok & here, executor & here
        tested += states
        for i in np.flatnonzero(ok != executor)[:3]:
            refusal = grounding.explain(rows[i], int(number))
            found.append(
                f"applicability of ({name} {' '.join(arguments)}): text {ok[i]}, executor {refusal or 'accepts'}"
            )
        chosen = np.flatnonzero(ok & executor)
        if len(chosen) > MOST_SUCCESSORS:
            chosen = rng.choice(chosen, MOST_SUCCESSORS, replace=False)
        if not len(chosen):
            continue
        small = Batch([grounding], len(chosen))
        small.states[:] = rows[chosen]
        small.step([int(number)] * len(chosen))
        told = law.after(effect, before[chosen])
        names = list(law.columns)
        for i in range(len(chosen)):
            compared += 1
            text = {names[c] for c in np.flatnonzero(told[i])} - _typing(law)
            real = facts(small.states[i]) | happened(problem, grounding.action(int(number)))
            if text != real:
                found.append(
                    f"successor of ({name} {' '.join(arguments)}): only text {sorted(text - real)}, only executor"
                    f" {sorted(real - text)}"
                )
    return len(grounds), tested, compared, found


def happened(problem: PlanningProblem, action: Action) -> set[tuple[str, ...]]:
    """Return which of the goal's events an action is, as contracts see it."""
    event = [Event.of(action)]
    return {(f"event_{i}",) for i, wanted in enumerate(problem.events) if truth(wanted, State({}), event) is Truth.TRUE}


def _typing(law: Law) -> set[tuple[str, ...]]:
    return {f for f in law.init if f[0].startswith("is_") and f[0] != "is_hand"}


def compare(
    episode: Episode, states: int, dialect: Dialect | None = None, most_tasks: int = 99
) -> tuple[int, int, int, list[str]]:
    """Compare the domains of an episode's tasks, each also with everything movable; the states are shared out among
    them."""
    course = list(reference_states(episode))
    tasks = episode.tasks[:most_tasks]
    totals, found = [0, 0, 0], []
    for number, task in enumerate(tasks):
        start = course[episode.groups[task.first_group].first]
        *counts, unlike = differences(
            task_problem(episode, task, start), start, -(-states // len(tasks)), number, dialect
        )
        totals = [a + b for a, b in zip(totals, counts, strict=True)]
        found += [f"{episode.id}/{task.id}: {text}" for text in unlike]
    return totals[0], totals[1], totals[2], found


if __name__ == "__main__":
    worlds, wanted = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    for name in load_manifest(worlds)["episodes"]:
        grounds, tests, successors, unlike = compare(load_episode(worlds, name), wanted)
        print(
            f"{name}: {wanted} states, {grounds} ground actions, {tests} tests, {successors} successors, {len(unlike)}"
            " differences",
            flush=True,
        )
        for line in unlike[:5]:
            print("  ", line[:600])
