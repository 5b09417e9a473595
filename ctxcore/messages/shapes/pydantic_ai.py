"""The codec of Pydantic AI's requests and responses; Pydantic AI is needed only to make new ones.

One request holds a system prompt, results of tools and a user's words as parts, each a message.
"""

from __future__ import annotations

import base64
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from itertools import groupby
from typing import Any, Final

from ctxcore.messages.canonical import canonical_at, to_ordered
from ctxcore.messages.shapes.anthropic import input_of
from ctxcore.messages.shapes.objects import ObjectCodec
from ctxcore.messages.shapes.values import PassedMessages, Sent, SentGroup, Shape
from ctxcore.messages.values import (
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    SentObject,
    Text,
    ToolCall,
)
from ctxcore.reasons.places import Place, PlaceCode

_MEDIA: Final = {"image-url": "image", "audio-url": "audio", "document-url": "file"}
_UNKNOWN_TOOL: Final = "tool"  # a result read in another shape does not say whose it is
_MEDIA_TYPES: Final = ("image", "audio")


class PydanticAI(ObjectCodec):
    """The codec of objects of `pydantic_ai.messages`."""

    shape: Shape = "pydantic-ai"
    maker: str = "Pydantic AI's"
    packages: tuple[str, ...] = ("pydantic_ai.messages",)

    def read(self, given: Any, at: int) -> list[Message]:
        place = Place(PlaceCode.MESSAGE, at)
        if given.kind == "response":
            return [_answer(given, place)]
        return [
            _part_message(part, place.within("parts", nth)) for nth, part in enumerate(given.parts)
        ]

    def back(self, groups: Sequence[SentGroup], passed: PassedMessages | None) -> list[SentObject]:
        sent = [one for group in groups for one in _apart(group)]
        by_place = groupby(sent, key=lambda one: _place(one, passed))
        return [made for place, ones in by_place for made in _written(place, [*ones], passed)]


def _apart(group: SentGroup) -> Sequence[Sent]:
    """The messages of a group; answers that a provider takes only as one are joined."""
    is_joined = len(group.sent) > 1 and group.message.role == "assistant"
    return [Sent(message=group.message)] if is_joined else group.sent


def _place(sent: Sent, passed: PassedMessages | None) -> int | None:
    """The place of the caller's object that a message is from."""
    if passed is None or sent.source is None:
        return None
    place = passed.places_of(sent.source)[0]
    return None if isinstance(passed.given[place], Message) else place


def _answer(response: Any, place: Place) -> Message:
    content: list[Part] = []
    calls: list[ToolCall] = []
    for nth, part in enumerate(response.parts):
        if part.part_kind == "tool-call":
            calls.append(_call(part))
        else:
            content += _answer_parts(part, place.within("parts", nth))
    content.sort(key=lambda part: not isinstance(part, Reasoning))
    return Message(role="assistant", content=tuple(content), calls=tuple(calls))


def _call(part: Any) -> ToolCall:
    arguments = part.args if isinstance(part.args, str) else to_ordered(part.args or {})
    return ToolCall(id=part.tool_call_id, name=part.tool_name, arguments=arguments)


def _answer_parts(part: Any, place: Place) -> list[Part]:
    match part.part_kind:
        case "text":
            return [Text(text=part.content)] if part.content else []
        case "thinking":
            return [Reasoning(text=part.content or "", raw=canonical_at(_dumped(part), place))]
        case "file":
            return list(_contents([part.content], place))
    return [Opaque(provider=part.part_kind, raw=canonical_at(_dumped(part), place))]


def _part_message(part: Any, place: Place) -> Message:
    kind = part.part_kind
    if kind == "system-prompt":
        return Message(role="system", content=(Text(text=part.content),))
    if kind == "user-prompt":
        said = [part.content] if isinstance(part.content, str) else part.content
        return Message(role="user", content=tuple(_contents(said, place)))
    if getattr(part, "tool_call_id", None) and getattr(part, "tool_name", None):
        result = (Text(text=_result(part)),)
        return Message(role="tool", content=result, answers=part.tool_call_id, name=part.tool_name)
    if callable(getattr(part, "model_response", None)):
        return Message(role="user", content=(Text(text=part.model_response()),))
    raw = canonical_at(_dumped(part), place)
    return Message(role="user", content=(Opaque(provider=kind, raw=raw),))


