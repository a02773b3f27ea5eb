"""The review pages: a clip with its question, answer and evidence, and what a reviewer decides of it."""

from ego2world.web.review.app import review_app

__all__ = ["review_app"]
