"""Owns how far back the recent part reaches: the longest legal tail that fits with all else.

Sizes are bounds that grow no faster than the budget, so a larger budget never keeps less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ctxcore.assembly.history import Counted
from ctxcore.assembly.items import elide_item, from_row
from ctxcore.assembly.layout import Layout, LayoutMaker
from ctxcore.assembly.legality import Repairer
from ctxcore.assembly.reading import WHOLE, Reading
from ctxcore.assembly.rules.calls import is_json_object, is_taken_everywhere
from ctxcore.assembly.rules.values import is_sent_everywhere
from ctxcore.assembly.rules.words import is_sayable
from ctxcore.assembly.texts import START
from ctxcore.messages.values import text_message
from ctxcore.reasons.codes import VerdictCode
from ctxcore.tokens.count import count_message
from ctxcore.tokens.families import TokenCounter

_LEAST_ELIDED_TOKENS = 48  # less says nothing of an answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Where the recent part starts, and whether the whole fits then."""

    first_block: int
    fits: bool
    skipped: frozenset[int] = frozenset()
    """Blocks behind it that are left out."""

    @property
    def is_whole(self) -> bool:
        """Whether every block that was read is shown."""
        return self.first_block == 0 and not self.skipped


def choose_recent(
    reading: Reading,
    maker: LayoutMaker,
    *,
    uncovered: int,
    available_tokens: int,
    oversize_tokens: float | None,
    shortened: frozenset[int],
    counter: TokenCounter,
) -> Choice:
    """The oldest block at which a context within `available_tokens` can start.

    A block whose calls the model has yet to see answered is always in; `fits` is False where even
    that is too much. `uncovered` messages lie behind the active compaction.
    """
    blocks = reading.blocks

    def size(block: Sequence[Counted]) -> float:
        return _size(block, oversize_tokens, shortened, counter)

    last = len(blocks) - 1 if reading.open_block else len(blocks)
    rest = _Rest(reading, maker, uncovered, counter)
    best, sent = None, float(sum(map(size, blocks[last:])))
    for first in range(last, -1, -1):
        sent += size(blocks[first]) if first < last else 0
        if sent > available_tokens:
            break
        if sent + rest.tokens(first) <= available_tokens:
            best = first
    return Choice(first_block=last if best is None else best, fits=best is not None)


def choose_chains(
    reading: Reading,
    maker: LayoutMaker,
    *,
    uncovered: int,
    available_tokens: int,
    recent_tokens: int,
    counter: TokenCounter,
) -> Choice:
    """The newest blocks within `recent_tokens`; a chain of calls that does not fit is skipped.

    A message that does not fit ends the choice, as the end of the budget. Source: the second
    design, section 1.3.
    """
    blocks = reading.blocks
    last = len(blocks) - 1 if reading.open_block else len(blocks)
    rest = _Rest(reading, maker, uncovered, counter)
    hole, pins = maker.hole_tokens(uncovered), set(reading.anchors.pinned)
    open_tokens = sum(block_tokens(block, counter) for block in blocks[last:])
    first, used, skipped = last, float(open_tokens), set[int]()

    def fits(tokens: float, start: int) -> bool:
        return tokens <= recent_tokens and tokens + rest.tokens(start) <= available_tokens

    is_fitting = used + rest.tokens(last) <= available_tokens
    for at in range(last - 1, -1, -1):
        left_out = hole + sum(row.sent_tokens for row in blocks[at] if row.seq in pins)
        size = block_tokens(blocks[at], counter)  # of those before, nobody asks
        if fits(used + size, at):
            first, used = at, used + size
        elif len(blocks[at]) > 1 and fits(used + left_out, first):
            skipped.add(at)
            used += left_out
        else:
            break
    inner = frozenset(at for at in skipped if at > first)
    return Choice(first_block=first, fits=is_fitting, skipped=inner)


