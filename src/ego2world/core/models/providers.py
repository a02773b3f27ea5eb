"""Any provider or local server, through Inspect AI (extra "llm"). Stage: core, model access.

One event loop in a thread of its own serves all callers; the calls of many threads run there side by side. Retries are
Inspect's own (the client's are switched off, or each would be made several times over).
"""

from __future__ import annotations

import asyncio
import base64
import os
import re
import threading
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentAudio,
    ContentImage,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    ModelOutput,
    ResponseSchema,
    get_model,
)
from inspect_ai.util import JSONSchema
from tenacity import RetryError, wait_exponential_jitter

from ego2world.core.models.base import Endpoint, Frames, Image, Message, Part, Reply, Request, Stop, Text, Usage
from ego2world.errors import ModelError

_STOPS = {"max_tokens": Stop.CUT, "model_length": Stop.CONTEXT, "content_filter": Stop.REFUSED}
_failed: ContextVar[list[str]] = ContextVar("failed")


class ProviderModel:
    """A model of Inspect AI behind a plain, blocking call."""

    def __init__(self, name: str, endpoint: Endpoint) -> None:
        self.name = name
        self._endpoint = endpoint
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="models", daemon=True)
        key = endpoint.api_key or (os.environ.get("OPENAI_API_KEY", "none") if endpoint.base_url else None)
        compatible = name.startswith(("openai/", "openai-api/"))
        more: dict[str, Any] = {"max_retries": 0, "client_timeout": endpoint.timeout_s} if compatible else {}
        try:
            self._model = get_model(
                name,
                base_url=endpoint.base_url,
                api_key=key,
                memoize=False,
                config=GenerateConfig(
                    max_retries=endpoint.retries,
                    attempt_timeout=max(1, round(endpoint.timeout_s)),
                    max_connections=endpoint.connections,
                    adaptive_connections=False,
                ),
                **more,
            )
        except (
            Exception
        ) as error:  # a wrong name, a missing key, a missing provider package: all of them Inspect's own words
            self._loop.close()
            raise ModelError(name, f"cannot be opened: {_words(str(error))[:600]}") from None
        self._thread.start()
        api = self._model.api
        wait = wait_exponential_jitter(multiplier=endpoint.retry_wait_s, max=60, jitter=endpoint.retry_wait_s)
        judge = api.should_retry

        def should_retry(error: Any) -> Any:
            _failed.get().append(_first_line(error))
            return judge(error)

        api.retry_wait = lambda: wait  # type: ignore[method-assign]
        api.should_retry = should_retry  # type: ignore[method-assign, assignment]

    def generate(self, request: Request) -> Reply:
        """Ask the provider; see ``Model``."""
        return asyncio.run_coroutine_threadsafe(self._generate(request), self._loop).result()

    def close(self) -> None:
        """Close the connections and end the loop."""
        asyncio.run_coroutine_threadsafe(self._model.api.aclose(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _generate(self, request: Request) -> Reply:
        failed: list[str] = []
        _failed.set(failed)
        try:
            output = await self._model.generate(messages(request.messages), config=config_of(request))
        except Exception as error:
            cause = error.last_attempt.exception() if isinstance(error, RetryError) else error
            if _timed_out(cause):
                return Reply("", Stop.TIMED_OUT, None, "", errors=tuple(failed))
            raise ModelError(
                self.name, f"no reply after {max(1, len(failed))} attempt(s): {_first_line(cause)}", tuple(failed)
            ) from None
        return reply_of(output, tuple(failed))


def config_of(request: Request) -> GenerateConfig:
    """Return a request's settings as Inspect's."""
    schema = None
    if request.schema is not None:
        schema = ResponseSchema(name=request.schema_name, json_schema=JSONSchema.model_validate(request.schema))
    return GenerateConfig(
        temperature=request.temperature, seed=request.seed, max_tokens=request.max_tokens, response_schema=schema
    )


def _timed_out(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, TimeoutError) or "timeout" in type(error).__name__.lower():
            return True
        error = error.__cause__ or error.__context__
    return False


def _words(text: str) -> str:
    """Return a message of Inspect's on one line, without its markup."""
    return " ".join(re.sub(r"\[/?[a-z ]+\]", "", text).split()).removeprefix("ERROR: ")


def _first_line(error: BaseException | None) -> str:
    return f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0][:300]}"


def reply_of(output: ModelOutput, errors: tuple[str, ...]) -> Reply:
    """Return Inspect's output as a reply."""
    if output.empty:
        return Reply("", Stop.REFUSED if output.error else Stop.DONE, _usage(output), output.model, errors=errors)
    content = output.message.content
    parts = [] if isinstance(content, str) else content
    reasoning = "\n".join(part.reasoning for part in parts if isinstance(part, ContentReasoning))
    stop = _STOPS.get(output.stop_reason, Stop.DONE)
    return Reply(output.completion, stop, _usage(output), output.model, reasoning, errors)


def _usage(output: ModelOutput) -> Usage | None:
    if output.usage is None:
        return None
    read, written = output.usage.input_tokens_cache_read or 0, output.usage.input_tokens_cache_write or 0
    return Usage(
        output.usage.input_tokens + read + written, read, output.usage.output_tokens, output.usage.reasoning_tokens or 0
    )


def messages(turns: Sequence[Message]) -> list[ChatMessage]:
    """Return the turns as Inspect's messages, media as data URIs."""
    kinds = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
    return [kinds[turn.role](content=[c for part in turn.parts for c in _content(part)]) for turn in turns]


def _content(part: Part) -> list[Content]:
    if isinstance(part, Text):
        return [ContentText(text=part.text)]
    if isinstance(part, Image):
        return [ContentImage(image=_data_uri(part.media_type, part.data))]
    if isinstance(part, Frames):
        shown: list[Content] = []
        for image, time_s in zip(part.images, part.times_s, strict=True):
            shown += [ContentText(text=f"frame at {time_s:.2f} s:"), *_content(image)]
        return shown
    mime = "audio/mpeg" if part.format == "mp3" else "audio/wav"
    return [ContentAudio(audio=_data_uri(mime, part.data), format="mp3" if part.format == "mp3" else "wav")]


def _data_uri(mime: str, data: bytes) -> str:
    return f"data:{mime};base64,{base64.b64encode(data).decode()}"
