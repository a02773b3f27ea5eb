"""A frame of a trace as a picture. Stage: render.

Every thing has one of the palette's colours, and no two of a scene the same, so that a detector that knows the palette
can find it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from PIL import Image, ImageDraw

from ego2world.core.video import write_clip
from ego2world.rollouts.trace import COUNTER_Y, FPS, HEIGHT_PX, SHELF_Y, STORE, WIDTH_PX, Body, Frame, Trace

PALETTE = (
    (205, 35, 35),
    (30, 150, 60),
    (35, 75, 210),
    (235, 205, 20),
    (140, 45, 165),
    (25, 175, 195),
    (245, 130, 15),
    (240, 95, 185),
    (130, 220, 60),
    (100, 20, 50),
)
WALL, COUNTER, INSIDE, DOOR = (214, 210, 200), (150, 140, 130), (190, 184, 172), (120, 98, 66)
HAND, SLEEVE, DARK, CONTENT, HOLLOW = (226, 172, 138), (88, 98, 118), (34, 34, 38), (255, 255, 255), (92, 92, 96)
SCALE = 2  # drawn larger and scaled down, for smooth edges


def draw_rollout(trace: Trace, path: Path, dish: str, shelf: tuple[str, ...]) -> None:
    """Write a trace as an MP4; see ``draw_frame``."""

    def pictures() -> Iterator[Image.Image]:
        last, picture = None, None
        for frame in trace.frames:
            if picture is None or frame is not last:
                last, picture = frame, draw_frame(frame, dish, shelf)
            yield picture

    write_clip(pictures(), path, FPS)


def draw_frame(frame: Frame, dish: str = "", shelf: tuple[str, ...] = ()) -> Image.Image:
    """Return a 320 x 240 picture.

    Args:
        frame: what is shown.
        dish: the id of a body that others are put on, drawn behind them.
        shelf: ids of bodies that stand on the shelf.
    """
    image = Image.new("RGB", (WIDTH_PX * SCALE, HEIGHT_PX * SCALE), WALL)
    pen = ImageDraw.Draw(image)
    if shelf:
        _rectangle(pen, (118, SHELF_Y, 312, SHELF_Y + 4), COUNTER)
    _rectangle(pen, STORE, INSIDE, DARK)
    _rectangle(pen, (0, COUNTER_Y, WIDTH_PX, COUNTER_Y + 14), COUNTER)
    held = frame.grips
    inside = [b for i, b in frame.bodies.items() if b.x < STORE[2] and i != held]
    for body in inside:
        _body(image, pen, body)
    _rectangle(pen, frame.door.panel, DOOR, DARK)
    x, y = frame.door.handle
    _rectangle(pen, (x - 3, y - 9, x + 3, y + 9), DARK)
    hx, hy = frame.hand
    pen.line([(hx * SCALE, hy * SCALE), ((hx + 46) * SCALE, HEIGHT_PX * SCALE)], fill=SLEEVE, width=9 * SCALE)
    rest = [i for i in frame.bodies if i != held and frame.bodies[i] not in inside]
    for thing in sorted(rest, key=lambda i: i != dish):
        _body(image, pen, frame.bodies[thing])
    if frame.stream is not None:
        source, target = (frame.bodies[i] for i in frame.stream)
        lip = (source.x - source.height * math.sin(math.radians(source.tilt_deg)) - 4, source.y - source.height / 2)
        _rectangle(pen, (target.x - 2, min(lip[1], target.y - 8), target.x + 2, target.y - 6), CONTENT)
    if held in frame.bodies:
        _body(image, pen, frame.bodies[held])
    radius = 8
    pen.ellipse(
        [(hx - radius) * SCALE, (hy - radius) * SCALE, (hx + radius) * SCALE, (hy + radius) * SCALE],
        fill=HAND,
        outline=DARK,
        width=SCALE,
    )
    return image.reduce(SCALE)


def _rectangle(
    pen: ImageDraw.ImageDraw,
    box: tuple[float, float, float, float],
    fill: tuple[int, int, int],
    line: tuple[int, int, int] | None = None,
) -> None:
    left, top, right, bottom = box
    if right - left < 1 or bottom - top < 1:
        return
    pen.rectangle([left * SCALE, top * SCALE, right * SCALE, bottom * SCALE], fill=fill, outline=line, width=SCALE)


def _body(image: Image.Image, pen: ImageDraw.ImageDraw, body: Body) -> None:
    if not body.seen:
        return
    for x, y in ((body.x, body.y), *body.copies):
        _one(pen, body, x, y)


def _one(pen: ImageDraw.ImageDraw, body: Body, x: float, y: float) -> None:
    w, h, color = body.width, body.height, PALETTE[body.color]
    turn = math.radians(body.tilt_deg)

    def at(dx: float, dy: float) -> tuple[float, float]:
        """Return a place of the thing, from the middle of it, turned and bent."""
        dx += body.skew * (0.5 - dy / h) if h else 0
        across, down = dx * math.cos(turn) + dy * math.sin(turn), -dx * math.sin(turn) + dy * math.cos(turn)
        return ((x + across) * SCALE, (y - h / 2 + down) * SCALE)

    handle = -w / 2 - 3 + body.part_dx
    if body.look != "flat":
        pen.polygon([at(handle - 3, -5), at(handle + 3, -5), at(handle + 3, 5), at(handle - 3, 5)], fill=DARK)
    if body.look == "round":
        points = [at(w / 2 * math.cos(a * math.pi / 12), h / 2 * math.sin(a * math.pi / 12)) for a in range(24)]
    elif body.look == "vessel":
        points = [at(-w / 2, -h / 2), at(w / 2, -h / 2), at(w / 2 - 3, h / 2), at(-w / 2 + 3, h / 2)]
    else:
        points = [at(-w / 2, -h / 2), at(w / 2, -h / 2), at(w / 2, h / 2), at(-w / 2, h / 2)]
    pen.polygon(points, fill=color)
    if body.level is not None:
        inner, low, high = w / 2 - 5, h / 2 - 4, -h / 2 + 3
        pen.polygon([at(-inner, high), at(inner, high), at(inner, low), at(-inner, low)], fill=HOLLOW)
        if body.level > 0.02:
            top = low + (high - low) * body.level
            pen.polygon([at(-inner, top), at(inner, top), at(inner, low), at(-inner, low)], fill=CONTENT)
    elif body.look == "flat" and h <= 10:
        pen.polygon([at(-3, -h / 2 - 4), at(3, -h / 2 - 4), at(3, -h / 2), at(-3, -h / 2)], fill=DARK)
