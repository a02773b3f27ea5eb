"""What can be asked: interaction structures, categories, modalities. Source: the paper's sections 3.1 and C.2."""

from __future__ import annotations

from enum import StrEnum


class Level(StrEnum):
    """The structure of the interaction that a question is about; not a scale of difficulty."""

    NODE = "Node"
    EDGE = "Edge"
    CHAIN = "Chain"
    LOOP = "Loop"


class Category(StrEnum):
    """What is asked for. Cross-loop is a subtype of Loop."""

    EGO_STATE = "Ego State"
    ACTION_STATUS = "Action Status"
    WORLD_STATE = "World State"
    GOAL_PLANNING = "Goal Planning"
    INTENT_ATTRIBUTION = "Intent Attribution"
    ACTION_EFFECTS = "Action Effects"
    ACTION_GROUNDING = "Action Grounding"
    INTENT_FORMATION = "Intent Formation"
    WORLD_PERCEPTION = "World Perception"
    CHAIN = "Chain"
    LOOP = "Loop"
    CROSS_LOOP = "Cross-loop"


LEVELS: dict[Category, Level] = {
    Category.EGO_STATE: Level.NODE,
    Category.ACTION_STATUS: Level.NODE,
    Category.WORLD_STATE: Level.NODE,
    Category.GOAL_PLANNING: Level.EDGE,
    Category.INTENT_ATTRIBUTION: Level.EDGE,
    Category.ACTION_EFFECTS: Level.EDGE,
    Category.ACTION_GROUNDING: Level.EDGE,
    Category.INTENT_FORMATION: Level.EDGE,
    Category.WORLD_PERCEPTION: Level.EDGE,
    Category.CHAIN: Level.CHAIN,
    Category.LOOP: Level.LOOP,
    Category.CROSS_LOOP: Level.LOOP,
}


class Modality(StrEnum):
    """What an answer needs, which is not what a clip has."""

    VISUAL = "visual"
    AUDIO = "audio"
    AUDIO_VISUAL = "audio-visual"


def modality_of(streams: set[str] | frozenset[str]) -> Modality:
    """Return the label of the streams that are needed ("visual", "audio")."""
    if streams >= {"visual", "audio"}:
        return Modality.AUDIO_VISUAL
    return Modality.AUDIO if "audio" in streams else Modality.VISUAL
