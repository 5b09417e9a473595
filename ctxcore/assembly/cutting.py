"""Owns cutting one thing to its share of a room: a tool output, a message, the summary.

From some tokens on words are cut in the middle and a marker says how much is gone; below, that
marker would be most of what is left, and the beginning stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ctxcore.assembly.elide import elide, says_something
from ctxcore.assembly.history import media_of, replace_text, whole
from ctxcore.assembly.items import Item, elide_item, from_row, shorten_output
from ctxcore.reasons.codes import VerdictCode
from ctxcore.reasons.values import Reason
from ctxcore.tokens.count import count_message
from ctxcore.tokens.counter import TokenCounter

CUT = VerdictCode.ELIDED_TO_WINDOW()
SHORT_TOKENS = 200  # what any compaction leaves of an output
_MIDDLE_TOKENS = 48  # with fewer, a marker in the middle takes a fifth of them
_CUT_ROUNDS = 20  # halving finds a place among a million characters


def cut_words(text: str, max_tokens: int, counter: TokenCounter) -> str:
    """As much of `text` as `max_tokens` hold; at least a sign that there was something."""
    if max_tokens >= _MIDDLE_TOKENS:
        return elide(text, max_tokens, counter)
    return begin(text, max_tokens, counter)


def begin(text: str, max_tokens: int, counter: TokenCounter) -> str:
    """The longest beginning of `text` that `max_tokens` hold, and a sign that more follows."""
    if counter.count(text) <= max_tokens:
        return text
    low, high = 0, len(text) - 1
    for _ in range(_CUT_ROUNDS):
        if low >= high:
            break
        keep = (low + high + 1) // 2
        if counter.count(_begun(text, keep)) <= max_tokens:
            low = keep
        else:
            high = keep - 1
    return _begun(text, low)


def _begun(text: str, chars: int) -> str:
    return f"{text[:chars].rstrip()}…"


def cut_item(
    item: Item,
    limit_tokens: int,
    counter: TokenCounter,
    reason: Reason = CUT,
) -> Item:
    """`item` with its words cut to `limit_tokens`, calls untouched."""
    if item.tokens <= limit_tokens:
        return item
    if limit_tokens >= _MIDDLE_TOKENS + _frame_tokens(item, counter):
        return elide_item(item, limit_tokens, counter, reason=reason)
    room = limit_tokens - _frame_tokens(item, counter)
    return _saying(item, begin(item.message.text, room, counter), counter, reason)


def stub_item(item: Item, chars: int, counter: TokenCounter) -> Item:
    """`item` with its first `chars` characters, if that makes it smaller."""
    text = item.message.text
    is_short = len(text) <= chars
    if is_short and not media_of(item.message.content):
        return item
    shorter = _saying(
        item, text if is_short else _begun(text, chars), counter, VerdictCode.ELIDED_TO_WINDOW()
    )
    return shorter if shorter.tokens < item.tokens else item


def cut_output(
    item: Item,
    limit_tokens: int,
    counter: TokenCounter,
    asked: Mapping[int, str],
) -> Item:
    """`item` with its tool output within `limit_tokens`, saying something of it in any case.

    `asked` tells what outputs were called for.
    """
    if item.tokens <= limit_tokens or item.row is None:
        return item
    short = shorten_output(item, limit_tokens, counter, asked, refers=False)
    if short.tokens <= limit_tokens and says_something(short.message.text):
        return short
    original = from_row(whole(item.row), item.segment, item.reason)
    return cut_item(original, limit_tokens, counter, VerdictCode.OUTPUT_SHORTENED())


def _saying(item: Item, text: str, counter: TokenCounter, reason: Reason) -> Item:
    message = replace_text(item.message, text)
    tokens = count_message(message, counter, function_name=_function(item))
    return replace(item, message=message, tokens=tokens, verdict="compressed", reason=reason)


def _frame_tokens(item: Item, counter: TokenCounter) -> int:
    bare = replace_text(item.message, "")
    return count_message(bare, counter, function_name=_function(item))


def _function(item: Item) -> str:
    return item.row.function_name if item.row else ""
