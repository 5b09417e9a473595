"""Reads the messages of an OpenCode session: what each step of an answer said, called and got.

A compaction is a prompt that asks for it, and an answer that is marked as its summary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, cast

from ctxcore.errors import MessageError
from ctxcore.formats.building import TranscriptBuilder
from ctxcore.formats.fields import count_at, object_at, text_at, time_at
from ctxcore.formats.values import RecordedCompaction, RecordedUsage
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.canonical import to_ordered, type_of
from ctxcore.messages.media import media_or_opaque
from ctxcore.messages.values import Part, Text
from ctxcore.reasons.places import Place, PlaceCode
from ctxcore.reasons.storage_problems import FileProblem
from ctxcore.reasons.values import quoted

_SAID: Final = ("text", "reasoning")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A message of a session with its parts."""

    info: JsonObject
    parts: Sequence[JsonObject]

    @property
    def times(self) -> Mapping[str, object]:
        """When it was written; old versions keep that among other things."""
        return object_at(self.info, "time") or object_at(self._metadata, "time")

    @property
    def time(self) -> datetime | None:
        """When it was begun."""
        return time_at(self.times, "created")

    @property
    def answer(self) -> Mapping[str, object]:
        """What is said of an answer: its model, its tokens."""
        return object_at(self._metadata, "assistant") or self.info

    @property
    def is_summary(self) -> bool:
        """Whether it is the summary of a compaction."""
        return self.answer.get("summary") is True

    @property
    def has_failed(self) -> bool:
        """Whether it broke off."""
        return bool(self.info.get("error") or self._metadata.get("error"))

    @property
    def _metadata(self) -> Mapping[str, object]:
        return object_at(self.info, "metadata")


def read_messages(
    builder: TranscriptBuilder, messages: Sequence[Stored], revert: Mapping[str, object]
) -> None:
    """Adds messages in order, without those that the user took back."""
    kept = _kept(messages, revert)
    for _ in range(len(messages) - len(kept)):
        builder.ignore("left branch")
    reader = _Reader(builder)
    for message in kept:
        try:
            reader.read(message)
        except MessageError as error:
            builder.problem(error.reason)


def _kept(messages: Sequence[Stored], revert: Mapping[str, object]) -> list[Stored]:
    """The messages before the one, or the part of one, that was gone back to."""
    ids = [text_at(message.info, "id") for message in messages]
    at, part_id = text_at(revert, "messageID"), text_at(revert, "partID")
    if at is None or at not in ids:
        return list(messages)
    place = ids.index(at)
    before, parts = list(messages[:place]), messages[place].parts
    names = [text_at(part, "id") for part in parts]
    if part_id is None or part_id not in names:
        return before
    left = parts[: names.index(part_id)]
    return [*before, Stored(info=messages[place].info, parts=left)] if left else before


class _Reader:
    """Adds messages to a conversation."""

    def __init__(self, builder: TranscriptBuilder) -> None:
        self._builder = builder
        self._system: str | None = None
        self._trigger: str | None = None

    def read(self, message: Stored) -> None:
        """Reads the next message."""
        role = text_at(message.info, "role")
        if role == "user":
            self._user(message)
        elif role != "assistant":
            self._builder.problem(FileProblem.NO_RECORD())
        elif message.is_summary:
            self._summary(message)
        else:
            _AnswerReader(self._builder, message).read()

    def _user(self, message: Stored) -> None:
        system = text_at(message.info, "system")
        if system and system != self._system:
            self._system = system
            self._builder.say("system", system, time=message.time)
        content: list[Part] = []
        for part in message.parts:
            if type_of(part) == "compaction":
                self._trigger = _trigger(part)
                self._builder.ignore("compaction")
            elif (found := _content(part)) is not None:
                content.append(found)
            else:
                self._builder.ignore(_kind(part))
        if content or not any(type_of(part) == "compaction" for part in message.parts):
            self._builder.say("user", content, time=message.time)

    def _summary(self, message: Stored) -> None:
        texts = [text_at(part, "text") for part in message.parts if type_of(part) == "text"]
        summary = "\n\n".join(filter(None, texts))
        if message.has_failed or not summary:
            self._builder.ignore("failed compaction")
            return
        usage = _usage(object_at(message.answer, "tokens"))
        self._builder.compaction(
            RecordedCompaction(
                at=0,
                summary=summary,
                before_tokens=usage.total_input_tokens or None,
                trigger=self._trigger,
                recorded_at=message.time,
            )
        )
        self._trigger = None


