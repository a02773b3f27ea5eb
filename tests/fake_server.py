"""A server on this machine that speaks the OpenAI chat protocol and misbehaves as told, for tests of everything above
it.

It counts the tokens of every reply that it sends whole; a test compares that count with the project's own ledger.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Script:
    """What the server does. ``faults`` gives, for the nth request, one of: "", "429", "500", "cut", "hang"."""

    respond: Callable[[dict[str, Any]], str]
    faults: Callable[[int], str] = lambda number: ""
    model: str = "tiny"
    latency_s: float = 0.0
    cached_share: float = 0.0
    finish: Callable[[dict[str, Any]], str] = lambda body: "stop"
    seen: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)
    bodies: list[dict[str, Any]] = field(default_factory=list)


@contextmanager
def fake_server(script: Script) -> Iterator[str]:
    """Serve a script; yields the base URL."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: object) -> None:
            """Say nothing."""

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                number = script.seen["requests"]
                script.seen["requests"] += 1
                script.bodies.append(body)
            fault = script.faults(number)
            with lock:
                script.seen[fault or "ok"] += 1
            time.sleep(script.latency_s)
            if fault in {"429", "500"}:
                self._send(int(fault), {"error": {"message": f"told to fail with {fault}", "type": "server_error"}})
                return
            if fault == "hang":
                time.sleep(30)
                return
            text = script.respond(body)
            prompt = len(json.dumps(body["messages"]).split())
            cached, words = int(prompt * script.cached_share), len(text.split())
            data = {
                "id": f"chatcmpl-{number}",
                "object": "chat.completion",
                "created": 0,
                "model": script.model,
                "choices": [
                    {
                        "index": 0,
                        "message": {"role": "assistant", "content": text},
                        "finish_reason": script.finish(body),
                    }
                ],
                "usage": {
                    "prompt_tokens": prompt,
                    "completion_tokens": words,
                    "total_tokens": prompt + words,
                    "prompt_tokens_details": {"cached_tokens": cached},
                    "completion_tokens_details": {"reasoning_tokens": words // 2},
                },
            }
            if fault == "cut":  # the connection breaks in the middle of the body
                raw = json.dumps(data).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw[: len(raw) // 2])
                self.wfile.flush()
                self.close_connection = True
                return
            with lock:
                script.tokens.update(input=prompt, cached=cached, output=words, reasoning=words // 2)
            self._send(200, data)

        def _send(self, status: int, data: dict[str, Any]) -> None:
            raw = json.dumps(data).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
