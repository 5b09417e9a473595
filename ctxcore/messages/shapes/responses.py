"""The codec of OpenAI's Responses API, whose items are messages, reasoning, calls and outputs.

The items of one answer (reasoning, message, calls) are read as one assistant message. Any item
with a `call_id` is a call, so that it is kept or folded with its output; items of other kinds
become opaque parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, cast

from ctxcore.errors import MessageError
from ctxcore.messages.canonical import (
    canonical_at,
    parse_canonical,
    printable,
    text_or_none,
    type_of,
)
from ctxcore.messages.foreign import (
    checked_object,
    checked_role,
    content_problem,
    part_problem,
    refuse_text_beside,
    refuse_unknown_keys,
)
from ctxcore.messages.media import media_or_opaque
from ctxcore.messages.provider_compactions import COMPACTIONS
from ctxcore.messages.shapes.outputs import (
    ANY_OUTPUT,
    answer_key,
    is_textless,
    output_for,
    shell_text,
    with_text,
)
from ctxcore.messages.shapes.turns import text_only
from ctxcore.messages.shapes.values import (
    Conversation,
    Fit,
    PassedMessages,
    Refuse,
    Sent,
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
    Refusal,
    Role,
    Text,
    ToolCall,
)
from ctxcore.reasons.message_problems import MessageProblem
from ctxcore.reasons.places import Place, PlaceCode

_ROLES: Final[Mapping[str, Role]] = {
    **{"user": "user", "assistant": "assistant"},
    **{"system": "system", "developer": "developer"},
}
_OWN_PARTS: Final = frozenset({"input_text", "output_text", "input_image", "input_file"})
_ITEM: Final = Place(PlaceCode.KEY, "item")
_CONTENT: Final = Place(PlaceCode.KEY, "content")
_TEXT_PARTS: Final = ("input_text", "output_text", "text", "summary_text", "reasoning_text")
_OTHER_PARTS: Final = frozenset(
    {
        *("text", "image_url", "file", "tool_use", "tool_result", "thinking", "redacted_thinking"),
        *("server_tool_use", "image", "document"),
    }
)
_OTHER_KEYS: Final = (
    *("tool_calls", "tool_call_id", "function_call", "refusal", "name"),
    *("reasoning_content", "thinking_blocks", "parts"),
)
_ITEMS: Final = frozenset({"reasoning", "item_reference", "program", "program_output"})
_ENDINGS: Final = ("_call", "_call_output", "_search_output", "_approval_request")
_FRAME_KEYS: Final = frozenset(
    {
        *("type", "id", "call_id", "status", "approval_request_id"),
        *("created_by", "caller", "execution"),
    }
)
_MESSAGE_KEYS: Final = frozenset({"role", "content", "phase"})
_CALL_KEYS: Final = _FRAME_KEYS | {"name", "namespace"}
_ARGUMENT_KEYS: Final = {"function_call": "arguments", "custom_tool_call": "input"}


class Responses:
    """The codec of items of the Responses API."""

    shape: Shape = "responses"
    maker: str = "OpenAI's Responses"

    def detect(self, raw: Mapping[str, object]) -> Fit:
        kind, content = type_of(raw), raw.get("content")
        if _is_reference(raw):
            return "own"
        if "role" not in raw:
            return ("own" if _is_item(kind) else "no") if kind else "fits"
        if raw["role"] in ("tool", "function"):
            return "no"
        if any(raw.get(key) is not None for key in _OTHER_KEYS):
            return "no"
        if kind == "message" and "model" in raw:
            return "no"
        parts = content if isinstance(content, (list, tuple)) else ()
        kinds = {type_of(part) for part in parts}
        if kinds & _OTHER_PARTS:
            return "no"
        return "own" if kind == "message" or kinds & _OWN_PARTS else "fits"

    def to(self, entries: Iterable[tuple[int, object]], refuse: Refuse) -> Conversation:
        """The messages in `entries`, the items of one answer together."""
        reading = _Reading()
        for at, raw in entries:
            try:
                reading.add(at, raw)
            except MessageError as error:
                refuse(at, error)
        reading.flush()
        return Conversation(messages=tuple(reading.messages), places=tuple(reading.places))

    def back(self, groups: Sequence[SentGroup], passed: PassedMessages | None) -> list[JsonObject]:
        """`groups` as items, the messages of a group each by itself."""
        writing = _Writing(passed)
        for sent in _in_place([sent for group in groups for sent in group.sent]):
            writing.add(sent)
        return writing.items


@dataclass(slots=True)
class _Answer:
    """The items of one answer, as far as they were read."""

    parts: list[Part] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    has_message: bool = False


class _Reading:
    """Collects items into messages, in order."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.places: list[tuple[int, ...]] = []
        self._answer = _Answer()
        self._call_ids: dict[str, str] = {}
        """The id that each call is answered under, by the id of its item."""

    def add(self, at: int, raw: object) -> None:
        """Reads the item at place `at`."""
        if isinstance(raw, Message):
            self._append(raw, at)
            return
        place = Place(PlaceCode.MESSAGE, at)
        raw = checked_object(raw, place)
        if _is_reference(raw):
            self._add_item(at, {**raw, "type": "item_reference"}, place)
        elif "role" in raw or type_of(raw) in ("message", ""):
            self._add_message(at, raw, place)
        else:
            self._add_item(at, raw, place)

    def flush(self) -> None:
        """Completes the answer that items were added to."""
        answer = self._answer
        if answer.places:
            content, calls = tuple(answer.parts), tuple(answer.calls)
            self.messages.append(Message(role="assistant", content=content, calls=calls))
            self.places.append(tuple(answer.places))
        self._answer = _Answer()

    def _append(self, message: Message, at: int) -> None:
        self.flush()
        self.messages.append(message)
        self.places.append((at,))

    def _add_message(self, at: int, raw: Mapping[str, object], place: Place) -> None:
        role = checked_role(raw, _ROLES, place)
        content = _content(raw.get("content"), place.within("content"))
        if not content:
            refuse_text_beside(raw, "content", _MESSAGE_KEYS, place)
        if role != "assistant":
            self._append(Message(role=role, content=content), at)
            return
        self._start_answer()
        self._answer.has_message = True
        self._join(at, parts=content)

    def _add_item(self, at: int, raw: Mapping[str, object], place: Place) -> None:
        kind = type_of(raw)
        raw_text = canonical_at(dict(raw), place)
        if kind in COMPACTIONS:
            opaque = Opaque(provider=kind, raw=raw_text)
            self._append(Message(role="system", content=(opaque,)), at)
        elif _is_output(raw):
            result = _result(raw, place)
            answers = self._call_ids.get(result.answers or "", result.answers)
            self._append(replace(result, answers=answers), at)
        elif _is_call(raw):
            call = _call(raw, place)
            if isinstance(raw.get("id"), str):
                self._call_ids[str(raw["id"])] = call.id
            self._join(at, calls=[call])
        elif kind == "reasoning":
            self._start_answer()
            self._join(at, parts=[Reasoning(text=_thought(raw))])
        else:
            self._join(at, parts=[Opaque(provider=kind, raw=raw_text)])

    def _start_answer(self) -> None:
        """Begins another answer where the one before is complete; after a call it is not."""
        if self._answer.has_message and not self._answer.calls:
            self.flush()

    def _join(self, at: int, *, parts: Sequence[Part] = (), calls: Sequence[ToolCall] = ()) -> None:
        self._answer.parts += parts
        self._answer.calls += calls
        self._answer.places.append(at)


