"""Reads the file format of sessions that `ctxcore.exports.native` writes, and checks its digest."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast, get_args

from ctxcore.assembly.prompts import PromptChange, changes_from_json
from ctxcore.assembly.recipes import RecipeReader
from ctxcore.assembly.records import (
    EMPTY_WORKING_STATE,
    Compaction,
    WorkingState,
    parse_reason,
    working_state_from_json,
)
from ctxcore.assembly.verdicts import VerdictKind, run_from_json
from ctxcore.engine.errors import ImportRefusedError
from ctxcore.errors import ContextError, UnreadableError
from ctxcore.exports.native import CALL_FIELDS, REQUEST_FIELDS, VERSION, digest_records
from ctxcore.facts.rule_edits import RULE_EDIT_KINDS, RuleEdit, RuleEditKind
from ctxcore.formats.fields import MOST_COUNT
from ctxcore.formats.native import KIND
from ctxcore.messages.openai import parse_message
from ctxcore.messages.values import JsonObject, JsonValue, Message
from ctxcore.migrations import legacy_reasons
from ctxcore.policy.layers import to_policy
from ctxcore.policy.names import renewed
from ctxcore.reasons.foreign import reason_of
from ctxcore.reasons.places import in_file
from ctxcore.reasons.storage_problems import ExportProblem, FileProblem
from ctxcore.reasons.values import repr_fact
from ctxcore.signals.values import SIGNAL_KINDS, SignalKind
from ctxcore.store.values import (
    CallInfo,
    ImportedCompaction,
    MarkKind,
    SignalInfo,
)

IN_WORDS = 1
"""The version with reasons as English texts; its digest covers those texts."""

# The parsers' errors for a line that is JSON but not a record of this format.
_UNREADABLE = (KeyError, TypeError, ValueError, AttributeError, RecursionError, ContextError)


def parse_native(text: str, *, name: str) -> NativeFile:
    """Parses and checks an export.

    Raises:
        ImportRefusedError: a line is damaged, missing or of a later version.
    """
    records = list(_lines(text, name))
    if not records or records[0][1].get("type") != KIND:
        raise ImportRefusedError(place=in_file(name), problem=ExportProblem.NO_HEAD(kind=KIND))
    head = records[0][1]
    found = head.get("version")
    if type(found) is not int or found not in (IN_WORDS, VERSION):
        raise ImportRefusedError(
            place=in_file(name, 1),
            problem=ExportProblem.VERSION(version=repr_fact(found), known=(IN_WORDS, VERSION)),
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
    file, in_words = NativeFile(head=head), head["version"] == IN_WORDS
    for number, record in records:
        try:
            file.add(legacy_reasons.exported(record) if in_words else record)
        except _UNREADABLE as error:
            problem = FileProblem.UNREADABLE(reason=reason_of(error))
            raise ImportRefusedError(place=in_file(name, number), problem=problem) from error
    if file.goal_seq is not None and not 0 < file.goal_seq <= len(file.messages):
        problem = ExportProblem.NO_GOAL(number=file.goal_seq)
        raise ImportRefusedError(place=in_file(name), problem=problem)
    if any(change.since > len(file.messages) for change in file.changes):
        problem = ExportProblem.NO_SUCH_MESSAGE(number=file.changes[-1].since)
        raise ImportRefusedError(place=in_file(name), problem=problem)
    return file


@dataclass(slots=True, kw_only=True)
class NativeFile:
    """A parsed export; each record may only refer to messages and compactions before it."""

    head: JsonObject
    messages: list[Message] = field(default_factory=list)
    shorts: list[str | None] = field(default_factory=list)
    times: list[datetime | None] = field(default_factory=list)
    marks: list[tuple[MarkKind, int]] = field(default_factory=list)
    rule_edits: list[tuple[RuleEdit, str, datetime | None]] = field(default_factory=list)
    """Each with who made it, and when."""
    compactions: list[tuple[int | None, Compaction, JsonObject, bool]] = field(default_factory=list)
    """The parent's number, the record, its details, whether it is active; oldest first."""
    calls: list[JsonObject] = field(default_factory=list)
    signals: list[tuple[SignalInfo, int | None]] = field(default_factory=list)
    """Each with the number of the compaction it names."""
    imported: list[ImportedCompaction] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    settings: JsonObject = field(default_factory=dict)
    goal_seq: int | None = None
    working: WorkingState = EMPTY_WORKING_STATE
    changes: tuple[PromptChange, ...] = ()
    """The changes of the system prompt."""

    def add(self, record: JsonObject) -> None:
        """Checks a record and adds it.

        Raises:
            One of `_UNREADABLE`: it is not what its type says.
        """
        readers: dict[str, Callable[[JsonObject], None]] = {
            "settings": self._settings,
            "message": self._message,
            "mark": self._mark,
            "rule_edit": self._rule_edit,
            "compaction": self._compaction,
            "imported_compaction": self._imported,
            "sent_text": self._sent_text,
            "call": self._call,
            "signal": self._signal,
        }
        kind = record["type"]
        if kind not in readers:
            raise UnreadableError(ExportProblem.UNKNOWN_KIND(kind=repr_fact(kind)))
        readers[str(kind)](record)

    def _settings(self, record: JsonObject) -> None:
        overrides, goal = record.get("overrides"), record.get("goal")
        self.settings = overrides if isinstance(overrides, dict) else {}
        to_policy(renewed(self.settings)[0])  # checks them
        self.goal_seq = None if goal is None else _whole(goal)
        self.working = working_state_from_json(record.get("working", {}))
        changes = cast("list[list[Any]]", record.get("system_changes", []))
        self.changes = changes_from_json([map(_whole, pair) for pair in changes])

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
            raise UnreadableError(ExportProblem.MARK(kind=repr_fact(kind)))
        seq = _whole(record["seq"])
        if not 0 < seq <= len(self.messages):
            raise UnreadableError(ExportProblem.NO_SUCH_MESSAGE(number=seq))
        self.marks.append(("pin" if kind == "pin" else "exclude", seq))

    def _rule_edit(self, record: JsonObject) -> None:
        kind, seq, text = record["kind"], _whole(record["seq"]), _text(record["text"])
        if kind not in RULE_EDIT_KINDS or not text.strip():
            raise UnreadableError(ExportProblem.RULE_EDIT(kind=repr_fact(kind)))
        if not 0 < seq <= len(self.messages):
            raise UnreadableError(ExportProblem.NO_SUCH_MESSAGE(number=seq))
        edit = RuleEdit(kind=cast("RuleEditKind", kind), seq=seq, text=text)
        by, at = _text(record.get("by", "")), parse_time(record.get("at"))
        self.rule_edits.append((edit, by, at))

    def _compaction(self, record: JsonObject) -> None:
        parent, details = record.get("parent"), record.get("details")
        made = to_compaction(record["record"])
        if made.last_seq > len(self.messages):
            raise UnreadableError(ExportProblem.KNOWS(number=made.last_seq))
        number = None if parent is None else _whole(parent)
        if number is not None and not 0 < number <= len(self.compactions):
            raise UnreadableError(ExportProblem.PARENT(id=repr_fact(parent)))
        known = details if isinstance(details, dict) else {}
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

    def _sent_text(self, record: JsonObject) -> None:
        self.texts[_text(record["address"])] = _text(record["body"])

    def _call(self, record: JsonObject) -> None:
        to_call(record, call_id="", session_id="", at=datetime.now(UTC))  # checks it
        self.calls.append(record)

    def _signal(self, record: JsonObject) -> None:
        number = record.get("compaction")
        signal = to_signal(record, session_id="", at=datetime.now(UTC))
        if not all(0 < seq <= len(self.messages) for seq in (signal.seq, *signal.earlier)):
            raise UnreadableError(ExportProblem.NO_SUCH_MESSAGE(number=signal.seq))
        self.signals.append((signal, None if number is None else _whole(number)))


