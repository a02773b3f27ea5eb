"""Records to scores: the metrics of docs/METRICS.md, from the records alone. Comparisons are in ``compare``."""

from ego2world.evaluate.metrics import JSON_FIELDS, METRICS, RESOURCES, TaskEndpoint, score_run

__all__ = ["JSON_FIELDS", "METRICS", "RESOURCES", "TaskEndpoint", "score_run"]
