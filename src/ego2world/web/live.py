"""The report page over runs that may still go on: worked out anew when their records have grown, traces one episode at
a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path

from fastapi import FastAPI, HTTPException
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse

from ego2world.core.canonical import sha256
from ego2world.core.figures import page_figures
from ego2world.errors import Ego2WorldError
from ego2world.evaluate.metrics import read_settings
from ego2world.evaluate.replay import RunRecords, replay
from ego2world.report.figures import draw_figures
from ego2world.report.trace import episode_trace
from ego2world.report.write import make_report, render
from ego2world.run.records import RECORDS
from ego2world.world.episode import load_episode

RESAMPLES = 2000  # fewer than a written report has, since the page is made again and again
REST = 4.0  # the page is made anew at most every so many times as long as it took to make

_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:"
    ),
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class _Page:
    """The latest page and what it was made from."""

    def __init__(self, runs: Sequence[Path], worlds: Path | None) -> None:
        self.runs = runs
        self.worlds = worlds
        self._lock = threading.Lock()
        self._made = ""
        self._html = ""
        self._took_s = 0.0
        self._at_s = 0.0

    def version(self) -> str:
        """Return a hash of the records' sizes; while the page rests, that of the page."""
        if self._made and time.monotonic() - self._at_s < REST * self._took_s:
            return self._made
        sizes = [
            f"{run.name}/{name} {path.stat().st_size}"
            for run in self.runs
            for name in RECORDS
            if (path := run / name).is_file()
        ]
        return sha256("\n".join(sizes).encode())[:16]

    def html(self) -> str:
        """Return the page, made anew where the records have grown."""
        with self._lock:
            version = self.version()
            if version != self._made:
                start = time.monotonic()
                report = make_report(self.runs, self.worlds, resamples=RESAMPLES, with_traces=False)
                figures = page_figures(draw_figures(report.scores, report.labels, report.compared))
                self._html = render(report, figures, version)
                self._made, self._at_s = version, time.monotonic()
                self._took_s = self._at_s - start
            return self._html


def live_app(runs: Sequence[Path], worlds: Path | None = None) -> FastAPI:
    """Return the web application.

    Args:
        runs: run folders, finished or going on.
        worlds: the collection; by default the folder that each run names.
    """
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    page = _Page(runs, worlds)

    @app.get("/")
    def index() -> HTMLResponse:
        try:
            return HTMLResponse(page.html(), headers=_HEADERS)
        except Ego2WorldError as error:
            return HTMLResponse(
                PlainTextResponse(str(error)).body, status_code=503, media_type="text/plain", headers=_HEADERS
            )

    @app.get("/version")
    def version() -> PlainTextResponse:
        return PlainTextResponse(page.version(), headers=_HEADERS)

    @app.get("/trace/{run}/{episode}")
    def trace(run: int, episode: str) -> JSONResponse:
        if not 0 <= run < len(runs):
            raise HTTPException(404, "no such run")
        folder = runs[run]
        try:
            settings = read_settings(folder)
            records = RunRecords.read(folder, settings)
            if episode not in records.episodes:
                raise HTTPException(404, "no such episode, or it has not ended")
            loaded = load_episode(worlds or Path(settings["worlds"]), episode)
            return JSONResponse(episode_trace(loaded, list(replay(loaded, records)), records), headers=_HEADERS)
        except Ego2WorldError as error:
            raise HTTPException(409, str(error)) from None

    return app
