"""Owns histories: appending to them, reading them, counting them anew, copying their beginning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from sqlalchemy import insert, select

from ctxcore.assembly.history import Counted, HistoryView
from ctxcore.messages.values import Message, Role
from ctxcore.store.appending import (
    Batch,
    Sizes,
    get_session,
    prepare,
    read_tracker,
    size_row,
    sums_at,
    token_rows,
    write,
)
from ctxcore.store.area import Area
from ctxcore.store.forking import block_end, copy_session
from ctxcore.store.recounting import count_end, counted_until, read_page
from ctxcore.store.rows import to_message_info, to_session_info
from ctxcore.store.scaling import scale_to
from ctxcore.store.values import MessageInfo, SessionInfo
from ctxcore.store.view import StoredHistory
from ctxcore.tables import MESSAGE, MESSAGE_TOKENS
from ctxcore.tokens.counter import TokenCounter


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
        )
        with self._database.read() as connection:
            session = get_session(connection, session_id)
            tracker = read_tracker(connection, session, batch)
        prepared = prepare(session, tracker, batch)
        with self._database.write() as connection:
            locked = get_session(connection, session_id, locks=True)
            return write(connection, locked, batch, prepared)

    def messages(
        self,
        session_id: str,
        first: int = 1,
        last: int | None = None,
        *,
        role: Role | None = None,
    ) -> list[MessageInfo]:
        found = select(MESSAGE).where(MESSAGE.c.session_id == session_id, MESSAGE.c.seq >= first)
        if last is not None:
            found = found.where(MESSAGE.c.seq <= last)
        if role is not None:
            found = found.where(MESSAGE.c.role == role)
        self._require(session_id)
        return self._list(found.order_by(MESSAGE.c.seq), to_message_info)

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
    ) -> SessionInfo:
        given = {"id": fork_id, "title": title, "user_id": user_id}
        new = {key: value for key, value in given.items() if value is not None}
        with self._database.write() as connection:
            session = get_session(connection, session_id, locks=True)
            end = block_end(connection, session, at_seq)
            copy_session(connection, session, end, new=new, new_id=new_id, at=at)
            return to_session_info(get_session(connection, fork_id))

    def _recount_batch(
        self, session_id: str, counter: TokenCounter, batch_messages: int
    ) -> tuple[int, int]:
        """Counts the next messages; how many are counted now, and how many there are."""
        with self._database.read() as connection:
            done = counted_until(connection, session_id, counter.id)
            rows = read_page(connection, session_id, done, batch_messages)
        sizes = _count(rows, counter)
        with self._database.write() as connection:
            session = get_session(connection, session_id, locks=True)
            if rows and counted_until(connection, session_id, counter.id) == done:
                sums = sums_at(connection, session_id, done, [counter.id])[counter.id]
                added = token_rows(session_id, rows, sizes, sums)
                connection.execute(insert(MESSAGE_TOKENS), added)
            return count_end(connection, session, counter.id), session["length"]

    def _require(self, session_id: str) -> None:
        with self._database.read() as connection:
            get_session(connection, session_id)


def _count(rows: Sequence[Counted], counter: TokenCounter) -> Sizes:
    sizes = [size_row(row, counter) for row in rows]
    return Sizes(
        counter_id=counter.id,
        tokens=[tokens for tokens, _ in sizes],
        short_tokens=[short_tokens for _, short_tokens in sizes],
    )
