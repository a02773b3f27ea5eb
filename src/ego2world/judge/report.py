"""The report on agreement: agreement.json, figures, and one page that needs no network. Stage: judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import matplotlib as mpl
from jinja2 import Environment, FunctionLoader, StrictUndefined
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ego2world import __version__
from ego2world.core.agreement import ICC_FORMS, LEVELS
from ego2world.core.canonical import pretty_json, write_atomic
from ego2world.core.figures import COLORS, INK, STYLE, new_figure, page_css, write_figures
from ego2world.judge.agree import STATISTICS
from ego2world.judge.benchmark import Benchmark
from ego2world.judge.policy import GATES, QUESTIONS
from ego2world.judge.tally import AXES

AXIS_NAMES = {"T": "task", "P": "physics", "S": "final"}


def write_report(bench: Benchmark, found: Mapping[str, Any], out: Path) -> None:
    """Write agreement.json, figures/ and index.html.

    Args:
        bench: whose videos they are.
        found: what ``agree`` returned.
        out: the folder.
    """
    write_atomic(out / "agreement.json", pretty_json(found))
    figures = write_figures(draw(found), out / "figures")
    write_atomic(out / "index.html", render(bench, found, figures).encode())


def render(bench: Benchmark, found: Mapping[str, Any], figures: Mapping[str, str]) -> str:
    """Return the page."""
    pages = Environment(
        loader=FunctionLoader(lambda name: (files("ego2world.judge") / name).read_text("utf-8")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return pages.get_template("page.html.j2").render(
        found=found,
        bench=bench,
        figures=figures,
        css=page_css(),
        axes=AXES,
        axis_names=AXIS_NAMES,
        statistics=STATISTICS,
        forms=ICC_FORMS,
        levels=LEVELS,
        gates=GATES,
        questions=QUESTIONS,
        version=__version__,
    )


def draw(found: Mapping[str, Any]) -> dict[str, Figure]:
    """Return the figures by name; those that there is nothing for are left out."""
    with mpl.rc_context(STYLE):
        made: dict[str, Figure | None] = {
            "scatter": _scatter(found),
            "models": _models(found),
            "coupling": _coupling(found["videos"]),
            "types": _types(found),
            "ablations": _ablations(found["ablations"]),
            "seeds": _seeds(found),
        }
    return {name: figure for name, figure in made.items() if figure is not None}


def _plain(axis: Axes, title: str) -> None:
    axis.set_facecolor("none")
    axis.set_title(title, fontsize=9.5, color=INK, loc="left")


def _square(axis: Axes, first: Sequence[float], second: Sequence[float]) -> None:
    axis.plot([0, 100], [0, 100], color=INK, linewidth=0.7, alpha=0.5)
    axis.plot(first, second, "o", color=COLORS[0], alpha=0.35, markersize=3.5, markeredgewidth=0)
    axis.set_xlim(-3, 103)
    axis.set_ylim(-3, 103)
    axis.set_aspect("equal")


def _scatter(found: Mapping[str, Any]) -> Figure | None:
    judges = found["panel"]["judges"][:4]
    if not judges or not found["videos"]:
        return None
    figure = new_figure(8.6, 2.9 if len(judges) > 2 else 3.6)
    axes = figure.subplots(1, max(2, len(judges)), squeeze=False)[0]
    for axis in axes[len(judges) :]:
        axis.set_axis_off()
    for axis, judge in zip(axes, judges, strict=False):
        pairs = [(v["consensus"][2], v["judges"][judge][2]) for v in found["videos"]]
        kept = [(a, b) for a, b in pairs if a is not None and b is not None]
        _plain(axis, judge[:34])
        _square(axis, [a for a, _ in kept], [b for _, b in kept])
        axis.set_xlabel("consensus S")
    axes[0].set_ylabel("judge's S")
    return figure


def _models(found: Mapping[str, Any]) -> Figure | None:
    rows = found["consensus"]["summary"]["by_origin"]
    origins = sorted(rows, key=lambda name: -(rows[name]["S"] or 0))
    if not origins:
        return None
    raters = [
        ("consensus", rows),
        *((j, found["by_judge"][j]["summary"]["by_origin"]) for j in found["panel"]["judges"][:5]),
    ]
    figure = new_figure(8.6, 1.0 + (0.18 + 0.14 * len(raters)) * len(origins))
    axis = figure.subplots()
    _plain(axis, "Mean S, with 95 % intervals over cases")
    for number, (rater, means) in enumerate(raters):
        for place, origin in enumerate(origins):
            one = means.get(origin)
            if one is None or one["S"] is None:
                continue
            y = place + (number - (len(raters) - 1) / 2) * 0.7 / len(raters)
            interval = one["S_interval"]
            if interval:
                axis.plot([interval["low"], interval["high"]], [y, y], color=COLORS[number], linewidth=1.8, alpha=0.7)
            axis.plot(one["S"], y, "o", color=COLORS[number], markersize=4.5, label=rater if place == 0 else None)
    axis.set_yticks(range(len(origins)), [o.replace("_", " ") for o in origins])
    axis.set_ylim(len(origins) - 0.4, -0.6)
    axis.set_xlim(-3, 103)
    axis.grid(axis="x", color=INK, alpha=0.15)
    figure.legend(loc="outside upper left", ncols=4, fontsize=8)
    return figure


def _coupling(videos: Sequence[Mapping[str, Any]]) -> Figure | None:
    kept = [(t, p) for v in videos for t, p, _ in [v["consensus"]] if t is not None and p is not None]
    if len(kept) < 2:
        return None
    figure = new_figure(8.6, 3.4)
    axis, empty = figure.subplots(1, 2)
    empty.set_axis_off()
    _plain(axis, "Consensus, a dot a video")
    _square(axis, [t for t, _ in kept], [p for _, p in kept])
    axis.set_xlabel("task T")
    axis.set_ylabel("physics P")
    return figure


def _types(found: Mapping[str, Any]) -> Figure | None:
    rows = found["consensus"]["summary"]["by_subgoal_type"]
    if not rows:
        return None
    figure = new_figure(8.6, 0.9 + 0.5 * len(rows))
    axis = figure.subplots()
    _plain(axis, "Consensus, by type of subgoal")
    for number, (name, label) in enumerate((("T", "task"), ("P", "physics, of the attempted"))):
        values = [row[name] or 0 for row in rows.values()]
        axis.barh(
            [y + (number - 0.5) * 0.36 for y in range(len(rows))],
            values,
            height=0.34,
            color=COLORS[number],
            label=label,
        )
    axis.set_yticks(range(len(rows)), [f"{name.replace('_', ' ')} ({row['subgoals']})" for name, row in rows.items()])
    axis.invert_yaxis()
    axis.set_xlim(0, 100)
    figure.legend(loc="outside upper left", ncols=2, fontsize=8)
    return figure


def _ablations(ablations: Mapping[str, Sequence[Mapping[str, Any]]]) -> Figure | None:
    if not ablations:
        return None
    judge, rows = next(iter(ablations.items()))
    figure = new_figure(8.6, 0.8 + 0.24 * len(rows))
    axes = figure.subplots(1, 3, sharey=True)
    for axis, (name, title) in zip(axes, (("mean_S", "mean S"), ("pearson", "Pearson r"), ("ccc", "CCC")), strict=True):
        _plain(axis, title)
        values = [row[name] for row in rows]
        for y, value in enumerate(values):
            if value is not None:
                axis.plot(value, y, "o", color=COLORS[0] if y else COLORS[1], markersize=5)
        if values[0] is not None:
            axis.axvline(values[0], color=INK, linewidth=0.7, alpha=0.5)
        axis.set_yticks(range(len(rows)), [row["name"] for row in rows], fontsize=8)
        axis.grid(axis="x", color=INK, alpha=0.15)
    axes[0].invert_yaxis()
    figure.supxlabel(judge, fontsize=9, color=INK)
    return figure


def _seeds(found: Mapping[str, Any]) -> Figure | None:
    rows = {m: r for m, r in found["consensus"]["seeds"].items() if r["range"] is not None}
    if not rows:
        return None
    figure = new_figure(8.6, 0.8 + 0.3 * len(rows))
    axis = figure.subplots()
    _plain(axis, "Consensus: mean range of S over the seeds of a case")
    axis.barh(range(len(rows)), [r["range"] for r in rows.values()], color=COLORS[0], height=0.6)
    axis.set_yticks(range(len(rows)), list(rows))
    axis.invert_yaxis()
    axis.set_xlim(0, 100)
    return figure
