"""Appends, reads, recounts and forks the messages of sessions.

A fork copies whole blocks inside the database, with sizes, words, marks and edits of rules. Turns,
calls and events stay with the parent session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Connection,
    RowMapping,
    Select,
    Table,
    bindparam,
    func,
    insert,
    literal,
    select,
    update,
)

from ctxcore.assembly.history import Counted, HistoryView
from ctxcore.assembly.prompts import PromptChange, changes_to_json, until
from ctxcore.messages.values import Message, Role, text_message
from ctxcore.store.appending import (
    Batch,
    get_session,
    prepare,
    size_row,
    sums_at,
    with_changes,
    write,
    write_sizes,
)
from ctxcore.store.database import Area, index_sql
from ctxcore.store.errors import CorruptRecordError, RecordKind, RecordNotFoundError
from ctxcore.store.rows import (
    dump_compaction,
    load_changes,
    load_compaction,
    missing_message,
    to_message_info,
    to_session_info,
)
from ctxcore.store.rule_books import write_checkpoint
from ctxcore.store.rule_editing import renew_edits
from ctxcore.store.session_rules import SessionRules
from ctxcore.store.sessions import insert_session
from ctxcore.store.values import MessageInfo, SessionInfo
from ctxcore.store.view import StoredHistory, scale_to
from ctxcore.tables import (
    CALL,
    COMPACTION,
    MARK,
    MESSAGE,
    MESSAGE_TOKENS,
    POLICY,
    RULE_EDIT,
    RULE_STATE,
    SESSION,
    SIGNAL,
)
from ctxcore.tokens.families import TokenCounter

_INFO: Select[Any] = select(
    MESSAGE.c.seq,
    MESSAGE.c.body,
    MESSAGE.c.block,
    MESSAGE.c.function_name,
    MESSAGE.c.short,
    MESSAGE.c.turn_id,
    MESSAGE.c.created_at,
    MESSAGE.c.role,
)


def _family() -> Select[Any]:
    """The sessions above one, and all below those."""
    own = select(SESSION.c.id, SESSION.c.parent_id).where(SESSION.c.id == bindparam("session_id"))
    above = own.cte("above", recursive=True)
    parents = select(SESSION.c.id, SESSION.c.parent_id).join(
        above, SESSION.c.id == above.c.parent_id
    )
    above = above.union(parents)
    below = select(above.c.id).cte("below", recursive=True)
    below = below.union(select(SESSION.c.id).join(below, SESSION.c.parent_id == below.c.id))
    found = select(SESSION).where(SESSION.c.id.in_(select(below.c.id)))
    return found.order_by(SESSION.c.created_at, SESSION.c.id)


_FAMILY = _family()
_NEAR = 50  # messages behind a missing one that may belong to the same calls; chosen


class Histories(Area):
    """The messages of sessions."""

    def append(
        self,
        session_id: str,
        messages: Sequence[Message],
        *,
        counter: TokenCounter,
        at: datetime,
        times: Sequence[datetime | None] | None = None,
        oversize_tokens: int | None = None,
        turn_id: str | None = None,
        indexes: bool = True,
        shorts: Sequence[str | None] | None = None,
        expected_length: int | None = None,
    ) -> list[int]:
        if not messages:
            return []
        batch = Batch(
            messages=messages,
            counter=counter,
            at=at,
            times=times,
            oversize_tokens=oversize_tokens,
            turn_id=turn_id,
            indexes=indexes,
            shorts=shorts,
            expected_length=expected_length,
        )
        return self._append(session_id, batch)

    def set_system(
        self, session_id: str, text: str | None, *, counter: TokenCounter, at: datetime
    ) -> int | None:
        if text is None:
            with self._database.write() as connection:
                session = get_session(connection, session_id, locks=True)
                change = PromptChange.to_none(session["length"])
                changed = {**with_changes(session, [change]), "updated_at": at}
                connection.execute(update(SESSION).where(SESSION.c.id == session_id), changed)
            return None
        message = text_message("system", text)
        batch = Batch(messages=[message], counter=counter, at=at, sets_system=True)
        [seq] = self._append(session_id, batch)
        return seq

    def _append(self, session_id: str, batch: Batch) -> list[int]:
        """Adds a batch, and what is due of the rules before it."""
        books = self._database.rule_books
        prepared = prepare(self._database, session_id, batch)
        edits = prepared.rule_edits
        rules = SessionRules(self._database, session_id, edits)
        checkpoint = books.due(session_id, prepared.after, rules)
        with self._database.write() as connection:
            session = get_session(connection, session_id, locks=True)
            if checkpoint is not None and checkpoint.seq <= session["length"]:
                write_checkpoint(connection, session_id, checkpoint, edits)
            written = write(connection, session, prepared)
        seqs = [row.seq for row in written.counted]
        books.follow(session_id, seqs[0], written.facts, checkpoint, edits)
        return seqs

    def restore_system(self, session_id: str, changes: Sequence[PromptChange]) -> None:
        with self._database.write() as connection:
            session = get_session(connection, session_id, locks=True)
            if any(change.since > session["length"] for change in changes):
                raise RecordNotFoundError(kind="message", record_id=changes[-1].since)
            if changes:
                column = {"system_changes": changes_to_json(changes)}
                connection.execute(update(SESSION).where(SESSION.c.id == session_id), column)

    def messages(
        self,
        session_id: str,
        first: int = 1,
        last: int | None = None,
        *,
        role: Role | None = None,
    ) -> list[MessageInfo]:
        found = _INFO.where(MESSAGE.c.session_id == session_id, MESSAGE.c.seq >= first)
        if last is not None:
            found = found.where(MESSAGE.c.seq <= last)
        if role is not None:
            found = found.where(MESSAGE.c.role == role)
        with self._database.read() as connection:
            session = get_session(connection, session_id)  # refuses an unknown session
            rows = connection.execute(found.order_by(MESSAGE.c.seq)).all()
        infos = [to_message_info(row, session_id) for row in rows]
        end = session["length"] if last is None else min(last, session["length"])
        return infos if role else with_missing(infos, session, range(first, end + 1))

    def record_counts(self, session_id: str) -> dict[RecordKind, int]:
        in_force = RULE_EDIT.c.cleared_at.is_(None)
        counted: dict[RecordKind, Select[Any]] = {
            "call": _count(CALL, session_id),
            "signal": _count(SIGNAL, session_id),
            "rule edit": _count(RULE_EDIT, session_id).where(in_force),
        }
        with self._database.read() as connection:
            return {
                kind: int(connection.execute(statement).scalar_one())
                for kind, statement in counted.items()
            }

    def view(self, session_id: str, counter_id: str | None = None) -> HistoryView:
        return StoredHistory(self._database, session_id, counter_id)

    def estimated_view(self, session_id: str, counter: TokenCounter) -> HistoryView:
        return scale_to(StoredHistory(self._database, session_id, None), counter)

    def has_counts(self, session_id: str, counter_id: str) -> bool:
        with self._database.read() as connection:
            session = get_session(connection, session_id)
            return bool(sums_at(connection, session_id, session["length"], [counter_id]))

    def recount(
        self,
        session_id: str,
        counter: TokenCounter,
        *,
        batch_messages: int = 500,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> None:
        while True:
            done, length = self._recount_batch(session_id, counter, batch_messages)
            if on_progress is not None:
                on_progress(done, length)
            if done == length:
                return

    def fork(
        self,
        session_id: str,
        at_seq: int,
        *,
        fork_id: str,
        new_id: Callable[[], str],
        at: datetime,
        title: str | None = None,
        user_id: str | None = None,
        origin: str = "fork",
    ) -> SessionInfo:
        given = {"id": fork_id, "title": title, "user_id": user_id, "origin": origin}
        new = {key: value for key, value in given.items() if value is not None}
        with self._database.write() as connection:
            session = get_session(connection, session_id, locks=True)
            end = _block_end(connection, session, at_seq) if at_seq else 0
            _copy_session(connection, session, end, new=new, new_id=new_id, at=at)
            return to_session_info(get_session(connection, fork_id))

    def relatives(self, session_id: str) -> list[SessionInfo]:
        with self._database.read() as connection:
            get_session(connection, session_id)  # refuses an unknown session
            found = connection.execute(_FAMILY, {"session_id": session_id}).mappings().all()
        return [to_session_info(row) for row in found]

    def _recount_batch(
        self, session_id: str, counter: TokenCounter, batch_messages: int
    ) -> tuple[int, int]:
        """Counts the next messages; returns how many are counted now, and how many there are."""
        with self._database.read() as connection:
            done = _counted_until(connection, session_id, counter.id)
            rows = _read_page(connection, session_id, done, batch_messages)
        sizes = [size_row(row, counter) for row in rows]
        with self._database.write() as connection:
            session = get_session(connection, session_id, locks=True)
            now = _counted_until(connection, session_id, counter.id)
            if rows and now == done:
                sums = sums_at(connection, session_id, done, [counter.id])[counter.id]
                write_sizes(connection, session_id, counter.id, rows, sizes, sums)
                now = rows[-1].seq
            if now == session["length"]:
                own = update(SESSION).where(SESSION.c.id == session_id)
                connection.execute(own, {"counter_id": counter.id})
            return now, session["length"]


def _count(table: Table, session_id: str) -> Select[Any]:
    return select(func.count()).select_from(table).where(table.c.session_id == session_id)


def with_missing(infos: list[MessageInfo], session: RowMapping, wanted: range) -> list[MessageInfo]:
    """`infos` with what stands for those of the messages `wanted` that the database lacks."""
    if len(infos) >= len(wanted):
        return infos
    known = {info.seq: info for info in infos}
    complete: list[MessageInfo] = []
    for seq in wanted:
        before = complete[-1] if complete else None
        complete.append(known.get(seq) or _missing(session, seq, before, known))
    return complete


def _missing(
    session: RowMapping, seq: int, before: MessageInfo | None, known: Mapping[int, MessageInfo]
) -> MessageInfo:
    """What stands for message `seq`; a result where the calls before it go on behind it."""
    following = next((known[at] for at in range(seq + 1, seq + _NEAR) if at in known), None)
    joins = before is not None and following is not None and following.block == before.block
    role: Role = "system" if seq in session["system_seqs"] else "tool" if joins else "assistant"
    message, damage = missing_message(role, session_id=session["id"], seq=seq)
    return MessageInfo(
        seq=seq,
        message=message,
        block=before.block if before is not None and joins else seq,
        function_name="",
        short=None,
        turn_id=None,
        created_at=before.created_at if before is not None else session["created_at"],
        damage=damage,
    )


def _block_end(connection: Connection, session: RowMapping, seq: int) -> int:
    """The last message of the block that message `seq` lies in.

    Raises:
        RecordNotFoundError: the session has no such message.
    """
    if not 0 < seq <= session["length"]:
        raise RecordNotFoundError(kind="message", record_id=seq)
    of_session = MESSAGE.c.session_id == session["id"]
    block = select(MESSAGE.c.block).where(of_session, MESSAGE.c.seq == seq).scalar_subquery()
    behind = select(MESSAGE.c.seq).where(of_session, MESSAGE.c.seq > seq, MESSAGE.c.block != block)
    found = connection.execute(behind.order_by(MESSAGE.c.seq).limit(1)).scalar()
    return int(session["length"] if found is None else found - 1)


def _copy_session(
    connection: Connection,
    session: RowMapping,
    end: int,
    *,
    new: Mapping[str, Any],
    new_id: Callable[[], str],
    at: datetime,
) -> None:
    """Makes the session `new` with messages 1 … `end` of `session`."""
    copied = {key: session[key] for key in ("user_id", "title", "model", "tools", "working")}
    place = {"parent_id": session["id"], "parent_seq": end}
    insert_session(connection, {**copied, **place, "created_at": at, "updated_at": at, **new})
    ids = {"old_id": session["id"], "new_id": new["id"]}
    for table in (MESSAGE, MESSAGE_TOKENS, RULE_STATE, MARK, RULE_EDIT):
        _copy_rows(connection, table, end, **ids)
    renew_edits(connection, new["id"])
    connection.execute(index_sql(connection, "copy"), ids)
    _copy_policy(connection, at=at, **ids)
    active = _copy_compactions(connection, session, end, new["id"], new_id)
    head = _head(connection, session, end)
    recalls = [one for one in session["recalls"] or () if one[0] <= end] if active else []
    changed = {**head, "active_compaction_id": active, "recalls": recalls or None}
    connection.execute(update(SESSION).where(SESSION.c.id == new["id"]), changed)


def _copy_rows(connection: Connection, table: Table, end: int, *, old_id: str, new_id: str) -> None:
    """Copies the rows of `table` up to message `end`; turns stay with the parent."""
    names = [column.name for column in table.columns if column.name != "id"]
    values: dict[str, str | None] = {"session_id": new_id, "turn_id": None}
    picked = [
        literal(values[name], table.c[name].type) if name in values else table.c[name]
        for name in names
    ]
    rows = select(*picked).where(table.c.session_id == old_id, table.c.seq <= end)
    connection.execute(insert(table).from_select(names, rows.order_by(table.c.seq)))


def _copy_policy(connection: Connection, *, old_id: str, new_id: str, at: datetime) -> None:
    is_its_own = (POLICY.c.scope == "session") & (POLICY.c.owner == old_id)
    newest = select(POLICY).where(is_its_own).order_by(POLICY.c.version.desc()).limit(1)
    row = connection.execute(newest).mappings().first()
    if row is not None:
        kept = {key: value for key, value in row.items() if key != "id"}
        connection.execute(
            insert(POLICY), {**kept, "owner": new_id, "version": 1, "created_at": at}
        )


def _copy_compactions(
    connection: Connection,
    session: RowMapping,
    end: int,
    to_id: str,
    new_id: Callable[[], str],
) -> str | None:
    """Copies the records behind the active one that cover no more than `end`; the newest's id."""
    of_session = select(COMPACTION).where(COMPACTION.c.session_id == session["id"])
    by_id = {row["id"]: row for row in connection.execute(of_session).mappings()}
    chain, at = [], by_id.get(session["active_compaction_id"])
    while at is not None:
        chain.append(at)
        at = by_id.get(at["parent_id"])
    parent: str | None = None
    fitting = [row for row in reversed(chain) if row["covered_until"] <= end]
    for number, row in enumerate(fitting, start=1):
        copied = {"id": new_id(), "session_id": to_id, "number": number, "parent_id": parent}
        connection.execute(insert(COMPACTION), {**row, "body": _bounded(row, end), **copied})
        parent = str(copied["id"])
    return parent


