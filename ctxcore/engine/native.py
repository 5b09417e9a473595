"""Owns the file form of a session: JSON lines that hold all of it and come back unchanged.

The digest covers messages, marks, compactions, calls and settings, and neither ids nor times: an
export that is imported again has the same.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

from ctxcore.assembly.records import (
    NOTHING_SAID,
    Compaction,
    WorkingState,
    from_said,
    parse_reason,
    to_plain,
    to_said,
)
from ctxcore.assembly.verdicts import run_from_json, run_to_json
from ctxcore.engine.errors import ImportRefusedError
from ctxcore.errors import ContextError, UnreadableError
from ctxcore.messages.canonical import to_canonical
from ctxcore.messages.openai import parse_message, to_full
from ctxcore.messages.values import JsonObject, JsonValue, Message
from ctxcore.migrations import legacy_reasons
from ctxcore.policy.layers import to_policy
from ctxcore.policy.names import without_removed
from ctxcore.reasons.foreign import reason_of
from ctxcore.reasons.places import in_file
from ctxcore.reasons.storage_problems import ExportProblem, FileProblem
from ctxcore.reasons.values import raw_fact, to_json
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


IN_WORDS = 1
"""The version that told reasons in English words; its digest is of those."""

# What a line that is JSON but no record of ours makes the parsers raise.
_UNREADABLE = (KeyError, TypeError, ValueError, AttributeError, RecursionError, ContextError)


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
    imported: tuple[ImportedCompaction, ...]
    settings: JsonObject
    goal_seq: int | None
    working: WorkingState


def is_native(text: str) -> bool:
    """Whether `text` is an export of this library."""
    first = text.lstrip("\ufeff \t\r\n").partition("\n")[0]
    if KIND not in first:
        return False
    try:
        head = json.loads(first)
    except ValueError:
        return False
    return isinstance(head, dict) and head.get("type") == KIND


def parse_native(text: str, *, name: str) -> NativeFile:
    """The session in `text`, wholly checked before anything is written.

    Raises:
        ImportRefusedError: a line is broken, of a later version, or missing; it names the line.
    """
    records = list(_lines(text, name))
    if not records or records[0][1].get("type") != KIND:
        raise ImportRefusedError(place=in_file(name), problem=ExportProblem.NO_HEAD(kind=KIND))
    head = records[0][1]
    found = head.get("version")
    if type(found) is not int or found not in (IN_WORDS, VERSION):
        raise ImportRefusedError(
            place=in_file(name, 1),
            problem=ExportProblem.VERSION(version=raw_fact(found), known=(IN_WORDS, VERSION)),
        )
    end = records[-1][1]
    if end.get("type") != "end":
        raise ImportRefusedError(place=in_file(name), problem=ExportProblem.CUT())
    inner = records[1:-1]
    is_whole = end.get("digest") in (None, digest_records(record for _, record in inner))
    file = _to_file(head, inner, name)
    if not is_whole:
        raise ImportRefusedError(place=in_file(name), problem=ExportProblem.DIGEST())
    return file


def _lines(text: str, name: str) -> Iterator[tuple[int, JsonObject]]:
    # Not splitlines(): a message may hold U+2028 and the like as they are.
    for number, line in enumerate(text.lstrip("\ufeff").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            problem = FileProblem.NOT_JSON(reason=reason_of(error))
            raise ImportRefusedError(place=in_file(name, number), problem=problem) from error
        if not isinstance(record, dict):
            place = in_file(name, number)
            raise ImportRefusedError(place=place, problem=ExportProblem.NO_OBJECT())
        yield number, record


def _to_file(head: JsonObject, records: Sequence[tuple[int, JsonObject]], name: str) -> NativeFile:
    parsed, in_words = _Parsed(), head["version"] == IN_WORDS
    for number, record in records:
        try:
            parsed.add(legacy_reasons.exported(record) if in_words else record)
        except _UNREADABLE as error:
            problem = FileProblem.UNREADABLE(reason=reason_of(error))
            raise ImportRefusedError(place=in_file(name, number), problem=problem) from error
    if parsed.goal_seq is not None and not 0 < parsed.goal_seq <= len(parsed.messages):
        problem = ExportProblem.NO_GOAL(number=parsed.goal_seq)
        raise ImportRefusedError(place=in_file(name), problem=problem)
    return parsed.file(head)


class _Parsed:
    """The records read so far; each may only name messages and compactions before it."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.shorts: list[str | None] = []
        self.times: list[datetime | None] = []
        self.marks: list[tuple[str, int]] = []
        self.compactions: list[tuple[int | None, Compaction, JsonObject, bool]] = []
        self.calls: list[JsonObject] = []
        self.imported: list[ImportedCompaction] = []
        self.settings: JsonObject = {}
        self.goal_seq: int | None = None
        self.working = NOTHING_SAID

    def add(self, record: JsonObject) -> None:
        """Takes a record in, checked.

        Raises:
            One of `_UNREADABLE`: it is not what its type says.
        """
        readers: dict[str, Callable[[JsonObject], None]] = {
            "settings": self._settings,
            "message": self._message,
            "mark": self._mark,
            "compaction": self._compaction,
            "imported_compaction": self._imported,
            "call": self._call,
        }
        kind = record["type"]
        if kind not in readers:
            raise UnreadableError(ExportProblem.UNKNOWN_KIND(kind=raw_fact(kind)))
        readers[str(kind)](record)

    def file(self, head: JsonObject) -> NativeFile:
        """All of it."""
        return NativeFile(
            head=head,
            messages=tuple(self.messages),
            shorts=tuple(self.shorts),
            times=tuple(self.times),
            marks=tuple(self.marks),
            compactions=tuple(self.compactions),
            calls=tuple(self.calls),
            imported=tuple(self.imported),
            settings=self.settings,
            goal_seq=self.goal_seq,
            working=self.working,
        )

    def _settings(self, record: JsonObject) -> None:
        overrides, goal = record.get("overrides"), record.get("goal")
        self.settings = overrides if isinstance(overrides, dict) else {}
        to_policy(without_removed(self.settings)[0])  # stored as it is, and told when it is read
        self.goal_seq = None if goal is None else _whole(goal)
        self.working = from_said(record.get("working", {}))

    def _message(self, record: JsonObject) -> None:
        raw, short = record["message"], record.get("short")
        if not isinstance(raw, dict):
            raise UnreadableError(ExportProblem.NO_MESSAGE())
        if record.get("seq") != len(self.messages) + 1:
            missing = len(self.messages) + 1
            raise UnreadableError(ExportProblem.MESSAGE_BEFORE(number=missing))
        self.messages.append(parse_message(raw))
        self.shorts.append(None if short is None else _text(short))
        self.times.append(parse_time(record.get("at")))

    def _mark(self, record: JsonObject) -> None:
        kind = record["kind"]
        if kind not in ("pin", "exclude"):
            raise UnreadableError(ExportProblem.MARK(kind=raw_fact(kind)))
        self.marks.append((str(kind), self._place(record["seq"])))

    def _compaction(self, record: JsonObject) -> None:
        parent, details = record.get("parent"), record.get("details")
        made = to_compaction(record["record"])
        if made.last_seq > len(self.messages):
            raise UnreadableError(ExportProblem.KNOWS(number=made.last_seq))
        if parent is not None and not 0 < _whole(parent) <= len(self.compactions):
            raise UnreadableError(ExportProblem.PARENT(id=raw_fact(parent)))
        known = details if isinstance(details, dict) else {}
        number = None if parent is None else _whole(parent)
        self.compactions.append((number, made, known, record.get("active") is True))

    def _imported(self, record: JsonObject) -> None:
        trigger, tokens = record.get("trigger"), record.get("before_tokens")
        self.imported.append(
            ImportedCompaction(
                before_seq=_whole(record["before_seq"]),
                summary=_text(record["summary"]),
                before_tokens=None if tokens is None else _whole(tokens),
                trigger=None if trigger is None else _text(trigger),
                recorded_at=parse_time(record.get("at")),
            )
        )

    def _call(self, record: JsonObject) -> None:
        to_call(record, call_id="", session_id="", at=datetime.now(UTC))
        self.calls.append(record)

    def _place(self, value: JsonValue) -> int:
        seq = _whole(value)
        if not 0 < seq <= len(self.messages):
            raise UnreadableError(ExportProblem.NO_SUCH_MESSAGE(number=seq))
        return seq


