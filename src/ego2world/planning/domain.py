"""Action types as PDDL actions: the executor's law, with what it finds by walking kept as facts that every move
maintains.

(in ?x ?y) (on ?x ?y) (held ?x ?h)   where a thing is, directly
(carried_by ?x ?y)                   in, on or held by, however deep
(shut_in ?x ?y)                      in the closable ?y, however deep: it has to be open to reach ?x
(located ?x ?z)                      the fixture that finally carries ?x stands in zone ?z
(here ?x)                            that is where the agent is, or ?x is carried in a hand
(handy ?x)                           counts as held: in a hand, on one, or on a tool in one
(FLUENT_VALUE ?x)                    a fluent has a value; none of its values: unknown
(contains ?v ?s) (lacks ?v ?s)       known to contain, known not to contain
(attached ?x ?y) (detached ?x)       known to be attached to, known to be attached to nothing
(agent_in ?z)                        where the agent is
(event_N)                            an event that the goal asks for has happened
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, assert_never

from ego2world.ontology.kinds import Trait, has
from ego2world.planning.scope import LiftedAction, Scope
from ego2world.planning.words import (
    CLASSES,
    ENTITY,
    HAND,
    MOVABLE,
    ZONE,
    ActionSchema,
    Formula,
    PlanningDomain,
    SchemaParameter,
    both,
    fluent_predicate,
    untouched,
)
from ego2world.world.actions.base import (
    Apart,
    Assign,
    Attach,
    EmptyOut,
    HandFree,
    HandRoom,
    HandSpace,
    Held,
    Holds,
    Is,
    Move,
    NotAt,
    PourAll,
    Precondition,
    Reach,
    SetContent,
    Travel,
    Within,
)
from ego2world.world.conditions import EventCondition
from ego2world.world.fluents import DOMAINS
from ego2world.world.state import BOTH, HAND_CAPACITY, LEFT, RIGHT, World

Y, C = "?y", "?c"


def make_domain(
    world: World, scope: Scope, names: Mapping[str, str], events: Sequence[EventCondition] = ()
) -> PlanningDomain:
    """Write down the actions of a scope.

    Args:
        world: the episode's fixed part.
        scope: which things and shapes.
        names: id -> name in PDDL.
        events: events whose happening is to be noted, as (event_0), (event_1), ...
    """
    domain = PlanningDomain(world, scope, names)
    for shape in scope.shapes:
        for effect in shape.kind.effects:
            if isinstance(effect, Assign):
                domain.values.setdefault(effect.fluent, []).append(effect.value)
        for need in shape.kind.preconditions:
            if isinstance(need, Is):
                domain.values.setdefault(need.fluent, []).extend(need.values)
    domain.values.setdefault("openness", []).extend(("open", "closed"))
    domain.values = {f: [v for v in DOMAINS[f] if v in values] for f, values in sorted(domain.values.items())}
    for shape in scope.shapes:
        schema = _Writer(domain, shape, events).schema()
        if schema is not None:
            domain.schemas.append(schema)
    return domain


class _Writer:
    """Writes one shape."""

    def __init__(self, domain: PlanningDomain, shape: LiftedAction, events: Sequence[EventCondition]) -> None:
        self.domain, self.shape, self.kind = domain, shape, shape.kind
        self.events = events
        self.variables: dict[str, list[str]] = {}
        self.parameters: list[SchemaParameter] = []

    def schema(self) -> ActionSchema | None:
        """Return the PDDL action, None when nothing in scope fits one of its roles."""
        for role, count in self.shape.counts:
            accepts = self.shape.accepts(role)
            things = [t for t in self.domain.scope.things if self.domain.world.entities[t].type in accepts]
            things = [
                t for t in things if self.domain.class_of(t) != ZONE
            ] or things  # a zone itself is nowhere to be touched
            things = [t for t in things if self._may(role, t)]
            if not things:
                return None
            for i in range(count):
                name = f"?{role}" + (f"_{i + 1}" if count > 1 else "")
                self.variables.setdefault(role, []).append(name)
                self.parameters.append(self._parameter(name, role, things))
        different: list[Formula] = [
            ("not", ("=", a, b)) for names in self.variables.values() for a, b in combinations(names, 2)
        ]
        if any(isinstance(effect, Travel) for effect in self.kind.effects):
            self.parameters.append(SchemaParameter("?from", ZONE, "", None))
            different.append(("agent_in", "?from"))
        fits = [(p.fits, p.variable) for p in self.parameters if p.fits]
        preconditions = [self._need(need, thing) for need in self.kind.preconditions for thing in self.ids(need.role)]
        return ActionSchema(
            self.shape, tuple(self.parameters), both(*fits, *different, *preconditions), both(*self._effects())
        )

    def _may(self, role: str, thing: str) -> bool:
        """Say whether a thing may be moved, or moved to, where the role is that of what moves or where it goes."""
        scope = self.domain.scope
        for effect in self.kind.effects:
            if isinstance(effect, Move):
                if role == effect.role and scope.moving is not None and thing not in scope.moving:
                    return False
                if role == effect.to and scope.places is not None and thing not in scope.places:
                    return False
        return True

    def ids(self, role: str) -> list[str]:
        """Return the terms that stand for a role."""
        if role == "hand":
            return [self.domain.names[self.shape.hand]] if self.shape.hand else []
        return self.variables.get(role, [])

    def _parameter(self, name: str, role: str, things: list[str]) -> SchemaParameter:
        classes = {self.domain.class_of(thing) for thing in things}
        kind = classes.pop() if len(classes) == 1 else ENTITY
        of_type = self.domain.of_class(*(CLASSES if kind == ENTITY else (kind,)))
        if set(things) == set(of_type):
            return SchemaParameter(name, kind, role, None)
        wanted = frozenset(things)
        known = next((fits for fits, has_it in self.domain.fits.items() if has_it == wanted), None)
        if known is None:
            known = f"fits_{self.kind.name}_{role}"
            self.domain.fits[known] = wanted
        return SchemaParameter(name, kind, role, known)

    def _things(self, term: str) -> list[str]:
        """Return what a term may stand for."""
        for parameter in self.parameters:
            if parameter.variable == term:
                if parameter.fits:
                    return sorted(self.domain.fits[parameter.fits])
                return self.domain.of_class(*(CLASSES if parameter.type == ENTITY else (parameter.type,)))
        return [thing for thing, name in self.domain.names.items() if name == term]

    def _trait(self, term: str, trait: Trait) -> tuple[bool, bool]:
        """Say whether some, and whether all, of what a term may stand for has a trait."""
        found = [has(self.domain.world.entities[thing].type, trait) for thing in self._things(term)]
        return any(found), all(found)

    # needs --------------------------------------------------------------------------------------------------

    def _need(self, need: Precondition, thing: str) -> Formula:
        match need:
            case Reach():
                return self._reach(thing)
            case Held():
                return ("handy", thing)
            case Is():
                return self._is(need, thing)
            case HandFree() | HandSpace() | HandRoom():
                return self._hand(need)
            case Apart():
                others = self.ids(need.other)
                return both(
                    *(("not", ("=", thing, o)) for o in others), *(("not", ("carried_by", o, thing)) for o in others)
                )
            case Holds():
                contents = self.ids(need.content)
                return both(*(("or", ("contains", thing, c), ("in", c, thing), ("on", c, thing)) for c in contents))
            case Within():
                return both(*(("carried_by", thing, around) for around in self.ids(need.inside)))
            case NotAt():
                return ("not", ("agent_in", thing))
            case _:
                assert_never(need)

    def _reach(self, thing: str) -> Formula:
        free = {untouched(self.domain.world, t) for t in self._things(thing)}
        if free == {True}:
            return ("and",)
        reach = both(
            ("here", thing), ("forall", ((C, ENTITY),), ("or", ("not", ("shut_in", thing, C)), ("openness_open", C)))
        )
        return reach if free == {False} else ("or", ("untouched", thing), reach)

    def _is(self, need: Is, thing: str) -> Formula:
        if need.may_be_unknown:
            others = [v for v in self.domain.values[need.fluent] if v not in need.values]
            holds = both(*(("not", (fluent_predicate(need.fluent, v), thing)) for v in others))
        else:
            options = [(fluent_predicate(need.fluent, value), thing) for value in need.values]
            holds = options[0] if len(options) == 1 else ("or", *options)
        if need.fluent == "openness" and holds != ("and",):
            some, every = self._trait(thing, Trait.OPENABLE)
            if not some:
                return ("and",)
            return holds if every else ("or", ("not", ("closable", thing)), holds)
        return holds

    def _hand(self, need: HandFree | HandSpace | HandRoom) -> Formula:
        """Say how full a hand may be, by asking after what else it holds."""
        hand = self.shape.hand or RIGHT
        alike = [hand] if isinstance(need, HandRoom) else [LEFT, RIGHT, BOTH] if hand == BOTH else [hand, BOTH]
        hands = [self.domain.names[h] for h in alike if h in self.domain.names]
        taking = self.ids("object")

        def busy(thing: str) -> Formula:
            return ("or", *(("held", thing, h) for h in hands)) if len(hands) > 1 else ("held", thing, hands[0])

        if isinstance(need, HandFree):
            return ("forall", ((Y, MOVABLE),), ("or", *(("=", Y, t) for t in taking), ("not", busy(Y))))
        others = HAND_CAPACITY - len(taking) + 1  # so many others are too many
        if others <= 0:
            return ("or",)
        names = [f"?other_{i + 1}" for i in range(others)]
        apart = [("=", a, b) for a, b in combinations(names, 2)] + [("=", n, t) for n in names for t in taking]
        space = ("forall", tuple((n, MOVABLE) for n in names), ("or", *apart, *(("not", busy(n)) for n in names)))
        if isinstance(need, HandSpace):
            return space
        return both(("exists", ((Y, MOVABLE),), busy(Y)), space)

    # effects ------------------------------------------------------------------------------------------------

    def _effects(self) -> list[Formula]:
        out: list[Formula] = []
        for effect in self.kind.effects:
            things = self.ids(effect.role)
            match effect:
                case PourAll():
                    for target in self.ids("target"):
                        for source in self.ids(effect.source):
                            out.append(self._contents(source, ("contains", target, C), ("not", ("lacks", target, C))))
                case EmptyOut():
                    for vessel in things:
                        out.append(self._contents(vessel, ("lacks", vessel, C), ("not", ("contains", vessel, C))))
                case Assign():
                    for thing in things:
                        out += self._becomes(effect.fluent, thing, effect.value)
                case Move():
                    for thing in things:
                        for where in self.ids(effect.to)[:1]:
                            with_it = [other for other in things if other != thing]
                            out += [self._but(with_it, part) for part in self._goes(thing, effect.how, where)]
                case Attach():
                    for thing in things:
                        out += self._joins(thing, None if effect.to is None else self.ids(effect.to)[0])
                case SetContent():
                    for thing in things:
                        for content in self.ids(effect.content):
                            now, then = ("contains", "lacks") if effect.value else ("lacks", "contains")
                            out += [(now, thing, content), ("not", (then, thing, content))]
                case Travel():
                    out += self._arrives(things[0])
                case _:
                    assert_never(effect)
        return [*out, *self._happens()]

    def _contents(self, vessel: str, *then: Formula) -> Formula:
        """Say what happens with everything that a vessel is known to contain."""
        return ("forall", ((C, MOVABLE),), ("when", ("contains", vessel, C), both(*then)))

    def _becomes(self, fluent: str, thing: str, value: Any) -> list[Formula]:
        others = [v for v in self.domain.values[fluent] if v != value]
        return [
            (fluent_predicate(fluent, value), thing),
            *(("not", (fluent_predicate(fluent, v), thing)) for v in others),
        ]

    def _joins(self, thing: str, to: str | None) -> list[Formula]:
        keep = ("and",) if to is None else ("not", ("=", C, to))
        off = ("forall", ((C, ENTITY),), ("when", both(("attached", thing, C), keep), ("not", ("attached", thing, C))))
        return (
            [off, ("detached", thing)] if to is None else [off, ("not", ("detached", thing)), ("attached", thing, to)]
        )

    def _arrives(self, zone: str) -> list[Formula]:
        return [
            ("not", ("agent_in", "?from")),
            ("agent_in", zone),
            ("forall", ((Y, ENTITY),), ("when", ("located", Y, "?from"), ("not", ("here", Y)))),
            ("forall", ((Y, ENTITY),), ("when", ("located", Y, zone), ("here", Y))),
        ]

    def _goes(self, x: str, how: str, t: str) -> list[Formula]:
        """Move a thing and all that it carries."""
        out: list[Formula] = [(how, x, t)]
        for old in ("in", "on", "held"):
            other = HAND if old == "held" else ENTITY
            stays = ("not", ("=", C, t)) if old == how else ("and",)
            out.append(("forall", ((C, other),), ("when", both((old, x, C), stays), ("not", (old, x, C)))))
        closable = how == "in" and self._trait(t, Trait.OPENABLE)[0]
        for relation in ("carried_by", "shut_in"):
            keep: list[Formula] = [("not", (relation, t, C))]
            if relation == "carried_by" or closable:
                keep.append(
                    ("not", ("=", C, t))
                    if relation == "carried_by"
                    else ("or", ("not", ("=", C, t)), ("not", ("closable", t)))
                )
            if relation == "carried_by":
                out += [(relation, x, t), ("forall", ((Y, MOVABLE),), ("when", ("carried_by", Y, x), (relation, Y, t)))]
            elif closable:
                sure = self._trait(t, Trait.OPENABLE)[1]
                guard = ("and",) if sure else ("closable", t)
                out += [
                    (relation, x, t) if sure else ("when", guard, (relation, x, t)),
                    ("forall", ((Y, MOVABLE),), ("when", both(guard, ("carried_by", Y, x)), (relation, Y, t))),
                ]
            out += [
                ("forall", ((C, ENTITY),), ("when", both((relation, x, C), *keep), ("not", (relation, x, C)))),
                ("forall", ((C, ENTITY),), ("when", (relation, t, C), (relation, x, C))),
                (
                    "forall",
                    ((Y, MOVABLE), (C, ENTITY)),
                    ("when", both(("carried_by", Y, x), (relation, x, C), *keep), ("not", (relation, Y, C))),
                ),
                (
                    "forall",
                    ((Y, MOVABLE), (C, ENTITY)),
                    ("when", both(("carried_by", Y, x), (relation, t, C)), (relation, Y, C)),
                ),
            ]
        gone = ("not", ("located", t, C))
        out += [
            ("forall", ((C, ZONE),), ("when", both(("located", x, C), gone), ("not", ("located", x, C)))),
            ("forall", ((C, ZONE),), ("when", ("located", t, C), ("located", x, C))),
            (
                "forall",
                ((Y, MOVABLE), (C, ZONE)),
                ("when", both(("carried_by", Y, x), ("located", x, C), gone), ("not", ("located", Y, C))),
            ),
            (
                "forall",
                ((Y, MOVABLE), (C, ZONE)),
                ("when", both(("carried_by", Y, x), ("located", t, C)), ("located", Y, C)),
            ),
            ("when", ("here", t), ("here", x)),
            ("when", ("not", ("here", t)), ("not", ("here", x))),
            ("forall", ((Y, MOVABLE),), ("when", both(("carried_by", Y, x), ("here", t)), ("here", Y))),
            (
                "forall",
                ((Y, MOVABLE),),
                ("when", both(("carried_by", Y, x), ("not", ("here", t))), ("not", ("here", Y))),
            ),
        ]
        return [*out, *self._handy(x, how, t)]

    def _but(self, others: list[str], effect: Formula) -> Formula:
        """Leave what is moved itself out of what is carried along."""
        if not others or effect[0] != "forall" or (Y, MOVABLE) not in effect[1]:
            return effect
        _, variables, (_, condition, then) = effect
        return ("forall", variables, ("when", both(condition, *(("not", ("=", Y, o)) for o in others)), then))

    def _handy(self, x: str, how: str, t: str) -> list[Formula]:
        """Note whether a thing now counts as held, and with a tool what lies directly on it."""
        lying = ("or", ("in", Y, x), ("on", Y, x))
        some, every = self._trait(x, Trait.TOOL)
        tool = ("and",) if every else ("tool", x)
        out: list[Formula]
        if how == "held":
            out = [("handy", x)]
            on_it: Formula = ("handy", Y)
        else:
            holds = ("exists", ((C, HAND),), ("held", t, C))
            classes = {self.domain.class_of(thing) for thing in self._things(t)}
            options: list[Formula] = []
            if HAND in classes:
                options.append(("is_hand", t))
            if self._trait(t, Trait.TOOL)[0]:
                options.append(both(("tool", t), holds))
            if options:
                carried = options[0] if len(options) == 1 else ("or", *options)
                out = [("when", carried, ("handy", x)), ("when", ("not", carried), ("not", ("handy", x)))]
            else:
                out = [("not", ("handy", x))]
            on_it = ("not", ("handy", Y))
        if some:
            out.append(("forall", ((Y, MOVABLE),), ("when", both(tool, lying), on_it)))
        return out

    def _happens(self) -> list[Formula]:
        """Note the events of the goal that this action is."""
        out: list[Formula] = []
        for number, event in enumerate(self.events):
            if event.family != self.kind.family:
                continue
            thing = self.domain.names[event.object]
            same: list[Formula] = [self._one_of("object", thing)]
            if event.target is not None:
                same.append(self._one_of("target", self.domain.names[event.target]))
            if all(part != ("or",) for part in same):
                out.append(("when", both(*same), (f"event_{number}",)))
        return out

    def _one_of(self, role: str, thing: str) -> Formula:
        options = [("=", term, thing) for term in self.ids(role)]
        return options[0] if len(options) == 1 else ("or", *options)
