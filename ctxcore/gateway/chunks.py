"""Owns the chunks that this library's own providers hand to litellm, in litellm's type.

litellm stops reading at the finish chunk and drops what that chunk holds, so usage goes in a
chunk of its own before it.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence

from ctxcore.gateway.runtime import load_litellm
from ctxcore.gateway.values import ModelUsage
from ctxcore.messages.values import ToolCall


class ChunkMaker:
    """Makes litellm's chunks for one model."""

    def __init__(self, model: str) -> None:
        load_litellm()  # so that the import below is set up and quiet
        self._types = importlib.import_module("litellm.types.utils")
        self._model = model

    def delta(self, delta: Mapping[str, object]) -> object:
        """A piece of the answer."""
        return self._chunk(delta, None)

    def finish(self, reason: str) -> object:
        """The end of the answer."""
        return self._chunk({"content": ""}, reason)

    def usage(self, usage: ModelUsage) -> object:
        """What the call took; without a choice, as OpenAI sends it."""
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
    details = {
        "cached_tokens": usage.cached_tokens,
        "cache_creation_tokens": usage.cache_write_tokens,
    }
    if any(value is not None for value in details.values()):
        fields["prompt_tokens_details"] = details
    if usage.reasoning_tokens is not None:
        fields["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning_tokens}
    return fields
