"""The figures of docs/MEASUREMENTS.md and docs/JUDGES.md on judging videos, through the commands as a user gives them.

python tests/measure_judge.py panel       panels of 600 and 2,640 made-up videos: plan, run, score, agree
python tests/measure_judge.py video       frames of a 20 s clip of 1920 x 1080
python tests/measure_judge.py detector    the detector on drawn rollouts of a seed that it was not tuned on
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from ego2world.core.video import write_clip
from judge_data import simulated

COMMAND = str(Path(sys.executable).parent / "ego2world")
HELD_OUT = 3  # seed of the rollouts; seeds 0 to 2 are for tuning
LOOKS = {
    "8": ("--frames", "8"),
    "16": ("--frames", "16"),
    "32": ("--frames", "32"),
    "64": ("--frames", "64"),
    "dense at 8": ("--sampling", "dense"),
    "all": ("--sampling", "all"),
}
KINDS = {
    "task": ("skip", "stop", "abandon", "no_tilt", "half"),
    "single frames": ("duplicate", "count", "identity", "merge", "shape", "vanish", "float", "wrong_axis"),
    "solid, contact": ("through_closed", "through_surface", "lost"),
    "an instant": ("teleport", "jump", "appear", "early"),
    "small": ("gap", "deform", "uncoupled", "drift", "spring", "leak"),
}


def measured(arguments: list[str], out: Path) -> tuple[float, float]:
    """Run a program, its output to a file; return its wall time in seconds and its peak memory in MB."""
    start, peak_kb = time.perf_counter(), 0
    with out.open("wb") as text, subprocess.Popen(arguments, stdout=text, stderr=subprocess.STDOUT) as process:
        while process.poll() is None:
            found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text())
            peak_kb = max(peak_kb, int(found[1])) if found else peak_kb
            time.sleep(0.01)
    if process.returncode:
        sys.exit(f"{' '.join(arguments)}\n{out.read_text()}")
    return time.perf_counter() - start, peak_kb / 1024


def ego2world(folder: Path, *arguments: object) -> tuple[float, float]:
    """Run a command; its output is in ``output`` of the folder."""
    return measured([COMMAND, *map(str, arguments)], folder / "output")


def panels(folder: Path) -> None:
    """Two panels of the paper's sizes, from recorded answers to every gate."""
    for cases in (25, 110):
        at = folder / str(cases)
        bench, answers = simulated(at, cases)
        run, steps = at / "run", {}
        steps["plan"] = ego2world(at, "judge", "plan", at, "--out", at / "plans.jsonl")
        steps["run"] = ego2world(at, "judge", "run", at, "--backend", f"answers:{answers}", "--all-gates", "--out", run)
        steps["score"] = ego2world(at, "judge", "score", at, run)
        steps["agree"] = ego2world(at, "judge", "agree", at, run, "--out", at / "report")
        count = sum(1 for _ in answers.open())
        print(
            f"{len(bench.videos)} videos, {count} answers: {sum(wall for wall, _ in steps.values()):.1f} s, "
            + ", ".join(f"{name} {wall:.1f} s {memory:.0f} MB" for name, (wall, memory) in steps.items())
        )


def videos(folder: Path) -> None:
    """Reading a long, large clip: as many frames as a judge asks for, some around one time, and all of them."""
    clip = folder / "clip.mp4"
    write_clip(_pictures(), clip, 30)
    print(f"20 s of 1920 x 1080 at 30 a second, {clip.stat().st_size / 1e6:.1f} MB")
    reads = {
        "nothing": "",
        "32 frames": f"frames_at(Path({str(clip)!r}), [n * 20 / 32 for n in range(32)], pixels=200704)",
        "8 frames around 10 s": f"frames_at(Path({str(clip)!r}), [9.6 + n / 10 for n in range(8)], pixels=200704)",
        "the whole, for the manifest": f"probe(Path({str(clip)!r}))",
    }
    base_s = 0.0
    for name, call in reads.items():
        program = f"from pathlib import Path\nfrom ego2world.core.video import frames_at, probe\n{call}"
        wall_s, memory = measured([sys.executable, "-c", program], folder / "output")
        base_s = base_s or wall_s
        print(f"{name}: {wall_s - base_s:.2f} s and {base_s:.2f} s for Python and its imports, {memory:.0f} MB")


