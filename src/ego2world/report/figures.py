"""The figures of a report; the same scores give the same bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from ego2world.core.figures import COLORS, INK, STYLE, new_figure
from ego2world.evaluate import METRICS, TaskEndpoint
from ego2world.evaluate.compare import PROFILED
from ego2world.evaluate.metrics import Metric, Unit

ENDPOINT_COLORS = {
    "completed_all": "#2f7d5b",
    "completed_some": "#8fbf6b",
    "completed_none": "#d6c06a",
    "execution_blocked": "#c9763f",
    "parse_failure": "#a24b4b",
    "empty_plan": "#7a6f9b",
}


def draw_figures(
    scores: Sequence[Mapping[str, Any]],
    labels: Sequence[str],
    compared: Mapping[str, Any],
    metrics: Mapping[str, Metric] = METRICS,
) -> dict[str, Figure]:
    """Return the figures by name; those that the runs give nothing for are left out."""
    with mpl.rc_context(STYLE):
        found = {"metrics": _metrics(labels, compared, metrics), "endpoints": _endpoints(scores, labels)}
        if compared["contrasts"]:
            found["contrasts"] = _contrasts(compared["contrasts"])
        quarters = _quarters(scores, labels, compared["profiles"])
        if quarters is not None:
            found["quarters"] = quarters
        found["belief"] = _belief(scores, labels)
        return found


def _metrics(labels: Sequence[str], compared: Mapping[str, Any], metrics: Mapping[str, Metric]) -> Figure:
    """Draw every metric of every run with its interval."""
    rows = -(-len(metrics) // 3)
    figure = new_figure(8.6, 0.9 + 0.3 * len(labels) * rows)
    axes = figure.subplots(rows, 3, sharey=True, squeeze=False)
    for axis in axes.flat[len(metrics) :]:
        axis.set_axis_off()
    for axis, (name, metric) in zip(axes.flat, metrics.items(), strict=False):
        axis.set_facecolor("none")
        for row, label in enumerate(labels):
            found = compared["intervals"][label]["all"][name]
            if found is not None:
                color = COLORS[row % len(COLORS)]
                axis.plot(
                    [metric.scale * found["low"], metric.scale * found["high"]],
                    [row, row],
                    color=color,
                    linewidth=2.2,
                    solid_capstyle="round",
                )
                axis.plot(metric.scale * found["value"], row, "o", color=color, markersize=4.5)
        axis.set_title(metric.title, fontsize=9.5, color=INK, loc="left")
        if metric.unit is Unit.SHARE:
            axis.set_xlim(-3, 103)
        axis.set_ylim(len(labels) - 0.4, -0.6)
        axis.set_yticks(range(len(labels)), labels)
        axis.grid(axis="x", color=INK, alpha=0.15)
    figure.supxlabel("per cent or number, with 95 % interval over tasks", fontsize=9, color=INK)
    return figure


def _endpoints(scores: Sequence[Mapping[str, Any]], labels: Sequence[str]) -> Figure:
    """Draw how the tasks of every run ended."""
    figure = new_figure(8.6, 0.9 + 0.34 * len(labels))
    axis = figure.subplots()
    axis.set_facecolor("none")
    left = [0.0] * len(labels)
    for end in reversed(tuple(TaskEndpoint)):
        widths = [100 * s["endpoints"][end] / s["tasks"] if s["tasks"] else 0 for s in scores]
        axis.barh(
            range(len(labels)), widths, left=left, color=ENDPOINT_COLORS[end], label=end.replace("_", " "), height=0.62
        )
        left = [a + b for a, b in zip(left, widths, strict=True)]
    axis.set_yticks(range(len(labels)), labels)
    axis.invert_yaxis()
    axis.set_xlim(0, 100)
    axis.set_xlabel("per cent of tasks")
    figure.legend(loc="outside upper left", ncols=6, fontsize=8, handlelength=1, columnspacing=1)
    return figure


def _contrasts(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw all pairwise contrasts; those whose interval includes zero are pale."""
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    pairs = list(dict.fromkeys((row["first"], row["second"]) for row in rows))
    figure = new_figure(8.6, 0.9 + 0.21 * len(pairs))
    axes = figure.subplots(1, len(metrics), sharey=True, squeeze=False)[0]
    for axis, metric in zip(axes, metrics, strict=True):
        axis.set_facecolor("none")
        axis.axvline(0, color=INK, linewidth=0.8)
        for row in rows:
            if row["metric"] == metric:
                y = pairs.index((row["first"], row["second"]))
                alpha = 0.35 if row["tie"] else 1.0
                axis.plot([100 * row["low"], 100 * row["high"]], [y, y], color=COLORS[0], alpha=alpha, linewidth=2)
                axis.plot(100 * row["value"], y, "o", color=COLORS[0], alpha=alpha, markersize=4)
        axis.set_title(METRICS[metric].title, fontsize=9.5, color=INK, loc="left")
        axis.set_ylim(len(pairs) - 0.4, -0.6)
        axis.set_yticks(range(len(pairs)), [f"{a} - {b}" for a, b in pairs], fontsize=8)
        axis.grid(axis="x", color=INK, alpha=0.15)
    figure.supxlabel("difference in percentage points, simultaneous 95 % intervals", fontsize=9, color=INK)
    return figure


