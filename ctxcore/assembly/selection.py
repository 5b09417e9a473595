"""Chooses how far back the recent part of a context reaches.

Sizes are upper bounds that grow no faster than the budget, so a larger budget never keeps less.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from ctxcore.assembly.history import Counted
from ctxcore.assembly.items import cut_item_named, elide_item, from_row, total
from ctxcore.assembly.layout import Layout, LayoutMaker
from ctxcore.assembly.legality import Repairer
from ctxcore.assembly.reading import WHOLE
from ctxcore.assembly.rules.calls import is_json_object, is_taken_everywhere
from ctxcore.assembly.rules.values import is_sent_everywhere
from ctxcore.assembly.rules.words import is_sayable
from ctxcore.assembly.texts import START
from ctxcore.messages.values import text_message
from ctxcore.reasons.codes import VerdictCode
from ctxcore.tokens.count import count_message
from ctxcore.tokens.families import TokenCounter

_LEAST_ELIDED_TOKENS = 48  # chosen: an answer cut further is not worth its place


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Where the recent part starts, and whether the context fits its budget with it."""

    first_block: int
    fits: bool
    skipped: frozenset[int] = frozenset()
    """Blocks behind `first_block` that are left out."""

    @property
    def is_whole(self) -> bool:
        """Whether every block that was read is shown."""
        return self.first_block == 0 and not self.skipped


def choose_recent(
    maker: LayoutMaker,
    *,
    available_tokens: int,
    oversize_tokens: float | None,
    shortened: Collection[int],
) -> Choice:
    """The oldest block at which a context within `available_tokens` can start.

    A block whose calls the model has yet to see answered is always in; `fits` is False where even
    that is too much. `shortened` outputs keep their stored short text in any budget.
    """
    blocks, last = maker.reading.blocks, maker.reading.open_at
    sizes = [block_tokens(one, maker.counter, oversize_tokens, shortened) for one in blocks[last:]]
    sent = [float(sum(sizes))]  # with the blocks from `last` on, from the one before it on, …
    for block in reversed(blocks[:last]):
        if sent[-1] > available_tokens:
            break
        sent.append(sent[-1] + block_tokens(block, maker.counter, oversize_tokens, shortened))
    beside = _BesideRecent(maker)
    for first, tokens in enumerate(reversed(sent), start=last + 1 - len(sent)):
        if tokens <= available_tokens and tokens + beside.tokens(first) <= available_tokens:
            return Choice(first_block=first, fits=True)
    return Choice(first_block=last, fits=False)


def choose_chains(maker: LayoutMaker, *, available_tokens: int, recent_tokens: int) -> Choice:
    """The newest blocks within `recent_tokens`; a chain of calls that does not fit is skipped.

    A message without calls that does not fit ends the choice, as the end of the budget does.
    Source: the second design, section 1.3.
    """
    blocks, last, counter = maker.reading.blocks, maker.reading.open_at, maker.counter
    beside = _BesideRecent(maker)
    marker, pins = maker.marker_tokens(maker.uncovered), set(maker.reading.anchors.pinned)
    first, skipped = last, set[int]()
    used = float(sum(block_tokens(block, counter) for block in blocks[last:]))

    def fits(tokens: float, start: int) -> bool:
        return tokens <= recent_tokens and tokens + beside.tokens(start) <= available_tokens

    is_fitting = used + beside.tokens(last) <= available_tokens
    for at in range(last - 1, -1, -1):
        left_out = marker + sum(row.sent_tokens for row in blocks[at] if row.seq in pins)
        size = block_tokens(blocks[at], counter)
        if fits(used + size, at):
            first, used = at, used + size
        elif len(blocks[at]) > 1 and fits(used + left_out, first):
            skipped.add(at)
            used += left_out
        else:
            break
    inner = frozenset(at for at in skipped if at > first)
    return Choice(first_block=first, fits=is_fitting, skipped=inner)


