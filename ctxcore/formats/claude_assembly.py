"""Assembles the records of a Claude Code session into messages.

The lines of one answer become one message, with the results of its calls right behind it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TypeAlias

from ctxcore.formats.claude_entries import Entry, kind_and_content
from ctxcore.formats.claude_messages import answer_in, result_blocks, user_in
from ctxcore.formats.fields import count_at, text_at
from ctxcore.formats.file_messages import MessagePlan
from ctxcore.formats.values import RecordedCompaction, RecordedUsage
from ctxcore.messages.shapes.anthropic import tool_message
from ctxcore.messages.values import JsonValue, Message

_Planned: TypeAlias = tuple[MessagePlan, datetime | None]


@dataclass(slots=True, kw_only=True)
class _Answer:
    """The lines of an answer, and the results of its calls."""

    lines: list[Entry] = field(default_factory=list)
    results: list[_Planned] = field(default_factory=list)

    @property
    def has_open_calls(self) -> bool:
        """Whether a call has no result yet."""
        return sum(line.calls for line in self.lines) > len(self.results)


@dataclass(slots=True, kw_only=True)
class _Compaction:
    """A compaction; its summary is in the record after the boundary."""

    boundary: Entry | None
    summary: str | None = None


@dataclass(slots=True, kw_only=True)
class Assembly:
    """The messages of one conversation as plans, with times, compactions and usage."""

    plans: list[MessagePlan] = field(default_factory=list)
    times: list[datetime | None] = field(default_factory=list)
    compactions: list[RecordedCompaction] = field(default_factory=list)
    usage: list[RecordedUsage] = field(default_factory=list)

    def add(self, planned: _Planned) -> None:
        """Appends a message."""
        plan, time = planned
        self.plans.append(plan)
        self.times.append(time)


_Step: TypeAlias = _Answer | _Compaction | _Planned


def assemble(entries: Iterable[Entry]) -> Assembly:
    """The messages of `entries`, with the compactions and usage between them.

    An entry is let go as soon as its messages are planned, since those of a long session are much.
    """
    steps, assembly = _in_order(entries), Assembly()
    while steps:
        match step := steps.popleft():
            case _Answer():
                _add_answer(assembly, step)
            case _Compaction():
                assembly.compactions.append(_compaction(step, len(assembly.plans)))
            case _:
                assembly.add(step)
    return assembly


def _in_order(entries: Iterable[Entry]) -> deque[_Step]:
    """The steps that `entries` make up."""
    order = _Order()
    for entry in entries:
        match entry.kind:
            case "assistant":
                order.join_answer(entry)
            case "user":
                order.join_user(entry)
            case "boundary":
                order.steps.append(_Compaction(boundary=entry))
            case "summary":
                order.join_summary(entry)
    return order.steps


@dataclass(slots=True, kw_only=True)
class _Order:
    """The steps so far, and the answer that each line or result belongs to."""

    steps: deque[_Step] = field(default_factory=deque)
    by_message: dict[str, _Answer] = field(default_factory=dict)
    by_call: dict[str, _Answer] = field(default_factory=dict)

    def join_answer(self, entry: Entry) -> None:
        """Adds a line to the answer of the same id; without an id it is an answer of its own."""
        answer = self.by_message.get(entry.message_id or "")
        if answer is None:
            answer = _Answer()
            self.steps.append(answer)
        if entry.message_id:
            self.by_message[entry.message_id] = answer
        answer.lines.append(entry)
        self.by_call.update(dict.fromkeys(entry.call_ids, answer))

    def join_user(self, entry: Entry) -> None:
        """Adds the results in a record to the answers with their calls, then the user's message."""
        for nth, call_id in enumerate(entry.answered_ids):
            plan = MessagePlan(partial(_make_result, nth), (entry.source,))
            answer = self._calling(call_id)
            if answer is None:
                self.steps.append((plan, entry.recorded_at))
            else:
                answer.results.append((plan, entry.recorded_at))
        if entry.has_message:
            make = _make_note if entry.is_meta else _make_user
            self.steps.append((MessagePlan(make, (entry.source,)), entry.recorded_at))

    def join_summary(self, entry: Entry) -> None:
        """Completes the compaction whose boundary was just before, or adds one without."""
        last = self.steps[-1] if self.steps else None
        if not isinstance(last, _Compaction) or last.summary is not None:
            last = _Compaction(boundary=None)
            self.steps.append(last)
        last.summary = entry.text

    def _calling(self, call_id: str) -> _Answer | None:
        """The latest answer with this call; without an id the latest with an open call."""
        if call_id:
            return self.by_call.get(call_id)
        answers = (step for step in reversed(self.steps) if isinstance(step, _Answer))
        return next((answer for answer in answers if answer.has_open_calls), None)


def _add_answer(assembly: Assembly, answer: _Answer) -> None:
    if any(line.has_message for line in answer.lines):
        plan = MessagePlan(_make_answer, tuple(line.source for line in answer.lines))
        assembly.add((plan, answer.lines[0].recorded_at))
    # Output grows from line to line.
    usage = next((line.usage for line in reversed(answer.lines) if line.usage), None)
    if usage is not None:
        assembly.usage.append(replace(usage, after=max(len(assembly.plans) - 1, 0)))
    for result in answer.results:
        assembly.add(result)


def _compaction(step: _Compaction, at: int) -> RecordedCompaction:
    metadata = step.boundary.metadata if step.boundary and step.boundary.metadata else {}
    return RecordedCompaction(
        at=at,
        summary=step.summary or "",
        before_tokens=count_at(metadata, "preTokens"),
        trigger=text_at(metadata, "trigger"),
        recorded_at=step.boundary.recorded_at if step.boundary else None,
    )


def _make_answer(records: Sequence[JsonValue]) -> Message:
    return _made(answer_in(map(_content, records)))


def _make_user(records: Sequence[JsonValue]) -> Message:
    return _made(user_in(_content(records[0])))


def _make_note(records: Sequence[JsonValue]) -> Message:
    return _made(user_in(_content(records[0]), is_meta=True))


def _make_result(nth: int, records: Sequence[JsonValue]) -> Message:
    return tool_message(result_blocks(_content(records[0]))[nth])


def _content(record: JsonValue) -> JsonValue:
    return kind_and_content(record)[1] if isinstance(record, dict) else None


def _made(message: Message | None) -> Message:
    if message is None:
        raise ValueError("the file has changed since it was read")
    return message
