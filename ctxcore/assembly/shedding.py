"""Owns sharing a room that does not hold all that must be kept.

A few words of everything that must be kept come first. Then the outputs that the model has yet to
see and the request behind them share alike, small ones whole; then the marker of what is gone, the
goal, standing instructions, pins, the rest of the facts and the summary. What of that is left over
is filled with kept blocks and recent messages. System, tools and open calls are never cut.

The share of a message depends on the room alone, never on how well others use theirs, so that a
larger room never keeps less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter

from ctxcore.assembly.history import Counted, asked_for
from ctxcore.assembly.items import (
    SHORT_TOKENS,
    Item,
    cut_item,
    cut_output,
    from_row,
    shorten_output,
    stub_item,
    total,
)
from ctxcore.assembly.layout import Layout, LayoutMaker, as_merged
from ctxcore.assembly.reading import Reading
from ctxcore.assembly.selection import block_tokens
from ctxcore.errors import BudgetError
from ctxcore.reasons.codes import VerdictCode
from ctxcore.reasons.problems import BudgetPart
from ctxcore.tokens.families import TokenCounter

_STUB_CHARS = 24  # of each message, in a room that holds no more
_STUB_OUTPUT_CHARS = (24, 6, 0)  # of each output; the last is a mere sign
_LEAST_OUTPUT_TOKENS = 60  # in which an output says something for its call
_LEAST_GOAL_TOKENS = 48
_LEAST_PIN_TOKENS = 16  # the frame and a dozen words
_REFERS_FROM_TOKENS = 150  # below, an output's own words are worth more than where it is
_CUT_PARTS = ("goal", "pins", "late_pins", "request", "recent")

Place = tuple[str, int]
"""A part of a layout and the item's place in it."""
Shares = dict[Place, int]
_MARKER, _FACTS, _SUMMARY = ("gap", 0), ("facts", 0), ("summary", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What may be sent: in all, and with the share of summary and messages kept."""

    available_tokens: int
    share_tokens: int
    taken: int
    """By framing and tools."""

    @property
    def tokens(self) -> int:
        """For all items."""
        return self.available_tokens - self.taken

    @property
    def shared(self) -> int:
        """For all items where what may give way gives way to the share."""
        return min(self.tokens, self.share_tokens - self.taken)


class Shedder:
    """Makes layouts of one reading fit a room."""

    def __init__(
        self,
        reading: Reading,
        maker: LayoutMaker,
        room: Room,
        *,
        uncovered: int,
        is_covered: bool,
        recent_tokens: int,
        rules_tokens: int,
        counter: TokenCounter,
        refers: bool,
    ) -> None:
        """`is_covered`: whether a compaction stands before what is read. `recent_tokens`: what
        comes back of the newest messages at most.

        `rules_tokens`: what standing instructions may take before the goal is whole. `refers`:
        outputs that are left long enough say where their originals are.
        """
        self._reading = reading
        self._maker = maker
        self._room = room
        self._uncovered = uncovered
        self._is_covered = is_covered
        self._recent_tokens = recent_tokens
        self._rules_tokens = rules_tokens
        self._counter = counter
        self._refers = refers
        self._request = reading.last_user.seq if reading.last_user else None

    def shed(self, layout: Layout) -> Layout:
        """`layout`, the smallest there is and beside it the kept blocks, within the room.

        Raises:
            BudgetError: it does not fit, whatever gives way.
        """
        rows = sorted((item.row for item in layout.said if item.row), key=attrgetter("seq"))
        asked = asked_for(rows)
        try:
            shares = self._shares(layout)
        except BudgetError:
            if not self._may_lose_goal(layout):
                raise
            layout = replace(layout, goal=())
            shares = self._shares(layout)
        shorter = self._cut(layout, shares, asked)
        shorter = self._marked(shorter, is_granted=_MARKER in shares)
        filled = self._filled(shorter, layout, asked)
        return self._referring(filled, layout, asked) if self._refers else filled

    def _may_lose_goal(self, layout: Layout) -> bool:
        """Whether not even a few words of the goal must be there: the turn is about another."""
        return self._is_covered and any(item.seq != self._request for item in layout.goal)

    def _shares(self, layout: Layout) -> Shares:
        shares = self._least(layout)
        bare = replace(layout, facts=(), summary=(), kept=(), gap=())
        whole = dict(self._places(layout))
        fixed = bare.tokens - sum(item.tokens for item in whole.values())
        left = self._room.tokens - fixed - sum(shares.values())
        marker = total(self._maker.marked(bare, self._uncovered).gap)
        left = self._raise_to(shares, layout, _LEAST_OUTPUT_TOKENS, left)
        if 0 < marker <= left:
            shares[_MARKER] = marker
            left -= marker
        left = self._raise_to(shares, layout, SHORT_TOKENS, left)
        for wanted in self._wants(layout):
            left = _raise(shares, wanted, left)
        left = min(left, self._room.shared - fixed - sum(shares.values()))
        results = {at: item.tokens for at, item in whole.items() if self._is_open(at, item)}
        beside = {_FACTS: total(layout.facts), _SUMMARY: total(layout.summary)}
        _raise(shares, {**results, **beside}, max(0, left))
        return shares

    def _least(self, layout: Layout) -> Shares:
        """A few words of each; fewer where not even they find room."""
        for output_chars in _STUB_OUTPUT_CHARS:
            shares, least = Shares(), replace(layout, facts=(), summary=(), kept=(), gap=())
            for (part, at), item in self._places(layout):
                chars = output_chars if item.message.is_tool_result else _STUB_CHARS
                stub = stub_item(item, chars, self._counter)
                shares[part, at] = stub.tokens
                least = _with_item(least, part, at, stub)
            if least.tokens <= self._room.tokens:
                return shares
        taken = self._room.taken
        parts = {
            BudgetPart.FRAMING: taken,
            "system": total(least.system),
            BudgetPart.GOAL: total(least.pins) + total(least.late_pins) + total(least.goal),
            BudgetPart.LAST_TURN: total(least.request) + total(least.recent),
        }
        available = self._room.available_tokens
        raise BudgetError(needed=least.tokens + taken, available=available, parts=parts)

    def _raise_to(self, shares: Shares, layout: Layout, tokens: int, left: int) -> int:
        """Raises the outputs of open calls to `tokens` and the request beside them."""
        wanted = Shares()
        for at, item in self._places(layout):
            if self._is_open(at, item):
                wanted[at] = min(item.tokens, tokens)
            elif item.seq == self._request:
                most = item.tokens if tokens == SHORT_TOKENS else tokens
                wanted[at] = min(item.tokens, most)
        return _raise(shares, wanted, left)

    def _wants(self, layout: Layout) -> Iterator[Shares]:
        """What the other parts want of the room, each before the ones behind it."""
        goal = {("goal", at): item.tokens for at, item in enumerate(layout.goal)}
        pins = [
            ((part, at), item.tokens)
            for part in ("late_pins", "pins")
            for at, item in reversed([*enumerate(getattr(layout, part))])
            if item.row is not None
        ]
        least = {at: min(tokens, _LEAST_GOAL_TOKENS) for at, tokens in goal.items()}
        yield least | {at: min(tokens, _LEAST_PIN_TOKENS) for at, tokens in pins}
        yield {_FACTS: min(self._rules_tokens, self._maker.rules_tokens(layout))}
        yield goal
        for at, tokens in pins:
            yield {at: tokens}

    def _places(self, layout: Layout) -> Iterator[tuple[Place, Item]]:
        """The messages that may be cut; of the open turn that are the outputs alone."""
        for part in _CUT_PARTS:
            for at, item in enumerate(getattr(layout, part)):
                if item.row is not None and (part != "recent" or item.message.role != "assistant"):
                    yield (part, at), item

    def _is_open(self, place: Place, item: Item) -> bool:
        return place[0] == "recent" and item.message.is_tool_result

    def _cut(self, layout: Layout, shares: Shares, asked: Mapping[int, str]) -> Layout:
        shorter = replace(layout, kept=(), gap=())
        for (part, at), item in self._places(layout):
            cut = self._cut_item(item, shares[part, at], asked)
            shorter = _with_item(shorter, part, at, cut)
        shorter = self._maker.with_facts(shorter, shares.get(_FACTS, 0))
        return self._maker.with_summary(shorter, shares.get(_SUMMARY, 0))

    def _cut_item(self, item: Item, limit: int, asked: Mapping[int, str]) -> Item:
        if item.message.is_tool_result:
            return cut_output(item, limit, self._counter, asked)
        return cut_item(item, limit, self._counter)

    def _marked(self, layout: Layout, *, is_granted: bool) -> Layout:
        """`layout` with the marker of what is gone, where it has a share or finds room."""
        marked = self._maker.marked(layout, self._uncovered)
        is_fitting = is_granted or marked.tokens <= self._room.tokens
        return marked if is_fitting else replace(layout, gap=())

    def _filled(self, layout: Layout, whole: Layout, asked: Mapping[int, str]) -> Layout:
        """`layout` with what others left given to outputs, request, goal, facts, summary, blocks.

        No message is shown whole for it.
        """
        for (part, at), item in self._ranked(whole):
            shown = getattr(layout, part)[at]
            limit = min(item.tokens - 1, shown.tokens + self._free(layout))
            if shown.tokens < limit:
                more = self._cut_item(item, limit, asked)
                larger = shown.tokens < more.tokens <= limit
                layout = _with_item(layout, part, at, more) if larger else layout
        fills: tuple[Callable[[Layout, Layout], Layout], ...]
        fills = (self._with_facts, self._with_summary, self._with_kept, self._with_recent)
        for fill in fills:
            layout = self._marked(fill(layout, whole), is_granted=bool(layout.gap))
        return layout

    def _ranked(self, layout: Layout) -> list[tuple[Place, Item]]:
        """What may be cut, first what the model is called for."""
        order = ("recent", "request", "goal", "late_pins", "pins")
        return sorted(self._places(layout), key=lambda one: order.index(one[0][0]))

    def _referring(self, layout: Layout, whole: Layout, asked: Mapping[int, str]) -> Layout:
        """`layout` whose shortened outputs say where their originals are, as long as they were."""
        for (part, at), item in self._places(whole):
            shown = getattr(layout, part)[at]
            if item.message.is_tool_result and _REFERS_FROM_TOKENS <= shown.tokens < item.tokens:
                named = shorten_output(item, shown.tokens, self._counter, asked, refers=True)
                if named.tokens <= shown.tokens:
                    layout = _with_item(layout, part, at, named)
        return layout

    def _free(self, layout: Layout) -> int:
        return self._room.shared - layout.tokens

    def _with_facts(self, layout: Layout, whole: Layout) -> Layout:
        said = replace(
            layout, facts=whole.facts, said_facts=whole.said_facts, reminded=whole.reminded
        )
        more = self._maker.with_facts(said, total(layout.facts) + self._free(layout))
        return more if total(more.facts) > total(layout.facts) else layout

    def _with_summary(self, layout: Layout, whole: Layout) -> Layout:
        if not whole.summary or layout.said_summary == whole.said_summary:
            return layout
        more = self._maker.with_summary(layout, total(layout.summary) + self._free(layout))
        return more if len(more.said_summary) > len(layout.said_summary) else layout

    def _with_kept(self, layout: Layout, whole: Layout) -> Layout:
        """`layout` with the newest kept blocks that fit."""
        blocks: dict[int, list[Item]] = {}
        for item in whole.kept:
            blocks.setdefault(item.row.block if item.row else 0, []).append(item)
        free, kept = self._free(layout), list[Item]()
        shown = {item.seq for item in layout.said}
        for block in reversed(blocks):
            alone = (item.sized(item.row.sent_tokens) for item in blocks[block] if item.row)
            joined = list(as_merged([*alone, *kept[:1]], self._counter))
            more = total(joined) - total(kept[:1])
            if more <= free and not any(item.seq in shown for item in blocks[block]):
                free -= more
                kept = [*joined, *kept[1:]]
        return replace(layout, kept=tuple(kept))

    def _with_recent(self, layout: Layout, whole: Layout) -> Layout:
        """`layout` with the newest messages that fit, without a hole between them."""
        if not self._is_covered:  # a larger room might show fewer whole
            return layout
        free = min(self._free(layout), self._recent_tokens - total(layout.recent))
        shown, back = {item.seq for item in layout.said}, list[Counted]()
        for block in reversed(self._reading.blocks):
            if all(row.seq in shown for row in block):
                continue
            free -= int(block_tokens(block, self._counter))
            if free < 0 or any(row.seq in shown for row in block):
                break
            back = [*block, *back]
        items = (from_row(row, "recent", VerdictCode.RECENT()) for row in back)
        return replace(layout, recent=(*items, *layout.recent))


def _with_item(layout: Layout, part: str, at: int, item: Item) -> Layout:
    items = list(getattr(layout, part))
    items[at] = item
    return replace(layout, **{part: tuple(items)})  # type: ignore[arg-type]  # `part` names items


def _raise(shares: Shares, wanted: Mapping[Place, int], room: int) -> int:
    """Raises `shares` towards what is `wanted`, all to the same level; gives what is left."""
    now = {at: shares.get(at, 0) for at in wanted}
    caps = {at: max(now[at], tokens) for at, tokens in wanted.items()}

    def taken(level: int) -> int:
        return sum(max(now[at], min(cap, level)) - now[at] for at, cap in caps.items())

    low, high = 0, max(caps.values(), default=0)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if taken(middle) <= room else (low, middle - 1)
    room -= taken(low)
    for at, cap in caps.items():
        shares[at] = max(now[at], min(cap, low))
        if room and low >= now[at] and shares[at] < cap:
            shares[at] += 1
            room -= 1
    return room