def _whole(value: JsonValue) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise UnreadableError(ExportProblem.WHOLE(value=raw_fact(value)))
    return value


def _text(value: JsonValue) -> str:
    if not isinstance(value, str):
        raise UnreadableError(ExportProblem.TEXT(value=raw_fact(value)))
    return value


TOLD = ("shortened", "passages", "memories")
"""The fields of a record that hold texts by message."""


def to_compaction(raw: JsonValue) -> Compaction:
    """The record that `raw` holds; fields of later versions are refused.

    Raises:
        UnreadableError: it is no record.
    """
    if not isinstance(raw, dict):
        raise UnreadableError(ExportProblem.RECORD())
    values = cast("dict[str, Any]", dict(raw))
    for name in ("kept", "pins"):
        values[name] = tuple(_whole(seq) for seq in values.get(name, ()))
    values["strategies"] = tuple(_text(name) for name in values.get("strategies", ()))
    for name in TOLD:
        pairs = values.get(name, ())
        values[name] = tuple((_whole(seq), _text(text)) for seq, text in pairs)
    lost = values.get("facts_lost")
    values["facts_lost"] = None if lost is None else tuple(_text(fact) for fact in lost)
    plain = Compaction(covered_until=0)
    for name in ("trigger", "reason"):
        values[name] = parse_reason(raw.get(name))
    read = {"kept", "pins", "strategies", "facts_lost", "trigger", "reason", *TOLD}
    for name in values.keys() - read:
        (_text if isinstance(getattr(plain, name), str) else _whole)(values[name])
    return Compaction(**values)


def to_call(raw: JsonObject, *, call_id: str, session_id: str, at: datetime) -> CallInfo:
    """The call that an exported line describes; `at` where it says no time of its own."""
    values = cast("dict[str, Any]", {name: raw.get(name) for name in CALL_FIELDS})
    values["purpose"] = _text(raw["purpose"])
    at = parse_time(raw.get("at")) or at
    runs = cast("list[list[Any]]", raw.get("runs") or [])
    values["runs"] = tuple(map(run_from_json, runs))
    values["error"] = parse_reason(raw.get("error"))
    values["estimate"] = values["estimate"] or {}
    values["is_imported"] = bool(values["is_imported"])
    return CallInfo(id=call_id, session_id=session_id, created_at=at, **values)


def parse_time(value: object) -> datetime | None:
    """The aware time that an ISO text gives; None where there is none."""
    if not isinstance(value, str):
        return None
    time = datetime.fromisoformat(value)
    return time if time.tzinfo else time.replace(tzinfo=UTC)
