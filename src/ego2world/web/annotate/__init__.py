"""The annotation pages: a clip without a name, the subgoals of its plan, and a key for every gate."""

from ego2world.web.annotate.app import annotate_app

__all__ = ["annotate_app"]
