"""The codec of Anthropic's messages: text, calls, results, thinking, images and documents.

Images and documents become the parts that other providers read; blocks without a counterpart stay
as they are. A user message is read as one message for each tool result, then one for all else.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, cast

from ctxcore.errors import MessageError
from ctxcore.messages.canonical import (
    canonical_at,
    is_too_deep,
    parse_canonical,
    printable,
    printable_json,
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
from ctxcore.messages.provider_compactions import is_compaction
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
from ctxcore.reasons.values import quoted

_USE: Final = Place(PlaceCode.KEY, "tool_use")
_RESULT: Final = Place(PlaceCode.KEY, "tool_result")
_MEDIA: Final = Place(PlaceCode.KEY, "media")
_THOUGHT: Final = Place(PlaceCode.KEY, "thinking")
_ROLES: Final[Mapping[str, Role]] = {"user": "user", "assistant": "assistant", "system": "system"}
_THINKING: Final = ("thinking", "redacted_thinking")
_OWN_BLOCKS: Final = frozenset(
    {
        *("tool_use", "tool_result", "redacted_thinking", "server_tool_use", "compaction"),
        *("mcp_tool_use", "mcp_tool_result", "search_result", "container_upload"),
    }
)
_MESSAGE_KEYS: Final = frozenset({"role", "content", "container", "stop_sequence"})
_CALL_KEYS: Final = frozenset({"name", "input", "caller"})
_RESULT_KEYS: Final = frozenset({"tool_use_id", "content", "name"})
_OTHER_KEYS: Final = (
    *("tool_calls", "tool_call_id", "function_call", "refusal", "name"),
    *("reasoning_content", "thinking_blocks"),
)
_OTHER_PARTS: Final = frozenset(
    {
        *("image_url", "input_audio", "file", "refusal"),
        *("input_text", "output_text", "input_image", "input_file"),
    }
)


class Anthropic(BlockWriter):
    """The codec of Anthropic's messages."""

    shape: Shape = "anthropic"
    maker: str = "Anthropic's"
    key = "content"
    takes_neighbours = True
    roles: Mapping[str, str] = {**BASE_ROLES, "system": "system"}

    def detect(self, raw: Mapping[str, object]) -> Fit:
        role, content = raw.get("role"), raw.get("content")
        if "parts" in raw and content is None:
            return "no"
        if role in ("tool", "function", "developer") or ("role" not in raw and "type" in raw):
            return "no"
        if raw.get("type") == "message" and "model" not in raw:
            return "no"  # an item of the Responses API; Anthropic's own answers name their model
        if any(raw.get(key) is not None for key in _OTHER_KEYS):
            return "no"
        if raw.get("type") == "message" and "stop_reason" in raw:
            return "own"  # a whole answer
        if not isinstance(content, Sequence) or isinstance(content, str):
            return "fits"
        if any(type_of(part) in _OTHER_PARTS for part in content):
            return "no"
        return "own" if any(map(_is_own, content)) else "fits"

    def to(self, entries: Iterable[tuple[int, object]], refuse: Refuse) -> Conversation:
        return read_turns(entries, self._read, refuse)

    def back(self, groups: Sequence[SentGroup], passed: PassedMessages | None) -> list[JsonObject]:
        """`groups` as Anthropic's messages; system messages first only where they came first."""
        turns = self.turns(groups, passed)
        starts = next((at for at, turn in enumerate(turns) if turn.role != "system"), 0)
        if starts and passed is not None and not _starts_with_system(passed):
            turns = [turns[starts], *turns[:starts], *turns[starts + 1 :]]
        return [self.message(turn) for turn in turns]

    def _read(self, raw: object, at: int) -> list[Message]:
        if isinstance(raw, Message):
            return [raw]
        place = Place(PlaceCode.MESSAGE, at)
        raw = checked_object(raw, place)
        role = checked_role(raw, _ROLES, place)
        content = raw.get("content")
        if content is not None and not content:
            refuse_text_beside(raw, "content", _MESSAGE_KEYS, place)
        if isinstance(content, str):
            return [Message(role=role, content=(Text(text=content),) if content else ())]
        _check(content, place)
        return [
            tool_message(cast("JsonObject", piece.blocks[0]))
            if piece.is_result
            else _message(role, piece.blocks)
            for piece in self.pieces(raw)
        ]

    def blocks_of(self, raw: Mapping[str, object]) -> list[Block]:
        return _blocks(raw.get("content"))

    def is_result(self, block: Block) -> bool:
        return type_of(block) == "tool_result"

    def is_call(self, block: Block) -> bool:
        return type_of(block) == "tool_use"

    def part_of(self, block: Block) -> Part | None:
        return _part(block)

    def text_block(self, text: str) -> JsonObject:
        return {"type": "text", "text": printable(text)}

    def written_part(self, part: Part) -> JsonObject | None:
        """Media, opaque blocks, and Claude's own thinking; other thinking is not accepted back."""
        match part:
            case Reasoning(raw=raw) if raw is not None:
                block = cast("JsonObject", parse_canonical(raw))
                return block if block.get("type") in _THINKING else None
            case Media():
                return _media_block(part) or self.text_block(part.label)
            case Opaque(raw=raw, provider=provider):
                known = provider in _OWN_BLOCKS or provider.endswith("_tool_result")
                block = cast("JsonObject", parse_canonical(raw))
                return block if known else self.text_block(raw)
            case _:
                return None

    def written_call(self, call: ToolCall) -> JsonObject:
        arguments = printable_json(input_of(call))
        return {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments}

    def written_result(self, message: Message) -> JsonObject:
        block: JsonObject = {
            "type": "tool_result",
            "tool_use_id": message.answers or "",
            "content": self._output(message),
        }
        if message.extra is not None and '"is_error":true' in message.extra:
            block["is_error"] = True
        return block

    def changed_call(self, block: JsonObject, old: ToolCall, new: ToolCall) -> JsonObject:
        changed = {**block, "id": new.id, "name": new.name}
        return changed if old.arguments == new.arguments else {**changed, "input": input_of(new)}

    def changed_result(self, block: JsonObject, old: Message, new: Message) -> JsonObject:
        changed: JsonObject = {**block}
        if new.answers != old.answers:
            changed["tool_use_id"] = new.answers
        if new.content != old.content:
            changed["content"] = self._output(new)
        return changed

    def marked(self, block: JsonObject, gone: Sequence[JsonObject]) -> JsonObject:
        mark = next((old["cache_control"] for old in gone if old.get("cache_control")), None)
        return block if mark is None else {**block, "cache_control": mark}

    def note(self, message: Message, blocks: Sequence[Block]) -> None:
        """Nothing to note: results refer to their call by its id alone."""

    def _output(self, message: Message) -> JsonValue:
        text = text_only(message)
        if text is not None:
            return printable(text)
        return cast("JsonValue", self.written(replace(message, role="user", name=None)))


