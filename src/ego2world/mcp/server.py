"""An MCP server with which any MCP client plays a collection; its steps are recorded and scored as every planner's."""

from __future__ import annotations

from typing import Any

from mcp.server import MCPServer

from ego2world import __version__
from ego2world.agents.remote import Seat, act, finish, look
from ego2world.world.actions import FAMILIES

INSTRUCTIONS = f"""You act in a kitchen, group by group. Call observe to read the group's instruction and what you
see; act in it; call finish when its instruction is carried out, and the next group begins. You only see your zone
and into what is open: look shows all of your zone, recall tells what you remember of a thing. Actions are names of
families, such as pick_up, put_on, put_in, open, navigate, with roles object, source, target, instrument, content,
hand that name things by id or name. Families: {", ".join(FAMILIES)}."""


def mcp_server(seat: Seat) -> MCPServer:
    """Return a server whose tools act from a seat."""
    server = MCPServer("ego2world", instructions=INSTRUCTIONS, version=__version__)

    @server.tool(name="observe")
    def observe_tool() -> dict[str, Any]:
        """The group's instruction, your zone with its fixtures, what you hold, what changed here, what you know to be
        here."""
        return seat.observe()

    @server.tool(name="act")
    def act_tool(
        action: str,
        object: str | list[str] = "",
        source: str = "",
        target: str = "",
        instrument: str = "",
        content: str = "",
        hand: str = "",
    ) -> dict[str, Any]:
        """Try one action, such as action="put_on", object="mug 1", target="counter 2"; walk with action="navigate",
        target=ZONE.

        A refused action changes nothing; "last" says what it needed, and "repair" what would make it possible.
        """
        roles = {
            "object": object,
            "source": source,
            "target": target,
            "instrument": instrument,
            "content": content,
            "hand": hand,
        }
        return seat.take(act(action, {role: value for role, value in roles.items() if value}))

    @server.tool(name="look")
    def look_tool(seeking: str = "") -> dict[str, Any]:
        """Look at everything in your zone that can be seen, to find something; it counts as a visual query."""
        return seat.take(look(seeking))

    @server.tool(name="recall")
    def recall_tool(thing: str) -> dict[str, Any]:
        """What you remember of a thing: where it is, whether it is open or running, and how you know."""
        return seat.recall(thing)

    @server.tool(name="finish")
    def finish_tool() -> dict[str, Any]:
        """Say that the group's instruction is carried out; the next group begins."""
        return seat.take(finish())

    @server.tool(name="give_up")
    def give_up_tool() -> dict[str, Any]:
        """Give this group up as it stands; the next group begins."""
        return seat.take(finish())

    return server
