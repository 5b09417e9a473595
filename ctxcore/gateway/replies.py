"""Owns reading litellm's chunks: each becomes events, all together become one `ModelReply`.

Chunks are read by attribute and trusted for nothing: any field may be missing on any provider.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

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


@dataclass(slots=True)
class _OpenCall:
    """A tool call while its pieces arrive."""

    id: str
    name: str
    arguments: str = ""


@dataclass(slots=True)
class ReplyBuilder:
    """Collects one reply. `add` a chunk, then `finish`; both are cheap per chunk."""

    _texts: list[str] = field(default_factory=list)
    _thinking: list[str] = field(default_factory=list)
    _plain: list[str] = field(default_factory=list)
    _signed: list[Reasoning] = field(default_factory=list)
    _calls: list[_OpenCall] = field(default_factory=list)
    _call_at: dict[int, int] = field(default_factory=dict)
    _finish_reason: str | None = None

    def add(self, chunk: object) -> Iterator[StreamEvent]:
        """The events of one chunk; a chunk without news gives none."""
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
        calls = tuple(
            ToolCall(id=call.id, name=call.name, arguments=call.arguments) for call in self._calls
        )
        return ModelReply(
            text="".join(self._texts),
            thoughts=self._thoughts(),
            calls=calls,
            finish_reason=self._finish_reason or ("tool_calls" if calls else "stop"),
            usage=usage,
            model=model,
            cost=cost,
            latency_seconds=latency_seconds,
            first_token_seconds=first_token_seconds,
        )

    def _add_thinking(self, delta: object) -> str:
        """Collect the thinking of a delta; its plain text comes back.

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
            self._signed.append(Reasoning(text="", raw=to_canonical(_json_object(block))))
            return
        self._thinking.append(str(block.get("thinking") or ""))
        if signature := block.get("signature"):
            text = "".join(self._thinking)
            raw: JsonObject = {"type": "thinking", "thinking": text, "signature": str(signature)}
            self._signed.append(Reasoning(text=text, raw=to_canonical(raw)))
            self._thinking.clear()
            self._plain.clear()

    def _thoughts(self) -> tuple[Reasoning, ...]:
        plain = "".join(self._plain)
        return (*self._signed, *((Reasoning(text=plain),) if plain else ()))

    def _add_call(self, piece: object) -> CallDelta:
        """One piece of a call. A second id at the same index is a second call: some servers
        number every call 0."""
        index = getattr(piece, "index", None) or 0
        function = getattr(piece, "function", None)
        name = getattr(function, "name", None) or ""
        arguments = getattr(function, "arguments", None) or ""
        call_id = getattr(piece, "id", None)
        at = self._call_at.get(index)
        if at is None or (call_id and name and call_id != self._calls[at].id):
            at = len(self._calls)
            self._call_at[index] = at
            self._calls.append(_OpenCall(call_id or f"call_{uuid.uuid4().hex[:24]}", name))
        elif name and not self._calls[at].name:
            self._calls[at].name = name
        self._calls[at].arguments += arguments
        return CallDelta(index=at, name=name, arguments=arguments)


def _json_object(block: Mapping[str, object]) -> JsonObject:
    return {str(key): value for key, value in block.items() if isinstance(value, str)}
