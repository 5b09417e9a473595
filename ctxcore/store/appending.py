"""Owns adding messages to a history: places, blocks, sizes, running sums, facts, all in one write.

Counting happens and facts are found before the write lock is taken; inside it only numbers are
added. Every append costs the same, however long the history is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import accumulate
from typing import Any

from sqlalchemy import Connection, RowMapping, bindparam, insert, select, update

from ctxcore.assembly.history import (
    Counted,
    count_row,
    facts_of,
    has_substance,
    is_oversize,
    replace_text,
    shorten_row,
    with_short,
)
from ctxcore.facts.finding import dump_facts
from ctxcore.facts.ledger import rules_among
from ctxcore.facts.values import Fact
from ctxcore.messages.blocks import BlockTracker
from ctxcore.messages.values import Message
from ctxcore.store.database import index_sql
from ctxcore.store.errors import SessionNotFoundError, UnknownCounterError
from ctxcore.store.rows import dump_message, load_message
from ctxcore.store.search_text import message_words
from ctxcore.tables import MESSAGE, MESSAGE_TOKENS, SESSION, TURN
from ctxcore.tokens.count import count_message, counter_by_id
from ctxcore.tokens.families import TokenCounter

MOST_BYTES = 4  # of a character

_SESSION = select(SESSION).where(SESSION.c.id == bindparam("session_id"))
_LOCKED_SESSION = _SESSION.with_for_update()
_BODY = select(MESSAGE.c.body).where(
    MESSAGE.c.session_id == bindparam("session_id"), MESSAGE.c.seq == bindparam("seq")
)
_SUMS = select(MESSAGE_TOKENS.c.counter_id, MESSAGE_TOKENS.c.cum, MESSAGE_TOKENS.c.short_cum).where(
    MESSAGE_TOKENS.c.session_id == bindparam("session_id"),
    MESSAGE_TOKENS.c.counter_id.in_(bindparam("counter_ids", expanding=True)),
    MESSAGE_TOKENS.c.seq == bindparam("seq"),
)
_UPDATE_SESSION = update(SESSION).where(SESSION.c.id == bindparam("session_id_"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Messages to append, and how."""

    messages: Sequence[Message]
    counter: TokenCounter
    at: datetime
    times: Sequence[datetime | None] | None = None
    """When each was said, where that was not now."""
    oversize_tokens: int | None = None
    turn_id: str | None = None
    indexes: bool = True
    shorts: Sequence[str | None] | None = None
    """Texts that stand for over-long outputs, where they are known already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """A counter's sizes of messages: their own, and of the short texts where there are some."""

    counter_id: str
    tokens: list[int]
    short_tokens: list[int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A batch counted, to be written behind message `after` of a history."""

    after: int
    rows: list[Counted]
    sizes: list[Sizes]
    bodies: list[str]
    facts: list[tuple[Fact, ...]]
    words: list[str]


def get_session(connection: Connection, session_id: str, *, locks: bool = False) -> RowMapping:
    """The session's row; `locks` keeps other writers off it until the transaction ends.

    Raises:
        SessionNotFoundError: there is no such session.
    """
    statement = _LOCKED_SESSION if locks else _SESSION
    row = connection.execute(statement, {"session_id": session_id}).mappings().first()
    if row is None:
        raise SessionNotFoundError(session_id=session_id)
    return row


def read_tracker(connection: Connection, session: RowMapping, batch: Batch) -> BlockTracker:
    """Where the last block stands.

    Its head is read only if a tool result may join it, the last request only if an output may be
    shortened for it.
    """
    joins = batch.messages[0].is_tool_result
    return BlockTracker(
        _read(connection, session, session["head_seq"]) if joins else None,
        (session["head_seq"] or 0) if joins else 0,
        _read(connection, session, session["last_user_seq"]) if _may_shorten(batch) else None,
    )


def _may_shorten(batch: Batch) -> bool:
    """Whether an output may be above its limit; no text has more tokens than bytes."""
    limit = batch.oversize_tokens
    outputs = (message.text for message in batch.messages if message.is_tool_result)
    return limit is not None and any(len(text) * MOST_BYTES > limit for text in outputs)


def _read(connection: Connection, session: RowMapping, seq: int | None) -> Message | None:
    if not seq:
        return None
    body = connection.execute(_BODY, {"session_id": session["id"], "seq": seq}).scalar_one()
    return load_message(body, session_id=session["id"], seq=seq)


def prepare(
    session: RowMapping,
    tracker: BlockTracker,
    batch: Batch,
    *,
    facts: list[tuple[Fact, ...]] | None = None,
) -> Prepared:
    """`batch` numbered behind the end of `session` and counted, its `facts` found if not given."""
    rows = list(_number(batch, tracker, session["length"]))
    own = _own_sizes(rows, session, batch.counter)
    return Prepared(
        after=session["length"],
        rows=rows,
        sizes=[_sizes(rows, batch.counter), *own],
        bodies=[dump_message(message) for message in batch.messages],
        facts=list(_find_facts(rows, tracker)) if facts is None else facts,
        words=[message_words(message) for message in batch.messages] if batch.indexes else [],
    )


def write(
    connection: Connection, session: RowMapping, batch: Batch, prepared: Prepared
) -> list[int]:
    """Adds `batch` to the locked `session` with sizes, head and index; the numbers it got."""
    if _is_stale(session, prepared):  # someone else appended since it was counted
        tracker = read_tracker(connection, session, batch)
        known = None if batch.messages[0].is_tool_result else prepared.facts
        prepared = prepare(session, tracker, batch, facts=known)
    connection.execute(insert(MESSAGE), _message_rows(session["id"], batch, prepared))
    tokens = _write_sizes(connection, session, prepared)
    head = _head_after(session, prepared)
    indexed = _index(connection, session, prepared)
    connection.execute(
        _UPDATE_SESSION,
        {"session_id_": session["id"], **head, "indexed_until": indexed, "updated_at": batch.at},
    )
    if batch.turn_id is not None:
        _carry_turn(connection, batch.turn_id, head["length"], tokens)
    return [row.seq for row in prepared.rows]


def size_row(row: Counted, counter: TokenCounter) -> tuple[int, int | None]:
    """What a message and its short text take under `counter`."""
    name = row.function_name
    tokens = count_message(row.message, counter, function_name=name)
    if row.short is None:
        return tokens, None
    return tokens, count_message(replace_text(row.message, row.short), counter, function_name=name)


def sums_at(
    connection: Connection, session_id: str, seq: int, counter_ids: Iterable[str]
) -> dict[str, tuple[int, int]]:
    """Running sums (own, sent) at message `seq` by counter; those that do not reach it left out."""
    if seq == 0:
        return dict.fromkeys(counter_ids, (0, 0))
    asked = {"session_id": session_id, "seq": seq, "counter_ids": list(counter_ids)}
    return {row[0]: (row[1], row[2]) for row in connection.execute(_SUMS, asked)}


def token_rows(
    session_id: str, rows: Sequence[Counted], sizes: Sizes, sums: tuple[int, int]
) -> list[dict[str, Any]]:
    """Rows of `message_tokens` for `rows`, carrying on the running `sums`."""
    sent = [
        0 if row.message.is_system else tokens if short is None else short
        for row, tokens, short in zip(rows, sizes.tokens, sizes.short_tokens, strict=True)
    ]
    cums = list(accumulate(sizes.tokens, initial=sums[0]))[1:]
    short_cums = list(accumulate(sent, initial=sums[1]))[1:]
    return [
        {
            "session_id": session_id,
            "counter_id": sizes.counter_id,
            "seq": row.seq,
            "tokens": sizes.tokens[at],
            "short_tokens": sizes.short_tokens[at],
            "cum": cums[at],
            "short_cum": short_cums[at],
        }
        for at, row in enumerate(rows)
    ]


def _number(batch: Batch, tracker: BlockTracker, after: int) -> Iterable[Counted]:
    limit = batch.oversize_tokens
    for seq, message in enumerate(batch.messages, start=after + 1):
        tracker = tracker.next(message, seq)
        row = count_row(message, seq, tracker, batch.counter)
        short = batch.shorts[seq - after - 1] if batch.shorts else None
        if short is not None:
            yield with_short(row, short, batch.counter)
        elif limit and is_oversize(row, limit):
            yield shorten_row(row, limit, batch.counter, asked=tracker.asked(message))
        else:
            yield row


def _find_facts(rows: Sequence[Counted], tracker: BlockTracker) -> Iterable[tuple[Fact, ...]]:
    """The facts of each of `rows`; a tool result is read with the call that it answers."""
    for row in rows:
        tracker = tracker.next(row.message, row.seq)
        is_answer = row.message.is_tool_result
        yield facts_of(row, tracker.head.calls if is_answer and tracker.head else ())


def _is_stale(session: RowMapping, prepared: Prepared) -> bool:
    own_id = session["counter_id"]
    counted = {sizes.counter_id for sizes in prepared.sizes}
    return session["length"] != prepared.after or (own_id is not None and own_id not in counted)


def _message_rows(session_id: str, batch: Batch, prepared: Prepared) -> list[dict[str, Any]]:
    times = batch.times or [None] * len(prepared.rows)
    return [
        {
            "session_id": session_id,
            "seq": row.seq,
            "role": row.message.role,
            "body": body,
            "block": row.block,
            "function_name": row.function_name,
            "short": row.short,
            "turn_id": batch.turn_id,
            "created_at": time or batch.at,
            "facts": dump_facts(facts),
            "rules": len(rules_among(facts)),
        }
        for row, body, facts, time in zip(
            prepared.rows, prepared.bodies, prepared.facts, times, strict=True
        )
    ]


def _sizes(rows: Sequence[Counted], counter: TokenCounter) -> Sizes:
    return Sizes(
        counter_id=counter.id,
        tokens=[row.tokens for row in rows],
        short_tokens=[row.short_tokens for row in rows],
    )


def _own_sizes(rows: Sequence[Counted], session: RowMapping, counter: TokenCounter) -> list[Sizes]:
    """Sizes under the session's own counter, where that is not the one that counted already."""
    own_id = session["counter_id"]
    if own_id is None or own_id == counter.id:
        return []
    try:
        own = counter_by_id(own_id)
    except ValueError as error:
        raise UnknownCounterError(session_id=session["id"], counter_id=own_id) from error
    return [_sizes([_counted_by(own, row) for row in rows], own)]


def _counted_by(counter: TokenCounter, row: Counted) -> Counted:
    tokens, short_tokens = size_row(row, counter)
    return replace(row, tokens=tokens, short_tokens=short_tokens)


def _write_sizes(connection: Connection, session: RowMapping, prepared: Prepared) -> int:
    """Carries on the counters that reach the end, others wait for a recount; the new total."""
    ids = [sizes.counter_id for sizes in prepared.sizes]
    own_id, total = session["counter_id"] or ids[0], 0
    sums = sums_at(connection, session["id"], session["length"], ids)
    for sizes in prepared.sizes:
        if sizes.counter_id in sums:
            rows = token_rows(session["id"], prepared.rows, sizes, sums[sizes.counter_id])
            connection.execute(insert(MESSAGE_TOKENS), rows)
            total = rows[-1]["cum"] if sizes.counter_id == own_id else total
    return int(total)


def _carry_turn(connection: Connection, turn_id: str, length: int, tokens: int) -> None:
    """The turn now reaches to the end; what was partial has become a message."""
    connection.execute(
        update(TURN).where(TURN.c.id == turn_id),
        {"partial": "", "last_seq": length, "history_messages": length, "history_tokens": tokens},
    )


def _index(connection: Connection, session: RowMapping, prepared: Prepared) -> int:
    """Makes the messages searchable if all before them are; where the searchable part ends."""
    if not prepared.words or session["indexed_until"] != session["length"]:
        return int(session["indexed_until"])
    add_words(connection, session["id"], prepared.rows[0].seq, prepared.words)
    return prepared.rows[-1].seq


def add_words(connection: Connection, session_id: str, first: int, words: Sequence[str]) -> None:
    """Puts the words of the messages from `first` on into the full-text index."""
    connection.execute(
        index_sql(connection, "add"),
        [
            {"session_id": session_id, "seq": seq, "words": text}
            for seq, text in enumerate(words, start=first)
        ],
    )


def _head_after(session: RowMapping, prepared: Prepared) -> dict[str, Any]:
    """The columns of the session that the new messages change."""
    rows = prepared.rows
    users = [row for row in rows if row.message.role == "user"]
    goal = next((row.seq for row in users if has_substance(row.message)), None)
    system = [row.seq for row in rows if row.message.is_system]
    return {
        "length": rows[-1].seq,
        "head_seq": rows[-1].block,
        "goal_seq": goal if session["goal_seq"] is None else session["goal_seq"],
        "last_user_seq": users[-1].seq if users else session["last_user_seq"],
        "system_seqs": session["system_seqs"] + system,
        "counter_id": session["counter_id"] or prepared.sizes[0].counter_id,
    }
