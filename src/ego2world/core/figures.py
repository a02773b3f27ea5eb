"""Figures as SVG and PNG files and as SVG inside a page; the same figures give the same bytes. Stage: core.

Texts and lines are drawn in one ink; inside the page that ink becomes the page's own text colour, so that both themes
can be read.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from ego2world.core.canonical import write_atomic

INK = "#22303a"
COLORS = ("#2f6f8f", "#c9763f", "#2f7d5b", "#7a6f9b", "#a24b4b", "#8a7a2f", "#4b8fa2", "#9b6f8a", "#5d6873")
STYLE: Any = {
    "svg.hashsalt": "ego2world",
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "savefig.transparent": True,
    "text.parse_math": False,  # names are text
}


def page_css() -> str:
    """Return the style sheet of report pages."""
    return (files("ego2world.core") / "page.css").read_text("utf-8")


def page_figures(figures: Mapping[str, Figure]) -> dict[str, str]:
    """Return the figures as SVGs for use inside a page."""
    return {name: _for_page(_svg(figure).decode(), name) for name, figure in figures.items()}


def write_figures(figures: Mapping[str, Figure], folder: Path) -> dict[str, str]:
    """Write every figure as SVG and PNG; return the SVGs for use inside a page."""
    inside = page_figures(figures)
    for name, figure in figures.items():
        write_atomic(folder / f"{name}.svg", _svg(figure))
        png = io.BytesIO()
        with mpl.rc_context(STYLE):
            figure.set_facecolor("white")
            figure.set_dpi(200)
            FigureCanvasAgg(figure).print_png(png, metadata={"Software": "ego2world"})  # type: ignore[no-untyped-call]
        write_atomic(folder / f"{name}.png", png.getvalue())
    return inside


def _svg(figure: Figure) -> bytes:
    svg = io.BytesIO()
    with mpl.rc_context(STYLE):
        FigureCanvasSVG(figure).print_svg(svg, metadata={"Date": None, "Creator": "ego2world"})  # type: ignore[no-untyped-call]
    return svg.getvalue()


def _for_page(svg: str, name: str) -> str:
    """Return an SVG without its XML head, its ink as the page's, its ids its own, and no address in it."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S).replace(INK, "currentColor")
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", svg)
    svg = re.sub(
        r'<svg [^>]*?viewBox="([^"]*)"[^>]*>',
        rf'<svg viewBox="\1" role="img" aria-labelledby="caption-{name}">',
        svg,
        count=1,
    )
    return svg.replace("xlink:href", "href")


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure, in inches."""
    return Figure(figsize=(width, height), layout="constrained", facecolor="none")
