"""What is asked of a chat model and what comes back, as plain values. Stage: core, model access."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, Protocol

from ego2world.core.canonical import canonical_json, sha256


@dataclass(frozen=True)
class Text:
    """Words."""

    text: str

    def plain(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"text": self.text}


@dataclass(frozen=True)
class Image:
    """One picture as encoded bytes, such as "image/png"."""

    data: bytes
    media_type: str = "image/png"

    def plain(self) -> dict[str, Any]:
        """Return the JSON form, with the hash in place of the bytes."""
        return {"image": sha256(self.data), "media_type": self.media_type}


@dataclass(frozen=True)
class Frames:
    """Pictures of one clip, each with its time in seconds; sent as images, each after a line with its time."""

    images: tuple[Image, ...]
    times_s: tuple[float, ...]

    def plain(self) -> dict[str, Any]:
        """Return the JSON form, with hashes in place of the bytes."""
        return {"frames": [i.plain() for i in self.images], "times_s": list(self.times_s)}


@dataclass(frozen=True)
class Audio:
    """Sound as encoded bytes; ``format`` is "wav" or "mp3"."""

    data: bytes
    format: str = "wav"

    def plain(self) -> dict[str, Any]:
        """Return the JSON form, with the hash in place of the bytes."""
        return {"audio": sha256(self.data), "format": self.format}


Part = Text | Image | Frames | Audio


@dataclass(frozen=True)
class Message:
    """One turn of a conversation; ``role`` is "system", "user" or "assistant"."""

    role: str
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """The words of the turn."""
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))


def user(text: str, *more: Part) -> Message:
    """Return a user turn of words and media."""
    return Message("user", (Text(text), *more))


@dataclass(frozen=True)
class Request:
    """One call. ``tag`` says for what it is made; it is not part of the identity of the request.

    ``schema`` is a JSON schema for the reply; providers enforce it as far as they can, and callers validate all the
    same.
    """

    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    schema_name: str = "reply"
    temperature: float | None = 0.0
    seed: int | None = None
    max_tokens: int | None = None
    tag: str = field(default="", compare=False)

    @cached_property
    def body(self) -> dict[str, Any]:
        """The JSON form: everything that may change the reply, the model apart."""
        return {
            "messages": [{"role": m.role, "parts": [p.plain() for p in m.parts]} for m in self.messages],
            "schema": self.schema,
            "temperature": self.temperature,
            "seed": self.seed,
            "max_tokens": self.max_tokens,
        }

    @cached_property
    def key(self) -> str:
        """SHA-256 of the request, equal in any process."""
        return sha256(canonical_json(self.body))


@dataclass(frozen=True)
class Usage:
    """Tokens of one reply. ``input_tokens`` is the whole input, ``cached_tokens`` the part of it that a provider had
    cached; ``output_tokens`` is the whole output, ``reasoning_tokens`` the part of it that was reasoning."""

    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0

    @property
    def fresh_tokens(self) -> int:
        """Input tokens that were not cached."""
        return self.input_tokens - self.cached_tokens

    @property
    def total_tokens(self) -> int:
        """Input and output."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.cached_tokens + other.cached_tokens,
            self.output_tokens + other.output_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
        )

    def plain(self) -> dict[str, int]:
        """Return the JSON form."""
        return {
            "input_tokens": self.input_tokens,
            "cached_tokens": self.cached_tokens,
            "output_tokens": self.output_tokens,
            "reasoning_tokens": self.reasoning_tokens,
        }

    @staticmethod
    def of(counts: Mapping[str, Any]) -> Usage:
        """Read counts in this project's form or a provider's.

        Servers of the OpenAI protocol count cached tokens inside ``prompt_tokens``; others report ``input_tokens``
        without what was read from (``cache_read_input_tokens``) or written to (``cache_creation_input_tokens``) the
        cache.
        """
        if "prompt_tokens" in counts:
            inner = counts.get("prompt_tokens_details") or {}
            outer = counts.get("completion_tokens_details") or {}
            cached = inner.get("cached_tokens", counts.get("cached_tokens", 0)) or 0
            return Usage(
                counts["prompt_tokens"],
                cached,
                counts.get("completion_tokens", 0),
                outer.get("reasoning_tokens", 0) or 0,
            )
        read = counts.get("cache_read_input_tokens", 0) or 0
        written = counts.get("cache_creation_input_tokens", 0) or 0
        return Usage(
            counts.get("input_tokens", 0) + read + written,
            counts.get("cached_tokens", read),
            counts.get("output_tokens", 0),
            counts.get("reasoning_tokens", 0),
        )


class Stop(StrEnum):
    """Why a reply ended."""

    DONE = "done"
    CUT = "cut"  # the token limit of the reply
    CONTEXT = "context"  # the request is longer than the model's context
    REFUSED = "refused"  # a content filter, or a refusal that the server marks as such
    TIMED_OUT = "timed_out"  # no reply within the time allowed, retries included


@dataclass(frozen=True)
class Reply:
    """What came back. ``model`` is the name the server gave itself; ``errors`` are the failed attempts before it.

    ``usage`` is None where the server gave no counts. ``cached`` marks a reply from this side's cache: nothing was
    billed.
    """

    text: str
    stop: Stop = Stop.DONE
    usage: Usage | None = None
    model: str = ""
    reasoning: str = ""
    errors: tuple[str, ...] = ()
    cached: bool = False

    def plain(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "text": self.text,
            "stop": self.stop.value,
            "usage": self.usage.plain() if self.usage else None,
            "model": self.model,
            "reasoning": self.reasoning,
            "errors": list(self.errors),
            "cached": self.cached,
        }

    @staticmethod
    def of(plain: Mapping[str, Any]) -> Reply:
        """Read the JSON form; what is left out takes its default, and token counts may be in a provider's form."""
        usage = plain.get("usage")
        return Reply(
            plain["text"],
            Stop(plain.get("stop", "done")),
            Usage.of(usage) if usage else None,
            plain.get("model", ""),
            plain.get("reasoning", ""),
            tuple(plain.get("errors", ())),
            bool(plain.get("cached", False)),
        )


class Model(Protocol):
    """Where replies come from. Must be safe to call from several threads."""

    name: str

    def generate(self, request: Request) -> Reply:
        """Return the reply.

        Raises:
            ModelError: the service gave none.
        """

    def close(self) -> None:
        """Give connections back; nothing may be asked afterwards."""


@dataclass(frozen=True)
class Endpoint:
    """How a provider is reached.

    retries: attempts after the first, for errors that may pass (429, 5xx, time-outs, broken connections).
    retry_wait_s: first pause between attempts, in seconds; doubles, with jitter, up to a minute.
    timeout_s: limit of one attempt in seconds.
    connections: calls at the same time.
    base_url: of a server that speaks the OpenAI protocol, for names of the form "openai-api/SERVICE/MODEL".
    api_key: by default the provider's own environment variable; for a ``base_url`` OPENAI_API_KEY, which need not be
    set.
    """

    retries: int = 5
    retry_wait_s: float = 2.0
    timeout_s: float = 120.0
    connections: int = 8
    base_url: str | None = None
    api_key: str | None = None
