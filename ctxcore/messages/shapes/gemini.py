"""Gemini's contents: a role and parts, keys in camelCase or snake_case.

Calls need no ids there, so that responses are paired with them by name and order; ids are made
from places, and so stay the same while a list grows.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, cast

from ctxcore.errors import MessageError
from ctxcore.messages.canonical import (
    canonical_at,
    object_of,
    parse_canonical,
    printable,
    printable_json,
    text_or_none,
)
from ctxcore.messages.media import parse_media
from ctxcore.messages.shapes.anthropic import input_of
from ctxcore.messages.shapes.foreign import (
    refuse_words_beside,
    refuse_words_elsewhere,
    refused_form,
    refused_object,
    refused_part,
)
from ctxcore.messages.shapes.turns import (
    TALK_ROLES,
    Block,
    BlockWriter,
    Placed,
    conversation_of,
    together,
    words_of,
)
from ctxcore.messages.shapes.values import (
    Conversation,
    Fit,
    Passed,
    Refuse,
    SentGroup,
    Shape,
)
from ctxcore.messages.values import (
    JsonObject,
    JsonValue,
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Role,
    Text,
    ToolCall,
)
from ctxcore.reasons.message_problems import MessageProblem
from ctxcore.reasons.places import Place, PlaceCode
from ctxcore.reasons.values import QuoteCode, all_of, quoted, quoted_keys

_ROLES: Final[Mapping[str, Role]] = {
    "user": "user",
    "function": "user",
    "tool": "user",
    "model": "assistant",
    "system": "system",
}
_CAMEL: Final = {
    "function_call": "functionCall",
    "function_response": "functionResponse",
    "inline_data": "inlineData",
    "file_data": "fileData",
    "mime_type": "mimeType",
    "file_uri": "fileUri",
    "thought_signature": "thoughtSignature",
    "display_name": "displayName",
}
_SNAKE: Final = {camel: snake for snake, camel in _CAMEL.items()}
_SIDE_KEYS: Final = frozenset({"thought", "thoughtSignature", "videoMetadata", "video_metadata"})
_PART: Final = Place(PlaceCode.KEY, "part")
_PARTS: Final = Place(PlaceCode.KEY, "parts")
_DATA_KEYS: Final = frozenset(
    {
        *("text", "functionCall", "functionResponse", "inlineData", "fileData"),
        *("executableCode", "executable_code", "codeExecutionResult", "code_execution_result"),
    }
)
_CALL_KEYS: Final = frozenset(
    {"name", "args", "partialArgs", "partial_args", "willContinue", "will_continue"}
)
_RESPONSE_KEYS: Final = frozenset(
    {"name", "response", "parts", "willContinue", "will_continue", "scheduling"}
)
_OUTPUT_KEYS: Final = ("result", "output", "content")  # what SDKs wrap a plain output in


class Gemini:
    """The codec of Gemini's contents."""

    shape: Shape = "gemini"
    maker: str = "Gemini's"

    def detect(self, raw: Mapping[str, object]) -> Fit:
        """Whether `raw` is such a content."""
        parts = raw.get("parts")
        if "content" in raw or ("type" in raw and "parts" not in raw):
            return "no"
        if not isinstance(parts, (list, tuple)):
            return "fits" if parts is None and not _says_otherwise(raw) else "no"
        role = raw.get("role")
        if role is not None and (not isinstance(role, str) or role not in _ROLES):
            return "no"
        if any(isinstance(part, Mapping) and "type" in part for part in parts):
            return "no"
        return "own" if "kind" not in raw else "no"

    def to(self, entries: Iterable[tuple[int, object]], refuse: Refuse) -> Conversation:
        """The messages in `entries`, responses paired with the calls before them."""
        read: list[Placed] = []
        pairing = _Pairing()
        for at, raw in entries:
            try:
                found = [raw] if isinstance(raw, Message) else _read(raw, at, pairing)
            except MessageError as error:
                refuse(at, error)
                continue
            pairing.take(found, made_at=at)
            read += [Placed(one, (at,), is_value=one is raw) for one in found]
        return conversation_of(together(read))

    def back(self, groups: Sequence[SentGroup], passed: Passed | None) -> list[JsonObject]:
        """`groups` as Gemini's contents."""
        writer = _Writer(is_snake=passed is not None and any(map(_is_snake, passed.given)))
        return [writer.message(turn) for turn in writer.turns(groups, passed)]


