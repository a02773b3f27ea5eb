"""What a planning problem speaks of: the things that its goal needs, and the action types that can change something
for them.

A whole kitchen is no planning problem: one action over five things makes most of a million ground actions. What has no
part in a goal changes nothing about a plan for it, so it stays out; a plan found within the scope is a plan in the
whole world.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, assert_never

from ego2world.ontology.kinds import Trait, has
from ego2world.world.actions import ACTIONS, BY_NAME, ActionType
from ego2world.world.actions.base import (
    Assign,
    Attach,
    EmptyOut,
    HandRoom,
    HandSpace,
    Held,
    Is,
    Move,
    PourAll,
    SetContent,
    Travel,
)
from ego2world.world.conditions import Condition, events_in, facts_in, things_in
from ego2world.world.fluents import DOMAINS
from ego2world.world.grounded.catalogue import Bindings, essential, parts_roles
from ego2world.world.grounded.symbols import Symbols
from ego2world.world.state import AGENT, HANDS, Action, State, World, carriers

ANY = "any"
ALWAYS = {("place", ANY), ("at", ANY), ("openness", "open")}  # what moving about needs
_PARKING = ("counter", "table", "shelf", "floor", "sink", "hob")  # in order of preference


@dataclass(frozen=True)
class LiftedAction:
    """An action type with the roles that an action binds and how many things each; a hand that matters is fixed."""

    kind: ActionType
    counts: tuple[tuple[str, int], ...]
    hand: str | None = None
    alike: tuple[ActionType, ...] = ()  # further types with the same needs and effects, for other things

    def accepts(self, role: str) -> frozenset[str]:
        """Return the kinds of things that the role takes."""
        return frozenset().union(
            *(var.accepts for k in (self.kind, *self.alike) if (var := k.parameter(role)) is not None)
        )

    def kind_for(self, kinds: Mapping[str, Iterable[str]]) -> ActionType:
        """Return the type that takes things of these kinds, role -> kinds."""
        for kind in (self.kind, *self.alike):
            if all(
                (var := kind.parameter(role)) is not None and set(given) <= var.accepts for role, given in kinds.items()
            ):
                return kind
        return self.kind

    @property
    def name(self) -> str:
        """The name of the PDDL action, unique among shapes."""
        several = "".join(f"_{count}_{role}s" for role, count in self.counts if count > 1)
        without = {role for role, _ in self.counts}
        left_out = "".join(
            f"_no_{var.role}"
            for var in self.kind.roles[: self.kind.declared]
            if var.optional
            and var.role != "hand"
            and var.role in parts_roles(self.kind.effects)
            and var.role not in without
        )
        bound = "".join(
            f"_{role}"
            for role, _ in self.counts
            if (var := self.kind.parameter(role)) is not None
            and var.optional
            and role not in parts_roles(self.kind.effects)
        )
        return f"{self.kind.name}{several}{left_out}{bound}" + (f"_{self.hand}" if self.hand else "")


@dataclass(frozen=True)
class Scope:
    """The entities and action shapes of a problem; ``moving`` may be moved, ``places`` may take what is put down
    (None: all)."""

    things: tuple[str, ...]
    shapes: tuple[LiftedAction, ...]
    moving: frozenset[str] | None = None
    places: frozenset[str] | None = None


def shape_of(action: Action) -> LiftedAction:
    """Return the shape of an action, without the roles that only record context (but for targets, which events may ask
    after); its hand must be bound where it matters."""
    kind = BY_NAME[action.name]
    matters = parts_roles((*kind.preconditions, *kind.effects))
    counts = tuple(
        (var.role, len(action.ids(var.role)))
        for var in kind.roles
        if var.role != "hand"
        and action.ids(var.role)
        and (var.role in matters or var.role == "target" or not var.optional)
    )
    return LiftedAction(kind, counts, action.ids("hand")[0] if "hand" in matters and action.ids("hand") else None)


def goal_values(conditions: Iterable[Condition]) -> set[tuple[str, Any]]:
    """Return the fluents that conditions speak of, with the values they ask for where a fluent has a domain."""
    return {(one.fluent, one.value if one.fluent in DOMAINS else ANY) for one in facts_in(conditions)}


def goal_families(conditions: Iterable[Condition]) -> set[str]:
    """Return the families of the events that conditions speak of."""
    return {event.family for event in events_in(conditions)}


def scope_of(
    world: World, state: State, conditions: Sequence[Condition], wide: bool = False, also: Iterable[str] = ()
) -> Scope:
    """Return what a planner needs to reach conditions from a state.

    Args:
        world, state: where planning starts.
        conditions: the goal.
        wide: let everything in scope be moved, and onto everything, not only what the goal asks for.
        also: further things to speak of.
    """
    things = {thing for thing in things_in(conditions) if thing in world.entities}
    things |= {thing for _, thing in state.held}
    things |= {*_parking(world), *also}
    first = things = _with_carriers(world, state, things)
    for _ in range(3):  # each round may add what the producers of a goal need besides
        more = _with_carriers(world, state, things | _helpers(world, state, conditions, things))
        if more == things:
            break
        things = more
    shapes = tuple(_shapes(world, things, conditions))
    if wide:
        return Scope(tuple(sorted(things)), shapes)
    wanted = [(one.entity, one.value) for one in facts_in(conditions) if one.fluent == "place"]
    moving = {entity for entity, _ in wanted} | {thing for _, thing in state.held} | (things - first)
    places = {str(value[1]) for _, value in wanted} | (things & set(world.zone_of))
    for shape in shapes:
        if not any(isinstance(effect, Move) for effect in shape.kind.effects):
            for need in shape.kind.preconditions:
                if isinstance(need, Held) and need.role in dict(shape.counts):
                    moving |= {t for t in things if world.entities[t].type in shape.accepts(need.role)}
    return Scope(tuple(sorted(things)), shapes, frozenset(moving), frozenset(places | set(HANDS)))


def scope_of_plan(world: World, state: State, conditions: Sequence[Condition], plan: Sequence[Action]) -> Scope:
    """Return the scope in which a given plan can be written down, with what its conditions speak of."""
    things = {t for t in things_in(conditions) if t in world.entities} | {t for a in plan for t in a.things}
    things |= {thing for _, thing in state.held}
    shapes = tuple(sorted({shape_of(action) for action in plan}, key=lambda shape: shape.name))
    return Scope(tuple(sorted(_with_carriers(world, state, things))), shapes)


def _with_carriers(world: World, state: State, things: set[str]) -> set[str]:
    around = {carrier for thing in things for carrier in carriers(state.facts, thing)}
    known = {thing for thing in things | around if thing in world.entities}
    return known | {hand for hand in HANDS if hand in world.entities} | set(world.zones)


def _parking(world: World) -> list[str]:
    """Return a surface in each zone where something may be put down."""
    found = []
    for zone in world.zones:
        here = [
            f for f in sorted(world.zone_of) if world.zone_of[f] == zone and has(world.entities[f].type, Trait.SURFACE)
        ]
        kind = {f: world.entities[f].type for f in here}
        here.sort(key=lambda f: (_PARKING.index(kind[f]) if kind[f] in _PARKING else len(_PARKING), f))
        found += here[:1]
    return found


def _part(world: World, things: Iterable[str]) -> Symbols:
    wanted = set(things) | {AGENT}
    return Symbols(
        replace(world, entities={i: e for i, e in world.entities.items() if i in wanted}, grounds={}, looks={})
    )


def _shapes(world: World, things: set[str], conditions: Sequence[Condition]) -> list[LiftedAction]:
    """Return the shapes of essential actions among things that change a fluent the goal depends on, or are events of
    it."""
    symbols = _part(world, things)
    wanted = ALWAYS | goal_values(conditions)
    chosen = [
        b
        for b in essential(symbols)
        if len(b) and not any(isinstance(n, HandRoom | HandSpace) for n in b.kind.preconditions)
    ]
    shapes: dict[str, LiftedAction] = {}
    while True:
        before = len(wanted)
        for bindings in chosen:
            if _changes(bindings.kind) & wanted:
                for shape in _shapes_of(symbols, bindings):
                    shapes.setdefault(shape.name, shape)
                preconditions = [need for need in bindings.kind.preconditions if isinstance(need, Is)]
                wanted = wanted | {(need.fluent, value) for need in preconditions for value in need.values}
        if len(wanted) == before:
            break
    for shape in _event_shapes(world, things, conditions):
        shapes.setdefault(shape.name, shape)
    merged = _merged(symbols, list(shapes.values()), bool(goal_families(conditions)))
    return sorted(merged, key=lambda shape: shape.name)


def _accepts(kind: ActionType, role: str) -> frozenset[str]:
    var = kind.parameter(role)
    return var.accepts if var is not None else frozenset()


def _merged(symbols: Symbols, shapes: list[LiftedAction], by_family: bool) -> list[LiftedAction]:
    """Let one shape stand for all with the same needs and effects, where what they take together is one set a role."""
    kinds = {entity.type for entity in symbols.world.entities.values()}
    groups: dict[tuple[Any, ...], list[LiftedAction]] = {}
    for shape in shapes:
        key = (
            shape.kind.preconditions,
            shape.kind.effects,
            shape.counts,
            shape.hand,
            shape.kind.family if by_family else "",
        )
        groups.setdefault(key, []).append(shape)
    out = []
    for group in groups.values():
        group.sort(key=lambda s: (-sum(len(s.accepts(role) & kinds) for role, _ in s.counts), s.name))
        while group:
            first, rest = group[0], []
            for other in group[1:]:
                union = replace(first, alike=(*first.alike, other.kind))
                taken = [[k for k in sorted(union.accepts(role) & kinds)] for role, _ in union.counts]
                members = (union.kind, *union.alike)
                whole = all(
                    any(
                        all(k in _accepts(m, r) for (r, _), k in zip(union.counts, choice, strict=True))
                        for m in members
                    )
                    for choice in product(*taken)
                )
                if whole:
                    first = union
                else:
                    rest.append(other)
            out.append(first)
            group = rest
    return out


def _shapes_of(symbols: Symbols, bindings: Bindings) -> list[LiftedAction]:
    counts = tuple((role, things.shape[1]) for role, things in bindings.roles.items() if role != "hand")
    if "hand" not in bindings.roles:
        return [LiftedAction(bindings.kind, counts)]
    hands = sorted({symbols.ids[number] for number in bindings.roles["hand"][:, 0].tolist()})
    return [LiftedAction(bindings.kind, counts, hand) for hand in hands]


def _changes(kind: ActionType) -> set[tuple[str, Any]]:
    """Return the fluents that a type changes, with the values it gives where a fluent has a domain."""
    found: set[tuple[str, Any]] = set()
    for effect in kind.effects:
        match effect:
            case Assign():
                found.add((effect.fluent, effect.value))
            case Move():
                found.add(("place", ANY))
            case Attach():
                found.add(("attached", ANY))
            case SetContent() | PourAll() | EmptyOut():
                found.add(("contains", ANY))
            case Travel():
                found.add(("at", ANY))
            case _:
                assert_never(effect)
    return found


def _event_shapes(world: World, things: set[str], conditions: Sequence[Condition]) -> list[LiftedAction]:
    """Return the shapes with which events of the goal can be made: only required roles, and the target where one is
    asked for."""
    found = []
    for family in sorted(goal_families(conditions)):
        for kind in ACTIONS:
            if kind.family != family or kind.parameter("object") is None:
                continue
            roles = tuple(
                (v.role, 1) for v in kind.roles if v.role != "hand" and (not v.optional or v.role == "target")
            )
            fits = all(any(world.entities[t].type in kind.parameter(r).accepts for t in things) for r, _ in roles)  # type: ignore[union-attr]
            hands = HANDS if "hand" in parts_roles((*kind.preconditions, *kind.effects)) else (None,)
            if fits and len(roles) <= 2:
                found += [LiftedAction(kind, roles, hand) for hand in hands]
    return found


def _helpers(world: World, state: State, conditions: Sequence[Condition], things: set[str]) -> set[str]:
    """Return things without which nothing in scope could make a fact of the goal true: a lid to open with, a tool to
    use."""
    inside = [bindings for bindings in essential(_part(world, things)) if len(bindings)]
    lacking = [
        (one.fluent, one.entity, one.value)
        for one in facts_in(conditions)
        if not _holds(state, one.fluent, one.entity, one.value)
        and not any(_makes(b.kind, one.fluent, one.value) for b in inside)
    ]
    if not lacking:
        return set()
    found: set[str] = set()
    whole = Symbols(world)
    everything = [bindings for bindings in essential(whole) if len(bindings)]
    for fluent, entity, value in lacking:
        best: set[str] | None = None
        for bindings in everything:
            if _makes(bindings.kind, fluent, value):
                for action in bindings.actions(whole)[:5000]:
                    needed = set(action.things) - things
                    if entity in action.things and needed and (best is None or len(needed) < len(best)):
                        best = needed
        found |= best or set()
    return found


def _holds(state: State, fluent: str, entity: str, value: Any) -> bool:
    return bool(state.facts.get((fluent, entity)) == value)


def _makes(kind: ActionType, fluent: str, value: Any) -> bool:
    if fluent == "contains":
        fills = isinstance(value, str)
        return any(
            isinstance(e, PourAll)
            or (isinstance(e, SetContent) and e.value is fills)
            or (isinstance(e, EmptyOut) and not fills)
            for e in kind.effects
        )
    return (fluent, value if fluent in DOMAINS else ANY) in _changes(kind)
