"""Owns the way from Claude's content blocks to `Message` values, by way of OpenAI's form.

Images and documents become the parts other providers read; blocks without a counterpart stay as
they are and round-trip.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from ctxcore.formats.fields import object_at, text_at
from ctxcore.messages.canonical import to_canonical
from ctxcore.messages.openai import parse_message
from ctxcore.messages.values import JsonObject, JsonValue, Message, Reasoning, ToolCall

_THINKING = ("thinking", "redacted_thinking")
_OWN_BLOCKS = (*_THINKING, "tool_use", "tool_result")  # what OpenAI keeps outside the content


def has_own_blocks(message: JsonObject) -> bool:
    """Whether a message's content holds calls, results or thinking as Claude writes them."""
    content = message.get("content")
    return any(isinstance(b, dict) and b.get("type") in _OWN_BLOCKS for b in _blocks(content))


def to_messages(message: JsonObject) -> list[Message]:
    """A message in Claude's form: the answer, or the tool results and then the user's words."""
    content = message.get("content")
    if message.get("role") == "assistant":
        said = assistant_message(_blocks(content))
        return [said] if said else []
    said = user_message(content)
    return [*(tool_message(block) for block in result_blocks(content)), *([said] if said else [])]


def result_blocks(content: JsonValue) -> list[JsonObject]:
    """The tool results in a user's content."""
    blocks = _blocks(content)
    return [b for b in blocks if isinstance(b, dict) and b.get("type") == "tool_result"]


def to_openai_tool(definition: JsonObject) -> JsonObject:
    """A tool definition in OpenAI's form, whichever form it came in."""
    if "input_schema" not in definition:
        return definition
    function: JsonObject = {
        key: definition[key] for key in ("name", "description") if key in definition
    }
    function["parameters"] = definition["input_schema"]
    return {"type": "function", "function": function}


def user_message(content: JsonValue, *, is_meta: bool = False) -> Message | None:
    """What a user record says besides tool results; None if that is nothing."""
    parts = [part for block in _blocks(content) if (part := _part(block)) is not None]
    if not parts:
        return None
    marks: JsonObject = {"is_meta": True} if is_meta else {}
    return parse_message({"role": "user", "content": _content(parts), **marks})


def assistant_message(blocks: Sequence[JsonValue]) -> Message | None:
    """The answer that `blocks` are, from however many lines; None if they say nothing."""
    parts = [part for block in blocks if (part := _part(block)) is not None]
    message = parse_message({"role": "assistant", "content": _content(parts)})
    thinking = tuple(part for block in blocks for part in _reasoning(block))
    calls = tuple(call for block in blocks for call in _calls(block))
    if not (message.content or thinking or calls):
        return None
    return replace(message, content=thinking + message.content, calls=calls)


def tool_message(block: JsonObject) -> Message:
    """The tool message for a `tool_result` block; an error is marked in `extra`."""
    content = block.get("content")
    marks: JsonObject = {"is_error": True} if block.get("is_error") is True else {}
    return parse_message(
        {
            "role": "tool",
            "tool_call_id": text_at(block, "tool_use_id") or "",
            "content": _output(content),
            **marks,
        }
    )


def content_text(content: JsonValue) -> str:
    """The words in `content`, media as labels."""
    message = user_message(content)
    return message.text if message else ""


def _blocks(content: JsonValue) -> list[JsonValue]:
    if isinstance(content, str):
        return [content]
    return list(content) if isinstance(content, list) else []


def _part(block: JsonValue) -> JsonObject | None:
    """`block` as a content part; None for blanks, thinking, calls and results.

    A blank text is left out because Anthropic's own API refuses it when it is sent back.
    """
    if isinstance(block, str):
        block = {"type": "text", "text": block}
    if not isinstance(block, dict) or block.get("type") in _OWN_BLOCKS:
        return None
    if block.get("type") == "text":
        text = text_at(block, "text")
        return {"type": "text", "text": text} if text else None
    return _media_part(block) or block


def _media_part(block: JsonObject) -> JsonObject | None:
    source = object_at(block, "source")
    media_type, data = text_at(source, "media_type"), text_at(source, "data")
    url = f"data:{media_type};base64,{data}" if media_type and data else text_at(source, "url")
    if url is None:
        return None
    if block.get("type") == "image":
        return {"type": "image_url", "image_url": {"url": url}}
    if block.get("type") == "document":
        file: JsonObject = {"file_data": url, "filename": text_at(block, "title") or "document"}
        return {"type": "file", "file": file}
    return None


def _content(parts: list[JsonObject]) -> JsonValue:
    """`parts` as message content: plain text where one text part is all there is."""
    is_text = len(parts) == 1 and parts[0].get("type") == "text"
    return parts[0]["text"] if is_text else list(parts)


def _output(content: JsonValue) -> JsonValue:
    """What a tool gave back: its texts joined, unless an image or something else is among them."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        return to_canonical(content)
    parts = [part for block in content if (part := _part(block)) is not None]
    texts = [part["text"] for part in parts if part.get("type") == "text"]
    return "\n".join(map(str, texts)) if len(texts) == len(parts) else list(parts)


def _reasoning(block: JsonValue) -> list[Reasoning]:
    """Thinking; a signed block is kept as it came, since only that may be sent back."""
    if not isinstance(block, dict) or block.get("type") not in _THINKING:
        return []
    text = text_at(block, "thinking") or ""
    is_signed = bool(block.get("signature") or block.get("data"))
    if not text and not is_signed:
        return []
    return [Reasoning(text=text, raw=to_canonical(block) if is_signed else None)]


def _calls(block: JsonValue) -> list[ToolCall]:
    if not isinstance(block, dict) or block.get("type") != "tool_use":
        return []
    arguments = json.dumps(block.get("input") or {}, ensure_ascii=False)
    name = text_at(block, "name") or "unknown"
    return [ToolCall(id=text_at(block, "id") or "", name=name, arguments=arguments)]
