"""Histories seen in other ways: shortened or counted as a policy wants, or only their beginning.

Sizes are needed many times while a compaction is decided, and counted once. Only the newest
`_READ_TOKENS` are counted anew; older messages keep the sizes of the history itself.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import takewhile

from ctxcore.assembly.history import (
    Anchors,
    Counted,
    HistoryView,
    Totals,
    is_own_answer,
    with_short,
)
from ctxcore.assembly.prompts import Prompts, until
from ctxcore.assembly.texts import elide_within
from ctxcore.compression.previews import preview
from ctxcore.facts.ledger import Entry, TakenBack
from ctxcore.facts.rule_edits import RuleEdits
from ctxcore.facts.values import Fact
from ctxcore.messages.values import Message, Reasoning, Text
from ctxcore.policy.values import Policy
from ctxcore.tokens.count import count_message
from ctxcore.tokens.families import TokenCounter
from ctxcore.tokens.rules import RuleCounter

_READ_TOKENS = 400_000  # chosen: no usable input is larger than a few of these


@dataclass(eq=False)
class AdaptedHistory:
    """A `HistoryView` whose rows have other sizes or shorter outputs than those of another."""

    view: HistoryView
    counter: TokenCounter
    recounts: bool = False
    """Whether every message is counted anew by `counter`."""
    shortens: Policy | None = None
    """The policy whose limits tool outputs are shortened to."""
    max_message_chars: int | None = None

    def __post_init__(self) -> None:
        self.memo: dict[Hashable, HistoryView] = {}
        self._rows: dict[int, Counted] = {}
        self._totals: dict[tuple[int, int], Totals] = {}
        self._all: dict[tuple[int, int], tuple[int, Sequence[Counted]]] = {}
        """Everything behind a place, once it was read, with what it takes."""

    def count(self) -> int:
        return self.view.count()

    def messages(self, *, after: int = 0) -> int:
        return self.view.messages(after=after)

    def turns(self, *, after: int = 0) -> int:
        return self.view.turns(after=after)

    def totals(self, *, after: int = 0) -> Totals:
        key = (self.count(), after)  # a history may grow
        if key not in self._totals:
            all_of_it = self.view.totals(after=after)
            read = self.view.tail(_READ_TOKENS, after=after)
            changed = sum(self._row(row).sent_tokens - row.sent_tokens for row in read)
            self._totals[key] = replace(all_of_it, tokens=all_of_it.tokens + changed)
        return self._totals[key]

    def tail(self, tokens: int, *, after: int = 0) -> Sequence[Counted]:
        key = (self.count(), after)
        sent, rows = self._all.get(key, (0, ()))
        if rows and sent <= tokens:
            return rows
        uncovered = self.messages(after=after)
        limit = max(1, tokens)
        while True:
            rows = [self._row(row) for row in self.view.tail(limit, after=after)]
            sent = sum(row.sent_tokens for row in rows)
            if sent > tokens:
                return _newest(rows, tokens)
            if len(rows) >= uncovered:
                self._all[key] = (sent, rows)
                return rows
            limit *= 2

    def get(self, seqs: Collection[int]) -> list[Counted]:
        return [self._row(row) for row in self.view.get(seqs)]

    def anchors(self) -> Anchors:
        return self.view.anchors()

    def rule_edits(self) -> RuleEdits:
        return self.view.rule_edits()

    def facts(self) -> Iterable[tuple[int, Sequence[Fact]]]:
        return self.view.facts()

    def taken_back(self) -> TakenBack:
        return self.view.taken_back()

    def standing(self, *, until: int | None = None) -> Sequence[Entry]:
        return self.view.standing(until=until)

    def sizes(self, first: int, last: int) -> Sequence[int]:
        if not self.recounts:
            return self.view.sizes(first, last)
        return [row.tokens for row in self.get(range(first, last + 1))]

    def spans_tokens(self, spans: Sequence[tuple[int, int]]) -> Sequence[int]:
        if not self.recounts:
            return self.view.spans_tokens(spans)
        return [sum(self.sizes(first, last)) for first, last in spans]

    def having(
        self, terms: Sequence[Sequence[str]], *, before: int, most: int
    ) -> Sequence[Sequence[int]]:
        return self.view.having(terms, before=before, most=most)

    def _row(self, row: Counted) -> Counted:
        found = self._rows.get(row.seq)
        if found is None:
            found = self._rows[row.seq] = self._shortened(self._recounted(row))
        return found

    def _recounted(self, row: Counted) -> Counted:
        if not self.recounts:
            return row
        name = row.function_name
        counted = replace(row, tokens=count_message(row.message, self.counter, function_name=name))
        return counted if row.short is None else with_short(counted, row.short, self.counter)

    def _shortened(self, row: Counted) -> Counted:
        limit, most_chars = self._limit_of(row), self.max_message_chars
        if limit is not None and row.sent_tokens > limit:
            return self._previewed(row, limit)
        if most_chars is None:
            return row
        text = row.message.text
        if len(text) > most_chars and _is_text(row.message):
            return with_short(row, elide_within(text, most_chars), self.counter)
        return row

    def _limit_of(self, row: Counted) -> int | None:
        if self.shortens is None or not row.message.is_tool_result or is_own_answer(row):
            return None
        return self.shortens.tool_limit(row.function_name)

    def _previewed(self, row: Counted, limit: int) -> Counted:
        output = row.message.text
        if self.counter.count(output) <= limit:  # the limit is of the output without its frame
            return row
        if isinstance(self.counter, Hashable):
            text = _preview_once(output, limit, self.counter)
        else:
            text = preview(output, max_tokens=limit, counter=self.counter)
        shorter = with_short(row, text, self.counter)
        return shorter if shorter.sent_tokens < row.sent_tokens else row


def _is_text(message: Message) -> bool:
    """Whether cutting the words of a message loses nothing else: no calls, no media."""
    return not message.calls and all(isinstance(p, (Text, Reasoning)) for p in message.content)


@lru_cache(maxsize=2048)  # the same outputs are in every context until they are folded
def _preview_once(output: str, max_tokens: int, counter: TokenCounter) -> str:
    return preview(output, max_tokens=max_tokens, counter=counter)


def _newest(rows: Sequence[Counted], tokens: int) -> Sequence[Counted]:
    """The newest whole blocks of `rows` that pass `tokens`, or all of them."""
    sent, first = 0, 0
    for at in range(len(rows) - 1, -1, -1):
        sent += rows[at].sent_tokens
        starts_block = at == 0 or rows[at - 1].block != rows[at].block
        if sent > tokens and starts_block:
            first = at
            break
    return rows[first:]


def adapted(view: HistoryView, policy: Policy, counter: TokenCounter) -> HistoryView:
    """`view` as `policy` shows it to a model; `view` itself where it changes nothing."""
    shortens = policy if policy.shortens_always else None
    max_chars = policy.max_message_chars
    if isinstance(view, AdaptedHistory) or (shortens is None and max_chars is None):
        return view
    return _known(AdaptedHistory(view, counter, shortens=shortens, max_message_chars=max_chars))


def counted_by_rule(
    view: HistoryView, policy: Policy, counter: TokenCounter, rule: RuleCounter
) -> HistoryView:
    """What `adapted` shows of `view`, as the triggers of `policy` count it."""
    return _known(AdaptedHistory(adapted(view, policy, counter), rule, recounts=True))


def _known(history: AdaptedHistory) -> HistoryView:
    """`history`, or the same one that was made of its view before: its sizes are known."""
    limits, shortens = None, history.shortens
    if shortens is not None:
        limits = (shortens.shorten_over_tokens, shortens.tool_limits, shortens.protected_tools)
    key = (history.counter.id, limits, history.max_message_chars, history.recounts)
    return history.view.memo.setdefault(key, history)


class PrefixHistory:
    """A `HistoryView` of the first messages of another.

    `grow` shows more of them. A mark covers its whole block, also where its end is not shown.
    """

    def __init__(self, whole: HistoryView, count: int = 0) -> None:
        self.memo: dict[Hashable, HistoryView] = {}
        self._whole = whole
        self._count = count

    def grow(self, count: int) -> None:
        """Shows the first `count` messages from now on; never fewer than before."""
        assert self._count <= count <= self._whole.count()
        self._count = count

    def count(self) -> int:
        return self._count

    def totals(self, *, after: int = 0) -> Totals:
        all_of_it, later = self._whole.totals(after=after), self._whole.totals(after=self._count)
        return Totals(
            messages=all_of_it.messages - later.messages, tokens=all_of_it.tokens - later.tokens
        )

    def messages(self, *, after: int = 0) -> int:
        return self._whole.messages(after=after) - self._whole.messages(after=self._count)

    def turns(self, *, after: int = 0) -> int:
        return bisect_right(self._users, self._count) - bisect_right(self._users, after)

    def tail(self, tokens: int, *, after: int = 0) -> Sequence[Counted]:
        if after >= self._count:
            return []
        enough = self._whole.totals(after=self._count).tokens + tokens
        places = range(after, self._count)
        # the first place that no more than `tokens` lie behind, and the message before it
        start = after + bisect_left(places, -enough, key=self._minus_tokens)
        start = max(after, start - 1)
        (first,) = self._whole.get([start + 1])
        start = max(after, first.block - 1)
        rows = self._whole.get(range(start + 1, self._count + 1))
        return [row for row in rows if not row.message.is_system]

    def get(self, seqs: Collection[int]) -> list[Counted]:
        return self._whole.get(seqs)

    def anchors(self) -> Anchors:
        whole, users = self._whole.anchors(), bisect_right(self._users, self._count)
        own = set(whole.own)
        system = [seq for seq in whole.prompts if seq not in own]
        marked = set(whole.excluded).difference(whole.replaced, whole.own).union(whole.dismissed)
        prompts = Prompts.of(system, whole.changes, self._count, marked)
        left_out = self._shown(sorted(marked))
        return Anchors(
            system=prompts.in_force,
            goal=whole.goal if whole.goal is not None and whole.goal <= self._count else None,
            last_user=self._users[users - 1] if users else None,
            pinned=self._shown(whole.pinned),
            excluded=tuple(sorted({*left_out, *prompts.replaced, *self._shown(whole.own)})),
            own=self._shown(whole.own),
            replaced=prompts.replaced,
            dismissed=prompts.dismissed,
            changes=until(whole.changes, self._count),
        )

    def rule_edits(self) -> RuleEdits:
        return self._whole.rule_edits()

    def facts(self) -> Iterable[tuple[int, Sequence[Fact]]]:
        return takewhile(lambda found: found[0] <= self._count, self._whole.facts())

    def taken_back(self) -> TakenBack:
        return self._whole.taken_back()

    def standing(self, *, until: int | None = None) -> Sequence[Entry]:
        end = self._count if until is None else min(until, self._count)
        return self._whole.standing(until=end)

    def sizes(self, first: int, last: int) -> Sequence[int]:
        return self._whole.sizes(first, last)

    def spans_tokens(self, spans: Sequence[tuple[int, int]]) -> Sequence[int]:
        return self._whole.spans_tokens(spans)

    def having(
        self, terms: Sequence[Sequence[str]], *, before: int, most: int
    ) -> Sequence[Sequence[int]]:
        return self._whole.having(terms, before=min(before, self._count + 1), most=most)

    @cached_property
    def _users(self) -> Sequence[int]:
        """Where user messages lie in the whole history."""
        rows = self._whole.get(range(1, self._whole.count() + 1))
        return [row.seq for row in rows if row.message.role == "user"]

    def _shown(self, seqs: Sequence[int]) -> tuple[int, ...]:
        return tuple(seqs[: bisect_right(seqs, self._count)])

    def _minus_tokens(self, after: int) -> int:
        return -self._whole.totals(after=after).tokens
