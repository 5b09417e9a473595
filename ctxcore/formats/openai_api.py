"""The bodies of OpenAI's chat completions, which many other providers use too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ctxcore.errors import MessageError
from ctxcore.formats.exchanges import Api
from ctxcore.formats.fields import object_at, text_at, time_at
from ctxcore.formats.provider_usage import openai_usage
from ctxcore.formats.values import RecordedUsage
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.foreign import checked_object
from ctxcore.messages.openai import parse_message
from ctxcore.messages.shapes.values import Conversation, Refuse
from ctxcore.messages.values import Message
from ctxcore.reasons.places import Place, PlaceCode

_LISTS = ("messages", "history")  # request bodies; programs that name their list so
_CONTENT_KEYS = ("content", "tool_calls", "function_call", "refusal", "reasoning_content")


class OpenAIChatApi(Api):
    """OpenAI's chat completions."""

    name = "openai"
    shape = "openai"

    def is_message(self, raw: JsonObject) -> bool:
        is_said = isinstance(raw.get("role"), str) and any(key in raw for key in _CONTENT_KEYS)
        return is_said and not _is_of_others(raw.get("content"))

    def asks(self, body: JsonObject) -> bool:
        return bool(self.asked(body))

    def answers(self, body: JsonObject) -> bool:
        return bool(self.answered(body))

    def asked(self, request: JsonObject) -> Sequence[JsonValue]:
        lists = (inner for key in _LISTS if isinstance(inner := request.get(key), list))
        return next((inner for inner in lists if any(map(self._is_one, inner))), [])

    def answered(self, response: JsonObject) -> Sequence[JsonValue]:
        """The message of the first choice: only one of them can go on."""
        return self._choices(response)[:1]

    def left_out(self, body: JsonObject) -> Counter[str]:
        others = len(self._choices(body)) - 1
        return Counter({"other choice": others}) if others > 0 else Counter()

    def usage(self, response: JsonObject) -> RecordedUsage | None:
        reported = object_at(response, "usage")
        if not reported:
            return None
        return openai_usage(
            reported,
            call_id=text_at(response, "id") or "",
            model=text_at(response, "model"),
            recorded_at=time_at(response, "created"),
        )

    def read(self, entries: Sequence[tuple[int, JsonValue]], refuse: Refuse) -> Conversation:
        """The messages, read leniently: keys that are unknown are kept with them."""
        messages: list[Message] = []
        places: list[tuple[int, ...]] = []
        for at, raw in entries:
            place = Place(PlaceCode.MESSAGE, at)
            try:
                messages.append(parse_message(_plain(checked_object(raw, place)), place=place))
                places.append((at,))
            except MessageError as error:
                refuse(at, error)
        return Conversation(messages=tuple(messages), places=tuple(places))

    def _is_one(self, value: JsonValue) -> bool:
        return isinstance(value, dict) and self.is_message(value)

    def _choices(self, body: JsonObject) -> list[JsonValue]:
        listed = body.get("choices")
        choices = listed if isinstance(listed, list) else []
        found = (choice.get("message") for choice in choices if isinstance(choice, dict))
        return [message for message in found if self._is_one(message)]


def _is_of_others(content: JsonValue) -> bool:
    """Whether content is of another API: an object, or parts that have no type."""
    if not isinstance(content, list):
        return isinstance(content, dict)
    parts = [part for part in content if isinstance(part, dict)]
    return bool(parts) and not any("type" in part for part in parts)


def _plain(raw: object) -> JsonObject:
    """A message with its thinking under the key that most providers use for it."""
    assert isinstance(raw, dict)  # it was checked
    thinking = raw.get("reasoning")
    if not isinstance(thinking, str) or raw.get("reasoning_content"):
        return raw
    return {**{key: raw[key] for key in raw if key != "reasoning"}, "reasoning_content": thinking}


OPENAI_API = OpenAIChatApi()