def _whole(value: JsonValue) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise UnreadableError(ExportProblem.WHOLE(value=repr_fact(value)))
    if abs(value) > MOST_COUNT:  # databases hold no larger ones
        raise UnreadableError(ExportProblem.HUGE(value=repr_fact(value)))
    return value


def _text(value: JsonValue) -> str:
    if not isinstance(value, str):
        raise UnreadableError(ExportProblem.TEXT(value=repr_fact(value)))
    return value


_TEXTS_BY_MESSAGE = ("shortened", "passages", "memories")
"""The fields of a record that are pairs of message number and text."""


def to_compaction(raw: JsonValue) -> Compaction:
    """Parses an exported compaction; fields of later versions are refused.

    Raises:
        UnreadableError: it is not a record.
    """
    if not isinstance(raw, dict):
        raise UnreadableError(ExportProblem.RECORD())
    values = cast("dict[str, Any]", dict(raw))
    for name in ("kept", "pins"):
        values[name] = tuple(_whole(seq) for seq in values.get(name, ()))
    values["strategies"] = tuple(_text(name) for name in values.get("strategies", ()))
    for name in _TEXTS_BY_MESSAGE:
        pairs = values.get(name, ())
        values[name] = tuple((_whole(seq), _text(text)) for seq, text in pairs)
    values["facts_restored"] = tuple(_text(fact) for fact in values.get("facts_restored", ()))
    values["lineage"] = tuple(
        (_whole(start), _whole(end), tuple((_whole(first), _whole(last)) for first, last in runs))
        for start, end, runs in values.get("lineage", ())
    )
    values["arguments"] = tuple(
        (_whole(seq), tuple(None if text is None else _text(text) for text in texts))
        for seq, texts in values.get("arguments", ())
    )
    lost = values.get("facts_lost")
    values["facts_lost"] = None if lost is None else tuple(_text(fact) for fact in lost)
    plain = Compaction(covered_until=0)
    for name in ("trigger", "reason"):
        values[name] = parse_reason(raw.get(name))
    read = {"kept", "pins", "strategies", "arguments", "facts_lost", "facts_restored", "lineage"}
    read |= {"trigger", "reason"}
    read |= {*_TEXTS_BY_MESSAGE}
    for name in values.keys() - read:
        (_text if isinstance(getattr(plain, name), str) else _whole)(values[name])
    return Compaction(**values)


