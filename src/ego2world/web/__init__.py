"""The web pages (extra "web")."""

from ego2world.web.live import live_app

__all__ = ["live_app"]
