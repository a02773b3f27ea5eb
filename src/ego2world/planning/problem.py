"""One task, or any goal from any state, as a PDDL problem with its own domain; plans go back to actions of the
executor."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import Any, assert_never

from ego2world.errors import RecordError
from ego2world.ontology.kinds import Trait, has
from ego2world.planning.domain import make_domain
from ego2world.planning.scope import Scope, scope_of, scope_of_plan, shape_of
from ego2world.planning.text import Dialect, Printer, simplify, text
from ego2world.planning.words import (
    CLASSES,
    ENTITY,
    FACE,
    HAND,
    MOVABLE,
    ZONE,
    ActionSchema,
    Formula,
    PlanningDomain,
    fluent_predicate,
    untouched,
)
from ego2world.world.conditions import (
    AnyCondition,
    Condition,
    CountCondition,
    EventCondition,
    FactCondition,
    events_in,
    facts_in,
    things_in,
)
from ego2world.world.explain import explain
from ego2world.world.fluents import DOMAINS
from ego2world.world.names import planning_names
from ego2world.world.refusal import Refusal
from ego2world.world.state import Action, State, World, carriers
from ego2world.world.step import step, with_hand

PREDICATES: Mapping[str, tuple[str, ...]] = {
    "agent_in": (ZONE,),
    "located": (ENTITY, ZONE),
    "here": (ENTITY,),
    "handy": (ENTITY,),
    "in": (ENTITY, ENTITY),
    "on": (ENTITY, ENTITY),
    "held": (ENTITY, HAND),
    "carried_by": (ENTITY, ENTITY),
    "shut_in": (ENTITY, ENTITY),
    "contains": (ENTITY, ENTITY),
    "lacks": (ENTITY, ENTITY),
    "attached": (ENTITY, ENTITY),
    "detached": (ENTITY,),
    "closable": (ENTITY,),
    "tool": (ENTITY,),
    "is_hand": (ENTITY,),
    "untouched": (ENTITY,),
}


@dataclass(frozen=True)
class PlanningProblem:
    """A planning problem: domain, first facts and goal over a scope, and the way back from a plan to actions."""

    name: str
    world: World
    domain: PlanningDomain
    facts: tuple[Formula, ...]
    goal: Formula
    events: tuple[EventCondition, ...]

    @cached_property
    def _schemas(self) -> Mapping[str, ActionSchema]:
        return {schema.shape.name: schema for schema in self.domain.schemas}

    @cached_property
    def _ids(self) -> Mapping[str, str]:
        return {name: identifier for identifier, name in self.domain.names.items()}

    @cached_property
    def kinds(self) -> Mapping[str, str]:
        """The class of each kind that has objects, as the hierarchy of types says it."""
        out = {}
        for thing in self.domain.scope.things:
            kind = self.domain.class_of(thing)
            if kind != ZONE:
                out[f"{kind}_{self.world.entities[thing].type}"] = kind
        return dict(sorted(out.items()))

    def _members(self) -> dict[str, list[str]]:
        names, domain = self.domain.names, self.domain
        found = {kind: [names[t] for t in domain.of_class(kind)] for kind in (*CLASSES, ZONE)}
        found[ENTITY] = [names[t] for t in domain.of_class(*CLASSES)]
        return found

    def domain_text(self, dialect: Dialect | None = None) -> str:
        """Return the domain as PDDL."""
        given = dialect or Dialect()
        printer, flat = Printer(given, self._members()), given.typing == "flat"
        preconditions = [
            ":strips",
            ":negative-preconditions",
            ":disjunctive-preconditions",
            ":equality",
            ":conditional-effects",
        ]
        preconditions += [] if flat else [":typing"]
        preconditions += [":universal-preconditions", ":existential-preconditions"] if given.features == "adl" else []
        lines = [f"(define (domain {self.domain_name})", f"  (:requirements {' '.join(preconditions)})"]
        if not flat:
            lines.append(f"  (:types {ENTITY} {ZONE} - object")
            lines.append(f"          {' '.join(CLASSES)} - {ENTITY}")
            for kind in CLASSES:
                own = [name for name, parent in self.kinds.items() if parent == kind]
                if own:
                    lines.append(f"          {' '.join(own)} - {kind}")
            lines[-1] += ")"
        lines.append(f"  (:constants {self._objects(given, [self.domain.names[t] for t in self._constants()])})")
        lines.append("  (:predicates")
        for name, kinds in self.predicates().items():
            variables = [(f"?x{i + 1}", kind) for i, kind in enumerate(kinds)]
            lines.append(f"    ({' '.join(p for p in (name, printer.parameters(variables)) if p)})")
        if flat:
            lines += [f"    (is_{kind} ?x1)" for kind in (*CLASSES, ENTITY, ZONE)]
        lines[-1] += ")"
        for schema in self.domain.schemas:
            variables = [(p.variable, p.type) for p in schema.parameters]
            guards = ("and", *printer.guards(variables), schema.precondition)
            lines += [
                f"  (:action {schema.shape.name}",
                f"    :parameters ({printer.parameters(variables)})",
                f"    :precondition {printed(printer.condition_of(guards), flat)}",
                f"    :effect {printed(printer.effect_of(schema.effect), flat)})",
            ]
        return "\n".join(lines) + ")\n"

    def problem_text(self, dialect: Dialect | None = None) -> str:
        """Return the problem as PDDL."""
        given = dialect or Dialect()
        printer, flat = Printer(given, self._members()), given.typing == "flat"
        constants = {self.domain.names[t] for t in self._constants()}
        rest = [self.domain.names[t] for t in self.domain.scope.things if self.domain.names[t] not in constants]
        facts = list(self.facts)
        if flat:
            facts += [(f"is_{kind}", name) for kind, names in self._members().items() for name in names]
        lines = [
            f"(define (problem {self.name})",
            f"  (:domain {self.domain_name})",
            f"  (:objects {self._objects(given, rest)})",
            "  (:init",
            *(f"    {text(fact)}" for fact in facts),
            "  )",
            f"  (:goal {printed(printer.condition_of(self.goal), flat)}))",
        ]
        return "\n".join(lines) + "\n"

    @property
    def domain_name(self) -> str:
        """Name of the domain."""
        return f"{self.name}_domain"

    def _constants(self) -> list[str]:
        """Return what the actions themselves name: hands, and what the events of the goal are about."""
        named = things_in(self.events)
        return [t for t in self.domain.scope.things if self.domain.class_of(t) == HAND or t in named]

    def _objects(self, dialect: Dialect, names: Iterable[str]) -> str:
        if dialect.typing == "flat":
            return " ".join(names)
        return " ".join(f"{name} - {self._type(self._ids[name])}" for name in names)

    def _type(self, thing: str) -> str:
        kind = self.domain.class_of(thing)
        return kind if kind == ZONE else f"{kind}_{self.world.entities[thing].type}"

    def predicates(self) -> dict[str, tuple[str, ...]]:
        """Return every predicate with the types of its arguments."""
        found = dict(PREDICATES)
        for fluent in self._fluents():
            found |= {fluent_predicate(fluent, value): (ENTITY,) for value in self.domain.values[fluent]}
        found |= {fits: (ZONE if self._of_zone(fits) else ENTITY,) for fits in self.domain.fits}
        found |= {f"event_{number}": () for number in range(len(self.events))}
        return found

    def _fluents(self) -> list[str]:
        return [fluent for fluent, values in self.domain.values.items() if values]

    def _of_zone(self, fits: str) -> bool:
        return all(self.domain.class_of(thing) == ZONE for thing in self.domain.fits[fits])

    # back ---------------------------------------------------------------------------------------------------

    def action(self, name: str, arguments: Sequence[str]) -> Action:
        """Return the executor's action for a step of a plan.

        Raises:
            RecordError: the plan names an action or an object that the problem does not have.
        """
        schema = self._schemas.get(name.lower())
        if schema is None or len(arguments) != len(schema.parameters) or any(a not in self._ids for a in arguments):
            raise RecordError(f"plan for {self.name}", f"no action ({name} {' '.join(arguments)}) in the domain")
        roles: dict[str, list[str]] = {}
        for parameter, argument in zip(schema.parameters, arguments, strict=True):
            if parameter.role:
                roles.setdefault(parameter.role, []).append(self._ids[argument])
        bound: dict[str, str | Iterable[str]] = {r: ids[0] if len(ids) == 1 else ids for r, ids in roles.items()}
        if schema.shape.hand:
            bound["hand"] = schema.shape.hand
        kinds = {role: {self.world.entities[thing].type for thing in ids} for role, ids in roles.items()}
        return Action.of(schema.shape.kind_for(kinds).name, bound)

    def ground_actions(self) -> list[Action]:
        """Return every action that the domain's parameters allow, in the order of the domain."""
        out, domain = [], self.domain
        for schema in domain.schemas:
            bound = [p for p in schema.parameters if p.role]
            free = [domain.names[domain.scope.things[0]]] * (
                len(schema.parameters) - len(bound)
            )  # of no matter to an action
            options = [
                (
                    sorted(domain.fits[p.fits])
                    if p.fits
                    else domain.of_class(*(CLASSES if p.type == ENTITY else (p.type,)))
                )
                for p in bound
            ]
            for things in product(*options):
                out.append(self.action(schema.shape.name, [domain.names[t] for t in things] + free))
        return out

    def step_text(self, action: Action, state: State) -> str:
        """Return an action as a step of a plan in this problem; ``state`` is where it is done."""
        shape = shape_of(with_hand(state, action))
        schema = self._schemas[shape.name]
        used: dict[str, int] = {}
        arguments = []
        for parameter in schema.parameters:
            if parameter.role:
                index = used[parameter.role] = used.get(parameter.role, -1) + 1
                arguments.append(self.domain.names[action.ids(parameter.role)[index]])
            else:
                arguments.append(self.domain.names[state.zone])
        return f"({' '.join([shape.name, *arguments])})"

    def read_plan(self, plan: str) -> list[Action]:
        """Return the actions of a plan as planners write it: one (name arguments) a line, ";" for comments."""
        steps = re.findall(r"\(([^()]+)\)", re.sub(r";.*", "", plan))
        return [self.action(name, arguments) for name, *arguments in (step_.split() for step_ in steps)]


