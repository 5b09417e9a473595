"""Assembles the records of a Claude Code session into messages.

The lines of one answer become one message, with the results of its calls right behind it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Final, TypeAlias

from ctxcore.formats.claude_entries import Entry, kind_and_content
from ctxcore.formats.claude_messages import answer_in, result_blocks, user_in
from ctxcore.formats.fields import count_at, text_at
from ctxcore.formats.file_messages import MessagePlan
from ctxcore.formats.spool import Spool
from ctxcore.formats.values import USAGE_SIZE, RecordedCompaction, RecordedUsage
from ctxcore.messages.shapes.anthropic import tool_message
from ctxcore.messages.values import JsonValue, Message

_PLAN_SIZE: Final = 300  # bytes, measured


@dataclass(frozen=True, slots=True)
class _Place:
    """A message of an entry besides an answer."""

    entry: int
    """The entry's place."""
    result: int | None
    """Which of its results; None: what a user says in it."""


@dataclass(slots=True, kw_only=True)
class _Answer:
    """The entries of an answer, by their places, and the results of its calls."""

    lines: list[int] = field(default_factory=list)
    results: list[_Place] = field(default_factory=list)
    open_calls: int = 0
    """How many calls have no result yet."""


@dataclass(slots=True, kw_only=True)
class _Compaction:
    """A compaction; its summary is in the record after the boundary."""

    boundary: Entry | None
    summary: str | None = None


@dataclass(slots=True, kw_only=True)
class Assembly:
    """The messages of one conversation as plans, with times, compactions and usage."""

    plans: Spool[MessagePlan] = field(default_factory=Spool[MessagePlan])
    times: list[datetime | None] = field(default_factory=list)
    compactions: list[RecordedCompaction] = field(default_factory=list)
    usage: Spool[RecordedUsage] = field(default_factory=Spool[RecordedUsage])
    model: str | None = None
    """The one that the last call with usage names."""

    def add(self, plan: MessagePlan, time: datetime | None) -> None:
        """Appends a message."""
        self.plans.append(plan, size=_PLAN_SIZE)
        self.times.append(time)

    def add_usage(self, usage: RecordedUsage) -> None:
        """Appends what the provider counted for the answer whose messages were added last."""
        after = max(len(self.plans) - 1, 0)
        self.usage.append(replace(usage, after=after), size=USAGE_SIZE)
        self.model = usage.model or self.model


_Step: TypeAlias = _Answer | _Compaction | _Place


def assemble(entries: Sequence[Entry], branch: Iterable[int]) -> Assembly:
    """The messages of the entries at the places in `branch`, with what is between them.

    An answer is held by the places of its entries alone, since those of a long session are much.
    """
    steps, assembly = _in_order(entries, branch), Assembly()
    while steps:
        match step := steps.popleft():
            case _Answer():
                _add_answer(assembly, step, entries)
            case _Compaction():
                assembly.compactions.append(_compaction(step, len(assembly.plans)))
            case _Place():
                _add_message(assembly, step, entries)
    return assembly


def _in_order(entries: Sequence[Entry], branch: Iterable[int]) -> deque[_Step]:
    """The steps that the entries of a branch make up."""
    order = _Order()
    for place in branch:
        entry = entries[place]
        match entry.kind:
            case "assistant":
                order.join_answer(entry, place)
            case "user":
                order.join_user(entry, place)
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

    def join_answer(self, entry: Entry, place: int) -> None:
        """Adds a line to the answer of the same id; without an id it is an answer of its own."""
        answer = self.by_message.get(entry.message_id or "")
        if answer is None:
            answer = _Answer()
            self.steps.append(answer)
        if entry.message_id:
            self.by_message[entry.message_id] = answer
        answer.lines.append(place)
        answer.open_calls += entry.calls
        self.by_call.update(dict.fromkeys(entry.call_ids, answer))

    def join_user(self, entry: Entry, place: int) -> None:
        """Adds the results in a record to the answers with their calls, then the user's message."""
        for nth, call_id in enumerate(entry.answered_ids):
            result, answer = _Place(place, nth), self._calling(call_id)
            if answer is None:
                self.steps.append(result)
            else:
                answer.results.append(result)
                answer.open_calls -= 1
        if entry.has_message:
            self.steps.append(_Place(place, None))

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
        return next((answer for answer in answers if answer.open_calls > 0), None)


def _add_answer(assembly: Assembly, answer: _Answer, entries: Sequence[Entry]) -> None:
    lines = [entries[place] for place in answer.lines]
    if any(line.has_message for line in lines):
        plan = MessagePlan(_make_answer, tuple(line.source for line in lines))
        assembly.add(plan, lines[0].recorded_at)
    # Output grows from line to line.
    usage = next((line.usage for line in reversed(lines) if line.usage), None)
    if usage is not None:
        assembly.add_usage(usage)
    for result in answer.results:
        _add_message(assembly, result, entries)


def _add_message(assembly: Assembly, at: _Place, entries: Sequence[Entry]) -> None:
    entry = entries[at.entry]
    make = _make_note if entry.is_meta else _make_user
    if at.result is not None:
        make = partial(_make_result, at.result)
    assembly.add(MessagePlan(make, (entry.source,)), entry.recorded_at)


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
