"""Reads what Kimi CLI, the forerunner of Kimi Code, writes: wire events, or the context itself.

The events of a sub-agent are wrapped in events of the session.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final, cast

from ctxcore.errors import MessageError
from ctxcore.formats.building import TranscriptBuilder
from ctxcore.formats.fields import object_at, text_at, time_at
from ctxcore.formats.kimi_messages import add_content, message_of, usage_of
from ctxcore.formats.records import Record, Records
from ctxcore.formats.values import RecordedCompaction, Transcript
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.canonical import to_ordered, type_of
from ctxcore.messages.openai import parse_message
from ctxcore.reasons.storage_problems import FileProblem

_OWN_ROLES: Final = ("_checkpoint", "_usage", "_system_prompt")
_MAIN: Final = ""


def is_cli_record(value: JsonObject) -> bool:
    """Whether a record is an event of a wire log."""
    message = object_at(value, "message")
    is_event = isinstance(message.get("payload"), dict) and type_of(message)[:1].isupper()
    return "timestamp" in value and is_event


def is_context_record(value: JsonObject) -> bool:
    """Whether a record is one that only the file of a context has."""
    return value.get("role") in _OWN_ROLES


def read_context(
    records: Records, *, own_id: str | None, titles: Sequence[str | None]
) -> Iterator[Transcript]:
    """The messages that the model got last."""
    builder = TranscriptBuilder(format="kimi", path=records.name)
    for nth, record in enumerate(records):
        _read_message(builder, record, key=str(nth))
    yield builder.build(id=own_id, titles=titles)


def _read_message(builder: TranscriptBuilder, record: Record, *, key: str) -> None:
    raw, line = record.value, record.line
    if not isinstance(raw, dict):
        builder.problem(FileProblem.NO_RECORD(), line=line)
    elif raw.get("role") == "_system_prompt":
        builder.say("system", text_at(raw, "content") or "")
    elif is_context_record(raw):
        builder.ignore(str(raw["role"]))
    else:
        try:
            builder.add(message_of(raw), key=key, line=line)
        except MessageError as error:
            builder.problem(error.reason, line=line)


def read_events(
    records: Records, *, own_id: str | None, titles: Sequence[str | None]
) -> Iterator[Transcript]:
    """The conversation of a session, and those of its sub-agents."""
    agents = {_MAIN: _Agent(records.name)}
    for record in records:
        event = record.value
        message = event.get("message") if isinstance(event, dict) else None
        if isinstance(event, dict) and isinstance(message, dict):
            time = time_at(event, "timestamp")
            _dispatch(agents, _MAIN, message, time, record)
        elif isinstance(event, dict) and type_of(event) == "metadata":
            agents[_MAIN].builder.ignore("metadata")
        else:
            agents[_MAIN].builder.problem(FileProblem.NO_RECORD(), line=record.line)
    for name, agent in agents.items():
        agent.flush()
        if name == _MAIN:
            main = agent.builder.build(id=own_id, titles=titles)
            yield main
        else:
            yield agent.builder.build(id=name, parent_id=main.id)


def _dispatch(
    agents: dict[str, _Agent],
    name: str,
    message: JsonObject,
    time: datetime | None,
    record: Record,
) -> None:
    """Gives an event to the agent that it is of."""
    kind, payload = type_of(message), message.get("payload")
    data = payload if isinstance(payload, dict) else {}
    inner = data.get("event")
    if kind == "SubagentEvent" and isinstance(inner, dict):
        call = text_at(data, "agent_id", "parent_tool_call_id", "task_tool_call_id") or "subagent"
        agents.setdefault(call, _Agent(agents[_MAIN].path))
        _dispatch(agents, call, inner, time, record)
        return
    try:
        agents[name].read(kind, data, time, record.line)
    except MessageError as error:
        agents[name].builder.problem(error.reason, line=record.line)


class _Agent:
    """The conversation of the session or of one of its sub-agents."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.builder = TranscriptBuilder(format="kimi", path=path)
        self._step = 0
        self._call: tuple[JsonObject, str, datetime | None, int | None] | None = None

    @property
    def _key(self) -> str:
        return str(self._step)

    def read(self, kind: str, data: JsonObject, time: datetime | None, line: int | None) -> None:
        """Reads the next event.

        Raises:
            MessageError: it is not what the format allows.
        """
        if kind == "ToolCallPart" and self._call is not None:
            call, begun, at, where = self._call
            more = data.get("arguments_part")
            self._call = call, begun + (more if isinstance(more, str) else ""), at, where
            return
        self.flush()
        match kind:
            case "TurnBegin" | "SteerInput":
                said = {"role": "user", "content": data.get("user_input")}
                self.builder.add(parse_message(said), time=time, line=line)
            case "StepBegin":
                self._step += 1
            case "ContentPart":
                add_content(self.builder, data, key=self._key, time=time)
            case "ToolCall":
                arguments = object_at(data, "function").get("arguments")
                self._call = data, arguments if isinstance(arguments, str) else "", time, line
            case "ToolResult":
                self._result(data, time, line)
            case "StatusUpdate":
                self._count(data, time)
            case "CompactionEnd":
                self.builder.compaction(RecordedCompaction(at=0, summary="", recorded_at=time))
            case _:
                self.builder.ignore(kind)

    def flush(self) -> None:
        """Adds the call whose arguments are now complete."""
        if self._call is None:
            return
        call, arguments, time, line = self._call
        self._call = None
        self.builder.call(
            text_at(object_at(call, "function"), "name") or "unknown",
            arguments or None,
            call_id=text_at(call, "id"),
            key=self._key,
            time=time,
            line=line,
        )

    def _result(self, data: JsonObject, time: datetime | None, line: int | None) -> None:
        """The result of a call: its output, and what only the model is told."""
        value = object_at(data, "return_value") or object_at(data, "result")
        output, message = value.get("output"), text_at(value, "message")
        parts = output if isinstance(output, list) else [_text(output)] if output else []
        told: list[JsonValue] = [*parts, *([_text(message)] if message else [])]
        said = parse_message({"role": "tool", "content": told})
        call_id = text_at(data, "tool_call_id")
        self.builder.result(said.content, call_id=call_id, time=time, line=line)

    def _count(self, data: JsonObject, time: datetime | None) -> None:
        counts = object_at(data, "token_usage")
        usage = usage_of(
            counts, call_id=text_at(data, "message_id") or self._key, model=None, time=time
        )
        if usage.total_input_tokens or usage.output_tokens:
            self.builder.usage(usage, key=self._key)
        else:
            self.builder.ignore("StatusUpdate")


def _text(value: object) -> JsonObject:
    return {
        "type": "text",
        "text": value if isinstance(value, str) else to_ordered(cast("JsonValue", value)),
    }