def has_own_blocks(message: Mapping[str, object]) -> bool:
    """Whether a message's content holds calls, results or thinking as Claude writes them."""
    own = ("tool_use", "tool_result", *_THINKING)
    return any(type_of(block) in own for block in _blocks(message.get("content")))


def result_blocks(content: object) -> list[JsonObject]:
    """The tool results in a user's content."""
    blocks = _blocks(content)
    return [cast("JsonObject", block) for block in blocks if type_of(block) == "tool_result"]


def message_of_blocks(role: Role, content: object) -> Message:
    """The message of all blocks in `content` but the tool results."""
    return _message(role, [block for block in _blocks(content) if type_of(block) != "tool_result"])


def tool_message(block: Mapping[str, object]) -> Message:
    """The tool message for a `tool_result` block; an error is marked in `extra`."""
    answers = block.get("tool_use_id")
    return Message(
        role="tool",
        content=_output_parts(block.get("content")),
        answers=answers if isinstance(answers, str) else "",
        extra='{"is_error":true}' if block.get("is_error") is True else None,
    )


def input_of(call: ToolCall) -> JsonValue:
    """The arguments of a call as an object; text that is none under the key `arguments`."""
    try:
        value = json.loads(call.arguments)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict) and not is_too_deep(value, call.arguments):
        return cast("JsonObject", value)
    return {"arguments": call.arguments} if call.arguments.strip() else {}


