"""Makes a context fit a room that does not hold all that must be kept.

A few words of everything that must be kept come first. Then the outputs that the model has yet to
see and the request behind them share alike, small ones whole; then the marker of what is gone, the
goal, standing instructions, pins, the rest of the facts and the summary. What of that is left over
is filled with kept blocks and recent messages. System, tools and open calls are never cut.

The share of a message depends on the room alone, never on how well others use theirs, so that a
larger room never keeps less. Source: ADR 0029.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ctxcore.assembly.history import Counted
from ctxcore.assembly.items import (
    SHORT_TOKENS,
    Item,
    cut_item,
    cut_item_named,
    cut_output,
    from_row,
    shorten_output,
    stub_item,
    total,
)
from ctxcore.assembly.layout import Layout, LayoutMaker, as_merged
from ctxcore.assembly.selection import block_tokens
from ctxcore.compression.markers import refers_to_words
from ctxcore.errors import BudgetError
from ctxcore.reasons.codes import VerdictCode
from ctxcore.reasons.problems import BudgetPart

_STUB_CHARS = 24  # chosen: of each message, in a room that holds no more
_STUB_OUTPUT_CHARS = (24, 6, 0)  # chosen: of each output; the last is only a sign
_LEAST_OUTPUT_TOKENS = 60  # ADR 0029: the first share of the outputs that the model has yet to see
_LEAST_GOAL_TOKENS = 48  # ADR 0029
_LEAST_PIN_TOKENS = 16  # chosen: the frame and a dozen words
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


@dataclass(frozen=True, kw_only=True)
class Shedder:
    """Makes layouts of one reading fit a room."""

    maker: LayoutMaker
    room: Room
    queries: Mapping[int, str]
    """What each tool output was called for, by sequence number."""
    is_covered: bool
    """Whether a compaction stands before what is read."""
    recent_tokens: int
    """What comes back of the newest messages at most."""
    rules_tokens: int
    """What standing instructions may take before the goal is whole."""
    refers: bool
    """Whether what is cut and left long enough names its original."""

    def shed(self, layout: Layout) -> Layout:
        """`layout`, the smallest there is and beside it the kept blocks, within the room.

        Raises:
            BudgetError: it does not fit, whatever gives way.
        """
        try:
            shares = self._shares(layout)
        except BudgetError:
            # Not even a few words of a covered goal must be there where the turn has another.
            if not (self.is_covered and any(map(self._is_no_request, layout.goal))):
                raise
            layout = replace(layout, goal=())
            shares = self._shares(layout)
        shorter = self._marked(self._cut(layout, shares), is_granted=_MARKER in shares)
        filled = self._filled(shorter, layout)
        return self._referring(filled, layout) if self.refers else filled

    def _is_no_request(self, item: Item) -> bool:
        last_user = self.maker.reading.last_user
        return last_user is None or item.seq != last_user.seq

    def _shares(self, layout: Layout) -> Shares:
        shares = self._least(layout)
        bare = replace(layout, facts=(), summary=(), kept=(), gap=())
        places = dict(self._places(layout))
        fixed = bare.tokens - total(places.values())
        left = self.room.tokens - fixed - sum(shares.values())
        marker = total(self.maker.marked(bare).gap)
        left = self._raise_to(shares, layout, _LEAST_OUTPUT_TOKENS, left)
        if 0 < marker <= left:
            shares[_MARKER] = marker
            left -= marker
        left = self._raise_to(shares, layout, SHORT_TOKENS, left)
        for wanted in self._wants(layout):
            left = _raise(shares, wanted, left)
        left = min(left, self.room.shared - fixed - sum(shares.values()))
        results = {at: item.tokens for at, item in places.items() if _is_open(at, item)}
        beside = {_FACTS: total(layout.facts), _SUMMARY: total(layout.summary)}
        _raise(shares, {**results, **beside}, max(0, left))
        return shares

    def _least(self, layout: Layout) -> Shares:
        """A few words of each; fewer where not even they find room."""
        for output_chars in _STUB_OUTPUT_CHARS:
            stubs: dict[Place, Item] = {}
            for place, item in self._places(layout):
                chars = output_chars if item.message.is_tool_result else _STUB_CHARS
                stubs[place] = stub_item(item, chars, self.maker.counter)
            shares = Shares({place: stub.tokens for place, stub in stubs.items()})
            least = _with_items(replace(layout, facts=(), summary=(), kept=(), gap=()), stubs)
            if least.tokens <= self.room.tokens:
                return shares
        taken, available = self.room.taken, self.room.available_tokens
        parts = {
            BudgetPart.FRAMING: taken,
            "system": total(least.system),
            BudgetPart.GOAL: total((*least.pins, *least.late_pins, *least.goal)),
            BudgetPart.LAST_TURN: total((*least.request, *least.recent)),
        }
        raise BudgetError(needed=least.tokens + taken, available=available, parts=parts)

    def _raise_to(self, shares: Shares, layout: Layout, tokens: int, left: int) -> int:
        """Raises the outputs of open calls to `tokens` and the request beside them."""
        wanted = Shares()
        for place, item in self._places(layout):
            if _is_open(place, item):
                wanted[place] = min(item.tokens, tokens)
            elif not self._is_no_request(item):
                most = item.tokens if tokens == SHORT_TOKENS else tokens
                wanted[place] = min(item.tokens, most)
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
        yield {_FACTS: min(self.rules_tokens, self.maker.rules_tokens(layout))}
        yield goal
        for at, tokens in pins:
            yield {at: tokens}

    def _places(self, layout: Layout) -> Iterator[tuple[Place, Item]]:
        """The messages that may be cut; of the open turn that are the outputs alone."""
        for part in _CUT_PARTS:
            for at, item in enumerate(getattr(layout, part)):
                if item.row is not None and (part != "recent" or item.message.role != "assistant"):
                    yield (part, at), item

    def _cut(self, layout: Layout, shares: Shares) -> Layout:
        cut = {place: self._cut_item(item, shares[place]) for place, item in self._places(layout)}
        shorter = _with_items(replace(layout, kept=(), gap=()), cut)
        shorter = self.maker.with_facts(shorter, shares.get(_FACTS, 0))
        return self.maker.with_summary(shorter, shares.get(_SUMMARY, 0))

    def _cut_item(self, item: Item, limit: int) -> Item:
        if item.message.is_tool_result:
            return cut_output(item, limit, self.maker.counter, self.queries)
        return cut_item(item, limit, self.maker.counter)

    def _marked(self, layout: Layout, *, is_granted: bool) -> Layout:
        """`layout` with the marker of what is gone, where it has a share or finds room."""
        marked = self.maker.marked(layout)
        is_fitting = is_granted or marked.tokens <= self.room.tokens
        return marked if is_fitting else replace(layout, gap=())

    def _filled(self, layout: Layout, whole: Layout) -> Layout:
        """`layout` with what others left given to outputs, request, goal, facts, summary, blocks.

        No message is shown whole for it.
        """
        order = ("recent", "request", "goal", "late_pins", "pins")
        free, longer = self._free(layout), dict[Place, Item]()
        for place, item in sorted(self._places(whole), key=lambda found: order.index(found[0][0])):
            shown = _item_at(layout, place)
            limit = min(item.tokens - 1, shown.tokens + free)
            if shown.tokens < limit:
                more = self._cut_item(item, limit)
                if shown.tokens < more.tokens <= limit:
                    longer[place] = more
                    free -= more.tokens - shown.tokens
        layout = _with_items(layout, longer)
        for fill in (self._with_facts, self._with_summary, self._with_kept, self._with_recent):
            layout = self._marked(fill(layout, whole), is_granted=bool(layout.gap))
        return layout

    def _referring(self, layout: Layout, whole: Layout) -> Layout:
        """`layout` whose cut messages name their originals, as long as they were."""
        referring: dict[Place, Item] = {}
        for place, item in self._places(whole):
            shown = _item_at(layout, place)
            if refers_to_words(shown.tokens) and shown.tokens < item.tokens:
                named = self._named(item, shown.tokens)
                if named.tokens <= shown.tokens:
                    referring[place] = named
        return _with_items(layout, referring)

    def _named(self, item: Item, limit: int) -> Item:
        if item.message.is_tool_result:
            return shorten_output(item, limit, self.maker.counter, self.queries, refers=True)
        return cut_item_named(item, limit, self.maker.counter)

    def _free(self, layout: Layout) -> int:
        return self.room.shared - layout.tokens

    def _with_facts(self, layout: Layout, whole: Layout) -> Layout:
        full = replace(
            layout, facts=whole.facts, facts_text=whole.facts_text, reminded=whole.reminded
        )
        more = self.maker.with_facts(full, total(layout.facts) + self._free(layout))
        return more if total(more.facts) > total(layout.facts) else layout

    def _with_summary(self, layout: Layout, whole: Layout) -> Layout:
        if not whole.summary or layout.summary_text == whole.summary_text:
            return layout
        more = self.maker.with_summary(layout, total(layout.summary) + self._free(layout))
        return more if len(more.summary_text) > len(layout.summary_text) else layout

    def _with_kept(self, layout: Layout, whole: Layout) -> Layout:
        """`layout` with the newest kept blocks that fit."""
        blocks: dict[int, list[Item]] = {}
        for item in whole.kept:
            blocks.setdefault(item.row.block if item.row else 0, []).append(item)
        free, kept = self._free(layout), list[Item]()
        shown = {item.seq for item in layout.messages}
        for block in reversed(blocks.values()):
            alone = (item.sized(item.row.sent_tokens) for item in block if item.row)
            joined = list(as_merged([*alone, *kept[:1]], self.maker.counter))
            more = total(joined) - total(kept[:1])
            if more <= free and not any(item.seq in shown for item in block):
                free -= more
                kept = [*joined, *kept[1:]]
        return replace(layout, kept=tuple(kept))

    def _with_recent(self, layout: Layout, whole: Layout) -> Layout:
        """`layout` with the newest messages that fit, without a hole between them."""
        if not self.is_covered:  # a larger room might show fewer whole
            return layout
        free = min(self._free(layout), self.recent_tokens - total(layout.recent))
        shown, back = {item.seq for item in layout.messages}, list[Counted]()
        for block in reversed(self.maker.reading.blocks):
            if all(row.seq in shown for row in block):
                continue
            free -= int(block_tokens(block, self.maker.counter))
            if free < 0 or any(row.seq in shown for row in block):
                break
            back = [*block, *back]
        items = (from_row(row, "recent", VerdictCode.RECENT()) for row in back)
        return replace(layout, recent=(*items, *layout.recent))


def _is_open(place: Place, item: Item) -> bool:
    """Whether it is an output that the model has yet to see."""
    return place[0] == "recent" and item.message.is_tool_result


def _item_at(layout: Layout, place: Place) -> Item:
    items: tuple[Item, ...] = getattr(layout, place[0])
    return items[place[1]]


def _with_items(layout: Layout, items: Mapping[Place, Item]) -> Layout:
    """`layout` with other items in some places; an open turn may have thousands of outputs."""
    parts: dict[str, list[Item]] = {}
    for (part, at), item in items.items():
        if part not in parts:
            parts[part] = list(getattr(layout, part))
        parts[part][at] = item
    changed = {part: tuple(found) for part, found in parts.items()}
    return replace(layout, **changed)  # type: ignore[arg-type]  # `part` names items


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
