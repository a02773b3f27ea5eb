"""Goals for rollouts, derived from compiled kitchens: a few steps, each one or more actions of the executor. Stage:
render.

A case takes an episode's own fixtures and things, puts them where the steps need them, and keeps the facts that must
hold at the end. Every step is executed when the case is made; what the executor refuses becomes no case.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import permutations

from ego2world.ontology.kinds import Trait, has
from ego2world.world.actions import BY_NAME
from ego2world.world.episode import Episode
from ego2world.world.fluents import FactKey, Value
from ego2world.world.refusal import Refusal
from ego2world.world.state import AGENT, Action, State, World
from ego2world.world.step import step

STORES = ("cupboard", "fridge", "freezer", "drawer", "dishwasher", "oven", "microwave")
VESSELS = ("cup", "glass", "bowl", "pan", "pot", "jug")
COVERS = ("lid", "plate", "board", "tray", "foil", "towel", "cloth", "mat")
DISHES = ("plate", "board", "tray", "hob", "sink", "rack")
SUBSTANCE = "shown_content"


class Kind(StrEnum):
    """What a step does."""

    OPEN = "open"
    CLOSE = "close"
    MOVE = "move"
    POUR = "pour"
    COVER = "cover"


CARRYING = (Kind.MOVE, Kind.COVER)


@dataclass(frozen=True)
class RolloutStep:
    """One subgoal: what is done with which thing, the actions that do it, and the facts it makes true."""

    kind: Kind
    thing: str
    target: str
    says: str
    done: str
    actions: tuple[Action, ...]
    post: tuple[tuple[FactKey, Value], ...]


class Detour(StrEnum):
    """Where a thing that is carried is put down on its way."""

    NONE = ""
    FIRST = "first"  # beside its target before anything else is done
    DURING = "during"  # half way


@dataclass(frozen=True)
class Way:
    """One execution of the steps: their order, and whether a thing is put down on its way."""

    order: tuple[int, ...]
    detour: Detour = Detour.NONE

    def words(self, steps: Sequence[RolloutStep]) -> tuple[str, ...]:
        """Return what is done, one text a step."""
        carried = next((one for one in steps if one.kind in CARRYING), None)
        said = [
            one.says + (" by way of the worktop" if self.detour is Detour.DURING and one is carried else "")
            for one in (steps[n] for n in self.order)
        ]
        return ("set it down closer first", *said) if self.detour is Detour.FIRST else tuple(said)


@dataclass(frozen=True)
class RolloutCase:
    """A scene of one kitchen, a goal, its steps, and orders in which they reach it.

    stand: what stands on the worktop, from left to right; dish: what things can be put on, at its right end.
    """

    id: str
    episode: str
    goal: str
    world: World
    state: State
    steps: tuple[RolloutStep, ...]
    ways: tuple[Way, ...]
    store: str
    stand: tuple[str, ...]
    dish: str
    beside: tuple[str, ...]  # things that nothing is done with
    content: tuple[str, str, str] | None  # substance, from, to

    @property
    def shelf(self) -> tuple[str, ...]:
        """What stands on the shelf."""
        return tuple(thing for thing in self.beside if thing not in self.stand)

    @property
    def objects(self) -> tuple[str, ...]:
        """Names of everything that is seen, in order of id."""
        ids = sorted({self.store, self.dish, *self.stand, *self.beside} - {""})
        return tuple(self.world.entities[i].name for i in ids)


def called(world: World, thing: str) -> str:
    """Return what a thing is called, with its article."""
    name = world.entities[thing].name
    return name if name[-1:].isdigit() else f"the {name}"


def make_cases(episodes: Sequence[Episode], count: int, seed: int = 0) -> list[RolloutCase]:
    """Return cases, taking turns among episodes and among kinds of goal.

    Args:
        episodes: compiled kitchens.
        count: at most so many; fewer where the kitchens have no more things for them.
        seed: of the choice of things.
    """
    made: list[RolloutCase] = []
    taken: set[tuple[str, str]] = set()
    for turn in range(4 * count):
        if len(made) == count or not episodes:
            break
        episode = episodes[turn % len(episodes)]
        chosen = random.Random(f"{seed}/{episode.id}/{turn}")
        template = TEMPLATES[(turn + turn // len(episodes)) % len(TEMPLATES)]
        case = _case(episode, template, chosen, f"R{len(made) + 1:02d}", len(made) % 3)
        if case is not None and (episode.id, case.goal) not in taken:
            taken.add((episode.id, case.goal))
            made.append(case)
    return made


TEMPLATES = (
    (Kind.OPEN, Kind.MOVE, Kind.CLOSE),
    (Kind.POUR, Kind.MOVE),
    (Kind.COVER, Kind.MOVE),
    (Kind.POUR, Kind.OPEN, Kind.MOVE),
    (Kind.POUR, Kind.COVER),
    (Kind.MOVE, Kind.OPEN),
)


def _case(
    episode: Episode, template: Sequence[Kind], chosen: random.Random, id_: str, clutter: int
) -> RolloutCase | None:
    world = episode.world
    counters = [f for f in world.zone_of if world.entities[f].type in ("counter", "table")]
    stores = [f for f in world.zone_of if world.entities[f].type in STORES]
    pairs = [(c, s) for c in sorted(counters) for s in sorted(stores) if world.zone_of[c] == world.zone_of[s]]
    if not pairs:
        return None
    counter, store = pairs[chosen.randrange(len(pairs))]
    zone = world.zone_of[counter]
    things = [e for e in world.things if has(world.entities[e].type, Trait.PORTABLE)]
    chosen.shuffle(things)

    def take(kinds: Sequence[str] | None, small: bool = False) -> str:
        for thing in things:
            kind = world.entities[thing].type
            if (kinds is None and kind not in COVERS and kind != "button") or (kinds is not None and kind in kinds):
                things.remove(thing)
                return thing
        return ""

    fixtures = [f for f in world.zone_of if world.entities[f].type in DISHES and world.zone_of[f] == zone]
    pour = Kind.POUR in template
    source, vessel = (take((*VESSELS, "bottle", "jar", "box", "can")) if pour else ""), ""
    if pour or Kind.COVER in template:
        vessel = take(VESSELS)
    cover = take(COVERS) if Kind.COVER in template else ""
    into_store = (
        Kind.MOVE in template and Kind.OPEN in template and template.index(Kind.OPEN) < template.index(Kind.MOVE)
    )
    dish = ""
    if Kind.MOVE in template and not into_store:
        dish = take(("plate", "board", "tray")) or (sorted(fixtures)[0] if fixtures else "")
    moved = take(None) if Kind.MOVE in template else ""
    beside = tuple(one for one in (take(None) for _ in range(1 + clutter)) if one)
    if (
        (pour and not source)
        or ((pour or Kind.COVER in template) and not vessel)
        or (Kind.COVER in template and not cover)
    ):
        return None
    if not beside or (Kind.MOVE in template and (not moved or not (dish or into_store))):
        return None
    stand = tuple(one for one in (moved, source, vessel, cover, beside[0]) if one)
    substance = next((e for e in sorted(world.substances) if world.entities[e].type in ("water", "milk", "oil")), "")
    if pour and not substance:
        substance = SUBSTANCE
        world = replace(
            world,
            entities={
                **world.entities,
                SUBSTANCE: replace(world.entities[source], id=SUBSTANCE, type="water", name="water"),
            },
            grounds={},
            looks={},
        )
    facts: dict[FactKey, Value] = {("at", AGENT): zone, ("openness", store): "closed"}
    facts |= {
        ("place", thing): ("on", counter)
        for thing in (*stand, *beside, *([dish] if dish not in world.zone_of and dish else []))
    }
    for thing in stand:
        if has(world.entities[thing].type, Trait.OPENABLE):
            facts[("openness", thing)] = "open"
    if pour:
        facts |= {("contains", source, substance): True, ("contains", vessel, substance): False}
    if vessel:
        facts[("covered", vessel)] = False
    state = State.of(facts)
    steps: list[RolloutStep] = []
    now = state
    for kind in template:
        made = _step(
            world, now, kind, counter, store, moved, store if into_store else dish, source, vessel, cover, substance
        )
        if made is None:
            return None
        steps.append(made[0])
        now = made[1]
    goal = "; ".join(one.done for one in steps if not _undone(one, steps)) + "."
    ways = tuple(Way(order, detour) for order in _orders(world, state, steps) for detour in Detour)
    return RolloutCase(
        id_,
        episode.id,
        goal[0].upper() + goal[1:],
        world,
        state,
        tuple(steps),
        ways,
        store,
        stand,
        dish,
        beside,
        (substance, source, vessel) if pour else None,
    )


def _undone(one: RolloutStep, steps: Sequence[RolloutStep]) -> bool:
    """Whether a later step undoes it: an outcome-oriented goal does not ask for it."""
    later = steps[steps.index(one) + 1 :]
    return any(key in dict(other.post) for other in later for key, _ in one.post)


def _orders(world: World, state: State, steps: Sequence[RolloutStep]) -> Iterator[tuple[int, ...]]:
    """Yield the orders that the executor accepts and that end where the goal wants."""
    wanted = {key: value for one in steps for key, value in one.post}
    for order in permutations(range(len(steps))):
        end, refused = execute(world, state, [steps[n] for n in order])
        if not refused and all(end.facts.get(key) == value for key, value in wanted.items()):
            yield order


def execute(world: World, state: State, steps: Sequence[RolloutStep]) -> tuple[State, list[Refusal]]:
    """Return the state after some steps, and every action that was refused on the way."""
    refused = []
    for one in steps:
        for action in one.actions:
            after = step(world, state, action)
            if isinstance(after, Refusal):
                refused.append(after)
            else:
                state = after
    return state, refused


def _step(
    world: World,
    state: State,
    kind: Kind,
    counter: str,
    store: str,
    moved: str,
    to: str,
    source: str,
    vessel: str,
    cover: str,
    substance: str,
) -> tuple[RolloutStep, State] | None:
    def the(thing: str) -> str:
        return called(world, thing)

    if kind in (Kind.OPEN, Kind.CLOSE):
        value = "open" if kind is Kind.OPEN else "closed"
        action = Action.of(f"{kind.value}_{world.entities[store].type}", {"object": store})
        made = RolloutStep(
            kind,
            store,
            "",
            f"{kind.value} {the(store)}",
            f"{the(store)} is {value}",
            (action,),
            ((("openness", store), value),),
        )
    elif kind is Kind.MOVE:
        how, put = _put(world, state, moved, to)
        actions = (Action.of("pick_up", {"object": moved}), *([put] if put else []))
        made = RolloutStep(
            kind,
            moved,
            to,
            f"put {the(moved)} {how} {the(to)}",
            f"{the(moved)} is {how} {the(to)}",
            actions,
            ((("place", moved), (how, to)),),
        )
        if put is None:
            return None
    elif kind is Kind.POUR:
        back = Action.of("put_on_worktop", {"object": source, "target": counter})
        pour = Action.of("pour_into", {"object": substance, "source": source, "target": vessel})
        made = RolloutStep(
            kind,
            source,
            vessel,
            f"pour {world.entities[substance].name} from {the(source)} into {the(vessel)}",
            f"{world.entities[substance].name} is in {the(vessel)}",
            (Action.of("pick_up", {"object": source}), pour, back),
            ((("contains", vessel, substance), True),),
        )
    else:
        verb = "put_lid_on" if world.entities[cover].type == "lid" else "cover_with"
        made = RolloutStep(
            kind,
            cover,
            vessel,
            f"cover {the(vessel)} with {the(cover)}",
            f"{the(vessel)} is covered",
            (Action.of("pick_up", {"object": cover}), Action.of(verb, {"object": cover, "target": vessel})),
            ((("covered", vessel), True),),
        )
    after, refused = execute(world, state, [made])
    if refused or any(after.facts.get(key) != value for key, value in made.post):
        return None
    return made, after


def _put(world: World, state: State, thing: str, target: str) -> tuple[str, Action | None]:
    """Return how a thing is put at a target, and the first action type that does it there."""
    held = step(world, state, Action.of("pick_up", {"object": thing}))
    how = (
        "in"
        if has(world.entities[target].type, Trait.STORAGE) and world.entities[target].type not in ("rack",)
        else "on"
    )
    if isinstance(held, Refusal):
        return how, None
    for type_ in BY_NAME.values():
        if type_.family in ("put_in", "put_on") and not type_.event_only:
            action = Action.of(type_.name, {"object": thing, "target": target})
            after = step(world, held, action)
            if not isinstance(after, Refusal) and after.facts.get(("place", thing)) == (how, target):
                return how, action
    return how, None
