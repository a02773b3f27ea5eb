"""Inspect AI and this project, both ways (extra "llm"): suites as Inspect tasks, and runs as logs for its viewer.

Loaded by Inspect's entry point, so that ``inspect eval ego2world/suite -T worlds=WORLDS`` finds the task.
"""

from ego2world.inspect.log import write_inspect_log
from ego2world.inspect.task import suite

__all__ = ["suite", "write_inspect_log"]
