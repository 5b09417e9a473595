"""Owns the file form of a session: JSON lines that hold all of it and come back unchanged.

The digest covers messages, marks, compactions, calls and settings, and neither ids nor times: an
export that is imported again has the same.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any, cast

from ctxcore.assembly.records import Compaction
from ctxcore.assembly.verdicts import Run
from ctxcore.engine.errors import ImportRefusedError
from ctxcore.errors import MessageError
from ctxcore.messages.canonical import to_canonical
from ctxcore.messages.openai import parse_message, to_full
from ctxcore.messages.values import JsonObject, JsonValue, Message
from ctxcore.store.values import CallInfo, CompactionInfo, Mark, MessageInfo, SessionInfo

KIND = "ctxcore.session"
VERSION = 1

_CALL_FIELDS = (
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
    settings: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeFile:
    """A parsed export, checked and ready to be written."""

    head: JsonObject
    messages: tuple[Message, ...]
    shorts: tuple[str | None, ...]
    times: tuple[datetime | None, ...]
    marks: tuple[tuple[str, int], ...]
    compactions: tuple[tuple[int | None, Compaction, JsonObject, bool], ...]
    """Parent's number, record, details, whether it is active; in the order they were made."""
    calls: tuple[JsonObject, ...]
    settings: JsonObject


def to_lines(whole: Whole) -> Iterator[str]:
    """The session as JSON lines, the digest of what they hold last."""
    yield to_canonical(_head(whole.session))
    for record in _records(whole, with_times=True):
        yield to_canonical(record)
    yield to_canonical({"type": "end", "digest": digest(whole)})


def digest(whole: Whole) -> str:
    """What a session holds, as a hash: equal for equal sessions, whatever their ids and times."""
    sha = hashlib.sha256()
    for record in _records(whole, with_times=False):
        sha.update(to_canonical(record).encode("utf-8"))
        sha.update(b"\n")
    return sha.hexdigest()


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


def _records(whole: Whole, *, with_times: bool) -> Iterator[JsonObject]:
    yield {"type": "settings", "overrides": whole.settings}
    for info in whole.messages:
        yield _message(info, with_times=with_times)
    for mark in sorted(whole.marks, key=lambda mark: (mark.seq, mark.kind)):
        yield {"type": "mark", "kind": mark.kind, "seq": mark.seq}
    yield from _compactions(whole)
    for call in whole.calls:
        yield _call(call)


def _message(info: MessageInfo, *, with_times: bool) -> JsonObject:
    record: JsonObject = {"type": "message", "seq": info.seq, "message": to_full(info.message)}
    if info.short is not None:
        record["short"] = info.short
    if with_times:
        record["at"] = info.created_at.isoformat()
    return record


def _compactions(whole: Whole) -> Iterator[JsonObject]:
    numbers = {info.id: info.number for info in whole.compactions}
    for info in sorted(whole.compactions, key=lambda info: info.number):
        yield {
            "type": "compaction",
            "number": info.number,
            "parent": numbers.get(info.parent_id or ""),
            "active": info.id == whole.session.active_compaction_id,
            "record": _plain(asdict(info.compaction)),
            "details": info.details,
        }


def _call(call: CallInfo) -> JsonObject:
    raw = {name: getattr(call, name) for name in _CALL_FIELDS}
    raw["estimate"] = dict(call.estimate)
    runs = [[getattr(run, field.name) for field in fields(Run)] for run in call.runs]
    return _plain({"type": "call", **raw, "runs": runs})


def _plain(value: dict[str, Any]) -> JsonObject:
    """`value` with tuples as lists, as JSON has it."""
    return cast("JsonObject", json.loads(json.dumps(value)))


def is_native(text: str) -> bool:
    """Whether `text` is an export of this library."""
    return text.lstrip().startswith("{") and KIND in text.lstrip()[:4_000].split("\n", 1)[0]


