"""Converts between one OpenAI chat dictionary and a `Message`.

`to_openai(parse_message(d))` means the same as `d`; unknown keys and parts come back unchanged.
Lists of messages, in any shape, are read in `shapes`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

from ctxcore.errors import MessageError
from ctxcore.messages.canonical import canonical_at, object_of, parse_canonical, text_or_none
from ctxcore.messages.foreign import part_problem, with_way_out
from ctxcore.messages.media import media_or_opaque
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
    shown_text,
)
from ctxcore.reasons.message_problems import MessageProblem, WayOutCode
from ctxcore.reasons.places import Place, PlaceCode
from ctxcore.reasons.values import quoted

KNOWN_KEYS = frozenset(
    {
        *("role", "content", "name", "tool_calls", "tool_call_id", "function_call"),
        *("refusal", "reasoning_content", "thinking_blocks", "audio", "action"),
    }
)
_CALL_KEYS = frozenset({"id", "type", "function", "custom"})
_MESSAGE = Place(PlaceCode.ONE_MESSAGE)
PLAIN_ROLES: tuple[Role, ...] = ("user", "assistant", "system")
_ROLE_ALIASES: dict[str, Role] = {"function": "tool", "model": "assistant", "human": "user"}


def parse_message(raw: Mapping[str, object], *, place: Place = _MESSAGE) -> Message:
    """One OpenAI chat dictionary as a value; legacy `function_call` becomes a tool call.

    Raises:
        MessageError: the role, content or calls are not what the format allows.
    """
    object_of(raw, place)
    role, content = raw.get("role"), raw.get("content")
    if len(raw) == 2 and type(content) is str and role in PLAIN_ROLES:  # nearly every message
        return Message(role=role, content=(Text(text=content),) if content else ())
    role = _parse_role(role, place)
    parts = _parse_content(content, place)
    thinking, audio = _parse_thinking(raw, place), _parse_audio(raw, place)
    refusal = text_or_none(raw.get("refusal"), place, "refusal")
    refusals = (Refusal(text=refusal),) if refusal else ()
    extra = {str(key): value for key, value in raw.items() if key not in KNOWN_KEYS}
    return Message(
        role=role,
        content=(*thinking, *parts, *audio, *refusals),
        calls=_parse_calls(raw, place),
        answers=_parse_id(raw, "tool_call_id", place) if role == "tool" else None,
        name=text_or_none(raw.get("name"), place, "name"),
        action=text_or_none(raw.get("action"), place, "action"),
        extra=canonical_at(extra, place) if extra else None,
    )


def to_openai(message: Message, *, with_reasoning: bool = False) -> JsonObject:
    """The message as an OpenAI chat dictionary; thinking and signatures only `with_reasoning`.

    A provider's compaction is sent as its summary, since chat completions have no part for it.
    """
    text = only_text(message)
    out: JsonObject = {"role": message.role, "content": text}
    if text is None:
        _add_parts(out, message)
    if message.calls:
        out["tool_calls"] = [_to_call(call, with_extra=with_reasoning) for call in message.calls]
    if message.answers is not None:
        out["tool_call_id"] = message.answers
    if message.name:
        out["name"] = message.name
    if with_reasoning and text is None:
        out.update(_to_reasoning_keys(message))
    return out


def only_text(message: Message) -> str | None:
    """The words of a message that has nothing beside them, as nearly all have."""
    content = message.content
    if len(content) != 1 or message.calls:
        return None
    part = content[0]
    return part.text if isinstance(part, Text) and part.extra is None else None


def _add_parts(out: JsonObject, message: Message) -> None:
    """Puts all content into `out` but thinking."""
    if not message.content:
        out["content"] = None if message.calls else ""
        return
    sounds = [part for part in message.content if is_audio_answer(part)]
    parts = _parts_of_content(message)
    if not parts:
        out["content"] = None if message.calls or sounds else ""
    elif len(parts) == 1 and isinstance(parts[0], Text) and parts[0].extra is None:
        out["content"] = parts[0].text
    else:
        out["content"] = [_to_sent_part(part) for part in parts]
    if refusal := [part.text for part in message.content if isinstance(part, Refusal)]:
        out["refusal"] = "\n".join(refusal)
    if sounds:
        audio = cast("JsonObject", _to_part(sounds[-1]))
        out["audio"] = {key: value for key, value in audio.items() if key != "type"}


def _parts_of_content(message: Message) -> list[Part]:
    """The parts that have no key of their own."""
    others = (part for part in message.content if not is_audio_answer(part))
    return [part for part in others if not isinstance(part, (Reasoning, Refusal))]


def is_audio_answer(part: Part) -> bool:
    """Whether `part` is the audio of a model's answer, which has a key of its own."""
    return isinstance(part, Opaque) and part.provider == "audio"


def to_full(message: Message) -> JsonObject:
    """The message as a dictionary with all of its fields: thinking, action, unknown keys too."""
    if (text := _lone_text(message)) is not None:  # nearly every message
        return {"role": message.role, "content": text}
    out = to_openai(message, with_reasoning=True)
    if any(isinstance(part, Opaque) and part.summary for part in message.content):
        out["content"] = [_to_part(part) for part in _parts_of_content(message)]
    if message.action is not None:
        out["action"] = message.action
    if message.extra is not None:
        out.update(cast("JsonObject", parse_canonical(message.extra)))
    return out


