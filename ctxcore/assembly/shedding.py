"""Owns what gives way when even what must be kept does not fit, and in which order.

Kept blocks go first, then the summary shrinks, tool outputs are shortened, pins are elided oldest
first, then the goal, then facts go and the last user message is elided. System, tools and open
calls are never cut. Shortened outputs say where their originals are while that fits: nothing else
gives way for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from operator import attrgetter

from ctxcore.assembly.history import asked_for, replace_text
from ctxcore.assembly.items import Item, elide_item, shorten_output, total
from ctxcore.assembly.layout import Layout, without_kept
from ctxcore.errors import BudgetError
from ctxcore.tokens.count import count_message
from ctxcore.tokens.counter import TokenCounter

_SHORT_STEPS = (200, 60)  # first what any compaction would do, then the least that says something
_LEAST_TOKENS = 24  # a marker and a few words around it
_LEAST_REQUEST_TOKENS = 48
_STUB_CHARS = 24  # in a window that holds no marker of what is gone

Shrink = Callable[[Item, int], Item]


def shed(
    layout: Layout, available_tokens: int, *, taken: int, counter: TokenCounter, refers: bool
) -> Layout:
    """`layout` within `available_tokens`, of which `taken` go to framing and tools.

    `refers`: shortened outputs say where their originals are.

    Raises:
        BudgetError: it does not fit, whatever gives way.
    """
    for shorter in _steps(layout, available_tokens - taken, counter, refers=refers):
        layout = shorter
        if layout.tokens + taken <= available_tokens:
            return layout
    parts = {
        "framing and tools": taken,
        "system": total(layout.system),
        "pinned and goal": total(layout.pins) + total(layout.late_pins) + total(layout.goal),
        "last turn": total(layout.request) + total(layout.recent),
        "markers": total(layout.gap) + total(layout.summary),
    }
    raise BudgetError(needed=layout.tokens + taken, available=available_tokens, parts=parts)


def _steps(layout: Layout, room: int, counter: TokenCounter, *, refers: bool) -> Iterator[Layout]:
    yield layout  # what was chosen by upper bounds may fit as it is
    while layout.kept:
        layout = without_kept(layout)
        yield layout
    if layout.summary:
        layout = _cut_summary(layout, room, counter)
        yield layout
    whole, rows = layout, [item.row for item in layout.said if item.row is not None]
    asked = asked_for(sorted(rows, key=attrgetter("seq")))
    for says in (True, False) if refers else (False,):
        layout = whole
        for limit in _SHORT_STEPS:
            layout = _shorten(layout, room, limit, counter, asked, refers=says)
            yield layout
    for part in ("pins", "late_pins"):
        layout = _elide(layout, part, room, _LEAST_TOKENS, counter)
        yield layout
    layout = _elide(layout, "goal", room, _LEAST_REQUEST_TOKENS, counter)
    yield layout
    if layout.facts:  # standing instructions among them: they outlast a long request's middle
        layout = replace(layout, facts=())
        yield layout
    for part in ("request", "recent"):  # the goal may be the last user message
        layout = _elide(layout, part, room, _LEAST_REQUEST_TOKENS, counter)
        yield layout
    layout = replace(layout, gap=())
    yield layout
    for part in ("goal", "recent", "request"):  # a few words of each, where nothing else helps
        layout = _stub(layout, part, room, counter)
        yield layout


def _cut_summary(layout: Layout, room: int, counter: TokenCounter) -> Layout:
    summary, *answer = layout.summary
    limit = summary.tokens - (layout.tokens - room)
    if limit < _LEAST_TOKENS:
        return replace(layout, summary=())
    cut = elide_item(summary, limit, counter, reason="summary cut to the window")
    return replace(layout, summary=(cut, *answer))


def _shorten(
    layout: Layout,
    room: int,
    limit: int,
    counter: TokenCounter,
    asked: Mapping[int, str],
    *,
    refers: bool,
) -> Layout:
    def shrink(item: Item, over: int) -> Item:
        most = max(limit, item.tokens - over)
        return shorten_output(item, most, counter, asked, refers=refers)

    for part in ("pins", "late_pins", "recent"):
        layout = _apply(layout, part, room, shrink)
    return layout


def _elide(layout: Layout, part: str, room: int, least: int, counter: TokenCounter) -> Layout:
    def shrink(item: Item, over: int) -> Item:
        if part == "recent" and item.message.role != "user":
            return item
        limit = max(least, item.tokens - over)
        return elide_item(item, limit, counter, reason="elided to fit the window")

    return _apply(layout, part, room, shrink)


def _stub(layout: Layout, part: str, room: int, counter: TokenCounter) -> Layout:
    def shrink(item: Item, over: int) -> Item:
        text = item.message.text
        if (part == "recent" and item.message.role == "assistant") or len(text) <= _STUB_CHARS:
            return item
        name = item.row.function_name if item.row else ""
        message = replace_text(item.message, f"{text[:_STUB_CHARS].rstrip()}…")
        tokens = count_message(message, counter, function_name=name)
        if tokens >= item.tokens:
            return item
        reason = "elided to fit the window"
        return replace(item, message=message, tokens=tokens, verdict="compressed", reason=reason)

    return _apply(layout, part, room, shrink)


def _apply(layout: Layout, part: str, room: int, shrink: Shrink) -> Layout:
    """`layout` with the items of `part` shrunk, oldest first, as far as it is over `room`."""
    items = list(getattr(layout, part))
    over = layout.tokens - room
    for at, item in enumerate(items):
        if over <= 0:
            break
        items[at] = shrink(item, over)
        over -= item.tokens - items[at].tokens
    return replace(layout, **{part: tuple(items)})  # type: ignore[arg-type]  # `part` names items