def _message(role: Role, blocks: Sequence[object]) -> Message:
    """The blocks of one message, thinking first."""
    parts = [part for block in blocks if (part := _part(block)) is not None]
    content = sorted(parts, key=lambda part: not isinstance(part, Reasoning))
    calls = [_call(block) for block in blocks if type_of(block) == "tool_use"]
    return Message(role=role, content=tuple(content), calls=tuple(calls))


def _blocks(content: object) -> list[Block]:
    if isinstance(content, str):
        return [content]
    return list(content) if isinstance(content, (list, tuple)) else []


def _part(block: object) -> Part | None:
    """A block as a part; None for calls, results, and empty thinking without a signature."""
    if isinstance(block, str):
        return Text(text=block)
    if not isinstance(block, Mapping):
        return None
    match type_of(block):
        case "tool_use" | "tool_result":
            return None
        case "thinking" | "redacted_thinking":
            return _reasoning(block)
        case "text":
            text = block.get("text")
            return Text(text=text) if isinstance(text, str) else None
        case "search_result" if (found := _text_in(block.get("content"))) is not None:
            heads = (block.get("title"), block.get("source"))
            return Text(text="\n".join([*(head for head in heads if isinstance(head, str)), found]))
    place = Place(PlaceCode.BLOCK, quoted(type_of(block)))
    if is_compaction(block):  # its cache mark moves from call to call, as that of a text
        block = {key: value for key, value in block.items() if key != "cache_control"}
    return _media(block) or media_or_opaque(block, place)


def _media(block: Mapping[str, object]) -> Part | None:
    """An image or a document as OpenAI's part for it; a document of text alone as text."""
    kind, source = type_of(block), block.get("source")
    if kind not in ("image", "document") or not isinstance(source, Mapping):
        return None
    data, content = source.get("data"), source.get("content")
    if kind == "document" and source.get("type") == "text" and isinstance(data, str):
        return Text(text=data)
    if kind == "document" and source.get("type") == "content":
        text = content if isinstance(content, str) else _text_in(content)
        if text is not None:
            return Text(text=text)
    mime, url = source.get("media_type"), source.get("url")
    if isinstance(mime, str) and isinstance(data, str):
        url = f"data:{mime};base64,{data}"
    if not isinstance(url, str):
        return None
    if kind == "image":
        return media_or_opaque({"type": "image_url", "image_url": {"url": url}}, _MEDIA)
    title = block.get("title")
    name = title if isinstance(title, str) and title.strip() else "document"
    file = {"file_data": url, "filename": name}
    return media_or_opaque({"type": "file", "file": file}, _MEDIA)


def _text_in(blocks: object) -> str | None:
    """The text of blocks that are text alone; None if others are among them."""
    if not isinstance(blocks, (list, tuple)):
        return None
    found = [block.get("text") for block in blocks if type_of(block) == "text"]
    texts = [text for text in found if isinstance(text, str)]
    return "\n".join(texts) if blocks and len(texts) == len(blocks) else None


def _media_block(media: Media) -> JsonObject | None:
    """A part of OpenAI's as Anthropic's block for it; None if there is none."""
    part = cast("JsonObject", parse_canonical(media.raw))
    image, file = part.get("image_url"), part.get("file")
    url = image.get("url") if isinstance(image, dict) else image
    if isinstance(file, dict):
        url = file.get("file_data")
    if not isinstance(url, str):
        return part if "source" in part else None
    mime, is_inline, data = url.removeprefix("data:").partition(";base64,")
    source: JsonObject = {"type": "url", "url": url}
    if is_inline:
        source = {"type": "base64", "media_type": mime, "data": data}
    return {"type": "image" if media.kind == "image" else "document", "source": source}


