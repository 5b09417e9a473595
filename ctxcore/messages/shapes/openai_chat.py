"""OpenAI's chat messages, and those of the many providers that take the same.

What is sent is grouped as the context groups it, so that `back` is `Context.messages` with the
caller's own objects in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, cast

from ctxcore.errors import MessageError
from ctxcore.messages.canonical import printable_json, text_or_none, type_of
from ctxcore.messages.foreign import (
    form_problem,
    has_gemini_parts,
    object_problem,
    part_problem,
    refuse_words_beside,
    refuse_words_elsewhere,
    with_way_out,
)
from ctxcore.messages.openai import KNOWN_KEYS, is_spoken, parse_message, to_openai
from ctxcore.messages.shapes.values import (
    Conversation,
    Fit,
    Passed,
    Places,
    Refuse,
    Sent,
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
_MESSAGE: Final = PlaceCode.MESSAGE  # looked up once: a place is made for every message
_OTHER_PARTS: Final = frozenset(
    {
        *("tool_use", "tool_result"),
        *("input_text", "output_text", "input_image", "input_file"),
    }
)
_SAYING_KEYS: Final = frozenset({"content", *_OWN_KEYS} - {"tool_call_id", "name"})


class OpenAIChat:
    """The codec of OpenAI's chat messages."""

    shape: Shape = "openai"
    maker: str = "OpenAI's"

    def detect(self, raw: Mapping[str, object]) -> Fit:
        """Whether `raw` is such a message."""
        content = raw.get("content")
        if "role" not in raw and isinstance(raw.get("type"), str):
            return "no"
        if type(content) is str and "tool_call_id" in raw:
            return "own"  # as is most of a long list
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
        """The messages in `entries`, one each."""
        messages: list[Message] = []
        places: list[int] = []
        for at, raw in entries:
            try:
                message = raw if isinstance(raw, Message) else _read(raw, at)
            except MessageError as error:
                refuse(at, error)
            else:
                messages.append(message)
                places.append(at)
        is_whole = not places or places[-1] == len(places) - 1
        told: Places | None = None if is_whole else tuple((at,) for at in places)
        return Conversation(messages=tuple(messages), places=told)

    def back(self, groups: Sequence[SentGroup], passed: Passed | None) -> list[JsonObject]:
        """`groups` as chat messages."""
        return [_written(group, passed) for group in groups]


def _is_others(part: object) -> bool:
    """Whether `part` is a block that only another shape has."""
    kind = type_of(part)
    if kind in ("image", "document"):
        return isinstance(part, Mapping) and isinstance(part.get("source"), Mapping)
    return kind in _OTHER_PARTS


def _read(raw: object, at: int) -> Message:
    place = Place(_MESSAGE, at)
    if not isinstance(raw, Mapping):
        raise MessageError(place=place, problem=object_problem(raw))
    content = raw.get("content")
    if not content or type(content) is not str or "role" not in raw or "parts" in raw:
        _check(raw, content, place)
    return parse_message(raw, place=place)


def _check(raw: Mapping[str, object], content: object, place: Place) -> None:
    """Refuses what would be read without its words."""
    is_call = content is None and bool(raw.get("tool_calls"))
    told = form_problem(raw) if "role" not in raw or (content is None and not is_call) else None
    if told is not None:
        raise MessageError(place=place, problem=told)
    if content is None and "role" in raw and not any(raw.get(key) for key in _SAYING_KEYS):
        refuse_words_elsewhere(raw, "content", KNOWN_KEYS, place)
    elif not content and "role" in raw:
        refuse_words_beside(raw, "content", KNOWN_KEYS, place)
    elif has_gemini_parts(raw):
        told = MessageProblem.BOTH_CONTENTS()
        raise MessageError(place=place, problem=told)
    elif isinstance(content, Mapping):
        told = form_problem(raw) or with_way_out(WhatCode.OBJECT(), WayOutCode.INTO_LIST)
        raise MessageError(place=place.within("content"), problem=told)
    elif isinstance(content, Sequence) and not isinstance(content, (str, bytes)):
        for at, part in enumerate(content):
            _check_part(part, place, at)


def _check_part(part: object, place: Place, at: int) -> None:
    """Refuses the part at `at` of a message's content where it would lose its words."""
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


def _written(group: SentGroup, passed: Passed | None) -> JsonObject:
    one = group.sent[0] if len(group.sent) == 1 else None
    if passed is not None and one is not None and one.source is not None:
        raw = passed.raw(one.source)
        if raw is not None:
            old = passed.messages[one.source]
            is_own = one.is_untouched or (is_thought_alone(old) and one.message.role == old.role)
            return cast("JsonObject", raw) if is_own else _changed(raw, old, one, group)
    return _fresh(group.message, has_reasoning=group.has_reasoning)


def _fresh(message: Message, *, has_reasoning: bool) -> JsonObject:
    written = to_openai(message, with_reasoning=has_reasoning)
    return {key: printable_json(value) for key, value in written.items()}


def _changed(raw: Mapping[str, object], old: Message, sent: Sent, group: SentGroup) -> JsonObject:
    """A copy of `raw` that says what `sent` does, with all else that it held."""
    new = sent.message
    written = _fresh(new, has_reasoning=group.has_reasoning)
    if new.role != old.role or (raw.get("role") == "function" and new.answers != old.answers):
        return written
    out = cast("JsonObject", dict(raw))
    if new.content != old.content:
        spoken = ("audio",) if any(map(is_spoken, old.content)) else ()
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
    """Puts the cache mark of the parts there were on the words that stand for them."""
    parts = before if isinstance(before, Sequence) and not isinstance(before, str) else ()
    marks = (part.get("cache_control") for part in parts if isinstance(part, Mapping))
    mark = next((mark for mark in marks if mark is not None), None)
    if mark is not None and isinstance(out.get("content"), str):
        out["content"] = [{"type": "text", "text": out["content"], "cache_control": mark}]


def _changed_calls(
    raws: object, old: Sequence[ToolCall], new: Sequence[ToolCall], written: JsonObject
) -> JsonValue:
    """The calls as they are sent; of those that changed only what did."""
    fresh = cast("list[JsonObject]", written.get("tool_calls") or [])
    if not isinstance(raws, Sequence) or not len(raws) == len(old) == len(new):
        return cast("JsonValue", fresh)
    return [
        raw if before == after else _changed_call(raw, made)
        for raw, before, after, made in zip(raws, old, new, fresh, strict=True)
    ]


def _changed_call(raw: JsonObject, made: JsonObject) -> JsonObject:
    if not isinstance(raw.get("function"), dict):
        return {**raw, "id": made["id"]}  # free text needs no JSON in this shape
    function = {**cast("JsonObject", raw["function"]), **cast("JsonObject", made["function"])}
    return {**raw, "id": made["id"], "function": function}
