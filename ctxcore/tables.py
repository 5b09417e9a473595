"""The database's tables, which only the store and the migrations use.

Rows of `message`, `message_tokens`, `rule_state`, `compaction`, `policy`, `call`, `sent_text` and
`event` are only ever inserted; purging a session is what deletes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import ClassVar, cast

from sqlalchemy import (
    BigInteger,
    DateTime,
    Dialect,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy import text as sql
from sqlalchemy.orm import registry
from sqlalchemy.types import TypeDecorator
from sqlmodel import Field, SQLModel

from ctxcore.messages.canonical import parse_canonical, printable, to_canonical, to_ordered
from ctxcore.messages.values import JsonValue

_BIG = BigInteger().with_variant(Integer, "sqlite")  # SQLite numbers rows in INTEGER columns only


class UtcTime(TypeDecorator[datetime]):
    """An aware UTC time; SQLite, which has no zones, stores it without one."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"a stored time needs a zone: {value!r}")
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """What a column of JSON holds that is none; one damaged row hides no other row."""

    stored: str
    error: Exception


class JsonText(TypeDecorator[JsonValue]):
    """Any JSON value as canonical JSON; texts may contain lone surrogates and NUL.

    A stored text that is no JSON comes back as `Unreadable`, and is written as it was.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(
        self, value: JsonValue | Unreadable | None, dialect: Dialect
    ) -> str | None:
        if isinstance(value, Unreadable):
            return value.stored
        return None if value is None else to_canonical(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> JsonValue:
        if value is None:
            return None
        try:
            return parse_canonical(value)
        except (ValueError, TypeError, RecursionError) as error:
            # Consumers of columns ask for `Unreadable` before they use a value.
            return cast("JsonValue", Unreadable(str(value), error))


class OrderedJsonText(JsonText):
    """Any JSON value with the keys of objects as they stand."""

    cache_ok = True

    def process_bind_param(
        self, value: JsonValue | Unreadable | None, dialect: Dialect
    ) -> str | None:
        if isinstance(value, Unreadable):
            return value.stored
        return None if value is None else to_ordered(value)


class Label(TypeDecorator[str]):
    """A text for people; characters that databases refuse become U+FFFD."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else printable(value).replace("\x00", "\ufffd")


class Row(SQLModel, registry=registry(metadata=MetaData())):
    """Base of all rows, with metadata apart from SQLModel's shared one."""


def _in_session() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["session_id"], ["session.id"], ondelete="CASCADE")


class UserRow(Row, table=True):
    __tablename__: ClassVar[str] = "user"

    id: str = Field(primary_key=True, sa_type=Text)
    name: str = Field(sa_type=Label)
    group: str = Field(sa_type=Label)
    is_operator: bool
    is_auditor: bool
    created_at: datetime = Field(sa_type=UtcTime)


class AuditRow(Row, table=True):
    """Who read another's texts or set roles; rows are only added, and erased after a time.

    It names users and sessions without foreign keys: it outlives both.
    """

    __tablename__: ClassVar[str] = "audit"
    __table_args__ = (
        Index("ix_audit_owner", "owner_id", "id"),
        Index("ix_audit_created", "created_at"),
    )

    id: int = Field(primary_key=True, sa_type=_BIG)
    created_at: datetime = Field(sa_type=UtcTime)
    user_id: str = Field(sa_type=Text)
    action: str = Field(sa_type=Text)
    owner_id: str | None = Field(sa_type=Text)
    session_id: str | None = Field(sa_type=Text)
    is_operator: bool | None
    is_auditor: bool | None


