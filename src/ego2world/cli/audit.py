"""ego2world audit"""

from pathlib import Path
from typing import Any

import typer

from ego2world.cli.common import AUDIT_FAILED, out, print_json, progress
from ego2world.tasks.audit import audit


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("audit")
    def audit_command(
        worlds: Path = typer.Argument(help="A compiled collection."),
        solve: bool = typer.Option(
            False,
            "--solve",
            help="Also solve every terminal-state task with an off-the-shelf planner (extra: planning).",
        ),
        limit_s: float = typer.Option(60.0, min=1, help="Time limit per search in seconds, for --solve."),
        jobs: int = typer.Option(1, min=1, help="Worker processes for --solve."),
        as_json: bool = typer.Option(False, "--json", help="Print all figures as JSON."),
    ) -> None:
        """Check replay, contracts, negative suites and stress cases; exit code 9 when anything fails.

        Example: ego2world audit worlds --solve --jobs 2
        """
        with progress("auditing") as update:
            result = audit(worlds, update)
        if solve:
            from ego2world.planning.audit import solve_tasks  # an optional dependency's single entry

            with progress("solving") as update:
                result["solve"] = solve_tasks(worlds, limit_s, jobs, update)
            if result["solve"]["solved"] < result["solve"]["tasks"]:
                result["verdict"] = "fail"
        print_json(result) if as_json else print_audit(result)
        if result["verdict"] != "pass":
            raise typer.Exit(AUDIT_FAILED)


def print_audit(result: dict[str, Any]) -> None:
    """Print the figures for a person."""
    stress, tasks = result["stress"], result["contracts"]
    out.print(f"operations replayed   {result['operations_accepted']}/{result['operations']}")
    out.print(
        f"contracts at the end  {result['reference_pass']}/{tasks} true   at the start {result['initial_pass']}/{tasks}"
        " true"
    )
    out.print(f"negative suites       {result['negative_rejected']}/{result['negative_suites']} rejected")
    for name in ("replay", "witness", "repeated_replay", "invalid_immutable"):
        out.print(f"{name.replace('_', ' '):<21} {stress[name]}/{tasks} pass")
    for name in ("initial", "partial", "wrong_binding", "missing_state"):
        out.print(f"{name.replace('_', ' '):<21} {stress[name]}/{tasks} rejected")
    out.print(f"independent swaps     {stress['swaps_agree']}/{stress['swaps_possible']} agree")
    print_truth(result["truth"])
    if "solve" in result:
        print_solved(result["solve"])
    for failure in result["failures"][:10]:
        out.print(f"failure: {failure}", soft_wrap=True, markup=False)
    out.print(f"verdict: {result['verdict']}")


def print_truth(truth: dict[str, Any]) -> None:
    """Print how far the worlds may be trusted."""

    def share(value: float | None) -> str:
        return "-" if value is None else f"{value:.1%}"

    out.print(f"three things or more held {share(truth['held_3_share'])} of states", end="; ")
    out.print(f"held idle for over 20 s {share(truth['idle_hold_share'])} of holds")
    out.print(f"goal conditions one action away {share(truth['one_action_share'])}")
    for kind, row in truth["hidden"].items():
        bounds = "" if row["low"] is None else f" (95 %: {share(row['low'])} to {share(row['high'])})"
        out.print(f"hidden {kind:<7} predicted {row['agree']}/{row['of']} = {share(row['share'])}{bounds}")
    worst = ", ".join(f"{episode} {share(value)}" for episode, value in truth["least_trusted"][:3])
    if worst:
        out.print(f"least trusted         {worst}", soft_wrap=True)


def print_solved(solved: dict[str, Any]) -> None:
    """Print what the planner found, beside the length of the reference."""
    plans = list(solved["plans"].items())
    out.print(f"solved by a planner   {solved['solved']}/{solved['tasks']} terminal-state tasks, each plan replayed")
    found = [plan for _, plan in plans if plan["outcome"] == "solved"]
    if found:
        steps, reference = (sorted(plan[key] for plan in found) for key in ("plan_steps", "reference_steps"))
        out.print(
            f"steps of a plan       {steps[len(steps) // 2]} in the median, {steps[-1]} at most; "
            f"reference {reference[len(reference) // 2]} and {reference[-1]}"
        )
    for name, plan in plans:
        if plan["outcome"] != "solved":
            out.print(f"not solved: {name}: {plan['outcome']}", soft_wrap=True, markup=False)
