"""Registers this library's own providers with litellm, and makes its chunks and exceptions."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from ctxcore.gateway.errors import ErrorKind
from ctxcore.gateway.values import ModelUsage
from ctxcore.litellm_loading import load_litellm
from ctxcore.messages.values import JsonObject, ToolCall

_registration = threading.Lock()

OpenStream = Callable[[str, Sequence[JsonObject], Mapping[str, object]], Iterator[object]]
"""Returns the stream of litellm's chunks for a model's name, messages and options."""


@dataclass(frozen=True, slots=True)
class _Handler:
    """Called by litellm for the models of one provider."""

    open_stream: OpenStream

    def streaming(
        self,
        *,
        model: str,
        messages: Sequence[JsonObject],
        optional_params: Mapping[str, object],
        **_: object,
    ) -> Iterator[object]:
        return self.open_stream(model, messages, optional_params)


def _handler(open_stream: OpenStream) -> object:
    """A handler that litellm accepts: newer versions call instances of their own class only."""
    base: type = importlib.import_module("litellm.llms.custom_llm").CustomLLM
    made: object = type("Handler", (_Handler, base), {})(open_stream)
    return made


def register_provider(prefix: str, open_stream: OpenStream) -> None:
    """Lets litellm answer models named `prefix/…` through `open_stream`; done only once."""
    litellm = load_litellm()
    provider = prefix.removesuffix("/")
    with _registration:
        known: list[dict[str, object]] = litellm.__dict__["custom_provider_map"]
        if all(item["provider"] != provider for item in known):
            known.append({"provider": provider, "custom_handler": _handler(open_stream)})
            importlib.import_module("litellm.utils").custom_llm_setup()


def read_options(options: Mapping[str, object]) -> tuple[int | None, float | None]:
    """The longest output in tokens and the temperature that litellm passes on."""
    output = options.get("max_tokens") or options.get("max_completion_tokens")
    temperature = options.get("temperature")
    return (
        output if isinstance(output, int) else None,
        temperature if isinstance(temperature, (int, float)) else None,
    )


_TYPE_OF_KIND: Mapping[ErrorKind, str] = {
    "auth": "AuthenticationError",
    "rate_limit": "RateLimitError",
    "quota": "PaymentRequiredError",
    "overflow": "ContextWindowExceededError",
    "timeout": "Timeout",
    "unavailable": "ServiceUnavailableError",
    "content_filter": "ContentPolicyViolationError",
    "unknown_model": "NotFoundError",
    "interrupted": "APIConnectionError",
}


def provider_exception(kind: ErrorKind, words: str, *, model: str) -> Exception:
    """litellm's exception for `kind` with the message `words`; a bad request for other kinds."""
    load_litellm()  # sets the import below up
    exceptions = importlib.import_module("litellm.exceptions")
    cls = getattr(exceptions, _TYPE_OF_KIND.get(kind, "BadRequestError"))
    provider = model.partition("/")[0]
    return cast("Exception", cls(message=words, model=model, llm_provider=provider))


class ChunkMaker:
    """Makes litellm's chunks for one model."""

    def __init__(self, model: str) -> None:
        load_litellm()  # sets the import below up
        self._types = importlib.import_module("litellm.types.utils")
        self._model = model

    def delta(self, delta: Mapping[str, object]) -> object:
        """A piece of the answer."""
        return self._chunk(delta, None)

    def finish(self, reason: str) -> object:
        """The end of the answer."""
        return self._chunk({"content": ""}, reason)

    def usage(self, usage: ModelUsage) -> object:
        """The usage of the call; without a choice, as OpenAI sends it."""
        chunk = self._types.ModelResponseStream(model=self._model, choices=[])
        if usage.is_known:
            chunk.usage = self._types.Usage(**_usage_fields(usage))
        return chunk

    def _chunk(self, delta: Mapping[str, object], finish_reason: str | None) -> object:
        choice = self._types.StreamingChoices(
            index=0, delta=self._types.Delta(**delta), finish_reason=finish_reason
        )
        return self._types.ModelResponseStream(model=self._model, choices=[choice])


def call_delta(index: int, call: ToolCall, arguments: str, *, is_first: bool) -> dict[str, object]:
    """A delta with a piece of a tool call; id and name go with its first piece."""
    function: dict[str, object] = {"arguments": arguments}
    piece: dict[str, object] = {"index": index, "type": "function", "function": function}
    if is_first:
        piece["id"] = call.id
        function["name"] = call.name
    return {"tool_calls": [piece]}


def pieces(text: str, size: int) -> Sequence[str]:
    """`text` cut into pieces of `size` characters; none for the empty text."""
    return [text[at : at + size] for at in range(0, len(text), size)]


def _usage_fields(usage: ModelUsage) -> dict[str, object]:
    read, written = usage.input_tokens or 0, usage.output_tokens or 0
    fields: dict[str, object] = {
        "prompt_tokens": read,
        "completion_tokens": written,
        "total_tokens": read + written,
    }
    details: dict[str, object] = {
        "cached_tokens": usage.cached_tokens,
        "cache_creation_tokens": usage.cache_write_tokens,
    }
    if usage.cache_hour_tokens is not None:
        kept = {"ephemeral_1h_input_tokens": usage.cache_hour_tokens}
        details["cache_creation_token_details"] = kept
    if any(value is not None for value in details.values()):
        fields["prompt_tokens_details"] = details
    if usage.reasoning_tokens is not None:
        fields["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning_tokens}
    return fields