def elide_newest(maker: LayoutMaker, choice: Choice, room_tokens: int) -> Layout | None:
    """The layout with the newest message of the history elided, where none of it fits whole.

    None where something fits, or where there is nothing to elide. Source: the first design's
    resolutions.
    """
    blocks, at = maker.reading.blocks, choice.first_block - 1
    current = maker.reading.current or WHOLE
    if at < 0 or any(block[0].seq < current for block in blocks[choice.first_block :]):
        return None
    newest = blocks[at][0]
    if newest.seq >= current or newest.message.calls or newest.message.is_tool_result:
        return None
    layout = maker.make(at)
    item = layout.recent[0]
    limit = item.tokens - (layout.tokens - room_tokens)
    cut = cut_item_named if maker.refers else elide_item
    elided = cut(item, limit, maker.counter, reason=VerdictCode.ELIDED_TO_SHARE())
    if limit < _LEAST_ELIDED_TOKENS or elided.tokens > limit:
        return None
    return replace(layout, recent=(elided, *layout.recent[1:]))


class _BesideRecent:
    """Measures what everything but the recent part takes, for each possible start of it."""

    def __init__(self, maker: LayoutMaker) -> None:
        reading = maker.reading
        anchors = (row.seq for row in (reading.goal, reading.last_user) if row is not None)
        marked = {*reading.anchors.pinned, *anchors}
        self._maker = maker
        self._blocks = reading.blocks
        self._start_tokens = count_message(text_message("user", START), maker.counter)
        self._known: dict[tuple[bool, ...], int] = {}
        self._marks = [
            at for at, block in enumerate(reading.blocks) if any(row.seq in marked for row in block)
        ]

    def tokens(self, first: int) -> int:
        """Tokens beside the blocks from `first` on; a bound that holds for every such start."""
        dropped = self._maker.dropped(first)
        speaks = first < len(self._blocks) and self._blocks[first][0].message.role == "assistant"
        key = (dropped > 0, speaks, *(at >= first for at in self._marks))
        if key not in self._known:
            layout = self._maker.make(first, dropped, is_measured=True)
            self._known[key] = layout.tokens - total(layout.recent) + self._start(layout)
        return self._known[key]

    def _start(self, layout: Layout) -> int:
        """What the text takes that is put before a context that the assistant would begin."""
        head = (layout.goal, layout.pins, layout.summary, layout.gap, layout.request)
        first = layout.recent[0].message.role if layout.recent else "user"
        return 0 if any(head) or first == "user" else self._start_tokens


def block_tokens(
    block: Sequence[Counted],
    counter: TokenCounter,
    oversize_tokens: float | None = None,
    shortened: Collection[int] = (),
) -> float:
    """What a block takes at most, with what it needs to be legal.

    With `oversize_tokens`, outputs shortened when they were appended may grow to that size, but
    for the `shortened` ones.
    """
    head = block[0].message
    if not head.calls and not head.is_tool_result and is_sayable(head):
        return block[0].sent_tokens  # nearly every block: one message, nothing to make legal
    sizes = (
        row.sent_tokens
        if row.short_tokens is None or oversize_tokens is None or row.seq in shortened
        else max(row.short_tokens, min(row.tokens, oversize_tokens))
        for row in block
    )
    return sum(sizes) + _repair_tokens(block, counter)


def _repair_tokens(block: Sequence[Counted], counter: TokenCounter) -> int:
    """What making a block legal adds to it; most blocks need nothing."""
    if _is_sound(block):
        return 0
    items = [from_row(row, "recent", VerdictCode.RECENT()) for row in block]
    return max(0, total(Repairer(counter).repair_block(items)) - total(items))


def _is_sound(block: Sequence[Counted]) -> bool:
    head = block[0].message
    if not is_sayable(head):
        return False
    if not head.calls:
        return len(block) == 1 and not head.is_tool_result
    calls = [call.id for call in head.calls]
    is_answered = calls == [row.message.answers for row in block[1:]] and all(calls)
    return is_answered and all(
        is_json_object(call.arguments)
        and is_sent_everywhere(call.name)
        and is_taken_everywhere(call.id)
        for call in head.calls
    )
