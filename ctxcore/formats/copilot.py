"""Reads the events of Copilot CLI sessions; sub-agents are conversations of their own.

Older versions wrote the state of a session as one object with chat messages in OpenAI's form.
A file says how many tokens an answer has, but not how many it read, so that no usage is read unless
the events of the provider's usage are kept.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from ctxcore.errors import MessageError
from ctxcore.formats.building import TranscriptBuilder
from ctxcore.formats.fields import count_at, is_prompt, object_at, text_at, time_at
from ctxcore.formats.records import Problem, Record, Records
from ctxcore.formats.spool import Spool
from ctxcore.formats.values import Format, RecordedCompaction, RecordedUsage, Transcript
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.canonical import object_of, to_ordered, type_of
from ctxcore.messages.openai import parse_message
from ctxcore.reasons.places import Place, PlaceCode
from ctxcore.reasons.storage_problems import FileProblem, FormatCode

_KINDS: Final = ("session.", "user.", "assistant.", "tool.", "system.", "subagent.", "hook.")
_MAIN: Final = ""


class _Agent:
    """The conversation of the session or of one of its sub-agents."""

    def __init__(self, name: str) -> None:
        self.builder = TranscriptBuilder(format="copilot", path=name)
        self._system: str | None = None
        self._thought: str | None = None
        self._answers = 0
        self._has_answered = False

    @property
    def _key(self) -> str:
        return str(self._answers)

    def say_system(self, text: str, time: datetime | None) -> None:
        """A system prompt, which is written again whenever a session is resumed."""
        if text == self._system:
            self.builder.ignore("duplicate")
        else:
            self._system = text
            self._end_answer()
            self.builder.say("system", text, time=time)

    def say(self, text: str, time: datetime | None) -> None:
        """What a user wrote."""
        self._end_answer()
        self.builder.say("user", text, time=time)

    def think(self, text: str | None, time: datetime | None) -> None:
        """Thinking, which is written by itself and again with its answer."""
        if text and text != self._thought:
            self._thought = text
            self.builder.think(text, key=self._key, time=time)

    def answer(self, data: JsonObject, time: datetime | None, line: int | None) -> None:
        """An answer, or a part of one; results end it."""
        self.think(text_at(data, "reasoningText"), time)
        text, requests = text_at(data, "content") or "", data.get("toolRequests")
        calls = requests if isinstance(requests, list) else []
        if not text and not calls:
            self.builder.ignore("blank assistant")
        if text:
            self.builder.answer(text, key=self._key, time=time)
        for call in calls:
            if isinstance(call, dict):
                self._call(call, time, line)
        self._has_answered = True
        self.builder.model = text_at(data, "model") or self.builder.model

    def _call(self, call: JsonObject, time: datetime | None, line: int | None) -> None:
        self.builder.call(
            text_at(call, "name") or "unknown",
            call.get("arguments"),
            call_id=text_at(call, "toolCallId"),
            key=self._key,
            time=time,
            line=line,
        )

    def start(self, data: JsonObject, time: datetime | None, line: int | None) -> None:
        """A call that no answer requests, as of older versions."""
        self._call({**data, "name": data.get("toolName")}, time, line)
        self._has_answered = True

    def result(self, data: JsonObject, time: datetime | None, line: int | None) -> None:
        """The result of a call; of one that failed the error."""
        self._end_answer()
        self.builder.result(
            _output(data), call_id=text_at(data, "toolCallId"), time=time, line=line
        )

    def usage(self, data: JsonObject, time: datetime | None) -> None:
        """What the provider counted; the input includes what came from a cache."""
        read = count_at(data, "cacheReadTokens") or 0
        written = count_at(data, "cacheWriteTokens") or 0
        usage = RecordedUsage(
            call_id=text_at(data, "apiCallId", "providerCallId") or f"call-{self._key}",
            after=0,
            input_tokens=max((count_at(data, "inputTokens") or 0) - read - written, 0),
            cache_read_tokens=read,
            cache_write_tokens=written,
            output_tokens=count_at(data, "outputTokens") or 0,
            model=text_at(data, "model"),
            recorded_at=time,
        )
        self.builder.usage(usage, key=self._key)

    def compact(self, data: JsonObject, time: datetime | None) -> None:
        """A compaction; one that failed changed nothing."""
        if data.get("success") is False:
            self.builder.ignore("session.compaction_complete")
            return
        self._end_answer()
        self.builder.compaction(
            RecordedCompaction(
                at=0,
                summary=text_at(data, "summaryContent") or "",
                before_tokens=count_at(data, "preCompactionTokens"),
                trigger=text_at(data, "trigger"),
                recorded_at=time,
            )
        )

    def _end_answer(self) -> None:
        if self._has_answered:
            self._answers += 1
            self._has_answered = False


class _Session:
    """The conversations of a file, and what is said about it."""

    def __init__(self, name: str, requested: Collection[str]) -> None:
        self._name, self._requested = name, requested
        self.about: Mapping[str, object] = {}
        self.titles: list[str] = []
        self.prompts: list[str] = []
        self.agents: dict[str, _Agent] = {_MAIN: _Agent(name)}

    def read(self, record: Record) -> None:
        """Reads the next event."""
        event, line = record.value, record.line
        data = event.get("data") if isinstance(event, dict) else None
        if isinstance(event, dict) and isinstance(event.get("chatMessages"), list):
            self.about = event
            self._read_state(event["chatMessages"])
        elif not isinstance(event, dict) or not type_of(event):
            self.agents[_MAIN].builder.problem(FileProblem.NO_RECORD(), line=line)
        elif not isinstance(data, dict):
            problem = FileProblem.NO_CONTENT(kind=type_of(event))
            self.agents[_MAIN].builder.problem(problem, line=line)
        else:
            self._read(type_of(event), data, self._agent(event, data), event, line)

    def _read_state(self, messages: JsonValue) -> None:
        """The chat messages that older versions wrote, in OpenAI's form."""
        builder = self.agents[_MAIN].builder
        for at, raw in enumerate(messages if isinstance(messages, list) else []):
            try:
                place = Place(PlaceCode.MESSAGE, at)
                builder.add(parse_message(object_of(raw, place), place=place), key=str(at))
            except MessageError as error:
                builder.problem(error.reason)

    def _agent(self, event: JsonObject, data: JsonObject) -> _Agent:
        own_id = text_at(data, "parentToolCallId") or text_at(event, "agentId") or _MAIN
        return self.agents.setdefault(own_id, _Agent(self._name))

    def _read(
        self, kind: str, data: JsonObject, agent: _Agent, event: JsonObject, line: int | None
    ) -> None:
        time = time_at(event, "timestamp")
        match kind:
            case "user.message":
                self.prompts += filter(None, [text_at(data, "content")])
                agent.say(text_at(data, "transformedContent", "content") or "", time)
            case "system.message":
                agent.say_system(text_at(data, "content") or "", time)
            case "assistant.reasoning":
                agent.think(text_at(data, "content"), time)
            case "assistant.message":
                agent.answer(data, time, line)
            case "assistant.usage":
                agent.usage(data, time)
            case "tool.execution_start" if text_at(data, "toolCallId") not in self._requested:
                agent.start(data, time, line)
            case "tool.execution_complete":
                agent.result(data, time, line)
            case "session.compaction_complete":
                agent.compact(data, time)
            case _:
                self._note(kind, data, agent)

    def _note(self, kind: str, data: JsonObject, agent: _Agent) -> None:
        agent.builder.ignore(kind)
        if kind == "session.start":
            self.about = self.about or data
        if kind == "session.title_changed":
            self.titles += filter(None, [text_at(data, "title")])
        model = text_at(data, "newModel", "selectedModel")
        agent.builder.model = model or agent.builder.model