def elide_newest(
    reading: Reading,
    maker: LayoutMaker,
    choice: Choice,
    *,
    uncovered: int,
    room_tokens: int,
    counter: TokenCounter,
) -> Layout | None:
    """The layout with the newest message of the history elided, where none of it fits whole.

    None where something fits, or where there is nothing to elide. Source: the first design's
    resolutions.
    """
    at, current = choice.first_block - 1, reading.current or WHOLE
    fitting = reading.blocks[choice.first_block :]
    if at < 0 or any(block[0].seq < current for block in fitting):
        return None
    newest = reading.blocks[at][0]
    if newest.seq >= current or newest.message.calls or newest.message.is_tool_result:
        return None
    layout = maker.make(at, uncovered - sum(map(len, reading.blocks[at:])))
    item = layout.recent[0]
    limit = item.tokens - (layout.tokens - room_tokens)
    elided = elide_item(item, limit, counter, reason=VerdictCode.ELIDED_TO_SHARE())
    if limit < _LEAST_ELIDED_TOKENS or elided.tokens > limit:
        return None
    return replace(layout, recent=(elided, *layout.recent[1:]))


class _Rest:
    """What everything but the recent part takes, for each possible start of it."""

    def __init__(
        self, reading: Reading, maker: LayoutMaker, uncovered: int, counter: TokenCounter
    ) -> None:
        blocks = reading.blocks
        self._blocks = blocks
        self._uncovered = uncovered
        self._counts = _suffix_sums([len(block) for block in blocks])
        self._start_tokens = count_message(text_message("user", START), counter)
        self._layouts: dict[tuple[bool, ...], int] = {}
        self._maker = maker
        pins = set(reading.anchors.pinned)
        self._marks = [
            at
            for at, block in enumerate(blocks)
            if any(row.seq in pins or _is(row, reading.goal, reading.last_user) for row in block)
        ]

    def tokens(self, first: int) -> int:
        """Tokens beside the blocks from `first` on; a bound that holds for every such start."""
        dropped = self._uncovered - self._counts[first]
        speaks = first < len(self._blocks) and self._blocks[first][0].message.role == "assistant"
        key = (dropped > 0, speaks, *(at >= first for at in self._marks))
        if key not in self._layouts:
            layout = self._maker.make(first, dropped, is_measured=True)
            self._layouts[key] = layout.tokens - _recent(layout) + self._start(layout)
        return self._layouts[key]

    def _start(self, layout: Layout) -> int:
        head = (layout.goal, layout.pins, layout.summary, layout.gap, layout.request)
        first = layout.recent[0].message.role if layout.recent else "user"
        return 0 if any(head) or first == "user" else self._start_tokens


def _recent(layout: Layout) -> int:
    return sum(item.tokens for item in layout.recent)


def _is(row: Counted, *others: Counted | None) -> bool:
    return any(other is not None and other.seq == row.seq for other in others)


def _suffix_sums(counts: Sequence[int]) -> list[int]:
    sums = [0]
    for count in reversed(counts):
        sums.append(sums[-1] + count)
    return sums[::-1]


def _size(
    block: Sequence[Counted],
    oversize_tokens: float | None,
    shortened: frozenset[int],
    counter: TokenCounter,
) -> float:
    """What a block takes at most, with what it needs to be legal."""
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


def block_tokens(block: Sequence[Counted], counter: TokenCounter) -> float:
    """What a block takes as it stands, with what it needs to be legal."""
    return _size(block, None, frozenset(), counter)


def _repair_tokens(block: Sequence[Counted], counter: TokenCounter) -> int:
    """What making a block legal adds to it; most blocks need nothing."""
    if _is_sound(block):
        return 0
    items = [from_row(row, "recent", VerdictCode.RECENT()) for row in block]
    repaired = Repairer(counter).repair_block(items)
    return max(0, sum(item.tokens for item in repaired) - sum(item.tokens for item in items))


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
