"""Compile annotated egocentric video into executable symbolic worlds, and evaluate agents, models and judges on them.

    import ego2world as e2w

    worlds = e2w.open_worlds("demo/worlds")
    episode = worlds["K01-20250301-080000"]
    after = e2w.step(episode.world, episode.initial, e2w.Action.of("open_cupboard", {"object": "cupboard_001"}))

Names are loaded when they are first used, so that the import itself takes no time.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ego2world.agents import Act, Belief, Context, Done, Look, Planner, PlannerContext, Step
    from ego2world.api import (
        Run,
        Worlds,
        build_questions,
        check_questions,
        compile_annotations,
        frame,
        judge_videos,
        make_env,
        open_worlds,
        run_planner,
        write_report,
    )
    from ego2world.errors import Ego2WorldError
    from ego2world.evaluate.metrics import score_run
    from ego2world.judge.policy import Policy
    from ego2world.qa.build import QuestionSettings
    from ego2world.run.environment import Environment
    from ego2world.tasks.contract import Contract
    from ego2world.world.conditions import AnyCondition, CountCondition, EventCondition, FactCondition
    from ego2world.world.episode import Episode
    from ego2world.world.explain import explain
    from ego2world.world.fluents import Truth
    from ego2world.world.observation import Feedback, Proposal
    from ego2world.world.refusal import FailedCheck, Refusal
    from ego2world.world.state import Action, Entity, State, World
    from ego2world.world.step import step

__version__ = "0.1.0"

_MODULES = {
    "ego2world.agents": ("Act", "Belief", "Context", "Done", "PlannerContext", "Look", "Planner", "Step"),
    "ego2world.api": (
        "Run",
        "Worlds",
        "build_questions",
        "check_questions",
        "compile_annotations",
        "frame",
        "judge_videos",
        "make_env",
        "open_worlds",
        "run_planner",
        "write_report",
    ),
    "ego2world.errors": ("Ego2WorldError",),
    "ego2world.evaluate.metrics": ("score_run",),
    "ego2world.judge.policy": ("Policy",),
    "ego2world.qa.build": ("QuestionSettings",),
    "ego2world.run.environment": ("Environment",),
    "ego2world.tasks.contract": ("Contract",),
    "ego2world.world.conditions": ("AnyCondition", "CountCondition", "EventCondition", "FactCondition"),
    "ego2world.world.episode": ("Episode",),
    "ego2world.world.explain": ("explain",),
    "ego2world.world.fluents": ("Truth",),
    "ego2world.world.observation": ("Feedback", "Proposal"),
    "ego2world.world.refusal": ("FailedCheck", "Refusal"),
    "ego2world.world.state": ("Action", "Entity", "State", "World"),
    "ego2world.world.step": ("step",),
}
_WHERE = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Act",
    "Action",
    "AnyCondition",
    "Belief",
    "Context",
    "Contract",
    "CountCondition",
    "Done",
    "Ego2WorldError",
    "Entity",
    "Environment",
    "Episode",
    "EventCondition",
    "FactCondition",
    "FailedCheck",
    "Feedback",
    "Look",
    "Planner",
    "PlannerContext",
    "Policy",
    "Proposal",
    "QuestionSettings",
    "Refusal",
    "Run",
    "State",
    "Step",
    "Truth",
    "World",
    "Worlds",
    "build_questions",
    "check_questions",
    "compile_annotations",
    "explain",
    "frame",
    "judge_videos",
    "make_env",
    "open_worlds",
    "run_planner",
    "score_run",
    "step",
    "write_report",
]


if not TYPE_CHECKING:  # to a type checker, a name that is not above is an error

    def __getattr__(name: str) -> Any:
        if name not in _WHERE:
            raise AttributeError(f"module 'ego2world' has no attribute {name!r}")
        return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
