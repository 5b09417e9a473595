"""One OpenAI chat dictionary as a `Message`, and a `Message` as one.

`to_openai(parse_message(d))` says the same as `d`; unknown keys and parts come back unchanged.
Whole lists, in whatever shape, are read in `shapes`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

from ctxcore.errors import MessageError
from ctxcore.messages.canonical import canonical_at, object_of, parse_canonical, text_or_none
from ctxcore.messages.media import parse_media
from ctxcore.messages.shapes.foreign import refused_part, with_way_out
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
from ctxcore.reasons.message_problems import MessageProblem, WayOutCode
from ctxcore.reasons.places import Place, PlaceCode
from ctxcore.reasons.values import quoted

KNOWN_KEYS = frozenset(
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
        "audio",
        "action",
    }
)
_CALL_KEYS = frozenset({"id", "type", "function", "custom"})
_MESSAGE = Place(PlaceCode.ONE_MESSAGE)
_TALKERS: tuple[Role, ...] = ("user", "assistant", "system")
_ROLE_ALIASES: dict[str, Role] = {"function": "tool", "model": "assistant", "human": "user"}


def parse_message(raw: Mapping[str, object], *, place: Place = _MESSAGE) -> Message:
    """One OpenAI chat dictionary as a value; legacy `function_call` becomes a tool call.

    Raises:
        MessageError: the role, content or calls are not what the format allows.
    """
    object_of(raw, place)
    plain = _parse_plain(raw)
    if plain is not None:
        return plain
    role = _parse_role(raw.get("role"), place)
    content = _parse_content(raw.get("content"), place)
    return Message(
        role=role,
        content=(
            *_parse_thinking(raw, place),
            *content,
            *_parse_audio(raw, place),
            *_parse_refusal(raw, place),
        ),
        calls=_parse_calls(raw, place),
        answers=_parse_answers(raw, role, place),
        name=text_or_none(raw.get("name"), place, "name"),
        action=text_or_none(raw.get("action"), place, "action"),
        extra=_parse_extra(raw, place),
    )


def to_openai(message: Message, *, with_reasoning: bool = False) -> JsonObject:
    """The message as an OpenAI chat dictionary; thinking and signatures only `with_reasoning`."""
    out: JsonObject = {"role": message.role}
    sounds = [part for part in message.content if is_spoken(part)]
    held = (part for part in message.content if part not in sounds)
    parts = [part for part in held if not isinstance(part, (Reasoning, Refusal))]
    if (message.calls or sounds) and not parts:
        out["content"] = None
    elif not parts:
        out["content"] = ""
    elif len(parts) == 1 and isinstance(parts[0], Text) and parts[0].extra is None:
        out["content"] = parts[0].text
    else:
        out["content"] = [_to_part(part) for part in parts]
    if refusal := [part.text for part in message.content if isinstance(part, Refusal)]:
        out["refusal"] = "\n".join(refusal)
    if sounds:
        out["audio"] = _to_audio(sounds[-1])
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


def is_spoken(part: Part) -> bool:
    """Whether `part` is what a model said aloud, which has a key of its own."""
    return isinstance(part, Opaque) and part.provider == "audio"


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


def _parse_plain(raw: Mapping[str, object]) -> Message | None:
    """Nearly every message: a role and words, nothing else; None if there is more to it."""
    role, content = raw.get("role"), raw.get("content")
    if len(raw) == 2 and type(content) is str and role in _TALKERS:
        return Message(role=role, content=(Text(text=content),) if content else ())
    return None


def _parse_role(value: object, place: Place) -> Role:
    if isinstance(value, str):
        role = _ROLE_ALIASES.get(value, value)
        if role in ROLES:
            return role
    told = MessageProblem.ROLE(value=quoted(value), names=ROLES)
    raise MessageError(place=place.within("role"), problem=told)


def _parse_content(value: object, place: Place) -> tuple[Part, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        return (Text(text=value),) if value else ()
    if isinstance(value, Sequence):
        return tuple(
            _parse_part(part, place.within("content", at)) for at, part in enumerate(value)
        )
    raise MessageError(
        place=place.within("content"),
        problem=MessageProblem.CONTENT(kind=type(value).__name__),
    )


def _parse_part(value: object, place: Place) -> Part:
    if isinstance(value, str):
        return Text(text=value)
    if not isinstance(value, Mapping):
        raise MessageError(place=place, problem=refused_part(value))
    kind = value.get("type")
    text = value.get("text")
    if kind in ("text", "input_text", "output_text") and isinstance(text, str):
        rest = {key: inner for key, inner in value.items() if key not in ("type", "text")}
        return Text(text=text, extra=canonical_at(rest, place) if rest else None)
    if kind == "refusal" and isinstance(value.get("refusal"), str):
        return Refusal(text=str(value["refusal"]))
    raw = canonical_at(dict(value), place)
    return parse_media(value, raw) or Opaque(provider=str(kind or "unknown"), raw=raw)


def _parse_thinking(raw: Mapping[str, object], place: Place) -> tuple[Reasoning, ...]:
    blocks, text = raw.get("thinking_blocks"), raw.get("reasoning_content")
    if blocks is None and text is None:
        return ()
    text = text_or_none(text, place, "reasoning_content")
    plain = (Reasoning(text=text),) if text else ()
    return (*plain, *_parse_thinking_blocks(blocks, place.within("thinking_blocks")))


def _parse_thinking_blocks(blocks: object, place: Place) -> Iterator[Reasoning]:
    if blocks is None:
        return
    if not isinstance(blocks, Sequence) or isinstance(blocks, (str, bytes)):
        raise MessageError(place=place, problem=MessageProblem.LIST())
    for at, block in enumerate(blocks):
        inner = place.within(at)
        thinking = text_or_none(object_of(block, inner).get("thinking"), inner, "thinking")
        yield Reasoning(text=thinking or "", raw=canonical_at(dict(block), inner))


def _parse_refusal(raw: Mapping[str, object], place: Place) -> tuple[Refusal, ...]:
    text = text_or_none(raw.get("refusal"), place, "refusal")
    return (Refusal(text=text),) if text else ()


def _parse_audio(raw: Mapping[str, object], place: Place) -> tuple[Opaque, ...]:
    """What a model said aloud; it is sent back by its id."""
    audio = raw.get("audio")
    if audio is None:
        return ()
    held = object_of(audio, place, "audio")
    return (Opaque(provider="audio", raw=canonical_at({**held, "type": "audio"}, place)),)


def _to_audio(part: Part) -> JsonValue:
    assert isinstance(part, Opaque)  # so are those that are spoken
    held = cast("JsonObject", parse_canonical(part.raw))
    return {key: value for key, value in held.items() if key != "type"}


def _parse_calls(raw: Mapping[str, object], place: Place) -> tuple[ToolCall, ...]:
    legacy = raw.get("function_call")
    if legacy is not None:
        place = place.within("function_call")
        return (_parse_function(object_of(legacy, place), "", place),)
    calls = raw.get("tool_calls")
    if calls is None:
        return ()
    if not isinstance(calls, Sequence) or isinstance(calls, str):
        raise MessageError(place=place.within("tool_calls"), problem=MessageProblem.LIST())
    return tuple(_parse_call(call, place.within("tool_calls", at)) for at, call in enumerate(calls))


def _parse_call(value: object, place: Place) -> ToolCall:
    if not isinstance(value, Mapping):
        raise MessageError(place=place, problem=refused_part(value))
    function = value.get("function")
    if not isinstance(function, Mapping):
        function = value.get("custom")  # a call with free text instead of JSON arguments
    if not isinstance(function, Mapping):
        is_flat = isinstance(value.get("name"), str)
        flat = with_way_out(MessageProblem.MISSING(), WayOutCode.LANGCHAIN_FLAT)
        told = flat if is_flat else MessageProblem.MISSING()
        raise MessageError(place=place.within("function"), problem=told)
    call = _parse_function(function, _parse_id(value.get("id"), place, "id"), place)
    extra = {str(key): inner for key, inner in value.items() if key not in _CALL_KEYS}
    return replace(call, extra=canonical_at(extra, place)) if extra else call


def _parse_function(function: Mapping[str, object], call_id: str, place: Place) -> ToolCall:
    name = function.get("name")
    if not isinstance(name, str) or not name:
        raise MessageError(place=place.within("name"), problem=MessageProblem.FUNCTION())
    arguments = function.get("arguments", function.get("input"))
    if arguments is None:
        arguments = ""
    if not isinstance(arguments, str):
        arguments = canonical_at(arguments, place, "arguments")
    return ToolCall(id=call_id, name=name, arguments=arguments)


def _parse_answers(raw: Mapping[str, object], role: Role, place: Place) -> str | None:
    if role != "tool":
        return None
    return _parse_id(raw.get("tool_call_id"), place, "tool_call_id")


def _parse_id(value: object, place: Place, key: str) -> str:
    """An id as text; empty where there is none."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return text_or_none(value, place, key) or ""


def _parse_extra(raw: Mapping[str, object], place: Place) -> str | None:
    extra = {str(key): value for key, value in raw.items() if key not in KNOWN_KEYS}
    return canonical_at(extra, place) if extra else None


def _to_part(part: Part) -> JsonValue:
    match part:
        case Text(text=text, extra=extra):
            rest = cast("JsonObject", parse_canonical(extra)) if extra else {}
            return {"type": "text", "text": text, **rest}
        case Refusal(text=text) | Reasoning(text=text):
            return {"type": "text", "text": text}
        case Media(raw=raw) | Opaque(raw=raw):
            return parse_canonical(raw)
