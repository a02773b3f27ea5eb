"""Writing scores.json and index.html for one or more runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, select_autoescape

from ego2world.core.canonical import pretty_json, write_atomic
from ego2world.evaluate import ENDPOINTS, METRICS, RESOURCES, score_run


def write_report(runs: Sequence[Path], out: Path) -> list[dict[str, Any]]:
    """Score runs and write scores.json and a page that needs no network.

    Args:
        runs: run folders.
        out: the folder to write to.

    Returns:
        One score object a run, in the order given.
    """
    scores = [score_run(run) for run in runs]
    write_atomic(out / "scores.json", pretty_json({"runs": scores}))
    page = Environment(
        loader=PackageLoader("ego2world.report", "."),
        autoescape=select_autoescape(default=True, default_for_string=True),
    )
    html = page.get_template("page.html.j2").render(
        runs=scores, metrics=METRICS, endpoints=ENDPOINTS, resources=RESOURCES, labels=[label(s) for s in scores],
        same_worlds=len({str(s["episode_sha256"]) for s in scores}) <= 1,
    )  # fmt: skip
    write_atomic(out / "index.html", html.encode())
    return scores


def label(score: Mapping[str, Any]) -> str:
    """Return how a run is called in tables."""
    return f"{score['planner']} / {score['memory']}"