def printed(formula: Formula, flat: bool) -> str:
    """Return a simplified formula as text; always true is (and)."""
    return text(simplify(formula), not flat)


def make_problem(
    name: str, world: World, state: State, conditions: Sequence[Condition], scope: Scope | None = None
) -> PlanningProblem:
    """Return the problem to reach conditions from a state.

    Args:
        name: name of the problem in PDDL.
        world, state: where planning starts.
        conditions: those of a contract.
        scope: what to speak of; by default what the goal needs.
    """
    chosen = scope or scope_of(world, state, conditions)
    names = planning_names(chosen.things, {*PREDICATES, *CLASSES, ENTITY, ZONE})
    events = tuple(events_in(conditions))
    domain = make_domain(world, chosen, names, events)
    for fluent, values in _goal_values(conditions).items():  # a value that no action gives or asks for
        known = domain.values.setdefault(fluent, [])
        domain.values[fluent] = [v for v in DOMAINS[fluent] if v in known or v in values]
    goal = ("and", *(_goal(condition, names, events) for condition in conditions))
    return PlanningProblem(
        planning_names([name])[name], world, domain, tuple(sorted(state_facts(domain, state))), goal, events
    )


def reference_plan(
    name: str, world: World, state: State, conditions: Sequence[Condition], actions: Sequence[Action]
) -> tuple[PlanningProblem, str]:
    """Return the problem that a recorded run of actions solves, and that run as its plan.

    Raises:
        RecordError: the actions do not replay.
    """
    now, bound, states = state, [], []
    for action in actions:
        states.append(now)
        bound.append(with_hand(now, action))
        after = step(world, now, action)
        if isinstance(after, Refusal):
            raise RecordError(name, f"the reference does not replay ({explain(after)})")
        now = after
    problem = make_problem(name, world, state, conditions, scope_of_plan(world, state, conditions, bound))
    return problem, "".join(problem.step_text(a, s) + "\n" for a, s in zip(bound, states, strict=True))


