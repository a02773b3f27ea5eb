"""Problems to off-the-shelf planners and validators, through unified-planning (extra "planning")."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from contextlib import chdir
from dataclasses import dataclass, replace
from enum import StrEnum
from multiprocessing.util import Finalize
from typing import Any

from ego2world.core.extras import extra
from ego2world.core.processes import process_pool
from ego2world.errors import UsageError
from ego2world.planning.problem import PlanningProblem, make_problem
from ego2world.planning.scope import scope_of
from ego2world.planning.text import simplify
from ego2world.planning.words import CLASSES, ENTITY, ZONE, Formula
from ego2world.world.conditions import Condition
from ego2world.world.refusal import Refusal
from ego2world.world.state import Action, State, World
from ego2world.world.step import step

with extra("planning", "planning"):
    import unified_planning.shortcuts as up
    from unified_planning.engines import PlanGenerationResultStatus, ValidationResultStatus
    from unified_planning.model import Variable
    from unified_planning.plans import ActionInstance, SequentialPlan

PLANNER = "fast-downward"
GRACE_S = 30.0  # for what a planner does besides searching


class Outcome(StrEnum):
    """How a search for a plan ended."""

    SOLVED = "solved"
    IMPOSSIBLE = "proved impossible"
    TIMEOUT = "no plan within the time"
    UNDECIDED = "no plan found, and no proof that there is none"


@dataclass(frozen=True)
class Solution:
    """The end of a search, and the plan where there is one."""

    outcome: Outcome
    plan: tuple[Action, ...] = ()


def solve(
    world: World, state: State, conditions: Sequence[Condition], limit_s: float = 60.0, planner: str = PLANNER
) -> Solution:
    """Find a plan that makes conditions true, first among what the goal speaks of, then with everything in scope
    movable.

    Args:
        world, state: where planning starts.
        conditions: those of a contract; events may be among them.
        limit_s: wall-clock seconds for one search.
        planner: name of an engine of unified-planning.
    """
    found = Solution(Outcome.UNDECIDED)
    for wide in (False, True):
        problem = make_problem("task", world, state, conditions, scope_of(world, state, conditions, wide))
        found = search(problem, limit_s, planner)
        if found.outcome in (Outcome.SOLVED, Outcome.TIMEOUT):
            break
    return found


_elsewhere: list[Executor] = []  # one process that plans for this one, started when first needed
_starting = threading.Lock()


def solve_elsewhere(world: World, state: State, conditions: Sequence[Condition], limit_s: float) -> Solution:
    """Find a plan in a process of its own; see ``solve``. May be called from several threads."""
    with _starting:
        if not _elsewhere:
            pool = process_pool(1)
            _elsewhere.append(pool)
            Finalize(None, pool.shutdown, exitpriority=100)  # a worker process would wait for it for ever
    bare = replace(world, grounds={}, looks={})  # what is kept in them for speed cannot travel
    return _elsewhere[0].submit(solve, bare, state, list(conditions), limit_s).result()


def search(problem: PlanningProblem, limit_s: float, planner: str = PLANNER) -> Solution:
    """Let a planner search one problem; "proved impossible" speaks of that problem's scope.

    Fast Downward writes a file where it stands, so the working directory is another one for the time of the search: in
    a process with several threads, search in processes of their own (``solve_elsewhere``).

    Raises:
        UsageError: the planner is not installed.
    """
    up.get_environment().credits_stream = None
    if simplify(problem.goal) == ("or",):  # unified-planning cannot hand "false" on
        return Solution(Outcome.IMPOSSIBLE)
    given = to_unified_planning(problem)
    try:
        engine = up.OneshotPlanner(name=planner, params=_limits(planner, limit_s))
    except Exception as error:
        raise UsageError(f"planner {planner!r} cannot be used ({error}); install ego2world[planning]") from None
    with engine, tempfile.TemporaryDirectory() as folder, chdir(folder), open("output.txt", "w") as output:
        result = engine.solve(given, timeout=limit_s + GRACE_S, output_stream=output)
    status = result.status
    if result.plan is not None:
        steps = [(a.action.name, [str(p) for p in a.actual_parameters]) for a in result.plan.actions]
        return Solution(Outcome.SOLVED, tuple(problem.action(name, arguments) for name, arguments in steps))
    if status is PlanGenerationResultStatus.UNSOLVABLE_PROVEN:
        return Solution(Outcome.IMPOSSIBLE)
    return Solution(Outcome.TIMEOUT if status is PlanGenerationResultStatus.TIMEOUT else Outcome.UNDECIDED)


def _limits(planner: str, limit_s: float) -> dict[str, Any]:
    """Let Fast Downward keep the time itself: unified-planning stops its driver, but not the search that it started."""
    return {"fast_downward_search_time_limit": f"{max(1, round(limit_s))}s"} if planner == PLANNER else {}


def replayed(world: World, state: State, plan: Sequence[Action]) -> State | Refusal:
    """Return the state after a plan, or the first refusal."""
    for action in plan:
        after = step(world, state, action)
        if isinstance(after, Refusal):
            return after
        state = after
    return state


def validate(problem: PlanningProblem, plan: str) -> str:
    """Let unified-planning's own validator judge a plan; return "" when it is valid, else why it is not."""
    given = to_unified_planning(problem)
    steps = []
    for line in plan.splitlines():
        name, *arguments = line.strip("() ").split()
        steps.append(ActionInstance(given.action(name), tuple(up.ObjectExp(given.object(a)) for a in arguments)))
    with up.PlanValidator(name="sequential_plan_validator") as validator:
        result = validator.validate(given, SequentialPlan(steps))
    return "" if result.status is ValidationResultStatus.VALID else str(result.log_messages or result)


