"""Server-rendered annotation pages. Neither page, address nor file name says where a clip comes from. Stage: web."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response

from ego2world.errors import UsageError
from ego2world.judge.backends.model import failure_types, questions
from ego2world.judge.panel import CLIPS, PanelStore, check_clips
from ego2world.judge.policy import GATES, PHYSICS, QUESTIONS, TASK
from ego2world.web.pages import LOCAL, new_app, templates

_STATIC = {
    "annotate.js": ("ego2world.web.annotate", "text/javascript"),
    "annotate.css": ("ego2world.web.annotate", "text/css"),
    "review.css": ("ego2world.web.review", "text/css"),
}


class Sent(msgspec.Struct, forbid_unknown_fields=True):
    """What the page sends: one answer."""

    sid: str
    gate: str
    answer: str
    failure: str = ""
    t_start: float | None = None
    t_end: float | None = None
    rationale: str = ""
    seconds: float = 0.0
    replays: int = 0


def annotate_app(panel: Path, hosts: frozenset[str] = LOCAL) -> FastAPI:
    """Return the web application.

    Args:
        panel: made by ``judge panel``.
        hosts: names that this server may be called by.

    Raises:
        UsageError: no panel.
        RecordError: its copies or answers are damaged.
    """
    check_clips(panel)
    store = PanelStore(panel)
    pages = templates("ego2world.web.annotate")
    app = new_app(hosts, _STATIC, "/clip/")

    def place(annotator: str, number: int) -> str:
        items = queue(annotator)
        if not 0 <= number < len(items):
            raise HTTPException(404, "no such place in the queue")
        return items[number]

    def queue(annotator: str) -> list[str]:
        try:
            return store.queue(annotator)
        except UsageError:
            raise HTTPException(404, "no such annotator") from None

    @app.get("/")
    def index() -> HTMLResponse:
        rows = [{"name": name, "done": done, "all": total} for name, (done, total) in store.progress().items()]
        return HTMLResponse(pages.get_template("index.html.j2").render(annotators=rows))

    @app.get("/guide")
    def guide() -> HTMLResponse:
        return HTMLResponse(
            pages.get_template("guide.html.j2").render(gates=GATES, questions=questions(), short=QUESTIONS)
        )

    @app.get("/a/{annotator}")
    def first(annotator: str) -> RedirectResponse:
        items = queue(annotator)
        left = [n for n, name in enumerate(items) if not store.complete(annotator, name)]
        return RedirectResponse(f"/a/{quote(annotator)}/{left[0] if left else max(0, len(items) - 1)}", 307)

    @app.get("/a/{annotator}/{number}")
    def page(annotator: str, number: int) -> HTMLResponse:
        items, name = queue(annotator), place(annotator, number)
        plan = store.plan(name)
        given = store.given(annotator, name)
        data = {
            "annotator": annotator,
            "number": number,
            "count": len(items),
            "all_gates": store.panel["all_gates"],
            "task": TASK,
            "physics": PHYSICS,
            "subgoals": [s.sid for s in plan.subgoals],
            "given": {sid: {g: _shown(row) for g, row in gates.items()} for sid, gates in given.items()},
        }
        return HTMLResponse(
            pages.get_template("item.html.j2").render(
                data=data,
                clip=f"/clip/{name}.mp4",
                goal=store.panel["goals"][store.panel["items"][name]["case_id"]],
                subgoals=plan.subgoals,
                gates=GATES,
                short=QUESTIONS,
                questions=questions(),
                types={g: failure_types(g) for g in GATES},
                done=sum(store.complete(annotator, item) for item in items),
            )
        )

    @app.post("/a/{annotator}/{number}")
    async def save(annotator: str, number: int, request: Request) -> JSONResponse:
        name = place(annotator, number)
        try:
            sent = msgspec.json.decode(await request.body(), type=Sent)
            row = store.save(
                annotator,
                number,
                sent.sid,
                sent.gate,
                sent.answer,
                sent.failure,
                sent.t_start,
                sent.t_end,
                sent.rationale,
                sent.seconds,
                sent.replays,
            )
        except (msgspec.MsgspecError, UsageError) as error:
            return JSONResponse({"error": str(error)}, 400)
        return JSONResponse({"saved": _shown(row), "complete": store.complete(annotator, name)})

    @app.get("/clip/{name}.mp4")
    def clip(name: str) -> Response:
        if name not in store.panel["items"]:  # a look-up by token: no path is ever made of what was asked for
            raise HTTPException(404, "no such clip")
        return FileResponse(panel / CLIPS / f"{name}.mp4", media_type="video/mp4", headers={"Accept-Ranges": "bytes"})

    return app


def _shown(row: Any) -> dict[str, Any]:
    return {
        "answer": row.answer.value,
        "failure": row.failure,
        "t_start": row.t_start,
        "t_end": row.t_end,
        "rationale": row.rationale,
    }