class SessionRow(Row, table=True):
    """A session, with all that an append or a context needs without reading messages."""

    __tablename__: ClassVar[str] = "session"
    __table_args__ = (
        ForeignKeyConstraint(["user_id"], ["user.id"]),
        ForeignKeyConstraint(["parent_id"], ["session.id"], ondelete="SET NULL"),
        Index("ix_session_user", "user_id", "updated_at"),
        Index("ix_session_parent", "parent_id"),
    )

    id: str = Field(primary_key=True, sa_type=Text)
    user_id: str = Field(sa_type=Text)
    title: str = Field(sa_type=Label)
    model: str | None = Field(sa_type=Label)
    origin: str = Field(sa_type=Label)
    tools: list[object] = Field(sa_type=OrderedJsonText)
    parent_id: str | None = Field(sa_type=Text)
    parent_seq: int | None
    created_at: datetime = Field(sa_type=UtcTime)
    updated_at: datetime = Field(sa_type=UtcTime)
    deleted_at: datetime | None = Field(sa_type=UtcTime)
    length: int
    head_seq: int
    """The first message of the last block."""
    goal_seq: int | None
    last_user_seq: int | None
    system_seqs: list[int] = Field(sa_type=JsonText)
    counter_id: str | None = Field(sa_type=Text)
    """The counter whose running sums every append continues."""
    active_compaction_id: str | None = Field(sa_type=Text)
    indexed_until: int
    """The last message that search finds."""
    working: str | None = Field(sa_type=Text)
    """The working state that the application provides; None if it is empty."""
    system_changes: list[list[int]] | None = Field(sa_type=JsonText)
    """The changes of the system prompt; None if there are none."""
    count_factor: dict[str, object] | None = Field(sa_type=JsonText)
    """The count factor in force, with its model and counter; None before the first turn."""
    recalls: list[list[object]] | None = Field(sa_type=JsonText)
    """What contexts recalled for requests under the active compaction; None if there is nothing."""
    rule_edits: list[list[object]] | None = Field(sa_type=JsonText)
    """A copy of the edits of rules that are in force; None if there are none."""
    staged_at: datetime | None = Field(sa_type=UtcTime)
    """When its import began, until it is complete; None: it can be seen."""


class MessageRow(Row, table=True):
    __tablename__: ClassVar[str] = "message"
    __table_args__ = (
        _in_session(),
        UniqueConstraint("session_id", "seq", name="uq_message_seq"),
        Index(
            "ix_message_rules",
            "session_id",
            "seq",
            sqlite_where=sql("rules IS NULL OR rules > 0"),
            postgresql_where=sql("rules IS NULL OR rules > 0"),
        ),
    )

    id: int = Field(primary_key=True, sa_type=_BIG)
    session_id: str = Field(sa_type=Text)
    seq: int
    role: str = Field(sa_type=Text)
    body: str = Field(sa_type=Text)
    block: int
    function_name: str = Field(sa_type=Label)
    short: str | None = Field(sa_type=JsonText)
    turn_id: str | None = Field(sa_type=Text)
    created_at: datetime = Field(sa_type=UtcTime)
    facts: str | None = Field(sa_type=Text)
    """The facts found when it was appended; None: not looked for."""
    rules: int | None
    """How many of the facts set or revoke standing instructions; None: not looked for."""
    notes: str | None = Field(sa_type=Text)
    """What stands for its text where a compaction chooses; None: the text is read."""


class MessageTokensRow(Row, table=True):
    """Sizes by one counter, always of messages 1 … n without a gap.

    `cum` is the running sum of `tokens`, `short_cum` that of what is sent, without system messages.
    """

    __tablename__: ClassVar[str] = "message_tokens"
    __table_args__ = (
        _in_session(),
        Index("ix_message_tokens_sent", "session_id", "counter_id", "short_cum", "seq"),
        {"sqlite_with_rowid": False},
    )

    session_id: str = Field(primary_key=True, sa_type=Text)
    counter_id: str = Field(primary_key=True, sa_type=Text)
    seq: int = Field(primary_key=True)
    tokens: int
    short_tokens: int | None
    cum: int = Field(sa_type=BigInteger)
    short_cum: int = Field(sa_type=BigInteger)


