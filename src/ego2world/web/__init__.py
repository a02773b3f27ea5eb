"""The web pages: reports of runs that go on, and human review."""

from ego2world.web.live import live_app
from ego2world.web.review import review_app

__all__ = ["live_app", "review_app"]
