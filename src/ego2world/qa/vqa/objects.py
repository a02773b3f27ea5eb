"""Rules on moves of objects, which questions point at by a box in a frame: found by the time of the frame. Stage: qa,
vqa."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from ego2world.qa.items import Item
from ego2world.qa.vqa.archive import Archive, Row, plain
from ego2world.qa.vqa.common import Holding, times_of

FRAME_S = 0.06  # an object is "seen" in the frame at a start or an end of one of its moves, give or take two frames
APART_S = 0.01  # another object this much nearer or less: either could be meant


def _moves(item: Item, archive: Archive) -> list[Row]:
    """Return the moves of the object that is seen at the question's time, none where two are picked up or put down as
    near to it."""
    times = times_of(item.question)
    tracks = archive.of(item.videos, "track")
    if not times or not tracks:
        return []
    away: dict[str, float] = {}
    for row in tracks:
        away[row.about] = min(away.get(row.about, math.inf), abs(row.start_s - times[0]), abs(row.end_s - times[0]))
    (nearest, distance_s), *others = sorted(away.items(), key=lambda pair: pair[1])
    if distance_s > FRAME_S or (others and others[0][1] - distance_s < APART_S):
        return []
    return [row for row in tracks if row.about == nearest]


def movement_counting(item: Item, archive: Archive) -> Holding:
    """How many moves the object makes."""
    moves = _moves(item, archive)
    return {letter: moves for letter, text in (item.options or {}).items() if moves and text.strip() == str(len(moves))}


def stationary(item: Item, archive: Archive) -> Holding:
    """The time that lies in no move, after the first has begun, and after which no move begins for the time asked."""
    moves = _moves(item, archive)
    limit = re.search(r"more than ([\d.]+) seconds", item.question)
    if not moves or limit is None:
        return {}
    out: Holding = {}
    for letter, text in (item.options or {}).items():
        times = times_of(text)
        if not times or times[0] < moves[0].start_s or any(row.start_s < times[0] < row.end_s for row in moves):
            continue
        following = [row.start_s for row in moves if row.start_s > times[0]]
        if not following or following[0] - times[0] > float(limit[1]):
            out[letter] = moves
    return out


def itinerary(item: Item, archive: Archive) -> Holding:
    """The option whose moves fit: as many, between fixtures of the same types, the same name where the fixture is the
    same.

    A move that ends at the fixture it began at is none. Where a fixture is not known, nothing can be told.
    """
    found = _moves(item, archive)
    if not found or any(None in row.fixtures for row in found):
        return {}
    moves = [row for row in found if row.fixtures[0] != row.fixtures[1]]
    out: Holding = {}
    for letter, text in (item.options or {}).items():
        legs = re.findall(r"from (.+?) to (.+?)(?:, then |$)", text)
        names = [name for leg in legs for name in leg]
        if moves and len(legs) == len(moves) and _consistent(names, [f for row in moves for f in row.fixtures]):
            out[letter] = moves
    return out


def _consistent(names: Sequence[str], fixtures: Sequence[str | None]) -> bool:
    """Whether spoken names can be those of fixtures: one name for one fixture, and its type the first word."""
    there: dict[str, str] = {}
    back: dict[str, str] = {}
    for name, fixture in zip(names, fixtures, strict=True):
        if fixture is None:
            continue
        kind = re.sub(r"^P\d+_|\.\d+$", "", fixture).replace("_", " ")
        first = plain(name).split()[0]
        if first not in plain(kind).split() and plain(kind).replace(" ", "") != first:
            return False
        if there.setdefault(name, fixture) != fixture or back.setdefault(fixture, name) != name:
            return False
    return True
