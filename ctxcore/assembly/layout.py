"""Owns the order of a context and what of a reading goes into it.

`[system][goal, moved pins][facts][summary][kept][recent][recalled][knowledge][last user message
and its calls]`; everything before `recalled` is the prefix that a prompt cache can reuse.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ctxcore.assembly.breakdown import Segment
from ctxcore.assembly.history import Anchors, Counted
from ctxcore.assembly.items import Item, elide_item, from_row, own_item, total
from ctxcore.assembly.reading import Reading
from ctxcore.assembly.records import Compaction
from ctxcore.assembly.repairs import are_mergeable
from ctxcore.assembly.texts import (
    ACKNOWLEDGED,
    HOISTED,
    PINNED,
    acknowledgement,
    facts_message,
    gap_message,
    summary_message,
)
from ctxcore.messages.values import text_message
from ctxcore.policy.values import SummaryPlace
from ctxcore.summarizers.protocol import Language
from ctxcore.tokens.count import count_message
from ctxcore.tokens.counter import TokenCounter


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
    knowledge: tuple[Item, ...] = ()
    reminded: frozenset[int] = frozenset()
    """Messages whose instructions the facts say again."""
    is_hoisted: bool = False
    """Whether the summary stands right behind the system prompt."""

    @property
    def tokens(self) -> int:
        """All items together."""
        return sum(total(getattr(self, name)) for name in _PARTS)

    @property
    def said(self) -> list[Item]:
        """What of the history is in it, whatever its place."""
        parts = (getattr(self, name) for name in _PARTS)
        return [item for part in parts for item in part if item.row is not None]

    @property
    def fixed_tokens(self) -> int:
        """Everything but what gives way first: knowledge and the recent part with its gap."""
        return self.tokens - total(self.knowledge) - total(self.recent) - total(self.gap)

    def ordered(self, anchors: Anchors) -> tuple[list[Item], int]:
        """All items as they are sent, and how many of them are the prefix."""
        goal, summary = [*self.goal, *self.pins, *self.facts], list(self.summary)
        front = [*summary, *goal] if self.is_hoisted else [*goal, *summary]
        head = [*self.system, *front, *self.kept, *self.gap]
        beside = [*self.late_pins, *self.knowledge, *self.request]
        last, recent = anchors.last_user or 0, list(self.recent)
        at = next((n for n, item in enumerate(recent) if item.seq >= last), len(recent))
        before = [*head, *recent[:at]]
        # A long request that is the goal leaves an excerpt in the head once it is answered.
        moves = bool(self.request) and anchors.last_user == anchors.goal
        return [*before, *beside, *recent[at:]], len(self.system) if moves else len(before)


_PARTS = (
    *("system", "goal", "pins", "facts", "summary", "kept", "gap"),
    *("request", "recent", "late_pins", "knowledge"),
)


class LayoutMaker:
    """Makes layouts of one reading that differ in where the recent part starts."""

    def __init__(
        self,
        reading: Reading,
        active: Compaction,
        *,
        place: SummaryPlace,
        goal_max_tokens: int,
        truncated: int,
        language: Language,
        counter: TokenCounter,
    ) -> None:
        self._reading = reading
        self._place = place
        self._summarized_until = active.summarized_until
        self._language = language
        self._counter = counter
        self.truncated = truncated
        """How many messages were left out by a truncation, and no summary stands for them."""
        self._goal_max_tokens = goal_max_tokens
        self._system = tuple(from_row(row, "system", "system prompt") for row in reading.system)
        self._pins = _items(reading.moved_pins, "pinned", "pinned, moved to the front")
        self._late_pins = _items(reading.late_pins, "pinned", "pinned")
        kept = _items(reading.kept, "kept", "kept by the compaction")
        self._kept = tuple(_as_merged(kept, counter))
        self._facts = self._facts_items(active)
        self._summary = self._summary_items(active, place)
        self._verbatim = {row.seq for row in (*reading.moved_pins, *reading.kept)}
        self._verbatim |= {row.seq for row in reading.late_pins}

    def make(
        self,
        first_block: int,
        dropped: int,
        *,
        skipped: frozenset[int] = frozenset(),
        is_measured: bool = False,
    ) -> Layout:
        """The layout whose recent part starts at `first_block`, `dropped` uncovered messages out.

        Messages that a compaction truncated count as left out too; those of the `skipped` blocks
        within the recent part have markers of their own. With `is_measured`, only the first of the
        recent items is made: for who asks what stands around them.
        """
        places = range(first_block, len(self._reading.blocks))
        blocks = [self._reading.blocks[at] for at in places if at not in skipped]
        rows = [row for block in blocks for row in block]
        seqs = self._verbatim | {row.seq for row in rows}
        pins = set(self._reading.anchors.pinned)
        out = [*range(min(first_block, len(self._reading.blocks))), *sorted(skipped)]
        unseen = [row for at in out for row in self._reading.blocks[at] if row.seq in pins]
        seqs |= {row.seq for row in unseen}
        goal = self._goal(seqs)
        request = self._request(seqs | {item.seq for item in goal})
        pinned = (*self._reading.late_pins, *unseen, *self._reading.moved_pins)
        anchored = (item.row for item in (*request, *goal))
        shown = [row for row in (*pinned, *self._reading.kept, *anchored) if row is not None]
        gap = self._gap(self.truncated + dropped - sum(map(self._is_unsummarized, shown)))
        recent = _items(rows[:1] if is_measured else rows, "recent", "recent")
        if skipped and not is_measured:
            recent = tuple(self._with_holes(places, skipped))
        return Layout(
            system=self._system,
            goal=goal,
            pins=self._pins,
            facts=self._facts,
            summary=self._summary_before((*self._kept, *gap, *recent)),
            kept=self._kept,
            gap=gap,
            request=request,
            recent=recent,
            late_pins=self._with_opening((*self._late_pins, *_items(unseen, "pinned", "pinned"))),
            is_hoisted=self._place in HOISTED,
        )

    def _with_holes(self, places: Iterable[int], skipped: frozenset[int]) -> Iterator[Item]:
        """The recent items, with a marker where blocks between them were skipped."""
        gone = 0
        for at in places:
            if at in skipped:
                gone += len(self._reading.blocks[at])
                continue
            if gone:
                yield from self._gap(gone)
            gone = 0
            yield from _items(self._reading.blocks[at], "recent", "recent")
        if gone:
            yield from self._gap(gone)

    def _is_unsummarized(self, row: Counted) -> bool:
        return row.seq > self._summarized_until

    def hole_tokens(self, messages: int) -> int:
        """What a marker for so many skipped messages takes."""
        return total(self._gap(messages))

    def _with_opening(self, pins: tuple[Item, ...]) -> tuple[Item, ...]:
        """`pins`, never joined to what the assistant said before: that is in the prefix."""
        if not pins or pins[0].message.role == "user":
            return pins
        return (own_item("pinned", text_message("user", PINNED), self._counter), *pins)

    def _summary_before(self, following: Sequence[Item]) -> tuple[Item, ...]:
        """The summary; its acknowledgement is left out where the assistant speaks next anyway."""
        speaks_next = bool(following) and following[0].message.role == "assistant"
        return self._summary[:1] if speaks_next and self._place == "tagged" else self._summary

    def _goal(self, present: set[int]) -> tuple[Item, ...]:
        row = self._reading.goal
        if row is None or row.seq in present or not self._goal_max_tokens:
            return ()
        if row is self._reading.last_user and row.sent_tokens > self._goal_max_tokens:
            return ()  # whole, as the request
        item = from_row(row, "pinned", "the original request")
        return (
            elide_item(item, self._goal_max_tokens, self._counter, reason="the original request"),
        )

    def _request(self, present: set[int]) -> tuple[Item, ...]:
        row = self._reading.last_user
        if row is None or row.seq in present:
            return ()
        return (from_row(row, "recent", "last user message"),)

    def _gap(self, messages: int) -> tuple[Item, ...]:
        if messages <= 0:
            return ()
        message = gap_message(messages, self._language)
        return (own_item("summary", message, self._counter),)

    def _facts_items(self, active: Compaction) -> tuple[Item, ...]:
        if not active.facts:
            return ()
        return (own_item("facts", facts_message(active), self._counter),)

    def _summary_items(self, active: Compaction, place: SummaryPlace) -> tuple[Item, ...]:
        if not active.summary:
            return ()
        summary = own_item("summary", summary_message(active, place), self._counter)
        if place not in ACKNOWLEDGED:
            return (summary,)
        answer = own_item("summary", acknowledgement(active.language), self._counter)
        return (summary, answer)


def _items(rows: Iterable[Counted], segment: Segment, reason: str) -> tuple[Item, ...]:
    return tuple(from_row(row, segment, reason) for row in rows)


def _as_merged(items: Iterable[Item], counter: TokenCounter) -> Iterator[Item]:
    """`items` without the frames that they lose where neighbours become one message.

    Kept blocks are many and short, so that their frames would leave a twentieth of a budget empty.
    """
    saved = _frame_tokens(counter)
    before: Item | None = None
    for item in items:
        is_merged = before is not None and are_mergeable(before.message, item.message)
        yield item.sized(max(1, item.tokens - saved)) if is_merged else item
        before = item


def _frame_tokens(counter: TokenCounter) -> int:
    """What two messages take more than the one that they become, an empty line between them."""
    alone = count_message(text_message("user", "a"), counter)
    return max(0, 2 * alone - count_message(text_message("user", "a\n\na"), counter))


def without_kept(layout: Layout) -> Layout:
    """`layout` with its oldest kept block gone."""
    assert layout.kept[0].row is not None
    block = layout.kept[0].row.block
    left = tuple(item for item in layout.kept if item.row and item.row.block != block)
    return replace(layout, kept=left)
