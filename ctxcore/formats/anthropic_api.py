"""The bodies of Anthropic's messages API: requests and responses of Claude."""

from __future__ import annotations

from collections.abc import Sequence

from ctxcore.formats.exchanges import Api
from ctxcore.formats.fields import object_at, text_at
from ctxcore.formats.provider_usage import anthropic_usage
from ctxcore.formats.values import RecordedUsage
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.provider_compactions import is_compaction, summary_in
from ctxcore.messages.provider_edits import read_cleared
from ctxcore.messages.shapes.anthropic import message_of_blocks
from ctxcore.messages.shapes.reading import codec_of
from ctxcore.messages.values import Message

_REQUEST_KEYS = ("model", "max_tokens", "anthropic_version", "thinking", "context_management")
"""Keys beside `system` that tell a request from a data set with system prompts."""
_OTHERS_KEYS = ("tool_calls", "tool_call_id", "function_call")


class AnthropicApi(Api):
    """Anthropic's messages."""

    name = "anthropic"
    shape = "anthropic"

    def is_message(self, raw: JsonObject) -> bool:
        is_said = raw.get("role") in ("user", "assistant")
        return is_said and codec_of("anthropic").detect(raw) == "own"

    def owns(self, raws: Sequence[JsonObject]) -> bool:
        return not _are_others(raws) and any(map(self.is_message, raws))

    def asks(self, body: JsonObject) -> bool:
        messages = [one for one in self.asked(body) if isinstance(one, dict)]
        is_own = self.owns(messages) or (_has_own_keys(body) and bool(messages))
        return is_own and not _are_others(messages)

    def answers(self, body: JsonObject) -> bool:
        is_message = body.get("type") == "message" and body.get("role") == "assistant"
        return is_message and isinstance(body.get("content"), list) and "stop_reason" in body

    def asked(self, request: JsonObject) -> Sequence[JsonValue]:
        messages = request.get("messages")
        return messages if isinstance(messages, list) else []

    def answered(self, response: JsonObject) -> Sequence[JsonValue]:
        return [response] if response.get("content") else []

    def usage(self, response: JsonObject) -> RecordedUsage | None:
        reported = object_at(response, "usage")
        if not reported:
            return None
        call_id, model = text_at(response, "id") or "", text_at(response, "model")
        cleared = read_cleared(response)
        return anthropic_usage(reported, call_id=call_id, model=model, cleared=cleared)

    def front(self, body: JsonObject) -> Sequence[Message]:
        message = message_of_blocks("system", body.get("system"))
        return [message] if message.text.strip() else []

    def summary_in(self, raw: JsonValue) -> str | None:
        found = [block for block in _blocks(raw) if _is_compaction(block)]
        texts = (summary_in(block) for block in found if isinstance(block, dict))
        return "\n".join(text for text in texts if text is not None) if found else None

    def without_summary(self, raw: JsonObject) -> JsonObject | None:
        left = [block for block in _blocks(raw) if not _is_compaction(block)]
        return {**raw, "content": left} if left else None


def _are_others(raws: Sequence[JsonObject]) -> bool:
    """Whether keys of OpenAI's are among the messages, which a request to Claude cannot have."""
    return any(raw.get(key) for raw in raws for key in _OTHERS_KEYS)


def _is_compaction(block: JsonValue) -> bool:
    return isinstance(block, dict) and is_compaction(block)


def _blocks(raw: JsonValue) -> list[JsonValue]:
    content = raw.get("content") if isinstance(raw, dict) else None
    return content if isinstance(content, list) else []


def _has_own_keys(body: JsonObject) -> bool:
    """Whether a body whose messages are plain text can only be a request to Claude."""
    tools = body.get("tools")
    if isinstance(tools, list) and any(
        isinstance(one, dict) and "input_schema" in one for one in tools
    ):
        return True
    is_asked = any(key in body for key in _REQUEST_KEYS)
    return (isinstance(body.get("system"), (str, list)) and is_asked) or "anthropic_version" in body


ANTHROPIC_API = AnthropicApi()
