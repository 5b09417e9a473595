"""The codec of Gemini's contents: a role and parts, with keys in camelCase or snake_case.

Gemini's calls need no ids: responses are paired with them by name and order. Calls without an id
get one from their place, which stays the same while the list grows.
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
from ctxcore.messages.foreign import (
    checked_object,
    form_problem,
    part_problem,
    refuse_text_beside,
    refuse_unknown_keys,
)
from ctxcore.messages.media import media_or_opaque
from ctxcore.messages.shapes.anthropic import input_of
from ctxcore.messages.shapes.turns import BASE_ROLES, Block, BlockWriter, read_turns, text_only
from ctxcore.messages.shapes.values import (
    Conversation,
    Fit,
    PassedMessages,
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
_OTHER_KEYS: Final = ("tool_calls", "tool_call_id", "function_call", "refusal")


class Gemini:
    """The codec of Gemini's contents."""

    shape: Shape = "gemini"
    maker: str = "Gemini's"

    def detect(self, raw: Mapping[str, object]) -> Fit:
        parts = raw.get("parts")
        if "content" in raw or ("type" in raw and "parts" not in raw):
            return "no"
        if not isinstance(parts, (list, tuple)):
            has_other_keys = any(key in raw for key in _OTHER_KEYS)
            return "fits" if parts is None and not has_other_keys else "no"
        role = raw.get("role")
        if role is not None and (not isinstance(role, str) or role not in _ROLES):
            return "no"
        if any(isinstance(part, Mapping) and "type" in part for part in parts):
            return "no"
        return "own" if "kind" not in raw else "no"

    def to(self, entries: Iterable[tuple[int, object]], refuse: Refuse) -> Conversation:
        pairing = _Pairing()

        def read(raw: object, at: int) -> list[Message]:
            found = [raw] if isinstance(raw, Message) else _read(raw, at, pairing)
            pairing.take(found, made_at=at)
            return found

        return read_turns(entries, read, refuse)

    def back(self, groups: Sequence[SentGroup], passed: PassedMessages | None) -> list[JsonObject]:
        writer = _Writer(is_snake=passed is not None and any(map(_is_snake, passed.given)))
        return [writer.message(turn) for turn in writer.turns(groups, passed)]


class _Pairing:
    """Pairs responses with the open calls: those of the last model contents without an answer."""

    def __init__(self) -> None:
        self._open: list[ToolCall] = []
        self._made: set[str] = set()
        """The ids made from places."""
        self._is_calling = False
        """Whether the last content was the model's, with open calls."""

    def take(self, found: Sequence[Message], *, made_at: int) -> None:
        """Notes the calls of a new content; without responses between, they join those before."""
        others = [message for message in found if not message.is_tool_result]
        if not others:
            self._is_calling = False
            return
        calls = [call for message in others for call in message.calls]
        is_model = others[-1].role == "assistant"
        is_more = self._is_calling and is_model
        if calls or (not is_more and len(others) == len(found)):
            self._open = [*self._open, *calls] if is_more else calls
        self._made.update(call.id for call in calls if call.id.startswith(f"call_{made_at}_"))
        self._is_calling = is_model and bool(self._open)

    def answered(self, call_id: str, name: str) -> str:
        """The id of the call that a response answers; its own, or none, without such a call."""
        found = next((call for call in self._open if call_id and call.id == call_id), None)
        if found is None:
            named = (call for call in self._open if call.name == name)
            found = next((call for call in named if not call_id or call.id in self._made), None)
        if found is None:
            return call_id
        self._open.remove(found)
        return found.id