def _bounded(row: RowMapping, end: int) -> str:
    """A compaction's body without the texts for tool outputs that were not copied."""
    try:
        record = load_compaction(row["body"], session_id=row["session_id"], compaction_id=row["id"])
    except CorruptRecordError:  # the copy is as damaged as what it copies
        return str(row["body"])
    shortened = tuple(pair for pair in record.shortened if pair[0] <= end)
    return dump_compaction(replace(record, shortened=shortened))


def _head(connection: Connection, session: RowMapping, end: int) -> dict[str, Any]:
    """The columns that describe a history which ends at `end`."""
    of_session = MESSAGE.c.session_id == session["id"]
    last = select(MESSAGE.c.block).where(of_session, MESSAGE.c.seq == end)
    users = select(func.max(MESSAGE.c.seq)).where(
        of_session, MESSAGE.c.seq <= end, MESSAGE.c.role == "user"
    )
    goal = session["goal_seq"]
    return {
        "length": end,
        "head_seq": connection.execute(last).scalar() or 0,
        "goal_seq": goal if goal is not None and goal <= end else None,
        "last_user_seq": connection.execute(users).scalar(),
        "system_seqs": [seq for seq in session["system_seqs"] if seq <= end],
        "system_changes": changes_to_json(until(load_changes(session), end)) or None,
        "counter_id": session["counter_id"],
        "indexed_until": min(end, session["indexed_until"]),
    }


def _counted_until(connection: Connection, session_id: str, counter_id: str) -> int:
    """The last message that is counted by the counter; 0 if none is."""
    last = select(func.max(MESSAGE_TOKENS.c.seq)).where(
        MESSAGE_TOKENS.c.session_id == session_id, MESSAGE_TOKENS.c.counter_id == counter_id
    )
    return int(connection.execute(last).scalar() or 0)


def _read_page(connection: Connection, session_id: str, after: int, limit: int) -> list[Counted]:
    """The next messages behind `after`, not counted yet; without gaps, as sizes are."""
    session = get_session(connection, session_id)
    wanted = range(after + 1, min(after + limit, session["length"]) + 1)
    page = _INFO.where(
        MESSAGE.c.session_id == session_id, MESSAGE.c.seq.between(after + 1, after + limit)
    )
    rows = connection.execute(page.order_by(MESSAGE.c.seq)).all()
    infos = [to_message_info(row, session_id) for row in rows]
    return [
        Counted(
            seq=info.seq,
            message=info.message,
            tokens=0,
            block=0,
            function_name=info.function_name,
            short=info.short,
        )
        for info in with_missing(infos, session, wanted)
    ]