def _goal_values(conditions: Iterable[Condition]) -> dict[str, set[Any]]:
    found: dict[str, set[Any]] = {}
    for one in facts_in(conditions):
        if one.fluent in DOMAINS:
            found.setdefault(one.fluent, set()).add(one.value)
    return found


def _goal(condition: Condition, names: Mapping[str, str], events: Sequence[EventCondition]) -> Formula:
    match condition:
        case EventCondition():
            return (f"event_{[e is condition for e in events].index(True)}",)
        case AnyCondition():
            return ("or", *(_goal(option, names, events) for option in condition.of))
        case CountCondition():
            single = [_atom(one, names) for one in condition.each]
            return ("or", *(("and", *chosen) for chosen in combinations(single, condition.at_least)))
        case FactCondition():
            return _atom(condition, names)
        case _:
            assert_never(condition)


def _atom(condition: FactCondition, names: Mapping[str, str]) -> Formula:
    """Return what a fact of a contract means; a place counts by where, whether "in" or "on"."""
    key, wanted = condition.fact
    fluent, entity = key[0], key[1]
    if fluent == "contains":
        return ("contains" if wanted else "lacks", names[entity], names[key[2]])
    if fluent == "place":
        how, where = wanted  # type: ignore[misc, str-unpack]
        thing = names[entity]
        return (
            ("held", thing, names[where])
            if how == "held"
            else ("or", ("in", thing, names[where]), ("on", thing, names[where]))
        )
    if fluent == "attached":
        return ("detached", names[entity]) if wanted == "no" else ("attached", names[entity], names[str(wanted)])
    return (fluent_predicate(fluent, wanted), names[entity])


