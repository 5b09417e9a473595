"""Owns items: what a context is built from, one for each message or text of our own in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ctxcore.assembly.breakdown import Segment
from ctxcore.assembly.elide import elide
from ctxcore.assembly.history import (
    Counted,
    leaves_words,
    referring,
    replace_text,
    shorten_row,
    words_of,
)
from ctxcore.assembly.verdicts import VerdictKind
from ctxcore.compression.expanding import REFERENCE_TOKENS
from ctxcore.messages.values import Message
from ctxcore.reasons.codes import VerdictCode
from ctxcore.reasons.values import Reason
from ctxcore.tokens.count import count_message
from ctxcore.tokens.counter import TokenCounter

_OWN = VerdictCode.OWN()


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One message of a context; `row` is its place in the history, None for a text of our own."""

    segment: Segment
    message: Message
    tokens: int
    row: Counted | None = None
    verdict: VerdictKind = "kept"
    reason: Reason = _OWN
    is_laid_out: bool = True
    """False for what a repair put in."""

    @property
    def seq(self) -> int:
        """The place in the history; 0 for a text of our own."""
        return self.row.seq if self.row else 0

    def sized(self, tokens: int) -> Item:
        """The same item of another size; a merged meeting has thousands of them."""
        if tokens == self.tokens:
            return self
        return Item(
            segment=self.segment,
            message=self.message,
            tokens=tokens,
            row=self.row,
            verdict=self.verdict,
            reason=self.reason,
            is_laid_out=self.is_laid_out,
        )


@dataclass(frozen=True, slots=True)
class Merged:
    """The items that became one message of the request."""

    message: Message
    items: tuple[Item, ...]
    has_reasoning: bool = False

    def with_reasoning(self, tokens: int) -> Merged:
        """This message with its thinking sent along, which takes `tokens` more."""
        first = replace(self.items[0], tokens=self.items[0].tokens + tokens)
        return Merged(self.message, (first, *self.items[1:]), has_reasoning=True)


def from_row(row: Counted, segment: Segment, reason: Reason) -> Item:
    """The item of a message, with the short text that stands for it where there is one."""
    if row.short is None:
        return Item(segment=segment, message=row.message, tokens=row.tokens, row=row, reason=reason)
    return Item(
        segment=segment,
        message=replace_text(row.message, row.short, keeps_media=row.keeps_media),
        tokens=row.sent_tokens,
        row=row,
        verdict="compressed",
        reason=(
            VerdictCode.OUTPUT_SHORTENED()
            if row.message.is_tool_result
            else VerdictCode.TEXT_ELIDED()
        ),
    )


def own_item(segment: Segment, message: Message, counter: TokenCounter) -> Item:
    """The item of a text that this library puts in."""
    return Item(segment=segment, message=message, tokens=count_message(message, counter))


def total(items: Iterable[Item]) -> int:
    """The tokens of `items` together."""
    return sum(item.tokens for item in items)


def shorten_output(
    item: Item,
    limit_tokens: int,
    counter: TokenCounter,
    asked: Mapping[int, str],
    *,
    refers: bool,
) -> Item:
    """`item` with its tool output within `limit_tokens`, if that makes it smaller.

    `asked` tells what outputs were called for. With `refers` it says where its original is, within
    the same limit.
    """
    if item.row is None or not item.message.is_tool_result or item.tokens <= limit_tokens:
        return item
    room = limit_tokens - (REFERENCE_TOKENS if refers else 0)
    wanted = asked.get(item.row.seq, "")
    row = shorten_row(item.row, room, counter, asked=wanted, keeps_media=True)
    if refers:
        row = referring(row, counter)
    return item if row.sent_tokens >= item.tokens else from_row(row, item.segment, item.reason)


def elide_item(item: Item, limit_tokens: int, counter: TokenCounter, *, reason: Reason) -> Item:
    """`item` with its words cut in the middle to fit `limit_tokens`, calls untouched.

    Media stay where they leave room for words, else their labels do.
    """
    if item.tokens <= limit_tokens:
        return item
    name = item.row.function_name if item.row else ""
    keeps = leaves_words(item.message, limit_tokens, counter, function_name=name)
    bare = replace_text(item.message, "", keeps_media=keeps)
    room = limit_tokens - count_message(bare, counter, function_name=name)
    said = words_of(item.message) if keeps else item.message.text
    message = replace_text(item.message, elide(said, max(0, room), counter), keeps_media=keeps)
    tokens = count_message(message, counter, function_name=name)
    return replace(item, message=message, tokens=tokens, verdict="compressed", reason=reason)
