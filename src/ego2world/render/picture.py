"""One region of a state as a picture: fixtures as boxes, what is visible in and on them as labelled shapes. Stage:
render."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping

from PIL import Image, ImageDraw, ImageFont

from ego2world.core.canonical import sha256
from ego2world.core.pictures import add_caption
from ego2world.ontology.kinds import Trait, has
from ego2world.world.observation import Seen

WIDTH_PX, COLUMNS, BOX_PX, MARGIN_PX = 768, 4, 176, 12
MOST = 12  # things drawn in one fixture
_PAPER, _INK, _BOX, _OPEN = (247, 245, 240), (40, 44, 48), (226, 222, 212), (205, 220, 232)


def draw_region(content: Mapping[str, Seen], title: str = "") -> bytes:
    """Return a PNG of what is visible in a region, with the same as caption (see core.pictures).

    Args:
        content: the visible things by id, fixtures included, as ``world.observe.visible`` gives them.
        title: a line at the top.
    """
    image = region_image(content, title)
    buffer = io.BytesIO()
    image.save(buffer, "PNG", optimize=False)
    shown = [{"id": t.id, "where": t.place[1], "how": t.place[0]} for t in content.values() if t.place is not None]
    return add_caption(buffer.getvalue(), json.dumps(shown, sort_keys=True, separators=(",", ":")))


def region_image(content: Mapping[str, Seen], title: str = "", mark: str = "") -> Image.Image:
    """Return the picture itself; ``mark`` names a thing to be drawn with a thick outline."""
    fixtures = [t for t in content.values() if has(t.type, Trait.FIXED)]
    rows = max(1, -(-len(fixtures) // COLUMNS))
    image = Image.new("RGB", (WIDTH_PX, 40 + rows * (BOX_PX + MARGIN_PX) + MARGIN_PX), _PAPER)
    pen = ImageDraw.Draw(image)
    font = ImageFont.load_default(13)
    pen.text((MARGIN_PX, 10), title[:90], fill=_INK, font=font)
    for number, fixture in enumerate(fixtures):
        left = MARGIN_PX + (number % COLUMNS) * (BOX_PX + MARGIN_PX)
        top = 40 + (number // COLUMNS) * (BOX_PX + MARGIN_PX)
        _fixture(pen, fixture, left, top, font, mark)
        inside = [t for t in content.values() if _root(content, t) == fixture.id and t.id != fixture.id]
        shown = inside if len(inside) <= MOST else inside[: MOST - 1]
        for place, thing in enumerate(shown):
            _thing(pen, thing, left + 8 + (place % 3) * 54, top + 26 + (place // 3) * 37, mark)
        if len(shown) < len(inside):
            pen.text(
                (left + 118, top + 142), f"+{len(inside) - len(shown)} more", fill=_INK, font=ImageFont.load_default(10)
            )
    return image


def _root(content: Mapping[str, Seen], thing: Seen) -> str:
    for _ in range(20):
        if thing.place is None or (above := content.get(thing.place[1])) is None:
            return thing.id
        thing = above
    return thing.id


def _fixture(
    pen: ImageDraw.ImageDraw,
    fixture: Seen,
    left: int,
    top: int,
    font: ImageFont.FreeTypeFont | ImageFont.ImageFont,
    mark: str,
) -> None:
    box = (left, top, left + BOX_PX, top + BOX_PX)
    state = ", ".join(s for s in (fixture.openness, fixture.power) if s)
    pen.rectangle(
        box, fill=_OPEN if fixture.openness == "open" else _BOX, outline=_INK, width=4 if fixture.id == mark else 2
    )
    if fixture.openness == "closed":
        pen.line((left, top + 22, left + BOX_PX, top + 22), fill=_INK, width=3)
    pen.text((left + 6, top + 4), f"{fixture.name}{f' ({state})' if state else ''}"[:26], fill=_INK, font=font)


def _thing(pen: ImageDraw.ImageDraw, thing: Seen, left: int, top: int, mark: str) -> None:
    code = int(sha256(thing.type.encode())[:6], 16)
    color = (110 + code % 120, 110 + (code >> 8) % 120, 110 + (code >> 16) % 120)
    box = (left, top, left + 46, top + 20)
    width = 3 if thing.id == mark else 1
    if has(thing.type, Trait.VESSEL):
        pen.rounded_rectangle(box, 8, fill=color, outline=_INK, width=width)
    elif has(thing.type, Trait.TOOL):
        pen.rectangle((left, top + 6, left + 46, top + 14), fill=color, outline=_INK, width=width)
    else:
        pen.ellipse(box, fill=color, outline=_INK, width=width)
    pen.text((left, top + 21), thing.name[:10], fill=_INK, font=ImageFont.load_default(10))
