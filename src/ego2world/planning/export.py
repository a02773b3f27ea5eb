"""A collection's tasks as folders of PDDL, each with its plan from the reference and the names to go back by. Stage:
planning."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ego2world.core.canonical import pretty_json, write_atomic
from ego2world.planning.problem import PlanningProblem, make_problem, reference_plan
from ego2world.planning.scope import scope_of
from ego2world.planning.text import Dialect
from ego2world.tasks.contract import Contract
from ego2world.world.episode import Episode, TaskRecord, load_episode, load_manifest, reference_states
from ego2world.world.state import State

Progress = Callable[[str, int, int], None]


def task_problem(episode: Episode, task: TaskRecord, start: State, wide: bool = False) -> PlanningProblem:
    """Return the planning problem of a task from its first state; ``wide`` as in ``scope_of``."""
    conditions = Contract.of(task).conditions
    scope = scope_of(episode.world, start, conditions, wide)
    return make_problem(f"{episode.id}-{task.id}", episode.world, start, conditions, scope)


def task_reference(episode: Episode, task: TaskRecord, start: State) -> tuple[PlanningProblem, str]:
    """Return the problem that the task's reference is a plan for, and that plan."""
    first, last = episode.groups[task.first_group].first, episode.groups[task.last_group].last
    conditions = Contract.of(task).conditions
    return reference_plan(
        f"{episode.id}-{task.id}", episode.world, start, conditions, episode.actions[first : last + 1]
    )


def export_tasks(worlds: Path, out: Path, dialect: Dialect, progress: Progress | None = None) -> int:
    """Write every task of a collection: OUT/EPISODE/TASK/{domain,problem}.pddl and names.json, and in reference/ the
    same with plan.

    Returns:
        How many tasks were written.
    """
    names = list(load_manifest(worlds)["episodes"])
    written = 0
    for number, name in enumerate(names, 1):
        episode = load_episode(worlds, name)
        states = list(reference_states(episode))
        for task in episode.tasks:
            start = states[episode.groups[task.first_group].first]
            folder = out / episode.id / task.id
            _write(folder, task_problem(episode, task, start), dialect)
            problem, plan = task_reference(episode, task, start)
            _write(folder / "reference", problem, dialect)
            write_atomic(folder / "reference" / "reference.plan", plan.encode())
            written += 1
        if progress:
            progress(name, number, len(names))
    return written


def _write(folder: Path, problem: PlanningProblem, dialect: Dialect) -> None:
    write_atomic(folder / "domain.pddl", problem.domain_text(dialect).encode())
    write_atomic(folder / "problem.pddl", problem.problem_text(dialect).encode())
    write_atomic(folder / "names.json", pretty_json(dict(sorted(problem.domain.names.items()))))
