"""Collects a reply from litellm's chunks, with the reported usage and its cost.

litellm adds its own estimates of missing usage at the end of a stream. They are not read here,
since they would be shown as exact numbers.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from ctxcore.gateway.values import (
    CallDelta,
    ModelReply,
    ModelUsage,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
)
from ctxcore.messages.canonical import to_canonical
from ctxcore.messages.values import JsonObject, Reasoning, ToolCall

_FOR_HOUR = (
    "prompt_tokens_details",
    "cache_creation_token_details",
    "ephemeral_1h_input_tokens",
)
MOST_TOKENS = 10**12  # chosen: no report of more, or of less than nothing, can be right


def read_usage(chunks: Iterable[object]) -> ModelUsage:
    """The usage that the chunks of one stream reported.

    Reports in one stream are running totals, and some providers report input and output in
    different chunks, so the largest number of each field is the total. What a cache held or took
    up is part of the input; where it is more, the server counted it apart.
    """
    reports = [usage for chunk in chunks if (usage := getattr(chunk, "usage", None)) is not None]
    told = _largest(reports, ("prompt_tokens",)) or 0
    cached = _largest(reports, ("prompt_tokens_details", "cached_tokens"))
    written = _largest(reports, ("prompt_tokens_details", "cache_creation_tokens"))
    apart = (cached or 0) + (written or 0)
    return ModelUsage(
        input_tokens=(told if apart <= told else told + apart) or None,  # no request has 0
        cached_tokens=cached,
        cache_write_tokens=written,
        cache_hour_tokens=_largest(reports, _FOR_HOUR),
        output_tokens=_largest(reports, ("completion_tokens",)),
        reasoning_tokens=_largest(reports, ("completion_tokens_details", "reasoning_tokens")),
    )


def _largest(reports: Iterable[object], path: tuple[str, ...]) -> int | None:
    found = [number for report in reports if (number := _walk(report, path)) is not None]
    return max(found, default=None)


def _walk(value: object, path: tuple[str, ...]) -> int | None:
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= MOST_TOKENS else None


@dataclass(slots=True)
class ReplyBuilder:
    """Collects one reply: `add` every chunk, then `finish`."""

    _texts: list[str] = field(default_factory=list)
    _thinking: list[str] = field(default_factory=list)
    _plain: list[str] = field(default_factory=list)
    _signed: list[Reasoning] = field(default_factory=list)
    _calls: list[ToolCall] = field(default_factory=list)
    _call_at: dict[int, int] = field(default_factory=dict)
    _finish_reason: str | None = None

    def add(self, chunk: object) -> Iterator[StreamEvent]:
        """The events of one chunk; none for an empty one."""
        choices = getattr(chunk, "choices", None)
        if not choices:
            return
        choice = choices[0]
        self._finish_reason = getattr(choice, "finish_reason", None) or self._finish_reason
        delta = getattr(choice, "delta", None)
        if thought := self._add_thinking(delta):
            yield ReasoningDelta(text=thought)
        if text := getattr(delta, "content", None):
            self._texts.append(text)
            yield TextDelta(text=text)
        for piece in getattr(delta, "tool_calls", None) or ():
            yield self._add_call(piece)

    def finish(
        self,
        *,
        usage: ModelUsage,
        model: str,
        cost: float | None,
        latency_seconds: float,
        first_token_seconds: float | None,
    ) -> ModelReply:
        """The reply made of every chunk so far."""
        plain = "".join(self._plain)
        return ModelReply(
            text="".join(self._texts),
            thoughts=(*self._signed, *((Reasoning(text=plain),) if plain else ())),
            calls=tuple(self._calls),
            finish_reason=self._finish_reason or ("tool_calls" if self._calls else "stop"),
            usage=usage,
            model=model,
            cost=cost,
            latency_seconds=latency_seconds,
            first_token_seconds=first_token_seconds,
        )

    def _add_thinking(self, delta: object) -> str:
        """Collects the thinking of a delta and returns its plain text.

        Anthropic sends each piece twice, as text and as part of a block that ends with a
        signature; only signed blocks are wanted back, so the text of unsigned ones stays plain.
        """
        for block in getattr(delta, "thinking_blocks", None) or ():
            if isinstance(block, Mapping):
                self._add_block(block)
        text = getattr(delta, "reasoning_content", None) or ""
        if text:
            self._plain.append(text)
        return text

    def _add_block(self, block: Mapping[str, object]) -> None:
        if block.get("type") == "redacted_thinking":
            raw = {str(key): value for key, value in block.items() if isinstance(value, str)}
            self._signed.append(Reasoning(text="", raw=to_canonical(cast("JsonObject", raw))))
            return
        self._thinking.append(str(block.get("thinking") or ""))
        if signature := block.get("signature"):
            text = "".join(self._thinking)
            signed: JsonObject = {"type": "thinking", "thinking": text, "signature": str(signature)}
            self._signed.append(Reasoning(text=text, raw=to_canonical(signed)))
            self._thinking.clear()
            self._plain.clear()

    def _add_call(self, piece: object) -> CallDelta:
        """Adds one piece of a call. Since some servers number every call 0, a second id at the
        same index is a second call."""
        index = getattr(piece, "index", None) or 0
        function = getattr(piece, "function", None)
        name = getattr(function, "name", None) or ""
        arguments = getattr(function, "arguments", None) or ""
        call_id = getattr(piece, "id", None)
        at = self._call_at.get(index)
        if at is None or (call_id and name and call_id != self._calls[at].id):
            at = self._call_at[index] = len(self._calls)
            new_id = call_id or f"call_{uuid.uuid4().hex[:24]}"
            self._calls.append(ToolCall(id=new_id, name=name, arguments=""))
        call = self._calls[at]
        arguments_so_far = call.arguments + arguments
        self._calls[at] = replace(call, name=call.name or name, arguments=arguments_so_far)
        return CallDelta(index=at, name=name, arguments=arguments)
