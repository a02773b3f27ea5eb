"""ego2world run"""

from contextlib import closing, nullcontext
from pathlib import Path

import typer

from ego2world.agents import MEMORIES, PLANNERS
from ego2world.agents.make import find_planner
from ego2world.agents.mock import mock_reply
from ego2world.cli.common import (
    ACCEPT_CODE,
    INCOMPLETE,
    RAY_OPTION,
    err,
    names,
    out,
    print_json,
    progress,
    scores_table,
)
from ego2world.cli.models import MODEL_HELP, SERVICE, ModelOptions, model_options
from ego2world.errors import UsageError
from ego2world.evaluate import JSON_FIELDS, score_run
from ego2world.run.chat import Budget
from ego2world.run.loop import RunSettings, run
from ego2world.tasks.suite import read_suite


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("run")
    @model_options
    def run_command(
        worlds: Path = typer.Argument(help="A compiled collection."),
        planner: str = typer.Option("symbolic", help=f"One of: {', '.join(PLANNERS)}; or MODULE:FUNCTION of your own."),
        memory: str = typer.Option(
            "persistent",
            help=f"Memory policy: {', '.join(MEMORIES)}; the last two as NAME:CAPACITY, or MODULE:NAME of your own.",
        ),
        out_dir: Path = typer.Option(..., "--out", help="Run folder; an unfinished run in it is resumed."),
        suite: Path | None = typer.Option(None, help="Suite file (ego2world suite make); default: every task."),
        episodes: str | None = typer.Option(None, help="Only these episodes, comma-separated."),
        limit: int = typer.Option(80, min=1, help="Attempts per group."),
        no_progress: int = typer.Option(
            0, min=0, help="End a group after this many consecutive repeats of a step without effect; 0: never."
        ),
        seed: int = typer.Option(0, help="Seed of the random planner, and of models that take one."),
        script: Path | None = typer.Option(None, help="Actions for the scripted planner (JSON lines)."),
        concurrency: int = typer.Option(1, min=1, help="Episodes in parallel; the records do not depend on it."),
        jobs: int = typer.Option(
            1, min=1, help="Worker processes (for CPU-bound planners); the records do not depend on it."
        ),
        ray: str | None = RAY_OPTION,
        model: str | None = typer.Option(None, help="For planner llm: " + MODEL_HELP),
        service: ModelOptions = SERVICE,
        frames: str | None = typer.Option(
            None, help="Images for visual queries: drawn, or a folder of videos named EPISODE.mp4."
        ),
        max_tokens: int = typer.Option(2048, min=1, help="Maximum reply length in tokens."),
        temperature: str = typer.Option(
            "0", help='Of the model; "default" leaves it to the provider, for models that refuse one.'
        ),
        budget_tokens: int | None = typer.Option(
            None, min=1, help="Stop cleanly after this many tokens, including resumed parts."
        ),
        budget_cost: float | None = typer.Option(None, min=0, help="Stop cleanly at this cost; needs the prices."),
        budget_seconds: float | None = typer.Option(None, min=0, help="Stop cleanly after this many seconds."),
        price_in: float = typer.Option(0.0, min=0, help="Price per million input tokens."),
        price_out: float = typer.Option(0.0, min=0, help="Price per million output tokens."),
        price_cached: float | None = typer.Option(
            None, min=0, help="Price per million cached input tokens; default: as input."
        ),
        accept_code: bool = ACCEPT_CODE,
        as_json: bool = typer.Option(False, "--json", help="Print the scores as JSON."),
    ) -> None:
        """Run a planner in the worlds. Exit code 11 if it stopped early; re-run the same command to resume.

        API keys are read from the environment variables of the providers (OPENAI_API_KEY, ANTHROPIC_API_KEY, ...).

        Example: ego2world run worlds --planner symbolic --memory reset --out runs/symbolic-reset
        """
        find_planner(planner)
        if script is not None and not script.is_file():
            raise UsageError(f"no script {script}")
        if budget_cost is not None and not (price_in or price_out):
            raise UsageError("--budget-cost needs --price-in and --price-out (per million tokens)")
        if (planner == "llm") != (model is not None) and ":" not in planner:
            raise UsageError("planner llm and --model NAME go together (mock, replay:FILE, or PROVIDER/MODEL)")
        client, opening = None, None
        if model is not None:
            opening = service.connector(model, mock_reply, concurrency)
            client = opening()
        settings = RunSettings(
            planner,
            memory,
            limit,
            seed,
            no_progress,
            str(script) if script else None,
            names(episodes),
            frames,
            max_tokens,
            _temperature(temperature),
            concurrency,
            jobs,
            Budget(budget_tokens, budget_cost, budget_seconds, price_in, price_out, price_cached),
            ray,
            accept_code,
        )
        with progress("running") as update, closing(client) if client else nullcontext():
            record = run(worlds, out_dir, settings, read_suite(suite) if suite else None, update, client, opening)
        score = score_run(out_dir)
        if as_json:
            print_json({k: score[k] for k in JSON_FIELDS})
        else:
            out.print(scores_table([score]))
            out.print(f"records in {out_dir}. Next: ego2world report {out_dir} --out report", soft_wrap=True)
        if not score["complete"]:
            for episode, reason in record["stopped"].items():
                err.print(f"stopped in {episode}: {reason}", soft_wrap=True, markup=False)
            err.print("The run is incomplete. Re-run the same command to resume.")
            raise typer.Exit(INCOMPLETE)


def _temperature(text: str) -> float | None:
    if text == "default":
        return None
    try:
        return float(text)
    except ValueError:
        raise UsageError(f'--temperature {text}: needed a number, or "default"') from None
