"""Lays out a context: which parts it has, what goes into each, and their order.

`[system][goal, moved pins][facts][summary][kept][recent][knowledge][last user message][recalled]
[its calls]`; everything before `knowledge` is the prefix that a prompt cache can reuse. What was
recalled for an earlier request stands behind that one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby
from typing import NamedTuple

from ctxcore.assembly.history import Anchors, Counted, count_once
from ctxcore.assembly.items import Item, cut_words, from_row, goal_item, own_item, total
from ctxcore.assembly.reading import Reading
from ctxcore.assembly.records import Compaction, stands_until
from ctxcore.assembly.rules.roles import are_mergeable
from ctxcore.assembly.rules.words import speaker_label
from ctxcore.assembly.texts import (
    ACKNOWLEDGED,
    HOISTED,
    PINNED,
    acknowledgement,
    facts_message,
    gap_message,
    summary_message,
)
from ctxcore.assembly.verdicts import Segment
from ctxcore.facts.facts_block import rules_of, shorten_block
from ctxcore.facts.ledger import Entry
from ctxcore.facts.presence import is_present
from ctxcore.messages.values import Message, text_message
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import VerdictCode
from ctxcore.reasons.values import Reason
from ctxcore.text.languages import Language
from ctxcore.tokens.families import TokenCounter

_LEAST_SUMMARY_TOKENS = 12  # chosen: a summary of fewer is not worth its frame
_TRIES = 3  # words in their frame may take a token or two more than both apart
_END_CHARS = 4  # chosen: a blank and three signs; longer runs of signs are rare
_SIGNS_AT_END = re.compile(r" ?[^\w\s]+\Z")


class Recalled(NamedTuple):
    """What stands behind one request, and the messages it is made of."""

    request: int
    seqs: tuple[int, ...]
    item: Item


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The items of a context by their place; `gap` stands for what was left out unsummarized."""

    system: tuple[Item, ...] = ()
    goal: tuple[Item, ...] = ()
    pins: tuple[Item, ...] = ()
    facts: tuple[Item, ...] = ()
    summary: tuple[Item, ...] = ()
    kept: tuple[Item, ...] = ()
    gap: tuple[Item, ...] = ()
    request: tuple[Item, ...] = ()
    """The last user message where it lies before the recent part."""
    recent: tuple[Item, ...] = ()
    late_pins: tuple[Item, ...] = ()
    recalled: tuple[Recalled, ...] = ()
    """What stands behind requests among `recent`, or behind the last one; oldest first."""
    knowledge: tuple[Item, ...] = ()
    reminded: tuple[Entry, ...] = ()
    """Instructions that the facts repeat."""
    facts_text: str = ""
    summary_text: str = ""
    """The words of the summary, all of them or what there was room for."""
    is_hoisted: bool = False
    """Whether the summary stands right behind the system prompt."""

    @property
    def tokens(self) -> int:
        """All items together."""
        parts = sum(total(getattr(self, name)) for name in _PARTS)
        return parts + total(one.item for one in self.recalled)

    @property
    def messages(self) -> list[Item]:
        """The items that are messages of the history, whatever their place."""
        parts = (getattr(self, name) for name in _PARTS)
        return [item for part in parts for item in part if item.row is not None]

    @property
    def reminded_seqs(self) -> frozenset[int]:
        """Messages whose instructions the facts repeat."""
        seqs = frozenset(entry.seqs[-1] for entry in self.reminded) if self.facts else frozenset()
        return seqs - {0}  # 0: before the first message, so no message of this history

    def with_recalled(self, recalled: Iterable[Recalled]) -> Layout:
        """This layout with what was recalled for the requests in it."""
        requests = {item.seq for item in (*self.recent, *self.request)}
        shown = tuple(one for one in recalled if one.request in requests)
        return replace(self, recalled=shown) if shown else self

    def ordered(self, anchors: Anchors) -> tuple[list[Item], int]:
        """All items as they are sent, and how many of them are the prefix."""
        goal = [*self.goal, *self.pins, *self.facts]
        front = [*self.summary, *goal] if self.is_hoisted else [*goal, *self.summary]
        last = anchors.last_user or 0
        at = next((n for n, item in enumerate(self.recent) if item.seq >= last), len(self.recent))
        earlier = list(self._with_recalled(self.recent[:at]))
        before = [*self.system, *front, *self.kept, *self.gap, *earlier]
        beside = [*self.late_pins, *self.knowledge, *self._with_recalled(self.request)]
        latest = list(self._with_recalled(self.recent[at:]))
        # A long request that is the goal leaves an excerpt in the head once it is answered.
        moves = bool(self.request) and anchors.last_user == anchors.goal
        return [*before, *beside, *latest], len(self.system) if moves else len(before)

    def _with_recalled(self, items: Iterable[Item]) -> Iterator[Item]:
        """`items` with what was recalled for requests among them, each behind its request."""
        recalled = {one.request: one.item for one in self.recalled}
        for item in items:
            yield item
            if found := recalled.get(item.seq):
                yield found


