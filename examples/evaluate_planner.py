"""Evaluate a planner of your own under two memory policies, against the built-in ones.

python examples/evaluate_planner.py WORLDS OUT        WORLDS: a compiled collection, such as demo/worlds
"""

import sys
from pathlib import Path

import ego2world as e2w


class Tidy:
    """Closes whatever stands open in front of it, then says that it is done."""

    name = "tidy"

    def begin_group(self, context: e2w.Context) -> None:
        """Plan for one group of actions."""
        self.left = [fixture.id for fixture in context.local.fixtures if fixture.openness == "open"]

    def next_step(self, context: e2w.Context) -> e2w.Step:
        """Return the next action, a look, or that nothing is left to do."""
        return e2w.Act(e2w.Proposal("close", {"object": self.left.pop()})) if self.left else e2w.Done()


def make_tidy(given: e2w.PlannerContext) -> Tidy:
    """Make the planner for one episode."""
    return Tidy()


def main(worlds: str, out: str) -> None:
    """Run, compare, and write the report."""
    collection = e2w.open_worlds(worlds)
    print(collection)
    runs = [
        e2w.run_planner(collection, Path(out) / f"{name}-{memory}", planner, memory)
        for name, planner in (("tidy", make_tidy), ("symbolic", "symbolic"))
        for memory in ("persistent", "reset")
    ]
    for run in runs:
        metrics = run.score()["metrics"]
        print(
            f"{run}: conditions reached {100 * metrics['gcr']:.1f} %, valid actions"
            f" {100 * metrics['action_validity']:.1f} %"
        )
    e2w.write_report(runs, Path(out) / "report")
    print(f"report: {Path(out) / 'report' / 'index.html'}")


if __name__ == "__main__":
    main(*sys.argv[1:])
