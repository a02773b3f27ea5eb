"""HD-EPIC's official questions answered from the annotations alone."""

from ego2world.qa.vqa.archive import Archive, read_archive
from ego2world.qa.vqa.rules import RULES
from ego2world.qa.vqa.run import Answered, answer_all, tally

__all__ = ["RULES", "Answered", "Archive", "answer_all", "read_archive", "tally"]
