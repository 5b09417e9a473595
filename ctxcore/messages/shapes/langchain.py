"""The codec of LangChain's message objects; LangChain is needed only to make new ones."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Final

from ctxcore.errors import MessageError
from ctxcore.messages.canonical import parse_canonical, printable, type_of
from ctxcore.messages.openai import parse_message, to_full
from ctxcore.messages.shapes.anthropic import input_of
from ctxcore.messages.shapes.objects import ObjectCodec
from ctxcore.messages.shapes.values import PassedMessages, Sent, SentGroup, Shape
from ctxcore.messages.values import Message, Reasoning, SentObject, ToolCall
from ctxcore.reasons.message_problems import MessageProblem
from ctxcore.reasons.places import Place, PlaceCode
from ctxcore.reasons.values import quoted

_ROLES: Final[Mapping[str, str]] = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "tool",
}
_CLASSES: Final[Mapping[str, str]] = {
    "user": "HumanMessage",
    "assistant": "AIMessage",
    "system": "SystemMessage",
    "developer": "SystemMessage",
    "tool": "ToolMessage",
}
_CALL_BLOCKS: Final = frozenset(
    {
        *("tool_use", "tool_call", "function_call", "tool_call_chunk", "invalid_tool_call"),
        *("input_json_delta",),
    }
)
"""Blocks that repeat a call, which is among the calls of its message too."""
_THOUGHT_BLOCKS: Final = ("thinking", "redacted_thinking", "reasoning", "reasoning_content")


class LangChain(ObjectCodec):
    """The codec of objects of `langchain_core.messages`."""

    shape: Shape = "langchain"
    maker: str = "LangChain's"
    packages: tuple[str, ...] = ("langchain_core.messages",)

    def read(self, given: Any, at: int) -> list[Message]:
        place = Place(PlaceCode.MESSAGE, at)
        return [parse_message(_as_openai(given, place), place=place)]

    def back(self, groups: Sequence[SentGroup], passed: PassedMessages | None) -> list[SentObject]:
        return [_written(group, passed) for group in groups]


def _as_openai(given: Any, place: Place) -> dict[str, object]:
    """A message object as OpenAI's dictionary for it."""
    kind = given.type.removesuffix("MessageChunk").lower()
    role = _ROLES.get(kind) or (getattr(given, "role", None) if kind == "chat" else None)
    if role is None:
        problem = MessageProblem.ROLE(value=quoted(given.type), names=tuple(_ROLES))
        raise MessageError(place=place.within("type"), problem=problem)
    content = given.content
    out: dict[str, object] = {"role": role, "content": content}
    if not isinstance(content, str):
        beside = (*_CALL_BLOCKS, *_THOUGHT_BLOCKS)
        out["content"] = [one for one in content if type_of(one) not in beside]
        out["thinking_blocks"] = [
            _thought(one) for one in content if type_of(one) in _THOUGHT_BLOCKS
        ]
    if kind == "ai":
        out["tool_calls"] = [*map(_call, given.tool_calls), *map(_call, given.invalid_tool_calls)]
    if role == "tool":
        out["tool_call_id"] = getattr(given, "tool_call_id", "")
        if getattr(given, "status", None) == "error":
            out["is_error"] = True
    if given.name:
        out["name"] = given.name
    return out


def _thought(block: Mapping[str, object]) -> dict[str, object]:
    text = block.get("thinking") or block.get("reasoning")
    return {**block, "thinking": text if isinstance(text, str) else ""}


def _call(call: Mapping[str, object]) -> dict[str, object]:
    arguments = call.get("args")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    function = {"name": call.get("name") or "unknown", "arguments": text}
    return {"id": call.get("id") or "", "type": "function", "function": function}


def _written(group: SentGroup, passed: PassedMessages | None) -> SentObject:
    """The caller's object where it is sent alone and unchanged, else a copy or a new one."""
    own = [sent.source or 0 for sent in group.sent if _is_own(sent, group, passed)]
    if passed is None or not own:
        return _new(group.message)
    source = own[-1]
    given: Any = passed.given[passed.places_of(source)[0]]
    if len(group.sent) == 1 and group.sent[0].is_untouched:
        return given
    return _changed(given, passed.messages[source], group.message)


def _is_own(sent: Sent, group: SentGroup, passed: PassedMessages | None) -> bool:
    """Whether a message is sent in the role of an object of the caller's."""
    if passed is None or sent.source is None:
        return False
    given = passed.given[passed.places_of(sent.source)[0]]
    is_same = passed.messages[sent.source].role == group.message.role
    return is_same and not isinstance(given, Message)


def _new(message: Message) -> SentObject:
    fields: dict[str, object] = {"content": _content(message)}
    if message.name:
        fields["name"] = message.name
    if message.role == "tool":
        fields["tool_call_id"] = message.answers or ""
    if message.calls:
        fields["tool_calls"] = [_to_call(call) for call in message.calls]
    return getattr(import_module("langchain_core.messages"), _CLASSES[message.role])(**fields)


def _content(message: Message) -> object:
    content = to_full(message)["content"]
    if isinstance(content, str):
        return printable(content)
    return content or ""


def _to_call(call: ToolCall) -> dict[str, object]:
    return {"name": call.name, "args": input_of(call), "id": call.id, "type": "tool_call"}


def _changed(given: Any, old: Message, new: Message) -> SentObject:
    """A copy of `given` with what differs between `old` and `new`."""
    update: dict[str, object] = {}
    if new.content != old.content:
        update["content"] = _with_thoughts(new)
    if new.name != old.name:
        update["name"] = new.name
    if new.answers != old.answers:
        update["tool_call_id"] = new.answers
    if new.calls != old.calls:
        calls = [_to_call(call) for call in new.calls]
        update["tool_calls"] = calls
        if isinstance(given.content, list) and "content" not in update:
            inputs = {call["id"]: call for call in calls}
            update["content"] = [_with_input(block, inputs) for block in given.content]
    return given.model_copy(update=update)


def _with_thoughts(message: Message) -> object:
    """The content with the thinking in front, as its provider gave it."""
    content = _content(message)
    parts = [part for part in message.content if isinstance(part, Reasoning)]
    thoughts = [parse_canonical(part.raw) for part in parts if part.raw is not None]
    if not thoughts:
        return content
    said = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [*thoughts, *(said if isinstance(said, list) else [])]


def _with_input(block: object, calls: Mapping[object, Mapping[str, object]]) -> object:
    """A block that repeats a call, with the arguments the call has now."""
    if not isinstance(block, Mapping) or type_of(block) not in _CALL_BLOCKS:
        return block
    call = calls.get(block.get("id"))
    if call is None:
        return block
    keys = {"input": call["args"], "args": call["args"], "name": call["name"]}
    return {key: keys.get(key, value) for key, value in block.items()}
