"""ego2world judge plan, run: subgoals, and answers to gates"""

from __future__ import annotations

from contextlib import ExitStack, closing
from pathlib import Path

import typer

from ego2world.cli.common import ACCEPT_CODE, INCOMPLETE, err, out, print_json, progress
from ego2world.cli.models import MODEL_HELP, SERVICE, ModelOptions, model_options
from ego2world.errors import UsageError
from ego2world.judge.backends.open import BACKENDS, open_backends
from ego2world.judge.benchmark import read_benchmark
from ego2world.judge.controls import try_out
from ego2world.judge.planning import SubgoalPlanner, make_plans, mock_plan, read_plans, stability
from ego2world.judge.run import JudgeSettings
from ego2world.judge.run import judge as judge_all
from ego2world.judge.sampling import Density, FrameSampling


def register(judge: typer.Typer) -> None:
    """Add the commands."""

    @judge.command("plan")
    @model_options
    def plan_command(
        bench: Path = typer.Argument(help="A benchmark."),
        out_file: Path = typer.Option(
            ..., "--out", help="Output file for the plans; existing plans made with the same settings are kept."
        ),
        model: str | None = typer.Option(
            None, help="Model that plans; without one, the clauses of the goal become the subgoals. " + MODEL_HELP
        ),
        per_video: bool = typer.Option(False, help="One plan per video, as in the paper, instead of one per case."),
        concurrency: int = typer.Option(4, min=1, help="Plans in parallel."),
        service: ModelOptions = SERVICE,
        as_json: bool = typer.Option(False, "--json", help="Print the stability of the plans as JSON."),
    ) -> None:
        """Derive subgoals for every case from its goal and initial scene only, and measure their stability.

        Example: ego2world judge plan bench --model openai/gpt-5-mini --per-video --out plans.jsonl
        """
        read = read_benchmark(bench)
        with ExitStack() as stack:
            client = None
            if model is not None:
                client = stack.enter_context(closing(service.connector(model, mock_plan, concurrency)()))
            update = stack.enter_context(progress("plans"))
            plans = make_plans(read, out_file, SubgoalPlanner(client, per_video, concurrency=concurrency), update)
        found = stability(plans)
        failed = [plan for plan in plans if plan.error]
        if as_json:
            print_json(found | {"errors": {plan.plan_id: plan.error for plan in failed}})
        else:
            count = sum(len(plan.subgoals) for plan in plans)
            out.print(
                f"{len(plans)} plans, {count} subgoals, {len(failed)} without  ({out_file})",
                markup=False,
                soft_wrap=True,
            )
            if found["pairs"]:
                out.print(
                    f"of {found['pairs']} pairs of plans of one case {100 * found['same_count']:.0f} % have as many"
                    f" subgoals, and name {100 * found['same_objects']:.0f} % of their objects in common;"
                    f" {100 * found['usual_count']:.0f} % of plans have their case's usual count"
                )
            for plan in failed[:10]:
                err.print(f"{plan.plan_id}: {plan.error}", markup=False, soft_wrap=True)
        if failed:
            err.print("Re-run the same command to ask for them again.")
            raise typer.Exit(INCOMPLETE)

    @judge.command("run")
    @model_options
    def run_command(
        bench: Path = typer.Argument(help="A benchmark."),
        out_dir: Path = typer.Option(..., "--out", help="Run folder; an unfinished run in it is resumed."),
        backend: str = typer.Option("model", help=BACKENDS),
        model: str | None = typer.Option(None, help=MODEL_HELP),
        plans: Path | None = typer.Option(
            None, help="Plans written by judge plan; default: plans.jsonl in the benchmark."
        ),
        rater: str | None = typer.Option(None, help="Use only this rater of an answers file."),
        all_gates: bool = typer.Option(
            False, help="Ask every gate, even after a failure (needed for independent scoring and for removing gates)."
        ),
        frames: int = typer.Option(8, min=1, help="Number of frames shown per gate."),
        sampling: str = typer.Option(
            "sparse", help="sparse; dense (four times as many, in adjacent pairs); all (every 0.1 s)."
        ),
        max_pixels: int = typer.Option(200_704, min=1, help="Maximum number of pixels per frame."),
        controls: int = typer.Option(
            2,
            min=0,
            help="Negative controls: first ask a model about this many videos with another case's plan; "
            "if one passes, the run stops.",
        ),
        repeat: int = typer.Option(
            1, min=1, help="First ask a model about one video this many times, and record how much its answers vary."
        ),
        low: float = typer.Option(0.0, help="Lowest score of a table."),
        high: float = typer.Option(100.0, help="Highest score of a table."),
        concurrency: int = typer.Option(4, min=1, help="Videos in parallel."),
        service: ModelOptions = SERVICE,
        accept_code: bool = ACCEPT_CODE,
        as_json: bool = typer.Option(False, "--json", help="Print counts as JSON."),
    ) -> None:
        """Judge every video: one question per gate, up to the first failure. Exit code 11: some answers are missing.

        Example: ego2world judge run bench --model openai/gpt-5-mini --sampling dense --out runs/gpt-5-mini
        """
        if sampling not in set(Density):
            raise UsageError(f"no sampling {sampling!r}; there are: {', '.join(Density)}")
        read = read_benchmark(bench)
        path = plans or bench / "plans.jsonl"
        needs_plans = not backend.startswith(("csv:", "simple-vqa"))
        if not path.is_file() and needs_plans:
            raise UsageError(f"no plans {path}; make some with: ego2world judge plan {bench} --out {path}")
        by_video = read_plans(path, read) if path.is_file() else {}
        settings = JudgeSettings(FrameSampling(frames, Density(sampling), max_pixels), all_gates, concurrency)
        with ExitStack() as stack:
            opened = open_backends(
                backend,
                bench,
                model,
                service.endpoint(concurrency),
                rater,
                (low, high),
                service.cache,
                service.any_served_model,
            )
            made = stack.enter_context(opened)
            if backend == "model" and model != "mock":
                with err.status("controls"):
                    try_out(read, by_video, made[0], settings, controls, repeat, out_dir)  # type: ignore[arg-type]
            update = stack.enter_context(progress("videos"))
            done = judge_all(read, by_video, out_dir, made, settings, update, accept_code)
        if as_json:
            print_json(done)
        else:
            what = f"{done['answers']} answers" if done["answers"] else f"{done['ratings']} ratings"
            out.print(
                f"{what} by {', '.join(done['raters'])}; {done['unanswered']} missing  ({out_dir})",
                markup=False,
                soft_wrap=True,
            )
        for reason, count in done["reasons"].items():
            err.print(f"{count}: {reason}", markup=False, soft_wrap=True)
        if done["service_failures"]:
            err.print("Re-run the same command to ask for the missing answers again.")
            raise typer.Exit(INCOMPLETE)
        if not as_json:
            out.print(f"Next: ego2world judge score {bench} {out_dir}", markup=False, soft_wrap=True)
