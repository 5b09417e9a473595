"""Reads a stored history by the sizes of one counter, or by sizes scaled from another counter.

Each read is one small query; running sums and messages are cached, since neither ever changes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import replace
from math import ceil
from typing import Any

from sqlalchemy import Connection, RowMapping, Select, bindparam, func, select

from ctxcore.assembly.history import Anchors, Counted, HistoryView, Totals, facts_of
from ctxcore.assembly.prompts import Prompts
from ctxcore.assembly.reading import WHOLE
from ctxcore.facts.ledger import Entry, TakenBack
from ctxcore.facts.rule_edits import RuleEdits
from ctxcore.facts.values import Fact
from ctxcore.messages.blocks import BlockTracker
from ctxcore.messages.lazy import load_all
from ctxcore.reasons.foreign import reason_of
from ctxcore.reasons.storage_problems import StoreProblem
from ctxcore.store.appending import known_counter, size_row, with_system
from ctxcore.store.database import Database
from ctxcore.store.errors import CountsMissingError, DatabaseError, SessionNotFoundError
from ctxcore.store.known_rows import ROW_BYTES, Known
from ctxcore.store.light_rows import LEAST, light_rows, uncounted_row
from ctxcore.store.rows import load_changes, load_rule_edits, to_counted
from ctxcore.store.session_rules import SessionRules
from ctxcore.store.stored_facts import read_facts
from ctxcore.store.term_places import term_places
from ctxcore.tables import MARK, MESSAGE, MESSAGE_TOKENS, SESSION
from ctxcore.tokens.families import TokenCounter

_MAX_IN_LIST = 500  # numbers in one IN list, below every database's limit

_of_session = MESSAGE.c.session_id == bindparam("session_id")
_counted = (
    MESSAGE_TOKENS.c.session_id == bindparam("session_id"),
    MESSAGE_TOKENS.c.counter_id == bindparam("counter_id"),
)
_head_sums = (
    (MESSAGE_TOKENS.c.session_id == SESSION.c.id)
    & (MESSAGE_TOKENS.c.seq == SESSION.c.length)
    & (MESSAGE_TOKENS.c.counter_id == func.coalesce(bindparam("counter_id"), SESSION.c.counter_id))
)
_HEAD = (
    select(SESSION, MESSAGE_TOKENS.c.cum, MESSAGE_TOKENS.c.short_cum)
    .outerjoin(MESSAGE_TOKENS, _head_sums)
    .where(SESSION.c.id == bindparam("session_id"))
)
_SHORT_CUM = select(MESSAGE_TOKENS.c.short_cum).where(
    *_counted, MESSAGE_TOKENS.c.seq == bindparam("seq")
)
_CUMS = select(MESSAGE_TOKENS.c.seq, MESSAGE_TOKENS.c.cum).where(
    *_counted, MESSAGE_TOKENS.c.seq.in_(bindparam("seqs", expanding=True))
)
_up_to = (*_counted, MESSAGE_TOKENS.c.seq <= bindparam("seq"))
_LAST_CUM = select(func.max(MESSAGE_TOKENS.c.cum)).where(*_up_to)
_LAST_SHORT_CUM = select(func.max(MESSAGE_TOKENS.c.short_cum)).where(*_up_to)
_TAIL_START = (
    select(MESSAGE.c.block)
    .join(
        MESSAGE_TOKENS,
        (MESSAGE_TOKENS.c.session_id == MESSAGE.c.session_id)
        & (MESSAGE_TOKENS.c.seq == MESSAGE.c.seq),
    )
    .where(_of_session, *_counted, MESSAGE_TOKENS.c.short_cum >= bindparam("sum"))
    .order_by(MESSAGE_TOKENS.c.short_cum, MESSAGE_TOKENS.c.seq)
    .limit(1)
)
_TURNS = select(func.count()).where(
    _of_session,
    MESSAGE.c.seq.between(bindparam("after") + 1, bindparam("last")),
    MESSAGE.c.role == "user",
)
_ROWS: Select[Any] = (
    select(
        MESSAGE.c.seq,
        MESSAGE.c.body,
        MESSAGE_TOKENS.c.tokens,
        MESSAGE.c.block,
        MESSAGE.c.function_name,
        MESSAGE.c.short,
        MESSAGE_TOKENS.c.short_tokens,
        MESSAGE.c.created_at,
        MESSAGE.c.role,
        MESSAGE_TOKENS.c.cum,
    )
    .join(
        MESSAGE_TOKENS,
        (MESSAGE_TOKENS.c.session_id == MESSAGE.c.session_id)
        & (MESSAGE_TOKENS.c.seq == MESSAGE.c.seq),
    )
    .where(_of_session, MESSAGE_TOKENS.c.counter_id == bindparam("counter_id"))
    .order_by(MESSAGE.c.seq)
)
_TAIL_ROWS = _ROWS.where(
    MESSAGE.c.seq.between(bindparam("first"), bindparam("last")),
    MESSAGE.c.role.not_in(("system", "developer")),
)
_among = MESSAGE.c.seq.in_(bindparam("seqs", expanding=True))
_SEQ_ROWS = _ROWS.where(_among)
_following = MESSAGE.alias("following")
_next_block = (
    select(_following.c.seq)
    .where(
        _following.c.session_id == bindparam("session_id"),
        _following.c.seq > MESSAGE.c.block,
        _following.c.block != MESSAGE.c.block,
    )
    .order_by(_following.c.seq)
    .limit(1)
    .scalar_subquery()
)
_BLOCKS = select(MESSAGE.c.block, _next_block).where(_of_session, _among)
_SIZES = (
    select(MESSAGE_TOKENS.c.seq, MESSAGE_TOKENS.c.tokens)
    .where(*_counted, MESSAGE_TOKENS.c.seq.between(bindparam("first"), bindparam("last")))
    .order_by(MESSAGE_TOKENS.c.seq)
)
_MARKS = select(MARK.c.kind, MARK.c.seq).where(
    MARK.c.session_id == bindparam("session_id"), MARK.c.cleared_at.is_(None)
)


class StoredHistory:
    """A `HistoryView` of a stored session by one counter, as it was when the view was made."""

    def __init__(self, database: Database, session_id: str, counter_id: str | None) -> None:
        self.memo: dict[Hashable, HistoryView] = {}
        self._database = database
        self._session_id = session_id
        self._rows: dict[int, Known] = {}
        self._light: dict[int, Counted] = {}
        with database.read() as connection:
            session = self._head(connection, counter_id)
            self._length: int = session["length"]
            self._system: list[int] = session["system_seqs"]
            self.counter_id = counter_id or session["counter_id"] or ""
            if self._length and session["cum"] is None:
                raise CountsMissingError(session_id=session_id, counter_id=self.counter_id)
            self._key = (session_id, session["created_at"], self.counter_id)
            self._sent: int = session["short_cum"] or 0
            self._sent_until = {0: 0, self._length: self._sent}
            self._own_until = {0: 0, self._length: session["cum"] or 0}
            changes = load_changes(session)
            self._rule_edits = load_rule_edits(session)
            marks = connection.execute(_MARKS, self._keys).all()
            pinned, excluded = (
                self._whole_blocks(connection, [seq for kind, seq in marks if kind == wanted])
                for wanted in ("pin", "exclude")
            )
        self._rules = SessionRules(database, session_id, self._rule_edits)
        prompts = Prompts.of(self._system, changes, self._length, excluded)
        self._anchors = Anchors(
            system=prompts.in_force,
            goal=session["goal_seq"],
            last_user=session["last_user_seq"],
            pinned=pinned,
            excluded=tuple(sorted({*excluded, *prompts.replaced})),
            replaced=prompts.replaced,
            dismissed=prompts.dismissed,
            changes=changes,
        )

    def count(self) -> int:
        return self._length

    def totals(self, *, after: int = 0) -> Totals:
        before = self._sent_before(after)
        return Totals(messages=self.messages(after=after), tokens=self._sent - before)

    def messages(self, *, after: int = 0) -> int:
        return self._length - after - (len(self._system) - bisect_right(self._system, after))

    def turns(self, *, after: int = 0) -> int:
        values = {"session_id": self._session_id, "after": after, "last": self._length}
        with self._database.read() as connection:
            return int(connection.execute(_TURNS, values).scalar_one())

    def tail(self, tokens: int, *, after: int = 0) -> Sequence[Counted]:
        before = self._sent_before(after)
        with self._database.read() as connection:
            first = self._tail_start(connection, tokens, after, before)
            seqs = self._without_system(first)
            missing = self._missing(seqs)
            is_large = tokens >= WHOLE and len(missing) >= LEAST  # as when everything is folded
            if missing and not is_large:
                values = {**self._keys, "first": missing[0], "last": missing[-1]}
                self._keep(connection.execute(_TAIL_ROWS, values))
        if is_large:
            self._read_light(missing)
        self._fill(missing)
        return self._found(seqs, whole=tokens < WHOLE)

    def _read_light(self, seqs: Sequence[int]) -> None:
        """Reads rows without the texts that notes stand for; others would push them out of the
        cache.
        """
        light = light_rows(self._database, **self._keys, first=seqs[0], last=seqs[-1])
        self._light.update((row.seq, row) for row in light if row.seq not in self._rows)

    def _found(self, seqs: Sequence[int], *, whole: bool) -> list[Counted]:
        """The rows that were read; if `whole`, with all their texts."""
        rows, light = self._rows, self._light
        if not light:
            return [rows[seq].row for seq in seqs if seq in rows]
        found = (rows[seq].row if seq in rows else light.get(seq) for seq in seqs)
        known = [row for row in found if row is not None]
        if whole:
            load_all([row.message for row in known])
        return known

    def _without_system(self, first: int) -> list[int]:
        """The places from `first` on, without those of system messages."""
        places = range(first, self._length + 1)
        system = set(self._system[bisect_left(self._system, first) :])
        return [seq for seq in places if seq not in system] if system else list(places)

    def get(self, seqs: Collection[int]) -> list[Counted]:
        wanted = sorted(set(seqs))
        missing = self._missing(wanted)
        if missing:  # what every context asks for next is read along
            beside = {self._anchors.goal, self._anchors.last_user} - {None, *missing, *self._rows}
            self._read([*missing, *filter(None, beside)])
        return self._found(wanted, whole=len(wanted) < LEAST)

    def _read(self, seqs: Sequence[int]) -> None:
        if not seqs:
            return
        with self._database.read() as connection:
            for at in range(0, len(seqs), _MAX_IN_LIST):
                values = {**self._keys, "seqs": seqs[at : at + _MAX_IN_LIST]}
                self._keep(connection.execute(_SEQ_ROWS, values))
        self._fill(seqs)

    def _fill(self, seqs: Sequence[int]) -> None:
        """Counts what was read without its size, and has something stand for what is missing."""
        absent = [
            seq
            for seq in seqs
            if seq not in self._rows and seq not in self._light and 0 < seq <= self._length
        ]
        if not absent:
            return
        counter = known_counter(self._session_id, self.counter_id)
        with self._database.read() as connection:
            for seq in absent:
                row = uncounted_row(connection, self._session_id, seq, self._system)
                tokens, short_tokens = size_row(row, counter)
                self._light[seq] = replace(row, tokens=tokens, short_tokens=short_tokens)

    def _missing(self, seqs: Sequence[int]) -> list[int]:
        """Those of `seqs` that nothing has read yet, neither this view nor one before it."""
        unread = [seq for seq in seqs if seq not in self._rows and seq not in self._light]
        known = self._database.known_rows.of(self._key, unread) if unread else {}
        self._rows.update(known)
        return [seq for seq in unread if seq not in known] if known else unread

    def _keep(self, rows: Iterable[Any]) -> None:
        """Reads rows of `_ROWS`, for this view and for those to come."""
        read = [
            Known(to_counted(columns, self._session_id), cum, ROW_BYTES + len(columns[1]))
            for *columns, cum in rows
        ]
        self._rows.update((known.row.seq, known) for known in read)
        self._database.known_rows.add(self._key, read)

    def anchors(self) -> Anchors:
        return self._anchors

    def rule_edits(self) -> RuleEdits:
        return self._rule_edits

    def facts(self) -> Iterable[tuple[int, Sequence[Fact]]]:
        for first in range(1, self._length + 1, _MAX_IN_LIST):
            last = min(first + _MAX_IN_LIST - 1, self._length)
            with self._database.read() as connection:
                stored = read_facts(connection, self._session_id, first, last)
            found = self._find_facts([seq for seq, facts in stored if facts is None])
            for seq, facts in stored:
                known = found[seq] if facts is None else facts
                if known := self._rule_edits.apply(seq, known):
                    yield seq, known

    def standing(self, *, until: int | None = None) -> Sequence[Entry]:
        end = self._length if until is None else min(until, self._length)
        return self._database.rule_books.standing(self._session_id, end, self._rules)

    def taken_back(self) -> TakenBack:
        return self._database.rule_books.taken_back(self._session_id, self._rules)

    def _find_facts(self, seqs: Sequence[int]) -> dict[int, Sequence[Fact]]:
        """The facts of messages that were appended before facts were stored."""
        rows = self.get(seqs)
        heads = self.get({row.block for row in rows if row.message.is_tool_result})
        blocks = {head.seq: BlockTracker(head.message, head.seq) for head in heads}
        return {
            row.seq: facts_of(
                row, blocks[row.block].call(row.message) if row.block in blocks else None
            )
            for row in rows
        }

    def sizes(self, first: int, last: int) -> Sequence[int]:
        end = min(last, self._length)
        values = {**self._keys, "first": first, "last": end}
        with self._database.read() as connection:
            found = dict(map(tuple, connection.execute(_SIZES, values)))
        if len(found) == end - first + 1:
            return list(found.values())
        return [found.get(seq, 0) for seq in range(first, end + 1)]  # a damaged database

    def spans_tokens(self, spans: Sequence[tuple[int, int]]) -> Sequence[int]:
        known = self._own_until
        ends = {seq for first, last in spans for seq in (first - 1, last)}
        for seq in ends.difference(known):
            if (cum := self._read_sum(seq)) is not None:
                known[seq] = cum
        missing = sorted(ends.difference(known))
        for at in range(0, len(missing), _MAX_IN_LIST):
            values = {**self._keys, "seqs": missing[at : at + _MAX_IN_LIST]}
            with self._database.read() as connection:
                known.update((seq, cum) for seq, cum in connection.execute(_CUMS, values))
        for seq in ends.difference(known):
            known[seq] = self._sum_before(_LAST_CUM, seq)
        try:
            return [known[last] - known[first - 1] for first, last in spans]
        except TypeError as error:  # a page of the file has another's bytes
            problem = StoreProblem.DAMAGED_VALUE(reason=reason_of(error))
            raise DatabaseError(problem=problem) from error

    def having(
        self, terms: Sequence[Sequence[str]], *, before: int, most: int
    ) -> Sequence[Sequence[int]]:
        end = min(before, self._length + 1)
        with self._database.read() as connection:
            return term_places(connection, self._session_id, terms, before=end, most=most)

    def _read_sum(self, seq: int) -> int | None:
        """The running sum of own sizes up to `seq`, where it or the row behind it was read."""
        if (known := self._rows.get(seq)) is not None:
            return known.cum
        following = self._rows.get(seq + 1)
        return None if following is None else following.cum - following.row.tokens

    @property
    def _keys(self) -> dict[str, Any]:
        return {"session_id": self._session_id, "counter_id": self.counter_id}

    def _head(self, connection: Connection, counter_id: str | None) -> RowMapping:
        """The session's row, with the running sums at its end; None where it is not counted."""
        values = {"session_id": self._session_id, "counter_id": counter_id}
        row = connection.execute(_HEAD, values).mappings().first()
        if row is None:
            raise SessionNotFoundError(session_id=self._session_id)
        return with_system(connection, row)

    def _sent_before(self, after: int) -> int:
        """What is sent of messages 1 … `after`; a context needs the same sum again and again."""
        if after not in self._sent_until:
            with self._database.read() as connection:
                found = connection.execute(_SHORT_CUM, {**self._keys, "seq": after}).scalar()
            if found is None:
                found = self._sum_before(_LAST_SHORT_CUM, after)
            self._sent_until[after] = int(found)
        return self._sent_until[after]

    def _sum_before(self, statement: Select[Any], seq: int) -> int:
        """The last running sum up to message `seq`, whose own is missing."""
        with self._database.read() as connection:
            found = connection.execute(statement, {**self._keys, "seq": seq}).scalar()
        return int(found or 0)

    def _tail_start(self, connection: Connection, tokens: int, after: int, before: int) -> int:
        """The first message of the newest blocks that pass `tokens`; `before` is the sum there."""
        limit = self._sent - tokens
        if limit <= before:
            return after + 1
        block = connection.execute(_TAIL_START, {**self._keys, "sum": limit}).scalar()
        return max(after + 1, int(block or 0))

    def _whole_blocks(self, connection: Connection, seqs: Sequence[int]) -> tuple[int, ...]:
        """All messages of the blocks of `seqs`: a call is never separated from its result."""
        end, blocks = self._length + 1, dict[int, range]()
        for at in range(0, len(seqs), _MAX_IN_LIST):
            values = {**self._keys, "seqs": seqs[at : at + _MAX_IN_LIST]}
            for head, after in connection.execute(_BLOCKS, values):
                blocks[head] = range(head, min(after or end, end))
        return tuple(seq for head in sorted(blocks) for seq in blocks[head])


