"""Drafts of a compaction: what it would fold, and the input expected after it.

A draft is in the sizes of one counter; `Draft.within` converts it to another's.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, takewhile
from typing import Literal

from ctxcore.assembly.building import NOTHING_COVERED, Call
from ctxcore.assembly.history import Counted
from ctxcore.assembly.reading import WHOLE, Reading, by_block
from ctxcore.assembly.records import Compaction
from ctxcore.assembly.texts import ACKNOWLEDGED, acknowledgement, gap_message, summary_message
from ctxcore.budget import TokenBudget
from ctxcore.compaction.triggers import Measure
from ctxcore.tokens.count import count_message
from ctxcore.tokens.families import TokenCounter

Block = tuple[Counted, ...]
Chooser = Literal["worth", "importance", "key_events"]

LEAST_SUMMARY_TOKENS = 48  # chosen: room for a speaker and one sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What is planned so far: blocks before `cut` fold, but some of them may stay.

    Of the blocks from `gone` to `cut` the `choosers` keep some, one chooser after another.
    """

    scope: Scope
    sizes: tuple[int, ...]
    """The size of each block under this draft."""
    cut: int = 0
    gone: int = 0
    """Blocks before this index fold in any case."""
    choosers: tuple[Chooser, ...] = ()
    """What chooses the covered blocks that stay; empty: those that stayed so far."""
    folds_kept: bool = False
    """Whether messages that earlier compactions kept fold too."""
    stops: tuple[int, ...] = ()
    """Cuts before `cut` at which the summary is written once before it continues."""
    short_sizes: Mapping[int, int] = field(default_factory=dict)
    """The size of each shortened tool output and call, by sequence number."""

    @classmethod
    def of(cls, scope: Scope) -> Draft:
        """Returns a draft that folds nothing, in the sizes of `scope`."""
        return cls(scope=scope, sizes=scope.sizes)

    @property
    def kept_tokens(self) -> int:
        """The size of the blocks after the cut together."""
        return sum(self.sizes[self.cut :])

    @property
    def expected_tokens(self) -> int:
        """The input after this draft, with the summary at its longest.

        A chooser that does not go by the room is taken to keep only the newest messages.
        """
        expected = self.scope.expected_at(self.cut, self.kept_tokens)
        if not (self.choosers or self.folds_kept):
            return expected
        return expected + self._chosen_tokens - self.scope.kept_tokens

    @property
    def kept_room(self) -> int:
        """The room for covered blocks within the target; negative where the rest is above it."""
        expected = self.scope.expected_at(self.cut, self.kept_tokens) - self.scope.kept_tokens
        return self.scope.budget.target_tokens - expected

    @property
    def summary_room(self) -> int:
        """What the longest summary and its frame take, more than the marker of a truncation."""
        if not self.scope.is_summarized:
            return 0
        summarized = self.scope.expected_summary(self.scope.whole[self.cut])
        left_out = self.scope.folding(is_summarized=False)
        return summarized - left_out.expected_summary(left_out.whole[self.cut])

    @property
    def candidates(self) -> Sequence[Block]:
        """The covered blocks that may stay verbatim, oldest first."""
        kept = () if self.folds_kept else self.scope.kept
        return (*kept, *self.scope.blocks[self.gone : self.cut])

    @property
    def _chosen_tokens(self) -> int:
        if not self.choosers:
            return 0
        kept = 0 if self.folds_kept else self.scope.kept_tokens
        if self.choosers == ("worth",):
            return min(max(0, self.kept_room), kept + sum(self.sizes[self.gone : self.cut]))
        lengths = [len(block) for block in self.candidates]
        newest = newest_within(lengths, self.scope.policy.keep_others)
        return sum(map(size_of, self.candidates[newest:]))

    def within(self, scope: Scope) -> Draft:
        """Returns the same draft in the sizes of another scope."""
        scope = scope.folding(is_summarized=self.scope.is_summarized)
        return replace(self, scope=scope, sizes=scope.shortened_sizes(self.short_sizes))

    def shortened(self, short_sizes: Mapping[int, int]) -> Draft:
        """Returns the same draft with these tool outputs and calls shortened."""
        sizes = self.scope.shortened_sizes(short_sizes)
        return replace(self, sizes=sizes, short_sizes=short_sizes)


