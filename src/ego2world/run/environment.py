"""The world as an agent meets it: names to ids, attempts, refusals in the agent's form, local observations, looks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ego2world.world.actions import BY_NAME, BY_SENSE, ActionType, choose
from ego2world.world.checks import Code, FailedCheck
from ego2world.world.episode import Episode, Group
from ego2world.world.observation import Failure, Feedback, GroupBrief, Hint, Local, Proposal, RegionView, Seen
from ego2world.world.observe import local, look, visible
from ego2world.world.repair import repair_plan
from ego2world.world.state import HANDS, Action, State, World
from ego2world.world.step import Refusal, step


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
        self._anchors: dict[str, dict[str, Seen]] = {}
        self._now: tuple[State, dict[str, Seen]] | None = None
        self._local: tuple[State, Local] | None = None
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
        named = [
            self.world.entities[e] for e, name, pattern in self._nameable
            if name in text and pattern.search(text)
        ]  # fmt: skip
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
        if self._local is None or self._local[0] is not self.state:
            seen = local(self.world, self.state, self._anchor(), self._visible(), self.episode.zone_names)
            self._local = (self.state, seen)
        return self._local[1]

    def look(self) -> RegionView:
        """Answer a visual query of the current zone."""
        return look(self.state.zone, self._anchor(), self._visible())

    def _visible(self) -> dict[str, Seen]:
        """Return what can be seen now in the current zone; worked out once a state."""
        if self._now is None or self._now[0] is not self.state:
            self._now = (self.state, visible(self.world, self.state, self.state.zone))
        return self._now[1]

    def _anchor(self) -> dict[str, Seen]:
        """Return what the recorded image of the current zone shows: its content in the initial state."""
        zone = self.state.zone
        if zone not in self._anchors:
            self._anchors[zone] = visible(self.world, self.episode.initial, zone)
        return self._anchors[zone]

    # acting -------------------------------------------------------------------------------------------------

    def attempt(self, proposal: Proposal) -> tuple[Attempt, Feedback]:
        """Try a proposal; a refused one leaves the state as it is."""
        action, failures = self._bind(proposal)
        if action is None:
            attempt = Attempt(proposal, None, False, failures, ())
            return attempt, Feedback(
                False, proposal, tuple(Failure(f.code.value, f.entity, f.needed) for f in failures)
            )
        result = step(self.world, self.state, action)
        bound = Proposal(action.name, dict(action.roles), proposal.by)
        if isinstance(result, State):
            self.state = result
            return Attempt(proposal, action, True, (), ()), Feedback(True, bound)
        plan = repair_plan(self.world, self.state, result) or ()
        shown = self._agent_form(result)
        hidden = any(failure.code == Code.NOT_VISIBLE.value for failure in shown)
        known = self._known()
        told = plan if not hidden and all(thing in known for a in plan for thing in a.things) else ()
        offered = tuple(Proposal(a.name, dict(a.roles), "repair") for a in told)
        return Attempt(proposal, action, False, result.failures, plan), Feedback(False, bound, shown, offered)

    def _known(self) -> set[str]:
        """Return what the agent may be told about: fixtures, zones, hands, what it sees, what it holds."""
        return {*self.world.zone_of, *self.world.zones, *HANDS, *self._visible(), *(t for _, t in self.state.held)}

    def _agent_form(self, refusal: Refusal) -> tuple[Failure, ...]:
        """Say what failed without saying what cannot be seen: a hidden thing is just not visible."""
        known = self._known()
        out = []
        for failure in refusal.failures:
            hidden = failure.entity in self.world.entities and failure.entity not in known and failure.code in {
                Code.ELSEWHERE, Code.CLOSED_AROUND, Code.UNKNOWN_PLACE, Code.NOT_HELD, Code.NOT_INSIDE, Code.WRONG_VALUE,
                Code.UNKNOWN_VALUE, Code.NOT_CONTAINED,
            }  # fmt: skip
            if hidden:
                out.append(Failure(Code.NOT_VISIBLE.value, failure.entity, f"{failure.entity} in view"))
            else:
                out.append(Failure(failure.code.value, failure.entity, failure.needed))
        return tuple(dict.fromkeys(out))  # several hidden reasons are one: their number would tell of the hidden world

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
        here = [*self._visible(), *(t for _, t in self.state.held)]
        fitting = sorted({i for i in here if wanted in self._class_names(i)})
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            return FailedCheck(Code.AMBIGUOUS, text, "one thing", "ambiguous: " + ", ".join(fitting))
        return FailedCheck(Code.UNKNOWN_OBJECT, text, "a known object", "no such object")

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
        if all((var := a.var(role)) is not None and kind in var.accepts for role, kind in kinds.items())
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
