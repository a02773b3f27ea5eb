"""Scores to a table and a self-contained page."""

from ego2world.report.write import write_report

__all__ = ["write_report"]
