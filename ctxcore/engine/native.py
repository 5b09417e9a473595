"""Owns the file form of a session: JSON lines that hold all of it and come back unchanged.

The digest covers messages, marks, compactions, calls and settings, and neither ids nor times: an
export that is imported again has the same.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ctxcore.assembly.records import Compaction, to_plain, to_said
from ctxcore.assembly.verdicts import run_to_json
from ctxcore.messages.canonical import to_canonical
from ctxcore.messages.openai import to_full
from ctxcore.messages.values import JsonObject
from ctxcore.reasons.values import to_json
from ctxcore.store.values import (
    CallInfo,
    CompactionInfo,
    ImportedCompaction,
    Mark,
    MessageInfo,
    SessionInfo,
)

KIND = "ctxcore.session"
VERSION = 2

CALL_FIELDS = (
    "purpose",
    "is_imported",
    "model",
    "seq",
    "estimate",
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "cost",
    "latency_seconds",
    "error",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """Everything a session is."""

    session: SessionInfo
    messages: Sequence[MessageInfo]
    marks: Sequence[Mark]
    compactions: Sequence[CompactionInfo]
    calls: Sequence[CallInfo]
    imported: Sequence[ImportedCompaction]
    settings: JsonObject


def to_lines(whole: Whole) -> Iterator[str]:
    """The session as JSON lines, the digest of what they hold last."""
    yield to_canonical(_head(whole.session))
    for record in _records(whole):
        yield to_canonical(record)
    yield to_canonical({"type": "end", "digest": digest(whole)})


def digest(whole: Whole) -> str:
    """What a session holds, as a hash: equal for equal sessions, whatever their ids and times."""
    return digest_records(_records(whole))


def digest_records(records: Iterable[JsonObject]) -> str:
    """The digest of a session's records, whatever their times.

    Calls count in the order of their texts, since times and ids are what puts them in order.
    """
    texts: list[str] = []
    calls: list[str] = []
    for record in records:
        kept = {name: value for name, value in record.items() if name != "at"}
        (calls if record["type"] == "call" else texts).append(to_canonical(kept))
    whole = "".join(f"{text}\n" for text in (*texts, *sorted(calls)))
    return hashlib.sha256(whole.encode("utf-8")).hexdigest()


def _head(session: SessionInfo) -> JsonObject:
    return {
        "type": KIND,
        "version": VERSION,
        "title": session.title,
        "model": session.model,
        "origin": session.origin,
        "tools": list(session.tools),
        "created_at": session.created_at.isoformat(),
    }


def _records(whole: Whole) -> Iterator[JsonObject]:
    yield _settings(whole)
    for info in whole.messages:
        yield _message(info)
    for mark in sorted(whole.marks, key=lambda mark: (mark.seq, mark.kind)):
        yield {"type": "mark", "kind": mark.kind, "seq": mark.seq}
    yield from _compactions(whole)
    for imported in whole.imported:
        yield _imported(imported)
    for call in whole.calls:
        yield _call(call)


def _settings(whole: Whole) -> JsonObject:
    goal, said = whole.session.goal_seq, to_said(whole.session.working)
    settings: JsonObject = {"type": "settings", "overrides": whole.settings, "goal": goal}
    return {**settings, "working": said} if said else settings


def _message(info: MessageInfo) -> JsonObject:
    record: JsonObject = {"type": "message", "seq": info.seq, "message": to_full(info.message)}
    if info.short is not None:
        record["short"] = info.short
    return {**record, "at": info.created_at.isoformat()}


def _imported(imported: ImportedCompaction) -> JsonObject:
    at = imported.recorded_at
    return {
        "type": "imported_compaction",
        "before_seq": imported.before_seq,
        "summary": imported.summary,
        "before_tokens": imported.before_tokens,
        "trigger": imported.trigger,
        "at": at.isoformat() if at else None,
    }


def _compactions(whole: Whole) -> Iterator[JsonObject]:
    numbers = {info.id: info.number for info in whole.compactions}
    for info in sorted(whole.compactions, key=lambda info: info.number):
        yield {
            "type": "compaction",
            "number": info.number,
            "parent": numbers.get(info.parent_id or ""),
            "active": info.id == whole.session.active_compaction_id,
            "record": _record(info.compaction),
            "details": info.details,
            "at": info.created_at.isoformat(),
        }


def _record(compaction: Compaction) -> JsonObject:
    """The record as it is read again; what nobody looked for is left out."""
    record = to_plain(compaction)
    if compaction.facts_lost is None:
        del record["facts_lost"]
    return _plain(record)


def _call(call: CallInfo) -> JsonObject:
    raw = {name: getattr(call, name) for name in CALL_FIELDS}
    raw["estimate"] = dict(call.estimate)
    raw["error"] = None if call.error is None else to_json(call.error)
    runs = [run_to_json(run) for run in call.runs]
    return _plain({"type": "call", **raw, "runs": runs, "at": call.created_at.isoformat()})


def _plain(value: dict[str, Any]) -> JsonObject:
    """`value` with tuples as lists, as JSON has it."""
    return cast("JsonObject", json.loads(json.dumps(value)))