class _AnswerReader:
    """Adds an answer to a conversation, each of its steps as a message of its own."""

    def __init__(self, builder: TranscriptBuilder, message: Stored) -> None:
        self._builder, self._message = builder, message
        self._id = text_at(message.info, "id") or ""
        self._model = text_at(message.answer, "modelID") or text_at(
            object_at(message.answer, "model"), "modelID"
        )
        self._has_steps = any(type_of(part) == "step-start" for part in message.parts)
        self._step = 0
        self._said, self._called = False, False
        self._last_key: str | None = None
        self._counted: set[str] = set()

    @property
    def _key(self) -> str:
        return f"{self._id}/{self._step}"

    def read(self) -> None:
        """Reads all parts."""
        for part in self._message.parts:
            self._part(part)
        tokens = object_at(self._message.answer, "tokens")
        if not self._counted:
            self._count(tokens)
        if self._last_key is None:
            self._builder.ignore("blank assistant")
        self._builder.model = self._model or self._builder.model

    def _part(self, part: JsonObject) -> None:
        kind, time = type_of(part), time_at(object_at(part, "time"), "start") or self._message.time
        text = text_at(part, "text")
        if kind in _SAID and text and part.get("ignored") is not True:
            if self._called and not self._has_steps:  # said after what the call gave
                self._next_step()
            self._mark_said()
            if kind == "text":
                self._builder.answer(text, key=self._key, time=time)
            else:
                self._builder.think(text, key=self._key, time=time)
        elif kind == "tool":
            self._call(part, object_at(part, "state"), time)
        elif kind == "tool-invocation":
            self._invocation(object_at(part, "toolInvocation"), time)
        elif kind == "step-start":
            self._next_step()
        elif kind == "step-finish":
            self._count(object_at(part, "tokens"))
        else:
            self._other(part, kind)

    def _other(self, part: JsonObject, kind: str) -> None:
        if kind == "compaction":
            trigger = _trigger(part)
            compaction = RecordedCompaction(at=0, summary="", trigger=trigger)
            self._builder.compaction(compaction)
        else:
            self._builder.ignore(_kind(part))

    def _next_step(self) -> None:
        if self._said:
            self._step += 1
            self._said, self._called = False, False

    def _call(
        self, part: Mapping[str, JsonValue], state: Mapping[str, object], time: datetime | None
    ) -> None:
        name, call_id = text_at(part, "tool") or "unknown", text_at(part, "callID")
        self._add_call(name, call_id, state.get("input"), time)
        output = _output(state)
        if output is not None:
            self._builder.result(output, call_id=call_id, name=name, time=time)

    def _invocation(self, call: Mapping[str, object], time: datetime | None) -> None:
        """A call as the first versions wrote it."""
        name, call_id = text_at(call, "toolName") or "unknown", text_at(call, "toolCallId")
        self._add_call(name, call_id, call.get("args"), time)
        if call.get("result") is not None:
            self._builder.result(_text(call["result"]), call_id=call_id, name=name, time=time)

    def _add_call(
        self, name: str, call_id: str | None, arguments: object, time: datetime | None
    ) -> None:
        given = arguments if isinstance(arguments, (dict, list, str)) else None
        self._builder.call(name, given, call_id=call_id, key=self._key, time=time)
        self._mark_said()
        self._called = True

    def _mark_said(self) -> None:
        self._said, self._last_key = True, self._key

    def _count(self, tokens: Mapping[str, object]) -> None:
        """Records the tokens of the step that said something last, once."""
        key = self._last_key
        if key is None or key in self._counted:
            return
        usage = _usage(tokens, call_id=key, model=self._model, time=self._message.time)
        if usage.total_input_tokens or usage.output_tokens:
            self._builder.usage(usage, key=key)
            self._counted.add(key)


def _usage(
    tokens: Mapping[str, object],
    *,
    call_id: str = "",
    model: str | None = None,
    time: datetime | None = None,
) -> RecordedUsage:
    """The tokens of a call; thinking is a part of the output unless the sum says otherwise."""
    cache = object_at(tokens, "cache")
    given, read, written = (
        count_at(tokens, "input") or 0,
        count_at(cache, "read") or 0,
        count_at(cache, "write") or 0,
    )
    output, thought = count_at(tokens, "output") or 0, count_at(tokens, "reasoning") or 0
    if count_at(tokens, "total") == given + read + written + output + thought:
        output += thought
    return RecordedUsage(
        call_id=call_id,
        after=0,
        input_tokens=given,
        cache_read_tokens=read,
        cache_write_tokens=written,
        output_tokens=output,
        model=model,
        recorded_at=time,
    )


def _content(part: JsonObject) -> Part | None:
    """What a part of a prompt says; None for what was not sent, and what others say again."""
    kind = type_of(part)
    if kind == "text" and part.get("ignored") is not True:
        return Text(text=text_at(part, "text") or "")
    if kind == "subtask":
        return Text(text=text_at(part, "prompt", "description") or "")
    return _media(part) if kind == "file" else None


def _media(part: Mapping[str, object]) -> Part | None:
    """An attached image or document; the text of other files is a part of its own."""
    mime, url = text_at(part, "mime", "mediaType") or "", text_at(part, "url")
    if url is None or not url.startswith(("data:", "http://", "https://")):
        return None
    place = Place(PlaceCode.BLOCK, quoted("file"))
    if mime.startswith("image/"):
        return media_or_opaque({"type": "image_url", "image_url": {"url": url}}, place)
    if mime == "application/pdf":
        file = {"file_data": url, "filename": text_at(part, "filename") or "document"}
        return media_or_opaque({"type": "file", "file": file}, place)
    return None


def _output(state: Mapping[str, object]) -> list[Part] | None:
    """What a call gave, before it was stopped too, or its error; None while there is neither."""
    stopped = object_at(state, "metadata")
    partial = stopped.get("output") if stopped.get("interrupted") is True else None
    values = (state.get("output"), partial, state.get("error"))
    given = next((value for value in values if value is not None), None)
    if given is None:
        return None
    attached = state.get("attachments")
    files = attached if isinstance(attached, list) else []
    media = [_media(file) for file in files if isinstance(file, dict)]
    return [Text(text=_text(given)), *(part for part in media if part is not None)]


def _text(value: object) -> str:
    return value if isinstance(value, str) else to_ordered(cast("JsonValue", value))


def _trigger(part: Mapping[str, object]) -> str | None:
    auto = part.get("auto")
    return ("auto" if auto else "manual") if isinstance(auto, bool) else None


def _kind(part: JsonObject) -> str:
    return "ignored text" if part.get("ignored") is True else type_of(part) or "part"
