"""Appends messages to a history, with their blocks, sizes, facts and search words in one write.

Messages are counted and searched for facts before the write lock is taken. The cost of an append
does not depend on the length of the history.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from typing import Any, TypeAlias, cast

from sqlalchemy import Connection, RowMapping, bindparam, insert, or_, select, update

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
from ctxcore.assembly.prompts import PromptChange, changes_to_json
from ctxcore.facts.finding import dump_facts
from ctxcore.facts.ledger import rules_among
from ctxcore.facts.rule_edits import RuleEdits
from ctxcore.facts.values import Fact
from ctxcore.messages.blocks import BlockTracker
from ctxcore.messages.values import Message
from ctxcore.recalling.index_words import message_words
from ctxcore.store.bulk import Columns, write_columns
from ctxcore.store.database import Database, index_sql
from ctxcore.store.errors import (
    SessionNotFoundError,
    StaleHistoryError,
    StaleTurnError,
    UnknownCounterError,
)
from ctxcore.store.rows import dump_message, load_rule_edits, read_message, sound_session
from ctxcore.summarizers.notes import dump_notes
from ctxcore.tables import MESSAGE, MESSAGE_TOKENS, SESSION, TURN
from ctxcore.tokens.count import count_message, counter_by_id
from ctxcore.tokens.families import TokenCounter

MAX_UTF8_BYTES = 4  # of a character

Size: TypeAlias = tuple[int, int | None]
"""The tokens of a message, and of its short text if it has one."""

_SESSION = select(SESSION).where(SESSION.c.id == bindparam("session_id"))
_LOCKED_SESSION = _SESSION.with_for_update()
_BODY = select(MESSAGE.c.body, MESSAGE.c.role).where(
    MESSAGE.c.session_id == bindparam("session_id"), MESSAGE.c.seq == bindparam("seq")
)
_SUMS = select(MESSAGE_TOKENS.c.counter_id, MESSAGE_TOKENS.c.cum, MESSAGE_TOKENS.c.short_cum).where(
    MESSAGE_TOKENS.c.session_id == bindparam("session_id"),
    or_(
        MESSAGE_TOKENS.c.counter_id == bindparam("one"),
        MESSAGE_TOKENS.c.counter_id == bindparam("other"),
    ),
    MESSAGE_TOKENS.c.seq == bindparam("seq"),
)
_SYSTEM_SEQS = (
    select(MESSAGE.c.seq)
    .where(MESSAGE.c.session_id == bindparam("session_id"))
    .where(MESSAGE.c.role.in_(("system", "developer")))
    .order_by(MESSAGE.c.seq)
)
_ADD_MESSAGES, _ADD_SIZES = insert(MESSAGE), insert(MESSAGE_TOKENS)
_UPDATE_SESSION = update(SESSION).where(SESSION.c.id == bindparam("session_id_"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Messages to append, and how."""

    messages: Sequence[Message]
    counter: TokenCounter
    at: datetime
    times: Sequence[datetime | None] | None = None
    """When each message was written, if that was not at `at`."""
    oversize_tokens: int | None = None
    turn_id: str | None = None
    indexes: bool = True
    shorts: Sequence[str | None] | None = None
    """Replacement texts of over-long outputs, where they are known already."""
    expected_length: int | None = None
    """The length that the history must have; None: any."""
    sets_system: bool = False
    """Whether the message is the system prompt from now on, in place of all before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A batch counted and rendered, to be written behind message `after` of a history."""

    batch: Batch
    after: int
    counted: list[Counted]
    sizes: dict[str, list[Size]]
    """By counter: that of the batch and the session's own."""
    facts: list[tuple[Fact, ...]]
    columns: Columns
    """The rows of `message`."""
    words: list[str]
    rule_edits: RuleEdits
    """What people say of the rules of the session."""


def get_session(connection: Connection, session_id: str, *, locks: bool = False) -> RowMapping:
    """The session's row; `locks` keeps other writers off it until the transaction ends.

    Raises:
        SessionNotFoundError: there is no such session.
    """
    statement = _LOCKED_SESSION if locks else _SESSION
    row = connection.execute(statement, {"session_id": session_id}).mappings().first()
    if row is None:
        raise SessionNotFoundError(session_id=session_id)
    return with_system(connection, row)


def with_system(connection: Connection, row: RowMapping) -> RowMapping:
    """A row of `session` without its damaged columns; its system messages are found anew."""
    sound, damage = sound_session(row)
    if sound["system_seqs"] or not damage:
        return sound
    found = connection.execute(_SYSTEM_SEQS, {"session_id": row["id"]}).scalars()
    return cast("RowMapping", {**sound, "system_seqs": list(found)})


def prepare(database: Database, session_id: str, batch: Batch) -> Prepared:
    """Counts `batch` as the continuation of the session, without a lock."""
    with database.read() as connection:
        session = get_session(connection, session_id)
        tracker = _read_tracker(connection, session, batch)
    return _prepare(session, tracker, batch)