def _is_copilot(records: Records) -> bool:
    values = [value for value in records.values if isinstance(value, dict)]
    if any(isinstance(v.get("chatMessages"), list) and "sessionId" in v for v in values):
        return True
    starts = any(v.get("type") == "session.start" and _is_event(v) for v in values)
    return starts or (sum(map(_is_event, values)) >= 2 and all(map(_is_event, values)))


def _is_event(value: JsonObject) -> bool:
    return (
        type_of(value).startswith(_KINDS)
        and isinstance(value.get("data"), dict)
        and ("timestamp" in value or "id" in value)
    )


def _read(records: Records) -> Iterator[Transcript | Problem]:
    events = Spool[Record]()
    places, taken_back = _kept(records, events)
    session = _Session(records.name, _requested(events[place] for place in places))
    for place in places:
        session.read(events[place])
    for _ in range(taken_back):
        session.agents[_MAIN].builder.ignore("left branch")
    own_id = text_at(session.about, "sessionId")
    titles = [*reversed(session.titles), *filter(is_prompt, session.prompts)]
    for agent_id, agent in session.agents.items():
        if agent_id == _MAIN:
            transcript = agent.builder.build(id=own_id, titles=titles)
        else:
            transcript = agent.builder.build(id=agent_id, parent_id=own_id)
        if transcript.messages:
            yield transcript
        else:
            yield from transcript.problems


