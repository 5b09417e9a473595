"""Makes sure that a context states every standing instruction; missing ones are put back.

An instruction is stated by a message that is shown as it is, by the facts or the summary of the
compaction, or here, behind these facts. What the compaction covers is judged as of when that was
made, so that the prefix stays the same until the next one. An instruction taken back since is
therefore not cut out of it: the message that takes it back is shown, or put back itself, and comes
later.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

from ctxcore.assembly.addressees import only_people_speak, said_to_model
from ctxcore.assembly.history import HistoryView
from ctxcore.assembly.items import goal_item, own_item
from ctxcore.assembly.layout import Layout
from ctxcore.assembly.reading import WHOLE, Reading
from ctxcore.assembly.records import Compaction
from ctxcore.assembly.texts import facts_message
from ctxcore.budget import TokenBudget
from ctxcore.facts.facts_block import render_facts
from ctxcore.facts.ledger import Entry
from ctxcore.facts.presence import is_present
from ctxcore.policy.values import Policy
from ctxcore.text.languages import Language
from ctxcore.tokens.families import TokenCounter

_TRIES = 3  # a text joined to another may take a token or two more than both apart


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminded:
    """A record with instructions put back behind its facts, and which ones."""

    record: Compaction
    entries: tuple[Entry, ...] = ()


@dataclass(kw_only=True)
class Reminder:
    """Puts back the instructions that a context lacks; none under a policy without facts."""

    view: HistoryView
    reading: Reading
    active: Compaction
    policy: Policy
    budget: TokenBudget | None
    language: Language
    counter: TokenCounter
    refers: bool = False
    """Whether an excerpt of the goal names its original."""

    @cached_property
    def folded(self) -> Reminded:
        """The record with the covered instructions put back that its prefix lacks."""
        alone = Reminded(record=self.active)
        shown, texts = self._prefix()
        missing = [entry for entry in self._covered if not self._is_stated(entry, shown, texts)]
        return self._with(alone, missing, self._limit(alone))

    @property
    def most_tokens(self) -> int:
        """What `put_back` adds at most: a bound that grows more slowly than the budget."""
        every = self._with(self.folded, self._recent, WHOLE)
        most = min(self._limit(self.folded), self._tokens(every.record))
        return max(0, most - self._tokens(self.folded.record))

    def missing(self, layout: Layout, *, with_covered: bool = False) -> list[Entry]:
        """The instructions that hold and that neither `layout` nor the record's facts state.

        Those given behind the compaction; `with_covered`: all.
        """
        items = layout.messages
        shown = {item.seq for item in items if item.verdict == "kept"}
        shortened = [item.message.text for item in items if item.verdict != "kept"]
        texts = (self.folded.record.facts, layout.summary_text, *shortened)
        entries = [*(self._covered if with_covered else ()), *self._recent]
        return [entry for entry in entries if not self._is_stated(entry, shown, texts)]

    def put_back(self, layout: Layout, entries: Sequence[Entry], room_tokens: int) -> Layout:
        """`layout` with `entries` behind its facts, as many as `room_tokens` more hold."""
        limit = min(self._limit(self.folded), self._tokens(self.folded.record) + room_tokens)
        reminded = self._with(self.folded, entries, limit)
        if reminded is self.folded:
            return layout
        record = reminded.record
        item = own_item("facts", facts_message(record), self.counter)
        return replace(layout, facts=(item,), facts_text=record.facts, reminded=reminded.entries)

    @cached_property
    def _covered(self) -> list[Entry]:
        """The instructions that the compaction covers and that held when it was made."""
        if self.policy.facts_ratio is None:
            return []
        covered = self.active.covered_until
        then = self.view.standing(until=max(self.active.seen_until, covered))
        return self._told([entry for entry in then if entry.seqs[-1] <= covered])

    @cached_property
    def _recent(self) -> list[Entry]:
        """The instructions that hold, of what no compaction covers."""
        if self.policy.facts_ratio is None:
            return []
        after, system = self.active.covered_until, set(self.reading.anchors.system)
        recent = [
            entry
            for entry in self.view.standing()
            if entry.seqs[-1] > after and system.isdisjoint(entry.seqs)
        ]
        return self._told(recent)

    def _told(self, entries: Sequence[Entry]) -> list[Entry]:
        """`entries` without what people say to each other."""
        is_for_others = bool(entries) and self._only_people
        return said_to_model(self.view, entries) if is_for_others else list(entries)

    @cached_property
    def _only_people(self) -> bool:
        """Whether no model takes part in what is read; asked for once, of two sets of entries."""
        rows = chain(self.reading.kept, *self.reading.blocks)
        return only_people_speak(row.message for row in rows)

    def _prefix(self) -> tuple[set[int], Sequence[str]]:
        """Messages that stand in the prefix until the next compaction, and the other texts in it:
        facts, summary and the goal's excerpt.
        """
        reading, active = self.reading, self.active
        rows = [*reading.system, *reading.moved_pins, *reading.kept]
        texts = [active.facts, active.summary]
        texts += [row.message.text for row in reading.system if not row.seq]
        goal, shown = reading.goal, {row.seq for row in rows if row.seq and row.short is None}
        limit = self.policy.request_tokens
        if limit and goal and goal.seq <= active.covered_until and goal.seq not in shown:
            texts.append(goal_item(goal, limit, self.counter, refers=self.refers).message.text)
        return shown, texts

    def _is_stated(self, entry: Entry, shown: Collection[int], texts: Sequence[str]) -> bool:
        """Whether it is in the context, or its messages are excluded or out of force."""
        if any(seq in shown for seq in entry.seqs):
            return True
        if all(seq in self._unsaid for seq in entry.seqs):
            return True
        return any(text and is_present(entry.fact, text) for text in texts)

    @cached_property
    def _unsaid(self) -> frozenset[int]:
        return self.reading.unsaid

    def _limit(self, before: Reminded) -> int:
        """What the facts may take in all: their share, or a sentence or two beyond what is there.

        The record's facts may have taken all of their share; instructions come before them.
        """
        if self.budget is None:
            return WHOLE
        least = self._tokens(before.record) + self.budget.min_instruction_tokens
        return max(self.budget.facts_tokens, least)

    def _with(self, before: Reminded, entries: Sequence[Entry], limit_tokens: int) -> Reminded:
        """`before` with as many of `entries` as fit, its facts within `limit_tokens` in all."""
        if not entries:
            return before
        room = limit_tokens - (self._tokens(before.record) or self._frame_tokens)
        for _ in range(_TRIES):
            carried = render_facts(
                entries, max_tokens=room, counter=self.counter, language=self.language
            )
            if not carried.entries:
                break
            facts = "\n".join(filter(None, (before.record.facts, carried.text)))
            record = replace(before.record, facts=facts)
            over = self._tokens(record) - limit_tokens
            if over <= 0:
                return Reminded(record=record, entries=(*before.entries, *carried.entries))
            room -= over
        return before

    def _tokens(self, record: Compaction) -> int:
        """What the message of the record's facts takes; 0 where there is none."""
        if not record.facts:
            return 0
        return own_item("facts", facts_message(record), self.counter).tokens

    @cached_property
    def _frame_tokens(self) -> int:
        bare = replace(self.active, facts="")
        return own_item("facts", facts_message(bare), self.counter).tokens
