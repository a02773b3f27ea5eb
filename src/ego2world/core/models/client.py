"""The model client: opens a model by its name and adds what every caller wants. Stage: core, model access.

Cache files are JSON, one a request, named by the hash of request and model, so that two models never share a reply;
they hold no code and do not expire. Equal requests at the same time are made once.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ego2world.core.canonical import canonical_json, pretty_json, sha256, write_atomic
from ego2world.core.extras import extra
from ego2world.core.models.base import Endpoint, Model, Reply, Request, Stop
from ego2world.core.models.recorded import MockModel, ReplayModel
from ego2world.errors import ModelError, UsageError


def open_model(
    name: str, respond: Callable[[Request], str | Reply] | None = None, endpoint: Endpoint | None = None
) -> Model:
    """Return a model by its name.

    Args:
        name: "mock", "replay:FILE", or a provider's name such as "openai/gpt-5-mini", "anthropic/claude-sonnet-4-5" or
            "openai-api/local/my-model" (the extra "llm").
        respond: what "mock" says.
        endpoint: how a provider is reached.

    Raises:
        UsageError: no such model, or the extra is missing.
    """
    if name == "mock":
        if respond is None:
            raise UsageError("model mock is not available here; it needs rules to answer by")
        return MockModel(respond)
    if name.startswith("replay:"):
        return ReplayModel(Path(name.removeprefix("replay:")))
    if "/" not in name:
        raise UsageError(
            f"no model {name!r}; needed mock, replay:FILE, or PROVIDER/MODEL such as openai/gpt-5-mini or"
            " openai-api/local/NAME"
        )
    with extra("llm", f"model {name}"):
        from ego2world.core.models.providers import ProviderModel  # the optional dependency's single door
    return ProviderModel(name, endpoint or Endpoint())


def connect(
    name: str,
    respond: Callable[[Request], str | Reply] | None = None,
    endpoint: Endpoint | None = None,
    cache: Path | None = None,
    any_served_model: bool = False,
) -> ModelClient:
    """Return a model by its name behind a door; see ``open_model`` and ``ModelClient``."""
    endpoint = endpoint or Endpoint()
    return ModelClient(open_model(name, respond, endpoint), cache, endpoint.connections, any_served_model)


class ModelClient:
    """A model with a cache, single flight, a limit of concurrent calls, and a check of who answers."""

    def __init__(
        self, model: Model, cache: Path | None = None, connections: int = 8, any_served_model: bool = False
    ) -> None:
        self.name = model.name
        self._model = model
        self._cache = cache
        self._any = any_served_model
        self._slots = threading.BoundedSemaphore(connections)
        self._lock = threading.Lock()
        self._flights: dict[str, threading.Lock] = {}

    def generate(self, request: Request) -> Reply:
        """Return a reply, from the cache where it has one.

        Raises:
            ModelError: the service gave none, or another model than the one asked for answered.
        """
        if self._cache is None:
            return self._live(request)
        key = sha256(canonical_json({"model": self.name, "request": request.key}))
        path = self._cache / key[:2] / f"{key}.json"
        with self._lock:
            flight = self._flights.setdefault(key, threading.Lock())
        with flight:
            if path.is_file():
                return replace(Reply.of(json.loads(path.read_bytes())["reply"]), cached=True)
            reply = self._live(request)
            if reply.stop is not Stop.TIMED_OUT:
                row = {"model": self.name, "request": request.body, "reply": reply.plain()}
                write_atomic(path, pretty_json(row))
        return reply

    def close(self) -> None:
        """Give the model's connections back."""
        self._model.close()

    def _live(self, request: Request) -> Reply:
        with self._slots:
            reply = self._model.generate(request)
        if not self._any and reply.model and not serves(self.name, reply.model):
            raise ModelError(
                self.name,
                f"{reply.model} answered in its place; allow that (--any-served-model) or name the model that is"
                " served",
            )
        return reply


def serves(requested: str, served: str) -> bool:
    """Say whether a served model may stand for a requested one: the same name, or the same with a date or revision."""
    wanted, found = requested.rsplit("/", 1)[-1].lower(), served.rsplit("/", 1)[-1].lower()
    rest = found.removeprefix(wanted)
    return found == wanted or (
        rest != found and rest[:1] in "-@:." and any(c.isdigit() for c in rest) and not rest[1:2].isalpha()
    )