def write_first(connection: Connection, session_id: str, batch: Batch) -> None:
    """Adds the first messages of a session that this transaction made."""
    session = get_session(connection, session_id)
    write(connection, session, _prepare(session, _read_tracker(connection, session, batch), batch))


def write(connection: Connection, session: RowMapping, prepared: Prepared) -> Prepared:
    """Adds a prepared batch to the locked `session`; returns it as it was written.

    Raises:
        StaleHistoryError: the session has not the length that the batch expects.
    """
    batch, own_id = prepared.batch, session["counter_id"]
    expected, length = batch.expected_length, session["length"]
    if expected is not None and expected != length:
        raise StaleHistoryError(session_id=session["id"], expected=expected, length=length)
    is_recounted = own_id is not None and own_id not in prepared.sizes
    if session["length"] != prepared.after or is_recounted:  # changed by another writer since
        tracker = _read_tracker(connection, session, batch)
        known = None if batch.messages[0].is_tool_result else prepared.facts
        prepared = _prepare(session, tracker, batch, facts=known)
    write_columns(connection, _ADD_MESSAGES, prepared.columns)
    tokens = _write_sizes(connection, session, prepared)
    head = _head_after(session, prepared)
    indexed = _index(connection, session, prepared)
    connection.execute(
        _UPDATE_SESSION,
        {"session_id_": session["id"], **head, "indexed_until": indexed, "updated_at": batch.at},
    )
    if batch.turn_id is not None:
        length = head["length"]
        size = {"last_seq": length, "history_messages": length, "history_tokens": tokens}
        moved = update(TURN).where(TURN.c.id == batch.turn_id, TURN.c.state == "running")
        # The partial answer is a message now.
        if connection.execute(moved, {"partial": "", **size}).rowcount == 0:
            raise StaleTurnError(turn_id=batch.turn_id)
    return prepared


def with_changes(session: RowMapping, changes: Sequence[PromptChange]) -> dict[str, Any]:
    """The column of the session that holds its changes of the system prompt, `changes` added."""
    before = session["system_changes"] or []
    return {"system_changes": [*before, *changes_to_json(changes)] or None}


def size_row(row: Counted, counter: TokenCounter) -> Size:
    """The tokens of a message and of its short text under `counter`."""
    name = row.function_name
    tokens = count_message(row.message, counter, function_name=name)
    if row.short is None:
        return tokens, None
    return tokens, count_message(replace_text(row.message, row.short), counter, function_name=name)


def sums_at(
    connection: Connection, session_id: str, seq: int, counter_ids: Collection[str]
) -> dict[str, tuple[int, int]]:
    """Running sums (own, sent) at message `seq` by counter; counters that do not reach it lack.

    There are one or two: that of a batch and the session's own.
    """
    if seq == 0:
        return dict.fromkeys(counter_ids, (0, 0))
    one, *others = counter_ids
    other = others[0] if others else one
    values = {"session_id": session_id, "seq": seq, "one": one, "other": other}
    return {row[0]: (row[1], row[2]) for row in connection.execute(_SUMS, values)}


def write_sizes(
    connection: Connection,
    session_id: str,
    counter_id: str,
    rows: Sequence[Counted],
    sizes: Sequence[Size],
    sums: tuple[int, int],
) -> int:
    """Adds the sizes of `rows`, which continue the running `sums`; returns the new total."""
    sent = [
        0 if row.message.is_system else tokens if short is None else short
        for row, (tokens, short) in zip(rows, sizes, strict=True)
    ]
    cums = list(accumulate((tokens for tokens, _ in sizes), initial=sums[0]))[1:]
    columns: Columns = {
        "session_id": [session_id] * len(rows),
        "counter_id": [counter_id] * len(rows),
        "seq": [row.seq for row in rows],
        "tokens": [tokens for tokens, _ in sizes],
        "short_tokens": [short_tokens for _, short_tokens in sizes],
        "cum": cums,
        "short_cum": list(accumulate(sent, initial=sums[1]))[1:],
    }
    write_columns(connection, _ADD_SIZES, columns)
    return cums[-1]


def add_words(connection: Connection, session_id: str, words: Mapping[int, str]) -> None:
    """Puts the words of stored messages, by their numbers, into the full-text index."""
    columns: Columns = {
        "session_id": [session_id] * len(words),
        "seq": list(words),
        "words": list(words.values()),
    }
    write_columns(connection, index_sql(connection, "add"), columns)