class _Writer(BlockWriter):
    """Writes one list of contents: responses are written in the form of their calls."""

    key = "parts"
    thinks_alone = True
    roles: Mapping[str, str] = {**BASE_ROLES, "assistant": "model", "system": "user"}

    def __init__(self, *, is_snake: bool) -> None:
        self._is_snake = is_snake
        self._made: dict[str, tuple[str, bool]] = {}
        """The name of each call by its id, and whether the call is written with its id."""

    def blocks_of(self, raw: Mapping[str, object]) -> list[Block]:
        parts = raw.get("parts")
        return list(parts) if isinstance(parts, (list, tuple)) else []

    def is_result(self, block: Block) -> bool:
        return _at(block, "functionResponse") is not None

    def is_call(self, block: Block) -> bool:
        return _at(block, "functionCall") is not None

    def part_of(self, block: Block) -> Part | None:
        return _part(block, _PARTS)

    def note(self, message: Message, blocks: Sequence[Block]) -> None:
        """Remembers how calls are written, so that their responses are written alike."""
        written = [_at(block, "functionCall") for block in blocks if self.is_call(block)]
        for call, function in zip(message.calls, written, strict=False):
            self._made[call.id] = (call.name, bool(function and function.get("id")))

    def text_block(self, text: str) -> JsonObject:
        return {"text": printable(text)}

    def written_part(self, part: Part) -> JsonObject | None:
        """Media and Gemini's own parts; thinking is not accepted back."""
        match part:
            case Media():
                return self._keyed(_media_part(part)) or self.text_block(part.label)
            case Opaque(raw=raw, provider=provider):
                own = cast("JsonObject", parse_canonical(raw))
                if own.pop("type", None) == provider and provider in own:
                    return own
                return self.text_block(raw if part.summary is None else part.label)
            case _:
                return None

    def written_call(self, call: ToolCall) -> JsonObject:
        function: JsonObject = {"name": call.name, "args": printable_json(input_of(call))}
        if call.id:
            function["id"] = call.id
        part: JsonObject = {"functionCall": function}
        if (signature := _signature(call)) is not None:
            part["thoughtSignature"] = signature
        return cast("JsonObject", self._keyed(part))

    def written_result(self, message: Message) -> JsonObject:
        name, has_id = self._made.get(message.answers or "", (message.name or "unknown", True))
        response: JsonObject = {"name": name, "response": _response(message, "result")}
        if has_id and message.answers:
            response["id"] = message.answers
        return cast("JsonObject", self._keyed({"functionResponse": response}))

    def changed_call(self, block: JsonObject, old: ToolCall, new: ToolCall) -> JsonObject:
        key = "functionCall" if "functionCall" in block else "function_call"
        function = {**cast("JsonObject", block[key]), "name": new.name}
        if function.get("id") and old.id != new.id:
            function["id"] = new.id
        if old.arguments != new.arguments:
            function["args"] = input_of(new)
        return {**block, key: function}

    def changed_result(self, block: JsonObject, old: Message, new: Message) -> JsonObject:
        key = "functionResponse" if "functionResponse" in block else "function_response"
        response = {**cast("JsonObject", block[key])}
        if response.get("id") and old.answers != new.answers:
            response["id"] = new.answers
        if old.content != new.content:
            before = response.get("response")
            is_wrapped = isinstance(before, dict) and len(before) == 1
            wrap = next(iter(before)) if is_wrapped and isinstance(before, dict) else "result"
            response["response"] = _response(new, wrap if wrap in _OUTPUT_KEYS else "result")
            response.pop("parts", None)
        return {**block, key: response}

    def marked(self, block: JsonObject, gone: Sequence[JsonObject]) -> JsonObject:
        keys = ("thoughtSignature", "thought_signature")
        return {**block, **{key: old[key] for old in gone for key in keys if key in old}}

    def _keyed(self, part: JsonObject | None) -> JsonObject | None:
        """`part` with its keys in snake_case, where the passed list has them so."""
        if part is None or not self._is_snake:
            return part
        return {_SNAKE.get(key, key): self._keyed_value(value) for key, value in part.items()}

    def _keyed_value(self, value: JsonValue) -> JsonValue:
        if not isinstance(value, dict) or "args" in value or "response" in value:
            return value
        return {_SNAKE.get(key, key): inner for key, inner in value.items()}


def _response(message: Message, wrap: str) -> JsonObject:
    text = text_only(message)
    return {wrap: printable(message.text if text is None else text)}


def _read(raw: object, at: int, pairing: _Pairing) -> list[Message]:
    place = Place(PlaceCode.MESSAGE, at)
    raw = checked_object(raw, place)
    role, parts = raw.get("role"), raw.get("parts")
    role = "user" if role is None else role
    if not isinstance(role, str) or role not in _ROLES:
        problem = MessageProblem.ROLE(value=quoted(role), names=tuple(_ROLES))
        raise MessageError(place=place.within("role"), problem=problem)
    if not isinstance(parts, (list, tuple)):
        problem = form_problem(raw) or MessageProblem.NO_PARTS(keys=quoted_keys(raw))
        raise MessageError(place=place.within("parts"), problem=problem)
    if not parts:
        refuse_text_beside(raw, "parts", ("role",), place)
    results: list[Message] = []
    content: list[Part] = []
    calls: list[ToolCall] = []
    for nth, part in enumerate(parts):
        inner = place.within("parts", nth)
        if not isinstance(part, Mapping):
            raise MessageError(place=inner, problem=part_problem(part))
        _check_one_thing(part, inner)
        if (response := _at(part, "functionResponse", inner)) is not None:
            results.append(_result(response, inner, pairing))
        elif (call := _at(part, "functionCall", inner)) is not None:
            calls.append(_call(call, part, f"call_{at}_{len(calls)}", inner))
        elif (found := _part(part, inner)) is not None:
            content.append(found)
    if not content and not calls:
        content = _signatures(parts, place)
    is_blank = all(isinstance(part, Text) and not part.text.strip() for part in content)
    if results and is_blank and not calls:
        return results
    return [*results, Message(role=_ROLES[role], content=tuple(content), calls=tuple(calls))]


def _signatures(parts: Sequence[Mapping[str, object]], place: Place) -> list[Part]:
    """The signatures of a content that holds nothing else."""
    found: list[Part] = []
    for part in parts:
        signature = _signature_in(part)
        if isinstance(signature, (str, bytes)) and signature:
            signed = signature if isinstance(signature, str) else _base64(signature)
            kind = "thought_signature"
            raw = canonical_at({"type": kind, kind: signed}, place)
            found.append(Reasoning(text="", raw=raw))
    return found


