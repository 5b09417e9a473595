"""Owns putting a session's entries in the order a provider accepts.

The lines of one answer become one assistant message, and the results of its calls follow it, even
where the file has other lines in between.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from ctxcore.formats.claude_blocks import assistant_message, content_text, user_message
from ctxcore.formats.claude_entries import Entry
from ctxcore.formats.fields import count_at, object_at, text_at
from ctxcore.formats.values import RecordedCompaction, RecordedUsage
from ctxcore.messages.shapes.anthropic import result_blocks, tool_message
from ctxcore.messages.values import JsonValue, Message

_Timed: TypeAlias = tuple[Message, datetime | None]


@dataclass(slots=True, kw_only=True)
class _Answer:
    """An answer while its lines and the results of its calls come in."""

    lines: list[Entry] = field(default_factory=list)
    results: list[_Timed] = field(default_factory=list)

    @property
    def waits(self) -> bool:
        """Whether a call has no result yet."""
        return sum(len(line.blocks("tool_use")) for line in self.lines) > len(self.results)


@dataclass(slots=True, kw_only=True)
class _Compaction:
    """A compaction while its summary, the record after it, is awaited."""

    boundary: Entry | None
    summary: str | None = None


@dataclass(slots=True, kw_only=True)
class Assembly:
    """What the entries of one conversation come to."""

    messages: list[Message] = field(default_factory=list)
    times: list[datetime | None] = field(default_factory=list)
    compactions: list[RecordedCompaction] = field(default_factory=list)
    usage: list[RecordedUsage] = field(default_factory=list)

    def add(self, message: Message, time: datetime | None) -> None:
        """Append a message."""
        self.messages.append(message)
        self.times.append(time)


_Step: TypeAlias = _Answer | _Compaction | _Timed


def assemble(entries: Iterable[Entry]) -> Assembly:
    """The messages of `entries`, with the compactions and usage that lie between them."""
    assembly = Assembly()
    for step in _steps(entries):
        match step:
            case _Answer():
                _add_answer(assembly, step)
            case _Compaction():
                assembly.compactions.append(_compaction(step, len(assembly.messages)))
            case (message, time):
                assembly.add(message, time)
    return assembly


def _steps(entries: Iterable[Entry]) -> list[_Step]:
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
    """The steps so far, and which answer a line or a result belongs to."""

    steps: list[_Step] = field(default_factory=list)
    by_message: dict[str, _Answer] = field(default_factory=dict)
    by_call: dict[str, _Answer] = field(default_factory=dict)

    def join_answer(self, entry: Entry) -> None:
        """Add a line to the answer whose id it carries; without an id it is one of its own."""
        answer = self.by_message.get(entry.message_id or "")
        if answer is None:
            answer = _Answer()
            self.steps.append(answer)
        if entry.message_id:
            self.by_message[entry.message_id] = answer
        answer.lines.append(entry)
        self.by_call.update(dict.fromkeys(entry.call_ids, answer))

    def join_user(self, entry: Entry) -> None:
        """Add the results in a record to the answers that asked for them, then its words."""
        for block in result_blocks(entry.content):
            result = (tool_message(block), entry.recorded_at)
            asked = self._asking(text_at(block, "tool_use_id"))
            if asked is None:
                self.steps.append(result)
            else:
                asked.results.append(result)
        said = user_message(entry.content, is_meta=entry.is_meta)
        if said is not None:
            self.steps.append((said, entry.recorded_at))

    def join_summary(self, entry: Entry) -> None:
        """Complete the compaction whose boundary was just before, or note one without."""
        last = self.steps[-1] if self.steps else None
        if not isinstance(last, _Compaction) or last.summary is not None:
            last = _Compaction(boundary=None)
            self.steps.append(last)
        last.summary = content_text(entry.content)

    def _asking(self, call_id: str | None) -> _Answer | None:
        """The latest answer that made this call; without an id the latest that still waits."""
        if call_id is not None:
            return self.by_call.get(call_id)
        answers = (step for step in reversed(self.steps) if isinstance(step, _Answer))
        return next((answer for answer in answers if answer.waits), None)


def _add_answer(assembly: Assembly, answer: _Answer) -> None:
    blocks: list[JsonValue] = []
    for line in answer.lines:
        blocks += line.content if isinstance(line.content, list) else [line.content]
    message = assistant_message(blocks)
    if message is not None:
        assembly.add(message, answer.lines[0].recorded_at)
    after = max(len(assembly.messages) - 1, 0)
    usage = _usage(answer.lines, after)
    if usage is not None:
        assembly.usage.append(usage)
    for result, time in answer.results:
        assembly.add(result, time)


def _compaction(step: _Compaction, at: int) -> RecordedCompaction:
    record = step.boundary.record if step.boundary else {}
    about = object_at(record, "compactMetadata")
    return RecordedCompaction(
        at=at,
        summary=step.summary or "",
        before_tokens=count_at(about, "preTokens"),
        trigger=text_at(about, "trigger"),
        recorded_at=step.boundary.recorded_at if step.boundary else None,
    )


def _usage(lines: list[Entry], after: int) -> RecordedUsage | None:
    """The usage of one answer: its last line's, as output grows from line to line."""
    last = next((line for line in reversed(lines) if _reported(line)), None)
    if last is None:
        return None
    reported = _reported(last)
    message = object_at(last.record, "message")
    return RecordedUsage(
        call_id=last.message_id or text_at(last.record, "requestId", "uuid") or "",
        after=after,
        input_tokens=count_at(reported, "input_tokens") or 0,
        cache_read_tokens=count_at(reported, "cache_read_input_tokens") or 0,
        cache_write_tokens=count_at(reported, "cache_creation_input_tokens") or 0,
        output_tokens=count_at(reported, "output_tokens") or 0,
        model=text_at(message, "model"),
        recorded_at=last.recorded_at,
    )


def _reported(line: Entry) -> dict[str, object]:
    return dict(object_at(object_at(line.record, "message"), "usage"))
