"""Is every terminal-state task solvable? An independent planner proves it from the task's first state. Stage:
planning."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import as_completed
from pathlib import Path
from typing import Any

from ego2world.core.processes import process_pool
from ego2world.planning.solve import Outcome, replayed, solve
from ego2world.tasks.contract import TERMINAL, Contract
from ego2world.world.episode import load_episode, load_manifest, reference_states
from ego2world.world.explain import explain
from ego2world.world.fluents import Truth
from ego2world.world.refusal import Refusal

Progress = Callable[[str, int, int], None]
LIMIT_S = 60.0


def solve_tasks(
    worlds: Path, limit_s: float = LIMIT_S, jobs: int = 1, progress: Progress | None = None
) -> dict[str, Any]:
    """Let a planner solve every terminal-state task of a collection, and replay its plans in the executor.

    Args:
        worlds: a compiled collection.
        limit_s: wall-clock seconds for one search.
        jobs: processes; each takes whole episodes.
        progress: called with (episode, finished, total).

    Returns:
        tasks, solved, planner, and ``plans``: "episode/task" -> outcome, plan_steps, reference_steps, and the plan
        itself. A plan counts as solved only when the executor accepts every step and the contract is true at its end.
    """
    names = list(load_manifest(worlds)["episodes"])
    plans: dict[str, Any] = {}
    with process_pool(jobs) as pool:  # also for one: a planner needs a working directory of its own
        futures = {pool.submit(solve_episode, worlds, name, limit_s): name for name in names}
        for number, future in enumerate(as_completed(futures), 1):
            plans |= future.result()
            if progress:
                progress(futures[future], number, len(names))
    solved = sum(plan["outcome"] == Outcome.SOLVED for plan in plans.values())
    return {"tasks": len(plans), "solved": solved, "plans": dict(sorted(plans.items()))}


def solve_episode(worlds: Path, name: str, limit_s: float) -> dict[str, Any]:
    """Solve the terminal-state tasks of one episode; see ``solve_tasks``."""
    episode = load_episode(worlds, name)
    states = list(reference_states(episode))
    found = {}
    for task in episode.tasks:
        if task.tier != TERMINAL:
            continue
        first, last = episode.groups[task.first_group].first, episode.groups[task.last_group].last
        contract = Contract.of(task)
        solution = solve(episode.world, states[first], contract.conditions, limit_s)
        outcome: str = solution.outcome
        if solution.outcome is Outcome.SOLVED:
            end = replayed(episode.world, states[first], solution.plan)
            if isinstance(end, Refusal) or contract.holds(end) is not Truth.TRUE:
                outcome = (
                    "the executor disagrees with the plan:"
                    f" {explain(end) if isinstance(end, Refusal) else 'contract not true'}"
                )
        found[f"{name}/{task.id}"] = {
            "outcome": outcome,
            "plan_steps": len(solution.plan),
            "reference_steps": last - first + 1,
            "plan": [str(action) for action in solution.plan],
        }
    return found