class _Pairing:
    """The calls of the last model contents that no response answered yet."""

    def __init__(self) -> None:
        self._open: list[ToolCall] = []
        self._made: set[str] = set()
        """Ids that calls have from their places."""
        self._is_asking = False

    def take(self, found: Sequence[Message], *, made_at: int) -> None:
        """Notes the calls of a new content; without responses between, they join those before."""
        said = [message for message in found if not message.is_tool_result]
        if not said:
            self._is_asking = False
            return
        calls = [call for message in said for call in message.calls]
        is_more = self._is_asking and said[-1].role == "assistant"
        if calls or (not is_more and len(said) == len(found)):
            self._open = [*self._open, *calls] if is_more else calls
        self._made.update(call.id for call in calls if call.id.startswith(f"call_{made_at}_"))
        self._is_asking = said[-1].role == "assistant" and bool(self._open)

    def answered(self, call_id: str, name: str) -> str:
        """The id of the call that a response answers; its own, or none, without such a call."""
        found = next((call for call in self._open if call_id and call.id == call_id), None)
        if found is None:
            named = (call for call in self._open if call.name == name)
            found = next((one for one in named if not call_id or one.id in self._made), None)
        if found is None:
            return call_id
        self._open.remove(found)
        return found.id


class _Writer(BlockWriter):
    """Writes contents; one writer a list, since calls and their responses share their form."""

    key = "parts"
    thinks_alone = True
    roles: Mapping[str, str] = {**TALK_ROLES, "assistant": "model", "system": "user"}

    def __init__(self, *, is_snake: bool) -> None:
        self._is_snake = is_snake
        self._made: dict[str, tuple[str, bool]] = {}
        """The name of each call by its id, and whether Gemini knows the id."""

    def blocks_of(self, raw: Mapping[str, object]) -> list[Block]:
        """The parts of a content."""
        parts = raw.get("parts")
        return list(parts) if isinstance(parts, (list, tuple)) else []

    def is_result(self, block: Block) -> bool:
        """Whether `block` is a function response."""
        return _at(block, "functionResponse") is not None

    def is_call(self, block: Block) -> bool:
        """Whether `block` is a function call."""
        return _at(block, "functionCall") is not None

    def part_of(self, block: Block) -> Part | None:
        """What `block` says, where it is neither call nor response."""
        return _part(block, _PARTS)

    def note(self, message: Message, blocks: Sequence[Block]) -> None:
        """Remembers how calls are written, so that their responses are written alike."""
        made = [_at(block, "functionCall") for block in blocks if self.is_call(block)]
        for call, one in zip(message.calls, made, strict=False):
            self._made[call.id] = (call.name, bool(one and one.get("id")))

    def text_block(self, text: str) -> JsonObject:
        """Words as a part."""
        return {"text": printable(text)}

    def written_part(self, part: Part) -> JsonObject | None:
        """Media and what only Gemini knows; thinking is not taken back."""
        match part:
            case Media():
                return self._keyed(_media_part(part)) or self.text_block(part.label)
            case Opaque(raw=raw, provider=provider):
                own = cast("JsonObject", parse_canonical(raw))
                if own.pop("type", None) == provider and provider in own:
                    return own
                return self.text_block(raw)
            case _:
                return None

    def written_call(self, call: ToolCall) -> JsonObject:
        """A call as a part, with its signature where it has one."""
        made: JsonObject = {"name": call.name, "args": printable_json(input_of(call))}
        if call.id:
            made["id"] = call.id
        part: JsonObject = {"functionCall": made}
        if (signature := _signature(call)) is not None:
            part["thoughtSignature"] = signature
        return cast("JsonObject", self._keyed(part))

    def written_result(self, message: Message) -> JsonObject:
        """A tool message as a response, under the name of its call."""
        name, has_id = self._made.get(message.answers or "", (message.name or "unknown", True))
        made: JsonObject = {"name": name, "response": self._response(message, "result")}
        if has_id and message.answers:
            made["id"] = message.answers
        return cast("JsonObject", self._keyed({"functionResponse": made}))

    def changed_call(self, block: JsonObject, old: ToolCall, new: ToolCall) -> JsonObject:
        """`block` with its new arguments, and its new id where it had one."""
        key = "functionCall" if "functionCall" in block else "function_call"
        made = {**cast("JsonObject", block[key]), "name": new.name}
        if made.get("id") and old.id != new.id:
            made["id"] = new.id
        if old.arguments != new.arguments:
            made["args"] = input_of(new)
        return {**block, key: made}

    def changed_result(self, block: JsonObject, old: Message, new: Message) -> JsonObject:
        """`block` with its new output, and its new id where it had one."""
        key = "functionResponse" if "functionResponse" in block else "function_response"
        made = {**cast("JsonObject", block[key])}
        if made.get("id") and old.answers != new.answers:
            made["id"] = new.answers
        if old.content != new.content:
            before = made.get("response")
            is_wrapped = isinstance(before, dict) and len(before) == 1
            wrap = next(iter(before)) if is_wrapped and isinstance(before, dict) else "result"
            made["response"] = self._response(new, wrap if wrap in _OUTPUT_KEYS else "result")
            made.pop("parts", None)
        return {**block, key: made}

    def marked(self, block: JsonObject, gone: Sequence[JsonObject]) -> JsonObject:
        """`block` with the signature of those it stands for."""
        keys = ("thoughtSignature", "thought_signature")
        found = ((key, one[key]) for one in gone for key in keys if key in one)
        return {**block, **dict(found)}

    def _response(self, message: Message, wrap: str) -> JsonValue:
        words = words_of(message)
        return {wrap: printable(message.text if words is None else words)}

    def _keyed(self, part: JsonObject | None) -> JsonObject | None:
        """`part` with its keys as the list that came in has them."""
        if part is None or not self._is_snake:
            return part
        return {_SNAKE.get(key, key): self._keyed_value(value) for key, value in part.items()}

    def _keyed_value(self, value: JsonValue) -> JsonValue:
        if not isinstance(value, dict) or "args" in value or "response" in value:
            return value
        return {_SNAKE.get(key, key): inner for key, inner in value.items()}


