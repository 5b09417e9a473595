"""The bodies of Gemini's API: contents and candidates, with keys in either spelling."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ctxcore.formats.exchanges import Api, raise_error
from ctxcore.formats.fields import object_at, text_at, time_at
from ctxcore.formats.provider_usage import gemini_usage
from ctxcore.formats.values import RecordedUsage
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.shapes.reading import codec_of
from ctxcore.messages.values import Message

_LISTS = ("contents", "history")  # requests; chats of Google's SDKs
_ENDINGS = ("finishReason", "finish_reason")
_SYSTEM = ("systemInstruction", "system_instruction")


class GeminiApi(Api):
    """Gemini's contents."""

    name = "gemini"
    shape = "gemini"

    def is_message(self, raw: JsonObject) -> bool:
        is_own = codec_of("gemini").detect(raw) == "own"
        return is_own and raw.get("role") in ("user", "model", "function")

    def asks(self, body: JsonObject) -> bool:
        return any(isinstance(one, dict) and _is_content(one) for one in self.asked(body))

    def answers(self, body: JsonObject) -> bool:
        """Whether `body` is a response; one that was blocked has no content."""
        listed = body.get("candidates")
        is_ended = isinstance(listed, list) and any(
            isinstance(one, dict) and any(key in one for key in _ENDINGS) for one in listed
        )
        return is_ended or bool(self._candidates(body))

    def asked(self, request: JsonObject) -> Sequence[JsonValue]:
        listed = next((request[key] for key in _LISTS if key in request), None)
        if isinstance(listed, dict):
            return [listed]
        return listed if isinstance(listed, list) else []

    def answered(self, response: JsonObject) -> Sequence[JsonValue]:
        """The content of the first candidate, which only rarely is one of several."""
        return [{"role": "model", **content} for content in self._candidates(response)[:1]]

    def left_out(self, body: JsonObject) -> Counter[str]:
        others = len(self._candidates(body)) - 1
        return Counter({"other candidate": others}) if others > 0 else Counter()

    def usage(self, response: JsonObject) -> RecordedUsage | None:
        reported = object_at(response, "usageMetadata") or object_at(response, "usage_metadata")
        if not reported:
            return None
        return gemini_usage(
            reported,
            call_id=text_at(response, "responseId", "response_id") or "",
            model=text_at(response, "modelVersion", "model_version"),
            recorded_at=time_at(response, "createTime", "create_time"),
        )

    def front(self, body: JsonObject) -> Sequence[Message]:
        given = next((body[key] for key in _SYSTEM if body.get(key)), None)
        if isinstance(given, str):
            given = {"parts": [{"text": given}]}
        if not isinstance(given, dict):
            return []
        return self.read([(0, {**given, "role": "system"})], raise_error).messages

    def _candidates(self, body: JsonObject) -> list[JsonObject]:
        listed = body.get("candidates")
        candidates = listed if isinstance(listed, list) else []
        found = (one.get("content") for one in candidates if isinstance(one, dict))
        return [content for content in found if isinstance(content, dict) and _is_content(content)]


def _is_content(raw: JsonObject) -> bool:
    return codec_of("gemini").detect(raw) == "own"


GEMINI_API = GeminiApi()