def to_call(raw: JsonObject, *, call_id: str, session_id: str, at: datetime) -> CallInfo:
    """Parses an exported call; `at` is its time if it has none."""
    values = cast("dict[str, Any]", {name: raw.get(name) for name in CALL_FIELDS})
    values |= {name: raw.get(name) for name in REQUEST_FIELDS}
    if values["recipe"] is not None:
        RecipeReader(body=values["recipe"]).needed()  # checks it
    values["purpose"] = _text(raw["purpose"])
    at = parse_time(raw.get("at")) or at
    runs = cast("list[list[Any]]", raw.get("runs") or [])
    values["runs"] = tuple(map(run_from_json, runs))
    values["error"] = parse_reason(raw.get("error"))
    values["cache_break"] = parse_reason(raw.get("cache_break"))
    values["estimate"] = values["estimate"] or {}
    values["is_imported"] = bool(values["is_imported"])
    return CallInfo(id=call_id, session_id=session_id, created_at=at, **values)


def to_signal(raw: JsonObject, *, session_id: str, at: datetime) -> SignalInfo:
    """Parses an exported signal; `at` is its time if it has none.

    Raises:
        UnreadableError: it is no signal.
    """
    kind, verdict, right = raw.get("kind"), raw.get("verdict"), raw.get("right")
    earlier = raw.get("earlier")
    is_known = kind in SIGNAL_KINDS and (verdict is None or verdict in get_args(VerdictKind))
    if not is_known or not isinstance(earlier, list) or right not in (None, True, False):
        raise UnreadableError(ExportProblem.RECORD())
    at = parse_time(raw.get("at")) or at
    return SignalInfo(
        session_id=session_id,
        seq=_whole(raw["seq"]),
        kind=cast("SignalKind", kind),
        earlier=tuple(map(_whole, earlier)),
        verdict=cast("VerdictKind | None", verdict),
        created_at=at,
        is_right=cast("bool | None", right),
        judged_at=None if right is None else at,
    )


def parse_time(value: object) -> datetime | None:
    """Parses an ISO time as an aware one (default: UTC); None for anything but a text."""
    if not isinstance(value, str):
        return None
    time = datetime.fromisoformat(value)
    return time if time.tzinfo else time.replace(tzinfo=UTC)