def state_facts(domain: PlanningDomain, state: State) -> list[Formula]:
    """Return every fact of a state that the domain can speak of, what the moves maintain included."""
    world, names = domain.world, domain.names
    out: list[Formula] = [("agent_in", names[state.zone])]
    for fits, things in domain.fits.items():
        out += [(fits, names[thing]) for thing in things]
    for key, value in state.facts.items():
        if key[0] == "contains":
            if key[1] in names and key[2] in names:
                out.append(("contains" if value is True else "lacks", names[key[1]], names[key[2]]))
        elif key[1] not in names:
            continue
        elif key[0] == "place" and isinstance(value, tuple):
            out.append((value[0], names[key[1]], names[value[1]]))
        elif key[0] == "attached":
            if value == "no":
                out.append(("detached", names[key[1]]))
            elif value in names:
                out.append(("attached", names[key[1]], names[str(value)]))
        elif value in domain.values.get(key[0], ()):
            out.append((fluent_predicate(key[0], value), names[key[1]]))
    for thing in domain.scope.things:
        out += _standing(domain, state, thing)
        kind = world.entities[thing].type
        out += [
            (name, names[thing])
            for name, trait in (("closable", Trait.OPENABLE), ("tool", Trait.TOOL))
            if has(kind, trait)
        ]
        if domain.class_of(thing) == HAND:
            out.append(("is_hand", names[thing]))
        if domain.class_of(thing) != ZONE and untouched(world, thing):
            out.append(("untouched", names[thing]))
    return list(dict.fromkeys(out))


def _standing(domain: PlanningDomain, state: State, thing: str) -> list[Formula]:
    """Return where a thing is however deep, whether it is here, and whether it counts as held."""
    world, names, kind = domain.world, domain.names, domain.class_of(thing)
    name = names[thing]
    if kind == HAND:
        return [("here", name), ("handy", name)]
    if kind in {FACE, ZONE}:
        return []
    out: list[Formula] = []
    chain = carriers(state.facts, thing)
    out += [("carried_by", name, names[carrier]) for carrier in chain]
    inner = thing
    for carrier in chain:
        place = state.facts["place", inner]
        if place[0] == "in" and carrier in world.openable:  # type: ignore[index]
            out.append(("shut_in", name, names[carrier]))
        inner = carrier
    root = next((c for c in (thing, *chain) if c in world.zone_of), None)
    if root is not None:
        out.append(("located", name, names[world.zone_of[root]]))
        if world.zone_of[root] == state.zone:
            out.append(("here", name))
    elif chain and domain.class_of(chain[-1]) == HAND:
        out.append(("here", name))
    if kind == MOVABLE and chain:
        place = state.facts["place", thing]
        below = state.facts.get(("place", chain[0]))
        on_tool = has(world.entities[chain[0]].type, Trait.TOOL) and isinstance(below, tuple) and below[0] == "held"
        if place[0] == "held" or domain.class_of(chain[0]) == HAND or on_tool:  # type: ignore[index]
            out.append(("handy", name))
    return out