class _Writing:
    """Collects messages into items, in order."""

    def __init__(self, passed: PassedMessages | None) -> None:
        self._passed = passed
        self._calls: dict[str, tuple[int, ToolCall]] = {}
        """The place of each call's item and the call, by its id."""
        self.items: list[JsonObject] = []

    def add(self, sent: Sent) -> None:
        """Writes the next message."""
        passed, source, items = self._passed, sent.source, list[JsonObject]()
        if passed is not None and source is not None:
            items = cast("list[JsonObject]", [*passed.raws(source)])
        if not items:
            items = self._written(sent.message)
        elif passed is not None and source is not None and not sent.is_untouched:
            items = list(self._changed(items, passed.messages[source], sent.message))
        places = (at for at, item in enumerate(items, len(self.items)) if _is_call(item))
        pairs = zip(sent.message.calls, places, strict=False)
        self._calls.update((call.id, (at, call)) for call, at in pairs)
        self.items += items

    def _written(self, message: Message) -> list[JsonObject]:
        if message.is_tool_result:
            at, _ = self._calls.get(message.answers or "", (None, None))
            kind = "function_call" if at is None else type_of(self.items[at])
            output = output_for(kind, message.answers or "", _output(message))
            return [] if output is None else [output]
        role = message.role
        if message.is_system and self._passed is not None and not self._passed.has_system:
            role = "user"
        items: list[JsonObject] = []
        if (content := _written_content(message)) is not None:
            items.append({"role": role, "content": content})
        return [*items, *map(_written_call, message.calls)]

    def _changed(
        self, raws: Sequence[JsonObject], old: Message, new: Message
    ) -> Iterator[JsonObject]:
        if new.role != old.role:
            yield from self._written(new)
        elif new.is_tool_result:
            yield self._changed_output(raws[0], old, new)
        else:
            yield from self._changed_answer(raws, old, new)

    def _changed_output(self, raw: JsonObject, old: Message, new: Message) -> JsonObject:
        """A copy with the new output; a kind that cannot hold text becomes a function's output."""
        changed = {**raw}
        if new.answers != old.answers:
            changed[answer_key(raw)] = new.answers
        if new.content == old.content:
            return changed
        rewritten = with_text(changed, _output(new))
        if rewritten is not None:
            return rewritten
        at, call = self._calls.get(new.answers or "", (None, None))
        if at is not None and call is not None:
            self.items[at] = _written_call(call)
        return {"type": "function_call_output", "call_id": new.answers, "output": _output(new)}

    def _changed_answer(
        self, raws: Sequence[JsonObject], old: Message, new: Message
    ) -> Iterator[JsonObject]:
        """The items of an answer changed to `new`: what still holds stays as it is.

        New parts go into the first message item, else into one of their own before the calls.
        """
        parts: list[Part] = [part for part in new.content if not isinstance(part, Reasoning)]
        calls = iter(zip(old.calls, new.calls, strict=False))
        items = [_Item(raw, parts) for raw in raws]
        first = next((item for item in items if item.is_message), None)
        added = [_written_part(part, _text_type(new.role)) for part in parts]
        for item in items:
            if item.is_message:
                yield from item.with_parts(added if item is first else [])
            elif _is_call(item.raw):
                if first is None and added:
                    yield {"role": new.role, "content": _joined(added)}
                    added = []
                before, after = next(calls, (None, None))
                if before is not None and after is not None:
                    yield item.raw if before == after else _changed_call(item.raw, after)
            elif item.is_kept:
                yield item.raw
        if first is None and added:
            yield {"role": new.role, "content": _joined(added)}


