"""The bodies of OpenAI's Responses API: input and output items, and lists of them."""

from __future__ import annotations

from collections.abc import Sequence

from ctxcore.formats.exchanges import Api, raise_error
from ctxcore.formats.fields import object_at, text_at, time_at
from ctxcore.formats.provider_usage import openai_usage
from ctxcore.formats.values import RecordedUsage
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.provider_compactions import is_compaction
from ctxcore.messages.shapes.reading import codec_of
from ctxcore.messages.values import Message, text_message

_TEXT_INPUT_KEYS = (
    *("instructions", "previous_response_id", "conversation", "reasoning", "max_output_tokens"),
    *("store", "tools", "text", "include"),
)
"""Keys that tell a request with a text as its input from one for embeddings."""
_COMMON_TYPES = ("reasoning", "compaction")  # other programs have records of these types
_OWN_KEYS = ("summary", "encrypted_content")
_OUTPUTS = ("response", "response.compaction")


class ResponsesApi(Api):
    """OpenAI's Responses."""

    name = "openai-responses"
    shape = "responses"

    def is_message(self, raw: JsonObject) -> bool:
        is_common = raw.get("type") in _COMMON_TYPES
        if is_common and not any(key in raw for key in _OWN_KEYS):
            return False
        return codec_of("responses").detect(raw) == "own" and len(raw) > 1

    def asks(self, body: JsonObject) -> bool:
        given = body.get("input")
        if isinstance(given, str):
            return bool(given) and any(key in body for key in _TEXT_INPUT_KEYS)
        return isinstance(given, list) and any(map(_may_be_item, given))

    def answers(self, body: JsonObject) -> bool:
        output = body.get("output")
        if not isinstance(output, list):
            return False
        return body.get("object") in _OUTPUTS or any(map(self._is_item, output))

    def asked(self, request: JsonObject) -> Sequence[JsonValue]:
        given = request.get("input")
        if isinstance(given, str):
            return [{"role": "user", "content": given}]
        return given if isinstance(given, list) else []

    def answered(self, response: JsonObject) -> Sequence[JsonValue]:
        output = response.get("output")
        return output if isinstance(output, list) else []

    def usage(self, response: JsonObject) -> RecordedUsage | None:
        reported = object_at(response, "usage")
        if not reported:
            return None
        return openai_usage(
            reported,
            call_id=text_at(response, "id") or "",
            model=text_at(response, "model"),
            recorded_at=time_at(response, "created_at"),
        )

    def front(self, body: JsonObject) -> Sequence[Message]:
        instructions = body.get("instructions")
        if isinstance(instructions, list):
            return self.read(list(enumerate(instructions)), raise_error).messages
        is_text = isinstance(instructions, str) and instructions.strip()
        return [text_message("system", str(instructions))] if is_text else []

    def summary_in(self, raw: JsonValue) -> str | None:
        """Its summaries are encrypted, so that only their place is known."""
        return "" if isinstance(raw, dict) and is_compaction(raw) else None

    def _is_item(self, raw: JsonValue) -> bool:
        return isinstance(raw, dict) and self.is_message(raw)


def _may_be_item(raw: JsonValue) -> bool:
    if not isinstance(raw, dict) or not ("role" in raw or "type" in raw):
        return False
    return codec_of("responses").detect(raw) != "no"


RESPONSES_API = ResponsesApi()