_PARTS = (
    *("system", "goal", "pins", "facts", "summary", "kept", "gap"),
    *("request", "recent", "late_pins", "knowledge"),
)


@dataclass(kw_only=True)
class LayoutMaker:
    """Makes layouts of one reading that differ in where the recent part starts."""

    reading: Reading
    record: Compaction
    """The active compaction, with the instructions added to its facts that its prefix lacks."""
    policy: Policy
    folded: int
    """How many messages the summary stands for, kept ones among them."""
    truncated: int
    """How many messages were left out by a truncation, without a summary."""
    uncovered: int
    """How many messages behind the compaction may be shown."""
    language: Language
    counter: TokenCounter
    refers: bool = False
    """Whether an excerpt of the goal names its original."""

    def __post_init__(self) -> None:
        reading = self.reading
        self._summarized_until = stands_until(self.record)
        self._system = tuple(
            item if item.seq else replace(item, row=None)  # the call's own prompt has no place
            for item in _items(reading.system, "system", VerdictCode.SYSTEM_PROMPT())
        )
        self._pins = _items(reading.moved_pins, "pinned", VerdictCode.PINNED_FRONT())
        self._kept = tuple(
            as_merged(_items(reading.kept, "kept", VerdictCode.KEPT()), self.counter)
        )
        self._facts = (self._facts_item(self.record.facts),) if self.record.facts else ()
        self._summary = self._summary_items()
        sizes = accumulate(map(len, reversed(reading.blocks)), initial=0)
        self._messages_from = list(sizes)[::-1]

    def dropped(self, first_block: int) -> int:
        """How many uncovered messages are not in the blocks from `first_block` on."""
        return self.uncovered - self._messages_from[first_block]

    def make(
        self,
        first_block: int,
        dropped: int | None = None,
        *,
        skipped: frozenset[int] = frozenset(),
        is_measured: bool = False,
        keeps: bool = True,
    ) -> Layout:
        """The layout whose recent part starts at `first_block`.

        Its marker counts `dropped` uncovered messages (None: all before `first_block`) and those
        that a compaction truncated; `skipped` blocks within the recent part have markers of their
        own. With `is_measured`, only the first of the recent items is made, for a caller that
        measures what stands around them. Without `keeps` there are none of the blocks that the
        compaction kept, and what of them must be there stands by itself.
        """
        reading, blocks = self.reading, self.reading.blocks
        survivors = reading.kept if keeps else ()
        places = range(first_block, len(blocks))
        rows = [row for at in places if at not in skipped for row in blocks[at]]
        out = [*range(min(first_block, len(blocks))), *sorted(skipped)]
        pins = set(reading.anchors.pinned)
        unseen = [row for at in out for row in blocks[at] if row.seq in pins]
        pinned = (*reading.late_pins, *unseen, *reading.moved_pins)
        present = {row.seq for row in (*pinned, *survivors, *rows)}
        goal = self._goal(present)
        request = self._request(present | {item.seq for item in goal})
        anchored = (item.row for item in (*request, *goal))
        shown = [row for row in (*pinned, *survivors, *anchored) if row is not None]
        out_count = self.dropped(first_block) if dropped is None else dropped
        out_count -= sum(row.seq > self._summarized_until for row in shown)
        gap, kept = self._gap(self.truncated + out_count), self._kept if keeps else ()
        recent = _items(rows[:1] if is_measured else rows, "recent", VerdictCode.RECENT())
        if skipped and not is_measured:
            recent = tuple(self._with_holes(places, skipped))
        late_pins = _items((*reading.late_pins, *unseen), "pinned", VerdictCode.PINNED())
        return Layout(
            system=self._system,
            goal=goal,
            pins=self._pins,
            facts=self._facts,
            summary=self._summary_before((*kept, *gap, *recent)),
            kept=kept,
            gap=gap,
            request=request,
            recent=recent,
            late_pins=self._with_opening(late_pins),
            facts_text=self.record.facts,
            summary_text=self.record.summary,
            is_hoisted=self.policy.summary_place in HOISTED,
        )

    def marked(self, layout: Layout) -> Layout:
        """`layout` with a marker of the messages that neither it nor its summary stands for."""
        shown = {item.seq for item in layout.messages if not item.message.is_system}
        if not layout.summary:
            left_out = self.folded + self.truncated + self.uncovered - len(shown)
        else:
            until = self._summarized_until
            kept = {row.seq for row in self.reading.kept if row.seq <= until}
            behind = sum(seq > until for seq in shown)
            left_out = self.truncated + self.uncovered - behind + len(kept - shown)
        return replace(layout, gap=self._gap(left_out))

    def with_summary(self, layout: Layout, limit_tokens: int) -> Layout:
        """`layout` with as much of the summary as `limit_tokens` hold, none where that is too few.

        The acknowledgement gives way first, then words.
        """
        items = self._summary_before((*layout.kept, *layout.gap, *layout.recent))
        if total(items) <= limit_tokens:
            return replace(layout, summary=items, summary_text=self.record.summary)
        without = replace(layout, summary=(), summary_text="")
        room = limit_tokens - self._summary_item("").tokens
        if not items or room < _LEAST_SUMMARY_TOKENS:
            return without
        for _ in range(_TRIES):
            words = cut_words(self.record.summary, room, self.counter)
            item = self._summary_item(words)
            if item.tokens <= limit_tokens:
                return replace(layout, summary=(item,), summary_text=words)
            room -= item.tokens - limit_tokens
        return without

    def with_facts(self, layout: Layout, limit_tokens: int) -> Layout:
        """`layout` with as many lines of its facts as `limit_tokens` hold, instructions first."""
        if total(layout.facts) <= limit_tokens:
            return layout
        room = limit_tokens - self._facts_item("").tokens
        for _ in range(_TRIES):
            words = shorten_block(layout.facts_text, room, self.counter, self.language)
            item = self._facts_item(words)
            if not words or item.tokens <= limit_tokens:
                break
            room -= item.tokens - limit_tokens
        facts = (item,) if words and item.tokens <= limit_tokens else ()
        return replace(
            layout,
            facts=facts,
            facts_text=words if facts else "",
            reminded=tuple(entry for entry in layout.reminded if is_present(entry.fact, words)),
        )

    def rules_tokens(self, layout: Layout) -> int:
        """The size in tokens of the standing instructions among the facts of `layout`, alone."""
        rules = rules_of(layout.facts_text)
        return self._facts_item(rules).tokens if rules else 0

    def marker_tokens(self, messages: int) -> int:
        """The size in tokens of the marker for `messages` left out."""
        return total(self._gap(messages))

    def _summary_items(self) -> tuple[Item, ...]:
        if not self.record.summary:
            return ()
        summary = self._summary_item(self.record.summary)
        if self.policy.summary_place not in ACKNOWLEDGED:
            return (summary,)
        answer = own_item("summary", acknowledgement(self.record.language), self.counter)
        return (summary, answer)

    def _summary_item(self, words: str) -> Item:
        message = summary_message(replace(self.record, summary=words), self.policy.summary_place)
        return own_item("summary", message, self.counter)

    def _facts_item(self, words: str) -> Item:
        return own_item("facts", facts_message(replace(self.record, facts=words)), self.counter)

    def _with_holes(self, places: Iterable[int], skipped: frozenset[int]) -> Iterator[Item]:
        """The recent items, with a marker where blocks between them were skipped."""
        for is_skipped, group in groupby(places, key=skipped.__contains__):
            rows = [row for at in group for row in self.reading.blocks[at]]
            if is_skipped:
                yield from self._gap(len(rows))
            else:
                yield from _items(rows, "recent", VerdictCode.RECENT())

    def _with_opening(self, pins: tuple[Item, ...]) -> tuple[Item, ...]:
        """`pins`, never joined to the assistant message before them: that is in the prefix."""
        if not pins or pins[0].message.role == "user":
            return pins
        return (own_item("pinned", text_message("user", PINNED), self.counter), *pins)

    def _summary_before(self, following: Sequence[Item]) -> tuple[Item, ...]:
        """The summary; its acknowledgement is left out where the assistant speaks next anyway."""
        speaks_next = bool(following) and following[0].message.role == "assistant"
        is_tagged = self.policy.summary_place == "tagged"
        return self._summary[:1] if speaks_next and is_tagged else self._summary

    def _goal(self, present: set[int]) -> tuple[Item, ...]:
        row, limit = self.reading.goal, self.policy.request_tokens
        if row is None or row.seq in present or not limit:
            return ()
        if row is self.reading.last_user and row.sent_tokens > limit:
            return ()  # whole, as the request
        return (goal_item(row, limit, self.counter, refers=self.refers),)

    def _request(self, present: set[int]) -> tuple[Item, ...]:
        row = self.reading.last_user
        if row is None or row.seq in present:
            return ()
        return (from_row(row, "recent", VerdictCode.LAST_REQUEST()),)

    def _gap(self, messages: int) -> tuple[Item, ...]:
        if messages <= 0:
            return ()
        return (own_item("summary", gap_message(messages, self.language), self.counter),)


