"""Rollouts of executable worlds as short clips whose truth is known: a hand does the steps of a goal, well or with
planted faults.

cases (steps that the executor accepts) -> play (a trace of numbers) -> draw (a clip)  and  truth (answers to every
gate)
"""

from ego2world.rollouts.cases import Detour, Kind, RolloutCase, RolloutStep, Way, execute, make_cases
from ego2world.rollouts.draw import PALETTE, draw_frame, draw_rollout
from ego2world.rollouts.faults import FAULTS, Expected, Fault
from ego2world.rollouts.play import Script, allowed, play, scene
from ego2world.rollouts.trace import Trace
from ego2world.rollouts.truth import GateTruth, answers, first_failures

__all__ = [
    "FAULTS",
    "PALETTE",
    "Detour",
    "Expected",
    "Fault",
    "GateTruth",
    "Kind",
    "RolloutCase",
    "RolloutStep",
    "Script",
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