def _kept(records: Records, events: Spool[Record]) -> tuple[list[int], int]:
    """Puts all into `events`; the places of what was not taken back, how many messages were."""
    kept: dict[int, str | None] = {}
    """The ids of the events by their places."""
    taken_back = 0
    for record in records:
        event = record.value
        if not isinstance(event, dict) or event.get("type") != "session.snapshot_rewind":
            kept[events.append(record, size=record.size)] = _id(record)
            continue
        ids = _rewound(object_at(event, "data"), [*kept.values()])
        for place in [place for place, own_id in kept.items() if own_id in ids]:
            del kept[place]
            taken_back += _is_said(events[place])
    return [*kept], taken_back


def _rewound(data: Mapping[str, object], ids: Sequence[str | None]) -> set[str | None]:
    """The ids of the events that a rewind names, or of all from the one it names."""
    named, first = data.get("eventIds"), text_at(data, "upToEventId")
    if isinstance(named, list):
        return {one for one in named if isinstance(one, str)}
    return set(ids[ids.index(first) :]) - {None} if first in ids else set()


def _id(record: Record) -> str | None:
    return text_at(record.value, "id") if isinstance(record.value, dict) else None


def _is_said(record: Record) -> bool:
    kinds = ("user.message", "assistant.message", "tool.execution_complete")
    return isinstance(record.value, dict) and record.value.get("type") in kinds


def _requested(events: Iterable[Record]) -> set[str]:
    """The ids of the calls that answers request."""
    values = (event.value for event in events)
    lists = (object_at(v, "data").get("toolRequests") for v in values if isinstance(v, dict))
    calls = (call for calls in lists if isinstance(calls, list) for call in calls)
    ids = (text_at(call, "toolCallId") for call in calls if isinstance(call, dict))
    return {call_id for call_id in ids if call_id}


def _output(data: JsonObject) -> str:
    """The text of a result, in full if it has it so."""
    result, error = data.get("result"), object_at(data, "error")
    if isinstance(result, str):
        return result
    found = _text(object_at(data, "result").get("content")) if isinstance(result, dict) else None
    return found or text_at(error, "message") or ""


def _text(content: object) -> str | None:
    if isinstance(content, str):
        return content
    return to_ordered(content) if isinstance(content, (list, dict)) else None


COPILOT = Format(
    name="copilot",
    label=FormatCode.COPILOT(),
    matches=_is_copilot,
    read=_read,
)
