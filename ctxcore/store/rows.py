"""Owns the way between rows and values; a record that cannot be read is an error that names it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import lru_cache
from typing import Any, cast

from sqlalchemy import RowMapping

from ctxcore.assembly.history import Counted
from ctxcore.assembly.records import (
    NOTHING_SAID,
    Compaction,
    WorkingState,
    from_plain,
    from_said,
    to_plain,
    to_said,
)
from ctxcore.assembly.verdicts import Run, run_from_json, run_to_json
from ctxcore.errors import MessageError, WorkingStateError
from ctxcore.messages.canonical import parse_canonical, to_canonical
from ctxcore.messages.openai import parse_message, to_full
from ctxcore.messages.values import JsonValue, Message
from ctxcore.policy.names import without_removed
from ctxcore.reasons.foreign import reason_of
from ctxcore.reasons.storage_problems import RecordCode
from ctxcore.reasons.values import Reason, from_json, to_json
from ctxcore.store.errors import CorruptMessageError, CorruptRecordError
from ctxcore.store.values import (
    CallInfo,
    CompactionInfo,
    Event,
    Mark,
    MessageInfo,
    PolicyVersion,
    Scope,
    SessionInfo,
    TurnInfo,
    UserInfo,
)

# The newest messages are read again at every call, and parsing takes most of a window's time (3 of
# 4 ms for 300 messages). The same text is the same message, so that what is kept cannot go stale.
_OFTEN_READ_CHARS = 4_000  # at most 4,096 of these: some tens of megabytes


def dump_message(message: Message) -> str:
    """`message` as its stored body."""
    return to_canonical(to_full(message))


def load_message(body: str, *, session_id: str, seq: int) -> Message:
    """The message of a stored body.

    Raises:
        CorruptMessageError: the body is no message.
    """
    try:
        return _parse_often(body) if len(body) <= _OFTEN_READ_CHARS else _parse(body)
    except (ValueError, MessageError, RecursionError) as error:
        raise CorruptMessageError(
            session_id=session_id, seq=seq, problem=reason_of(error)
        ) from error


def _parse(body: str) -> Message:
    return parse_message(json.loads(body))


_parse_often = lru_cache(maxsize=4_096)(_parse)


def to_counted(row: Any, session_id: str) -> Counted:
    """A row of seq, body, tokens, block, function name, short text and size, time as a value."""
    seq, body, tokens, block, function_name, short, short_tokens, said_at = row
    return Counted(
        seq=seq,
        message=load_message(body, session_id=session_id, seq=seq),
        tokens=tokens,
        block=block,
        function_name=function_name,
        short=short,
        short_tokens=short_tokens,
        said_at=said_at,
    )


def to_message_info(row: RowMapping) -> MessageInfo:
    """A row of `message` as a value."""
    return MessageInfo(
        seq=row["seq"],
        message=load_message(row["body"], session_id=row["session_id"], seq=row["seq"]),
        block=row["block"],
        function_name=row["function_name"],
        short=row["short"],
        turn_id=row["turn_id"],
        created_at=row["created_at"],
    )


def dump_compaction(compaction: Compaction) -> str:
    """`compaction` as its stored body."""
    return to_canonical(to_plain(compaction))


def load_compaction(body: str, *, session_id: str, compaction_id: str) -> Compaction:
    """The compaction of a stored body.

    Raises:
        CorruptRecordError: the body is no compaction.
    """
    try:
        raw = cast("Mapping[str, JsonValue]", parse_canonical(body))
        return from_plain(raw)
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise CorruptRecordError(
            session_id=session_id,
            record=RecordCode.OF_COMPACTION(id=compaction_id),
            problem=reason_of(error),
        ) from error


def to_compaction_info(row: RowMapping) -> CompactionInfo:
    """A row of `compaction` as a value."""
    return CompactionInfo(
        id=row["id"],
        session_id=row["session_id"],
        number=row["number"],
        parent_id=row["parent_id"],
        compaction=load_compaction(
            row["body"], session_id=row["session_id"], compaction_id=row["id"]
        ),
        policy_version_id=row["policy_version_id"],
        details=row["details"],
        created_at=row["created_at"],
    )


def to_user_info(row: RowMapping) -> UserInfo:
    """A row of `user` as a value."""
    return UserInfo(**row)


def to_session_info(row: RowMapping) -> SessionInfo:
    """A row of `session` as a value."""
    names = {known.name for known in fields(SessionInfo)} - {"tools", "working"}
    return SessionInfo(
        tools=tuple(row["tools"]),
        working=load_working(row["working"], session_id=row["id"]),
        **{name: row[name] for name in names},
    )


def dump_working(working: WorkingState) -> str | None:
    """`working` as it is stored; None where it says nothing."""
    said = to_said(working)
    return to_canonical(said) if said else None


def load_working(stored: str | None, *, session_id: str) -> WorkingState:
    """The working state that is stored with a session.

    Raises:
        CorruptRecordError: it is none.
    """
    try:
        return NOTHING_SAID if stored is None else from_said(parse_canonical(stored))
    except (ValueError, TypeError, RecursionError, WorkingStateError) as error:
        raise CorruptRecordError(
            session_id=session_id,
            record=RecordCode.WORKING_STATE(),
            problem=reason_of(error),
        ) from error


def to_mark(row: RowMapping) -> Mark:
    """A row of `mark` as a value."""
    return Mark(**row)


def to_policy_version(row: RowMapping) -> PolicyVersion:
    """A row of `policy` as a value, without fields that policies no longer have."""
    overrides, removed = without_removed(row["body"])
    return PolicyVersion(
        id=row["id"],
        scope=Scope(kind=row["scope"], owner=row["owner"], model=row["model"]),
        version=row["version"],
        overrides=overrides,
        created_by=row["created_by"],
        created_at=row["created_at"],
        removed=removed,
    )


def to_turn_info(row: RowMapping) -> TurnInfo:
    """A row of `turn` as a value.

    Raises:
        CorruptRecordError: its error is none.
    """
    with _refused(row["session_id"], RecordCode.TURN):
        return TurnInfo(**{**row, "error": _to_reason(row["error"])})


def dump_call(call: CallInfo) -> dict[str, object]:
    """`call` as a row of `call`."""
    row = {known.name: getattr(call, known.name) for known in fields(CallInfo)}
    row["estimate"] = dict(call.estimate)
    row["runs"] = [run_to_json(run) for run in call.runs]
    row["error"] = None if call.error is None else to_json(call.error)
    return row


def load_call(row: RowMapping) -> CallInfo:
    """A row of `call` as a value; without runs where they were not read.

    Raises:
        CorruptRecordError: its error or its runs are none.
    """
    runs = load_runs(row.get("runs", ()), session_id=row["session_id"])
    with _refused(row["session_id"], RecordCode.CALL):
        return CallInfo(**{**row, "runs": runs, "error": _to_reason(row["error"])})


def load_runs(stored: Iterable[Sequence[Any]], *, session_id: str) -> tuple[Run, ...]:
    """Runs as values, from the lists that stand for them.

    Raises:
        CorruptRecordError: they are none.
    """
    with _refused(session_id, RecordCode.CALL):
        return tuple(map(run_from_json, stored))


def to_event(row: RowMapping) -> Event:
    """A row of `event` as a value."""
    return Event(**row)


@contextmanager
def _refused(session_id: str, record: RecordCode) -> Iterator[None]:
    """Tells which record it is that cannot be read."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise CorruptRecordError(
            session_id=session_id, record=record(), problem=reason_of(error)
        ) from error


def _to_reason(stored: object) -> Reason | None:
    return None if stored is None else from_json(stored)