def parse_native(text: str, *, name: str) -> NativeFile:
    """The session in `text`, wholly checked before anything is written.

    Raises:
        ImportRefusedError: a line is broken, of a later version, or missing; it names the line.
    """
    records = list(_lines(text, name))
    if not records or records[0][1].get("type") != KIND:
        raise ImportRefusedError(place=name, problem=f"is no export: no {KIND!r} line comes first")
    head = records[0][1]
    if head.get("version") != VERSION:
        found = head.get("version")
        raise ImportRefusedError(
            place=f"{name}, line 1", problem=f"version {found!r} is not read, only {VERSION}"
        )
    if records[-1][1].get("type") != "end":
        raise ImportRefusedError(
            place=name, problem="ends before its last line; the file was cut short"
        )
    return _to_file(head, records[1:-1], name)


def _lines(text: str, name: str) -> Iterator[tuple[int, JsonObject]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            raise ImportRefusedError(
                place=f"{name}, line {number}", problem=f"is not JSON: {error}"
            ) from error
        if not isinstance(record, dict):
            raise ImportRefusedError(place=f"{name}, line {number}", problem="is not an object")
        yield number, record


def _to_file(head: JsonObject, records: Sequence[tuple[int, JsonObject]], name: str) -> NativeFile:
    kinds: dict[str, list[JsonObject]] = {}
    for number, record in records:
        try:
            kind, parsed = _checked(record)
        except (KeyError, TypeError, ValueError, MessageError) as error:
            place = f"{name}, line {number}"
            raise ImportRefusedError(place=place, problem=f"cannot be read: {error}") from error
        kinds.setdefault(kind, []).append(parsed)
    said = cast("list[dict[str, Any]]", kinds.get("message", []))
    settings = kinds.get("settings", [{}])[0].get("overrides")
    return NativeFile(
        head=head,
        messages=tuple(raw["parsed"] for raw in said),
        shorts=tuple(raw.get("short") for raw in said),
        times=tuple(raw["time"] for raw in said),
        marks=tuple((str(raw["kind"]), cast("int", raw["seq"])) for raw in kinds.get("mark", [])),
        compactions=tuple(_to_compactions(kinds.get("compaction", []))),
        calls=tuple(kinds.get("call", [])),
        settings=settings if isinstance(settings, dict) else {},
    )


def _checked(record: JsonObject) -> tuple[str, JsonObject]:
    kind = str(record["type"])
    if kind == "message":
        raw = record["message"]
        if not isinstance(raw, dict):
            raise ValueError("the message is not an object")
        parsed: dict[str, Any] = {**record, "parsed": parse_message(raw)}
        parsed["time"] = parse_time(record.get("at"))
        return kind, cast("JsonObject", parsed)
    if kind == "compaction":
        to_compaction(record["record"])
    return kind, record


def _to_compactions(
    records: Iterable[JsonObject],
) -> Iterator[tuple[int | None, Compaction, JsonObject, bool]]:
    for record in records:
        parent, details = record.get("parent"), record.get("details")
        yield (
            parent if isinstance(parent, int) else None,
            to_compaction(record["record"]),
            details if isinstance(details, dict) else {},
            record.get("active") is True,
        )


def to_compaction(raw: JsonValue) -> Compaction:
    """The record that `raw` holds; fields of later versions are refused.

    Raises:
        ValueError: it is no record.
    """
    if not isinstance(raw, dict):
        raise ValueError("the record is not an object")
    values = cast("dict[str, Any]", dict(raw))
    for name in ("kept", "pins", "strategies"):
        values[name] = tuple(values.get(name, ()))
    values["shortened"] = tuple((int(seq), str(text)) for seq, text in values.get("shortened", ()))
    return Compaction(**values)


def to_call(raw: JsonObject, *, call_id: str, session_id: str, at: datetime) -> CallInfo:
    """The call that an exported line describes."""
    values = cast("dict[str, Any]", {name: raw.get(name) for name in _CALL_FIELDS})
    runs = cast("list[list[Any]]", raw.get("runs") or [])
    names = [field.name for field in fields(Run)]
    values["runs"] = tuple(Run(**dict(zip(names, run, strict=True))) for run in runs)
    values["estimate"] = values["estimate"] or {}
    values["is_imported"] = bool(values["is_imported"])
    return CallInfo(id=call_id, session_id=session_id, created_at=at, **values)


def parse_time(value: object) -> datetime | None:
    """The aware time that an ISO text gives; None where there is none."""
    if not isinstance(value, str):
        return None
    time = datetime.fromisoformat(value)
    return time if time.tzinfo else time.replace(tzinfo=UTC)
