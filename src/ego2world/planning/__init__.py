"""Tasks as planning problems in PDDL, and back: any planner's plan replays in the executor. Needs no planner itself."""

from ego2world.planning.export import export_tasks
from ego2world.planning.problem import PlanningProblem, make_problem, reference_plan
from ego2world.planning.text import DIALECTS, FEATURES, Dialect

__all__ = ["DIALECTS", "FEATURES", "Dialect", "PlanningProblem", "export_tasks", "make_problem", "reference_plan"]