class RuleStateRow(Row, table=True):
    """The standing instructions that hold at a message; derived, and not exported."""

    __tablename__: ClassVar[str] = "rule_state"
    __table_args__ = (_in_session(),)

    session_id: str = Field(primary_key=True, sa_type=Text)
    version: str = Field(primary_key=True, sa_type=Text)
    """That of the code which found them."""
    seq: int = Field(primary_key=True)
    standing: str = Field(sa_type=Text)
    taken: str = Field(sa_type=Text)
    """What rules took back since the row before."""


class CompactionRow(Row, table=True):
    """An applied compaction; `body` is the whole record, the other columns are for queries."""

    __tablename__: ClassVar[str] = "compaction"
    __table_args__ = (
        _in_session(),
        UniqueConstraint("session_id", "number", name="uq_compaction_number"),
    )

    id: str = Field(primary_key=True, sa_type=Text)
    session_id: str = Field(sa_type=Text)
    number: int
    parent_id: str | None = Field(sa_type=Text)
    body: str = Field(sa_type=Text)
    covered_until: int
    summary_tokens: int
    before_tokens: int
    after_tokens: int
    policy_version_id: int | None
    details: dict[str, object] = Field(sa_type=JsonText)
    created_at: datetime = Field(sa_type=UtcTime)
    facts_lost: list[str] | None = Field(sa_type=JsonText)
    """A copy from the body; None: not looked for."""
    has_failed: bool | None
    """Whether the summarizer failed; None: recorded before that was."""


class ImportedCompactionRow(Row, table=True):
    """A compaction made by the program that recorded an imported conversation."""

    __tablename__: ClassVar[str] = "imported_compaction"
    __table_args__ = (_in_session(), Index("ix_imported_compaction_session", "session_id"))

    id: int = Field(primary_key=True, sa_type=_BIG)
    session_id: str = Field(sa_type=Text)
    before_seq: int
    summary: str = Field(sa_type=JsonText)
    before_tokens: int | None
    trigger: str | None = Field(sa_type=Label)
    recorded_at: datetime | None = Field(sa_type=UtcTime)


class MarkRow(Row, table=True):
    __tablename__: ClassVar[str] = "mark"
    __table_args__ = (
        _in_session(),
        Index(
            "uq_mark_set",
            "session_id",
            "seq",
            "kind",
            unique=True,
            sqlite_where=sql("cleared_at IS NULL"),
            postgresql_where=sql("cleared_at IS NULL"),
        ),
        Index("ix_mark_session", "session_id"),
    )

    id: int = Field(primary_key=True, sa_type=_BIG)
    session_id: str = Field(sa_type=Text)
    seq: int
    kind: str = Field(sa_type=Text)
    set_at: datetime = Field(sa_type=UtcTime)
    cleared_at: datetime | None = Field(sa_type=UtcTime)


class RuleEditRow(Row, table=True):
    """Words that are a standing instruction, or none, as a person says; in force until cleared."""

    __tablename__: ClassVar[str] = "rule_edit"
    __table_args__ = (_in_session(), Index("ix_rule_edit_session", "session_id", "seq"))

    id: int = Field(primary_key=True, sa_type=_BIG)
    session_id: str = Field(sa_type=Text)
    seq: int
    kind: str = Field(sa_type=Text)
    text: str = Field(sa_type=JsonText)
    set_by: str = Field(sa_type=Label)
    set_at: datetime = Field(sa_type=UtcTime)
    cleared_by: str | None = Field(sa_type=Label)
    cleared_at: datetime | None = Field(sa_type=UtcTime)


class PolicyRow(Row, table=True):
    """One version of a scope's policy overrides."""

    __tablename__: ClassVar[str] = "policy"
    __table_args__ = (
        UniqueConstraint("scope", "owner", "model", "version", name="uq_policy_version"),
    )

    id: int = Field(primary_key=True, sa_type=_BIG)
    scope: str = Field(sa_type=Text)
    owner: str = Field(sa_type=Text)
    model: str = Field(sa_type=Label)
    version: int
    body: dict[str, object] = Field(sa_type=JsonText)
    created_by: str = Field(sa_type=Label)
    created_at: datetime = Field(sa_type=UtcTime)


