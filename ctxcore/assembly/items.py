"""Items, the parts of a context: one for each message, and for each text of this library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from ctxcore.assembly.history import (
    Counted,
    count_once,
    leaves_words,
    media_of,
    note,
    referring,
    replace_text,
    shorten_row,
    unshortened,
    words_of,
)
from ctxcore.assembly.texts import elide, has_words, knowledge_text
from ctxcore.assembly.verdicts import Run, Segment, VerdictKind
from ctxcore.compression.markers import REFERENCE_TOKENS, refers_to_words, with_reference
from ctxcore.messages.canonical import printable_json
from ctxcore.messages.openai import to_openai
from ctxcore.messages.values import JsonObject, Message, text_message
from ctxcore.reasons.codes import VerdictCode
from ctxcore.reasons.values import Reason
from ctxcore.tokens.count import count_message
from ctxcore.tokens.families import TokenCounter

_OWN, _TO_WINDOW = VerdictCode.OWN(), VerdictCode.ELIDED_TO_WINDOW()


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One message of a context; `row` is None for a text of this library."""

    segment: Segment
    message: Message
    tokens: int
    row: Counted | None = None
    verdict: VerdictKind = "kept"
    reason: Reason = _OWN
    is_laid_out: bool = True
    """False for what a repair put in."""
    seq: int = field(init=False, repr=False, compare=False)
    """The place in the history; 0 for a text of this library."""
    plain_text: str = field(init=False, repr=False, compare=False)
    """The words of a message of the history that is nothing else and unchanged; else ""."""
    sound_with: Sequence[Item] | None = field(default=None, init=False, repr=False, compare=False)
    """The results with which it needed no repair."""
    merged: Merged | None = field(default=None, init=False, repr=False, compare=False)
    became: Run | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        row = self.row
        is_unchanged = row is not None and self.message is row.message
        note(self, "seq", row.seq if row else 0)
        note(self, "plain_text", row.plain_text if row and is_unchanged else "")

    @property
    def alone(self) -> Merged:
        """The message of the request that it is by itself."""
        return self.merged or note(self, "merged", Merged(self.message, (self,)))

    @property
    def run(self) -> Run:
        """What became of its message."""
        return self.became or note(self, "became", self._run())

    def _run(self) -> Run:
        assert self.row is not None
        return Run(
            first=self.seq - 1,
            last=self.seq - 1,
            verdict=self.verdict,
            reason=self.reason,
            before_tokens=self.row.tokens,
            after_tokens=self.tokens,
        )

    @property
    def function_name(self) -> str:
        """The function that a tool result answers for; else empty."""
        return self.row.function_name if self.row else ""

    def sized(self, tokens: int) -> Item:
        """The same item of another size."""
        if tokens == self.tokens:
            return self  # most often; a merged meeting has thousands of items
        return Item(  # takes half the time of `replace`
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
    is_sent_as_it_is: bool | None = field(default=None, init=False, repr=False, compare=False)

    def with_reasoning(self, tokens: int) -> Merged:
        """This message with its thinking sent along, which takes `tokens` more."""
        first = replace(self.items[0], tokens=self.items[0].tokens + tokens)
        return Merged(self.message, (first, *self.items[1:]), has_reasoning=True)


def from_row(row: Counted, segment: Segment, reason: Reason) -> Item:
    """The item of a message, with what is shorter and stands for it where there is something."""
    known = cast("Item | None", row.item)
    # A shortened message has a reason of its own.
    if known and known.segment == segment and (row.is_shortened or known.reason is reason):
        return known
    return note(row, "item", _make_item(row, segment, reason))


def _make_item(row: Counted, segment: Segment, reason: Reason) -> Item:
    if not row.is_shortened:
        return Item(segment=segment, message=row.message, tokens=row.tokens, row=row, reason=reason)
    return Item(
        segment=segment,
        message=row.sent,
        tokens=row.sent_tokens,
        row=row,
        verdict="compressed",
        reason=_why_short(row),
    )


def _why_short(row: Counted) -> Reason:
    if row.message.is_tool_result:
        return VerdictCode.OUTPUT_SHORTENED()
    if row.short_calls is not None:
        return VerdictCode.ARGUMENTS_SHORTENED()
    return VerdictCode.TEXT_ELIDED()


def own_item(segment: Segment, message: Message, counter: TokenCounter) -> Item:
    """The item of a text that this library puts in."""
    return Item(segment=segment, message=message, tokens=count_once(message, counter))


def with_message(
    item: Item, message: Message, counter: TokenCounter, function_name: str = ""
) -> Item:
    """`item` with another message, counted anew."""
    tokens = count_message(message, counter, function_name=function_name)
    return replace(item, message=message, tokens=tokens)


def total(items: Iterable[Item]) -> int:
    """The tokens of `items` together."""
    return sum(item.tokens for item in items)


def shorten_output(
    item: Item,
    limit_tokens: int,
    counter: TokenCounter,
    queries: Mapping[int, str],
    *,
    refers: bool,
) -> Item:
    """`item` with its tool output within `limit_tokens`, if that makes it smaller.

    `queries`: what outputs were called for. With `refers` it names its original, within the same
    limit.
    """
    if item.row is None or not item.message.is_tool_result or item.tokens <= limit_tokens:
        return item
    room = limit_tokens - (REFERENCE_TOKENS if refers else 0)
    query = queries.get(item.seq, "")
    row = shorten_row(item.row, room, counter, query=query, keeps_media=True)
    if refers:
        row = referring(row, counter)
    return item if row.sent_tokens >= item.tokens else from_row(row, item.segment, item.reason)


def elide_item(item: Item, limit_tokens: int, counter: TokenCounter, *, reason: Reason) -> Item:
    """`item` with its words cut in the middle to fit `limit_tokens`, calls untouched.

    Media stay where they leave room for words, else their labels do.
    """
    if item.tokens <= limit_tokens:
        return item
    name = item.function_name
    keeps = leaves_words(item.message, limit_tokens, counter, function_name=name)
    room = limit_tokens - _frame_tokens(item, counter, keeps_media=keeps)
    text = words_of(item.message) if keeps else item.message.text
    return _with_text(item, elide(text, max(0, room), counter), counter, reason, keeps_media=keeps)


SHORT_TOKENS = 200  # what any compaction leaves of an output; ADR 0029
_MIDDLE_TOKENS = 48  # chosen: with fewer, a marker in the middle takes a fifth of them
_CUT_ROUNDS = 20  # halving finds a place among a million characters
_LEAST_KNOWLEDGE_TOKENS = 32  # chosen: with fewer, little more than the marker would be left


def cut_words(text: str, max_tokens: int, counter: TokenCounter) -> str:
    """As much of `text` as `max_tokens` hold; at least an ellipsis."""
    if max_tokens >= _MIDDLE_TOKENS:
        return elide(text, max_tokens, counter)
    return begin(text, max_tokens, counter)


def begin(text: str, max_tokens: int, counter: TokenCounter) -> str:
    """The longest beginning of `text` that `max_tokens` hold, with an ellipsis behind it."""
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
    item: Item, limit_tokens: int, counter: TokenCounter, reason: Reason | None = None
) -> Item:
    """`item` with its words cut to `limit_tokens`, calls untouched; by default to the window."""
    if item.tokens <= limit_tokens:
        return item
    reason, room = reason or _TO_WINDOW, limit_tokens - _frame_tokens(item, counter)
    if room >= _MIDDLE_TOKENS:
        return elide_item(item, limit_tokens, counter, reason=reason)
    return _with_text(item, begin(item.message.text, room, counter), counter, reason)