def _in_place(sent: Sequence[Sent]) -> list[Sent]:
    """`sent` with the provider's own compactions right behind the messages they came after."""
    out = [other for other in sent if not _is_compaction(other)]
    for compaction in filter(_is_compaction, sent):
        before = (at for at, other in enumerate(out) if _came_before(other, compaction))
        at = max(before, default=-1) + 1
        while at < len(out) and out[at].source is None and out[at].message.is_tool_result:
            at += 1  # a result that this library added
        out.insert(at, compaction)
    return out


def _is_compaction(sent: Sent) -> bool:
    content = sent.message.content
    first = content[0] if len(content) == 1 else None
    return isinstance(first, Opaque) and first.provider in COMPACTIONS


def _came_before(other: Sent, sent: Sent) -> bool:
    return other.source is not None and sent.source is not None and other.source < sent.source


class _Item:
    """A raw item and its content parts that still hold, which are taken out of `new`."""

    def __init__(self, raw: JsonObject, new: list[Part]) -> None:
        self.raw = raw
        self.is_message = "role" in raw
        self.parts: list[JsonValue] = []
        self.is_kept = type_of(raw) == "reasoning"
        content = raw.get("content")
        if self.is_message and isinstance(content, str):
            if _take(new, Text(text=content)):
                self.parts = [{"type": _text_type(raw.get("role")), "text": content}]
        elif self.is_message:
            parts = content if isinstance(content, list) else []
            self.parts = [part for part in parts if _take(new, _part(part, _CONTENT))]
        elif not self.is_kept:
            item: JsonObject = {**raw, "type": "item_reference"} if _is_reference(raw) else raw
            opaque = Opaque(provider=type_of(item), raw=canonical_at(item, _ITEM))
            self.is_kept = _take(new, opaque)

    def with_parts(self, added: Sequence[JsonValue]) -> Iterator[JsonObject]:
        """The item with its parts that hold and those `added`; nothing if there are none."""
        content = self.raw.get("content")
        count = len(content) if isinstance(content, list) else 1
        if not added and len(self.parts) == count:
            yield self.raw
        elif parts := [*self.parts, *added]:
            yield {**self.raw, "content": _joined(parts) if isinstance(content, str) else parts}