class TurnRow(Row, table=True):
    __tablename__: ClassVar[str] = "turn"
    __table_args__ = (
        _in_session(),
        UniqueConstraint("session_id", "number", name="uq_turn_number"),
        Index("ix_turn_state", "state"),
    )

    id: str = Field(primary_key=True, sa_type=Text)
    session_id: str = Field(sa_type=Text)
    number: int
    state: str = Field(sa_type=Text)
    model: str | None = Field(sa_type=Label)
    partial: str = Field(sa_type=JsonText)
    error: dict[str, object] | None = Field(sa_type=JsonText)
    first_seq: int
    last_seq: int
    history_messages: int
    history_tokens: int = Field(sa_type=BigInteger)
    started_at: datetime = Field(sa_type=UtcTime)
    ended_at: datetime | None = Field(sa_type=UtcTime)
    system: str | None = Field(sa_type=JsonText)
    """The system prompt of this turn alone; None where the session's is sent."""


BILLED_COLUMNS = (
    "model",
    "is_imported",
    "cost",
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "cache_hour_tokens",
)
"""What the cost of calls is summed from: an index holds it, apart from the long verdicts."""


TALLIED_COLUMNS = (
    "session_id",
    "policy_version_id",
    "purpose",
    "created_at",
    *BILLED_COLUMNS,
    "sent_tokens",
    "without_tokens",
    "rewritten_tokens",
    "error_code",
)
"""What reports over all calls are summed from, for the same reason."""


class CallRow(Row, table=True):
    __tablename__: ClassVar[str] = "call"
    __table_args__ = (
        _in_session(),
        Index("ix_call_session", "session_id", "created_at"),
        Index("ix_call_turn", "turn_id"),
        Index(
            "ix_call_counted",
            "model",
            "counter_id",
            "created_at",
            sqlite_where=sql("is_comparable IS 1 AND input_tokens IS NOT NULL"),
            postgresql_where=sql("is_comparable IS true AND input_tokens IS NOT NULL"),
        ),
        Index("ix_call_billed", "session_id", *BILLED_COLUMNS),
        Index("ix_call_tallied", *TALLIED_COLUMNS),
    )

    id: str = Field(primary_key=True, sa_type=Text)
    session_id: str = Field(sa_type=Text)
    turn_id: str | None = Field(sa_type=Text)
    purpose: str = Field(sa_type=Text)
    is_imported: bool
    model: str | None = Field(sa_type=Label)
    policy_version_id: int | None
    compaction_id: str | None = Field(sa_type=Text)
    seq: int | None
    """The message that answered, where there is one."""
    estimate: dict[str, int] = Field(sa_type=JsonText)
    runs: list[object] = Field(sa_type=JsonText)
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    cache_write_tokens: int | None
    cache_hour_tokens: int | None
    reasoning_tokens: int | None
    cleared_parts: int | None
    cleared_tokens: int | None
    """What the provider left out of what it was sent; None: it reported nothing left out."""
    cost: float | None
    latency_seconds: float | None
    error: dict[str, object] | None = Field(sa_type=JsonText)
    created_at: datetime = Field(sa_type=UtcTime)
    system_digest: str | None = Field(sa_type=Text)
    tools_digest: str | None = Field(sa_type=Text)
    cache_break: dict[str, object] | None = Field(sa_type=JsonText)
    digest: str | None = Field(sa_type=Text)
    """SHA-256 of what was sent; None: from before requests were stored, or not sent here."""
    counter_id: str | None = Field(sa_type=Text)
    count_factor: float | None
    recipe: dict[str, object] | None = Field(sa_type=JsonText)
    """What each message sent is made of."""
    is_comparable: bool | None
    """Whether the provider's count may be compared with the estimate."""
    without_tokens: int | None
    """What would have been sent without any compaction; None: not known."""
    sent_tokens: int | None
    """The sum of the estimate, for queries; so are the columns below."""
    rewritten_tokens: int | None
    """The input that was not in the cache because a compaction had changed its beginning."""
    error_code: str | None = Field(sa_type=Text)


