"""Owns drafts: what a compaction would fold, and the input that is expected then.

A draft is in the sizes of one counter; the same cut and the same shortened outputs can be looked
at in another's.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import Literal

from ctxcore.assembly.building import NOTHING_COVERED, Call
from ctxcore.assembly.history import Counted
from ctxcore.assembly.reading import WHOLE, Reading, before_current, by_block
from ctxcore.assembly.records import Compaction
from ctxcore.assembly.texts import ACKNOWLEDGED, acknowledgement, gap_message, summary_message
from ctxcore.budget import TokenBudget
from ctxcore.compaction.triggers import Measure
from ctxcore.tokens.count import count_message

Block = tuple[Counted, ...]
Chooser = Literal["worth", "importance", "key_events"]

LEAST_SUMMARY_TOKENS = 48  # a speaker and one sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What is planned so far: blocks before `cut` fold, `short_sizes` are of shortened outputs.

    Of the blocks from `gone` to `cut` the `choosers` keep some, one after another.
    """

    scope: Scope
    sizes: tuple[int, ...]
    """What each block takes under this draft."""
    cut: int = 0
    gone: int = 0
    """Blocks before it fold whatever a chooser would say of them."""
    choosers: tuple[Chooser, ...] = ()
    """Who chooses what stays of what is covered; nobody: what stayed so far."""
    folds_kept: bool = False
    """Whether what earlier compactions kept folds too."""
    stops: tuple[int, ...] = ()
    """Cuts before `cut` at which the summary is written before it goes on."""
    short_sizes: Mapping[int, int] = field(default_factory=dict)
    """What each tool output that is shortened takes then, by sequence number."""

    @classmethod
    def of(cls, scope: Scope) -> Draft:
        """A draft that folds nothing, in the sizes of `scope`."""
        return cls(scope=scope, sizes=scope.sizes)

    @property
    def kept_tokens(self) -> int:
        """What the blocks that stay take together."""
        return sum(self.sizes[self.cut :])

    @property
    def expected_tokens(self) -> int:
        """The input after this plan, the summary at its longest.

        Who chooses by something else than the room there is, is taken to keep the newest alone.
        """
        expected = self.scope.expected_at(self.cut, self.kept_tokens)
        if not (self.choosers or self.folds_kept):
            return expected
        return expected + self._chosen_tokens - self.scope.kept_tokens

    @property
    def kept_room(self) -> int:
        """What may stay of the covered blocks within the target; less than 0: even more is gone."""
        expected = self.scope.expected_at(self.cut, self.kept_tokens) - self.scope.kept_tokens
        return self.scope.budget.target_tokens - expected

    @property
    def candidates(self) -> Sequence[Block]:
        """What may stay verbatim though it is covered, oldest first."""
        kept = () if self.folds_kept else self.scope.kept
        return (*kept, *self.scope.blocks[self.gone : self.cut])

    @property
    def _chosen_tokens(self) -> int:
        if not self.choosers:
            return 0
        kept = 0 if self.folds_kept else self.scope.kept_tokens
        if self.choosers == ("worth",):
            return min(max(0, self.kept_room), kept + sum(self.sizes[self.gone : self.cut]))
        newest = newest_within(self.candidates, self.scope.policy.keep_others)
        return sum(map(size_of, self.candidates[newest:]))

    def within(self, scope: Scope) -> Draft:
        """The same draft in the sizes of another scope."""
        scope = scope.folding(is_summarized=self.scope.is_summarized)
        return replace(self, scope=scope, sizes=scope.shortened_sizes(self.short_sizes))

    def shortened(self, short_sizes: Mapping[int, int]) -> Draft:
        """The same draft with these tool outputs shortened."""
        sizes = self.scope.shortened_sizes(short_sizes)
        return replace(self, sizes=sizes, short_sizes=short_sizes)


