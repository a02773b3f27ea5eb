"""How answers become scores: the gates, what each step is worth, and what an ablation changes. Stage: judge,
declarations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from ego2world.core.canonical import canonical_json, sha256
from ego2world.errors import UsageError

TASK = ("T1", "T2", "T3")
PHYSICS = ("P1", "P2", "P3", "P4")
GATES = (*TASK, *PHYSICS)
QUESTIONS: Mapping[str, str] = {
    "T1": "action initiation",
    "T2": "coarse interaction process",
    "T3": "the state afterwards matches the outcome",
    "P1": "continuity of state and objects",
    "P2": "physically valid cause at the onset",
    "P3": "plausible contact during the interaction",
    "P4": "stability afterwards",
}


class Removal(StrEnum):
    """What a removed gate does: BYPASS counts it as passed, REMOVE takes it out of the chain and of the denominator."""

    BYPASS = "bypass"
    REMOVE = "remove"


@dataclass(frozen=True)
class Policy:
    """Everything that turns answers into scores; its hash stands in every output.

    task_levels, physics_levels: the score of a subgoal by how many gates of its chain it passes, 0 to 1; by default
    passed / all [D].
    independent: every gate counts by itself, instead of up to the first that fails.
    without: gates taken away; needs answers to every gate.
    removal: what becomes of them.
    digits: decimals of printed scores.
    """

    task_levels: tuple[float, ...] = ()
    physics_levels: tuple[float, ...] = ()
    independent: bool = False
    without: tuple[str, ...] = ()
    removal: Removal = Removal.REMOVE
    digits: int = 2
    _chains: dict[str, tuple[str, ...]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        unknown = [gate for gate in self.without if gate not in GATES]
        if unknown:
            raise UsageError(f"no gate {unknown[0]!r}; there are: {', '.join(GATES)}")
        for name, gates, levels in (("task", TASK, self.task_levels), ("physics", PHYSICS, self.physics_levels)):
            kept = gates if self.removal is Removal.BYPASS else tuple(g for g in gates if g not in self.without)
            if not kept:
                raise UsageError(f"all {name} gates are removed; one at least must stay")
            if levels and (
                len(levels) != len(kept) + 1
                or list(levels) != sorted(levels)
                or not (levels[0] == 0 and levels[-1] == 1)
            ):
                raise UsageError(
                    f"{name} levels {', '.join(map(str, levels))}: needed {len(kept) + 1} rising values from 0 to 1,"
                    f" for 0 to {len(kept)} gates passed"
                )
            self._chains[name] = kept

    @property
    def exhaustive(self) -> bool:
        """Whether answers to every gate are needed, those after a failure included."""
        return self.independent or bool(self.without)

    def chain(self, axis: str) -> tuple[str, ...]:
        """Return the gates of an axis, "task" or "physics", that count."""
        return self._chains[axis]

    def level(self, axis: str, passed: int) -> float:
        """Return the score, 0 to 1, of a subgoal that passed so many gates of an axis."""
        levels = self.task_levels if axis == "task" else self.physics_levels
        return levels[passed] if levels else passed / len(self._chains[axis])

    def plain(self) -> dict[str, Any]:
        """Return the JSON form."""
        row = asdict(self)
        del row["_chains"]
        return row | {"removal": self.removal.value}

    @property
    def sha256(self) -> str:
        """Hash of the policy."""
        return sha256(canonical_json(self.plain()))