class SentTextRow(Row, table=True):
    """A text that was sent and that no message holds, by its SHA-256."""

    __tablename__: ClassVar[str] = "sent_text"
    __table_args__ = (_in_session(),)

    session_id: str = Field(primary_key=True, sa_type=Text)
    address: str = Field(primary_key=True, sa_type=Text)
    body: str = Field(sa_type=Text)


class SignalRow(Row, table=True):
    """A forgetting signal; only what a person says of it is changed."""

    __tablename__: ClassVar[str] = "signal"
    __table_args__ = (
        _in_session(),
        UniqueConstraint("session_id", "seq", "kind", name="uq_signal"),
    )

    id: int = Field(primary_key=True, sa_type=_BIG)
    session_id: str = Field(sa_type=Text)
    seq: int
    kind: str = Field(sa_type=Text)
    earlier: list[int] = Field(sa_type=JsonText)
    verdict: str | None = Field(sa_type=Text)
    compaction_id: str | None = Field(sa_type=Text)
    policy_version_id: int | None
    created_at: datetime = Field(sa_type=UtcTime)
    is_right: bool | None
    judged_at: datetime | None = Field(sa_type=UtcTime)


class EventRow(Row, table=True):
    __tablename__: ClassVar[str] = "event"
    __table_args__ = (
        _in_session(),
        Index("ix_event_session", "session_id", "id"),
        Index("ix_event_kind", "kind", "id"),
    )

    id: int = Field(primary_key=True, sa_type=_BIG)
    session_id: str | None = Field(sa_type=Text)
    kind: str = Field(sa_type=Text)
    body: dict[str, object] = Field(sa_type=JsonText)
    created_at: datetime = Field(sa_type=UtcTime)


class SpendingRow(Row, table=True):
    """What a user's calls of a day or a month cost; summed from the calls when it is first asked
    for, and added to with each call from then on."""

    __tablename__: ClassVar[str] = "spending"

    user_id: str = Field(primary_key=True, sa_type=Text)
    period: str = Field(primary_key=True, sa_type=Text)
    """A day or a month in UTC: `2026-03-01`, `2026-03`."""
    dollars: float


class AlertRow(Row, table=True):
    """Something that an operator asked to be told; only who has seen it changes."""

    __tablename__: ClassVar[str] = "alert"
    __table_args__ = (
        _in_session(),
        UniqueConstraint("cause", name="uq_alert_cause"),
        Index("ix_alert_unseen", "seen_at", "id"),
    )

    id: int = Field(primary_key=True, sa_type=_BIG)
    cause: str = Field(sa_type=Text)
    """What happened, e.g. a user's budget of one day: it is told once."""
    reason: dict[str, object] = Field(sa_type=JsonText)
    user_id: str = Field(sa_type=Text)
    session_id: str | None = Field(sa_type=Text)
    created_at: datetime = Field(sa_type=UtcTime)
    seen_by: str | None = Field(sa_type=Label)
    seen_at: datetime | None = Field(sa_type=UtcTime)


class SettingRow(Row, table=True):
    """A setting of the installation, e.g. its connections; never a key or a password."""

    __tablename__: ClassVar[str] = "setting"

    name: str = Field(primary_key=True, sa_type=Text)
    value: object = Field(sa_type=JsonText)


