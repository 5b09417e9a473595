"""Reads a wire log of Kimi Code: messages and the events of its loop, without what was undone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from ctxcore.errors import MessageError
from ctxcore.formats.building import TranscriptBuilder
from ctxcore.formats.fields import count_at, object_at, text_at, time_at
from ctxcore.formats.kimi_messages import add_content, message_of, usage_of
from ctxcore.formats.records import Record, Records
from ctxcore.formats.spool import Spool
from ctxcore.formats.values import RecordedCompaction, Transcript
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.canonical import to_ordered, type_of
from ctxcore.messages.openai import parse_message
from ctxcore.reasons.storage_problems import FileProblem

_MESSAGE: Final = "context.append_message"
_EVENT: Final = "context.append_loop_event"
_CUTS: Final = ("context.apply_compaction", "context.clear")
_PROMPTS: Final = ("config.update", "profile.bind")
_WHOLE: Final = ("step.begin", "tool.result")
"""The events that begin a message each; the others add to one."""


def is_wire_record(value: JsonObject) -> bool:
    """Whether a record is of a wire log, of any version."""
    kind = type_of(value)
    if kind == "metadata" and "protocol_version" in value:
        return True
    own = {_MESSAGE: "message", _EVENT: "event"}.get(kind)
    return own is not None and isinstance(value.get(own), dict)


def read_wire(records: Records, *, own_id: str | None, titles: Sequence[str | None]) -> Transcript:
    """The conversation of one agent."""
    builder = TranscriptBuilder(format="kimi", path=records.name)
    log = _Log(builder)
    for record in records:
        log.take(record)
    reader = _Reader(builder)
    for place in log.places:
        reader.read(log.steps[place])
    reader.end()
    builder.model = builder.model or log.model
    return builder.build(id=own_id, titles=titles, raw_tools=log.raw_tools)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """A record of the context, and the model it was written with."""

    raw: JsonObject
    line: int | None
    model: str | None

    @property
    def kind(self) -> str:
        """The type of the record, of an event its own."""
        kind = type_of(self.raw)
        return type_of(self.raw.get("event")) if kind == _EVENT else kind

    @property
    def is_message(self) -> bool:
        """Whether a message begins here."""
        return self.kind == _MESSAGE or self.kind in _WHOLE


class _Log:
    """Collects the records of the context, and takes out again what was undone."""

    def __init__(self, builder: TranscriptBuilder) -> None:
        self._builder = builder
        self._anchors: list[int] = []
        self._trigger: str | None = None
        self.model: str | None = None
        """The model that was chosen last."""
        self.steps = Spool[_Step]()
        self.places: list[int] = []
        """Those of the steps that were not undone."""
        self.raw_tools: tuple[str, ...] = ()

    def take(self, record: Record) -> None:
        """Takes the next record."""
        raw, line = record.value, record.line
        if not isinstance(raw, dict) or not type_of(raw):
            self._builder.problem(FileProblem.NO_RECORD(), line=line)
            return
        self._take(raw, type_of(raw), line, record.size)

    def _take(self, raw: JsonObject, kind: str, line: int | None, size: int) -> None:
        model = text_at(raw, "modelAlias", "model")
        self.model = model.rpartition("/")[2] if model else self.model
        if kind in _CUTS:
            raw = {**raw, "trigger": self._trigger if kind == _CUTS[0] else "clear"}
            self._anchors.clear()
        elif kind == _MESSAGE and _is_anchor(object_at(raw, "message")):
            self._anchors.append(len(self.places))
        elif kind == "context.undo":
            self._undo(count_at(raw, "count") or 0)
        elif kind == "llm.tools_snapshot":
            self.raw_tools = _raw_tools(raw.get("tools")) or self.raw_tools
        elif kind == "full_compaction.begin":
            self._trigger = text_at(raw, "source", "trigger")
        if kind in (_MESSAGE, _EVENT, *_CUTS) or (kind in _PROMPTS and "systemPrompt" in raw):
            step = _Step(raw=raw, line=line, model=self.model)
            self.places.append(self.steps.append(step, size=size))
        else:
            self._builder.ignore(kind)

    def _undo(self, count: int) -> None:
        """Takes out the last prompts that a user wrote, and all that came after them."""
        if not 0 < count <= len(self._anchors):
            return
        at = self._anchors[-count]
        del self._anchors[-count:]
        undone, self.places[at:] = self.places[at:], []
        for place in undone:
            step = self.steps[place]
            if step.is_message:
                self._builder.ignore("left branch")
            if type_of(step.raw) in _PROMPTS:
                self.places.append(place)


def _is_anchor(message: Mapping[str, object]) -> bool:
    origin = text_at(object_at(message, "origin"), "kind")
    return message.get("role") == "user" and origin in (None, "user")


def _raw_tools(tools: JsonValue) -> tuple[str, ...]:
    """Tool definitions in OpenAI's form."""
    found = [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    return tuple(to_ordered({"type": "function", "function": tool}) for tool in found)


class _Reader:
    """Adds the records of the context to a conversation."""

    def __init__(self, builder: TranscriptBuilder) -> None:
        self._builder = builder
        self._system: str | None = None
        self._blank: set[str] = set()
        """The answers that were begun, and in which nothing was said yet."""

    def read(self, step: _Step) -> None:
        """Reads the next record."""
        try:
            self._read(step, time_at(step.raw, "time"))
        except MessageError as error:
            self._builder.problem(error.reason, line=step.line)

    def end(self) -> None:
        """Counts the answers in which nothing was said."""
        for _ in self._blank:
            self._builder.ignore("blank assistant")

    def _read(self, step: _Step, time: datetime | None) -> None:
        raw, kind = step.raw, type_of(step.raw)
        if kind in _PROMPTS:
            self._say_system(text_at(raw, "systemPrompt"), time)
        elif kind in _CUTS:
            self._builder.compaction(_compaction(raw, time))
        elif kind == _EVENT and isinstance(event := raw.get("event"), dict):
            self._event(event, step, time)
        elif kind == _MESSAGE and isinstance(given := raw.get("message"), dict):
            message = message_of(given)
            self._builder.add(message, key=f"line {step.line}", time=time, line=step.line)
        else:
            self._builder.problem(FileProblem.NO_CONTENT(kind=kind), line=step.line)

    def _say_system(self, text: str | None, time: datetime | None) -> None:
        """A system prompt, which is written again whenever a session is resumed."""
        if text is None or text == self._system:
            self._builder.ignore("config.update")
        else:
            self._system = text
            self._builder.say("system", text, time=time)

    def _event(self, event: Mapping[str, JsonValue], step: _Step, time: datetime | None) -> None:
        own = text_at(event, "stepUuid") or text_at(event, "uuid") or f"line {step.line}"
        match type_of(event):
            case "step.begin":
                self._blank.add(own)
            case "content.part":
                self._blank.discard(own)
                add_content(self._builder, event.get("part"), key=own, time=time)
            case "tool.call":
                self._blank.discard(own)
                self._call(event, own, time, step.line)
            case "tool.result":
                self._result(event, time, step.line)
            case "step.end":
                self._end_step(object_at(event, "usage"), own, step.model, time)
            case kind:
                self._builder.ignore(kind or _EVENT)

    def _call(
        self, event: Mapping[str, JsonValue], key: str, time: datetime | None, line: int | None
    ) -> None:
        self._builder.call(
            text_at(event, "name") or "unknown",
            event.get("args"),
            call_id=text_at(event, "toolCallId"),
            key=key,
            time=time,
            line=line,
        )

    def _result(
        self, event: Mapping[str, JsonValue], time: datetime | None, line: int | None
    ) -> None:
        """The result of a call; a note is for the model alone."""
        given = event.get("result")
        result = given if isinstance(given, dict) else {"output": given}
        output, note = result.get("output"), text_at(result, "note")
        content = output if isinstance(output, list) else [_text(output)]
        noted: list[JsonValue] = [*content, *([_text(note)] if note else [])]
        said = parse_message({"role": "tool", "content": noted})
        call_id = text_at(event, "toolCallId")
        self._builder.result(said.content, call_id=call_id, time=time, line=line)

    def _end_step(
        self, counts: Mapping[str, object], key: str, model: str | None, time: datetime | None
    ) -> None:
        self._builder.model = model or self._builder.model
        usage = usage_of(counts, call_id=key, model=model, time=time)
        if usage.total_input_tokens or usage.output_tokens:
            self._builder.usage(usage, key=key)


def _compaction(raw: JsonObject, time: datetime | None) -> RecordedCompaction:
    """A compaction; clearing the context is one without a summary."""
    return RecordedCompaction(
        at=0,
        summary=text_at(raw, "summary", "contextSummary") or "",
        before_tokens=count_at(raw, "tokensBefore"),
        trigger=text_at(raw, "trigger"),
        recorded_at=time,
    )


def _text(value: JsonValue) -> JsonObject:
    text = value if isinstance(value, str) else "" if value is None else to_ordered(value)
    return {"type": "text", "text": text}