def _items(rows: Iterable[Counted], segment: Segment, reason: Reason) -> tuple[Item, ...]:
    return tuple(from_row(row, segment, reason) for row in rows)


def as_merged(items: Iterable[Item], counter: TokenCounter) -> Iterator[Item]:
    """`items` without the frames that they lose where neighbours become one message.

    Kept blocks are many and short, so that their frames would leave a twentieth of a budget empty.
    """
    before: Item | None = None
    for item in items:
        if before is not None and are_mergeable(before.message, item.message):
            saved = frame_shared(item.message, counter, behind=before.message.text)
            yield item.sized(max(1, item.tokens - saved))
        else:
            yield item
        before = item


def frame_shared(message: Message, counter: TokenCounter, *, behind: str) -> int:
    """What the frame of `message` takes that it loses in one message with the text `behind` it.

    Many vocabularies have tokens for a sign with the end of a paragraph.
    """
    end = _SIGNS_AT_END.search(behind[-_END_CHARS:])
    last = f"a{end.group()}" if end else "a"
    alone = count_once(text_message("user", last), counter)
    alone += count_once(text_message("user", "a"), counter)
    joined = count_once(text_message("user", f"{last}\n\na"), counter)
    return max(0, alone - joined) + _name_tokens(message, counter)


def _name_tokens(message: Message, counter: TokenCounter) -> int:
    """What the name beside words takes that begin with it."""
    if not message.name or speaker_label(message):
        return 0
    unnamed = text_message("user", "a")
    named = replace(unnamed, name=message.name)
    return max(0, count_once(named, counter) - count_once(unnamed, counter))
