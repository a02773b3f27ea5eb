"""Who answers gates, and who rates whole videos: a model, a file, a detector of pixels, and baselines, behind two interfaces."""

from ego2world.judge.backends.base import Gates, Look, Whole
from ego2world.judge.backends.baselines import QuestionList, ScoreTable, SimpleVQA
from ego2world.judge.backends.file import FileAnswers
from ego2world.judge.backends.model import ModelGates
from ego2world.judge.backends.vision import VisionGates

__all__ = [
    "FileAnswers",
    "Gates",
    "Look",
    "ModelGates",
    "QuestionList",
    "ScoreTable",
    "SimpleVQA",
    "VisionGates",
    "Whole",
]
