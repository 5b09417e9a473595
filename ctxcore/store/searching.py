"""Searches messages by their words, over all sessions of a user that are not deleted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from sqlalchemy import Connection, select, update

from ctxcore.store.appending import add_words, get_session
from ctxcore.store.database import Area, find_sql, index_query
from ctxcore.store.rows import load_message
from ctxcore.store.search_text import excerpt_of, message_words, phrases_of, scores
from ctxcore.store.values import SearchHit
from ctxcore.tables import MESSAGE, SESSION, UtcTime

# Chosen: a search takes some milliseconds however many messages match.
MOST_RANKED: Final = 500
RANKED_CHARS: Final = 4_000  # of a message


class Searching(Area):
    """The full-text search of messages."""

    def search(
        self, user_id: str, query: str, *, session_id: str | None = None, limit: int = 20
    ) -> list[SearchHit]:
        phrases = phrases_of(query)
        if not phrases:
            return []
        values = {"user_id": user_id, "limit": limit}
        if session_id is not None:
            values["session_id"] = session_id
        with self._database.read() as connection:
            rows = _find(connection, phrases, values)
        return [
            SearchHit(
                session_id=row.session_id,
                title=row.title,
                seq=row.seq,
                role=row.role,
                excerpt=excerpt_of(
                    load_message(row.body, session_id=row.session_id, seq=row.seq), query
                ),
                created_at=row.created_at,
            )
            for row in rows
        ]

    def index_pending(self, session_id: str, *, limit: int = 500) -> int:
        with self._database.write() as connection:
            session = get_session(connection, session_id, locks=True)
            done = session["indexed_until"]
            page = select(MESSAGE.c.seq, MESSAGE.c.body).where(
                MESSAGE.c.session_id == session_id, MESSAGE.c.seq > done
            )
            rows = connection.execute(page.order_by(MESSAGE.c.seq).limit(limit)).all()
            if rows:
                messages = (load_message(b, session_id=session_id, seq=seq) for seq, b in rows)
                add_words(connection, session_id, done + 1, [message_words(m) for m in messages])
                moved = update(SESSION).where(SESSION.c.id == session_id)
                connection.execute(moved, {"indexed_until": done + len(rows)})
            return int(session["length"] - done - len(rows))


def _find(
    connection: Connection, phrases: Sequence[Sequence[str]], values: Mapping[str, Any]
) -> Sequence[Any]:
    """The rows of the best matches; of very many, of the newest that have the very words.

    The index ranks a match by how many messages have each word, which means to read all of these.
    """

    def rows(order: Literal["ranked", "newest"], limit: int, *, begins: bool) -> Sequence[Any]:
        find = find_sql(connection, order, in_session="session_id" in values)
        query = index_query(connection, phrases, begins=begins)
        given = {**values, "query": query, "limit": limit}
        return connection.execute(find.columns(created_at=UtcTime()), given).all()

    most = max(MOST_RANKED, values["limit"])
    for begins in (False, True):  # to look for all words that begin so reads all of them as well
        newest = rows("newest", most + 1, begins=begins)
        if len(newest) > most:
            return _best(newest[:most], phrases, values["limit"])
    return rows("ranked", values["limit"], begins=True) if len(newest) > 1 else newest


def _best(rows: Sequence[Any], phrases: Sequence[Sequence[str]], limit: int) -> list[Any]:
    """Those of `rows` that have the phrases most often for their length, the newest first."""
    words = [
        message_words(
            load_message(row.body, session_id=row.session_id, seq=row.seq), most=RANKED_CHARS
        )
        for row in rows
    ]
    found = zip(scores(words, phrases), range(len(rows)), strict=True)
    return [rows[at] for _, at in sorted((-score, at) for score, at in found)[:limit]]
