"""What the pages of reviewers and annotators share: headers, templates, and a guard that keeps other pages out. Stage:
web."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import PlainTextResponse, Response
from jinja2 import Environment, FunctionLoader, StrictUndefined

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; media-src 'self'; img-src data:; "
        "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
}
LOCAL = frozenset({"127.0.0.1", "localhost", "[::1]", "testserver"})


def script_json(value: Any) -> str:
    """Return JSON that may stand in a script element: nothing in it can close the element."""
    return json.dumps(value, ensure_ascii=True).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def templates(package: str) -> Environment:
    """Return a package's templates; texts are escaped where they stand."""
    made = Environment(
        loader=FunctionLoader(lambda name: _file(package, name)), autoescape=True, undefined=StrictUndefined
    )
    made.filters["script_json"] = script_json
    return made


def _file(package: str, name: str) -> str:
    return (files(package) / name).read_text("utf-8")


def new_app(hosts: frozenset[str], static: Mapping[str, tuple[str, str]], media: str) -> FastAPI:
    """Return an application that answers nobody but its own pages.

    Args:
        hosts: names that this server may be called by; requests under other names are refused.
        static: file name -> (package, media type) of what is served below /static/.
        media: path prefix of videos, whose replies say that parts can be asked for.
    """
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)

    @app.middleware("http")
    async def guard(request: Request, call_next: Any) -> Response:
        called = request.headers.get("host", "")
        host = called if called.endswith("]") else called.rsplit(":", 1)[0]
        origin = request.headers.get("origin")
        if host not in hosts or (origin is not None and origin.split("://")[-1] != called):
            return PlainTextResponse("this server is for the page that it serves itself", 403, headers=HEADERS)
        if request.method == "POST" and request.headers.get("content-type", "").split(";")[0] != "application/json":
            return PlainTextResponse("needed application/json", 415, headers=HEADERS)
        response: Response = await call_next(request)
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        if request.url.path.startswith(media):
            response.headers.setdefault("Accept-Ranges", "bytes")
        return response

    @app.get("/static/{name}")
    def asset(name: str) -> Response:
        if name not in static:
            raise HTTPException(404, "no such file")
        package, kind = static[name]
        return Response(_file(package, name), media_type=kind)

    return app
