"""Models without a network: rules as a model, and replies recorded earlier. Stage: core, model access."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path

from ego2world.core.models.base import Frames, Image, Reply, Request, Text, Usage
from ego2world.errors import ModelError, UsageError

TOKENS_PER_IMAGE = 85


class MockModel:
    """A function in the place of a model; counts tokens as words, so that accounting can be tested."""

    def __init__(self, respond: Callable[[Request], str | Reply], name: str = "mock") -> None:
        self.name = name
        self._respond = respond

    def generate(self, request: Request) -> Reply:
        """Return what the function says."""
        said = self._respond(request)
        if isinstance(said, Reply):
            return said
        return Reply(said, usage=Usage(count_words(request), 0, len(said.split())), model=self.name)

    def close(self) -> None:
        """Do nothing."""


def count_words(request: Request) -> int:
    """Return a token count: words, and a fixed number for each picture."""
    total = 0
    for message in request.messages:
        for part in message.parts:
            if isinstance(part, Text):
                total += len(part.text.split())
            elif isinstance(part, Image):
                total += TOKENS_PER_IMAGE
            elif isinstance(part, Frames):
                total += TOKENS_PER_IMAGE * len(part.images)
    return total


class ReplayModel:
    """Replies from a file of recorded calls, found by what was asked; the same question twice takes its replies in
    order.

    The file holds JSON lines with ``key`` (the request's) and ``reply``; a run's calls.jsonl is such a file.
    """

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise UsageError(f"no recorded replies {path}; give a calls.jsonl of an earlier run")
        self.name = f"replay:{path.name}"
        self._path = path
        self._lock = threading.Lock()
        self._replies: dict[str, list[tuple[str, Reply]]] = {}
        for number, line in enumerate(path.read_bytes().splitlines(), 1):
            try:
                row = json.loads(line)
                self._replies.setdefault(row["key"], []).append((row.get("tag", ""), Reply.of(row["reply"])))
            except (ValueError, KeyError, TypeError) as error:
                raise UsageError(
                    f"{path}, line {number}: not a recorded call ({error}); needed key and reply"
                ) from None

    def generate(self, request: Request) -> Reply:
        """Return the recorded reply: of the same tag where there is one, else the next one to the same question.

        Raises:
            ModelError: this was never asked.
        """
        with self._lock:
            found = self._replies.get(request.key)
            if not found:
                raise ModelError(
                    self.name, f"{self._path} has no reply to this request ({request.tag or request.key[:12]})"
                )
            index = next((i for i, (tag, _) in enumerate(found) if tag == request.tag), 0)
            return found.pop(index)[1] if len(found) > 1 else found[0][1]

    def close(self) -> None:
        """Do nothing."""