def _signature_in(part: Mapping[str, object]) -> object:
    return part.get("thoughtSignature", part.get("thought_signature"))


def _check_one_thing(part: Mapping[str, object], place: Place) -> None:
    """Refuses a part with two contents: only one of them would be read."""
    filled = (key for key, value in part.items() if value not in (None, ""))
    found = [key for key in filled if _CAMEL.get(key, key) in _DATA_KEYS]
    if len(found) > 1:
        names = all_of(QuoteCode.VALUE(value=quoted(key)) for key in found)
        raise MessageError(place=place, problem=MessageProblem.TWO_THINGS(names=names))


def _at(part: object, camel: str, place: Place = _PART) -> Mapping[str, object] | None:
    """The object in a part under a key, in either spelling; None if there is none."""
    if not isinstance(part, Mapping):
        return None
    value = part.get(camel)
    if value is None:
        value = part.get(_SNAKE[camel])
    return None if value is None else object_of(value, place, camel)


def _call(
    call: Mapping[str, object], part: Mapping[str, object], made_id: str, place: Place
) -> ToolCall:
    name = text_or_none(call.get("name"), place, "name")
    if not name:
        raise MessageError(place=place.within("name"), problem=MessageProblem.FUNCTION_CALL_NAME())
    refuse_unknown_keys(call, "args", _CALL_KEYS, place)
    args, signature, extra = call.get("args"), _signature_in(part), None
    if isinstance(signature, str):
        extra = canonical_at({"extra_content": {"google": {"thought_signature": signature}}}, place)
    return ToolCall(
        id=text_or_none(call.get("id"), place, "id") or made_id,
        name=name,
        arguments=canonical_at({} if args is None else args, place, "args"),
        extra=extra,
    )


def _result(response: Mapping[str, object], place: Place, pairing: _Pairing) -> Message:
    name = text_or_none(response.get("name"), place, "name") or ""
    call_id = text_or_none(response.get("id"), place, "id") or ""
    inner = response.get("parts")
    if not inner:
        refuse_unknown_keys(response, "response", _RESPONSE_KEYS, place)
    text = _output(response.get("response"), place.within("response"))
    raws = inner if isinstance(inner, (list, tuple)) else ()
    parts = [part for raw in raws if (part := _part(raw, place.within("parts"))) is not None]
    content = (*((Text(text=text),) if text else ()), *parts)
    return Message(role="tool", content=content, answers=pairing.answered(call_id, name))


def _output(value: object, place: Place) -> str:
    """The text of a response: the text it wraps, or its JSON."""
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
    if text == "":
        return None  # a part that carries only a signature
    if text is not None:
        return Reasoning(text=text) if part.get("thought") is True else Text(text=text)
    if (data := _at(part, "inlineData", place)) is not None:
        return _inlined(data, place)
    if (file := _at(part, "fileData", place)) is not None:
        return _linked(file, place)
    names = (key for key in part if key not in _SIDE_KEYS and part[key] is not None)
    name = next(names, None)
    if name is None:
        return None
    return Opaque(provider=str(name), raw=canonical_at({**part, "type": str(name)}, place))


def _inlined(blob: Mapping[str, object], place: Place) -> Part:
    mime, data = _mime(blob), blob.get("data")
    if isinstance(data, (bytes, bytearray)):
        data = _base64(data)
    if not isinstance(data, str):
        problem = MessageProblem.BASE64(kind=type(data).__name__)
        raise MessageError(place=place.within("data"), problem=problem)
    if mime.startswith("audio/"):
        sound = {"data": data, "format": mime.partition("/")[2]}
        return media_or_opaque({"type": "input_audio", "input_audio": sound}, place)
    url = f"data:{mime};base64,{data}"
    if mime.startswith("image/"):
        return media_or_opaque({"type": "image_url", "image_url": {"url": url}}, place)
    name = blob.get("displayName", blob.get("display_name"))
    file = {"file_data": url, "filename": name if isinstance(name, str) and name else "document"}
    return media_or_opaque({"type": "file", "file": file}, place)


def _base64(data: bytes | bytearray) -> str:
    return base64.b64encode(data).decode("ascii")


def _linked(file: Mapping[str, object], place: Place) -> Part:
    uri = text_or_none(file.get("fileUri", file.get("file_uri")), place, "fileUri") or ""
    mime = _mime(file)
    if mime.startswith("image/"):
        return media_or_opaque({"type": "image_url", "image_url": {"url": uri}}, place)
    return media_or_opaque({"type": "file", "file": {"file_id": uri, "format": mime}}, place)


def _mime(data: Mapping[str, object]) -> str:
    mime = data.get("mimeType", data.get("mime_type"))
    return mime if isinstance(mime, str) else ""


def _media_part(media: Media) -> JsonObject | None:
    """A part of OpenAI's as Gemini's part for it; None if there is none."""
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
