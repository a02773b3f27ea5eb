"""Rollouts of executable worlds as short clips whose truth is known: a hand does the steps of a goal, well or with planted faults.

cases (steps that the executor accepts) -> play (a trace of numbers) -> draw (a clip)  and  truth (answers to every gate)
"""

from ego2world.render.rollouts.cases import Detour, Kind, RolloutCase, Step, Way, execute, make_cases
from ego2world.render.rollouts.draw import PALETTE, draw_frame, draw_rollout
from ego2world.render.rollouts.faults import FAULTS, Expected, Fault
from ego2world.render.rollouts.play import Script, allowed, play, scene
from ego2world.render.rollouts.trace import Trace
from ego2world.render.rollouts.truth import Answer, answers, first_failures

__all__ = [
    "FAULTS",
    "PALETTE",
    "Answer",
    "Detour",
    "Expected",
    "Fault",
    "Kind",
    "RolloutCase",
    "Script",
    "Step",
    "Trace",
    "Way",
    "allowed",
    "answers",
    "draw_frame",
    "draw_rollout",
    "execute",
    "first_failures",
    "make_cases",
    "play",
    "scene",
]
