"""Ego2Act: generated egocentric videos judged by gates, with evidence, and how far judges agree with people.

benchmark (cases, videos) -> plan (subgoals) -> run (an answer a gate) -> score (T, P, S) -> agree
"""
