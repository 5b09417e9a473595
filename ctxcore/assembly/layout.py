"""Owns the order of a context and what of a reading goes into it.

`[system][goal, moved pins][facts][summary][kept][recent][recalled][knowledge][last user message
and its calls]`; everything before `recalled` is the prefix that a prompt cache can reuse.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ctxcore.assembly.history import Anchors, Counted
from ctxcore.assembly.items import Item, cut_words, elide_item, from_row, own_item, total
from ctxcore.assembly.reading import Reading
from ctxcore.assembly.records import Compaction, stands_until
from ctxcore.assembly.rules.roles import are_mergeable
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
from ctxcore.facts.facts_block import rules_of, say_partly
from ctxcore.facts.ledger import Entry
from ctxcore.facts.presence import is_present
from ctxcore.messages.values import text_message
from ctxcore.policy.values import SummaryPlace
from ctxcore.reasons.codes import VerdictCode
from ctxcore.reasons.values import Reason
from ctxcore.text.languages import Language
from ctxcore.tokens.count import count_message
from ctxcore.tokens.families import TokenCounter

_LEAST_SUMMARY_TOKENS = 12  # of its words: fewer say nothing
_TRIES = 3  # words in their frame may take a token or two more than both


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
    reminded: tuple[Entry, ...] = ()
    """Instructions that the facts say again."""
    said_facts: str = ""
    """The words of the facts."""
    said_summary: str = ""
    """The words of the summary, all of them or what there was room for."""
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
    def reminded_seqs(self) -> frozenset[int]:
        """Messages whose instructions the facts say again."""
        told = frozenset(entry.seqs[-1] for entry in self.reminded) if self.facts else frozenset()
        return told - {0}  # of what was said before the first message, none is shown

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
        folded: int,
        truncated: int,
        language: Language,
        counter: TokenCounter,
    ) -> None:
        """`folded`: how many messages the summary stands for, kept ones among them."""
        self._reading = reading
        self._active = active
        self._place = place
        self._folded = folded
        self._summarized_until = stands_until(active)
        self._language = language
        self._counter = counter
        self.truncated = truncated
        """How many messages were left out by a truncation, and no summary stands for them."""
        self._goal_max_tokens = goal_max_tokens
        self._system = tuple(
            from_row(row, "system", VerdictCode.SYSTEM_PROMPT()) for row in reading.system
        )
        self._pins = _items(reading.moved_pins, "pinned", VerdictCode.PINNED_FRONT())
        self._late_pins = _items(reading.late_pins, "pinned", VerdictCode.PINNED())
        kept = _items(reading.kept, "kept", VerdictCode.KEPT())
        self._kept = tuple(as_merged(kept, counter))
        self._facts = self._facts_items(active)
        self._summary = self._summary_items(active, place)
        self._pinned = {row.seq for row in (*reading.moved_pins, *reading.late_pins)}

    def make(
        self,
        first_block: int,
        dropped: int,
        *,
        skipped: frozenset[int] = frozenset(),
        is_measured: bool = False,
        keeps: bool = True,
    ) -> Layout:
        """The layout whose recent part starts at `first_block`, `dropped` uncovered messages out.

        Messages that a compaction truncated count as left out too; those of the `skipped` blocks
        within the recent part have markers of their own. With `is_measured`, only the first of the
        recent items is made: for who asks what stands around them. Without `keeps` there are none
        of the blocks that the compaction kept, and what of them must be there stands by itself.
        """
        survivors = self._reading.kept if keeps else ()
        places = range(first_block, len(self._reading.blocks))
        blocks = [self._reading.blocks[at] for at in places if at not in skipped]
        rows = [row for block in blocks for row in block]
        seqs = self._pinned | {row.seq for row in (*survivors, *rows)}
        pins = set(self._reading.anchors.pinned)
        out = [*range(min(first_block, len(self._reading.blocks))), *sorted(skipped)]
        unseen = [row for at in out for row in self._reading.blocks[at] if row.seq in pins]
        seqs |= {row.seq for row in unseen}
        goal = self._goal(seqs)
        request = self._request(seqs | {item.seq for item in goal})
        pinned = (*self._reading.late_pins, *unseen, *self._reading.moved_pins)
        anchored = (item.row for item in (*request, *goal))
        shown = [row for row in (*pinned, *survivors, *anchored) if row is not None]
        kept = self._kept if keeps else ()
        gap = self._gap(self.truncated + dropped - sum(map(self._is_unsummarized, shown)))
        recent = _items(rows[:1] if is_measured else rows, "recent", VerdictCode.RECENT())
        if skipped and not is_measured:
            recent = tuple(self._with_holes(places, skipped))
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
            late_pins=self._with_opening(
                (*self._late_pins, *_items(unseen, "pinned", VerdictCode.PINNED()))
            ),
            said_facts=self._active.facts,
            said_summary=self._active.summary,
            is_hoisted=self._place in HOISTED,
        )

    def marked(self, layout: Layout, uncovered: int) -> Layout:
        """`layout` with a marker of what neither it nor its summary says, if that is anything.

        `uncovered` messages behind the active compaction may be shown.
        """
        return replace(layout, gap=self._gap(self._left_out(layout, uncovered)))

    def _left_out(self, layout: Layout, uncovered: int) -> int:
        shown = {item.seq for item in layout.said if not item.message.is_system}
        if not layout.summary:
            return self._folded + self.truncated + uncovered - len(shown)
        until = self._summarized_until
        kept = {row.seq for row in self._reading.kept if row.seq <= until}
        behind = sum(seq > until for seq in shown)
        return self.truncated + uncovered - behind + len(kept - shown)

    def with_summary(self, layout: Layout, limit_tokens: int) -> Layout:
        """`layout` with as much of the summary as `limit_tokens` hold; without where that is none.

        The acknowledgement gives way first, then words.
        """
        items = self._summary_before((*layout.kept, *layout.gap, *layout.recent))
        if total(items) <= limit_tokens:
            return replace(layout, summary=items, said_summary=self._active.summary)
        bare = self._summary_of("")
        room = limit_tokens - bare.tokens
        if not items or room < _LEAST_SUMMARY_TOKENS:
            return replace(layout, summary=(), said_summary="")
        for _ in range(_TRIES):
            words = cut_words(self._active.summary, room, self._counter)
            item = self._summary_of(words)
            if item.tokens <= limit_tokens:
                return replace(layout, summary=(item,), said_summary=words)
            room -= item.tokens - limit_tokens
        return replace(layout, summary=(), said_summary="")

    def _summary_of(self, words: str) -> Item:
        record = replace(self._active, summary=words)
        return own_item("summary", summary_message(record, self._place), self._counter)

    def with_facts(self, layout: Layout, limit_tokens: int) -> Layout:
        """`layout` with as many lines of its facts as `limit_tokens` hold, instructions first."""
        if total(layout.facts) <= limit_tokens:
            return layout
        room = limit_tokens - self._facts_of("").tokens
        for _ in range(_TRIES):
            said = say_partly(layout.said_facts, room, self._counter, self._language)
            item = self._facts_of(said)
            if not said or item.tokens <= limit_tokens:
                break
            room -= item.tokens - limit_tokens
        facts = (item,) if said and item.tokens <= limit_tokens else ()
        return replace(
            layout,
            facts=facts,
            said_facts=said if facts else "",
            reminded=tuple(one for one in layout.reminded if is_present(one.fact, said)),
        )

    def rules_tokens(self, layout: Layout) -> int:
        """What the standing instructions among the facts of `layout` take by themselves."""
        rules = rules_of(layout.said_facts)
        return self._facts_of(rules).tokens if rules else 0

    def _facts_of(self, words: str) -> Item:
        record = replace(self._active, facts=words)
        return own_item("facts", facts_message(record), self._counter)

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
            yield from _items(self._reading.blocks[at], "recent", VerdictCode.RECENT())
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
        item = from_row(row, "pinned", VerdictCode.GOAL())
        return (elide_item(item, self._goal_max_tokens, self._counter, reason=VerdictCode.GOAL()),)

    def _request(self, present: set[int]) -> tuple[Item, ...]:
        row = self._reading.last_user
        if row is None or row.seq in present:
            return ()
        return (from_row(row, "recent", VerdictCode.LAST_REQUEST()),)

    def _gap(self, messages: int) -> tuple[Item, ...]:
        if messages <= 0:
            return ()
        message = gap_message(messages, self._language)
        return (own_item("summary", message, self._counter),)

    def _facts_items(self, active: Compaction) -> tuple[Item, ...]:
        return (self._facts_of(active.facts),) if active.facts else ()

    def _summary_items(self, active: Compaction, place: SummaryPlace) -> tuple[Item, ...]:
        if not active.summary:
            return ()
        summary = self._summary_of(active.summary)
        if place not in ACKNOWLEDGED:
            return (summary,)
        answer = own_item("summary", acknowledgement(active.language), self._counter)
        return (summary, answer)


def _items(rows: Iterable[Counted], segment: Segment, reason: Reason) -> tuple[Item, ...]:
    return tuple(from_row(row, segment, reason) for row in rows)


def as_merged(items: Iterable[Item], counter: TokenCounter) -> Iterator[Item]:
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
