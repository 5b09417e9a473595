"""Writes the file format of sessions: JSON lines with all their content and a digest.

The digest covers messages, marks, edits of rules, compactions, calls and settings, but no ids and
times: it is the same after an export and import.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

from ctxcore.assembly.prompts import changes_to_json
from ctxcore.assembly.records import Compaction, to_plain, working_state_to_json
from ctxcore.assembly.verdicts import run_to_json
from ctxcore.exports.values import ExportForm, SessionContent, one_file_each
from ctxcore.formats.native import KIND
from ctxcore.messages.canonical import to_canonical, to_ordered
from ctxcore.messages.openai import to_full
from ctxcore.messages.values import JsonObject, JsonValue
from ctxcore.reasons.values import to_json
from ctxcore.store.values import (
    CallInfo,
    CompactionInfo,
    ImportedCompaction,
    MessageInfo,
    RuleEditInfo,
    SignalInfo,
)

VERSION = 2

REQUEST_FIELDS = (
    "digest",
    "counter_id",
    "count_factor",
    "is_comparable",
    "recipe",
    "cache_hour_tokens",
    "without_tokens",
    "cleared_parts",
    "cleared_tokens",
)
"""The fields of a call that are left out where they are not known."""

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


def to_lines(content: SessionContent) -> Iterator[str]:
    """The session as JSON lines; the last one has the digest of the others."""
    yield to_ordered(_head(content))  # keys of tool definitions as they are sent
    for record in _records(content):
        yield to_canonical(record)
    yield to_canonical({"type": "end", "digest": digest(content)})


def digest(content: SessionContent) -> str:
    """A hash of a session's content, without ids and times."""
    return digest_records(_records(content))


def digest_records(records: Iterable[JsonObject]) -> str:
    """The hash of a session's records, without times.

    Calls are sorted by their texts, since their stored order depends on times and ids.
    """
    texts: list[str] = []
    calls: list[str] = []
    for record in records:
        kept = {name: value for name, value in record.items() if name != "at"}
        (calls if record["type"] == "call" else texts).append(to_canonical(kept))
    lines = "".join(f"{text}\n" for text in (*texts, *sorted(calls)))
    return hashlib.sha256(lines.encode("utf-8")).hexdigest()


def _head(content: SessionContent) -> JsonObject:
    session = content.session
    head: JsonObject = {
        "type": KIND,
        "version": VERSION,
        "title": session.title,
        "model": session.model,
        "origin": session.origin,
        "tools": list(session.tools),
        "created_at": session.created_at.isoformat(),
    }
    if content.damage:
        head["damage"] = [to_json(reason) for reason in content.damage]
    return {**head, "cost": content.cost.document()} if content.cost else head


def _records(content: SessionContent) -> Iterator[JsonObject]:
    yield _settings(content)
    for info in content.messages:
        yield _message(info)
    for mark in sorted(content.marks, key=lambda mark: (mark.seq, mark.kind)):
        yield {"type": "mark", "kind": mark.kind, "seq": mark.seq}
    for edit in content.rule_edits:
        yield _rule_edit(edit)
    yield from _compactions(content)
    for imported in content.imported:
        yield _imported(imported)
    for address in sorted(content.texts):
        yield {"type": "sent_text", "address": address, "body": content.texts[address]}
    for call in content.calls:
        yield _call(call)
    for signal in content.signals:
        yield _signal(signal, content.compactions)


def _settings(content: SessionContent) -> JsonObject:
    goal, working = content.session.goal_seq, working_state_to_json(content.session.working)
    settings: JsonObject = {"type": "settings", "overrides": content.settings, "goal": goal}
    if working:
        settings["working"] = working
    if changes := content.session.system_changes:
        settings["system_changes"] = list[JsonValue](changes_to_json(changes))
    return settings


def _message(info: MessageInfo) -> JsonObject:
    record: JsonObject = {"type": "message", "seq": info.seq, "message": to_full(info.message)}
    if info.short is not None:
        record["short"] = info.short
    return {**record, "at": info.created_at.isoformat()}


def _rule_edit(edit: RuleEditInfo) -> JsonObject:
    said: JsonObject = {"kind": edit.kind, "seq": edit.seq, "text": edit.text}
    return {"type": "rule_edit", **said, "by": edit.set_by, "at": edit.set_at.isoformat()}


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


def _compactions(content: SessionContent) -> Iterator[JsonObject]:
    numbers = {info.id: info.number for info in content.compactions}
    for info in sorted(content.compactions, key=lambda info: info.number):
        yield {
            "type": "compaction",
            "number": info.number,
            "parent": numbers.get(info.parent_id or ""),
            "active": info.id == content.session.active_compaction_id,
            "record": _record(info.compaction),
            "details": info.details,
            "at": info.created_at.isoformat(),
        }


def _record(compaction: Compaction) -> JsonObject:
    """The record as JSON; what earlier versions did not look for is left out where it is empty."""
    record = to_plain(compaction)
    for name in ("facts_restored", "lineage"):
        if not record[name]:
            del record[name]
    if compaction.facts_lost is None:
        del record["facts_lost"]
    return _plain(record)


def _call(call: CallInfo) -> JsonObject:
    raw = {name: getattr(call, name) for name in CALL_FIELDS}
    raw["estimate"] = dict(call.estimate)
    raw["error"] = None if call.error is None else to_json(call.error)
    if call.cache_break is not None:
        raw["cache_break"] = to_json(call.cache_break)
    raw |= {name: known for name in REQUEST_FIELDS if (known := getattr(call, name)) is not None}
    runs = [run_to_json(run) for run in call.runs]
    return _plain({"type": "call", **raw, "runs": runs, "at": call.created_at.isoformat()})


def _signal(signal: SignalInfo, compactions: Sequence[CompactionInfo]) -> JsonObject:
    numbers = {info.id: info.number for info in compactions}
    return {
        "type": "signal",
        "seq": signal.seq,
        "kind": signal.kind,
        "earlier": list[JsonValue](signal.earlier),
        "verdict": signal.verdict,
        "compaction": numbers.get(signal.compaction_id or ""),
        "right": signal.is_right,
        "at": signal.created_at.isoformat(),
    }


def _plain(value: dict[str, Any]) -> JsonObject:
    """`value` with tuples as lists, as JSON has it."""
    return cast("JsonObject", json.loads(json.dumps(value)))


def _text(content: SessionContent) -> str:
    return "".join(f"{line}\n" for line in to_lines(content))


NATIVE = ExportForm(
    name="native",
    suffix=".jsonl",
    media_type="application/x-ndjson",
    write=one_file_each(_text),
)
