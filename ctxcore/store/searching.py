"""Searches messages by their words, over all sessions of a user that are not deleted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from sqlalchemy import Connection, bindparam, func, select, update

from ctxcore.recalling.index_words import message_words
from ctxcore.recalling.requests import Query, read_request
from ctxcore.recalling.searching import search
from ctxcore.store.appending import add_words, get_session
from ctxcore.store.database import Area
from ctxcore.store.rows import read_message
from ctxcore.store.search_text import excerpt_of
from ctxcore.store.term_places import Place, user_term_places
from ctxcore.store.values import SearchHit
from ctxcore.tables import MESSAGE, MESSAGE_TOKENS, SESSION

_APART: Final = 1 << 32  # between the numbers of two sessions; more messages than one ever has
_END: Final = 1 << 62

_of_messages = MESSAGE.c.id.in_(bindparam("ids", expanding=True))
_SIZES = (
    select(MESSAGE.c.id, func.coalesce(MESSAGE_TOKENS.c.tokens, 1))
    .join(SESSION, SESSION.c.id == MESSAGE.c.session_id)
    .outerjoin(
        MESSAGE_TOKENS,
        (MESSAGE_TOKENS.c.session_id == MESSAGE.c.session_id)
        & (MESSAGE_TOKENS.c.counter_id == SESSION.c.counter_id)
        & (MESSAGE_TOKENS.c.seq == MESSAGE.c.seq),
    )
    .where(_of_messages)
)
_HITS = (
    select(
        *(MESSAGE.c[name] for name in ("id", "session_id", "seq", "role", "body", "created_at")),
        SESSION.c.title,
    )
    .join(SESSION, SESSION.c.id == MESSAGE.c.session_id)
    .where(_of_messages)
)


class Searching(Area):
    """The full-text search of messages."""

    def search(
        self,
        user_id: str,
        query: str,
        *,
        limit: int = 20,
        least_rarity: float = 0.0,
        without: str | None = None,
    ) -> list[SearchHit]:
        sought = read_request(query)
        if not sought.terms:
            return []
        with self._database.read() as connection:
            sessions = _Sessions(connection, user_id)
            found = search(sessions, sought, before=_END)
            meant = (one for one in found if one.rarity > 0 and one.rarity >= least_rarity)
            own = sessions.numbers_of(without)
            ids = [sessions.id_of(one.seq) for one in meant if one.seq not in own][: max(0, limit)]
            rows = {row.id: row for row in connection.execute(_HITS, {"ids": ids})}
        return [_hit(rows[message_id], sought) for message_id in ids if message_id in rows]

    def index_pending(self, session_id: str, *, limit: int = 500) -> int:
        with self._database.write() as connection:
            session = get_session(connection, session_id, locks=True)
            done = session["indexed_until"]
            end = min(done + limit, session["length"])
            page = select(MESSAGE.c.seq, MESSAGE.c.role, MESSAGE.c.body).where(
                MESSAGE.c.session_id == session_id, MESSAGE.c.seq.between(done + 1, end)
            )
            rows = connection.execute(page.order_by(MESSAGE.c.seq)).all()
            read = (
                (seq, *read_message(body, role, session_id=session_id, seq=seq))
                for seq, role, body in rows
            )
            words = {seq: message_words(message) for seq, message, damage in read if not damage}
            add_words(connection, session_id, words)
            moved = update(SESSION).where(SESSION.c.id == session_id)
            connection.execute(moved, {"indexed_until": end})
            return int(session["length"] - end)


class _Sessions:
    """All sessions of a user as one history that can be searched.

    Their messages are numbered so that none stands beside one of another session; the higher
    numbers belong to the sessions with the newer matches.
    """

    def __init__(self, connection: Connection, user_id: str) -> None:
        self._connection = connection
        self._user_id = user_id
        self._ids: dict[int, int] = {}
        self._messages = 0
        self._starts: dict[str, int] = {}

    def count(self) -> int:
        return self._messages

    def having(
        self,
        terms: Sequence[Sequence[str]],
        *,
        before: int,
        most: int,
    ) -> list[list[int]]:
        found, self._messages = user_term_places(self._connection, self._user_id, terms, most=most)
        starts = self._starts = _starts(place for places in found for place in places)
        numbered = [[(starts[p.session_id] + p.seq, p.id) for p in places] for places in found]
        self._ids = {number: message_id for places in numbered for number, message_id in places}
        return [sorted((number for number, _ in places), reverse=True) for places in numbered]

    def spans_tokens(self, spans: Sequence[tuple[int, int]]) -> list[int]:
        ids = [self._ids[first] for first, _ in spans]
        sizes = dict(map(tuple, self._connection.execute(_SIZES, {"ids": ids})))
        return [sizes.get(message_id, 1) for message_id in ids]

    def numbers_of(self, session_id: str | None) -> range:
        """The numbers of a session's messages; none where it has no match."""
        start = self._starts.get(session_id or "")
        return range(0) if start is None else range(start, start + _APART)

    def id_of(self, number: int) -> int:
        """The id of a message that has a term."""
        return self._ids[number]


def _starts(places: Iterable[Place]) -> dict[str, int]:
    """What the numbers of each session begin behind."""
    newest: dict[str, int] = {}
    for place in places:
        newest[place.session_id] = max(place.id, newest.get(place.session_id, 0))
    ordered = sorted(newest, key=newest.__getitem__)
    return {session_id: at * _APART for at, session_id in enumerate(ordered, start=1)}


def _hit(row: Any, query: Query) -> SearchHit:
    message, _ = read_message(row.body, row.role, session_id=row.session_id, seq=row.seq)
    return SearchHit(
        session_id=row.session_id,
        title=row.title,
        seq=row.seq,
        role=row.role,
        excerpt=excerpt_of(message, query),
        created_at=row.created_at,
    )