def _pictures() -> Iterator[Image.Image]:
    """Coarse noise that moves, behind a square that moves otherwise, with a camera's grain."""
    draw = np.random.default_rng(0)
    ground = np.kron(draw.integers(20, 235, (270, 480, 3)), np.ones((4, 4, 1))).astype(np.int16)
    grain = [draw.integers(-20, 21, ground.shape).astype(np.int16) for _ in range(4)]
    for number in range(600):
        picture = np.roll(ground, 3 * number, 1) + grain[number % 4]
        picture[400:700, 2 * number : 2 * number + 300] = 240
        yield Image.fromarray(picture.astype(np.uint8))


def detector(folder: Path) -> None:
    """The detector against the truth, by number of frames, by kind of fault, and with gates left out."""
    bench, truth = folder / "bench", folder / "truth"
    ego2world(folder, "demo", "--out", folder / "demo")
    for jobs in (2, 1):
        place = bench if jobs == 1 else folder / "twice"
        wall_s, _ = ego2world(
            folder, "judge", "rollouts", folder / "demo/worlds", "--seed", HELD_OUT, "--jobs", jobs, "--out", place
        )
        print(f"rollouts drawn by {jobs}: {wall_s:.1f} s")
    ego2world(
        folder, "judge", "run", bench, "--backend", f"answers:{bench / 'truth.jsonl'}", "--all-gates", "--out", truth
    )
    for name, look in LOOKS.items():
        run = folder / name.replace(" ", "_")
        wall_s, _ = ego2world(folder, "judge", "run", bench, "--backend", "vision", *look, "--all-gates", "--out", run)
        ego2world(folder, "judge", "agree", bench, run, truth, "--reference", "oracle", "--json")
        found = json.loads((folder / "output").read_text())
        print(f"{name} ({wall_s:.0f} s): {_of_judge(found['judges']['vision'])}")
        if name in ("8", "32"):
            for row in found["ablations"]["vision"]:
                print(f"    {row['name']}: {_of_ablation(row)}")


def _of_judge(one: dict[str, Any]) -> str:
    kind_of = {fault: kind for kind, faults in KINDS.items() for fault in faults}
    found, planted = Counter[str](), Counter[str]()
    for row in one["planted"]:
        found[kind_of[row["fault"]]] += row["found"]
        planted[kind_of[row["fault"]]] += row["planted"]
    false = sum(gate["false_alarm"] for gate in one["gates"].values())
    holds = false + sum(gate["both_pass"] for gate in one["gates"].values())
    r = {name: one[name]["pearson"]["value"] for name in "TPS"}
    return (
        f"r T {r['T']:.3f} P {r['P']:.3f} S {r['S']:.3f}, tau-b {one['S']['kendall']['value']:.3f}, CCC"
        f" {one['S']['ccc']['value']:.3f}, MAE {one['S']['mae']['value']:.1f}, order of models"
        f" {one['models']['spearman']['value']:.2f}; found "
        + ", ".join(f"{kind} {found[kind]}/{planted[kind]}" for kind in KINDS)
        + f"; failed though they hold {false}/{holds}"
    )


def _of_ablation(row: dict[str, Any]) -> str:
    return f"S {row['delta_S']:+.1f}, r {row['pearson']:.3f}, CCC {row['ccc']:.3f}, MAE {row['mae']:.1f}"


def main() -> None:
    """Print the figures that were asked for, or all."""
    parts = {"panel": panels, "video": videos, "detector": detector}
    for name in sys.argv[1:] or parts:
        with tempfile.TemporaryDirectory() as folder:
            parts[name](Path(folder))


if __name__ == "__main__":
    main()
