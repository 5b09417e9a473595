"""Checks a whole database, and makes again what can be derived from what is sound.

It goes from session to session, so that it holds little of a large database at a time. Messages
carry no checksum: what is checked is that each can be parsed, that none is missing, and that all
that is derived from them agrees with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, cast

from sqlalchemy import (
    Connection,
    ForeignKeyConstraint,
    RowMapping,
    Select,
    Table,
    TextClause,
    delete,
    exists,
    func,
    select,
    text,
    update,
)

from ctxcore.facts.checkpoints import load_standing, load_taken
from ctxcore.facts.finding import load_facts
from ctxcore.messages.values import Role
from ctxcore.reasons.foreign import foreign
from ctxcore.reasons.storage_problems import DamageCode, RecordCode
from ctxcore.reasons.values import Reason
from ctxcore.store.appending import known_counter
from ctxcore.store.database import Area, index_sql, is_sqlite, readable
from ctxcore.store.errors import CorruptRecordError, UnknownCounterError
from ctxcore.store.histories import Histories
from ctxcore.store.jobs import Jobs
from ctxcore.store.rows import (
    damaged_parts,
    load_call,
    load_message,
    to_compaction_info,
    to_turn_info,
)
from ctxcore.store.rule_editing import renew_edits
from ctxcore.store.searching import Searching
from ctxcore.store.sessions import Sessions, is_abandoned
from ctxcore.store.turns import Turns
from ctxcore.store.upkeep import MOST_PROBLEMS
from ctxcore.store.values import Finding
from ctxcore.tables import (
    CALL,
    COMPACTION,
    IMPORTED_COMPACTION,
    JOB,
    LEASE,
    MESSAGE,
    MESSAGE_TOKENS,
    RULE_EDIT,
    RULE_STATE,
    SESSION,
    SIGNAL,
    TURN,
    Row,
)

_STRETCH: Final = 1_000  # chosen: messages read at once
_DERIVED_PARTS: Final = {
    RecordCode.SYSTEM_MESSAGES: "system_seqs",
    RecordCode.RULE_EDITS: "rule_edits",
    RecordCode.RECALLS: "recalls",
    RecordCode.COUNT_FACTOR: "count_factor",
}
"""Parts of a session that are found again from the rest, or are held anew by the next turn."""
_RECORDS: Final = (
    (RecordCode.TURN, TURN, to_turn_info),
    (RecordCode.CALL, CALL, load_call),
    (RecordCode.SIGNAL, SIGNAL, readable),
    (RecordCode.RULE_EDIT, RULE_EDIT, readable),
    (RecordCode.IMPORTED_COMPACTION, IMPORTED_COMPACTION, readable),
)


_EXTRA: Final = "SELECT count(*) FROM message_index WHERE {key} NOT IN (SELECT id FROM message)"
_DROP_EXTRA: Final = "DELETE FROM message_index WHERE {key} NOT IN (SELECT id FROM message)"
_CHECKSUM_FAILURES: Final = (
    "SELECT checksum_failures FROM pg_stat_database WHERE datname = current_database()"
)
_LACKING: Final = (
    "SELECT count(*) FROM message WHERE session_id = :session_id AND seq <= :last"
    " AND id NOT IN (SELECT {key} FROM message_index)"
)


class Checking(Area):
    """The check of a whole database; another mixin of the store does the single repairs."""

    def check_all(
        self,
        *,
        at: datetime,
        repairs: bool = False,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> Iterator[Finding]:
        yield from self._of_database()
        found = [*self._left_over(at)]
        if repairs and found:
            self._clean(at)
        yield from (replace(finding, is_repaired=repairs) for finding in found)
        with self._database.read() as connection:
            total = int(connection.execute(select(func.count()).select_from(SESSION)).scalar_one())
        for done, session_id in enumerate(self._session_ids(), start=1):
            for finding in list(self._of_session(session_id)):
                is_repaired = repairs and finding.is_repairable and self._repair(finding)
                yield replace(finding, is_repaired=is_repaired)
            if on_progress is not None:
                on_progress(done, total)

    def _session_ids(self) -> Iterator[str]:
        """The sessions that can be seen, page by page."""
        last = ""
        while True:
            page = select(SESSION.c.id).where(SESSION.c.id > last, SESSION.c.staged_at.is_(None))
            with self._database.read() as connection:
                found = list(
                    connection.execute(page.order_by(SESSION.c.id).limit(_STRETCH)).scalars()
                )
            if not found:
                return
            yield from found
            last = found[-1]

    def _of_database(self) -> Iterator[Finding]:
        """Damage of the file, and rows that name others which are missing."""
        with self._database.read() as connection:
            if not is_sqlite(self._database.url):
                yield from _of_postgres(connection)
                return
            pages = connection.exec_driver_sql(f"PRAGMA integrity_check({MOST_PROBLEMS})").all()
            broken = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchmany(MOST_PROBLEMS)
        for (problem,) in pages:
            if problem != "ok":
                yield Finding(reason=DamageCode.FILE(problem=foreign(str(problem))))
        for table, row, parent, _ in broken:
            reason = DamageCode.REFERENCE(table=str(table), row=str(row), parent=str(parent))
            yield Finding(reason=reason)

    def _left_over(self, at: datetime) -> Iterator[Finding]:
        """What killed processes left, and index entries of no message."""
        held = select(LEASE.c.owner).where(LEASE.c.expires_at > at)
        is_left = is_abandoned(at)
        with self._database.read() as connection:
            for session_id in connection.execute(select(SESSION.c.id).where(is_left)).scalars():
                yield _derived(DamageCode.STAGED(), session_id)
            expired = select(LEASE.c.name).where(LEASE.c.expires_at <= at)
            for name in connection.execute(expired).scalars():
                yield _derived(DamageCode.LEASE(name=name))
            running = select(TURN.c.session_id, TURN.c.number).where(
                TURN.c.state == "running", TURN.c.id.not_in(held)
            )
            for session_id, number in connection.execute(running):
                yield _derived(DamageCode.TURN(number=number), session_id)
            stale = select(JOB.c.kind).where(JOB.c.state == "running", JOB.c.lease_until <= at)
            for kind in connection.execute(stale).scalars():
                yield _derived(DamageCode.JOB(what=kind))
            if extra := int(connection.execute(_index_sql(_EXTRA, connection)).scalar_one()):
                yield _derived(DamageCode.INDEX_EXTRA(count=extra))

    def _clean(self, at: datetime) -> None:
        cast("Sessions", self).purge_staged(at=at)
        cast("Turns", self).interrupt_stale_turns(at=at)
        cast("Jobs", self).interrupt_stale_jobs(at=at)
        with self._database.write() as connection:
            connection.execute(delete(LEASE).where(LEASE.c.expires_at <= at))
            connection.execute(_index_sql(_DROP_EXTRA, connection))

    def _of_session(self, session_id: str) -> Iterator[Finding]:
        with self._database.read() as connection:
            found = select(SESSION).where(SESSION.c.id == session_id)
            session = connection.execute(found).mappings().first()
            if session is None:  # purged meanwhile
                return
            for reason in damaged_parts(session).values():
                part = getattr(reason.facts["what"], "code", "")
                yield _found(reason, session_id, is_repairable=part in _DERIVED_PARTS)
            yield from self._of_messages(connection, session)
            yield from self._of_sizes(connection, session)
            yield from self._of_index(connection, session)
            yield from self._of_records(connection, session)

    def _of_messages(self, connection: Connection, session: RowMapping) -> Iterator[Finding]:
        session_id, length, facts, next_seq = session["id"], session["length"], 0, 1
        for row in _pages(connection, session_id):
            yield from _missing(session_id, next_seq, row.seq)
            next_seq = row.seq + 1
            try:
                load_message(row.body, session_id=session_id, seq=row.seq)
            except CorruptRecordError as error:
                reason = DamageCode.MESSAGE(number=row.seq, problem=error.problem)
                yield _found(reason, session_id)
            facts += not _are_facts(row.facts, row.role)
        if next_seq - 1 > length:
            reason = DamageCode.LENGTH(length=length, last=next_seq - 1)
            yield _derived(reason, session_id)
        yield from _missing(session_id, next_seq, length + 1)
        if facts:
            yield _derived(DamageCode.FACTS(count=facts), session_id)

    def _of_sizes(self, connection: Connection, session: RowMapping) -> Iterator[Finding]:
        """Counters whose sizes have gaps or whose running sums are not those of their sizes."""
        own = MESSAGE_TOKENS.c.session_id == session["id"]
        counters = list(
            connection.execute(select(MESSAGE_TOKENS.c.counter_id).where(own).distinct()).scalars()
        )
        if session["length"] and session["counter_id"] not in counters:
            counters.append(session["counter_id"])
        for counter_id in counters:
            if not _is_summed(connection, session, counter_id):
                yield _derived(DamageCode.SIZES(counter=counter_id), session["id"])

    def _of_index(self, connection: Connection, session: RowMapping) -> Iterator[Finding]:
        """Messages that search should find and does not."""
        sql = _index_sql(_LACKING, connection)
        values = {"session_id": session["id"], "last": session["indexed_until"]}
        if count := int(connection.execute(sql, values).scalar_one()):
            # A damaged message has no words, and its neighbours are found without it.
            unread = len(list(self._unreadable(connection, session)))
            if count > unread:
                yield _derived(DamageCode.INDEX(count=count - unread), session["id"])

    def _unreadable(self, connection: Connection, session: RowMapping) -> Iterator[int]:
        for row in _pages(connection, session["id"]):
            try:
                load_message(row.body, session_id=session["id"], seq=row.seq)
            except CorruptRecordError:
                yield row.seq

    def _of_records(self, connection: Connection, session: RowMapping) -> Iterator[Finding]:
        session_id = session["id"]
        compactions = select(COMPACTION).where(COMPACTION.c.session_id == session_id)
        rows = connection.execute(compactions.order_by(COMPACTION.c.number)).mappings().all()
        ids = {row["id"] for row in rows}
        for info in map(to_compaction_info, rows):
            if info.damage is not None:
                yield _found(info.damage, session_id)
            if info.parent_id is not None and info.parent_id not in ids:
                yield _found(DamageCode.PARENT(number=info.number), session_id)
        if (active := session["active_compaction_id"]) is not None and active not in ids:
            yield _found(DamageCode.ACTIVE(), session_id)
        for what, table, load in _RECORDS:
            stored = select(table).where(table.c.session_id == session_id)
            read = cast("Callable[[RowMapping], object]", load)
            broken = sum(not _can(read, row) for row in connection.execute(stored).mappings())
            if broken:
                yield _found(DamageCode.ROWS(count=broken, what=what()), session_id)
        broken = len(_broken_checkpoints(connection, session_id))
        if broken:
            yield _derived(DamageCode.CHECKPOINT(count=broken), session_id)

    def _repair(self, finding: Finding) -> bool:
        """Makes again what `finding` says is damaged; False where that is not possible."""
        session_id, code = finding.session_id or "", finding.reason.code
        if code == DamageCode.SIZES:
            return self._recount(session_id, str(finding.reason.facts["counter"]))
        if code == DamageCode.INDEX:
            self._index_again(session_id)
            return True
        with self._database.write() as connection:
            own = update(SESSION).where(SESSION.c.id == session_id)
            if code == DamageCode.LENGTH:
                connection.execute(own, {"length": finding.reason.facts["last"]})
            elif code == DamageCode.FACTS:
                _forget_facts(connection, session_id)
            elif code == DamageCode.CHECKPOINT:
                for version, seq in _broken_checkpoints(connection, session_id):
                    state = delete(RULE_STATE).where(RULE_STATE.c.session_id == session_id)
                    at = (RULE_STATE.c.version == version) & (RULE_STATE.c.seq == seq)
                    connection.execute(state.where(at))
            else:
                part = getattr(finding.reason.facts["what"], "code", "")
                _renew_part(connection, session_id, _DERIVED_PARTS[cast("RecordCode", part)])
        self._database.rule_books.forget([session_id])
        return True

    def _recount(self, session_id: str, counter_id: str) -> bool:
        try:
            counter = known_counter(session_id, counter_id)
        except UnknownCounterError:
            return False
        with self._database.write() as connection:
            own = MESSAGE_TOKENS.c.session_id == session_id
            connection.execute(
                delete(MESSAGE_TOKENS).where(own, MESSAGE_TOKENS.c.counter_id == counter_id)
            )
        cast("Histories", self).recount(session_id, counter)
        self._database.known_rows.forget([session_id])
        return True

    def _index_again(self, session_id: str) -> None:
        with self._database.write() as connection:
            connection.execute(index_sql(connection, "erase"), {"session_id": session_id})
            own = update(SESSION).where(SESSION.c.id == session_id)
            connection.execute(own, {"indexed_until": 0})
        while cast("Searching", self).index_pending(session_id, limit=_STRETCH):
            pass


def _of_postgres(connection: Connection) -> Iterator[Finding]:
    """Pages that failed their checksums, and rows that name others which are missing.

    The server keeps references itself, unless somebody switched that off, e.g. to restore a dump.
    """
    failures = connection.execute(text(_CHECKSUM_FAILURES)).scalar()
    if failures:
        problem = f"{failures} pages failed their checksums"
        yield Finding(reason=DamageCode.FILE(problem=foreign(problem)))
    for table in Row.metadata.sorted_tables:
        for constraint in table.foreign_key_constraints:
            yield from _orphans(connection, table, constraint)


def _orphans(
    connection: Connection, table: Table, constraint: ForeignKeyConstraint
) -> Iterator[Finding]:
    parent = constraint.referred_table.alias("parent")
    pairs = [(one.parent, parent.c[one.column.name]) for one in constraint.elements]
    is_there = exists().where(*(own == other for own, other in pairs))
    named = [own.is_not(None) for own, _ in pairs]
    found = select(*table.primary_key.columns).where(*named, ~is_there).limit(MOST_PROBLEMS)
    for row in connection.execute(found):
        where = {"table": table.name, "row": " ".join(map(str, row))}
        yield Finding(reason=DamageCode.REFERENCE(**where, parent=constraint.referred_table.name))


def _found(reason: Reason, session_id: str, *, is_repairable: bool = False) -> Finding:
    return Finding(reason=reason, session_id=session_id, is_repairable=is_repairable)


def _derived(reason: Reason, session_id: str | None = None) -> Finding:
    return Finding(reason=reason, session_id=session_id, is_repairable=True)


def _missing(session_id: str, first: int, end: int) -> Iterator[Finding]:
    for seq in range(first, end):
        yield _found(DamageCode.MISSING(number=seq), session_id)


def _pages(connection: Connection, session_id: str) -> Iterator[Any]:
    """The messages of a session, some at a time."""
    last = 0
    columns = (MESSAGE.c.seq, MESSAGE.c.role, MESSAGE.c.body, MESSAGE.c.facts)
    while True:
        page: Select[Any] = select(*columns).where(
            MESSAGE.c.session_id == session_id, MESSAGE.c.seq > last
        )
        rows = connection.execute(page.order_by(MESSAGE.c.seq).limit(_STRETCH)).all()
        yield from rows
        if len(rows) < _STRETCH:
            return
        last = rows[-1].seq


def _are_facts(stored: str | None, role: Role) -> bool:
    try:
        load_facts(stored, role)
    except (ValueError, RecursionError):
        return False
    return True


def _can(load: Callable[[RowMapping], object], row: RowMapping) -> bool:
    try:
        load(readable(row))
    except CorruptRecordError:
        return False
    return True


def _is_summed(connection: Connection, session: RowMapping, counter_id: str) -> bool:
    """Whether the sizes by a counter are those of messages 1 … n, and their sums are right.

    The session's own counter has to reach the last message.
    """
    columns = (
        MESSAGE_TOKENS.c.seq,
        MESSAGE_TOKENS.c.tokens,
        MESSAGE_TOKENS.c.short_tokens,
        MESSAGE_TOKENS.c.cum,
        MESSAGE_TOKENS.c.short_cum,
        MESSAGE.c.role,
    )
    both = (MESSAGE.c.session_id == MESSAGE_TOKENS.c.session_id) & (
        MESSAGE.c.seq == MESSAGE_TOKENS.c.seq
    )
    own = (MESSAGE_TOKENS.c.session_id == session["id"]) & (
        MESSAGE_TOKENS.c.counter_id == counter_id
    )
    rows = select(*columns).outerjoin(MESSAGE, both).where(own).order_by(MESSAGE_TOKENS.c.seq)
    last = total = sent = 0
    for seq, tokens, short, cum, short_cum, role in connection.execute(rows):
        last, total = last + 1, total + tokens
        if role is None:  # what is missing was counted as what it was
            sent = short_cum
        elif role not in ("system", "developer"):
            sent += tokens if short is None else short
        if seq != last or (cum, short_cum) != (total, sent):
            return False
    return bool(counter_id != session["counter_id"] or last >= session["length"])


def _broken_checkpoints(connection: Connection, session_id: str) -> list[tuple[str, int]]:
    found = select(RULE_STATE).where(RULE_STATE.c.session_id == session_id)
    broken = []
    for row in connection.execute(found).mappings():
        try:
            load_standing(row["standing"])
            load_taken(row["taken"])
        except (ValueError, TypeError, RecursionError):
            broken.append((row["version"], row["seq"]))
    return broken


def _forget_facts(connection: Connection, session_id: str) -> None:
    """Has facts that cannot be read found again, as those of older messages are."""
    for row in list(_pages(connection, session_id)):
        if not _are_facts(row.facts, row.role):
            own = (MESSAGE.c.session_id == session_id) & (MESSAGE.c.seq == row.seq)
            connection.execute(update(MESSAGE).where(own), {"facts": None, "rules": None})


def _renew_part(connection: Connection, session_id: str, name: str) -> None:
    if name == "rule_edits":
        renew_edits(connection, session_id)
        return
    value: list[int] | None = None
    if name == "system_seqs":
        roles = MESSAGE.c.role.in_(("system", "developer"))
        found = select(MESSAGE.c.seq).where(MESSAGE.c.session_id == session_id, roles)
        value = list(connection.execute(found.order_by(MESSAGE.c.seq)).scalars())
    connection.execute(update(SESSION).where(SESSION.c.id == session_id), {name: value})


def _index_sql(statement: str, connection: Connection) -> TextClause:
    """A statement about the full-text index, whose rows have the ids of messages."""
    return text(statement.format(key="id" if connection.dialect.name == "postgresql" else "rowid"))
