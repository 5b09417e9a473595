"""Owns the edge: OpenAI chat dictionaries in, `Message` values inside, dictionaries out.

`to_openai(parse_message(d))` says the same as `d`; unknown keys and parts come back unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from ctxcore.errors import MessageError
from ctxcore.messages.canonical import parse_canonical, to_canonical
from ctxcore.messages.media import parse_media
from ctxcore.messages.values import (
    ROLES,
    JsonObject,
    JsonValue,
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Refusal,
    Role,
    Text,
    ToolCall,
)

_KNOWN_KEYS = frozenset(
    {
        "role",
        "content",
        "name",
        "tool_calls",
        "tool_call_id",
        "function_call",
        "refusal",
        "reasoning_content",
        "thinking_blocks",
        "action",
    }
)
_CALL_KEYS = frozenset({"id", "type", "function", "custom"})
_ROLE_ALIASES: dict[str, Role] = {"function": "tool", "model": "assistant", "human": "user"}


def parse_messages(messages: Iterable[Mapping[str, object] | Message]) -> list[Message]:
    """`messages` as values; dictionaries and values may be mixed.

    Raises:
        MessageError: one is not a chat message; its place is named, e.g. `message 3`.
    """
    return [
        message if isinstance(message, Message) else parse_message(message, place=f"message {at}")
        for at, message in enumerate(messages)
    ]


def parse_message(raw: Mapping[str, object], *, place: str = "message") -> Message:
    """One OpenAI chat dictionary as a value; legacy `function_call` becomes a tool call.

    Raises:
        MessageError: the role, content or calls are not what the format allows.
    """
    if not isinstance(raw, Mapping):
        raise MessageError(place=place, problem=f"expected an object, got {type(raw).__name__}")
    role = _parse_role(raw.get("role"), place)
    content = _parse_content(raw.get("content"), place)
    return Message(
        role=role,
        content=(*_parse_thinking(raw), *content, *_parse_refusal(raw)),
        calls=_parse_calls(raw, place),
        answers=_parse_answers(raw, role),
        name=_optional_text(raw.get("name"), f"{place}, name"),
        action=_optional_text(raw.get("action"), f"{place}, action"),
        extra=_parse_extra(raw, place),
    )


def to_openai(message: Message, *, with_reasoning: bool = False) -> JsonObject:
    """The message as an OpenAI chat dictionary; thinking and signatures only `with_reasoning`."""
    out: JsonObject = {"role": message.role}
    parts = [part for part in message.content if not isinstance(part, (Reasoning, Refusal))]
    if message.calls and not parts:
        out["content"] = None
    elif not parts:
        out["content"] = ""
    elif len(parts) == 1 and isinstance(parts[0], Text) and parts[0].extra is None:
        out["content"] = parts[0].text
    else:
        out["content"] = [_to_part(part) for part in parts]
    if refusal := [part.text for part in message.content if isinstance(part, Refusal)]:
        out["refusal"] = "\n".join(refusal)
    if message.calls:
        out["tool_calls"] = [
            to_openai_call(call, with_extra=with_reasoning) for call in message.calls
        ]
    if message.answers is not None:
        out["tool_call_id"] = message.answers
    if message.name:
        out["name"] = message.name
    if with_reasoning:
        out.update(to_reasoning_keys(message))
    return out


def to_full(message: Message) -> JsonObject:
    """The message with everything it holds: thinking, action label and unknown keys too."""
    out = to_openai(message, with_reasoning=True)
    if message.action is not None:
        out["action"] = message.action
    if message.extra is not None:
        out.update(cast("JsonObject", parse_canonical(message.extra)))
    return out


def to_openai_call(call: ToolCall, *, with_extra: bool = False) -> JsonObject:
    """A tool call as OpenAI writes it; a provider's further keys only `with_extra`."""
    function: JsonObject = {"name": call.name, "arguments": call.arguments}
    out: JsonObject = {"id": call.id, "type": "function", "function": function}
    if with_extra and call.extra is not None:
        out.update(cast("JsonObject", parse_canonical(call.extra)))
    return out


def to_reasoning_keys(message: Message) -> JsonObject:
    """The keys that carry thinking back to a provider; empty if there is none."""
    parts = [part for part in message.content if isinstance(part, Reasoning)]
    if not parts:
        return {}
    out: JsonObject = {}
    if plain := "\n".join(part.text for part in parts if part.raw is None):
        out["reasoning_content"] = plain
    if signed := [parse_canonical(part.raw) for part in parts if part.raw is not None]:
        out["thinking_blocks"] = signed
    return out


def _parse_role(value: object, place: str) -> Role:
    if isinstance(value, str):
        role = _ROLE_ALIASES.get(value, value)
        if role in ROLES:
            return role
    raise MessageError(place=f"{place}, role", problem=f"{value!r} is none of {', '.join(ROLES)}")