def _read_tracker(connection: Connection, session: RowMapping, batch: Batch) -> BlockTracker:
    """The state of the last block.

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
    return limit is not None and any(len(text) * MAX_UTF8_BYTES > limit for text in outputs)


def _read(connection: Connection, session: RowMapping, seq: int | None) -> Message | None:
    if not seq:
        return None
    row = connection.execute(_BODY, {"session_id": session["id"], "seq": seq}).first()
    if row is None:  # it is missing, so that nothing joins it
        return None
    return read_message(row.body, row.role, session_id=session["id"], seq=seq)[0]


def _prepare(
    session: RowMapping,
    tracker: BlockTracker,
    batch: Batch,
    *,
    facts: list[tuple[Fact, ...]] | None = None,
) -> Prepared:
    """`batch` numbered behind the end of `session` and counted, its `facts` found if not given."""
    counted = list(_number(batch, tracker, session["length"]))
    sizes = {batch.counter.id: [(row.tokens, row.short_tokens) for row in counted]}
    own_id = session["counter_id"]
    if own_id is not None and own_id not in sizes:
        own = known_counter(session["id"], session["counter_id"])
        sizes[own_id] = [size_row(row, own) for row in counted]
    facts = list(_find_facts(counted, tracker)) if facts is None else facts
    return Prepared(
        batch=batch,
        after=session["length"],
        counted=counted,
        sizes=sizes,
        facts=facts,
        columns=_message_columns(session["id"], batch, counted, facts),
        words=[message_words(message) for message in batch.messages] if batch.indexes else [],
        rule_edits=load_rule_edits(session),
    )


def _number(batch: Batch, tracker: BlockTracker, after: int) -> Iterable[Counted]:
    limit = batch.oversize_tokens
    for seq, message in enumerate(batch.messages, start=after + 1):
        tracker = tracker.next(message, seq)
        row = count_row(message, seq, tracker, batch.counter)
        short = batch.shorts[seq - after - 1] if batch.shorts else None
        if short is not None:
            yield with_short(row, short, batch.counter)
        elif limit and is_oversize(row, limit):
            yield shorten_row(row, limit, batch.counter, query=tracker.query(message))
        else:
            yield row


def known_counter(session_id: str, counter_id: str) -> TokenCounter:
    """The counter of this id.

    Raises:
        UnknownCounterError: this library does not have it.
    """
    try:
        return counter_by_id(counter_id)
    except ValueError as error:
        raise UnknownCounterError(session_id=session_id, counter_id=counter_id) from error


def _find_facts(rows: Sequence[Counted], tracker: BlockTracker) -> Iterable[tuple[Fact, ...]]:
    """The facts of each of `rows`; a tool result is read with the call that it answers."""
    for row in rows:
        tracker = tracker.next(row.message, row.seq)
        yield facts_of(row, tracker.call(row.message))


def _message_columns(
    session_id: str, batch: Batch, counted: Sequence[Counted], facts: Sequence[tuple[Fact, ...]]
) -> Columns:
    count = len(counted)
    return {
        "session_id": [session_id] * count,
        "seq": [row.seq for row in counted],
        "role": [row.message.role for row in counted],
        "body": [dump_message(row.message) for row in counted],
        "block": [row.block for row in counted],
        "function_name": [row.function_name for row in counted],
        "short": [row.short for row in counted],
        "turn_id": [batch.turn_id] * count,
        "created_at": [time or batch.at for time in batch.times or [None] * count],
        "facts": [dump_facts(own_facts) for own_facts in facts],
        "rules": [len(rules_among(own_facts)) for own_facts in facts],
        "notes": [
            dump_notes(row.message, own_facts, batch.counter, tokens=row.tokens)
            for row, own_facts in zip(counted, facts, strict=True)
        ],
    }


def _write_sizes(connection: Connection, session: RowMapping, prepared: Prepared) -> int:
    """Continues the counters that reach the end, others wait for a recount; the new total."""
    own_id, total = session["counter_id"] or prepared.batch.counter.id, 0
    rows = prepared.counted
    sums = sums_at(connection, session["id"], session["length"], prepared.sizes)
    for counter_id, sizes in prepared.sizes.items():
        if counter_id in sums:
            end = write_sizes(connection, session["id"], counter_id, rows, sizes, sums[counter_id])
            total = end if counter_id == own_id else total
    return total


def _index(connection: Connection, session: RowMapping, prepared: Prepared) -> int:
    """Makes the messages searchable if all before them are; returns the last searchable one."""
    if not prepared.words or session["indexed_until"] != session["length"]:
        return int(session["indexed_until"])
    words = dict(enumerate(prepared.words, start=prepared.after + 1))
    add_words(connection, session["id"], words)
    return prepared.counted[-1].seq


def _head_after(session: RowMapping, prepared: Prepared) -> dict[str, Any]:
    """The columns of the session that the new messages change."""
    rows = prepared.counted
    users = [row for row in rows if row.message.role == "user"]
    goal = next((row.seq for row in users if has_substance(row.message)), None)
    system = [row.seq for row in rows if row.message.is_system]
    changes = [PromptChange.to_message(rows[-1].seq)] if prepared.batch.sets_system else []
    return {
        **with_changes(session, changes),
        "length": rows[-1].seq,
        "head_seq": rows[-1].block,
        "goal_seq": goal if session["goal_seq"] is None else session["goal_seq"],
        "last_user_seq": users[-1].seq if users else session["last_user_seq"],
        "system_seqs": session["system_seqs"] + system,
        "counter_id": session["counter_id"] or prepared.batch.counter.id,
    }