class Scope:
    """All that strategies look at: the uncovered blocks, the numbers and what may not fold."""

    def __init__(
        self,
        reading: Reading,
        call: Call,
        budget: TokenBudget,
        measured: Measure,
        *,
        source_tokens: int = 0,
        facts_tokens: int | None = None,
    ) -> None:
        """`source_tokens` is what the summary so far stands for; `facts_tokens` what facts take at
        most once something is folded, None for their share.
        """
        facts_tokens = budget.carried_tokens if facts_tokens is None else facts_tokens
        self.blocks = reading.blocks
        self.policy = call.policy
        self.pinned = frozenset(reading.anchors.pinned)
        """What a person wants to be shown whole."""
        self.budget = budget
        self.fixed_tokens = measured.fixed_tokens
        self.messages = measured.uncovered_messages
        self.system_messages = measured.system_messages
        self.sizes = tuple(size_of(block) for block in self.blocks)
        """What each block takes now."""
        self._summary_tokens = measured.summary_tokens
        self._source_tokens = source_tokens
        self._gap_tokens = measured.gap_tokens
        self._reading = reading
        self._call = call
        self.is_summarized = True
        """Whether what folds is summarized, or only left out."""
        self._frame_tokens = _frame(call, is_summarized=True)
        self._most_summary_tokens = _most_summary(call)
        self.whole = [0, *accumulate(self.sizes)]
        """What the blocks before each cut take now: the source of a summary."""
        self.kept = by_block(reading.kept)
        """What earlier compactions keep verbatim."""
        self.kept_tokens = sum(size_of(block) for block in self.kept)
        self._facts_tokens = max(0, facts_tokens - measured.facts_tokens)
        self.survivors = [0, *accumulate(self._surviving())]
        """What stays of the blocks before each cut: pins, the last user message, the goal."""
        self.before_current = tuple(before_current(reading))
        """How many messages of each block lie before the turn that waits for the model."""
        self.last_cut = max(0, len(self.blocks) - 1)
        """The newest block never folds."""
        self.tail_start = min(self.tail_within(budget.recent_tokens), self.last_cut)
        """Where the part that may not fold starts."""

    def folding(self, *, is_summarized: bool) -> Scope:
        """The same with what folds summarized, or only left out."""
        other = copy(self)
        other.is_summarized = is_summarized
        other._frame_tokens = _frame(self._call, is_summarized=is_summarized)
        return other

    def shortened_sizes(self, short_sizes: Mapping[int, int]) -> tuple[int, ...]:
        """What each block takes with some tool outputs shortened, by sequence number."""
        if not short_sizes:
            return self.sizes
        sizes = list(self.sizes)
        for seq, tokens in short_sizes.items():
            at, now = self._outputs[seq]
            sizes[at] -= max(0, now - tokens)
        return tuple(sizes)

    @cached_property
    def _outputs(self) -> Mapping[int, tuple[int, int]]:
        """The block of each tool output, and what it takes now."""
        return {
            row.seq: (at, row.sent_tokens)
            for at, block in enumerate(self.blocks)
            for row in block
            if row.message.is_tool_result
        }

    def expected_at(self, cut: int, kept_tokens: int) -> int:
        """The input with blocks before `cut` folded, where the others take `kept_tokens`."""
        facts = self._facts_tokens if cut else 0  # at their longest, as the summary
        around = self.fixed_tokens + self.survivors[cut] + facts
        return around + kept_tokens + self.expected_summary(self.whole[cut])

    def expected_summary(self, folded_tokens: int) -> int:
        """The longest summary of `folded_tokens` more; what there is where nothing folds."""
        if not folded_tokens:
            return self._summary_tokens + self._gap_tokens
        if not self.is_summarized:
            return self._summary_tokens + self._frame_tokens
        source = folded_tokens + self._source_tokens
        longest = summary_limit(self.policy.summary_source_ratio, self.budget, source)
        return min(longest, self._most_summary_tokens) + self._frame_tokens

    def tail_within(self, tokens: int) -> int:
        """The block at which the longest tail within `tokens` starts."""
        taken = 0
        for at in range(len(self.blocks) - 1, -1, -1):
            taken += self.sizes[at]
            if taken > tokens:
                return at + 1
        return 0

    def turn_starts(self) -> list[int]:
        """The blocks at which turns start."""
        return [at for at, block in enumerate(self.blocks) if block[0].message.role == "user"]

    def cut_keeping(self, turns: int) -> int:
        """The cut behind which so many answered turns lie, and the one that waits for an answer."""
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
        """The sequence number from which tool outputs are left whole: the newest turns."""
        turns, starts = self.policy.fresh_turns, self.turn_starts()
        if not turns or not starts:
            return self.blocks[-1][-1].seq + 1 if self.blocks and not turns else 0
        return self.blocks[starts[-turns]][0].seq if len(starts) >= turns else 0

    def _surviving(self) -> list[int]:
        """What stays of each block if it folds; of nearly all of them, nothing."""
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


def newest_within(blocks: Sequence[Block], messages: int) -> int:
    """The place from which on the newest whole blocks are at most so many messages."""
    count = 0
    for at in range(len(blocks) - 1, -1, -1):
        count += len(blocks[at])
        if count > messages:
            return at + 1
    return 0


def size_of(block: Block) -> int:
    """What a block takes now."""
    return block[0].sent_tokens if len(block) == 1 else sum(row.sent_tokens for row in block)


def source_so_far(active: Compaction) -> int:
    """What the summary of `active` stands for; at least itself, where that is not known."""
    return max(active.source_tokens, active.summary_tokens)


def summary_limit(ratio: float, budget: TokenBudget, source_tokens: int) -> int:
    """How long a summary of `source_tokens` may be."""
    return min(budget.summary_tokens, max(int(source_tokens * ratio), LEAST_SUMMARY_TOKENS))


def _most_summary(call: Call) -> int:
    """What a summary takes at most where the policy limits its characters: Chinese ones."""
    chars = call.policy.summary_max_chars
    return WHOLE if chars is None else call.counter.count("字" * chars)


def _frame(call: Call, *, is_summarized: bool) -> int:
    """What stands around a summary's own words, or the marker of what was truncated."""
    if not is_summarized:
        return count_message(gap_message(10_000, "zh"), call.counter)
    place = call.policy.summary_place
    answers = place in ACKNOWLEDGED
    return max(
        count_message(summary_message(empty, place), call.counter)
        + (count_message(acknowledgement(empty.language), call.counter) if answers else 0)
        for empty in (replace(NOTHING_COVERED, language="zh"), NOTHING_COVERED)
    )
