"""Records to scores: the metrics of docs/METRICS.md, from the records alone."""

from ego2world.evaluate.metrics import score_run

__all__ = ["score_run"]
