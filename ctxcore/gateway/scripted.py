"""Defines scripted models, `scripted/<name>`, whose replies are written beforehand.

They answer through litellm like any provider, so that tests and demos take the real path:
streaming, cancelling, retries, errors. A scripted model keeps every request it got.

In the same process, make a `ScriptedModel`. For another process, name a JSON file in the
environment variable `CTXCORE_SCRIPTED_MODELS`:

    {"demo": {"replies": [{"text": "Hello"}, {"error": "overflow"}], "otherwise": {"echo": true}}}
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import TracebackType
from typing import Literal, NoReturn, TypeAlias, cast, get_args

from ctxcore.errors import FormatError
from ctxcore.gateway.errors import ErrorKind
from ctxcore.gateway.runtime import (
    ChunkMaker,
    call_delta,
    pieces,
    provider_exception,
    read_options,
    register_provider,
)
from ctxcore.gateway.values import ModelUsage
from ctxcore.messages.canonical import to_canonical
from ctxcore.messages.openai import parse_message
from ctxcore.messages.values import JsonObject, JsonValue, ToolCall
from ctxcore.reasons.foreign import reason_of
from ctxcore.reasons.places import Place, PlaceCode
from ctxcore.reasons.storage_problems import ScriptProblem
from ctxcore.reasons.values import Reason, repr_fact

SCRIPTED_PREFIX = "scripted/"
SCRIPTS_VARIABLE = "CTXCORE_SCRIPTED_MODELS"

ECHO = "You said: {text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedReply:
    """One scripted reply: thinking, text, then calls; or an error instead of or after them."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None
    """By default `tool_calls` where there are calls, else `stop`."""
    usage: ModelUsage | Literal["counted"] = "counted"
    """The reported usage: by the model's counter, or as given; `ModelUsage()` reports nothing."""
    first_delay_seconds: float = 0.0
    chunk_delay_seconds: float = 0.0
    chunk_chars: int = 12
    error: ErrorKind | None = None
    error_text: str = ""
    """The provider's message; a typical one of that kind if empty."""
    error_after_chunks: int | None = None
    """Chunks that arrive before the error; None: it comes instead of an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedRequest:
    """A request as it arrived at the provider, behind litellm."""

    messages: tuple[JsonObject, ...]
    tools: tuple[JsonObject, ...] = ()
    max_output_tokens: int | None = None
    temperature: float | None = None
    input_tokens: int = 0
    """By the model's counter."""

    @property
    def last_user_text(self) -> str:
        """The text of the newest user message; empty if there is none."""
        users = (parse_message(raw) for raw in reversed(self.messages) if raw["role"] == "user")
        return next((message.text for message in users), "")


Script: TypeAlias = "ScriptedReply | Callable[[ScriptedRequest], ScriptedReply]"


def echo(
    template: str = ECHO, reply: ScriptedReply | None = None
) -> Callable[[ScriptedRequest], ScriptedReply]:
    """A script that answers `template` with the newest user message in place of `{text}`.

    `reply` gives all else: its calls, delays and usage.
    """
    base = reply or ScriptedReply()
    return lambda request: replace(base, text=template.replace("{text}", request.last_user_text))


def count_words(text: str) -> int:
    """The words of `text`, a count that is easy to check by hand."""
    return len(text.split())


class ScriptedModel:
    """Answers with `replies` in order, then always `otherwise`; safe to share between threads.

    Args:
        name: of the model `scripted/<name>`; a new model of the same name replaces the old.
        replies: for the first, second, … request.
        otherwise: for every request after those.
        count: tokens of a text, for usage and window.
        window_tokens: a longer input is refused as an overflow, without using up a reply.
    """

    def __init__(
        self,
        name: str,
        replies: Iterable[Script] = (),
        *,
        otherwise: Script | None = None,
        count: Callable[[str], int] = count_words,
        window_tokens: int | None = None,
    ) -> None:
        self.model = SCRIPTED_PREFIX + name
        self.count = count
        self.window_tokens = window_tokens
        self._replies = list(replies)
        self._otherwise = otherwise or echo()
        self._requests: list[ScriptedRequest] = []
        self._cancelled = 0
        self._lock = threading.Lock()
        with _models_lock:
            _models[self.model] = self

    def __enter__(self) -> ScriptedModel:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.remove()

    def remove(self) -> None:
        """Removes this model; later requests for its name fail as an unknown model."""
        with _models_lock:
            if _models.get(self.model) is self:
                del _models[self.model]

    @property
    def requests(self) -> tuple[ScriptedRequest, ...]:
        """Every request so far, in order of arrival, refused ones too."""
        with self._lock:
            return tuple(self._requests)

    @property
    def cancelled(self) -> int:
        """How many streams were closed before their end."""
        return self._cancelled

    def take_reply(self, request: ScriptedRequest) -> ScriptedReply:
        """The next reply; the request is recorded."""
        with self._lock:
            self._requests.append(request)
            if self.window_tokens is not None and request.input_tokens > self.window_tokens:
                return _refusal(request.input_tokens, self.window_tokens)
            script = self._replies.pop(0) if self._replies else self._otherwise
        return script if isinstance(script, ScriptedReply) else script(request)

    def note_cancelled(self) -> None:
        """Counts a stream that was closed before its end."""
        with self._lock:
            self._cancelled += 1


_models: dict[str, ScriptedModel] = {}
_models_lock = threading.Lock()


def scripted_model(model: str) -> ScriptedModel | None:
    """The scripted model named `scripted/<name>`; None if there is none."""
    with _models_lock:
        return _models.get(model)


