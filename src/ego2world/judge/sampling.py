"""Which frames a gate is shown, said beforehand and recorded with every answer. Stage: judge.

    T1, P1   the whole of what may concern the subgoal      T3   before, and what is there afterwards
    T2, P3   the interaction                                P4   from its end on
    P2       its onset

Until an answer says when the interaction is, it is the whole video. ``dense`` is the authors' first direction for a
stronger judge: four times the frames, and each with a neighbour a tenth of a second later, so that what happens
between frames is seen too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

BEFORE_S, AFTER_S, ONSET_S, REST_S, STEP_S = 1.0, 1.0, 0.6, 2.0, 0.1
MOST = 96


class Density(StrEnum):
    """How many frames."""

    SPARSE = "sparse"
    DENSE = "dense"
    ALL = "all"  # every tenth of a second


@dataclass(frozen=True)
class FrameSampling:
    """How frames are chosen: their number over a video, and what scale them."""

    frames: int = 8
    density: Density = Density.SPARSE
    pixels: int = 200_704

    def plain(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"frames": self.frames, "density": self.density.value, "pixels": self.pixels}

    def choose(self, gate: str, duration_s: float, span: tuple[float, float] | None) -> tuple[str, list[float]]:
        """Return how frames are chosen, in words, and their times.

        Args:
            gate: which one asks.
            duration_s: of the video.
            span: the interaction, where an answer has said when it is.
        """
        last = max(0.0, duration_s - 0.02)
        start, end = (0.0, last) if span is None else (max(0.0, span[0]), min(last, max(span)))
        parts = {
            "T1": (0.0, last),
            "T2": (start - 0.5, end + 0.5),
            "T3": (end, end + REST_S),
            "P1": (start - BEFORE_S, end + AFTER_S),
            "P2": (start - ONSET_S, start + ONSET_S) if span else (0.0, last),
            "P3": (start, end),
            "P4": (end, end + REST_S) if span else (start, last),
        }
        low, high = parts[gate]
        low, high = max(0.0, min(low, last)), max(0.0, min(high, last))
        times = self.spread(low, high)
        if gate in ("T3", "P4"):
            times = [0.0, *times, last] if gate == "T3" else [*times, last]
        most = None if self.density is Density.ALL else MOST
        return f"{self.density.value} {self.frames}: {low:.2f}-{high:.2f} s", _thin(times, most)

    def spread(self, low: float, high: float) -> list[float]:
        """Return times over a part of a video."""
        if self.density is Density.ALL:
            count = max(1, int((high - low) / STEP_S + 1e-6) + 1)
            return [low + n * STEP_S for n in range(count)]
        count = self.frames * (4 if self.density is Density.DENSE else 1)
        times = [low + (n + 0.5) * (high - low) / count for n in range(count)]
        return [t + d for t in times for d in (0.0, STEP_S)] if self.density is Density.DENSE else times


def _thin(times: Sequence[float], most: int | None) -> list[float]:
    kept = sorted({round(max(0.0, t), 3) for t in times})
    if most is None or len(kept) <= most:
        return kept
    return [kept[round(n * (len(kept) - 1) / (most - 1))] for n in range(most)]
