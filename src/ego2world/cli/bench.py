"""ego2world bench"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import typer

from ego2world.annotations.hd_epic import read_hd_epic
from ego2world.cli.common import out, print_json
from ego2world.compiler.episode import compile_video
from ego2world.samples import sample_source
from ego2world.world.episode import Episode, load_episode, load_manifest
from ego2world.world.state import State
from ego2world.world.step import Refusal, step


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("bench")
    def bench_command(
        worlds: Path = typer.Argument(help="A compiled collection."),
        seconds: float = typer.Option(2.0, min=0.1, help="CPU seconds per measurement."),
        as_json: bool = typer.Option(False, "--json", help="Print as JSON."),
    ) -> None:
        """Measure steps and compiled narrations per CPU-second, in one process, state hashing off.

        Example: ego2world bench worlds
        """
        manifest = load_manifest(worlds)
        biggest = max(manifest["episodes"], key=lambda e: (manifest["episodes"][e]["totals"]["operations"], e))
        result: dict[str, Any] = {
            "episode": biggest,
            "plain_steps_per_cpu_s": round(plain_rate(load_episode(worlds, biggest), seconds)),
            "batched_steps_per_cpu_s": None, "upf_steps_per_cpu_s": None, "bitset_steps_per_cpu_s": None,
            "compile_narrations_per_s": round(compile_rate(seconds)),
        }  # fmt: skip
        if as_json:
            print_json(result)
            return
        out.print(f"plain executor   {result['plain_steps_per_cpu_s']:>9,} accepted steps per CPU-second ({biggest})")
        out.print(
            f"compiler         {result['compile_narrations_per_s']:>9,} narrations per CPU-second (sample kitchens)"
        )


def plain_rate(episode: Episode, seconds: float) -> float:
    """Return accepted reference steps per CPU-second, over whole replays."""
    steps, start = 0, time.process_time()
    while True:
        state: State | Refusal = episode.initial
        for action in episode.actions:
            assert isinstance(state, State)
            state = step(episode.world, state, action)
        steps += len(episode.actions)
        spent = time.process_time() - start
        if spent >= seconds:
            return steps / spent


def compile_rate(seconds: float) -> float:
    """Return narrations compiled per CPU-second, on the sample kitchens."""
    dataset = read_hd_epic(sample_source())
    narrations, start = 0, time.process_time()
    while True:
        for video, rows in dataset.narrations.items():
            compile_video(video, dataset)
            narrations += len(rows)
        spent = time.process_time() - start
        if spent >= seconds:
            return narrations / spent