def _reasoning(block: Mapping[str, object]) -> Reasoning | None:
    """Thinking; a signed block is kept as it came, since it may only be sent back unchanged."""
    thinking = block.get("thinking")
    text = thinking if isinstance(thinking, str) else ""
    is_signed = bool(block.get("signature") or block.get("data"))
    if not text.strip() and not is_signed:
        return None
    raw = canonical_at(dict(block), _THOUGHT) if is_signed else None
    return Reasoning(text=text if text.strip() else "", raw=raw)


def _call(block: object) -> ToolCall:
    assert isinstance(block, Mapping)  # its type was read
    call_id, name = block.get("id"), block.get("name")
    given = block.get("input") or {}
    canonical_at(given, _USE, "input")
    return ToolCall(
        id=call_id if isinstance(call_id, str) else "",
        name=name if isinstance(name, str) and name.strip() else "unknown",
        arguments=json.dumps(given, ensure_ascii=False),
    )


def _output_parts(content: object) -> tuple[Part, ...]:
    """The output of a tool: its texts joined, unless something else is among them."""
    if content is None:
        return ()
    if isinstance(content, (list, tuple)):
        parts = tuple(part for block in content if (part := _part(block)) is not None)
        texts = [part.text for part in parts if isinstance(part, Text)]
        if len(texts) < len(parts):
            return parts
        text = "\n".join(text for text in texts if text.strip())
    else:
        text = content if isinstance(content, str) else canonical_at(content, _RESULT, "content")
    return (Text(text=text),) if text else ()


def _is_own(part: object) -> bool:
    kind = type_of(part)
    if kind in _OWN_BLOCKS or kind.endswith("_tool_result"):
        return True
    if not isinstance(part, Mapping):
        return False
    if kind == "thinking":
        return isinstance(part.get("thinking"), str)
    return kind in ("image", "document") and isinstance(part.get("source"), Mapping)


def _check(content: object, place: Place) -> None:
    """Refuses content of which a part would be lost: blocks without a type or a known form."""
    if not isinstance(content, (list, tuple)):
        raise MessageError(place=place.within("content"), problem=content_problem(content))
    for at, block in enumerate(content):
        inner = place.within("content", at)
        if isinstance(block, str):
            continue
        if not isinstance(block, Mapping) or not type_of(block):
            raise MessageError(place=inner, problem=part_problem(block))
        canonical_at(block, inner)
        _check_block(block, inner)


def _check_block(block: Mapping[str, object], place: Place) -> None:
    match type_of(block):
        case "text":
            _require_text(block, "text", place)
        case "tool_use":
            _require_text(block, "name", place)
            text_or_none(block.get("id"), place, "id")
            refuse_unknown_keys(block, "input", _CALL_KEYS, place)
        case "tool_result":
            text_or_none(block.get("tool_use_id"), place, "tool_use_id")
            refuse_unknown_keys(block, "content", _RESULT_KEYS, place)
            content = block.get("content")
            if content is not None and not isinstance(content, str):
                _check(content, place)


def _require_text(block: Mapping[str, object], key: str, place: Place) -> None:
    if text_or_none(block.get(key), place, key) is None:
        raise MessageError(place=place.within(key), problem=MessageProblem.MISSING())


def _starts_with_system(passed: PassedMessages) -> bool:
    return bool(passed.messages) and passed.messages[0].is_system and passed.places_of(0) == (0,)


_SCHEMA_KEYS: Final = ("input_schema", "inputSchema", "parametersJsonSchema")
"""What other providers call the `parameters` of a tool."""
_CLAUDE_KEYS: Final = ("name", "description", "input_schema")


def openai_tool(definition: JsonObject) -> JsonObject:
    """A tool definition in OpenAI's form, whichever form it came in; others stay as they are."""
    is_function = definition.get("type") in (None, "function") and "name" in definition
    if "function" in definition or not (is_function or "input_schema" in definition):
        return definition
    keys = _CLAUDE_KEYS if "input_schema" in definition else definition
    function: JsonObject = {
        "parameters" if key in _SCHEMA_KEYS else key: definition[key]
        for key in keys
        if key in definition and key != "type"
    }
    return {"type": "function", "function": function}
