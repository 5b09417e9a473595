"""The cache of rows that contexts were built from."""

from __future__ import annotations

from datetime import UTC, datetime

from ctxcore.assembly.history import Counted
from ctxcore.messages.values import text_message
from ctxcore.store.known_rows import Key, Known, KnownRows

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def key(session_id: str, at: datetime = NOON) -> Key:
    """The key of a session by one counter."""
    return session_id, at, "words"


def known(seq: int, chars: int = 10) -> Known:
    """A row of so many characters."""
    row = Counted(seq=seq, message=text_message("user", "a" * chars), tokens=chars, block=seq)
    return Known(row, cum=seq * chars, chars=chars)


def test_rows_come_back_by_their_place() -> None:
    rows = KnownRows()
    rows.add(key("s"), [known(1), known(2)])

    assert rows.of(key("s"), [2, 3]) == {2: known(2)}
    assert rows.of(key("other"), [2]) == {}


def test_a_session_made_anew_under_the_same_id_knows_nothing() -> None:
    rows = KnownRows()
    rows.add(key("s"), [known(1)])

    assert rows.of(key("s", NOON.replace(hour=13)), [1]) == {}


def test_erased_sessions_are_forgotten() -> None:
    rows = KnownRows()
    rows.add(key("s"), [known(1)])
    rows.add(key("t"), [known(1)])
    rows.forget(["s"])

    assert rows.of(key("s"), [1]) == {}
    assert rows.of(key("t"), [1]) == {1: known(1)}


def test_the_session_that_was_not_used_for_longest_gives_way_then_older_rows() -> None:
    rows = KnownRows(most_chars=30)
    rows.add(key("s"), [known(1)])
    rows.add(key("t"), [known(1)])
    rows.of(key("s"), [1])
    rows.add(key("u"), [known(1), known(2)])

    assert rows.of(key("t"), [1]) == {}
    assert rows.of(key("s"), [1]) == {1: known(1)}

    rows.add(key("u"), [known(3), known(4)])
    assert rows.of(key("s"), [1]) == {}
    assert rows.of(key("u"), [1, 2, 3, 4]) == {seq: known(seq) for seq in (2, 3, 4)}
