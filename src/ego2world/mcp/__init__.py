"""Agents from outside, over the Model Context Protocol (extra "mcp")."""

from ego2world.mcp.server import mcp_server

__all__ = ["mcp_server"]
