"""Writes sessions as Claude Code records them: one record a line, each naming the one before.

System prompts, which Claude Code sets itself, are records that it shows and does not send.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final
from uuid import UUID, uuid5

from ctxcore.exports.compactions import PlacedCompaction, placed_compactions
from ctxcore.exports.values import ExportForm, SessionContent, applying, one_file_each
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.canonical import to_ordered
from ctxcore.messages.shapes.reading import write_messages
from ctxcore.messages.values import Message, Reasoning
from ctxcore.store.values import CallInfo, MessageInfo

_IDS: Final = UUID("6f0f8c2e-3b0a-5d57-9d1f-5a3c0c7d2b11")  # of this form; any fixed one will do
_VERSION: Final = "2.1.0"  # of the program whose records these are like
_NOTE: Final = '"is_meta":true'


def _text(content: SessionContent) -> str:
    return "".join(f"{to_ordered(record)}\n" for record in _Log(content).records())


class _Log:
    """The records of one session in their order; the ids are the same at every export."""

    def __init__(self, content: SessionContent) -> None:
        self._content = content
        self._last: str | None = None
        self._made = 0
        self._usage = _usage_by_seq(content)

    def records(self) -> Iterator[JsonObject]:
        session = self._content.session
        if session.title:
            yield {
                "type": "custom-title",
                "customTitle": session.title,
                "sessionId": session.id,
            }
        waiting = placed_compactions(self._content)
        for info in applying(self._content):
            while waiting and waiting[0].before_seq <= info.seq:
                yield from self._compaction(waiting.pop(0), info.created_at)
            yield self._message(info)
        for compaction in waiting:
            yield from self._compaction(compaction, session.updated_at)

    def _message(self, info: MessageInfo) -> JsonObject:
        message = info.message
        if message.is_system:
            said: JsonObject = {"subtype": "informational", "content": message.text}
            return self._record("system", said, info.created_at)
        blocks = _blocks(message)
        if message.role == "assistant":
            answer = self._answer(info, blocks)
            return self._record("assistant", {"message": answer}, info.created_at)
        beside: JsonObject = {"isMeta": True} if message.extra and _NOTE in message.extra else {}
        beside["message"] = {"role": "user", "content": blocks}
        return self._record("user", beside, info.created_at)

    def _answer(self, info: MessageInfo, blocks: JsonValue) -> JsonObject:
        call = self._usage.get(info.seq)
        model = (call.model if call else None) or self._content.session.model
        answer: JsonObject = {
            "id": f"msg_{self._id(f'answer {info.seq}').hex}",
            "type": "message",
            "role": "assistant",
            "content": blocks,
        }
        if model:
            answer["model"] = model
        return {**answer, "usage": _usage(call)} if call else answer

    def _compaction(self, compaction: PlacedCompaction, at: datetime) -> Iterator[JsonObject]:
        """The boundary and, where there is one, the summary, which is what is sent on."""
        at = compaction.recorded_at or at
        metadata: JsonObject = {"trigger": compaction.trigger or "auto"}
        if compaction.before_tokens is not None:
            metadata["preTokens"] = compaction.before_tokens
        before = self._last
        boundary: JsonObject = {
            "subtype": "compact_boundary",
            "content": "Conversation compacted",
            "compactMetadata": metadata,
        }
        record = self._record("system", boundary, at)
        yield {**record, "parentUuid": None, "logicalParentUuid": before}
        if compaction.summary.strip():
            said: JsonObject = {"role": "user", "content": compaction.summary}
            yield self._record("user", {"isCompactSummary": True, "message": said}, at)

    def _record(self, kind: str, beside: JsonObject, at: datetime) -> JsonObject:
        own = str(self._id(f"record {self._made}"))
        record: JsonObject = {
            "type": kind,
            "uuid": own,
            "parentUuid": self._last,
            "sessionId": self._content.session.id,
            "isSidechain": False,
            "userType": "external",
            "cwd": "",
            "version": _VERSION,
            "timestamp": at.isoformat(),
            **beside,
        }
        self._last = own
        self._made += 1
        return record

    def _id(self, name: str) -> UUID:
        return uuid5(_IDS, f"{self._content.session.id} {name}")


def _blocks(message: Message) -> JsonValue:
    """The content of a message as Claude's blocks, with thinking that is not signed too."""
    thinking: list[JsonValue] = [
        {"type": "thinking", "thinking": part.text, "signature": ""}
        for part in message.content
        if isinstance(part, Reasoning) and part.raw is None and part.text.strip()
    ]
    [written] = write_messages([message], "anthropic")
    blocks = written["content"]
    return [*thinking, *blocks] if isinstance(blocks, list) else blocks


def _usage_by_seq(content: SessionContent) -> Mapping[int, CallInfo]:
    """For each answer the call that it came from, where the provider reported its usage."""
    calls = (call for call in content.calls if call.purpose == "answer")
    return {call.seq: call for call in calls if call.seq and call.input_tokens is not None}


def _usage(call: CallInfo) -> JsonObject:
    read, written = call.cached_tokens or 0, call.cache_write_tokens or 0
    hour = call.cache_hour_tokens or 0
    return {
        "input_tokens": max((call.input_tokens or 0) - read - written, 0),
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        "cache_creation": {
            "ephemeral_5m_input_tokens": max(written - hour, 0),
            "ephemeral_1h_input_tokens": hour,
        },
        "output_tokens": call.output_tokens or 0,
    }


CLAUDE_CODE = ExportForm(
    name="claude-code",
    suffix=".jsonl",
    media_type="application/x-ndjson",
    write=one_file_each(_text),
)
