"""Reads messages of the Vercel AI SDK: those of its user interfaces, and those sent to models.

A message of a user interface holds a whole turn, in steps: its calls have their results in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from ctxcore.formats.building import TranscriptBuilder, or_problems
from ctxcore.formats.fields import id_at, objects_in, text_at, time_at
from ctxcore.formats.records import Problem, Records
from ctxcore.formats.values import Format, Transcript
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.canonical import to_ordered, type_of
from ctxcore.messages.media import media_or_opaque
from ctxcore.messages.values import Part, Reasoning, Text
from ctxcore.reasons.places import Place, PlaceCode
from ctxcore.reasons.storage_problems import FileProblem, FormatCode

_ROLES: Final = ("system", "user", "assistant", "tool", "data")
_MODEL_PARTS: Final = ("tool-call", "tool-result")
_QUIET: Final = ("step-start", "source", "source-url", "source-document")
_OVER: Final = ("output-available", "output-error", "output-denied", "result")
_FILE: Final = Place(PlaceCode.KEY, "file")
_TIMES: Final = ("createdAt", "created_at", "timestamp")


def _is_ai_sdk(records: Records) -> bool:
    return any(
        _is_own(one) for value in records.values for one in (value, *(_messages_in(value) or ()))
    )


def _is_own(value: JsonValue) -> bool:
    """Whether no other product writes messages like this one."""
    if not isinstance(value, dict) or value.get("role") not in _ROLES:
        return False
    if any(type_of(part) for part in objects_in(value.get("parts"))) or "toolInvocations" in value:
        return True
    parts = objects_in(value.get("content"))
    return any(type_of(part) in _MODEL_PARTS and "toolCallId" in part for part in parts)


def _is_message(value: JsonValue) -> bool:
    has_content = isinstance(value, dict) and ("content" in value or "parts" in value)
    return has_content and isinstance(value, dict) and value.get("role") in _ROLES


def _messages_in(value: JsonValue) -> list[JsonValue] | None:
    messages = value.get("messages") if isinstance(value, dict) else value
    found = isinstance(messages, list) and any(map(_is_message, messages))
    return messages if found and isinstance(messages, list) else None


def _read(records: Records) -> Iterator[Transcript | Problem]:
    loose: list[tuple[JsonValue, int | None]] = []
    is_list = records.layout == "list" and any(map(_is_message, records.values))
    for record in records:
        value = record.value
        if is_list or _is_message(value):
            loose.append((value, record.line))
        elif (messages := _messages_in(value)) is not None:
            about = value if isinstance(value, dict) else {}
            found = [(message, record.line) for message in messages]
            yield from or_problems(_conversation(found, about, records.name), line=record.line)
        else:
            yield Problem(line=record.line, reason=FileProblem.NEITHER())
    if loose:
        yield from or_problems(_conversation(loose, {}, records.name))


def _conversation(
    messages: Sequence[tuple[JsonValue, int | None]], about: JsonObject, name: str
) -> Transcript:
    reading = _Reading(name)
    for message, line in messages:
        if isinstance(message, dict) and _is_message(message):
            reading.add(message, line)
        else:
            reading.builder.problem(FileProblem.NEITHER(), line=line)
    reading.builder.model = text_at(about, "model")
    chat_id = id_at(about, "id", "chatId", "sessionId")
    return reading.builder.build(id=chat_id, titles=[text_at(about, "title")])


class _Reading:
    """Adds messages in order."""

    def __init__(self, name: str) -> None:
        self.builder = TranscriptBuilder(format="ai-sdk", path=name)
        self._step = 0
        self._has_calls = False
        """Whether the step has calls, so that a text begins another one."""

    def add(self, message: JsonObject, line: int | None) -> None:
        """Adds a message, an answer in as many messages as it has steps."""
        time = time_at(message, *_TIMES)
        parts = _parts(message)
        role = message["role"]
        if role == "data":
            self.builder.ignore("data")
        elif role in ("system", "user"):
            content = [part for one in parts if (part := self._said(one)) is not None]
            self.builder.say("system" if role == "system" else "user", content, time=time)
        else:
            self._begin_step()
            said = [self._add_part(_flat(part), time, line) for part in parts]
            if not any(said):
                self.builder.ignore(f"blank {role}")

    def _add_part(self, part: JsonObject, time: datetime | None, line: int | None) -> bool:
        """Adds a part of an answer; whether it says anything."""
        kind, tool = type_of(part), _tool_name(part)
        if kind == "step-start" or (tool is None and self._has_calls):
            self._begin_step()
        key = f"step-{self._step}"
        if tool is None:
            said = self._said(part)
            if said is not None:
                self.builder.answer([said], key=key, time=time)
            return said is not None
        self._has_calls = True
        call_id = id_at(part, "toolCallId")
        if kind != "tool-result":
            given = part.get("input", part.get("args", part.get("rawInput")))
            self.builder.call(tool, given, call_id=call_id, key=key, time=time, line=line)
        if kind == "tool-result" or text_at(part, "state") in _OVER:
            output = _output(part)
            self.builder.result(output, call_id=call_id, name=tool, time=time, line=line)
        return True

    def _begin_step(self) -> None:
        self._step, self._has_calls = self._step + 1, False

    def _said(self, part: JsonObject) -> Part | None:
        """A part that is no call; what only a user interface shows is counted."""
        kind = type_of(part)
        text = text_at(part, "text", "reasoning")
        if kind in ("text", "reasoning"):
            made = Reasoning if kind == "reasoning" else Text
            return made(text=text) if text else None
        url = text_at(part, "url", "image", "data")
        if kind in ("file", "image") and url is not None:
            return _media(part, url)
        if kind not in _QUIET:
            self.builder.ignore(f"part/{kind or 'untyped'}")
        return None


def _parts(message: JsonObject) -> list[JsonObject]:
    """The parts of a message; older ones have a text, and their calls beside it."""
    if parts := objects_in(message.get("parts")):
        return parts
    content = message.get("content")
    said = objects_in(content) if isinstance(content, list) else []
    if isinstance(content, str) and content.strip():
        said = [{"type": "text", "text": content}]
    called = objects_in(message.get("toolInvocations"))
    attached = objects_in(message.get("experimental_attachments"))
    calls: list[JsonObject] = [{**call, "type": "tool-invocation"} for call in called]
    return [*calls, *said, *({**file, "type": "file"} for file in attached)]


def _flat(part: JsonObject) -> JsonObject:
    """A part with what an invocation inside of it says."""
    invocation = part.get("toolInvocation")
    return {**part, **invocation} if isinstance(invocation, dict) else part


def _tool_name(part: JsonObject) -> str | None:
    """The tool of a call or result; newer parts have it in their type."""
    if "toolCallId" not in part:
        return None
    kind = type_of(part)
    own = kind.removeprefix("tool-") if kind.startswith("tool-") else "unknown"
    return text_at(part, "toolName") or own


def _output(part: JsonObject) -> str:
    """What a tool gave back; wrapped in its kind when it is sent to a model."""
    if (error := text_at(part, "errorText")) is not None:
        return error
    output = part.get("output", part.get("result"))
    is_wrapped = isinstance(output, dict) and output.keys() == {"type", "value"}
    if isinstance(output, dict) and is_wrapped:
        output = output["value"]
    texts = [text_at(one, "text") for one in objects_in(output) if type_of(one) == "text"]
    if isinstance(output, list) and texts and len(texts) == len(output):
        return "\n".join(text for text in texts if text)
    if output is None or isinstance(output, str):
        return output or ""
    return to_ordered(output)


def _media(part: JsonObject, url: str) -> Part:
    mime = text_at(part, "mediaType", "mimeType", "contentType") or ""
    if not url.startswith(("data:", "http:", "https:")):
        url = f"data:{mime};base64,{url}"
    if mime.startswith("image/") or type_of(part) == "image":
        return media_or_opaque({"type": "image_url", "image_url": {"url": url}}, _FILE)
    name = text_at(part, "filename", "name") or "file"
    return media_or_opaque({"type": "file", "file": {"file_data": url, "filename": name}}, _FILE)


AI_SDK = Format(
    name="ai-sdk",
    label=FormatCode.AI_SDK(),
    matches=_is_ai_sdk,
    read=_read,
)
