"""Owns reading the facts that were found when messages were appended.

Rows from before facts were stored have none; theirs are found when they are read, and never
written: rows of messages are only ever inserted.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import Lock
from typing import Any, Final

from sqlalchemy import Connection, Select, bindparam, select, text

from ctxcore.facts.finding import INSTRUCTING, find_rules, load_facts
from ctxcore.facts.ledger import Entry, RuleBook, rules_among
from ctxcore.facts.values import Fact
from ctxcore.messages.values import Role
from ctxcore.reasons.foreign import reason_of
from ctxcore.store.errors import CorruptMessageError
from ctxcore.store.rows import load_message
from ctxcore.tables import MESSAGE

MOST_BOOKS: Final = 256  # sessions whose rules stay known, those asked for last

Said = tuple[int, Sequence[Fact]]

_asked = (
    MESSAGE.c.session_id == bindparam("session_id"),
    MESSAGE.c.seq.between(bindparam("first"), bindparam("last")),
)
_FACTS: Select[Any] = (
    select(MESSAGE.c.seq, MESSAGE.c.role, MESSAGE.c.facts).where(*_asked).order_by(MESSAGE.c.seq)
)
_RULES: Select[Any] = (
    select(
        MESSAGE.c.seq,
        MESSAGE.c.role,
        MESSAGE.c.facts,
        MESSAGE.c.body,
    )
    # in the words of its index, which no other rows are in
    .where(*_asked, text("(message.rules IS NULL OR message.rules > 0)"))
    .where(MESSAGE.c.role.in_(INSTRUCTING))
    .order_by(MESSAGE.c.seq)
)


def read_facts(
    connection: Connection, session_id: str, first: int, last: int
) -> list[tuple[int, tuple[Fact, ...] | None]]:
    """The facts of the messages first … last; None where they are to be found."""
    asked = {"session_id": session_id, "first": first, "last": last}
    return [
        (seq, _load(stored, role, session_id, seq))
        for seq, role, stored in connection.execute(_FACTS, asked)
    ]


def read_rules(connection: Connection, session_id: str, first: int, last: int) -> Iterator[Said]:
    """What of the messages first … last lays down or takes back rules; no other one is read."""
    asked = {"session_id": session_id, "first": first, "last": last}
    for seq, role, stored, body in connection.execute(_RULES, asked):
        found = _load(stored, role, session_id, seq)
        if found is not None:
            yield seq, rules_among(found)
        else:
            yield seq, find_rules(load_message(body, session_id=session_id, seq=seq))


def _load(stored: str | None, role: Role, session_id: str, seq: int) -> tuple[Fact, ...] | None:
    try:
        return load_facts(stored, role)
    except ValueError as error:
        raise CorruptMessageError(
            session_id=session_id, seq=seq, problem=reason_of(error)
        ) from error


class RuleBooks:
    """The rules of the sessions that were asked for last; safe to share between threads.

    What was read stays known, since no message ever changes; an erased session is forgotten.
    """

    def __init__(self) -> None:
        self._books: OrderedDict[str, tuple[Lock, RuleBook]] = OrderedDict()
        self._lock = Lock()

    def standing(
        self, session_id: str, until: int, read: Callable[[int, int], Iterable[Said]]
    ) -> tuple[Entry, ...]:
        """The instructions that held at message `until`; only what is new since is `read`."""
        lock, book = self._book(session_id)
        with lock:
            if book.read_until < until:
                for seq, facts in read(book.read_until + 1, until):
                    book.add(seq, facts)
                book.read_until = until
            return book.standing(until)

    def forget(self, session_ids: Iterable[str]) -> None:
        """Drops what is known of erased sessions."""
        with self._lock:
            for session_id in session_ids:
                self._books.pop(session_id, None)

    def _book(self, session_id: str) -> tuple[Lock, RuleBook]:
        with self._lock:
            kept = self._books.setdefault(session_id, (Lock(), RuleBook()))
            self._books.move_to_end(session_id)
            if len(self._books) > MOST_BOOKS:
                self._books.popitem(last=False)
            return kept
