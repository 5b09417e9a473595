"""The codec of OpenAI's chat messages, which many other providers accept too.

`back` writes one message for each group, as `Context.messages` does, but with the caller's own
objects wherever they are unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, cast

from ctxcore.errors import MessageError
from ctxcore.messages.canonical import printable_json, text_or_none, type_of
from ctxcore.messages.foreign import (
    checked_object,
    form_problem,
    has_gemini_parts,
    part_problem,
    refuse_text_beside,
    refuse_unknown_keys,
    with_way_out,
)
from ctxcore.messages.openai import KNOWN_KEYS, is_audio_answer, parse_message, to_openai
from ctxcore.messages.shapes.values import (
    Conversation,
    Fit,
    PassedMessages,
    Refuse,
    SentGroup,
    Shape,
    is_thought_alone,
)
from ctxcore.messages.values import JsonObject, JsonValue, Message, ToolCall
from ctxcore.reasons.message_problems import MessageProblem, WayOutCode, WhatCode
from ctxcore.reasons.places import Place, PlaceCode

_OWN_KEYS: Final = (
    *("tool_calls", "tool_call_id", "function_call"),
    *("refusal", "reasoning_content", "thinking_blocks", "name"),
)
_OWN_ROLES: Final = ("tool", "function")
_OWN_PARTS: Final = frozenset({"image_url", "input_audio", "file"})
_MESSAGE: Final = PlaceCode.MESSAGE  # looked up once, since every message gets a place
_OTHER_PARTS: Final = frozenset(
    {
        *("tool_use", "tool_result"),
        *("input_text", "output_text", "input_image", "input_file"),
    }
)
_CONTENT_KEYS: Final = frozenset({"content", *_OWN_KEYS} - {"tool_call_id", "name"})


class OpenAIChat:
    """The codec of OpenAI's chat messages."""

    shape: Shape = "openai"
    maker: str = "OpenAI's"

    def detect(self, raw: Mapping[str, object]) -> Fit:
        content = raw.get("content")
        if "role" not in raw and isinstance(raw.get("type"), str):
            return "no"
        if type(content) is str and "tool_call_id" in raw:
            return "own"  # most messages of a long list
        if content is None and raw.get("tool_calls"):
            return "own"
        if isinstance(content, Sequence) and not isinstance(content, str):
            if any(_is_others(part) for part in content):
                return "no"
            if any(type_of(part) in _OWN_PARTS for part in content):
                return "own"
        elif content is None and raw.get("parts") is not None:
            return "no"
        if any(raw.get(key) is not None for key in _OWN_KEYS) or raw.get("role") in _OWN_ROLES:
            return "own"
        return "fits"

    def to(self, entries: Iterable[tuple[int, object]], refuse: Refuse) -> Conversation:
        messages: list[Message] = []
        places: list[int] = []
        for at, raw in entries:
            try:
                messages.append(raw if isinstance(raw, Message) else _read(raw, at))
                places.append(at)
            except MessageError as error:
                refuse(at, error)
        is_whole = not places or places[-1] == len(places) - 1
        return Conversation(
            messages=tuple(messages), places=None if is_whole else tuple((at,) for at in places)
        )

    def back(self, groups: Sequence[SentGroup], passed: PassedMessages | None) -> list[JsonObject]:
        return [_written(group, passed) for group in groups]


def _is_others(part: object) -> bool:
    """Whether `part` is a block that only another shape has."""
    kind = type_of(part)
    if kind in ("image", "document"):
        return isinstance(part, Mapping) and isinstance(part.get("source"), Mapping)
    return kind in _OTHER_PARTS


def _read(raw: object, at: int) -> Message:
    place = Place(_MESSAGE, at)
    raw = checked_object(raw, place)
    content = raw.get("content")
    if not content or type(content) is not str or "role" not in raw or "parts" in raw:
        _check(raw, content, place)
    return parse_message(raw, place=place)