def _quarters(scores: Sequence[Mapping[str, Any]], labels: Sequence[str], profiles: Mapping[str, Any]) -> Figure | None:
    """Draw resource use per group by quarter of the episodes, for the resources that any run used."""
    names = [
        n
        for n in PROFILED
        if any(s["resources"].get(n) or (n == "attempts" and s["pooled"]["attempts"]) for s in scores)
    ]
    if not names or all(profiles[label][names[0]][0] is None for label in labels):
        return None
    rows = -(-len(names) // 3)
    figure = new_figure(8.6, 0.6 + 2.1 * rows)
    axes = figure.subplots(rows, 3, squeeze=False)
    for axis in axes.flat[len(names) :]:
        axis.set_axis_off()
    for axis, name in zip(axes.flat, names, strict=False):
        axis.set_facecolor("none")
        for number, label in enumerate(labels):
            found = [(q + 1, point) for q, point in enumerate(profiles[label][name]) if point is not None]
            color = COLORS[number % len(COLORS)]
            x = [q for q, _ in found]
            axis.plot(x, [p["value"] for _, p in found], "o-", color=color, markersize=3.5, label=label)
            axis.fill_between(
                x,
                [max(0, p["low"]) for _, p in found],
                [p["high"] for _, p in found],
                color=color,
                alpha=0.12,
                linewidth=0,
            )
        axis.set_title(name.replace("_", " ") + " per group", fontsize=9.5, color=INK, loc="left")
        axis.set_xticks([1, 2, 3, 4])
        axis.set_ylim(bottom=0)
    figure.supxlabel("quarter of the episode; bands are pointwise 95 % intervals over episodes", fontsize=9, color=INK)
    handles, found_labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, found_labels, loc="outside upper left", ncols=4, fontsize=8)
    return figure


def _belief(scores: Sequence[Mapping[str, Any]], labels: Sequence[str]) -> Figure:
    """Draw belief against the hidden world at the groups' ends, by quarter."""
    figure = new_figure(8.6, 2.7)
    axes = figure.subplots(1, 3)
    titles = {
        "precision": "precision: right of what is believed",
        "recall": "recall: right of what there is to know",
        "stale_share": "stale: overtaken by the world",
    }
    for axis, (name, title) in zip(axes, titles.items(), strict=True):
        axis.set_facecolor("none")
        for number, (score, label) in enumerate(zip(scores, labels, strict=True)):
            values = [score["belief_by_quarter"][str(q)][name] for q in (1, 2, 3, 4)]
            points = [(q, 100 * v) for q, v in zip((1, 2, 3, 4), values, strict=True) if v is not None]
            axis.plot(
                [q for q, _ in points],
                [v for _, v in points],
                "o-",
                color=COLORS[number % len(COLORS)],
                markersize=3.5,
                label=label,
            )
        axis.set_title(title, fontsize=9, color=INK, loc="left")
        axis.set_xticks([1, 2, 3, 4])
        axis.set_ylim(-3, 103)
        axis.grid(axis="y", color=INK, alpha=0.15)
    figure.supxlabel("quarter of the episode; per cent", fontsize=9, color=INK)
    handles, found_labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, found_labels, loc="outside upper left", ncols=4, fontsize=8)
    return figure
