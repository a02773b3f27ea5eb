"""ego2world audit"""

from pathlib import Path
from typing import Any

import typer

from ego2world.cli.common import out, print_json, progress
from ego2world.tasks.audit import audit

AUDIT_FAILED = 9


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("audit")
    def audit_command(
        worlds: Path = typer.Argument(help="A compiled collection."),
        as_json: bool = typer.Option(False, "--json", help="Print all figures as JSON."),
    ) -> None:
        """Check replay, contracts, negative suites and stress cases; exit code 9 when anything fails.

        Example: ego2world audit worlds
        """
        with progress("auditing") as update:
            result = audit(worlds, update)
        print_json(result) if as_json else print_audit(result)
        if result["verdict"] != "pass":
            raise typer.Exit(AUDIT_FAILED)


def print_audit(result: dict[str, Any]) -> None:
    """Print the figures for a person."""
    stress, tasks = result["stress"], result["contracts"]
    out.print(f"operations replayed   {result['operations_accepted']}/{result['operations']}")
    out.print(
        f"contracts at the end  {result['reference_pass']}/{tasks} true   at the start {result['initial_pass']}/{tasks} true"
    )
    out.print(f"negative suites       {result['negative_rejected']}/{result['negative_suites']} rejected")
    for name in ("replay", "witness", "repeated_replay", "invalid_immutable"):
        out.print(f"{name.replace('_', ' '):<21} {stress[name]}/{tasks} pass")
    for name in ("initial", "partial", "wrong_binding", "missing_state"):
        out.print(f"{name.replace('_', ' '):<21} {stress[name]}/{tasks} rejected")
    out.print(f"independent swaps     {stress['swaps_agree']}/{stress['swaps_possible']} agree")
    for failure in result["failures"][:10]:
        out.print(f"failure: {failure}", soft_wrap=True, markup=False)
    out.print(f"verdict: {result['verdict']}")
