"""The recipes of all categories, in the order of the taxonomy."""

from collections.abc import Callable, Iterator

from ego2world.qa.recipes import (
    action_effects,
    action_grounding,
    action_status,
    chain,
    ego_state,
    goal_planning,
    intents,
    loop,
    world_perception,
    world_state,
)
from ego2world.qa.recipes.base import DraftTurn, QuestionDraft, RecipeContext, at, between, sentence

RECIPES: tuple[Callable[[RecipeContext], Iterator[QuestionDraft]], ...] = (
    ego_state.draft,
    action_status.draft,
    world_state.draft,
    goal_planning.draft,
    intents.attribution,
    action_effects.draft,
    action_grounding.draft,
    intents.formation,
    world_perception.draft,
    chain.draft,
    loop.draft,
)

__all__ = ["RECIPES", "DraftTurn", "QuestionDraft", "RecipeContext", "at", "between", "sentence"]
