"""Records to scores: the metrics of docs/METRICS.md, from the records alone, and runs beside each other."""

from ego2world.evaluate.compare import compare_runs
from ego2world.evaluate.metrics import ENDPOINTS, JSON_FIELDS, METRICS, RESOURCES, score_run

__all__ = ["ENDPOINTS", "JSON_FIELDS", "METRICS", "RESOURCES", "compare_runs", "score_run"]
