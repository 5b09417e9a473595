"""Reads the data export of claude.ai: the active branch of each conversation.

An answer holds its calls and their results; it is read as several messages where results are in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final

from ctxcore.formats.building import TranscriptBuilder, or_problems
from ctxcore.formats.fields import text_at, time_at
from ctxcore.formats.records import Problem, Records
from ctxcore.formats.values import Format, Transcript
from ctxcore.messages.canonical import type_of
from ctxcore.messages.shapes.anthropic import message_of_blocks, tool_message
from ctxcore.messages.values import JsonObject, Part, Text
from ctxcore.reasons.storage_problems import FileProblem, FormatCode

_SENDERS: Final = ("human", "user", "assistant")
_TIMES: Final = ("created_at", "updated_at")


def _is_claude_ai(records: Records) -> bool:
    return any(map(_is_conversation, records.values))


def _is_conversation(value: object) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("chat_messages"), list)
        and any(key in value for key in ("uuid", "name", "account", "created_at"))
    )


def _read(records: Records) -> Iterator[Transcript | Problem]:
    for record in records:
        value = record.value
        if not isinstance(value, dict) or not _is_conversation(value):
            yield Problem(line=record.line, reason=FileProblem.NEITHER())
            continue
        yield from or_problems(_conversation(value, records.name), line=record.line)


def _conversation(about: JsonObject, name: str) -> Transcript:
    builder = TranscriptBuilder(format="claude-ai", path=name)
    builder.model = text_at(about, "model")
    listed = about["chat_messages"]
    messages = []
    for message in listed if isinstance(listed, list) else ():
        if isinstance(message, dict) and message.get("sender") in _SENDERS:
            messages.append(message)
        else:
            builder.problem(FileProblem.NEITHER())
    branch = _active_branch(messages, text_at(about, "current_leaf_message_uuid"))
    for message in branch:
        _add(builder, message)
    for _ in range(len(messages) - len(branch)):
        builder.ignore("left branch")
    return builder.build(id=text_at(about, "uuid"), titles=[text_at(about, "name")])


def _active_branch(messages: list[JsonObject], leaf: str | None) -> list[JsonObject]:
    """The messages up to the current or last one; all of them in exports without a tree."""
    by_id = {uuid: message for message in messages if (uuid := text_at(message, "uuid"))}
    parents = {uuid: text_at(one, "parent_message_uuid") for uuid, one in by_id.items()}
    if not any(parent in by_id for parent in parents.values()):
        return messages
    at = leaf if leaf in by_id else text_at(messages[-1], "uuid")
    chain: list[JsonObject] = []
    while at is not None and at in by_id:
        chain.append(by_id.pop(at))
        at = parents[at]
    return chain[::-1]


def _add(builder: TranscriptBuilder, message: JsonObject) -> None:
    time = time_at(message, *_TIMES)
    if message["sender"] == "assistant":
        _add_answer(builder, message, time)
        return
    content = _content(message)
    parts = message_of_blocks("user", content).content
    builder.say("user", [*parts, *_attached(message)], time=time)


def _add_answer(builder: TranscriptBuilder, message: JsonObject, time: datetime | None) -> None:
    is_blank = True
    for block in _content(message):
        kind = type_of(block)
        if not isinstance(block, dict):
            builder.ignore("block")
        elif kind == "tool_use":
            tool, call_id = text_at(block, "name") or "unknown", text_at(block, "id")
            builder.call(tool, block.get("input"), call_id=call_id, time=time)
        elif kind == "tool_result":
            call_id, name = text_at(block, "tool_use_id"), text_at(block, "name")
            output = tool_message(block).content
            builder.result(output, call_id=call_id, name=name, time=time)
        elif kind in ("text", "thinking", "redacted_thinking"):
            builder.answer(message_of_blocks("assistant", [block]).content, time=time)
        else:
            builder.ignore(f"block/{kind}")
        is_blank = is_blank and not _says(block)
    if is_blank:
        builder.ignore("blank assistant")


def _says(block: object) -> bool:
    if not isinstance(block, Mapping):
        return False
    is_tool = type_of(block) in ("tool_use", "tool_result")
    return is_tool or text_at(block, "text", "thinking", "data") is not None


def _content(message: JsonObject) -> list[object]:
    """The blocks of a message; older exports have its text alone."""
    content = message.get("content")
    if isinstance(content, list) and content:
        return list(content)
    text = text_at(message, "text")
    return [{"type": "text", "text": text}] if text else []


def _attached(message: JsonObject) -> Iterator[Part]:
    """Attachments with their text, where the export has it, else with their name."""
    for key in ("attachments", "files", "files_v2"):
        listed = message.get(key)
        for file in listed if isinstance(listed, list) else ():
            if not isinstance(file, dict):
                continue
            name = text_at(file, "file_name", "name") or "file"
            text = text_at(file, "extracted_content")
            is_named_before = key == "files_v2" and bool(message.get("files"))
            if text is not None or not is_named_before:
                yield Text(text=f"{name}\n{text}" if text else f"[{name}]")


CLAUDE_AI = Format(
    name="claude-ai",
    label=FormatCode.CLAUDE_AI(),
    matches=_is_claude_ai,
    read=_read,
)