def _read(raw: object, at: int, pairing: _Pairing) -> list[Message]:
    place = Place(PlaceCode.MESSAGE, at)
    if not isinstance(raw, Mapping):
        raise MessageError(place=place, problem=refused_object(raw))
    role, parts = raw.get("role", "user"), raw.get("parts")
    role = "user" if role is None else role
    if not isinstance(role, str) or role not in _ROLES:
        told = MessageProblem.ROLE(value=quoted(role), names=tuple(_ROLES))
        raise MessageError(place=place.within("role"), problem=told)
    if not isinstance(parts, (list, tuple)):
        told = refused_form(raw) or MessageProblem.NO_PARTS(keys=quoted_keys(raw))
        raise MessageError(place=place.within("parts"), problem=told)
    if not parts:
        refuse_words_beside(raw, "parts", ("role",), place)
    results: list[Message] = []
    said: list[Part] = []
    calls: list[ToolCall] = []
    for nth, part in enumerate(parts):
        inner = place.within("parts", nth)
        if not isinstance(part, Mapping):
            raise MessageError(place=inner, problem=refused_part(part))
        _check_one_thing(part, inner)
        if (response := _at(part, "functionResponse", inner)) is not None:
            results.append(_result(response, inner, pairing))
        elif (call := _at(part, "functionCall", inner)) is not None:
            calls.append(_call(call, part, f"call_{at}_{len(calls)}", inner))
        elif (one := _part(part, inner)) is not None:
            said.append(one)
    if not said and not calls:
        said = _signatures(parts, place)
    has_words = any(not isinstance(one, Text) or one.text.strip() for one in said)
    if results and not has_words and not calls:
        return results
    return [*results, Message(role=_ROLES[role], content=tuple(said), calls=tuple(calls))]


