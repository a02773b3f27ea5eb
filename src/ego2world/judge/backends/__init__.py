"""Who answers gates, and who rates whole videos: a model, a file and baselines, behind two interfaces."""

from ego2world.judge.backends.base import GateJudge, ScoreJudge, VideoView
from ego2world.judge.backends.baselines import QuestionList, ScoreTable, SimpleVQA
from ego2world.judge.backends.file import FileAnswers
from ego2world.judge.backends.model import ModelJudge

__all__ = [
    "FileAnswers",
    "GateJudge",
    "ModelJudge",
    "QuestionList",
    "ScoreJudge",
    "ScoreTable",
    "SimpleVQA",
    "VideoView",
]
