"""Serves the built-in model as the litellm provider `local/smollm2-135m`.

The model has no tools: definitions are left out, and calls and results are sent as text.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from ctxcore.gateway.classify import parse_overflow
from ctxcore.gateway.errors import ErrorKind
from ctxcore.gateway.local.model import LocalModel, load_local_model
from ctxcore.gateway.local.status import LOCAL_MODEL, require_local_model
from ctxcore.gateway.runtime import (
    ChunkMaker,
    provider_exception,
    read_options,
    register_provider,
)
from ctxcore.gateway.threads import start_thread
from ctxcore.gateway.values import ModelUsage
from ctxcore.messages.openai import parse_message
from ctxcore.messages.values import JsonObject
from ctxcore.tokens.templates import plain_text, template_role

LOCAL_PREFIX = "local/"
DEFAULT_OUTPUT_TOKENS = 512  # chosen: without a bound it writes until its window is full
DEFAULT_TEMPERATURE = 0.2  # what the model's card recommends
REPEAT_PENALTY = 1.15  # chosen: without one a model this small repeats itself on long contexts
REPEAT_LAST_TOKENS = 256  # chosen: how far back it looks for repetitions

_END = None
_Chunks: TypeAlias = "queue.SimpleQueue[Mapping[str, object] | BaseException | None]"


def ensure_local_provider() -> None:
    """Registers the provider.

    Raises:
        LocalModelUnavailable: the built-in model cannot run here.
    """
    require_local_model()
    register_provider(LOCAL_PREFIX, _open_stream)


def _open_stream(
    model: str, messages: Sequence[JsonObject], options: Mapping[str, object]
) -> Iterator[object]:
    if LOCAL_PREFIX + model.removeprefix(LOCAL_PREFIX) != LOCAL_MODEL:
        raise provider_exception("unknown_model", "no such built-in model", model=model)
    return LocalStream(load_local_model(), to_body(messages, options))


class LocalStream(Iterator[object]):
    """litellm's chunks of one generation, which runs in a thread of its own.

    `close` stops it from any thread; so does dropping the stream.
    """

    def __init__(self, model: LocalModel, body: JsonObject) -> None:
        self._stop = threading.Event()
        self._queue: _Chunks = queue.SimpleQueue()
        self._make = ChunkMaker(LOCAL_MODEL)
        self._pending: list[object] = []
        self._finish_reason = "stop"
        work = _generation(model, body, self._queue, self._stop)
        start_thread(work, name="ctxcore-local-model", stop=self._stop.set)

    def __next__(self) -> object:
        while not self._pending:
            item = self._queue.get()
            if item is _END:
                self._queue.put(_END)  # litellm asks once more after the end
                raise StopIteration
            if isinstance(item, BaseException):
                raise item
            self._pending.extend(self._read(item))
        return self._pending.pop(0)

    def close(self) -> None:
        """Stops the generation; returns at once."""
        self._stop.set()
        self._queue.put(_END)

    def __del__(self) -> None:
        self._stop.set()

    def _read(self, item: Mapping[str, object]) -> list[object]:
        """litellm's chunks for one of llama.cpp; usage comes last there and ends the reply."""
        if usage := item.get("usage"):
            return [self._make.usage(_parse_usage(usage)), self._make.finish(self._finish_reason)]
        choices = item.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else {}
        self._finish_reason = choice.get("finish_reason") or self._finish_reason
        text = (choice.get("delta") or {}).get("content")
        return [self._make.delta({"content": text})] if text else []


def to_body(messages: Sequence[JsonObject], options: Mapping[str, object]) -> JsonObject:
    """The request as llama.cpp expects it; messages as role and text."""
    max_output_tokens, temperature = read_options(options)
    return {
        "messages": [_to_plain(message) for message in messages],
        "max_tokens": DEFAULT_OUTPUT_TOKENS if max_output_tokens is None else max_output_tokens,
        "temperature": DEFAULT_TEMPERATURE if temperature is None else float(temperature),
        "repeat_penalty": REPEAT_PENALTY,
        "repeat_last_n": REPEAT_LAST_TOKENS,
        "stream": True,
        "stream_options": {"include_usage": True},
        "return_progress": True,  # a chunk per prompt batch, so that a long prompt can be stopped
    }


def _to_plain(raw: JsonObject) -> JsonObject:
    message = parse_message(raw)
    return {"role": template_role(message), "content": plain_text(message)}


def _generation(
    model: LocalModel, body: JsonObject, out: _Chunks, stop: threading.Event
) -> Callable[[], None]:
    """The work of the thread. It must not refer to the stream, which stops it when dropped."""

    def on_chunk(chunk: Mapping[str, object]) -> bool:
        out.put(_parse_error(chunk) or chunk)
        return stop.is_set()

    def run() -> None:
        try:
            model.generate(body, on_chunk, stop)
        except Exception as error:  # noqa: BLE001 - raised again in the reader's thread
            out.put(error)
        finally:
            out.put(_END)

    return run


def _parse_error(chunk: Mapping[str, object]) -> Exception | None:
    """An error of llama.cpp as litellm's; None if the chunk is none."""
    error = chunk.get("error")
    if not isinstance(error, Mapping):
        return None
    text = str(error.get("message"))
    kind: ErrorKind = "overflow" if parse_overflow(text) else "bad_request"
    return provider_exception(kind, text, model=LOCAL_MODEL)


def _parse_usage(usage: object) -> ModelUsage:
    if not isinstance(usage, Mapping):
        return ModelUsage()
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else None
    return ModelUsage(
        input_tokens=usage.get("prompt_tokens"),
        cached_tokens=cached,
        output_tokens=usage.get("completion_tokens"),
    )