SAMPLE_TOKENS = 4_000  # of the newest messages, which resemble the next ones; counted in 3 ms


class ScaledHistory:
    """A `HistoryView` whose sizes are those of another view times a ratio, rounded up.

    It serves after a change of model, until the recount is done.
    """

    def __init__(self, view: HistoryView, ratio: float) -> None:
        self.memo: dict[Hashable, HistoryView] = {}
        self.count, self.messages, self.turns = view.count, view.messages, view.turns
        self.anchors, self.facts, self.standing = view.anchors, view.facts, view.standing
        self.taken_back, self.having = view.taken_back, view.having
        self.rule_edits = view.rule_edits
        self._view = view
        self._ratio = ratio

    def totals(self, *, after: int = 0) -> Totals:
        totals = self._view.totals(after=after)
        return replace(totals, tokens=self._scaled(totals.tokens))

    def tail(self, tokens: int, *, after: int = 0) -> Sequence[Counted]:
        rows = self._view.tail(ceil(tokens / self._ratio), after=after)
        return [self._row(row) for row in rows]

    def get(self, seqs: Collection[int]) -> list[Counted]:
        return [self._row(row) for row in self._view.get(seqs)]

    def sizes(self, first: int, last: int) -> Sequence[int]:
        return [self._scaled(tokens) for tokens in self._view.sizes(first, last)]

    def spans_tokens(self, spans: Sequence[tuple[int, int]]) -> Sequence[int]:
        return [self._scaled(tokens) for tokens in self._view.spans_tokens(spans)]

    def _row(self, row: Counted) -> Counted:
        short = None if row.short_tokens is None else self._scaled(row.short_tokens)
        return replace(row, tokens=self._scaled(row.tokens), short_tokens=short)

    def _scaled(self, tokens: int) -> int:
        return ceil(tokens * self._ratio)


def scale_to(view: HistoryView, counter: TokenCounter) -> ScaledHistory:
    """`view` with sizes scaled to `counter`, by the ratio of its newest messages."""
    sample = view.tail(SAMPLE_TOKENS)
    sizes = (size_row(row, counter) for row in sample)
    counted = sum(tokens if short is None else short for tokens, short in sizes)
    stored = sum(row.sent_tokens for row in sample)
    return ScaledHistory(view, counted / stored if stored and counted else 1.0)
