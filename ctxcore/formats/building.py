"""Builds a conversation from the records of a file, in an order that providers accept.

What a model said, thought and called in one answer becomes one message, with the results of its
calls right behind it. Ids that a file lacks are made up, and said in the report.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from ctxcore.formats.fields import file_stem, prompt_texts, title_of
from ctxcore.formats.records import Problem
from ctxcore.formats.values import RecordedCompaction, RecordedUsage, Repair, Transcript
from ctxcore.json_types import JsonValue
from ctxcore.messages.canonical import to_ordered
from ctxcore.messages.values import Message, Part, Reasoning, Role, Text, ToolCall, text_message
from ctxcore.reasons.storage_problems import FileProblem, RepairCode
from ctxcore.reasons.values import Reason

_NO_ARGUMENTS: Final = "{}"


@dataclass(slots=True, kw_only=True)
class _Answer:
    """One answer of the model, and the results of its calls."""

    time: datetime | None
    parts: list[Part] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    results: list[tuple[Message, datetime | None]] = field(default_factory=list)
    usage: RecordedUsage | None = None

    def open_call(self, name: str | None) -> ToolCall | None:
        """The first call without a result; of a tool of this name, if it is given."""
        answered = {result.answers for result, _ in self.results}
        left = [call for call in self.calls if call.id not in answered]
        return next((call for call in left if name in (None, call.name)), None)


_Step = _Answer | tuple[Message, datetime | None] | RecordedCompaction


class TranscriptBuilder:
    """Collects what the records of one conversation say.

    `line` is that of the record, for the report; `time` when it was said.
    """

    def __init__(self, *, format: str, path: str) -> None:
        self._format, self._path = format, path
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
            self._steps.append((message, time))
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
        answer.parts += _message("assistant", content).content
        for call in calls:
            answer.calls.append(call)
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
            call_id = open_call.id if open_call else self._made_id(line)
        message = replace(_message("tool", content), answers=call_id, name=name)
        if answer is None:
            self._steps.append((message, time))
            self.repair(RepairCode.NO_CALL(), line=line)
            return
        answer.results.append((message, time))
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
            answer.usage = usage

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
        messages, usage, compactions = _assembled(self._steps)
        own_id = id or file_stem(self._path)
        said = [message for message, _ in messages]
        return Transcript(
            id=own_id,
            title=title_of((*titles, *prompt_texts(said)), otherwise=own_id),
            format=self._format,
            path=self._path,
            messages=tuple(said),
            times=tuple(time for _, time in messages),
            parent_id=parent_id,
            model=self.model,
            raw_tools=raw_tools,
            compactions=tuple(compactions),
            usage=tuple(usage),
            problems=tuple(self._problems),
            repairs=tuple(self._repairs),
            ignored=tuple(sorted(self._ignored.items())),
        )

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


_Timed = tuple[Message, datetime | None]


def _assembled(
    steps: Iterable[_Step],
) -> tuple[list[_Timed], list[RecordedUsage], list[RecordedCompaction]]:
    """The messages with their times, and the usage and compactions with their places."""
    messages: list[_Timed] = []
    usage: list[RecordedUsage] = []
    compactions: list[RecordedCompaction] = []
    for step in steps:
        if isinstance(step, RecordedCompaction):
            compactions.append(replace(step, at=len(messages)))
        elif isinstance(step, _Answer):
            messages += _of_answer(step)
            if step.usage is not None:
                after = max(len(messages) - 1 - len(step.results), 0)
                usage.append(replace(step.usage, after=after))
        else:
            messages.append(step)
    return messages, usage, compactions


def _of_answer(answer: _Answer) -> Iterator[_Timed]:
    if answer.parts or answer.calls:
        parts, calls = tuple(answer.parts), tuple(answer.calls)
        yield Message(role="assistant", content=parts, calls=calls), answer.time
    yield from answer.results
