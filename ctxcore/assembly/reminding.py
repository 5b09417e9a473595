"""Owns that a context says every standing instruction; what it would not say is put back.

One is said by a message that is shown as it is, by the facts or the summary of the compaction, or
here, behind these facts. What the compaction covers is judged as of when that was made, so that the
prefix stays the same until the next one. An instruction taken back since is therefore not cut out
of it: the message that takes it back is shown, or put back itself, and comes later.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ctxcore.assembly.history import HistoryView
from ctxcore.assembly.items import elide_item, from_row, own_item
from ctxcore.assembly.layout import Layout
from ctxcore.assembly.reading import WHOLE, Reading
from ctxcore.assembly.records import Compaction
from ctxcore.assembly.texts import facts_message
from ctxcore.budget import TokenBudget
from ctxcore.facts.facts_block import carry
from ctxcore.facts.ledger import Entry
from ctxcore.facts.presence import is_present
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import VerdictCode
from ctxcore.text.languages import Language
from ctxcore.tokens.families import TokenCounter

_TRIES = 3  # a text joined to another may take a token or two more than both


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminded:
    """A record with instructions put back behind its facts, and which ones."""

    record: Compaction
    entries: tuple[Entry, ...] = ()


class Reminder:
    """Puts back what one context would not say; under a policy without facts nothing."""

    def __init__(
        self,
        view: HistoryView,
        reading: Reading,
        active: Compaction,
        *,
        policy: Policy,
        budget: TokenBudget | None,
        language: Language,
        counter: TokenCounter,
    ) -> None:
        self._view = view
        self._reading = reading
        self._active = active
        self._goal_max_tokens = policy.request_tokens
        self._budget = budget
        self._language = language
        self._counter = counter
        self._is_asked = policy.facts_ratio is not None

    @cached_property
    def folded(self) -> Reminded:
        """The record with what it covers and nothing says put back."""
        alone = Reminded(record=self._active)
        shown, texts = self._front()
        missing = [entry for entry in self._covered if not self._is_said(entry, shown, texts)]
        return self._with(alone, missing, self._limit(alone))

    @cached_property
    def _covered(self) -> list[Entry]:
        """The instructions that the compaction covers and that held when it was made."""
        covered = self._active.covered_until
        if not self._is_asked:
            return []
        then = self._view.standing(until=max(self._active.seen_until, covered))
        return [entry for entry in then if entry.seqs[-1] <= covered]

    def unseen(self, layout: Layout) -> list[Entry]:
        """The instructions said behind the compaction that nothing in `layout` says."""
        return self._unsaid(self._recent, layout) if self._is_asked else []

    def unsaid(self, layout: Layout) -> list[Entry]:
        """All instructions that hold and that neither `layout` nor the record's facts say."""
        return self._unsaid([*self._covered, *self._recent], layout) if self._is_asked else []

    def _unsaid(self, entries: Sequence[Entry], layout: Layout) -> list[Entry]:
        items = layout.said
        shown = {item.seq for item in items if item.verdict == "kept"}
        shortened = [item.message.text for item in items if item.verdict != "kept"]
        texts = (self.folded.record.facts, layout.said_summary, *shortened)
        return [entry for entry in entries if not self._is_said(entry, shown, texts)]

    @property
    def most_tokens(self) -> int:
        """What `put_back` adds at most: a bound that grows more slowly than the budget."""
        every = self._with(self.folded, self._recent, WHOLE)
        most = min(self._limit(self.folded), self._tokens(every.record))
        return max(0, most - self._tokens(self.folded.record))

    def put_back(self, layout: Layout, entries: Sequence[Entry], room_tokens: int) -> Layout:
        """`layout` with `entries` behind its facts, as many as `room_tokens` more hold."""
        limit = min(self._limit(self.folded), self._tokens(self.folded.record) + room_tokens)
        reminded = self._with(self.folded, entries, limit)
        if reminded is self.folded:
            return layout
        item = own_item("facts", facts_message(reminded.record), self._counter)
        facts = reminded.record.facts
        return replace(layout, facts=(item,), said_facts=facts, reminded=reminded.entries)

    @cached_property
    def _recent(self) -> list[Entry]:
        """The instructions that hold, of what no compaction covers."""
        after, system = self._active.covered_until, set(self._reading.anchors.system)
        return [
            entry
            for entry in self._view.standing()
            if entry.seqs[-1] > after and system.isdisjoint(entry.seqs)
        ]

    def _front(self) -> tuple[set[int], Sequence[str]]:
        """Messages that stand in the prefix until the next compaction, and the facts, the summary
        and other texts in it.
        """
        reading, active = self._reading, self._active
        rows = [*reading.system, *reading.moved_pins, *reading.kept]
        texts = [active.facts, active.summary]
        goal, shown = reading.goal, {row.seq for row in rows if row.short is None}
        if goal is not None and goal.seq <= active.covered_until and goal.seq not in shown:
            item = from_row(goal, "pinned", VerdictCode.GOAL())
            item = elide_item(item, self._goal_max_tokens, self._counter, reason=VerdictCode.GOAL())
            texts.append(item.message.text if self._goal_max_tokens else "")
        return shown, texts

    def _is_said(self, entry: Entry, shown: Collection[int], texts: Sequence[str]) -> bool:
        """Whether it is in the context, or a person took it out of every context."""
        if any(seq in shown for seq in entry.seqs):
            return True
        if all(seq in self._reading.excluded for seq in entry.seqs):
            return True
        return any(text and is_present(entry.fact, text) for text in texts)

    def _limit(self, before: Reminded) -> int:
        """What the facts may take in all: their share, or a sentence or two beyond what is there.

        The record's facts may have taken all of their share; instructions come before them.
        """
        if self._budget is None:
            return WHOLE
        least = self._tokens(before.record) + self._budget.least_rules_tokens
        return max(self._budget.facts_tokens, least)

    def _with(self, before: Reminded, entries: Sequence[Entry], limit_tokens: int) -> Reminded:
        """`before` with as many of `entries` as fit, its facts within `limit_tokens` in all."""
        if not entries:
            return before
        room = limit_tokens - (self._tokens(before.record) or self._frame_tokens)
        for _ in range(_TRIES):
            said = carry(entries, max_tokens=room, counter=self._counter, language=self._language)
            if not said.entries:
                break
            facts = "\n".join(filter(None, (before.record.facts, said.text)))
            record = replace(before.record, facts=facts)
            over = self._tokens(record) - limit_tokens
            if over <= 0:
                return Reminded(record=record, entries=(*before.entries, *said.entries))
            room -= over
        return before

    def _tokens(self, record: Compaction) -> int:
        """What the message of the record's facts takes; 0 where there is none."""
        if not record.facts:
            return 0
        return own_item("facts", facts_message(record), self._counter).tokens

    @cached_property
    def _frame_tokens(self) -> int:
        bare = replace(self._active, facts="")
        return own_item("facts", facts_message(bare), self._counter).tokens
