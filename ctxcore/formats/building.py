"""Builds a conversation from the records of a file, in an order that providers accept.

What a model said, thought and called in one answer becomes one message, with the results of its
calls right behind it. Ids that a file lacks are made up, and said in the report.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from typing import Final, cast

from ctxcore.formats.fields import file_stem, prompt_texts, title_of
from ctxcore.formats.records import Problem
from ctxcore.formats.spool import LazySequence, Spool
from ctxcore.formats.values import (
    USAGE_SIZE,
    RecordedCompaction,
    RecordedUsage,
    Repair,
    Transcript,
)
from ctxcore.json_types import JsonValue
from ctxcore.messages.canonical import to_ordered
from ctxcore.messages.values import (
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Refusal,
    Role,
    Text,
    ToolCall,
    text_message,
)
from ctxcore.reasons.storage_problems import FileProblem, RepairCode
from ctxcore.reasons.values import Reason

_NO_ARGUMENTS: Final = "{}"


@dataclass(frozen=True, slots=True)
class _Said:
    """A message, by its place among what was said."""

    place: int
    time: datetime | None


@dataclass(slots=True, kw_only=True)
class _Answer:
    """One answer of the model, and the results of its calls, by their places in what was said."""

    time: datetime | None
    parts: list[int] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)
    open_calls: dict[str, str] = field(default_factory=dict)
    """The names of the called tools by the ids of the calls without a result."""
    results: list[_Said] = field(default_factory=list)
    usage: int | None = None

    def open_call(self, name: str | None) -> str | None:
        """The id of the first call without a result; of a tool of this name, if it is given."""
        calls = self.open_calls.items()
        return next((own_id for own_id, tool in calls if name in (None, tool)), None)


_Step = _Answer | _Said | RecordedCompaction
_Kept = Message | Part | ToolCall


class TranscriptBuilder:
    """Collects what the records of one conversation say.

    `line` is that of the record, for the report; `time` when it was said.
    """

    def __init__(self, *, format: str, path: str) -> None:
        self._format, self._path = format, path
        self._kept = Spool[_Kept]()
        self._usage = Spool[RecordedUsage]()
        self._steps: list[_Step] = []
        self._callers: dict[str, _Answer] = {}
        self._keyed: dict[str, _Answer] = {}
        self._last_answer: _Answer | None = None
        self._problems: list[Problem] = []
        self._repairs: list[Repair] = []
        self._ignored: Counter[str] = Counter()
        self._made_ids = 0
        self.model: str | None = None
        """The model that answered last."""

    @property
    def has_messages(self) -> bool:
        """Whether anything was said."""
        return any(not isinstance(step, RecordedCompaction) for step in self._steps)

    def say(
        self,
        role: Role,
        content: str | Sequence[Part],
        *,
        time: datetime | None = None,
    ) -> None:
        """Adds a message of a user or the system; one that is blank is counted as left out."""
        message = _message(role, content)
        if message.content:
            self._steps.append(_Said(self._keep(message), time))
        else:
            self.ignore(f"blank {role}")

    def answer(
        self,
        content: str | Sequence[Part] = (),
        calls: Iterable[ToolCall] = (),
        *,
        key: str | None = None,
        time: datetime | None = None,
    ) -> None:
        """Adds to the answer of the model: the one of the same `key`, else the one not yet over."""
        answer = self._answer(key, time)
        answer.parts += map(self._keep, _message("assistant", content).content)
        for call in calls:
            answer.calls.append(self._keep(call))
            answer.open_calls[call.id] = call.name
            self._callers[call.id] = answer

    def think(self, text: str, *, key: str | None = None, time: datetime | None = None) -> None:
        """Adds thinking to the answer, as `answer`."""
        if text.strip():
            self.answer([Reasoning(text=text)], key=key, time=time)

    def call(
        self,
        name: str,
        arguments: JsonValue,
        *,
        call_id: str | None,
        key: str | None = None,
        time: datetime | None = None,
        line: int | None = None,
    ) -> None:
        """Adds a tool call to the answer, as `answer`; `arguments` is JSON text or a value."""
        call = ToolCall(
            id=call_id or self._made_id(line),
            name=name,
            arguments=_arguments(arguments),
        )
        self.answer((), [call], key=key, time=time)

    def result(
        self,
        content: str | Sequence[Part],
        *,
        call_id: str | None = None,
        name: str | None = None,
        time: datetime | None = None,
        line: int | None = None,
    ) -> None:
        """Adds the result of a call; without an id that of the first open one, of this tool."""
        answer = self._callers.get(call_id) if call_id else self._open_answer(name)
        if call_id is None:
            open_call = answer.open_call(name) if answer else None
            call_id = open_call or self._made_id(line)
        message = replace(_message("tool", content), answers=call_id, name=name)
        said = _Said(self._keep(message), time)
        if answer is None:
            self._steps.append(said)
            self.repair(RepairCode.NO_CALL(), line=line)
            return
        answer.open_calls.pop(call_id, None)
        answer.results.append(said)
        if self._steps[-1] is not answer:
            self.repair(RepairCode.MOVED(), line=line)

    def add(
        self,
        message: Message,
        *,
        key: str | None = None,
        time: datetime | None = None,
        line: int | None = None,
    ) -> None:
        """Adds a message that a codec read, by its role; `key` as in `answer`."""
        if message.is_tool_result:
            call_id, name = message.answers or None, message.name
            self.result(message.content, call_id=call_id, name=name, time=time, line=line)
        elif message.role != "assistant":
            self.say(message.role, message.content, time=time)
        else:
            calls = [c if c.id else replace(c, id=self._made_id(line)) for c in message.calls]
            content = _message("assistant", message.content).content
            if content or calls:
                self.answer(content, calls, key=key, time=time)
            else:
                self.ignore("blank assistant")

    def usage(self, usage: RecordedUsage, *, key: str | None = None) -> None:
        """Records what the provider counted for the answer; its place is filled in."""
        answer = self._last_answer if key is None else self._keyed.get(key)
        if answer is not None:
            answer.usage = self._usage.append(usage, size=USAGE_SIZE)

    def compaction(self, compaction: RecordedCompaction) -> None:
        """Records that the program compacted here; its place is filled in."""
        self._steps.append(compaction)

    def ignore(self, kind: str) -> None:
        """Counts a record that is no message."""
        self._ignored[kind] += 1

    def problem(self, reason: Reason, *, line: int | None = None) -> None:
        """Notes what could not be read and was left out."""
        self._problems.append(Problem(line=line, reason=reason))

    def repair(self, reason: Reason, *, line: int | None = None) -> None:
        """Notes what was put right."""
        self._repairs.append(Repair(line=line, reason=reason))

    def build(
        self,
        *,
        id: str | None,
        titles: Iterable[str | None] = (),
        raw_tools: tuple[str, ...] = (),
        parent_id: str | None = None,
    ) -> Transcript:
        """The conversation; without an id or a title it is named after its file or first prompt."""
        plans, usage, compactions = _assembled(self._steps, self._usage)
        own_id = id or file_stem(self._path)
        built = _BuiltMessages([plan for plan, _ in plans], self._kept)
        messages = tuple(built) if self._kept.is_held else built
        return Transcript(
            id=own_id,
            title=title_of(chain(titles, prompt_texts(messages)), otherwise=own_id),
            format=self._format,
            path=self._path,
            messages=messages,
            times=tuple(time for _, time in plans),
            parent_id=parent_id,
            model=self.model,
            raw_tools=raw_tools,
            compactions=tuple(compactions),
            usage=usage.values,
            problems=tuple(self._problems),
            repairs=tuple(self._repairs),
            ignored=tuple(sorted(self._ignored.items())),
        )

    def _keep(self, value: _Kept) -> int:
        return self._kept.append(value, size=_size(value))

    def _answer(self, key: str | None, time: datetime | None) -> _Answer:
        last = self._steps[-1] if self._steps else None
        if key is not None and key in self._keyed:
            return self._keyed[key]
        if key is None and isinstance(last, _Answer) and not last.results:
            return last
        made = self._last_answer = _Answer(time=time)
        if key is not None:
            self._keyed[key] = made
        self._steps.append(made)
        return made

    def _open_answer(self, name: str | None) -> _Answer | None:
        answers = (step for step in reversed(self._steps) if isinstance(step, _Answer))
        return next((one for one in answers if one.open_call(name)), None)

    def _made_id(self, line: int | None) -> str:
        self._made_ids += 1
        self.repair(RepairCode.NO_ID(), line=line)
        return f"call_{self._made_ids}"


def or_problems(found: Transcript, *, line: int | None = None) -> Iterator[Transcript | Problem]:
    """A conversation; if nothing was said in it, the problems that say why."""
    if found.messages:
        yield found
    else:
        nothing = Problem(line=line, reason=FileProblem.NO_CONTENT(kind="conversation"))
        yield from found.problems or [nothing]


def _message(role: Role, content: str | Sequence[Part]) -> Message:
    """A message without blank parts, which providers refuse."""
    if isinstance(content, str):
        content = (Text(text=content),) if content.strip() else ()
    parts = [part for part in content if not _is_blank(part)]
    if role == "tool" and not parts:
        return text_message("tool", "")
    return Message(role=role, content=tuple(parts))


def _is_blank(part: Part) -> bool:
    """Whether a part says nothing: a blank text, or thinking that is not shown."""
    if isinstance(part, Reasoning):
        return not part.text.strip() and part.raw is None
    return isinstance(part, Text) and not part.text.strip()


def _arguments(value: JsonValue) -> str:
    if isinstance(value, str):
        return value
    return _NO_ARGUMENTS if value is None else to_ordered(value)


def _size(value: _Kept) -> int:
    """About how many characters are in a message, a part or a call."""
    match value:
        case Message():
            return sum(map(_size, value.content))
        case ToolCall():
            return len(value.arguments)
        case Media() | Opaque():
            return len(value.raw)
        case Reasoning():
            return len(value.text) + len(value.raw or "")
        case Text() | Refusal():
            return len(value.text)


_Plan = int | tuple[Sequence[int], Sequence[int]]
"""A message by its place; an answer by the places of its parts and its calls."""


class _BuiltMessages(LazySequence[Message]):
    """The messages of `plans`, made when they are asked for."""

    def __init__(self, plans: Sequence[_Plan], kept: Sequence[_Kept]) -> None:
        self._plans, self._kept = plans, kept

    def __len__(self) -> int:
        return len(self._plans)

    def _value(self, place: int) -> Message:
        plan = self._plans[place]
        if isinstance(plan, int):
            return cast("Message", self._kept[plan])
        parts, calls = (tuple(map(self._kept.__getitem__, places)) for places in plan)
        return Message(
            role="assistant",
            content=cast("tuple[Part, ...]", parts),
            calls=cast("tuple[ToolCall, ...]", calls),
        )


_Timed = tuple[_Plan, datetime | None]


def _assembled(
    steps: Iterable[_Step], reported: Sequence[RecordedUsage]
) -> tuple[list[_Timed], Spool[RecordedUsage], list[RecordedCompaction]]:
    """The messages with their times, and the usage and compactions with their places."""
    messages: list[_Timed] = []
    usage = Spool[RecordedUsage]()
    compactions: list[RecordedCompaction] = []
    for step in steps:
        if isinstance(step, RecordedCompaction):
            compactions.append(replace(step, at=len(messages)))
        elif isinstance(step, _Said):
            messages.append((step.place, step.time))
        else:
            messages += _of_answer(step)
            if step.usage is not None:
                after = max(len(messages) - 1 - len(step.results), 0)
                usage.append(replace(reported[step.usage], after=after), size=USAGE_SIZE)
    return messages, usage, compactions


def _of_answer(answer: _Answer) -> Iterator[_Timed]:
    if answer.parts or answer.calls:
        yield (answer.parts, answer.calls), answer.time
    yield from ((result.place, result.time) for result in answer.results)