def goal_item(row: Counted, limit_tokens: int, counter: TokenCounter, *, refers: bool) -> Item:
    """The excerpt of the goal within `limit_tokens`; with `refers` it names its original."""
    item, reason = from_row(row, "pinned", VerdictCode.GOAL()), VerdictCode.GOAL()
    if refers and item.tokens > limit_tokens and refers_to_words(limit_tokens):
        return cut_item_named(item, limit_tokens, counter, reason)
    return elide_item(item, limit_tokens, counter, reason=reason)


def cut_item_named(
    item: Item, limit_tokens: int, counter: TokenCounter, reason: Reason | None = None
) -> Item:
    """`item` with its words cut to `limit_tokens`, the reference to its original among them."""
    cut = cut_item(item, limit_tokens - REFERENCE_TOKENS, counter, reason)
    words = words_of(cut.message)
    if cut is item or words.endswith(with_reference("", item.seq)):
        return cut
    text = with_reference(words, item.seq)
    message = replace_text(cut.message, text, keeps_media=True)
    return with_message(cut, message, counter, item.function_name)


def stub_item(item: Item, chars: int, counter: TokenCounter) -> Item:
    """`item` with its first `chars` characters, if that makes it smaller."""
    text = item.message.text
    is_short = len(text) <= chars
    if is_short and not media_of(item.message.content):
        return item
    text = text if is_short else _begun(text, chars)
    shorter = _with_text(item, text, counter, _TO_WINDOW)
    return shorter if shorter.tokens < item.tokens else item