class JobRow(Row, table=True):
    """Long work that a person started, with its result."""

    __tablename__: ClassVar[str] = "job"
    __table_args__ = (
        ForeignKeyConstraint(["user_id"], ["user.id"]),
        Index("ix_job_user", "user_id", "created_at"),
        Index("ix_job_state", "state", "finished_at"),
    )

    id: str = Field(primary_key=True, sa_type=Text)
    user_id: str = Field(sa_type=Text)
    kind: str = Field(sa_type=Text)
    spec: dict[str, object] = Field(sa_type=JsonText)
    digest: str = Field(sa_type=Text)
    """The hash of the work and of the data that it reads."""
    state: str = Field(sa_type=Text)
    done: int
    total: int
    result: dict[str, object] | None = Field(sa_type=JsonText)
    error: dict[str, object] | None = Field(sa_type=JsonText)
    created_at: datetime = Field(sa_type=UtcTime)
    lease_until: datetime = Field(sa_type=UtcTime)
    """A running job whose lease has expired is one that nobody works on any more."""
    finished_at: datetime | None = Field(sa_type=UtcTime)


class JobSessionRow(Row, table=True):
    """A session that a job reads; purging it erases the job."""

    __tablename__: ClassVar[str] = "job_session"
    __table_args__ = (
        ForeignKeyConstraint(["job_id"], ["job.id"], ondelete="CASCADE"),
        _in_session(),
        Index("ix_job_session", "session_id"),
    )

    job_id: str = Field(primary_key=True, sa_type=Text)
    session_id: str = Field(primary_key=True, sa_type=Text)


class RequestPrefixRow(Row, table=True):
    """Where a request that was made outside begins: it tells which session the next one goes on."""

    __tablename__: ClassVar[str] = "request_prefix"
    __table_args__ = (
        ForeignKeyConstraint(["user_id"], ["user.id"]),
        _in_session(),
        Index("ix_request_prefix_session", "session_id"),
    )

    user_id: str = Field(primary_key=True, sa_type=Text)
    digest: str = Field(primary_key=True, sa_type=Text)
    """Of all messages up to here."""
    session_id: str = Field(sa_type=Text)


class LeaseRow(Row, table=True):
    __tablename__: ClassVar[str] = "lease"

    name: str = Field(primary_key=True, sa_type=Text)
    owner: str = Field(sa_type=Text)
    expires_at: datetime = Field(sa_type=UtcTime)
    holder: str | None = Field(sa_type=Text)
    """The process that took it; None: taken before that was stored."""


class LeaseWaiterRow(Row, table=True):
    """Who waits for a lease; the smallest id comes first."""

    __tablename__: ClassVar[str] = "lease_waiter"
    __table_args__ = (Index("ix_lease_waiter_name", "name", "id"),)

    id: int = Field(primary_key=True, sa_type=_BIG)
    name: str = Field(sa_type=Text)
    holder: str = Field(sa_type=Text)
    """The process that waits."""
    expires_at: datetime = Field(sa_type=UtcTime)


def _table(row: type[Row]) -> Table:
    return row.metadata.tables[str(row.__tablename__)]


USER = _table(UserRow)
SESSION = _table(SessionRow)
MESSAGE = _table(MessageRow)
MESSAGE_TOKENS = _table(MessageTokensRow)
RULE_STATE = _table(RuleStateRow)
COMPACTION = _table(CompactionRow)
IMPORTED_COMPACTION = _table(ImportedCompactionRow)
MARK = _table(MarkRow)
RULE_EDIT = _table(RuleEditRow)
POLICY = _table(PolicyRow)
TURN = _table(TurnRow)
CALL = _table(CallRow)
SENT_TEXT = _table(SentTextRow)
SIGNAL = _table(SignalRow)
EVENT = _table(EventRow)
SPENDING = _table(SpendingRow)
ALERT = _table(AlertRow)
AUDIT = _table(AuditRow)
SETTING = _table(SettingRow)
JOB = _table(JobRow)
JOB_SESSION = _table(JobSessionRow)
REQUEST_PREFIX = _table(RequestPrefixRow)
LEASE = _table(LeaseRow)
LEASE_WAITER = _table(LeaseWaiterRow)
