"""ego2world bench"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from ego2world.bench import bench
from ego2world.cli.common import out, print_json, progress

_WORDS = {
    "plain_steps_per_cpu_s": "plain executor, accepted steps",
    "plain_mixed_steps_per_cpu_s": "plain executor, half of them refused and explained",
    "batched_steps_per_cpu_s": "batched executor, random walks",
    "batched_replay_steps_per_cpu_s": "batched executor, the reference in all worlds",
    "bitset_steps_per_cpu_s": "bare bitset loop, the same walks",
    "upf_steps_per_cpu_s": "unified-planning SequentialSimulator",
    "textworld_steps_per_cpu_s": "TextWorld, a game of its own",
    "pddlgym_steps_per_cpu_s": "PDDLGym, a problem of its own",
    "compile_narrations_per_s": "compiler, narrations of the sample kitchens",
    "qa_groups_per_cpu_s": "questions, made and checked",
    "judge_answers_per_cpu_s": "answers of a judge, scored",
    "frames_per_cpu_s": "frames of a clip, at times asked for",
}


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("bench")
    def bench_command(
        worlds: Path = typer.Argument(help="A compiled collection."),
        seconds: float = typer.Option(2.0, min=0.1, help="CPU seconds per measurement."),
        as_json: bool = typer.Option(False, "--json", help="Print as JSON."),
    ) -> None:
        """Measure steps per CPU-second in one process, and those of comparable simulators where installed.

        Example: ego2world bench worlds
        """
        with progress("measuring") as update:
            result = bench(worlds, seconds, update)
        print_json(result) if as_json else print_bench(result)


def print_bench(result: dict[str, Any]) -> None:
    """Print the rates for a person."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(justify="left")
    table.add_column(justify="right")
    for key, words in _WORDS.items():
        rate = result[key]
        table.add_row(words, "not installed" if rate is None else f"{rate:,.0f} per CPU-second")
    out.print(table)
    out.print(
        f"on {result['episode']}: {result['ground_actions']:,} ground actions in {result['ground_s']} s,"
        f" {result['worlds']:,} worlds of {result['bytes_per_world']:,} bytes ({result['kernel']}),"
        f" {result['mask_ns_per_ground_action']} ns a ground action in a mask",
        soft_wrap=True,
    )
    out.print(
        f"a question costs as much as {result['qa_replays_per_group']} replays of the episode by the plain executor"
    )
    out.print(f"an answer is scored at the price of reading {result['score_over_json']} of them as JSON")
    if result["frames_over_decoding"] is not None:
        out.print(
            f"a tenth of a clip's frames, evenly spread: {result['frames_over_decoding']} times the work of decoding"
            " all of them"
        )
    for key, words in (("plain_over_upf", "unified-planning"), ("batched_over_bitset", "the bare bitset loop")):
        if result[key] is not None:
            name = "plain" if key.startswith("plain") else "batched"
            out.print(f"{name} executor: {result[key]:,} times {words}")
