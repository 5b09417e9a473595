"""Serves scripted models as the litellm provider `scripted/<name>`."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ctxcore.gateway.errors import ErrorKind
from ctxcore.gateway.runtime import (
    ChunkMaker,
    call_delta,
    pieces,
    provider_exception,
    read_options,
    register_provider,
)
from ctxcore.gateway.scripted import (
    SCRIPTED_PREFIX,
    SCRIPTS_VARIABLE,
    ScriptedModel,
    ScriptedReply,
    ScriptedRequest,
    load_scripted_models,
    scripted_model,
)
from ctxcore.gateway.values import ModelUsage
from ctxcore.messages.canonical import to_canonical
from ctxcore.messages.openai import parse_message
from ctxcore.messages.values import JsonObject

_ERROR_TEXTS: Mapping[ErrorKind, str] = {
    "auth": "Incorrect API key provided.",
    "rate_limit": "Rate limit reached for requests. Please try again in 20s.",
    "quota": "You exceeded your current quota, please check your plan and billing details.",
    "overflow": "This model's maximum context length is 8192 tokens. "
    "However, your messages resulted in 9000 tokens.",
    "timeout": "Request timed out.",
    "unavailable": "The server is overloaded or not ready yet.",
    "content_filter": "The response was filtered by the content policy.",
    "malformed_history": "An assistant message with 'tool_calls' must be followed by tool messages "
    "responding to each 'tool_call_id'.",
    "unknown_model": "The model does not exist.",
    "interrupted": "Connection lost.",
}

_lock = threading.Lock()
_is_registered = False


def ensure_scripted_provider() -> None:
    """Registers the provider and reads the scripts that the environment names, once.

    Raises:
        FormatError: the file that the environment names is not a script.
    """
    global _is_registered
    with _lock:
        if _is_registered:
            return
        if path := os.environ.get(SCRIPTS_VARIABLE):
            load_scripted_models(Path(path))
        register_provider(SCRIPTED_PREFIX, _open_stream)
        _is_registered = True


def _open_stream(
    model: str, messages: Sequence[JsonObject], options: Mapping[str, object]
) -> Iterator[object]:
    name = SCRIPTED_PREFIX + model.removeprefix(SCRIPTED_PREFIX)
    script = scripted_model(name)
    if script is None:
        raise provider_exception("unknown_model", f"the model {name} does not exist", model=name)
    request = to_request(messages, options, script)
    return ScriptedStream(script, request, script.take_reply(request))


class ScriptedStream(Iterator[object]):
    """litellm's chunks of one scripted reply; `close` ends its pauses from any thread."""

    def __init__(
        self, script: ScriptedModel, request: ScriptedRequest, reply: ScriptedReply
    ) -> None:
        self._script = script
        self._stop = threading.Event()
        self._has_ended = False
        self._chunks = _chunks(script, request, reply, self._stop)

    def __next__(self) -> object:
        try:
            return next(self._chunks)
        except BaseException:
            self._has_ended = True
            raise

    def close(self) -> None:
        """Ends the reply; it counts as cancelled unless it had ended."""
        if not self._stop.is_set() and not self._has_ended:
            self._script.note_cancelled()
        self._stop.set()


def to_request(
    messages: Sequence[JsonObject], options: Mapping[str, object], script: ScriptedModel
) -> ScriptedRequest:
    """The request as litellm passed it on, with its input tokens."""
    tools = options.get("tools")
    definitions = tuple(tools) if isinstance(tools, list) else ()
    max_output_tokens, temperature = read_options(options)
    counted = sum(_count_message(message, script) for message in messages)
    return ScriptedRequest(
        messages=tuple(dict(message) for message in messages),
        tools=definitions,
        max_output_tokens=max_output_tokens,
        temperature=temperature,
        input_tokens=counted + sum(script.count(to_canonical(tool)) for tool in definitions),
    )


def _count_message(raw: JsonObject, script: ScriptedModel) -> int:
    message = parse_message(raw)
    return sum(map(script.count, (message.text, *(call.arguments for call in message.calls))))


def _chunks(
    script: ScriptedModel, request: ScriptedRequest, reply: ScriptedReply, stop: threading.Event
) -> Iterator[object]:
    """The reply's chunks with its pauses; ends early when `stop` is set."""
    make = ChunkMaker(script.model)
    stop.wait(reply.first_delay_seconds)
    for at, delta in enumerate(_deltas(reply)):
        if reply.error is not None and at >= (reply.error_after_chunks or 0):
            break
        if at:
            stop.wait(reply.chunk_delay_seconds)
        if stop.is_set():
            return
        yield make.delta(delta)
    if reply.error is not None:
        text = reply.error_text or _ERROR_TEXTS.get(reply.error, "The request was refused.")
        raise provider_exception(reply.error, text, model=script.model)
    yield make.usage(_usage(script, request, reply))
    yield make.finish(reply.finish_reason or ("tool_calls" if reply.calls else "stop"))


def _deltas(reply: ScriptedReply) -> Iterator[dict[str, object]]:
    for piece in pieces(reply.reasoning, reply.chunk_chars):
        yield {"reasoning_content": piece}
    for piece in pieces(reply.text, reply.chunk_chars):
        yield {"content": piece}
    for index, call in enumerate(reply.calls):
        for at, piece in enumerate(pieces(call.arguments, reply.chunk_chars) or [""]):
            yield call_delta(index, call, piece, is_first=at == 0)


def _usage(script: ScriptedModel, request: ScriptedRequest, reply: ScriptedReply) -> ModelUsage:
    if reply.usage != "counted":
        return reply.usage
    written = (reply.text, reply.reasoning, *(call.arguments for call in reply.calls))
    return ModelUsage(
        input_tokens=request.input_tokens,
        output_tokens=sum(map(script.count, written)),
        reasoning_tokens=script.count(reply.reasoning) if reply.reasoning else None,
    )
