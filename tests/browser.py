"""``ego2world serve`` in a process of its own, and the browser that looks at it."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

BROWSER = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome", "chrome") if (found := shutil.which(name))),
    None,
)


class Server:
    """A server that can be killed and started again."""

    def __init__(self, *words: str | Path) -> None:
        self.words = [str(word) for word in words]
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        command = [str(Path(sys.executable).parent / "ego2world"), "serve", *self.words, "--port", str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(300):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.1)
        raise AssertionError("the server did not start")

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()


def until(page: Any, expression: str) -> None:
    """Wait for something on the page; by looking again and again, since the page itself allows no eval."""
    from playwright.sync_api import Error

    for _ in range(200):
        try:
            if page.evaluate(f"Boolean({expression})"):
                return
        except Error:
            pass  # the page is being replaced by the next one
        time.sleep(0.05)
    raise AssertionError(f"never true: {expression}; status: {page.inner_text('#status')}")
