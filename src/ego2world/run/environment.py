"""The world as an agent meets it: names to ids, attempts, refusals in the agent's form, local observations, looks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ego2world.world.actions import BY_NAME, BY_SENSE, ActionType, choose
from ego2world.world.codes import Code
from ego2world.world.episode import Episode, Group
from ego2world.world.explain import needed
from ego2world.world.observation import Failure, Feedback, GroupBrief, Hint, Local, Proposal, RegionView
from ego2world.world.observe import Viewer
from ego2world.world.refusal import FailedCheck, Refusal
from ego2world.world.repair import repair_plan
from ego2world.world.state import HANDS, Action, State, World
from ego2world.world.step import step

_OF_THE_WORLD = frozenset(
    {
        Code.ELSEWHERE,
        Code.CLOSED_AROUND,
        Code.UNKNOWN_PLACE,
        Code.NOT_HELD,
        Code.NOT_INSIDE,
        Code.WRONG_VALUE,
        Code.UNKNOWN_VALUE,
        Code.NOT_CONTAINED,
    }
)


@dataclass(frozen=True)
class Attempt:
    """One attempt: what was proposed, what it came to mean, and the full result for the trace."""

    proposal: Proposal
    action: Action | None
    accepted: bool
    failures: tuple[FailedCheck, ...]
    repair: tuple[Action, ...]


class Environment:
    """One episode being acted in. The state changes only through ``attempt``."""

    def __init__(self, episode: Episode) -> None:
        self.episode = episode
        self.world = episode.world
        self.state: State = episode.initial
        self._viewer = Viewer(episode.world, episode.initial, episode.zone_names)
        self._ids = _names(episode.world)
        self._nameable = [
            (e.id, e.name.lower(), re.compile(rf"(?<![\w-]){re.escape(e.name.lower())}(?![\w-])"))
            for e in episode.world.entities.values()
            if e.type not in {"hand", "agent", "zone"}
        ]

    # observation --------------------------------------------------------------------------------------------

    def brief(self, group: Group) -> GroupBrief:
        """Return what an agent is told at the start of a group."""
        text = group.instruction.lower()
        named = [self.world.entities[e] for e, name, pattern in self._nameable if name in text and pattern.search(text)]
        fixtures = tuple(
            (Hint(f, self.world.entities[f].name, self.world.entities[f].type), self.world.zone_of[f])
            for f in sorted(self.world.zone_of)
        )
        zones = tuple((zone, self.episode.zone_names[zone]) for zone in self.world.zones)
        return GroupBrief(
            group.id, group.instruction, tuple(Hint(e.id, e.name, e.type) for e in named), fixtures, zones
        )

    def local(self) -> Local:
        """Return the free local observation."""
        return self._viewer.local(self.state)

    def look(self) -> RegionView:
        """Answer a visual query of the current zone."""
        return self._viewer.look(self.state)

    # acting -------------------------------------------------------------------------------------------------

    def attempt(self, proposal: Proposal) -> tuple[Attempt, Feedback]:
        """Try a proposal; a refused one leaves the state as it is."""
        action, failures = self._bind(proposal)
        if action is None:
            attempt = Attempt(proposal, None, False, failures, ())
            return attempt, Feedback(False, proposal, tuple(Failure(f.code, f.entity, needed(f)) for f in failures))
        result = step(self.world, self.state, action)
        bound = Proposal(action.name, dict(action.roles), proposal.by)
        if isinstance(result, State):
            self.state = result
            return Attempt(proposal, action, True, (), ()), Feedback(True, bound)
        plan = repair_plan(self.world, self.state, result) or ()
        attempt = Attempt(proposal, action, False, result.failures, plan)
        return attempt, Feedback(False, bound, self._agent_form(result), self._offer(result, plan))

    def _in_view(self) -> set[str]:
        """Return what the agent has before its eyes: fixtures of this zone, what it sees, what it holds and carries."""
        return {*HANDS, *self._viewer.visible(self.state), *self._viewer.carried(self.state)}

    def _agent_form(self, refusal: Refusal) -> tuple[Failure, ...]:
        """Say what failed without saying what cannot be seen.

        A thing that is not in view is just not visible. A fixture of another zone is elsewhere, and nothing more is
        said of it.
        """
        seen = self._in_view()
        out = []
        for failure in refusal.failures:
            thing = failure.entity
            if failure.code not in _OF_THE_WORLD or thing not in self.world.entities or thing in seen:
                out.append(Failure(failure.code, thing, needed(failure)))
            elif thing not in self.world.zone_of:
                hidden = FailedCheck(Code.NOT_VISIBLE, thing)
                out.append(Failure(hidden.code, thing, needed(hidden)))
            elif failure.code is Code.ELSEWHERE:
                out.append(Failure(failure.code, thing, needed(failure)))
        return tuple(dict.fromkeys(out))  # several hidden reasons are one: their number would tell of the hidden world

    def _offer(self, refusal: Refusal, plan: tuple[Action, ...]) -> tuple[Proposal, ...]:
        """Return what of a repair plan may be told: all of it where everything that failed is in view; else to walk
        there."""
        seen = self._in_view()
        away = [
            f.entity
            for f in refusal.failures
            if f.code in _OF_THE_WORLD and f.entity in self.world.entities and f.entity not in seen
        ]
        if any(thing not in self.world.zone_of for thing in away):
            return ()
        if away:
            return (Proposal("navigate", {"target": self.world.zone_of[away[0]]}, "repair"),)
        known = {*seen, *self.world.zone_of, *self.world.zones}
        if any(thing not in known for action in plan for thing in action.things):
            return ()
        return tuple(Proposal(a.name, dict(a.roles), "repair") for a in plan)

    def _bind(self, proposal: Proposal) -> tuple[Action | None, tuple[FailedCheck, ...]]:
        """Turn names into ids and a family into a type; nothing else of the proposal is changed."""
        roles: dict[str, str | tuple[str, ...]] = {}
        failures: list[FailedCheck] = []
        for role, value in proposal.roles.items():
            ids = []
            for text in (value,) if isinstance(value, str) else value:
                found = self.resolve(text)
                if isinstance(found, FailedCheck):
                    failures.append(found)
                else:
                    ids.append(found)
            if ids:
                roles[role] = ids[0] if isinstance(value, str) else tuple(ids)
        if failures:
            return None, tuple(failures)
        name = proposal.action
        if name not in BY_NAME:
            kinds = {r: self.world.entities[v if isinstance(v, str) else v[0]].type for r, v in roles.items()}
            families = ("put_in", "put_on") if name == "put_in_or_on" else (name,)
            kind = next((k for f in families if (k := choose(f, kinds))), None) or _nearest(families[0], kinds)
            if kind is not None:
                name = kind.name
        return Action.of(name, roles), ()

    def resolve(self, text: str) -> str | FailedCheck:
        """Return the id that a text names: an id, a full name, or a class name that fits one visible thing only."""
        if text in self.world.entities:
            return text
        wanted = " ".join(text.lower().replace("_", " ").split())
        if wanted in self._ids:
            return self._ids[wanted]
        here = [*self._viewer.visible(self.state), *self._viewer.carried(self.state)]
        fitting = sorted({i for i in here if wanted in self._class_names(i)})
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            return FailedCheck(Code.AMBIGUOUS, text, found=tuple(fitting))
        return FailedCheck(Code.UNKNOWN_OBJECT, text)

    def _class_names(self, identifier: str) -> Iterable[str]:
        entity = self.world.entities[identifier]
        base = re.sub(r"\s*\d+$", "", entity.name.lower())
        return {base, entity.type.replace("_", " "), re.sub(r"(_\d+)+$", "", identifier).replace("_", " ")}


def _nearest(name: str, kinds: Mapping[str, str]) -> ActionType | None:
    """Return the type of a family or sense that lacks the fewest roles, so that a refusal can say what is missing."""
    listed = BY_SENSE.get(name) or tuple(a for a in BY_NAME.values() if a.family == name)
    fitting = [
        a
        for a in listed
        if all((var := a.parameter(role)) is not None and kind in var.accepts for role, kind in kinds.items())
    ]
    lacking = [sum(not v.optional and v.role != "hand" and v.role not in kinds for v in a.roles) for a in fitting]
    return fitting[lacking.index(min(lacking))] if fitting else None


def _names(world: World) -> dict[str, str]:
    """Return every name that only one entity has, its other surface forms included, as name -> id."""
    owners: dict[str, set[str]] = {}
    for entity in world.entities.values():
        for name in entity.names:
            owners.setdefault(name.lower(), set()).add(entity.id)
    found = {name: next(iter(ids)) for name, ids in owners.items() if len(ids) == 1}
    return found | {entity.name.lower(): entity.id for entity in world.entities.values()}