class Scope:
    """What strategies decide on: the uncovered blocks, their sizes and what may not fold."""

    def __init__(
        self,
        reading: Reading,
        call: Call,
        budget: TokenBudget,
        measured: Measure,
        *,
        source_tokens: int = 0,
        facts_tokens: int,
    ) -> None:
        """Measures the blocks of `reading`.

        `source_tokens` is the size of what the summary so far stands for, `facts_tokens` the most
        that facts take once something is folded.
        """
        self.blocks = reading.blocks
        self.policy = call.policy
        self.pinned = frozenset(reading.anchors.pinned)
        """Messages that a person wants to be shown whole."""
        self.budget = budget
        self.fixed_tokens = measured.fixed_tokens - measured.recalled_tokens
        self.messages = measured.uncovered_messages
        self.system_messages = measured.system_messages
        self.sizes = tuple(size_of(block) for block in self.blocks)
        """The size of each block now."""
        self._summary_tokens = measured.summary_tokens
        self._source_tokens = source_tokens
        self._gap_tokens = measured.gap_tokens
        self._reading = reading
        self._call = call
        self.is_summarized = True
        """Whether folded messages are summarized, or only left out."""
        self._frame_tokens = _frame(call, is_summarized=True)
        self._most_summary_tokens = _most_summary(call)
        self.whole = [0, *accumulate(self.sizes)]
        """The size of the blocks before each cut: the source of a summary."""
        self.kept = by_block(reading.kept)
        """Blocks that earlier compactions kept verbatim."""
        self.kept_tokens = sum(size_of(block) for block in self.kept)
        self.facts_tokens = max(0, facts_tokens - measured.facts_tokens)
        self.survivors = [0, *accumulate(self._surviving())]
        """The size of what stays before each cut: pins, the last user message, the goal."""
        self.last_cut = max(0, len(self.blocks) - 1)
        """The newest block never folds."""
        self.tail_start = min(newest_within(self.sizes, budget.recent_tokens), self.last_cut)
        """The block at which the protected tail starts."""

    def folding(self, *, is_summarized: bool) -> Scope:
        """Returns the same scope with folded messages summarized, or only left out."""
        other = copy(self)
        other.is_summarized = is_summarized
        other._frame_tokens = _frame(self._call, is_summarized=is_summarized)
        return other

    def shortened_sizes(self, short_sizes: Mapping[int, int]) -> tuple[int, ...]:
        """Returns the size of each block with these tool outputs and calls shortened."""
        if not short_sizes:
            return self.sizes
        sizes = list(self.sizes)
        for seq, tokens in short_sizes.items():
            at, now = self._shortenable[seq]
            sizes[at] -= max(0, now - tokens)
        return tuple(sizes)

    @cached_property
    def _shortenable(self) -> Mapping[int, tuple[int, int]]:
        """The block and the size of each tool output and call, by sequence number."""
        return {
            row.seq: (at, row.sent_tokens)
            for at, block in enumerate(self.blocks)
            for row in block
            if row.message.is_tool_result or row.message.calls
        }

    def expected_at(self, cut: int, kept_tokens: int) -> int:
        """Returns the input with blocks before `cut` folded; the others take `kept_tokens`."""
        facts = self.facts_tokens if cut else 0  # at their longest, as the summary
        around = self.fixed_tokens + self.survivors[cut] + facts
        return around + kept_tokens + self.expected_summary(self.whole[cut])

    def expected_summary(self, folded_tokens: int) -> int:
        """Returns the size of the longest summary; that of the current one where nothing folds."""
        if not folded_tokens:
            return self._summary_tokens + self._gap_tokens
        if not self.is_summarized:
            return self._summary_tokens + self._frame_tokens
        source = folded_tokens + self._source_tokens
        longest = summary_limit(self.policy.summary_source_ratio, self.budget, source)
        return min(longest, self._most_summary_tokens) + self._frame_tokens

    def turn_starts(self) -> list[int]:
        """Returns the indexes of the blocks at which turns start."""
        return [at for at, block in enumerate(self.blocks) if block[0].message.role == "user"]

    def cut_keeping(self, turns: int) -> int:
        """Returns the cut that keeps so many answered turns, and the one that waits."""
        starts = self.turn_starts()
        kept = turns + (1 if self.is_waiting else 0)
        if not kept:
            return len(self.blocks)
        return starts[-kept] if len(starts) >= kept else 0

    @property
    def is_waiting(self) -> bool:
        """Whether the last turn waits for its answer."""
        if not self.blocks:
            return False
        head = self.blocks[-1][0].message
        return head.role != "assistant" or bool(head.calls)

    def fresh_from(self) -> int:
        """Returns the sequence number from which tool outputs stay whole: the newest turns."""
        turns, starts = self.policy.fresh_turns, self.turn_starts()
        if not turns or not starts:
            return self.blocks[-1][-1].seq + 1 if self.blocks and not turns else 0
        return self.blocks[starts[-turns]][0].seq if len(starts) >= turns else 0

    def open_from(self) -> int:
        """Returns the sequence number from which the turn that waits for the model starts."""
        starts = self.turn_starts()
        if not self.is_waiting:
            return self.blocks[-1][-1].seq + 1 if self.blocks else 0
        return self.blocks[starts[-1]][0].seq if starts else 0

    @property
    def counter(self) -> TokenCounter:
        """What the sizes are counted with."""
        return self._call.counter

    def _surviving(self) -> list[int]:
        """Returns the size of what stays of each block if it folds; mostly 0."""
        anchors = self._reading.anchors
        always = {anchors.last_user, *anchors.pinned}
        special = {seq for seq in (*always, anchors.goal) if seq is not None}
        heads = [block[0].seq for block in self.blocks]
        staying = [0] * len(heads)
        for at in {bisect_right(heads, seq) - 1 for seq in special if heads and seq >= heads[0]}:
            staying[at] = sum(
                row.sent_tokens
                if row.seq in always
                else min(row.sent_tokens, self.policy.request_tokens)
                for row in self.blocks[at]
                if row.seq in special
            )
        return staying


