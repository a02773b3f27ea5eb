"""Server-rendered review pages. Texts of questions and models are data: escaped where they stand, never part of the
page's code."""

from __future__ import annotations

import threading
from pathlib import Path
from unicodedata import normalize
from urllib.parse import quote

import msgspec
from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response

from ego2world.annotations.videos import find_videos
from ego2world.core.canonical import canonical_json
from ego2world.errors import RecordError, UsageError
from ego2world.qa.build import read_stage
from ego2world.qa.records import Evidence, QuestionGroup
from ego2world.qa.review import DECISIONS, FIELDS, ISSUES, ReviewStore, StaleVersion, Suggestion, original_hash, summary
from ego2world.web.pages import LOCAL, new_app, templates

_TYPES = {
    ".mp4": "video/mp4",
    ".webm": "video/webm",
    ".mov": "video/quicktime",
    ".mkv": "video/x-matroska",
    ".avi": "video/x-msvideo",
}
_STATIC = {
    name: ("ego2world.web.review", kind)
    for name, kind in (("review.js", "text/javascript"), ("review.css", "text/css"))
}


class Decision(msgspec.Struct, forbid_unknown_fields=True):
    """What the page sends."""

    version: int
    decision: str
    issues: list[str] = []
    note: str = ""
    suggestions: list[Suggestion] = []
    played_s: list[tuple[float, float]] = []


def review_app(review: Path, media: Path | None = None, hosts: frozenset[str] = LOCAL) -> FastAPI:
    """Return the web application.

    Args:
        review: made by ``qa cohort``.
        media: folder of videos; without it pages say that there is no media, and nothing counts as verified.
        hosts: names that this server may be called by; requests under other names are refused, so that no other page
            can use it.
    """
    store = ReviewStore(review)
    videos = {normalize("NFC", name): path for name, path in find_videos(media).items()} if media else {}
    pages = templates("ego2world.web.review")
    app = new_app(hosts, _STATIC, "/media/")
    pool: dict[str, dict[str, Evidence]] = {}
    lock = threading.Lock()

    def evidence(group: QuestionGroup) -> dict[str, Evidence]:
        with lock:
            if group.episode not in pool:
                try:
                    rows = read_stage(Path(store.cohort["questions"]), group.episode, "evidence")
                except RecordError:
                    rows = []
                pool[group.episode] = {one.id: one for one in rows}
            return pool[group.episode]

    def queue(reviewer: str) -> list[str]:
        if reviewer not in store.cohort["queues"]:
            raise HTTPException(404, "no such reviewer")
        found: list[str] = store.cohort["queues"][reviewer]
        return found

    @app.get("/")
    def index() -> HTMLResponse:
        rows = [
            {"name": name, "done": sum(store.current(item, name) is not None for item in items), "all": len(items)}
            for name, items in store.cohort["queues"].items()
        ]
        return HTMLResponse(pages.get_template("index.html.j2").render(reviewers=rows, cohort=store.cohort))

    @app.get("/r/{reviewer}")
    def first(reviewer: str) -> RedirectResponse:
        items = queue(reviewer)
        open_ = [n for n, item in enumerate(items) if store.current(item, reviewer) is None]
        return RedirectResponse(f"/r/{quote(reviewer)}/{open_[0] if open_ else max(0, len(items) - 1)}", 307)

    @app.get("/r/{reviewer}/{number}")
    def page(reviewer: str, number: int) -> HTMLResponse:
        items = queue(reviewer)
        if not 0 <= number < len(items):
            raise HTTPException(404, "no such place in the queue")
        group = store.groups[items[number]]
        known = evidence(group)
        turns = [
            {
                "number": n,
                "question": t.question,
                "answer": t.answer,
                "standalone": t.standalone,
                "options": t.options or {},
                "key": t.key,
                "hashes": {field: original_hash(t, field) for field in FIELDS},
                "evidence": [known[one] for one in (*t.spec.evidence, *t.spec.anchors) if one in known],
                "dangling": [one for one in t.spec.evidence if one not in known],
            }
            for n, t in enumerate(group.turns)
        ]
        video = videos.get(normalize("NFC", group.clip.video))
        mine = store.current(group.id, reviewer)
        data = {
            "item": group.id,
            "reviewer": reviewer,
            "version": store.version(group.id),
            "number": number,
            "count": len(items),
            "clip": [group.clip.start_s, group.clip.end_s],
            "current": msgspec.to_builtins(mine) if mine else None,
            "issues": list(ISSUES),
            "decisions": list(DECISIONS),
        }
        done = [store.current(item, reviewer) is not None for item in items]
        return HTMLResponse(
            pages.get_template("item.html.j2").render(
                group=group,
                turns=turns,
                data=data,
                done=done,
                media=f"/media/{quote(group.clip.video, safe='')}" if video else "",
                decisions=DECISIONS,
                issues=ISSUES,
                fields=FIELDS,
            )
        )

    @app.get("/media/{name:path}")
    def file(name: str, request: Request) -> Response:
        path = videos.get(normalize("NFC", name))  # a look-up by id: no path is ever made of what was asked for
        if path is None:
            raise HTTPException(404, "no such video")
        return FileResponse(
            path,
            media_type=_TYPES.get(path.suffix.lower(), "application/octet-stream"),
            headers={"Accept-Ranges": "bytes"},
        )

    @app.post("/r/{reviewer}/{number}")
    async def save(reviewer: str, number: int, request: Request) -> JSONResponse:
        items = queue(reviewer)
        if not 0 <= number < len(items):
            raise HTTPException(404, "no such place in the queue")
        try:
            sent = msgspec.json.decode(await request.body(), type=Decision)
            made = store.save(
                items[number],
                reviewer,
                sent.version,
                sent.decision,
                sent.issues,
                sent.note[:10_000],
                sent.suggestions,
                sent.played_s,
            )
        except StaleVersion as error:
            kept = msgspec.to_builtins(error.review)
            return JSONResponse(
                {
                    "error": "somebody else decided in between; your decision is kept",
                    "version": error.version,
                    "review": kept,
                },
                409,
            )
        except (msgspec.MsgspecError, UsageError) as error:
            return JSONResponse({"error": str(error)}, 400)
        return JSONResponse({"review": msgspec.to_builtins(made), "version": store.version(items[number])})

    @app.post("/r/{reviewer}/{number}/undo")
    def undo(reviewer: str, number: int) -> JSONResponse:
        items = queue(reviewer)
        if not 0 <= number < len(items):
            raise HTTPException(404, "no such place in the queue")
        made = store.undo(items[number], reviewer)
        mine = store.current(items[number], reviewer)
        return JSONResponse(
            {
                "undone": made.undoes if made else None,
                "current": msgspec.to_builtins(mine) if mine else None,
                "version": store.version(items[number]),
            }
        )

    @app.get("/export.json")
    def export() -> Response:
        return Response(
            canonical_json(summary(review)),
            media_type="application/json",
            headers={"Content-Disposition": 'attachment; filename="reviews.json"'},
        )

    return app