def _refusal(needed: int, limit: int) -> ScriptedReply:
    text = (
        f"This model's maximum context length is {limit} tokens. "
        f"However, your messages resulted in {needed} tokens."
    )
    return ScriptedReply(error="overflow", error_text=text)


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

_registration = threading.Lock()
_is_registered = False


def ensure_scripted_provider() -> None:
    """Registers the provider and reads the scripts that the environment names, once.

    Raises:
        FormatError: the file that the environment names is not a script.
    """
    global _is_registered
    with _registration:
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
    request = _to_request(messages, options, script)
    return _ScriptedStream(script, request, script.take_reply(request))


class _ScriptedStream(Iterator[object]):
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


def _to_request(
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


_REPLY_KEYS = (*(field.name for field in fields(ScriptedReply)), "echo")


def load_scripted_models(path: Path) -> list[ScriptedModel]:
    """The models that the file at `path` describes, each registered under its name.

    Raises:
        FormatError: the file is not JSON or not of this form.
    """
    try:
        content: JsonValue = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FormatError(path=str(path), problem=reason_of(error)) from error
    if not isinstance(content, dict):
        raise FormatError(path=str(path), problem=ScriptProblem.NO_MODELS())
    return [_parse_model(name, entry, str(path)) for name, entry in content.items()]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fields:
    """The values of one JSON object, each read as the type it must have."""

    path: str
    place: Place
    values: Mapping[str, JsonValue]

    def text(self, key: str) -> str:
        value = self.values.get(key, "")
        return value if isinstance(value, str) else self._refuse(key)

    def number(self, key: str) -> float:
        value = self.values.get(key, 0.0)
        return float(value) if isinstance(value, (int, float)) else self._refuse(key)

    def whole(self, key: str) -> int | None:
        value = self.values.get(key)
        return value if value is None or isinstance(value, int) else self._refuse(key)

    def items(self, key: str) -> list[JsonValue]:
        value = self.values.get(key, [])
        return value if isinstance(value, list) else self._refuse(key)

    def inner(self, entry: JsonValue, part: str, allowed: Iterable[str]) -> _Fields:
        return _fields(entry, self.path, self.place.within(part), allowed)

    def _refuse(self, key: str) -> NoReturn:
        problem = ScriptProblem.VALUE(key=key, value=repr_fact(self.values[key]))
        raise _error(self.path, self.place, problem)


def _fields(entry: JsonValue, path: str, place: Place, allowed: Iterable[str]) -> _Fields:
    if not isinstance(entry, dict):
        raise _error(path, place, ScriptProblem.NO_OBJECT())
    if unknown := sorted(set(entry) - set(allowed)):
        raise _error(path, place, ScriptProblem.UNKNOWN_KEYS(names=tuple(unknown)))
    return _Fields(path=path, place=place, values=entry)


def _error(path: str, place: Place, problem: Reason) -> FormatError:
    return FormatError(path=path, problem=PlaceCode.AT(place=place.reason, problem=problem))


def _parse_model(name: str, entry: JsonValue, path: str) -> ScriptedModel:
    allowed = ("replies", "otherwise", "window_tokens")
    fields = _fields(entry, path, Place(PlaceCode.MODEL, name), allowed)
    raws = enumerate(fields.items("replies"))
    replies = [_parse_reply(fields, raw, f"reply {at}") for at, raw in raws]
    otherwise = fields.values.get("otherwise")
    return ScriptedModel(
        name,
        replies,
        otherwise=None if otherwise is None else _parse_reply(fields, otherwise, "otherwise"),
        window_tokens=fields.whole("window_tokens"),
    )


def _parse_reply(model: _Fields, raw: JsonValue, part: str) -> Script:
    fields = model.inner(raw, part, _REPLY_KEYS)
    reply = ScriptedReply(
        text=fields.text("text"),
        reasoning=fields.text("reasoning"),
        calls=tuple(_parse_call(fields, at, raw) for at, raw in enumerate(fields.items("calls"))),
        finish_reason=fields.text("finish_reason") or None,
        usage=_parse_usage(fields),
        first_delay_seconds=fields.number("first_delay_seconds"),
        chunk_delay_seconds=fields.number("chunk_delay_seconds"),
        chunk_chars=fields.whole("chunk_chars") or ScriptedReply().chunk_chars,
        error=_parse_error(fields),
        error_text=fields.text("error_text"),
        error_after_chunks=fields.whole("error_after_chunks"),
    )
    template = fields.values.get("echo")
    if not template:
        return reply
    return echo(template if isinstance(template, str) else ECHO, reply)


def _parse_call(fields: _Fields, at: int, raw: JsonValue) -> ToolCall:
    call = fields.inner(raw, f"call {at}", ("id", "name", "arguments"))
    return ToolCall(
        id=call.text("id") or f"call_{at + 1}",
        name=call.text("name"),
        arguments=call.text("arguments") or "{}",
    )


def _parse_usage(fields: _Fields) -> ModelUsage | Literal["counted"]:
    if "usage" not in fields.values:
        return "counted"
    usage = fields.inner(fields.values["usage"], "usage", ModelUsage.__slots__)
    return ModelUsage(**{name: usage.whole(name) for name in ModelUsage.__slots__})


def _parse_error(fields: _Fields) -> ErrorKind | None:
    kind = fields.text("error")
    if not kind:
        return None
    if kind not in get_args(ErrorKind):
        raise _error(fields.path, fields.place, ScriptProblem.NO_KIND(kind=kind))
    return cast("ErrorKind", kind)