def newest_within(sizes: Sequence[int], limit: int) -> int:
    """Returns the index at which the longest tail of `sizes` within `limit` starts."""
    totals = accumulate(reversed(sizes))
    return len(sizes) - sum(1 for _ in takewhile(lambda total: total <= limit, totals))


def size_of(block: Block) -> int:
    """Returns the size of a block now."""
    # Most blocks are one message; a plan asks for the size of each.
    return block[0].sent_tokens if len(block) == 1 else sum(row.sent_tokens for row in block)


def source_so_far(active: Compaction) -> int:
    """Returns the size of what the summary of `active` stands for; at least its own."""
    return max(active.source_tokens, active.summary_tokens)


def summary_limit(ratio: float, budget: TokenBudget, source_tokens: int) -> int:
    """Returns how many tokens a summary of `source_tokens` may have."""
    return min(budget.summary_tokens, max(int(source_tokens * ratio), LEAST_SUMMARY_TOKENS))


def _most_summary(call: Call) -> int:
    """Returns the most a summary takes within its limit of characters, if all were Chinese."""
    chars = call.policy.summary_max_chars
    return WHOLE if chars is None else call.counter.count("字" * chars)


def _frame(call: Call, *, is_summarized: bool) -> int:
    """Returns the size of what frames a summary, or of the marker of a truncation."""
    if not is_summarized:
        return count_message(gap_message(10_000, "zh"), call.counter)
    place = call.policy.summary_place
    answers = place in ACKNOWLEDGED
    return max(
        count_message(summary_message(empty, place), call.counter)
        + (count_message(acknowledgement(empty.language), call.counter) if answers else 0)
        for empty in (replace(NOTHING_COVERED, language="zh"), NOTHING_COVERED)
    )
