"""How commands reach a model: one set of options for all of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, wraps
from pathlib import Path
from typing import Any, get_type_hints

import typer

from ego2world.core.models import Endpoint, ModelClient, Reply, Request, connect

MODEL_HELP = "mock, replay:FILE, or PROVIDER/MODEL, such as openai/gpt-5-mini or openai-api/local/NAME."


@dataclass(frozen=True)
class ModelOptions:
    """What the user said of the service behind a model's name."""

    base_url: str | None
    cache: Path | None
    retries: int
    timeout: float
    any_served_model: bool

    def endpoint(self, concurrency: int = 1) -> Endpoint:
        """Return how the provider is reached by so many callers at the same time."""
        return Endpoint(self.retries, timeout_s=self.timeout, connections=max(8, concurrency), base_url=self.base_url)

    def connector(
        self, model: str, mock: Callable[[Request], str | Reply], concurrency: int = 1
    ) -> Callable[[], ModelClient]:
        """Return what connects to a model, also in another process; ``mock`` answers for the model of that name."""
        return partial(connect, model, mock, self.endpoint(concurrency), self.cache, self.any_served_model)


SERVICE: Any = None  # the default of the parameter that ``model_options`` fills
_OPTIONS: dict[str, tuple[Any, Any]] = {
    "base_url": (
        str | None,
        typer.Option(None, help="Base URL of an OpenAI-compatible server (openai-api/... models)."),
    ),
    "cache": (Path | None, typer.Option(None, help="Cache folder for model replies, reusable between runs.")),
    "retries": (int, typer.Option(5, min=0, help="Retries after transient errors (429, 5xx, timeouts).")),
    "timeout": (float, typer.Option(120.0, min=1, help="Timeout of one call, in seconds.")),
    "any_served_model": (bool, typer.Option(False, help="Accept replies from a model other than the one requested.")),
}


def model_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a model's service; its parameter ``service`` receives them as ``ModelOptions``."""
    hints = get_type_hints(command)
    parameters = []
    for parameter in inspect.signature(command).parameters.values():
        given = {parameter.name: (hints[parameter.name], parameter.default)}
        for name, (kind, default) in (_OPTIONS if parameter.name == "service" else given).items():
            parameters.append(inspect.Parameter(name, parameter.KEYWORD_ONLY, default=default, annotation=kind))

    @wraps(command)
    def wrapped(**given: Any) -> None:
        service = ModelOptions(**{name: given.pop(name) for name in _OPTIONS})
        command(service=service, **given)

    wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return wrapped
