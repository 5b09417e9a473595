"""Builders for Claude Code sessions: each returns one record, `jsonl` the file they make."""

from __future__ import annotations

import json

from ctxcore.formats.reading import parse_transcripts
from ctxcore.formats.values import Transcript
from ctxcore.messages.values import JsonObject, JsonValue

SESSION = "session-1"


def prompt(uuid: str, parent: str | None, content: JsonValue, **extra: JsonValue) -> JsonObject:
    """A record of a user."""
    message: JsonObject = {"role": "user", "content": content}
    return _record("user", uuid, parent, message=message, **extra)


def answer(
    uuid: str,
    parent: str | None,
    message_id: str | None,
    *blocks: JsonValue,
    usage: JsonObject | None = None,
    model: str = "claude-test",
    **extra: JsonValue,
) -> JsonObject:
    """One line of an assistant's answer."""
    message: JsonObject = {"role": "assistant", "model": model, "content": list(blocks)}
    if message_id is not None:
        message["id"] = message_id
    if usage is not None:
        message["usage"] = usage
    return _record("assistant", uuid, parent, message=message, **extra)


def result(uuid: str, parent: str | None, *answers: tuple[str, JsonValue]) -> JsonObject:
    """A record with tool results."""
    blocks: list[JsonValue] = [
        {"type": "tool_result", "tool_use_id": call_id, "content": content}
        for call_id, content in answers
    ]
    return prompt(uuid, parent, blocks)


def boundary(uuid: str, before: str) -> JsonObject:
    """The mark a compaction leaves."""
    about: JsonObject = {"trigger": "auto", "preTokens": 150_000}
    kind: JsonObject = {"subtype": "compact_boundary", "logicalParentUuid": before}
    return _record("system", uuid, None, compactMetadata=about, **kind)


def other(kind: str, uuid: str, parent: str | None, **extra: JsonValue) -> JsonObject:
    """A record of any other type."""
    return _record(kind, uuid, parent, **extra)


def text(words: str) -> JsonObject:
    """A text block."""
    return {"type": "text", "text": words}


def call(call_id: str, name: str = "Read", **arguments: JsonValue) -> JsonObject:
    """A tool_use block."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def usage(new: int, *, read: int = 0, write: int = 0, out: int = 1) -> JsonObject:
    """Usage as the provider reports it."""
    return {
        "input_tokens": new,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": write,
        "output_tokens": out,
    }


def jsonl(*records: JsonValue) -> str:
    """The records, one a line."""
    return "\n".join(json.dumps(record) for record in records) + "\n"


def read(*records: JsonValue) -> Transcript:
    """The first transcript of the file these records make."""
    return parse_transcripts(jsonl(*records), name="session.jsonl")[0]


def shape(transcript: Transcript) -> list[str]:
    """Each message as `role: text`, or `role(answered id): text`."""
    return [
        f"{message.role}{f'({message.answers})' if message.answers else ''}: {message.text}"
        for message in transcript.messages
    ]


def _record(kind: str, uuid: str, parent: str | None, **fields: JsonValue) -> JsonObject:
    return {
        "type": kind,
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": SESSION,
        "isSidechain": False,
        "timestamp": "2026-03-01T10:00:00.000Z",
        **fields,
    }