def cut_output(
    item: Item, limit_tokens: int, counter: TokenCounter, queries: Mapping[int, str]
) -> Item:
    """`item` with its tool output within `limit_tokens`, with words of it in any case.

    `queries`: what outputs were called for.
    """
    if item.tokens <= limit_tokens or item.row is None:
        return item
    short = shorten_output(item, limit_tokens, counter, queries, refers=False)
    if short.tokens <= limit_tokens and has_words(short.message.text):
        return short
    original = from_row(unshortened(item.row), item.segment, item.reason)
    return cut_item(original, limit_tokens, counter, VerdictCode.OUTPUT_SHORTENED())


def _with_text(
    item: Item, text: str, counter: TokenCounter, reason: Reason, *, keeps_media: bool = False
) -> Item:
    message = replace_text(item.message, text, keeps_media=keeps_media)
    shorter = with_message(item, message, counter, item.function_name)
    return replace(shorter, verdict="compressed", reason=reason)


def _frame_tokens(item: Item, counter: TokenCounter, *, keeps_media: bool = False) -> int:
    bare = replace_text(item.message, "", keeps_media=keeps_media)
    return count_message(bare, counter, function_name=item.function_name)


def to_dictionary(group: Merged) -> JsonObject:
    """The message that a group of joined items is sent as."""
    items = group.items
    if len(items) == 1 and (words := items[0].plain_text):
        return {"role": group.message.role, "content": words}
    message = to_openai(group.message, with_reasoning=group.has_reasoning)
    if group.is_sent_as_it_is:  # as nearly all are
        return message
    sent: JsonObject = {key: printable_json(value) for key, value in message.items()}
    note(group, "is_sent_as_it_is", sent == message)
    return sent


def count_prefix(merged: Sequence[Merged], prefix_items: int) -> int:
    """How many whole messages the first `prefix_items` items make, those of repairs not counted."""
    seen = 0
    for at, group in enumerate(merged):
        for item in group.items:
            seen += item.is_laid_out
        if seen > prefix_items:
            return at
    return len(merged)


def knowledge_items(
    knowledge: Mapping[str, str], room_tokens: int, counter: TokenCounter
) -> tuple[Item, ...]:
    """The texts of `knowledge` in their order, as many and as much of each as there is room for."""

    def item_of(name: str, text: str) -> Item:
        message = text_message("user", knowledge_text(name, text))
        return own_item("knowledge", message, counter)

    items: list[Item] = []
    for name, text in knowledge.items():
        item = item_of(name, text)
        if item.tokens > room_tokens:
            left = room_tokens - item_of(name, "").tokens - 1
            if left < _LEAST_KNOWLEDGE_TOKENS:
                continue
            item = item_of(name, elide(text, left, counter))
        items.append(item)
        room_tokens -= item.tokens
    return tuple(items)
