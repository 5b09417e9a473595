"""Converts rows to values and back; a record that cannot be read is an error that names it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from functools import lru_cache
from typing import Any, cast

from sqlalchemy import RowMapping

from ctxcore.assembly.history import Counted
from ctxcore.assembly.prompts import PromptChange, changes_from_json
from ctxcore.assembly.records import (
    EMPTY_WORKING_STATE,
    Compaction,
    Recalls,
    WorkingState,
    from_plain,
    to_plain,
    working_state_from_json,
    working_state_to_json,
)
from ctxcore.assembly.verdicts import Run, run_from_json, run_to_json
from ctxcore.errors import MessageError, WorkingStateError
from ctxcore.facts.rule_edits import NO_EDITS, RuleEdit, RuleEdits
from ctxcore.messages.canonical import parse_canonical, to_canonical
from ctxcore.messages.openai import parse_message, to_full
from ctxcore.messages.values import JsonValue, Message, Role, text_message
from ctxcore.policy.names import renewed
from ctxcore.reasons.foreign import reason_of
from ctxcore.reasons.storage_problems import DamageCode, RecordCode
from ctxcore.reasons.values import Reason, from_json, to_json
from ctxcore.store.errors import CorruptMessageError, CorruptRecordError
from ctxcore.store.values import (
    Alert,
    CallInfo,
    CompactionInfo,
    JobInfo,
    MessageInfo,
    PolicyVersion,
    RuleEditInfo,
    Scope,
    SessionFactor,
    SessionInfo,
    SignalInfo,
    TurnInfo,
)
from ctxcore.tables import Unreadable
from ctxcore.tokens.factors import CountFactor, checked_factor

logger = logging.getLogger(__name__)

# The newest messages are read again at every call, and parsing takes most of a window's time (3 of
# 4 ms for 300 messages). Equal texts are equal messages, so cached messages never go stale.
_CACHED_CHARS = 4_000  # at most 4,096 of these: some tens of megabytes


def dump_message(message: Message) -> str:
    """`message` as its stored body."""
    return to_canonical(to_full(message))


def load_message(body: str, *, session_id: str, seq: int) -> Message:
    """The message of a stored body.

    Raises:
        CorruptMessageError: the body is no message.
    """
    try:
        return _parse_cached(body) if len(body) <= _CACHED_CHARS else _parse(body)
    except (ValueError, MessageError, RecursionError) as error:
        raise CorruptMessageError(
            session_id=session_id, seq=seq, problem=reason_of(error)
        ) from error


def read_message(
    body: str, role: Role, *, session_id: str, seq: int
) -> tuple[Message, Reason | None]:
    """The message of a stored body; where that is damaged, what stands for it, and why."""
    try:
        return load_message(body, session_id=session_id, seq=seq), None
    except CorruptMessageError as error:
        logger.warning("damaged message session=%s seq=%d", session_id, seq)
        damage = DamageCode.MESSAGE(number=seq, problem=error.problem)
        return stand_in(role, damage), damage


def missing_message(role: Role, *, session_id: str, seq: int) -> tuple[Message, Reason]:
    """What stands for a message that the database no longer has, and why."""
    logger.warning("missing message session=%s seq=%d", session_id, seq)
    damage = DamageCode.MISSING(number=seq)
    return stand_in(role, damage), damage


def stand_in(role: Role, damage: Reason) -> Message:
    """What is read in the place of a message that is damaged or missing.

    It says so to models and people. A result without its call's id becomes plain words where a
    provider needs one.
    """
    number = dict(damage.facts)["number"]
    told = "is missing" if damage.code == DamageCode.MISSING else "cannot be read"
    return text_message(role, f"[Message {number} {told}: the database is damaged.]")


def _parse(body: str) -> Message:
    return parse_message(json.loads(body))


_parse_cached = lru_cache(maxsize=4_096)(_parse)


def to_counted(row: Any, session_id: str) -> Counted:
    """A row of seq, body, tokens, block, function name, short text and size, time, role."""
    seq, body, tokens, block, function_name, short, short_tokens, said_at, role = row
    message, damage = read_message(body, role, session_id=session_id, seq=seq)
    is_short = damage is None and not isinstance(short, Unreadable)
    return Counted(
        seq=seq,
        message=message,
        tokens=tokens,
        block=block,
        function_name=function_name,
        short=short if is_short else None,
        short_tokens=short_tokens if is_short else None,
        said_at=said_at,
        damage=damage,
    )


def to_message_info(row: Any, session_id: str) -> MessageInfo:
    """A row of seq, body, block, function name, short text, turn, time and role as a value."""
    seq, body, block, function_name, short, turn_id, created_at, role = row
    message, damage = read_message(body, role, session_id=session_id, seq=seq)
    return MessageInfo(
        seq=seq,
        message=message,
        block=block,
        function_name=function_name,
        short=None if damage or isinstance(short, Unreadable) else short,
        turn_id=turn_id,
        created_at=created_at,
        damage=damage,
    )


def dump_compaction(compaction: Compaction) -> str:
    """`compaction` as its stored body."""
    return to_canonical(to_plain(compaction))


def load_compaction(body: str, *, session_id: str, compaction_id: str) -> Compaction:
    """The compaction of a stored body.

    Raises:
        CorruptRecordError: the body is no compaction.
    """
    with _refused(session_id, RecordCode.OF_COMPACTION(id=compaction_id)):
        return _parse_compaction(body)


@lru_cache(maxsize=32)  # chosen: the active ones, each in every context until the next one
def _parse_compaction(body: str) -> Compaction:
    return from_plain(cast("Mapping[str, JsonValue]", parse_canonical(body)))


def to_compaction_info(row: RowMapping) -> CompactionInfo:
    """A row of `compaction` as a value; a damaged record covers nothing."""
    damage = None
    try:
        record = load_compaction(row["body"], session_id=row["session_id"], compaction_id=row["id"])
    except CorruptRecordError as error:
        logger.warning("damaged compaction session=%s id=%s", row["session_id"], row["id"])
        record = Compaction(covered_until=0)
        damage = DamageCode.COMPACTION(number=row["number"], problem=error.problem)
    columns = _columns(row, CompactionInfo, "compaction", "details", "damage")
    details = {} if isinstance(row["details"], Unreadable) else row["details"]
    return CompactionInfo(compaction=record, details=details, damage=damage, **columns)


_PARTS: Mapping[str, tuple[RecordCode, Any]] = {
    "tools": (RecordCode.TOOLS, []),
    "system_seqs": (RecordCode.SYSTEM_MESSAGES, []),
    "working": (RecordCode.WORKING_STATE, None),
    "system_changes": (RecordCode.SYSTEM_CHANGES, None),
    "count_factor": (RecordCode.COUNT_FACTOR, None),
    "recalls": (RecordCode.RECALLS, None),
    "rule_edits": (RecordCode.RULE_EDITS, None),
}
"""The columns of a session that may be damaged by themselves, and what they are if empty."""


def damaged_parts(row: RowMapping) -> dict[str, Reason]:
    """The columns of a row of `session` that cannot be read, and why."""
    found: dict[str, Reason] = {}
    for name, (part, _) in _PARTS.items():
        if (stored := row[name]) is None:
            continue
        try:
            with _refused(row["id"], part()):
                _READERS[name](row, stored)
        except CorruptRecordError as error:
            found[name] = DamageCode.PART(what=part(), problem=error.problem)
    return found


def _raise_unreadable(stored: object) -> None:
    if isinstance(stored, Unreadable):
        raise stored.error


def _read_tools(row: RowMapping, stored: Any) -> None:
    _raise_unreadable(stored)
    if not isinstance(stored, list):
        raise TypeError(f"not a list: {type(stored).__name__}")


def _read_system_seqs(row: RowMapping, stored: Any) -> None:
    _read_tools(row, stored)
    if not all(type(seq) is int for seq in stored):
        raise TypeError("not a list of numbers")


_READERS: Mapping[str, Callable[[RowMapping, Any], object]] = {
    "tools": _read_tools,
    "system_seqs": _read_system_seqs,
    "working": lambda row, stored: load_working(stored, session_id=row["id"]),
    "system_changes": lambda row, stored: load_changes(row),
    "count_factor": lambda row, stored: load_factor(stored, session_id=row["id"]),
    "recalls": lambda row, stored: load_recalls(stored, session_id=row["id"]),
    "rule_edits": lambda row, stored: load_rule_edits(row),
}


def sound_session(row: RowMapping) -> tuple[RowMapping, tuple[Reason, ...]]:
    """A row of `session` with its damaged columns empty, and what is damaged, also as `damage`.

    One damaged column would else hide the whole session, and with it every list of sessions.
    """
    if known := row.get("damage"):  # it was looked at before
        return row, known
    damaged = damaged_parts(row)
    if not damaged:
        return row, ()
    logger.warning("damaged session id=%s columns=%s", row["id"], ",".join(damaged))
    empty = {name: _PARTS[name][1] for name in damaged}
    told = tuple(damaged.values())
    return cast("RowMapping", {**row, **empty, "damage": told}), told


_LOADED = ("tools", "working", "system_changes", "count_factor", "recalls")  # each by a function


def to_session_info(row: RowMapping) -> SessionInfo:
    """A row of `session` as a value."""
    row, damage = sound_session(row)
    return SessionInfo(
        damage=damage,
        tools=tuple(row["tools"]),
        working=load_working(row["working"], session_id=row["id"]),
        system_changes=load_changes(row),
        count_factor=load_factor(row["count_factor"], session_id=row["id"]),
        recalls=load_recalls(row["recalls"], session_id=row["id"]),
        **_columns(row, SessionInfo, *_LOADED, "damage"),
    )


def dump_recalls(recalls: Recalls) -> list[list[object]] | None:
    """`recalls` as they are stored; None if there are none."""
    return [[request, list(seqs)] for request, seqs in recalls] or None


def load_recalls(stored: Sequence[Any] | None, *, session_id: str) -> Recalls:
    """What contexts recalled, as it is stored with a session.

    Raises:
        CorruptRecordError: it cannot be read.
    """
    with _refused(session_id, RecordCode.RECALLS()):
        return tuple((int(request), tuple(map(int, seqs))) for request, seqs in stored or ())


def dump_rule_edits(edits: RuleEdits) -> list[list[object]] | None:
    """`edits` as a session holds them; None if there are none."""
    return [[edit.kind, edit.seq, edit.text] for edit in edits.edits] or None


def load_rule_edits(row: RowMapping) -> RuleEdits:
    """The edits of rules in a row of `session`.

    Raises:
        CorruptRecordError: they cannot be read.
    """
    stored = row["rule_edits"]
    if stored is None:  # nearly always
        return NO_EDITS
    with _refused(row["id"], RecordCode.RULE_EDITS()):
        return RuleEdits.of(RuleEdit(kind=kind, seq=seq, text=text) for kind, seq, text in stored)


def load_changes(row: RowMapping) -> tuple[PromptChange, ...]:
    """The changes of the system prompt in a row of `session`.

    Raises:
        CorruptRecordError: they cannot be read.
    """
    with _refused(row["id"], RecordCode.SYSTEM_CHANGES()):
        return changes_from_json(row["system_changes"] or ())


def dump_factor(in_force: SessionFactor) -> dict[str, object]:
    """`in_force` as it is stored."""
    names = {"model": in_force.model, "counter_id": in_force.counter_id}
    return {**names, **asdict(in_force.factor)}


def load_factor(stored: Mapping[str, Any] | None, *, session_id: str) -> SessionFactor | None:
    """The count factor that is stored with a session.

    Raises:
        CorruptRecordError: it cannot be read.
    """
    if stored is None:
        return None
    with _refused(session_id, RecordCode.COUNT_FACTOR()):
        error = stored["error_ratio"]
        return SessionFactor(
            model=str(stored["model"]),
            counter_id=str(stored["counter_id"]),
            factor=CountFactor(
                value=checked_factor(float(stored["value"])),
                error_ratio=None if error is None else float(error),
                calls=int(stored["calls"]),
            ),
        )


def dump_working(working: WorkingState) -> str | None:
    """`working` as it is stored; None if it is empty."""
    fields = working_state_to_json(working)
    return to_canonical(fields) if fields else None


def load_working(stored: str | None, *, session_id: str) -> WorkingState:
    """The working state that is stored with a session.

    Raises:
        CorruptRecordError: it cannot be read.
    """
    with _refused(session_id, RecordCode.WORKING_STATE()):
        return (
            EMPTY_WORKING_STATE
            if stored is None
            else working_state_from_json(parse_canonical(stored))
        )


def to_policy_version(row: RowMapping) -> PolicyVersion:
    """A row of `policy` as a value, without fields that policies no longer have."""
    overrides, removed = renewed(row["body"])
    return PolicyVersion(
        scope=Scope(kind=row["scope"], owner=row["owner"], model=row["model"]),
        overrides=overrides,
        removed=removed,
        **_columns(row, PolicyVersion, "scope", "overrides", "removed"),
    )


def to_turn_info(row: RowMapping) -> TurnInfo:
    """A row of `turn` as a value.

    Raises:
        CorruptRecordError: its error cannot be read.
    """
    with _refused(row["session_id"], RecordCode.TURN()):
        return TurnInfo(**{**row, "error": _to_reason(row["error"])})


_CALL_REASONS = ("error", "cache_break")
CALL_COPIES = ("sent_tokens", "rewritten_tokens", "error_code")
"""The columns of a call that repeat what other columns say, for queries."""


def dump_call(call: CallInfo) -> dict[str, object]:
    """`call` as a row of `call`."""
    row = {known.name: getattr(call, known.name) for known in fields(CallInfo)}
    row["estimate"] = dict(call.estimate)
    row["runs"] = [run_to_json(run) for run in call.runs]
    row |= {name: getattr(call, name) for name in CALL_COPIES}
    for name in _CALL_REASONS:
        reason = getattr(call, name)
        row[name] = None if reason is None else to_json(reason)
    return row


def load_call(row: RowMapping) -> CallInfo:
    """A row of `call` as a value; without runs and recipe where they were not read.

    Raises:
        CorruptRecordError: its error or its runs cannot be read.
    """
    runs = load_runs(row.get("runs", ()), session_id=row["session_id"])
    with _refused(row["session_id"], RecordCode.CALL()):
        reasons = {name: _to_reason(row[name]) for name in _CALL_REASONS}
        columns = {name: value for name, value in row.items() if name not in CALL_COPIES}
        return CallInfo(**{**columns, "runs": runs, **reasons})


def load_runs(stored: Iterable[Sequence[Any]], *, session_id: str) -> tuple[Run, ...]:
    """Runs as values, from their stored lists.

    Raises:
        CorruptRecordError: they cannot be read.
    """
    with _refused(session_id, RecordCode.CALL()):
        return tuple(map(run_from_json, stored))


def _columns(row: RowMapping, kind: type[Any], *others: str) -> dict[str, Any]:
    """The fields of dataclass `kind` that have columns of the same name, all but `others`."""
    return {known.name: row[known.name] for known in fields(kind) if known.name not in others}


@contextmanager
def _refused(session_id: str, record: Reason) -> Iterator[None]:
    """Turns the errors of a parser into one that names the record."""
    try:
        yield
    except (ValueError, TypeError, AttributeError, RecursionError, WorkingStateError) as error:
        raise CorruptRecordError(
            session_id=session_id, record=record, problem=reason_of(error)
        ) from error


def _to_reason(stored: object) -> Reason | None:
    return None if stored is None else from_json(stored)


def to_rule_edit_info(row: RowMapping) -> RuleEditInfo:
    """The edit of a rule in a row."""
    return RuleEditInfo(**row)


def dump_signal(signal: SignalInfo) -> dict[str, Any]:
    """A signal as a row, which the database numbers."""
    row = {known.name: getattr(signal, known.name) for known in fields(SignalInfo)}
    del row["id"]
    return {**row, "earlier": list(signal.earlier)}


def to_signal_info(row: RowMapping) -> SignalInfo:
    """The signal of a row."""
    return SignalInfo(**{**row, "earlier": tuple(row["earlier"])})


def to_alert(row: RowMapping) -> Alert:
    """The alert of a row."""
    return Alert(**{**row, "reason": from_json(row["reason"])})


def to_job_info(row: RowMapping) -> JobInfo:
    """The job of a row; without its result where that was not read."""
    return JobInfo(**{**row, "error": _to_reason(row["error"])})