def _check(raw: Mapping[str, object], content: object, place: Place) -> None:
    """Refuses a message of which text would be lost: it stands under another key or in a part."""
    has_role, is_call = "role" in raw, content is None and bool(raw.get("tool_calls"))
    if not has_role or (content is None and not is_call):
        problem = form_problem(raw)
        if problem is not None:
            raise MessageError(place=place, problem=problem)
    if content is None and has_role and not any(raw.get(key) for key in _CONTENT_KEYS):
        refuse_unknown_keys(raw, "content", KNOWN_KEYS, place)
    elif not content and has_role:
        refuse_text_beside(raw, "content", KNOWN_KEYS, place)
    elif has_gemini_parts(raw):
        raise MessageError(place=place, problem=MessageProblem.BOTH_CONTENTS())
    elif isinstance(content, Mapping):
        problem = form_problem(raw) or with_way_out(WhatCode.OBJECT(), WayOutCode.INTO_LIST)
        raise MessageError(place=place.within("content"), problem=problem)
    elif isinstance(content, Sequence) and not isinstance(content, (str, bytes)):
        for at, part in enumerate(content):
            _check_part(part, place, at)


def _check_part(part: object, place: Place, at: int) -> None:
    if isinstance(part, str):
        return
    kind = type_of(part)
    if not isinstance(part, Mapping) or not kind:
        raise MessageError(place=place.within("content", at), problem=part_problem(part))
    if kind in ("text", "refusal"):
        if part.get(kind) is None:
            inner = place.within("content", at, kind)
            raise MessageError(place=inner, problem=MessageProblem.MISSING())
        text_or_none(part[kind], place, "content", at, kind)


def _written(group: SentGroup, passed: PassedMessages | None) -> JsonObject:
    sent = group.sent[0] if len(group.sent) == 1 else None
    if passed is not None and sent is not None and sent.source is not None:
        raw = next(iter(passed.raws(sent.source)), None)
        old = passed.messages[sent.source]
        is_own = sent.is_untouched or (is_thought_alone(old) and sent.message.role == old.role)
        if raw is not None and is_own:
            return cast("JsonObject", raw)
        if raw is not None:
            return _changed(raw, old, sent.message, _new(sent.message, group))
    return _new(group.message, group)


def _new(message: Message, group: SentGroup) -> JsonObject:
    written = to_openai(message, with_reasoning=group.has_reasoning)
    return {key: printable_json(value) for key, value in written.items()}


def _changed(
    raw: Mapping[str, object], old: Message, new: Message, written: JsonObject
) -> JsonObject:
    """A copy of `raw` with what differs between `old` and `new`, as it is in `written`."""
    if new.role != old.role or (raw.get("role") == "function" and new.answers != old.answers):
        return written
    out = cast("JsonObject", dict(raw))
    if new.content != old.content:
        spoken = ("audio",) if any(map(is_audio_answer, old.content)) else ()
        _replace(out, written, ("content", "refusal", *spoken))
        _mark(out, raw.get("content"))
    if new.name != old.name:
        _replace(out, written, ("name",))
    if new.answers != old.answers:
        _replace(out, written, ("tool_call_id",))
    if new.calls != old.calls:
        out.pop("function_call", None)
        out["tool_calls"] = _changed_calls(raw.get("tool_calls"), old.calls, new.calls, written)
    return cast("JsonObject", raw) if out == raw else out


def _replace(out: JsonObject, written: JsonObject, keys: Iterable[str]) -> None:
    for key in keys:
        if key in written:
            out[key] = written[key]
        else:
            out.pop(key, None)


def _mark(out: JsonObject, before: object) -> None:
    """Puts the cache mark of the parts `before` on the text that replaces them."""
    parts = before if isinstance(before, Sequence) and not isinstance(before, str) else ()
    marks = (part.get("cache_control") for part in parts if isinstance(part, Mapping))
    mark = next((mark for mark in marks if mark is not None), None)
    if mark is not None and isinstance(out.get("content"), str):
        out["content"] = [{"type": "text", "text": out["content"], "cache_control": mark}]


def _changed_calls(
    raws: object, old: Sequence[ToolCall], new: Sequence[ToolCall], written: JsonObject
) -> JsonValue:
    """The calls as they are sent: the caller's own, with what differs between `old` and `new`."""
    calls = cast("list[JsonObject]", written.get("tool_calls") or [])
    if not isinstance(raws, Sequence) or not len(raws) == len(old) == len(new):
        return cast("JsonValue", calls)
    return [
        raw if before == after else _changed_call(raw, call)
        for raw, before, after, call in zip(raws, old, new, calls, strict=True)
    ]


def _changed_call(raw: JsonObject, new: JsonObject) -> JsonObject:
    if not isinstance(raw.get("function"), dict):
        return {**raw, "id": new["id"]}  # a custom call, whose input is free text
    function = {**cast("JsonObject", raw["function"]), **cast("JsonObject", new["function"])}
    return {**raw, "id": new["id"], "function": function}
