"""Owns where a recount stands: a counter's counts always reach from message 1 to some place."""

from __future__ import annotations

from sqlalchemy import Connection, RowMapping, func, select, update

from ctxcore.assembly.history import Counted
from ctxcore.store.rows import load_message
from ctxcore.tables import MESSAGE, MESSAGE_TOKENS, SESSION


def counted_until(connection: Connection, session_id: str, counter_id: str) -> int:
    """The last message that is counted by the counter; 0 if none is."""
    last = select(func.max(MESSAGE_TOKENS.c.seq)).where(
        MESSAGE_TOKENS.c.session_id == session_id, MESSAGE_TOKENS.c.counter_id == counter_id
    )
    return int(connection.execute(last).scalar() or 0)


def read_page(connection: Connection, session_id: str, after: int, limit: int) -> list[Counted]:
    """The next messages behind `after`, not counted yet."""
    page = select(MESSAGE.c.seq, MESSAGE.c.body, MESSAGE.c.function_name, MESSAGE.c.short).where(
        MESSAGE.c.session_id == session_id, MESSAGE.c.seq > after
    )
    rows = connection.execute(page.order_by(MESSAGE.c.seq).limit(limit)).all()
    return [
        Counted(
            seq=row.seq,
            message=load_message(row.body, session_id=session_id, seq=row.seq),
            tokens=0,
            block=0,
            function_name=row.function_name,
            short=row.short,
        )
        for row in rows
    ]


def count_end(connection: Connection, session: RowMapping, counter_id: str) -> int:
    """How far the counter has come; at the end of the locked `session` it becomes its own."""
    done = counted_until(connection, session["id"], counter_id)
    if done == session["length"]:
        own = update(SESSION).where(SESSION.c.id == session["id"])
        connection.execute(own, {"counter_id": counter_id})
    return done