def _result(part: Any) -> str:
    """What the model reads of a tool's result, or of a request to try again."""
    if callable(getattr(part, "model_response_str", None)):
        return str(part.model_response_str())
    return str(part.model_response())


def _contents(said: Sequence[Any], place: Place) -> Iterator[Part]:
    for nth, one in enumerate(said):
        if isinstance(one, str):
            yield Text(text=one)
        elif isinstance(text := getattr(one, "content", None), str):
            yield Text(text=text)
        elif getattr(one, "kind", None) in (*_MEDIA, "binary"):
            yield _media(one, place.within("content", nth))
        elif getattr(one, "kind", None) != "cache-point":
            raw = canonical_at(_dumped(one), place.within("content", nth))
            yield Opaque(provider=str(getattr(one, "kind", type(one).__name__)), raw=raw)


def _media(one: Any, place: Place) -> Media:
    kind = _MEDIA.get(one.kind) or str(one.media_type).partition("/")[0]
    url = one.url if one.kind != "binary" else _data_url(one)
    raw = canonical_at({"type": "image_url", "image_url": {"url": url}}, place)
    return Media(kind=kind if kind in _MEDIA_TYPES else "file", raw=raw)  # type: ignore[arg-type]


def _data_url(one: Any) -> str:
    return f"data:{one.media_type};base64,{base64.b64encode(one.data).decode()}"


def _dumped(value: object) -> object:
    """A part as JSON."""
    adapter = import_module("pydantic").TypeAdapter(type(value))
    return adapter.dump_python(value, mode="json", warnings=False)


def _written(
    place: int | None, sent: Sequence[Sent], passed: PassedMessages | None
) -> list[SentObject]:
    """The objects for neighbours that are from one place, or from none."""
    if place is None or passed is None or passed.places is None:
        return [_new(one.message) for one in sent]
    given: Any = passed.given[place]
    first = bisect_left(passed.places, (place,))
    count = bisect_right(passed.places, (place,)) - first
    if len(sent) == count and all(one.is_untouched for one in sent):
        return [given]
    if given.kind == "response":
        return [_own_answer(given, one, passed) for one in sent]
    parts = [_own_part(given.parts[(one.source or 0) - first], one) for one in sent]
    return [replace(given, parts=parts)]


def _own_part(part: Any, sent: Sent) -> Any:
    """A part of a request, with the text that is sent."""
    return part if sent.is_untouched else replace(part, content=sent.message.text)


def _own_answer(given: Any, sent: Sent, passed: PassedMessages) -> SentObject:
    """A copy of a response with the text and the calls that are sent."""
    old, new = passed.messages[sent.source or 0], sent.message
    if sent.is_untouched or new == old:
        return given
    calls = {call.id: call for call in new.calls}
    said = [new.text] if new.text else []
    parts: list[Any] = []
    for part in given.parts:
        if part.part_kind == "tool-call":
            call = calls.get(part.tool_call_id)
            parts += [_own_call(part, call)] if call is not None else []
        elif part.part_kind != "text" or old.content == new.content:
            parts.append(part)
        elif said:
            parts.append(replace(part, content=said.pop()))
    return replace(given, parts=parts)


def _own_call(part: Any, call: ToolCall) -> Any:
    if call == _call(part):
        return part
    arguments = call.arguments if isinstance(part.args, str) else input_of(call)
    return replace(part, tool_name=call.name, args=arguments)


def _new(message: Message) -> SentObject:
    made = import_module("pydantic_ai.messages")
    match message.role:
        case "assistant":
            said = [made.TextPart(content=message.text)] if message.text else []
            return made.ModelResponse(parts=[*said, *(_new_call(made, c) for c in message.calls)])
        case "tool":
            name, answers = message.name or _UNKNOWN_TOOL, message.answers or ""
            part = made.ToolReturnPart(name, message.text, tool_call_id=answers)
        case "user":
            part = made.UserPromptPart(content=message.text)
        case _:
            part = made.SystemPromptPart(content=message.text)
    return made.ModelRequest(parts=[part])


def _new_call(made: Any, call: ToolCall) -> Any:
    return made.ToolCallPart(call.name, call.arguments, tool_call_id=call.id)
