"""Recalls what a request asks for and its context does not show, and puts it behind the request.

There nothing before it changes. Where the request led to calls, it stays while these are shown, so
that a prompt cache can reuse them; once all that stays exceeds its share, the newest request starts
anew. Where a plain answer followed, it goes with its turn.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ctxcore.assembly.history import Counted, HistoryView, facts_of, repeats
from ctxcore.assembly.items import own_item
from ctxcore.assembly.layout import Layout, Recalled
from ctxcore.assembly.reading import WHOLE, Reading
from ctxcore.assembly.recall_texts import index_words_of, quoted, says_the_same
from ctxcore.assembly.records import Recalls
from ctxcore.assembly.texts import recalled_message
from ctxcore.budget import TokenBudget
from ctxcore.facts.replacing import replacements
from ctxcore.facts.speakers import spoken
from ctxcore.policy.values import Policy
from ctxcore.recalling.ranking import Found, answering_first
from ctxcore.recalling.requests import Query, read_request
from ctxcore.recalling.searching import search
from ctxcore.text.languages import Language
from ctxcore.tokens.families import TokenCounter

LEAST_TOKENS: Final = 48  # chosen: less room is not worth a frame
# How rare the terms must be, together, that a message shares with a request; see `rank`. Chosen on
# small talk, which must recall nothing and names no two things.
_ASKED_RARITY: Final = 3.0
_TOLD_RARITY: Final = 8.0
_CLEAR_RARITY: Final = 1.5  # of a clear question, half; what it names may be spoken of all the time
_BESIDE: Final = 3  # messages on each side of one that is meant that may be recalled with it
_MOST_READ: Final = 200  # of the best; chosen: more than any share holds beside what is shown
_MOST_COMPARED: Final = 24  # of the best, for what replaced what; finding facts takes time
_LEAST_SHARE: Final = 0.3  # of the best score; chosen: below, tokens are spent for little
_CLEAR_SHARE: Final = 0.1  # the same of a clear question, whose answer is worth more; chosen
_GLUE_TOKENS: Final = 2  # between two quotes, where joined texts count more than their parts
_SAID_BEFORE: Final = 4  # messages before a request that it may refer to


@dataclass(kw_only=True)
class Recaller:
    """Finds what the newest request needs; nothing under a policy without recall."""

    view: HistoryView
    reading: Reading
    policy: Policy
    budget: TokenBudget | None
    language: Language
    counter: TokenCounter
    covered_until: int
    """The last message that a compaction covers."""
    recalls: Recalls = ()
    """What was recalled for this request and for earlier ones."""

    @property
    def most_tokens(self) -> int:
        """What is recalled for one request at most."""
        if self.policy.recall_ratio is None:
            return 0
        return min(self.policy.recall_max_tokens, self.share_tokens)

    @property
    def share_tokens(self) -> int:
        """What everything recalled may take."""
        usable = self.budget.usable_tokens if self.budget else WHOLE
        return int(usable * (self.policy.recall_ratio or 0))

    @cached_property
    def standing(self) -> tuple[Recalled, ...]:
        """What stands behind earlier requests, oldest first, and behind the one that waits."""
        if self.policy.recall_ratio is None or not self.recalls:
            return ()
        made = (
            self._recalled(request, seqs)
            for request, seqs in self.recalls
            if seqs and self._is_shown(request) and self._goes_on(request)
        )
        return tuple(filter(None, made))

    def _is_shown(self, request: int) -> bool:
        """Whether a request is uncovered, or shown for its turn that is not done."""
        return request > self.covered_until or request == self.reading.current

    def _goes_on(self, request: int) -> bool:
        """Whether a request waits for its answer, or led to calls."""
        if request == self.view.count():
            return True
        [answer] = self.view.get([request + 1])
        return bool(answer.message.calls)

    @property
    def is_open(self) -> bool:
        """Whether a request waits for which it is yet to be decided what it recalls."""
        decided = {seq for seq, _ in self.recalls}
        waits = self.reading.current is not None and self.reading.current not in decided
        return waits and self.most_tokens > 0

    @cached_property
    def query(self) -> Query:
        """What the newest request looks for."""
        request = self.reading.last_user
        if request is None or not self.is_open:
            return Query()
        said = self._said_before(request)
        return read_request(spoken(request.message.text), said, self._called())

    def choose(self, layout: Layout, room_tokens: int, *, is_free: bool) -> Recalled | None:
        """What the newest request recalls of what `layout` does not show, within `room_tokens`.

        `is_free`: no message gives way for it, so that a clear question takes more.
        """
        request, limit = self.reading.last_user, min(room_tokens, self.most_tokens)
        if request is None or limit < LEAST_TOKENS or not self.query.terms:
            return None
        shown = {item.seq for item in layout.messages if item.verdict == "kept"}
        known = shown.union(seq for one in layout.recalled for seq in one.seqs)
        return self._within(request, limit, self._to_show(known, is_free=is_free))

    def _to_show(self, known: Collection[int], *, is_free: bool) -> Iterator[tuple[int, ...]]:
        """The messages that are not `known`, the best first, each with all that replaced it.

        A clear question takes all of them, but only free room; else those that stand beside one
        that is meant and not shown. What was replaced by a message that is shown stays away: it
        would stand behind that.
        """
        hits = self._sure.difference(known)
        takes_all = is_free and self.query.is_clear
        for seq in self._best:
            if not takes_all and hits.isdisjoint(_beside(seq)):
                continue
            together = [seq]
            while (newer := self._replaced.get(together[-1])) is not None:
                together.append(newer)
            if all(one not in known and one in self._rows for one in together):
                yield tuple(together)

    @cached_property
    def _replaced(self) -> dict[int, int]:
        """Which of the best messages state what a later one of them replaced."""
        best = sorted(self._meant[:_MOST_COMPARED])
        rows = [self._rows[seq] for seq in best if seq in self._rows]
        return replacements((row.seq, facts_of(row, None)) for row in rows if _states(row))

    def _within(
        self, request: Counted, limit: int, found: Iterable[tuple[int, ...]]
    ) -> Recalled | None:
        """As many of the messages, the best first, as `limit` tokens hold."""
        said = dict[int, frozenset[str]]()
        left = limit - self._frame_tokens
        for together in found:
            new = [self._rows[seq] for seq in together if seq not in said]
            words = {row.seq: index_words_of(row) for row in new}
            quotes = (quoted(row, request.message.text, self.counter) for row in new)
            size = sum(self.counter.count(quote) + _GLUE_TOKENS for quote in quotes)
            is_said = not new or says_the_same(words[new[0].seq], [*said.values()])
            if is_said or size > left:
                continue
            left -= size
            said |= words
            if left < LEAST_TOKENS // 2:
                break
        made = self._recalled(request.seq, said)
        return made if made is not None and made.item.tokens <= limit else None

    @cached_property
    def _found(self) -> list[Found]:
        """What the request finds among the messages before it, the best first."""
        request = self.reading.last_user
        assert request is not None
        hidden = self.reading.unsaid.union(self.reading.anchors.system)
        found = search(self.view, self.query, before=request.seq, hidden=hidden)
        share = _CLEAR_SHARE if self.query.is_clear else _LEAST_SHARE
        worth = share * found[0].score if found else 0.0
        return [one for one in found if one.score >= worth]

    @cached_property
    def _sure(self) -> frozenset[int]:
        """The messages that share enough with the request to be meant."""
        is_clear, asks = self.query.is_clear, self.query.asks
        least = _CLEAR_RARITY if is_clear else least_rarity(asks=asks)
        return frozenset(one.seq for one in self._found if one.rarity >= least)

    @cached_property
    def _meant(self) -> list[int]:
        """The messages that are meant and those beside them, the best first.

        Where a clear question means any, all that it found.
        """
        near = {seq for one in self._sure for seq in _beside(one)}
        is_clear = bool(near) and self.query.is_clear
        return [one.seq for one in self._found if is_clear or one.seq in near]

    @cached_property
    def _best(self) -> list[int]:
        """The same as `_rows`, what states a time or a number that is asked for further ahead."""
        found = [one for one in self._found if one.seq in self._rows]
        ranked = answering_first(found, self.query, lambda seq: self._rows[seq].message.text)
        return [one.seq for one in ranked]

    @cached_property
    def _rows(self) -> dict[int, Counted]:
        """The messages that are meant and may be shown, which what `repeats` others may not."""
        rows = self.view.get(self._meant[:_MOST_READ])
        return {row.seq: row for row in rows if not repeats(row)}

    def _said_before(self, request: Counted) -> list[str]:
        """What user and model said right before the request, newest first."""
        first = max(1, request.seq - _SAID_BEFORE)
        rows = self.view.get(range(first, request.seq)) if first < request.seq else []
        said = [row.message for row in rows if row.message.role in ("user", "assistant")]
        return [spoken(message.text) for message in reversed(said) if message.text]

    def _called(self) -> list[str]:
        """What the first calls for the request were; the same through all of its turn."""
        request = self.reading.last_user
        blocks = (block for block in self.reading.blocks if request and block[0].seq > request.seq)
        first = next(blocks, ())
        return [call.arguments for row in first[:1] for call in row.message.calls]

    def _recalled(self, request: int, seqs: Collection[int]) -> Recalled | None:
        rows = self._read((request, *seqs))
        asking = rows.pop(request, None)
        hidden = self.reading.unsaid
        shown = [rows[seq] for seq in sorted(seqs) if seq in rows and seq not in hidden]
        if asking is None or not shown:
            return None
        text = "\n".join(quoted(row, asking.message.text, self.counter) for row in shown)
        item = own_item("recalled", recalled_message(text, self.language), self.counter)
        return Recalled(request, tuple(row.seq for row in shown), item)

    def _read(self, seqs: Collection[int]) -> dict[int, Counted]:
        return {row.seq: row for row in self.view.get(set(seqs))}

    @property
    def _frame_tokens(self) -> int:
        return own_item("recalled", recalled_message("", self.language), self.counter).tokens


def least_rarity(*, asks: bool) -> float:
    """How rare the terms must be, together, that a message shares with a request to be meant."""
    return _ASKED_RARITY if asks else _TOLD_RARITY


def in_force(standing: Sequence[Recalled], new: Recalled, share: int) -> Sequence[Recalled]:
    """What stands behind requests once `new` was recalled for the newest."""
    taken = sum(one.item.tokens for one in standing) + new.item.tokens
    return (*standing, new) if taken <= share else (new,)


def _beside(seq: int) -> range:
    return range(seq - _BESIDE, seq + _BESIDE + 1)


def _states(row: Counted) -> bool:
    """Whether somebody says it: what tools print neither rules nor decides."""
    return not row.message.is_tool_result and bool(row.message.text)
