"""Records to scores: the metrics of docs/METRICS.md, from the records alone. Comparisons are in ``compare``."""

from ego2world.evaluate.metrics import ENDPOINTS, JSON_FIELDS, METRICS, RESOURCES, score_run

__all__ = ["ENDPOINTS", "JSON_FIELDS", "METRICS", "RESOURCES", "score_run"]
