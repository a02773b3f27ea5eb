"""ego2world judge score, agree: answers to scores, and judges against people"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from rich.table import Table
from rich.text import Text

from ego2world.cli.common import names, out, print_json, progress
from ego2world.errors import UsageError
from ego2world.judge.agree import AgreementSettings, agree
from ego2world.judge.benchmark import read_benchmark
from ego2world.judge.report import write_report
from ego2world.judge.tally import score_run, write_scores

INDEPENDENT = typer.Option(False, help="Score every gate independently instead of stopping at the first failure.")
WITHOUT = typer.Option(None, help="Gates to remove, such as P1 or T1,P1; needs runs made with --all-gates.")
BYPASS = typer.Option(False, help="Count removed gates as passed instead of leaving them out of the denominator.")
TASK_LEVELS = typer.Option(None, help="Subgoal score by number of task gates passed; default 0,1/3,2/3,1.")
PHYSICS_LEVELS = typer.Option(None, help="Subgoal score by number of physics gates passed; default 0,1/4,1/2,3/4,1.")


def register(judge: typer.Typer) -> None:
    """Add the commands."""

    @judge.command("score")
    def score_command(
        bench: Path = typer.Argument(help="A benchmark."),
        run: Path = typer.Argument(help="A folder written by judge run."),
        independent: bool = INDEPENDENT,
        without: str | None = WITHOUT,
        bypass: bool = BYPASS,
        task_levels: str | None = TASK_LEVELS,
        physics_levels: str | None = PHYSICS_LEVELS,
        seed: int = typer.Option(0, help="Seed of the resampling."),
        as_json: bool = typer.Option(False, "--json", help="Print every video's scores as JSON."),
    ) -> None:
        """Score answers as T, P and S, by subgoal, video, model, case, domain, clutter, seed and subgoal category.

        Example: ego2world judge score bench runs/gpt-5-mini
        """
        policy = _policy(independent, without, bypass, task_levels, physics_levels)
        read = read_benchmark(bench)
        summary = write_scores(read, run, policy, seed)
        if as_json:
            rows = score_run(read, run, policy)
            print_json(
                {
                    "videos": {
                        r: {
                            s.video_id: {
                                "task": s.T,
                                "physics": s.P,
                                "final": s.S,
                                "status": s.status,
                                "reason": s.reason,
                            }
                            for s in scores
                        }
                        for r, scores in rows.items()
                    },
                    "summary": summary,
                }
            )
            return
        for rater, one in summary["raters"].items():
            _print(rater, one)
        out.print(f"scores.jsonl and scores.json are in {run}", markup=False, soft_wrap=True)

    @judge.command("agree")
    def agree_command(
        bench: Path = typer.Argument(help="A benchmark."),
        runs: list[Path] = typer.Argument(help="Runs of judges and of annotators (judge run --backend answers:FILE)."),
        out_dir: Path | None = typer.Option(
            None, "--out", help="Output folder for the report; without it, figures are only printed."
        ),
        reference: str = typer.Option(
            "human", help="Kind of rater to compare judges with: human, or oracle for drawn rollouts."
        ),
        min_raters: int = typer.Option(2, min=1, help="Minimum number of annotators for a consensus score."),
        seed: int = typer.Option(0, help="Seed of the resampling."),
        resamples: int = typer.Option(1000, min=100, help="Bootstrap resamples over cases."),
        independent: bool = INDEPENDENT,
        without: str | None = WITHOUT,
        bypass: bool = BYPASS,
        as_json: bool = typer.Option(False, "--json", help="Print as JSON."),
    ) -> None:
        """Compare judges with the annotators' consensus and annotators with each other, and analyse the scores.

        Example: ego2world judge agree bench runs/gpt-5-mini runs/annotators --out agreement
        """
        settings = AgreementSettings(
            reference, min_raters, seed, resamples, _policy(independent, without, bypass, None, None)
        )
        read = read_benchmark(bench)
        with progress("agreement") as update:
            found = agree(read, runs, settings, update)
            if out_dir is not None:
                write_report(read, found, out_dir)
        if as_json:
            print_json(found)
            return
        _print_agreement(found)
        if out_dir is not None:
            out.print(f"{out_dir}/index.html", markup=False, soft_wrap=True)


def _policy(independent: bool, without: str | None, bypass: bool, task: str | None, physics: str | None) -> Any:
    from ego2world.judge.policy import Policy, Removal

    return Policy(
        _levels(task, "--task-levels"),
        _levels(physics, "--physics-levels"),
        independent,
        names(without),
        Removal.BYPASS if bypass else Removal.REMOVE,
    )


def _levels(text: str | None, option: str) -> tuple[float, ...]:
    found = []
    for one in names(text):
        top, _, bottom = one.partition("/")
        try:
            found.append(float(top) / float(bottom or 1))
        except (ValueError, ZeroDivisionError):
            raise UsageError(f"{option} {text}: needed numbers from 0 to 1, such as 0,1/3,2/3,1") from None
    return tuple(found)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _print(rater: str, one: dict[str, Any]) -> None:
    table = Table(box=None, pad_edge=False, title=Text(rater), title_justify="left")
    for name in ("", "videos", "scored", "T", "P", "attempted", "S", "interval", "missing as 0"):
        table.add_column(name, justify="left" if not name else "right", no_wrap=True)
    rows = [("overall", one["overall"])]
    for view, label in (("by_origin", ""), ("by_domain", ""), ("by_clutter", "clutter "), ("by_seed", "seed ")):
        rows += [
            (f" {label if key != 'recorded' else ''}{key}".replace("_", " "), value) for key, value in one[view].items()
        ]
    for name, row in rows:
        interval = row["S_interval"]
        rate = "-" if row["attempt_rate"] is None else f"{100 * row['attempt_rate']:.0f} %"
        table.add_row(
            Text(name),
            str(row["videos"]),
            f"{row['scored']}{'' if row['complete'] else ' !'}",
            _number(row["T"]),
            _number(row["P"]),
            rate,
            _number(row["S"]),
            f"{interval['low']:.1f} to {interval['high']:.1f}" if interval else "-",
            _number(row["S_missing_as_0"]),
        )
    out.print(table)
    if one["by_subgoal_type"]:
        out.print(
            "subgoals: "
            + "; ".join(
                f"{k.replace('_', ' ')} {v['subgoals']}: T {_number(v['T'])}, P {_number(v['P'])}"
                for k, v in one["by_subgoal_type"].items()
            ),
            markup=False,
            soft_wrap=True,
        )
    if one["failures"]["by_type"]:
        out.print(
            "failures: " + ", ".join(f"{n} {k.replace('_', ' ')}" for k, n in one["failures"]["by_type"].items()),
            markup=False,
            soft_wrap=True,
        )
    if one["reasons"]:
        out.print(
            "without a score: " + ", ".join(f"{n} {k}" for k, n in one["reasons"].items()), markup=False, soft_wrap=True
        )


def _print_agreement(found: dict[str, Any]) -> None:
    panel = found["panel"]
    out.print(
        f"{panel['with_consensus']} of {panel['videos']} videos have a consensus of {', '.join(panel['references'])}",
        markup=False,
        soft_wrap=True,
    )
    table = Table(box=None, pad_edge=False)
    for name in ("judge", "axis", "pearson", "kendall", "ccc", "mae", "bias", "n", "models rho"):
        table.add_column(name, justify="left" if name in ("judge", "axis") else "right", no_wrap=True)
    for judge, rows in found["judges"].items():
        for axis in ("T", "P", "S"):
            one = rows[axis]
            values = [one[s]["value"] for s in ("pearson", "kendall", "ccc", "mae")]
            rho = rows["models"]["spearman"]["value"] if axis == "S" else None
            table.add_row(
                Text(judge),
                axis,
                *("undefined" if v is None else f"{v:.3f}" if n < 3 else f"{v:.1f}" for n, v in enumerate(values)),
                _number(one["bias"]),
                str(one["pearson"]["n"]),
                "" if axis != "S" else "undefined" if rho is None else f"{rho:.2f}",
            )
    out.print(table)
    for judge, rows in found["judges"].items():
        if rows["gates"]:
            total = {
                name: sum(one[name] for one in rows["gates"].values())
                for name in ("both_pass", "both_fail", "missed", "false_alarm")
            }
            planted = sum(one["planted"] for one in rows["planted"])
            out.print(
                f"{judge}: of gates that fail {total['missed']} of {total['missed'] + total['both_fail']} missed, of"
                f" those that hold {total['false_alarm']} of {total['false_alarm'] + total['both_pass']} failed"
                + (
                    f"; {sum(one['found'] for one in rows['planted'])} of {planted} planted faults found"
                    if planted
                    else ""
                ),
                markup=False,
                soft_wrap=True,
            )
    people = found["annotators"]
    if people:
        for axis in ("T", "P", "S"):
            icc, alpha = (
                people[axis]["icc"][found["settings"]["icc_form"]],
                people[axis]["alpha"][found["settings"]["alpha_level"]],
            )
            shown = ["undefined" if f["value"] is None else f"{f['value']:.3f}" for f in (icc, alpha)]
            out.print(
                f"annotators, {axis}: {found['settings']['icc_form']} {shown[0]}, alpha"
                f" ({found['settings']['alpha_level']}) {shown[1]} on {icc['n']} videos, {icc['dropped']} incomplete",
                soft_wrap=True,
            )