def _signatures(parts: Sequence[object], place: Place) -> list[Part]:
    """Signatures of a content that is there for them alone."""
    found: list[Part] = []
    for part in parts:
        held = part if isinstance(part, Mapping) else {}
        signature = held.get("thoughtSignature", held.get("thought_signature"))
        if isinstance(signature, (str, bytes)) and signature:
            signed = signature if isinstance(signature, str) else _base64(signature)
            kind = "thought_signature"
            raw = canonical_at({"type": kind, kind: signed}, place)
            found.append(Reasoning(text="", raw=raw))
    return found


def _check_one_thing(part: Mapping[str, object], place: Place) -> None:
    """Refuses a part that holds two things: only one of them would be read."""
    held = [
        key for key in part if _CAMEL.get(key, key) in _DATA_KEYS and part[key] not in (None, "")
    ]
    if len(held) > 1:
        names = all_of(QuoteCode.VALUE(value=quoted(key)) for key in held)
        raise MessageError(place=place, problem=MessageProblem.TWO_THINGS(names=names))


def _at(part: object, camel: str, place: Place = _PART) -> Mapping[str, object] | None:
    """What a part holds under a key, in either spelling; None if nothing."""
    if not isinstance(part, Mapping):
        return None
    value = part.get(camel)
    if value is None:
        value = part.get(_SNAKE[camel])
    if value is None:
        return None
    return object_of(value, place, camel)


def _call(
    call: Mapping[str, object], part: Mapping[str, object], made_id: str, place: Place
) -> ToolCall:
    name = text_or_none(call.get("name"), place, "name")
    if not name:
        raise MessageError(place=place.within("name"), problem=MessageProblem.FUNCTION_CALL_NAME())
    refuse_words_elsewhere(call, "args", _CALL_KEYS, place)
    args = call.get("args")
    args = {} if args is None else args
    signature = part.get("thoughtSignature", part.get("thought_signature"))
    extra = None
    if isinstance(signature, str):
        extra = canonical_at({"extra_content": {"google": {"thought_signature": signature}}}, place)
    return ToolCall(
        id=text_or_none(call.get("id"), place, "id") or made_id,
        name=name,
        arguments=canonical_at(args, place, "args"),
        extra=extra,
    )


def _result(response: Mapping[str, object], place: Place, pairing: _Pairing) -> Message:
    name = text_or_none(response.get("name"), place, "name") or ""
    call_id = text_or_none(response.get("id"), place, "id") or ""
    inner = response.get("parts")
    if not inner:
        refuse_words_elsewhere(response, "response", _RESPONSE_KEYS, place)
    words = _output(response.get("response"), place.within("response"))
    parts = inner if isinstance(inner, (list, tuple)) else ()
    media = tuple(one for part in parts if (one := _part(part, place.within("parts"))) is not None)
    return Message(
        role="tool",
        content=((Text(text=words),) if words else ()) + media,
        answers=pairing.answered(call_id, name),
    )


def _output(value: object, place: Place) -> str:
    """The words of a response: what it wraps, or its JSON."""
    if isinstance(value, Mapping) and len(value) == 1:
        key, inner = next(iter(value.items()))
        if key in _OUTPUT_KEYS and isinstance(inner, str):
            return inner
    if value is None or isinstance(value, str):
        return value or ""
    return canonical_at(value, place)


def _part(part: object, place: Place) -> Part | None:
    if not isinstance(part, Mapping):
        return None
    if _at(part, "functionCall") is not None or _at(part, "functionResponse") is not None:
        return None
    text = text_or_none(part.get("text"), place, "text")
    if text is not None:
        return _words(text, is_thought=part.get("thought") is True)
    if (data := _at(part, "inlineData", place)) is not None:
        return _inlined(data, place)
    if (file := _at(part, "fileData", place)) is not None:
        return _linked(file, place)
    names = [key for key in part if key not in _SIDE_KEYS and part[key] is not None]
    if not names:
        return None
    name = str(names[0])
    return Opaque(provider=name, raw=canonical_at({**part, "type": name}, place))


