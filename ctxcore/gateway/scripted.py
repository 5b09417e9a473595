"""Owns a model whose replies are written beforehand: `scripted/<name>`, for tests and demos.

It answers through litellm like any provider, so a test of what stands above it tests the real
path: streaming, cancelling, retries, errors. It keeps every request it got.

In the same process, make a `ScriptedModel`. For another process, name a JSON file in the
environment variable `CTXCORE_SCRIPTED_MODELS`:

    {"demo": {"replies": [{"text": "Hello"}, {"error": "overflow"}], "otherwise": {"echo": true}}}
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Literal, TypeAlias

from ctxcore.gateway.errors import ErrorKind
from ctxcore.gateway.values import ModelUsage
from ctxcore.messages.openai import parse_message
from ctxcore.messages.values import JsonObject, ToolCall

SCRIPTED_PREFIX = "scripted/"
SCRIPTS_VARIABLE = "CTXCORE_SCRIPTED_MODELS"

ECHO = "You said: {text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedReply:
    """One written reply: thinking, text, then calls; or an error instead of or after them."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None
    """`stop`, or `tool_calls` where there are calls, unless said otherwise."""
    usage: ModelUsage | Literal["counted"] = "counted"
    """What to report; `counted` by the model's counter, `ModelUsage()` to report nothing."""
    first_delay_seconds: float = 0.0
    chunk_delay_seconds: float = 0.0
    chunk_chars: int = 12
    error: ErrorKind | None = None
    error_text: str = ""
    """The provider's words; a typical sentence of that kind if empty."""
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
        """The words of the newest user message; empty if there is none."""
        users = (parse_message(raw) for raw in reversed(self.messages) if raw["role"] == "user")
        return next((message.text for message in users), "")


Script: TypeAlias = "ScriptedReply | Callable[[ScriptedRequest], ScriptedReply]"


def echo(
    template: str = ECHO, reply: ScriptedReply | None = None
) -> Callable[[ScriptedRequest], ScriptedReply]:
    """`reply`, its text made of the newest user message in place of `{text}`."""
    base = reply or ScriptedReply()
    return lambda request: replace(base, text=template.replace("{text}", request.last_user_text))


def count_words(text: str) -> int:
    """A counter that can be checked by eye: words between spaces."""
    return len(text.split())


class ScriptedModel:
    """Answers as written, in order, then `otherwise` for ever; safe to share between threads.

    Args:
        name: makes the model `scripted/<name>`; a new one of the same name replaces the old.
        replies: for the first, second, … request.
        otherwise: for every request after those.
        count: tokens of a text, for usage and window.
        window_tokens: a longer input is refused as an overflow; it uses up no reply.
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
        """Forget this model; later requests for its name fail as an unknown model."""
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
        """A stream of this model was closed before its end."""
        with self._lock:
            self._cancelled += 1


_models: dict[str, ScriptedModel] = {}
_models_lock = threading.Lock()


def scripted_model(model: str) -> ScriptedModel | None:
    """The script behind `scripted/<name>`; None if nobody wrote one."""
    with _models_lock:
        return _models.get(model)


def _refusal(needed: int, limit: int) -> ScriptedReply:
    words = (
        f"This model's maximum context length is {limit} tokens. "
        f"However, your messages resulted in {needed} tokens."
    )
    return ScriptedReply(error="overflow", error_text=words)
