"""Reads the facts that were stored with messages, and caches the rules of sessions.

Rows that are older than stored facts have none; theirs are found when they are read and not
written, since rows of messages are only inserted.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from threading import Lock
from typing import Any, Final

from sqlalchemy import Connection, Select, bindparam, select, text

from ctxcore.facts.finding import INSTRUCTING, find_rules, load_facts
from ctxcore.facts.ledger import Entry, RuleBook, RulesTaken, rules_among
from ctxcore.facts.values import Fact
from ctxcore.messages.values import Role
from ctxcore.reasons.foreign import reason_of
from ctxcore.store.errors import CorruptMessageError
from ctxcore.store.rows import load_message
from ctxcore.tables import MESSAGE

MAX_BOOKS: Final = 256  # cached sessions, the last used ones; chosen: memory against reading again

MessageFacts = tuple[int, Sequence[Fact]]
"""A sequence number and the facts of that message."""

_in_range = (
    MESSAGE.c.session_id == bindparam("session_id"),
    MESSAGE.c.seq.between(bindparam("first"), bindparam("last")),
)
_FACTS: Select[Any] = (
    select(MESSAGE.c.seq, MESSAGE.c.role, MESSAGE.c.facts).where(*_in_range).order_by(MESSAGE.c.seq)
)
_RULES: Select[Any] = (
    select(MESSAGE.c.seq, MESSAGE.c.role, MESSAGE.c.facts, MESSAGE.c.body)
    # The text of the partial index's condition, so that the planner uses that index.
    .where(*_in_range, text("(message.rules IS NULL OR message.rules > 0)"))
    .where(MESSAGE.c.role.in_(INSTRUCTING))
    .order_by(MESSAGE.c.seq)
)


def read_facts(
    connection: Connection, session_id: str, first: int, last: int
) -> list[tuple[int, tuple[Fact, ...] | None]]:
    """The facts of the messages first … last; None where none were stored."""
    values = {"session_id": session_id, "first": first, "last": last}
    return [
        (seq, _load(stored, role, session_id, seq))
        for seq, role, stored in connection.execute(_FACTS, values)
    ]


def read_rules(
    connection: Connection, session_id: str, first: int, last: int
) -> Iterator[MessageFacts]:
    """The rules of the messages first … last; reads only messages that set or revoke some."""
    values = {"session_id": session_id, "first": first, "last": last}
    for seq, role, stored, body in connection.execute(_RULES, values):
        facts = _load(stored, role, session_id, seq)
        if facts is not None:
            yield seq, rules_among(facts)
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
    """Caches the rules of the sessions that were used last; safe to share between threads.

    Messages never change, so entries stay valid until their session is erased.
    """

    def __init__(self) -> None:
        self._books: OrderedDict[str, tuple[Lock, RuleBook]] = OrderedDict()
        self._lock = Lock()

    def standing(
        self, session_id: str, until: int, read: Callable[[int, int], Iterable[MessageFacts]]
    ) -> tuple[Entry, ...]:
        """The instructions in force at message `until`; only newer messages are `read`."""
        lock, book = self._book(session_id)
        with lock:
            if book.read_until < until:
                for seq, facts in read(book.read_until + 1, until):
                    book.add(seq, facts)
                book.read_until = until
            return book.standing(until)

    def taken_back(self, session_id: str) -> Mapping[int, RulesTaken]:
        """What the rules of a session took back, as far as that was found."""
        lock, book = self._book(session_id)
        with lock:
            return dict(book.taken)

    def forget(self, session_ids: Iterable[str]) -> None:
        """Drops erased sessions."""
        with self._lock:
            for session_id in session_ids:
                self._books.pop(session_id, None)

    def _book(self, session_id: str) -> tuple[Lock, RuleBook]:
        with self._lock:
            kept = self._books.setdefault(session_id, (Lock(), RuleBook()))
            self._books.move_to_end(session_id)
            if len(self._books) > MAX_BOOKS:
                self._books.popitem(last=False)
            return kept
