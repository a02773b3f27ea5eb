"""Other people's questions as items, one file per data set. Stage: qa, input."""

from ego2world.qa.importers.read import FORMATS, find_format, read_items

__all__ = ["FORMATS", "find_format", "read_items"]
