"""What a frame of a drawn rollout shows, from its pixels alone: colours to things, hand, door and contents. Stage:
judge, backends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from ego2world.rollouts import PALETTE
from ego2world.rollouts.draw import CONTENT, COUNTER, DARK, DOOR, HAND, HOLLOW, INSIDE, SLEEVE, WALL
from ego2world.rollouts.trace import DOOR_GONE, STORE

FAR = 90.0  # of a pixel from every colour: it is none of them
LEAST_PX, HAND_PX, DOOR_PX, PIECE_PX, NEAR_PIECES_PX = 20, 30, 60, 8, 9
DRAWN = (*PALETTE, HAND, DOOR, CONTENT, WALL, COUNTER, INSIDE, SLEEVE, DARK, HOLLOW)
HAND_N, DOOR_N, CONTENT_N = len(PALETTE), len(PALETTE) + 1, len(PALETTE) + 2


@cache
def _nearest() -> NDArray[np.int8]:
    """Return the drawn colour of every colour of 5 bits a channel, -1 where none is near."""
    axis = np.arange(32) * 8 + 4
    grid = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1).reshape(-1, 1, 3).astype(float)
    far = np.sqrt(((grid - np.array(DRAWN, float)) ** 2).sum(-1))
    best: NDArray[np.int8] = far.argmin(1).astype(np.int8)
    best[far.min(1) > FAR] = -1
    return best


@dataclass(frozen=True)
class Blob:
    """One thing in one frame, in pixels; ``pieces``: how many separate ones of its colour there are; ``content``: 0 to
    1."""

    x: float
    bottom: float
    width: float
    height: float
    area: int
    pieces: int
    content: float

    @property
    def grip(self) -> tuple[float, float]:
        """Where a hand holds it."""
        return (self.x + self.width / 2 + 3, self.bottom - self.height / 2)


@dataclass(frozen=True)
class SeenFrame:
    """What a frame shows."""

    time_s: float
    things: Mapping[str, Blob]
    hand: tuple[float, float] | None
    openness: float
    door_height: float
    door_grips: tuple[tuple[float, float], tuple[float, float]]  # at its free edge, as built and as hinged above


def see(picture: NDArray[np.uint8], time_s: float, colors: Mapping[str, int]) -> SeenFrame:
    """Return what a frame shows; shape (240, 320, 3)."""
    high = (picture >> 3).astype(np.int32)
    drawn = _nearest()[(high[..., 0] << 10) | (high[..., 1] << 5) | high[..., 2]]
    places = ndimage.find_objects(drawn.astype(np.int32) + 1)
    things: dict[str, Blob] = {}
    for name, color in colors.items():
        blob = _blob(drawn, places, color)
        if blob is not None:
            things[name] = blob
    hand = _blob(drawn, places, HAND_N, HAND_PX)
    door = _blob(drawn, places, DOOR_N, DOOR_PX, 40, 24, thick=True)
    left, top, right, bottom = STORE
    wide, tall = (door.width, door.height) if door else (0.0, float(bottom - top))
    openness = min(1.0, max(0.0, (1 - wide / (right - left)) / DOOR_GONE))
    short = 1 - tall / (bottom - top)
    grips = ((left + wide - 5, (top + bottom) / 2), ((left + right) / 2, top + tall - 6))
    return SeenFrame(
        time_s,
        things,
        (hand.x, hand.bottom - hand.height / 2) if hand else None,
        min(1.0, short / DOOR_GONE) if short > 0.12 and wide > 60 else openness,
        tall,
        grips,
    )


def _blob(
    drawn: NDArray[np.int8],
    places: list[Any],
    color: int,
    least: int = LEAST_PX,
    piece: int = PIECE_PX,
    near: int = NEAR_PIECES_PX,
    thick: bool = False,
) -> Blob | None:
    """Return what there is of a colour: the largest piece with those near it, which a hand or a window may have cut
    off.

    thick: lines are not of it, such as an outline that compression has coloured.
    """
    if color + 1 > len(places) or places[color] is None:
        return None
    rows, columns = places[color]
    there = drawn[rows, columns] == color
    pieces, count = ndimage.label(ndimage.binary_opening(there, np.ones((3, 3))) if thick else there)
    areas = ndimage.sum_labels(pieces > 0, pieces, np.arange(1, count + 1))
    boxes = [
        (
            int(areas[n]),
            rows.start + box[0].start,
            rows.start + box[0].stop,
            columns.start + box[1].start,
            columns.start + box[1].stop,
        )
        for n, box in enumerate(ndimage.find_objects(pieces))
        if areas[n] >= piece
    ]
    groups: list[tuple[int, int, int, int, int]] = []
    for one in sorted(boxes, reverse=True):
        area, top, bottom, left, right = one
        for number, (size, y0, y1, x0, x1) in enumerate(groups):
            if max(top - y1, y0 - bottom) <= near and max(left - x1, x0 - right) <= near:
                groups[number] = (size + area, min(y0, top), max(y1, bottom), min(x0, left), max(x1, right))
                break
        else:
            groups.append(one)
    groups = sorted((g for g in groups if g[0] >= least), reverse=True)
    if not groups:
        return None
    area, y0, y1, x0, x1 = groups[0]
    inner = drawn[y0 + 3 : y1 - 4, x0 + 6 : x1 - 6] == CONTENT_N  # a stream fills no row
    content = float((inner.mean(1) > 0.6).mean()) if inner.size else 0.0
    apart = sum(g[0] > 0.25 * area for g in groups)
    return Blob((x0 + x1) / 2, float(y1), float(x1 - x0), float(y1 - y0), area, apart, content)