def _take(parts: list[Part], part: Part) -> bool:
    """Whether `part`, a refusal also as text, is among `parts`; it is then taken out."""
    if part not in parts and isinstance(part, Refusal):
        part = Text(text=part.text)
    if part in parts:
        parts.remove(part)
        return True
    return False


def _text_type(role: object) -> str:
    return "output_text" if role == "assistant" else "input_text"


def _joined(parts: Sequence[JsonValue]) -> JsonValue:
    """`parts` as a plain string where a text is the only one."""
    if len(parts) == 1 and isinstance(parts[0], dict) and set(parts[0]) == {"type", "text"}:
        return parts[0]["text"]
    return list(parts)


def _is_reference(raw: Mapping[str, object]) -> bool:
    """Whether an item is only the id of another one, its type left out."""
    return isinstance(raw.get("id"), str) and raw.keys() - {"type"} == {"id"} and not type_of(raw)


def _is_item(kind: str) -> bool:
    is_named = kind in _ITEMS or kind in COMPACTIONS or kind.startswith("mcp_")
    return is_named or (kind.endswith(_ENDINGS) and kind != "tool_call")  # that is LangChain's


def _is_output(raw: Mapping[str, object]) -> bool:
    return type_of(raw).endswith("_output") or type_of(raw) == "mcp_approval_response"


def _is_call(raw: Mapping[str, object]) -> bool:
    """Whether the caller is to answer this item."""
    kind = type_of(raw)
    if kind in ("function_call", "custom_tool_call", "mcp_approval_request"):
        return True
    is_call = kind.endswith("_call") or kind == "program"
    return is_call and isinstance(raw.get("call_id"), str)


def _call(raw: Mapping[str, object], place: Place) -> ToolCall:
    kind = type_of(raw)
    call_id = text_or_none(raw.get("call_id"), place, "call_id")
    if call_id is None:
        call_id = text_or_none(raw.get("id"), place, "id")
    if kind in _ARGUMENT_KEYS:
        name = text_or_none(raw.get("name"), place, "name")
        if not name:
            raise MessageError(place=place.within("name"), problem=MessageProblem.CALL_NAME())
        refuse_unknown_keys(raw, _ARGUMENT_KEYS[kind], _CALL_KEYS, place)
        return ToolCall(id=call_id or "", name=name, arguments=_arguments(raw, kind, place))
    arguments = canonical_at(_without_frame(raw), place)
    return ToolCall(id=call_id or "", name=kind.removesuffix("_call"), arguments=arguments)


def _without_frame(raw: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in raw.items() if key not in _FRAME_KEYS}


def _arguments(raw: Mapping[str, object], kind: str, place: Place) -> str:
    """The arguments of a call as JSON text; free text as the `input` of an object."""
    if kind == "custom_tool_call":
        text = text_or_none(raw.get("input"), place, "input")
        return canonical_at({"input": text or ""}, place)
    arguments = raw.get("arguments")
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    return canonical_at(arguments, place, "arguments")


def _result(raw: Mapping[str, object], place: Place) -> Message:
    answers = raw.get(answer_key(raw), "")
    output = raw.get("output", raw.get("result"))
    if output is None and type_of(raw) in ANY_OUTPUT:
        refuse_unknown_keys(raw, "output", _FRAME_KEYS | {"name"}, place)
    printed = shell_text(output) if type_of(raw) == "shell_call_output" else None
    content: tuple[Part, ...] = ()
    if printed is not None:
        content = (Text(text=printed),) if printed else ()
    elif is_textless(raw) and not _is_screenshot(output):
        if found := _without_frame(raw):
            content = (Opaque(provider=type_of(raw), raw=canonical_at(found, place)),)
    else:
        content = _output_parts(output, place.within("output"))
    return Message(role="tool", content=content, answers=str(answers))


def _is_screenshot(output: object) -> bool:
    return type_of(output) == "computer_screenshot"


