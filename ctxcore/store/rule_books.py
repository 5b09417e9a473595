"""Caches the rules of sessions, and reads and writes the checkpoints that processes begin from."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final, Protocol, TypeVar

from sqlalchemy import ColumnElement, Connection, Select, bindparam, insert, select

from ctxcore.facts.checkpoints import (
    VERSION,
    Checkpoint,
    dump_standing,
    dump_taken,
    load_standing,
    load_taken,
)
from ctxcore.facts.ledger import Entry, RuleBook, RulesTaken, TakenBack
from ctxcore.facts.rule_edits import NO_EDITS, RuleEdits
from ctxcore.facts.values import Fact
from ctxcore.store.stored_facts import MessageFacts
from ctxcore.tables import RULE_STATE

logger = logging.getLogger(__name__)

T = TypeVar("T")

MAX_BOOKS: Final = 256  # cached sessions, the last used ones; chosen: memory against reading again
MOST_EARLIER: Final = 8  # places before the first message of a book; chosen: those of compactions
LEAST_READ: Final = 256  # messages; chosen: fewer are read without looking for a checkpoint
LEAST_RULES: Final = 64
"""Messages with rules between two checkpoints, more where more rules hold: a checkpoint then adds
less to what is stored than those messages did. Chosen: 64 are read in 10 ms."""
MOST_READ: Final = (
    512  # messages with rules; chosen: the first append of a process takes 0.1 s more
)
MOST_COMPARED: Final = 6
"""Pairs of rules that an append may compare for each message since the last checkpoint; measured:
a twentieth of its time. Where there are more, the next context does that."""

_of_session = RULE_STATE.c.session_id == bindparam("session_id")
_own = RULE_STATE.c.version == bindparam("version")
_before_edits = (RULE_STATE.c.version == VERSION) & (RULE_STATE.c.seq < bindparam("begin"))


def _newest(known: ColumnElement[bool]) -> Select[Any]:
    found = select(RULE_STATE.c.seq, RULE_STATE.c.standing).where(
        _of_session, known, RULE_STATE.c.seq <= bindparam("until")
    )
    return found.order_by(RULE_STATE.c.seq.desc()).limit(1)


def _taken(known: ColumnElement[bool]) -> Select[Any]:
    found = select(RULE_STATE.c.seq, RULE_STATE.c.taken).where(
        _of_session, known, RULE_STATE.c.seq <= bindparam("until")
    )
    return found.order_by(RULE_STATE.c.seq)


_NEWEST, _NEWEST_EDITED = _newest(_own), _newest(_own | _before_edits)
_TAKEN, _TAKEN_EDITED = _taken(_own), _taken(_own | _before_edits)
_IS_THERE: Select[Any] = select(RULE_STATE.c.seq).where(
    _of_session, _own, RULE_STATE.c.seq == bindparam("seq")
)
_ADD = insert(RULE_STATE)


class StoredRules(Protocol):
    """Reads the rules of one session as people see them."""

    @property
    def edits(self) -> RuleEdits:
        """What people say of the rules."""

    def rules(self, first: int, last: int, most: int | None = None) -> Iterable[MessageFacts]:
        """The rules of the messages first … last; with `most`, of the first so many of them."""

    def checkpoint(self, until: int) -> Checkpoint | None:
        """The newest checkpoint up to message `until`, without what was taken back."""

    def taken(self, until: int) -> Mapping[int, RulesTaken]:
        """What was taken back up to a checkpoint."""


def _version(edits: RuleEdits) -> str:
    """The version of checkpoints that were made with `edits`."""
    return f"{VERSION}+{edits.digest}" if edits else VERSION


def _named(session_id: str, until: int, edits: RuleEdits) -> dict[str, object]:
    """Names the checkpoints that hold with `edits`: also those of before the first edit."""
    named = {"session_id": session_id, "until": until, "version": _version(edits)}
    return {**named, "begin": edits.begin} if edits else named


def read_checkpoint(
    connection: Connection, session_id: str, until: int, edits: RuleEdits = NO_EDITS
) -> Checkpoint | None:
    """The newest checkpoint up to message `until`, without what was taken back."""
    statement = _NEWEST_EDITED if edits else _NEWEST
    row = connection.execute(statement, _named(session_id, until, edits)).first()
    if row is None:
        return None
    standing = _loaded(load_standing, row[1], session_id, row[0])
    return None if standing is None else Checkpoint(seq=row[0], standing=standing)


def read_taken(
    connection: Connection, session_id: str, until: int, edits: RuleEdits = NO_EDITS
) -> dict[int, RulesTaken]:
    """What rules took back up to the checkpoint at message `until`."""
    statement = _TAKEN_EDITED if edits else _TAKEN
    rows = connection.execute(statement, _named(session_id, until, edits))
    found: dict[int, RulesTaken] = {}
    for seq, stored in rows:
        found |= _loaded(load_taken, stored, session_id, seq) or {}
    return found


def write_checkpoint(
    connection: Connection, session_id: str, checkpoint: Checkpoint, edits: RuleEdits = NO_EDITS
) -> None:
    """Adds a checkpoint to the locked session, unless another process did."""
    place = {"session_id": session_id, "seq": checkpoint.seq, "version": _version(edits)}
    if connection.execute(_IS_THERE, place).first() is None:
        values = {
            "standing": dump_standing(checkpoint.standing),
            "taken": dump_taken(checkpoint.taken),
        }
        connection.execute(_ADD, {**place, **values})


def _loaded(load: Callable[[str], T], stored: str, session_id: str, seq: int) -> T | None:
    """A part of a checkpoint; None where it is damaged: all of it is found from messages too."""
    try:
        return load(stored)
    except (ValueError, TypeError, RecursionError):
        logger.warning("damaged checkpoint of rules session=%s seq=%d", session_id, seq)
        return None


@dataclass(slots=True)
class _Kept:
    """The book of one session with its edits, and what of it is stored."""

    edits: RuleEdits = NO_EDITS
    book: RuleBook = field(default_factory=RuleBook)
    lock: Lock = field(default_factory=Lock)
    stored_until: int = 0
    """The message of its last checkpoint."""
    stored_rules: int = 0
    """How many messages of the book have rules up to there."""
    compared: int = 0
    """Pairs that appends compared since then."""
    before: Mapping[int, RulesTaken] | None = None
    """What was taken back up to where the book begins, once that was asked for."""
    earlier: dict[int, tuple[Entry, ...]] = field(default_factory=dict)
    """What held at places before that."""

    def read(self, until: int, stored: StoredRules, most: int | None = None) -> None:
        """Reads what the book lacks, from the newest checkpoint on where that saves much."""
        book = self.book
        if until - book.read_until >= LEAST_READ:
            found = stored.checkpoint(until)
            if found is not None and found.seq > book.read_until:
                book = self.book = RuleBook(found.seq, found.standing)
                self.stored_until, self.stored_rules, self.compared = found.seq, 0, 0
                self.before = None
        if book.read_until < until:
            _read_on(book, until, stored, most)

    def at(self, until: int, stored: StoredRules) -> tuple[Entry, ...]:
        """The rules that held at message `until`, where the book begins later."""
        known = self.earlier.get(until)
        if known is None:
            found = stored.checkpoint(until)
            book = RuleBook(found.seq, found.standing) if found else RuleBook()
            _read_on(book, until, stored)
            known = self.earlier[until] = book.standing(until)
            if len(self.earlier) > MOST_EARLIER:
                del self.earlier[next(iter(self.earlier))]
        return known

    def due(self) -> Checkpoint | None:
        """A checkpoint to store, where one is worth it and takes little to make."""
        book = self.book
        most = MOST_COMPARED * (book.read_until - self.stored_until) - self.compared
        self.compared += book.advance(most)
        if book.folded - self.stored_rules < max(LEAST_RULES, book.held_count):
            return None
        by_seq, until = book.taken
        taken = {seq: rules for seq, rules in by_seq.items() if seq > self.stored_until}
        return Checkpoint(seq=until, standing=book.held(), taken=taken)


def _read_on(book: RuleBook, until: int, stored: StoredRules, most: int | None = None) -> None:
    count = 0
    for seq, facts in stored.rules(book.read_until + 1, until, most):
        book.add(seq, facts)
        count += 1
    if count != most:
        book.read_until = until


class RuleBooks:
    """Caches the rules of the sessions that were used last; safe to share between threads.

    Messages never change, so entries stay valid until their session is erased or its rules edited.
    """

    def __init__(self) -> None:
        self._books: OrderedDict[str, _Kept] = OrderedDict()
        self._lock = Lock()

    def standing(self, session_id: str, until: int, stored: StoredRules) -> tuple[Entry, ...]:
        """The instructions in force at message `until`; only newer messages are read."""
        kept = self._book(session_id, stored.edits)
        with kept.lock:
            kept.read(until, stored)
            if until < kept.book.begins:
                return kept.at(until, stored)
            return kept.book.standing(until)

    def taken_back(self, session_id: str, stored: StoredRules) -> TakenBack:
        """What the rules of a session took back, as far as that was found."""
        kept = self._book(session_id, stored.edits)
        with kept.lock:
            begins, (by_seq, until) = kept.book.begins, kept.book.taken
            if kept.before is None:
                kept.before = stored.taken(begins) if begins else {}
            return TakenBack({**kept.before, **by_seq}, until)

    def due(self, session_id: str, length: int, stored: StoredRules) -> Checkpoint | None:
        """What the next append is to store of the `length` messages before it, if anything.

        A process that reads no contexts reads the rules here, as far as they are few.
        """
        with self._lock:
            kept = self._books.get(session_id)
        if kept is None or kept.edits != stored.edits:
            if length < LEAST_READ:
                return None
            kept = self._book(session_id, stored.edits)
            with kept.lock:
                kept.read(length, stored, MOST_READ)
        with kept.lock:
            return kept.due()

    def follow(
        self,
        session_id: str,
        first: int,
        facts: Sequence[Sequence[Fact]],
        stored: Checkpoint | None,
        edits: RuleEdits = NO_EDITS,
    ) -> None:
        """Adds the messages from `first` on, which are stored now, as `stored` is."""
        kept = self._book(session_id, edits) if first == 1 else self._books.get(session_id)
        if kept is None or kept.edits != edits:
            return
        with kept.lock:
            book = kept.book
            if stored is not None and stored.seq > kept.stored_until:
                kept.stored_until, kept.stored_rules = stored.seq, book.rules_until(stored.seq)
                kept.compared = 0
            if book.read_until == first - 1:
                for seq, found in enumerate(facts, start=first):
                    book.add(seq, edits.apply(seq, found))

    def forget(self, session_ids: Iterable[str]) -> None:
        """Drops erased sessions."""
        with self._lock:
            for session_id in session_ids:
                self._books.pop(session_id, None)

    def _book(self, session_id: str, edits: RuleEdits) -> _Kept:
        with self._lock:
            kept = self._books.get(session_id)
            if kept is None or kept.edits != edits:
                kept = self._books[session_id] = _Kept(edits=edits)
            self._books.move_to_end(session_id)
            if len(self._books) > MAX_BOOKS:
                self._books.popitem(last=False)
            return kept