def _words(text: str, *, is_thought: bool) -> Part | None:
    """Words or thinking; none of either where a part is there for its signature alone."""
    if not text:
        return None
    return Reasoning(text=text) if is_thought else Text(text=text)


def _inlined(data: Mapping[str, object], place: Place) -> Part:
    mime = _mime(data)
    held = data.get("data")
    if isinstance(held, (bytes, bytearray)):
        held = _base64(held)
    if not isinstance(held, str):
        told = MessageProblem.BASE64(kind=type(held).__name__)
        raise MessageError(place=place.within("data"), problem=told)
    if mime.startswith("audio/"):
        sound = {"data": held, "format": mime.partition("/")[2]}
        return _media({"type": "input_audio", "input_audio": sound}, place)
    url = f"data:{mime};base64,{held}"
    if mime.startswith("image/"):
        return _media({"type": "image_url", "image_url": {"url": url}}, place)
    name = data.get("displayName", data.get("display_name"))
    held_as = name if isinstance(name, str) and name else "document"
    return _media({"type": "file", "file": {"file_data": url, "filename": held_as}}, place)


def _base64(data: bytes | bytearray) -> str:
    return base64.b64encode(data).decode("ascii")


def _linked(file: Mapping[str, object], place: Place) -> Part:
    uri = text_or_none(file.get("fileUri", file.get("file_uri")), place, "fileUri") or ""
    mime = _mime(file)
    if mime.startswith("image/"):
        return _media({"type": "image_url", "image_url": {"url": uri}}, place)
    return _media({"type": "file", "file": {"file_id": uri, "format": mime}}, place)


def _mime(data: Mapping[str, object]) -> str:
    mime = data.get("mimeType", data.get("mime_type"))
    return mime if isinstance(mime, str) else ""


def _media(part: Mapping[str, object], place: Place) -> Part:
    media = parse_media(part, canonical_at(part, place))
    assert media is not None  # its type is one of media
    return media


def _media_part(media: Media) -> JsonObject | None:
    """An image, sound or file of OpenAI's as the part that Gemini has for it."""
    part = cast("JsonObject", parse_canonical(media.raw))
    sound, image, file = part.get("input_audio"), part.get("image_url"), part.get("file")
    if isinstance(sound, dict) and isinstance(sound.get("data"), str):
        return {"inlineData": {"mimeType": f"audio/{sound.get('format')}", "data": sound["data"]}}
    url = image.get("url") if isinstance(image, dict) else image
    if isinstance(file, dict):
        url = file.get("file_data") or file.get("file_id")
    if not isinstance(url, str):
        return None
    mime, is_inline, data = url.removeprefix("data:").partition(";base64,")
    if is_inline:
        return {"inlineData": {"mimeType": mime, "data": data}}
    given = file.get("format") if isinstance(file, dict) else None
    kind = given or ("image/*" if media.kind == "image" else "application/octet-stream")
    return {"fileData": {"mimeType": kind, "fileUri": url}}


def _signature(call: ToolCall) -> str | None:
    if call.extra is None or "thought_signature" not in call.extra:
        return None
    extra = parse_canonical(call.extra)
    for key in ("extra_content", "google", "thought_signature"):
        extra = extra.get(key) if isinstance(extra, dict) else None
    return extra if isinstance(extra, str) else None


def _is_snake(raw: object) -> bool:
    parts = raw.get("parts") if isinstance(raw, Mapping) else None
    if not isinstance(parts, (list, tuple)):
        return False
    return any(key in _CAMEL for part in parts if isinstance(part, Mapping) for key in part)


def _says_otherwise(raw: Mapping[str, object]) -> bool:
    return any(key in raw for key in ("tool_calls", "tool_call_id", "function_call", "refusal"))
