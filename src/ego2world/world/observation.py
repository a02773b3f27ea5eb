"""What an agent may be shown: plain values without any reference to the world's state. Stage: observation, types
only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ego2world.world.codes import Code


@dataclass(frozen=True)
class Seen:
    """A thing as seen: where (how, place) and, where visible, whether it is open or running."""

    id: str
    name: str
    type: str
    place: tuple[str, str] | None = None
    openness: str | None = None
    power: str | None = None


@dataclass(frozen=True)
class Change:
    """One entry of the symbolic delta of a region: one difference from its anchor image.

    ``now`` is None for an explicit removal: the thing is no longer there, and where it went is not said.
    """

    id: str
    name: str
    type: str
    fluent: str
    now: str | tuple[str, str] | None


@dataclass(frozen=True)
class Local:
    """What comes with every step for free: the zone, its fixtures, the agent's own hands and what they carry, and the
    region's delta. ``holding`` is in the hands themselves, ``carried`` in or on what they hold, and worn on them."""

    zone: str
    zone_name: str
    fixtures: tuple[Seen, ...]
    holding: tuple[tuple[str, Seen], ...]
    delta: tuple[Change, ...]
    carried: tuple[Seen, ...] = ()


@dataclass(frozen=True)
class RegionView:
    """The answer to a visual query: the region's recorded content and its delta, which wins where they disagree."""

    zone: str
    anchor: tuple[Seen, ...]
    delta: tuple[Change, ...]
    content: tuple[Seen, ...]

    @staticmethod
    def of(zone: str, anchor: Iterable[Seen], delta: tuple[Change, ...]) -> RegionView:
        """Build the answer from what an image was seen to show; where they disagree the delta wins."""
        shown = {thing.id: thing for thing in anchor}
        now = dict(shown)
        for change in delta:
            if change.fluent == "place" and change.now is None:
                now.pop(change.id, None)
            elif change.now is not None:
                base = now.get(change.id, Seen(change.id, change.name, change.type))
                now[change.id] = replace(base, **{change.fluent: change.now})  # type: ignore[arg-type]
        return RegionView(zone, tuple(shown.values()), delta, tuple(now[i] for i in sorted(now)))

    def conflict_about(self, thing: str) -> bool:
        """Say whether the image shows a thing somewhere that the delta contradicts."""
        return any(s.id == thing for s in self.anchor) and any(
            c.id == thing and c.fluent == "place" for c in self.delta
        )


@dataclass(frozen=True)
class Failure:
    """One failed check in the agent's form: its code and what was needed, nothing about what cannot be seen."""

    code: Code
    entity: str
    needed: str


@dataclass(frozen=True)
class Proposal:
    """An action that a planner proposes: a type's (or family's) name, and names or ids by role."""

    action: str
    roles: dict[str, str | tuple[str, ...]] = field(default_factory=dict)
    by: str = "planner"

    @staticmethod
    def of(row: Mapping[str, Any]) -> Proposal:
        """Read a proposal from a record: "action", "roles" with lists for several ids, and "by"."""
        roles = {role: tuple(value) if isinstance(value, list) else value for role, value in row["roles"].items()}
        return Proposal(row["action"], roles, row["by"])

    def ids(self, role: str) -> tuple[str, ...]:
        """Return what is bound to a role, none when it is unbound."""
        value = self.roles.get(role, ())
        return (value,) if isinstance(value, str) else tuple(value)


@dataclass(frozen=True)
class Feedback:
    """What the agent is told after an attempt."""

    accepted: bool
    proposal: Proposal
    failures: tuple[Failure, ...] = ()
    repair: tuple[Proposal, ...] = ()


@dataclass(frozen=True)
class Hint:
    """A thing that the group's instruction names: its id, name and type, without its place."""

    id: str
    name: str
    type: str


@dataclass(frozen=True)
class GroupBrief:
    """What an agent gets at the start of a group: the instruction, the things it names, and the kitchen's plan."""

    id: str
    instruction: str
    hints: tuple[Hint, ...]
    fixtures: tuple[tuple[Hint, str], ...]
    zones: tuple[tuple[str, str], ...]