def _output_parts(output: object, place: Place) -> tuple[Part, ...]:
    if isinstance(output, str):
        return (Text(text=output),) if output else ()
    if output is None:
        return ()
    if isinstance(output, Mapping) and _is_screenshot(output):
        return (_part({**output, "type": "input_image"}, place),)
    if isinstance(output, list) and output and all(type_of(part) for part in output):
        parts = tuple(_part(part, place.within(at)) for at, part in enumerate(output))
        texts = [part.text for part in parts if isinstance(part, Text)]
        return (Text(text="\n".join(texts)),) if len(texts) == len(parts) else parts
    return (Text(text=canonical_at(output, place)),)


def _content(value: object, place: Place) -> tuple[Part, ...]:
    if isinstance(value, str):
        return (Text(text=value),) if value else ()
    if not isinstance(value, (list, tuple)):
        raise MessageError(place=place, problem=content_problem(value))
    return tuple(_part(part, place.within(at)) for at, part in enumerate(value))


def _part(value: object, place: Place) -> Part:
    if isinstance(value, str):
        return Text(text=value)
    if not isinstance(value, Mapping) or not type_of(value):
        raise MessageError(place=place, problem=part_problem(value))
    kind = type_of(value)
    if kind in _TEXT_PARTS or kind == "refusal":
        key = "refusal" if kind == "refusal" else "text"
        text = text_or_none(value.get(key), place, key)
        if text is None:
            raise MessageError(place=place.within(key), problem=MessageProblem.MISSING())
        return Refusal(text=text) if kind == "refusal" else Text(text=text)
    chat = _chat_media(value)
    if chat is None:
        return media_or_opaque(value, place, provider=kind)
    canonical_at(dict(value), place)  # refuses the keys that `chat` leaves out, too
    return media_or_opaque(chat, place)


def _chat_media(value: Mapping[str, object]) -> Mapping[str, object] | None:
    """An image or a file as the part of a chat message; None if it is neither."""
    if value["type"] == "input_image" and isinstance(value.get("image_url"), str):
        image, detail = {"url": value["image_url"]}, value.get("detail")
        if isinstance(detail, str):
            image["detail"] = detail
        return {"type": "image_url", "image_url": image}
    if value["type"] in ("input_image", "input_file"):
        keys = ("file_id", "file_data", "filename", "file_url")
        file = {key: value[key] for key in keys if isinstance(value.get(key), str)}
        return {"type": "file", "file": file} if file else None
    return None


def _thought(raw: Mapping[str, object]) -> str:
    """The text of a reasoning item: its summary and its visible content."""
    lists = [
        parts for key in ("summary", "content") if isinstance(parts := raw.get(key), (list, tuple))
    ]
    parts = (part for parts in lists for part in parts if isinstance(part, Mapping))
    return "\n".join(text for part in parts if isinstance(text := part.get("text"), str) and text)


def _written_content(message: Message) -> JsonValue:
    label = f"{message.name}: " if message.name else ""
    text = text_only(message)
    if text is not None:
        return printable(label + text) or None
    parts: list[Part] = [part for part in message.content if not isinstance(part, Reasoning)]
    labelled = [Text(text=label), *parts] if label else parts
    written = [_written_part(part, _text_type(message.role)) for part in labelled]
    return _joined(written) if written else None


def _written_part(part: Part, kind: str) -> JsonObject:
    match part:
        case Text(text=text) | Refusal(text=text) | Reasoning(text=text):
            return {"type": kind, "text": printable(text)}
        case Media():
            return _written_media(part) or {"type": kind, "text": part.label}
        case Opaque(raw=raw):
            text = raw if part.summary is None else part.label
            return {"type": kind, "text": printable(text)}


def _written_media(media: Media) -> JsonObject | None:
    part = cast("JsonObject", parse_canonical(media.raw))
    image, file = part.get("image_url"), part.get("file")
    if isinstance(image, dict) and isinstance(image.get("url"), str):
        return {"type": "input_image", "image_url": image["url"], "detail": media.detail}
    if isinstance(file, dict):
        return {"type": "input_file", **file}
    return part if media.kind == "audio" else None


def _written_call(call: ToolCall) -> JsonObject:
    arguments = printable(call.arguments)
    return {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments}


def _changed_call(raw: JsonObject, new: ToolCall) -> JsonObject:
    changed: JsonObject = {**raw, "call_id" if "call_id" in raw else "id": new.id}
    if type_of(raw) == "function_call":
        changed["arguments"] = printable(new.arguments)
    return changed


def _output(message: Message) -> JsonValue:
    text = text_only(message)
    if text is not None:
        return printable(text)
    return [_written_part(part, "input_text") for part in message.content]
