"""Judge the videos of a benchmark with the detector and compare its scores with the exact answers.

python examples/judge_videos.py BENCH OUT        BENCH: made by ego2world judge rollouts, such as demo/rollouts
"""

import sys
from pathlib import Path

import ego2world as e2w


def main(bench: str, out: str) -> None:
    """Judge twice and print both means."""
    exact = e2w.judge_videos(bench, Path(out) / "exact", f"answers:{Path(bench) / 'truth.jsonl'}")
    seen = e2w.judge_videos(bench, Path(out) / "vision", "vision", frames=32)
    for name, scores in (("exact answers", exact["raters"]["oracle"]), ("detector", seen["raters"]["vision"])):
        overall = scores["overall"]
        print(
            f"{name:<14} T {overall['T']:5.1f}  P {overall['P']:5.1f}  S {overall['S']:5.1f}  of {overall['videos']}"
            " videos"
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
