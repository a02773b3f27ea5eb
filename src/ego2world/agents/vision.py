"""Visual queries to a model that sees: a picture of a region becomes an anchor, and the region's symbolic delta goes
over it."""

from __future__ import annotations

from ego2world.agents.base import Chat, Context, Decoding
from ego2world.agents.prompting import look_request
from ego2world.agents.replies import read_json
from ego2world.core.models import Image
from ego2world.world.observation import Hint, RegionView, Seen

MAX_THINGS = 200


def read_picture(
    chat: Chat, view: RegionView, seeking: str, context: Context, picture: Image, sampling: Decoding
) -> RegionView:
    """Ask what a picture shows and return the region with that as its anchor.

    Args:
        chat: the model.
        view: the region with its delta and without an anchor.
        seeking: the thing that is looked for.
        context: names the things and fixtures that the model may speak of; anything else it says is dropped and
            counted.
        picture: the region's recorded image.
        sampling: how the reply is drawn.
    """
    fixtures = {f.id: f for f in context.local.fixtures}
    things = {hint.id: hint for hint in context.brief.hints if hint.id not in fixtures}
    things |= {c.id: Hint(c.id, c.name, c.type) for c in context.local.delta if c.id not in fixtures}
    reply = chat.ask(look_request(seeking, things.values(), fixtures.values(), picture, sampling))
    said = read_json(reply.text)
    rows = said.get("things") if isinstance(said, dict) else None
    if not isinstance(rows, list):
        context.notes["look:unreadable"] += 1
        rows = []
    anchor: dict[str, Seen] = {}
    for row in rows[:MAX_THINGS]:
        thing = things.get(str(row.get("id"))) if isinstance(row, dict) else None
        where = str(row.get("where")) if isinstance(row, dict) else ""
        if thing is None or (where not in fixtures and where not in things) or where == thing.id:
            context.notes["look:dropped"] += 1
            continue
        anchor[thing.id] = Seen(thing.id, thing.name, thing.type, ("in" if row.get("how") == "in" else "on", where))
    return RegionView.of(view.zone, anchor.values(), view.delta)
