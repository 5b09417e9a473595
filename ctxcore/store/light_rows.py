"""Reads very many messages of a session without the texts that their notes stand for.

A plan looks at the roles and sizes of all that is not covered yet; of a hundred thousand messages
the texts alone would take more memory than everything else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import Connection, Dialect, Select, bindparam, case, literal, select, type_coerce
from sqlalchemy.types import NullType

from ctxcore.assembly.history import Counted
from ctxcore.messages.lazy import LazyMessage
from ctxcore.messages.values import Message, Part, Role, Text
from ctxcore.store.database import Database
from ctxcore.store.rows import missing_message, read_message, to_counted
from ctxcore.summarizers.notes import usable_notes
from ctxcore.tables import MESSAGE, MESSAGE_TOKENS, Unreadable, UtcTime

LEAST: Final = 1_000  # chosen: fewer are read with their texts, which contexts need next
_STRETCH: Final = 10_000  # chosen: rows read at once
_BESIDE: Final = 100  # chosen: texts read along with one, since its neighbours are asked for next
_MAX_IN_LIST: Final = 500

_counted = (MESSAGE_TOKENS.c.session_id == MESSAGE.c.session_id) & (
    MESSAGE_TOKENS.c.seq == MESSAGE.c.seq
)
_ROWS: Select[Any] = (
    select(
        MESSAGE.c.seq,
        MESSAGE.c.role,
        case((MESSAGE.c.notes.is_(None), MESSAGE.c.body), else_=None),
        MESSAGE_TOKENS.c.tokens,
        MESSAGE.c.block,
        MESSAGE.c.function_name,
        MESSAGE.c.short,
        MESSAGE_TOKENS.c.short_tokens,
        type_coerce(MESSAGE.c.created_at, NullType()),  # neighbours mostly share it
        MESSAGE.c.notes,
    )
    .join(MESSAGE_TOKENS, _counted)
    .where(
        MESSAGE.c.session_id == bindparam("session_id"),
        MESSAGE_TOKENS.c.counter_id == bindparam("counter_id"),
        MESSAGE.c.seq.between(bindparam("first"), bindparam("last")),
        MESSAGE.c.role.not_in(("system", "developer")),
    )
    .order_by(MESSAGE.c.seq)
)
_BODIES = select(MESSAGE.c.seq, MESSAGE.c.body).where(
    MESSAGE.c.session_id == bindparam("session_id"),
    MESSAGE.c.seq.in_(bindparam("seqs", expanding=True)),
)


def light_rows(
    database: Database, session_id: str, counter_id: str, first: int, last: int
) -> Iterator[Counted]:
    """The messages `first` … `last` but system messages, those with notes without their texts."""
    texts = _Texts(database, session_id)
    values = {"session_id": session_id, "counter_id": counter_id}
    for start in range(first, last + 1, _STRETCH):
        end = min(start + _STRETCH - 1, last)
        with database.read() as connection:
            to_time = _times(connection.dialect)
            found = connection.execute(_ROWS, {**values, "first": start, "last": end})
            for seq, role, body, tokens, block, name, short, short_tokens, at, notes in found:
                message, damage = (
                    (None, None)
                    if body is None
                    else read_message(body, role, session_id=session_id, seq=seq)
                )
                is_short = damage is None and not isinstance(short, Unreadable)
                yield Counted(
                    seq=seq,
                    message=texts.message(seq, role) if message is None else message,
                    damage=damage,
                    tokens=tokens,
                    block=block,
                    function_name=name,
                    short=short if is_short else None,
                    short_tokens=short_tokens if is_short else None,
                    said_at=to_time(at),
                    notes=usable_notes(notes),
                )


_UNCOUNTED = select(
    MESSAGE.c.seq,
    MESSAGE.c.body,
    literal(0),
    MESSAGE.c.block,
    MESSAGE.c.function_name,
    MESSAGE.c.short,
    literal(None),
    MESSAGE.c.created_at,
    MESSAGE.c.role,
).where(MESSAGE.c.session_id == bindparam("session_id"), MESSAGE.c.seq == bindparam("seq"))
_BEFORE = (
    select(MESSAGE.c.block)
    .where(MESSAGE.c.session_id == bindparam("session_id"), MESSAGE.c.seq < bindparam("seq"))
    .order_by(MESSAGE.c.seq.desc())
    .limit(1)
)
_BEHIND = (
    select(MESSAGE.c.block)
    .where(MESSAGE.c.session_id == bindparam("session_id"), MESSAGE.c.seq > bindparam("seq"))
    .order_by(MESSAGE.c.seq)
    .limit(1)
)


def uncounted_row(
    connection: Connection, session_id: str, seq: int, system: Collection[int]
) -> Counted:
    """A message whose size is missing, or what stands for one that is missing itself."""
    place = {"session_id": session_id, "seq": seq}
    if (row := connection.execute(_UNCOUNTED, place).first()) is not None:
        return to_counted(row, session_id)
    block, behind = (connection.execute(one, place).scalar() for one in (_BEFORE, _BEHIND))
    joins = block is not None and block == behind  # the calls before it go on behind it
    role: Role = "system" if seq in system else "tool" if joins else "assistant"
    message, damage = missing_message(role, session_id=session_id, seq=seq)
    own_block = block if joins and block is not None else seq
    return Counted(seq=seq, message=message, tokens=0, block=own_block, damage=damage)


def _times(dialect: Dialect) -> Callable[[Any], datetime | None]:
    """Converts the stored times of neighbours, which are often the same."""
    convert = UtcTime().dialect_impl(dialect).result_processor(dialect, None)
    return lru_cache(maxsize=8)(convert) if convert else _as_it_is


def _as_it_is(value: Any) -> datetime | None:
    time: datetime | None = value
    return time


class _Texts:
    """The texts of the messages that were read without."""

    def __init__(self, database: Database, session_id: str) -> None:
        self._database = database
        self._session_id = session_id
        self._unread: dict[int, LazyMessage] = {}

    def message(self, seq: int, role: Role) -> LazyMessage:
        """The message `seq`, to be read later."""
        made = self._unread[seq] = LazyMessage.at(seq, role, self)
        return made

    def beside(self, seq: int) -> Sequence[LazyMessage]:
        """The message and some behind it that are not read yet."""
        near = (self._unread[at] for at in range(seq, seq + _BESIDE) if at in self._unread)
        return [message for message in near if not message.is_read]

    def contents(self, seqs: Sequence[int]) -> list[tuple[Part, ...]]:
        """The content of each of these messages."""
        found = {seq: self._content(seq, body) for seq, body in self._bodies(seqs)}
        return [found[seq] for seq in seqs]

    def texts(self, seqs: Sequence[int]) -> list[str]:
        """The text of each of these messages."""
        found = {seq: self._text(seq, body) for seq, body in self._bodies(seqs)}
        return [found[seq] for seq in seqs]

    def _bodies(self, seqs: Sequence[int]) -> Iterator[tuple[int, str]]:
        for at in range(0, len(seqs), _MAX_IN_LIST):
            values = {"session_id": self._session_id, "seqs": seqs[at : at + _MAX_IN_LIST]}
            with self._database.read() as connection:
                yield from connection.execute(_BODIES, values)

    def _content(self, seq: int, body: str) -> tuple[Part, ...]:
        text = _only_text(body)
        if text is not None:
            return (Text(text=text),)
        return self._read(seq, body).content

    def _text(self, seq: int, body: str) -> str:
        text = _only_text(body)
        if text is not None:
            return text
        return self._read(seq, body).text

    def _read(self, seq: int, body: str) -> Message:
        return read_message(body, "assistant", session_id=self._session_id, seq=seq)[0]


def _only_text(body: str) -> str | None:
    """The text of a stored body that is nothing else, as where notes stand for it."""
    try:
        stored = json.loads(body)
    except (ValueError, RecursionError):  # damaged, as the reader of messages tells
        return None
    is_bare = isinstance(stored, dict) and len(stored) == 2
    text = stored.get("content") if is_bare else None  # and its role
    return text if isinstance(text, str) else None