def to_unified_planning(problem: PlanningProblem) -> Any:
    """Return a problem as a model of unified-planning; the same as reading its PDDL, without the reading."""
    return _Builder(problem).build()


class _Builder:
    def __init__(self, problem: PlanningProblem) -> None:
        self.problem = problem
        self.out = up.Problem(problem.name)
        self.out.initial_defaults[up.BoolType()] = up.FALSE()
        self.types: dict[str, Any] = {ENTITY: up.UserType(ENTITY), ZONE: up.UserType(ZONE)}
        self.types |= {kind: up.UserType(kind, self.types[ENTITY]) for kind in CLASSES}
        self.types |= {kind: up.UserType(kind, self.types[parent]) for kind, parent in problem.kinds.items()}
        self.fluents: dict[str, Any] = {}
        self.objects: dict[str, Any] = {}

    def build(self) -> Any:
        problem, domain = self.problem, self.problem.domain
        for name, kinds in problem.predicates().items():
            arguments = {f"x{i + 1}": self.types[kind] for i, kind in enumerate(kinds)}
            self.fluents[name] = up.Fluent(name, up.BoolType(), **arguments)
            self.out.add_fluent(self.fluents[name], default_initial_value=False)
        for thing in domain.scope.things:
            kind = domain.class_of(thing)
            own = kind if kind == ZONE else f"{kind}_{problem.world.entities[thing].type}"
            self.objects[domain.names[thing]] = up.Object(domain.names[thing], self.types[own])
        self.out.add_objects(self.objects.values())
        for schema in domain.schemas:
            if simplify(schema.precondition) == ("or",):
                continue
            parameters = {p.variable[1:]: self.types[p.type] for p in schema.parameters}
            action = up.InstantaneousAction(schema.shape.name, **parameters)
            terms = {p.variable: up.ParameterExp(action.parameter(p.variable[1:])) for p in schema.parameters}
            precondition = simplify(schema.precondition)
            for part in precondition[1:] if precondition[0] == "and" else (precondition,):
                action.add_precondition(self.condition(part, terms))
            self._effect(action, simplify(schema.effect), terms, (), up.TRUE())
            self.out.add_action(action)
        for fact in problem.facts:
            self.out.set_initial_value(self.atom(fact, {}), True)
        self.out.add_goal(self.condition(simplify(problem.goal), {}))
        return self.out

    def term(self, name: str, terms: Mapping[str, Any]) -> Any:
        return terms[name] if name in terms else up.ObjectExp(self.objects[name])

    def atom(self, f: Formula, terms: Mapping[str, Any]) -> Any:
        return self.fluents[f[0]](*(self.term(part, terms) for part in f[1:]))

    def condition(self, f: Formula, terms: Mapping[str, Any]) -> Any:
        head = f[0]
        if head == "and":
            return up.And(*(self.condition(part, terms) for part in f[1:])) if len(f) > 1 else up.TRUE()
        if head == "or":
            return up.Or(*(self.condition(part, terms) for part in f[1:])) if len(f) > 1 else up.FALSE()
        if head == "not":
            return up.Not(self.condition(f[1], terms))
        if head == "=":
            return up.Equals(self.term(f[1], terms), self.term(f[2], terms))
        if head in ("forall", "exists"):
            variables = [Variable(name[1:], self.types[kind]) for name, kind in f[1]]
            inner = {**terms, **{f"?{v.name}": up.VariableExp(v) for v in variables}}
            return (up.Forall if head == "forall" else up.Exists)(self.condition(f[2], inner), *variables)
        return self.atom(f, terms)

    def _effect(self, action: Any, f: Formula, terms: Mapping[str, Any], variables: tuple[Any, ...], when: Any) -> None:
        head = f[0]
        if head == "and":
            for part in f[1:]:
                self._effect(action, part, terms, variables, when)
        elif head == "forall":
            own = tuple(Variable(name[1:], self.types[kind]) for name, kind in f[1])
            inner = {**terms, **{f"?{v.name}": up.VariableExp(v) for v in own}}
            self._effect(action, f[2], inner, (*variables, *own), when)
        elif head == "when":
            self._effect(action, f[2], terms, variables, self.condition(f[1], terms))
        else:
            atom = self.atom(f[1] if head == "not" else f, terms)
            action.add_effect(atom, head != "not", when, forall=variables)