def _parse_content(value: object, place: str) -> tuple[Part, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        return (Text(text=value),) if value else ()
    if isinstance(value, Sequence):
        return tuple(_parse_part(part, f"{place}, content[{at}]") for at, part in enumerate(value))
    raise MessageError(
        place=f"{place}, content",
        problem=f"expected text, a list of parts or null, got {type(value).__name__}",
    )


def _parse_part(value: object, place: str) -> Part:
    if isinstance(value, str):
        return Text(text=value)
    if not isinstance(value, Mapping):
        raise MessageError(place=place, problem=f"expected an object, got {type(value).__name__}")
    kind = value.get("type")
    text = value.get("text")
    if kind in ("text", "input_text", "output_text") and isinstance(text, str):
        rest = {key: inner for key, inner in value.items() if key not in ("type", "text")}
        return Text(text=text, extra=_canonical(rest, place) if rest else None)
    if kind == "refusal" and isinstance(value.get("refusal"), str):
        return Refusal(text=str(value["refusal"]))
    raw = _canonical(dict(value), place)
    return parse_media(value, raw) or Opaque(provider=str(kind or "unknown"), raw=raw)


def _parse_thinking(raw: Mapping[str, object]) -> tuple[Reasoning, ...]:
    blocks = raw.get("thinking_blocks")
    signed: tuple[Reasoning, ...] = ()
    if isinstance(blocks, Sequence) and not isinstance(blocks, str):
        signed = tuple(
            Reasoning(
                text=str(block.get("thinking") or ""),
                raw=_canonical(dict(block), "thinking_blocks"),
            )
            for block in blocks
            if isinstance(block, Mapping)
        )
    text = raw.get("reasoning_content")
    plain = (Reasoning(text=text),) if isinstance(text, str) and text else ()
    return plain + signed


def _parse_refusal(raw: Mapping[str, object]) -> tuple[Refusal, ...]:
    text = raw.get("refusal")
    return (Refusal(text=text),) if isinstance(text, str) and text else ()


def _parse_calls(raw: Mapping[str, object], place: str) -> tuple[ToolCall, ...]:
    legacy = raw.get("function_call")
    if isinstance(legacy, Mapping):
        return (_parse_function(legacy, "", f"{place}, function_call"),)
    calls = raw.get("tool_calls")
    if calls is None:
        return ()
    if not isinstance(calls, Sequence) or isinstance(calls, str):
        raise MessageError(place=f"{place}, tool_calls", problem="expected a list")
    return tuple(_parse_call(call, f"{place}, tool_calls[{at}]") for at, call in enumerate(calls))


def _parse_call(value: object, place: str) -> ToolCall:
    if not isinstance(value, Mapping):
        raise MessageError(place=place, problem=f"expected an object, got {type(value).__name__}")
    function = value.get("function")
    if not isinstance(function, Mapping):
        function = value.get("custom")  # a call with free text instead of JSON arguments
    if not isinstance(function, Mapping):
        raise MessageError(place=f"{place}, function", problem="is missing")
    call_id = value.get("id")
    call = _parse_function(function, call_id if isinstance(call_id, str) else "", place)
    extra = {str(key): inner for key, inner in value.items() if key not in _CALL_KEYS}
    return replace(call, extra=_canonical(extra, place)) if extra else call


def _parse_function(function: Mapping[str, object], call_id: str, place: str) -> ToolCall:
    name = function.get("name")
    if not isinstance(name, str) or not name:
        raise MessageError(place=f"{place}, name", problem="a tool call needs a function name")
    arguments = function.get("arguments", function.get("input", ""))
    if not isinstance(arguments, str):
        arguments = _canonical(arguments, f"{place}, arguments")
    return ToolCall(id=call_id, name=name, arguments=arguments)


def _parse_answers(raw: Mapping[str, object], role: Role) -> str | None:
    if role != "tool":
        return None
    call_id = raw.get("tool_call_id")
    return call_id if isinstance(call_id, str) else ""


def _parse_extra(raw: Mapping[str, object], place: str) -> str | None:
    extra = {str(key): value for key, value in raw.items() if key not in _KNOWN_KEYS}
    return _canonical(extra, place) if extra else None


def _optional_text(value: object, place: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise MessageError(place=place, problem=f"expected text, got {type(value).__name__}")


def _canonical(value: object, place: str) -> str:
    try:
        return to_canonical(cast("JsonValue", value))
    except (TypeError, ValueError, RecursionError) as error:
        raise MessageError(place=place, problem=f"is not JSON: {error}") from error


def _to_part(part: Part) -> JsonValue:
    match part:
        case Text(text=text, extra=extra):
            rest = cast("JsonObject", parse_canonical(extra)) if extra else {}
            return {"type": "text", "text": text, **rest}
        case Refusal(text=text) | Reasoning(text=text):
            return {"type": "text", "text": text}
        case Media(raw=raw) | Opaque(raw=raw):
            return parse_canonical(raw)
