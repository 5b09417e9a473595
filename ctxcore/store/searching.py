"""Searches messages by their words, over all sessions of a user that are not deleted."""

from __future__ import annotations

from sqlalchemy import select, update

from ctxcore.store.appending import add_words, get_session
from ctxcore.store.database import Area, index_query, index_sql
from ctxcore.store.rows import load_message
from ctxcore.store.search_text import excerpt_of, message_words, phrases_of
from ctxcore.store.values import SearchHit
from ctxcore.tables import MESSAGE, SESSION, UtcTime


class Searching(Area):
    """The full-text search of messages."""

    def search(
        self, user_id: str, query: str, *, session_id: str | None = None, limit: int = 20
    ) -> list[SearchHit]:
        phrases = phrases_of(query)
        if not phrases:
            return []
        with self._database.read() as connection:
            find = index_sql(connection, "find").columns(created_at=UtcTime())
            values = {"user_id": user_id, "session_id": session_id, "limit": limit}
            values["query"] = index_query(connection, phrases)
            rows = connection.execute(find, values).all()
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