def _lone_text(message: Message) -> str | None:
    """The text of a message that is a role and a text and nothing else; None for any other."""
    if len(message.content) != 1 or message.calls or message.name or message.answers is not None:
        return None
    part = message.content[0]
    if not isinstance(part, Text) or part.extra is not None:
        return None
    return part.text if message.action is None and message.extra is None else None


def _to_call(call: ToolCall, *, with_extra: bool) -> JsonObject:
    function: JsonObject = {"name": call.name, "arguments": call.arguments}
    out: JsonObject = {"id": call.id, "type": "function", "function": function}
    if with_extra and call.extra is not None:
        out.update(cast("JsonObject", parse_canonical(call.extra)))
    return out


def _to_reasoning_keys(message: Message) -> JsonObject:
    """The keys that carry thinking back to a provider; empty if there is none."""
    parts = [part for part in message.content if isinstance(part, Reasoning)]
    out: JsonObject = {}
    if plain := "\n".join(part.text for part in parts if part.raw is None):
        out["reasoning_content"] = plain
    if signed := [parse_canonical(part.raw) for part in parts if part.raw is not None]:
        out["thinking_blocks"] = signed
    return out


def _parse_role(value: object, place: Place) -> Role:
    if isinstance(value, str):
        role = _ROLE_ALIASES.get(value, value)
        if role in ROLES:
            return role
    problem = MessageProblem.ROLE(value=quoted(value), names=ROLES)
    raise MessageError(place=place.within("role"), problem=problem)


def _parse_content(value: object, place: Place) -> tuple[Part, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        return (Text(text=value),) if value else ()
    if isinstance(value, Sequence):
        return tuple(
            _parse_part(part, place.within("content", at)) for at, part in enumerate(value)
        )
    problem = MessageProblem.CONTENT(kind=type(value).__name__)
    raise MessageError(place=place.within("content"), problem=problem)


def _parse_part(value: object, place: Place) -> Part:
    if isinstance(value, str):
        return Text(text=value)
    if not isinstance(value, Mapping):
        raise MessageError(place=place, problem=part_problem(value))
    kind, text = value.get("type"), value.get("text")
    if kind in ("text", "input_text", "output_text") and isinstance(text, str):
        rest = {key: inner for key, inner in value.items() if key not in ("type", "text")}
        return Text(text=text, extra=canonical_at(rest, place) if rest else None)
    if kind == "refusal" and isinstance(value.get("refusal"), str):
        return Refusal(text=str(value["refusal"]))
    return media_or_opaque(value, place, provider=str(kind or "unknown"))


def _parse_thinking(raw: Mapping[str, object], place: Place) -> tuple[Reasoning, ...]:
    blocks = raw.get("thinking_blocks")
    text = text_or_none(raw.get("reasoning_content"), place, "reasoning_content")
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


def _parse_audio(raw: Mapping[str, object], place: Place) -> tuple[Opaque, ...]:
    """The audio of a model's answer, which is sent back by its id."""
    if raw.get("audio") is None:
        return ()
    audio = {**object_of(raw["audio"], place, "audio"), "type": "audio"}
    return (Opaque(provider="audio", raw=canonical_at(audio, place)),)


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
        raise MessageError(place=place, problem=part_problem(value))
    function = value.get("function")
    if not isinstance(function, Mapping):
        function = value.get("custom")  # a call with free text instead of JSON arguments
    if not isinstance(function, Mapping):
        problem = MessageProblem.MISSING()
        if isinstance(value.get("name"), str):
            problem = with_way_out(problem, WayOutCode.LANGCHAIN_FLAT)
        raise MessageError(place=place.within("function"), problem=problem)
    call = _parse_function(function, _parse_id(value, "id", place), place)
    extra = {str(key): inner for key, inner in value.items() if key not in _CALL_KEYS}
    return replace(call, extra=canonical_at(extra, place)) if extra else call


def _parse_function(function: Mapping[str, object], call_id: str, place: Place) -> ToolCall:
    name = function.get("name")
    if not isinstance(name, str) or not name:
        raise MessageError(place=place.within("name"), problem=MessageProblem.FUNCTION())
    arguments = function.get("arguments", function.get("input"))
    if arguments is not None and not isinstance(arguments, str):
        arguments = canonical_at(arguments, place, "arguments")
    return ToolCall(id=call_id, name=name, arguments=arguments or "")


def _parse_id(raw: Mapping[str, object], key: str, place: Place) -> str:
    """An id as text; empty where there is none."""
    value = raw.get(key)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return text_or_none(value, place, key) or ""


def _to_sent_part(part: Part) -> JsonValue:
    is_summary = isinstance(part, Opaque) and part.summary is not None
    return {"type": "text", "text": shown_text(part)} if is_summary else _to_part(part)


def _to_part(part: Part) -> JsonValue:
    match part:
        case Text(text=text, extra=extra):
            rest = cast("JsonObject", parse_canonical(extra)) if extra else {}
            return {"type": "text", "text": text, **rest}
        case Refusal(text=text) | Reasoning(text=text):
            return {"type": "text", "text": text}
        case Media(raw=raw) | Opaque(raw=raw):
            return parse_canonical(raw)
