"""Owns how a context reads a history: the newest part within a number of tokens, never all of it.

A list and a store implement `HistoryView` alike, and a context built from either has the same
bytes. Sequence numbers start at 1 and never change; sizes are counted when a message is appended.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from itertools import accumulate
from typing import Protocol

from ctxcore.assembly.texts import elide, says_something
from ctxcore.compression.markers import EXPAND_NAME, with_reference
from ctxcore.compression.outputs import compress_with
from ctxcore.facts.finding import find_facts, find_rules, is_rule_alone
from ctxcore.facts.ledger import Entry, RuleBook
from ctxcore.facts.values import Fact
from ctxcore.messages.blocks import BlockTracker, call_of
from ctxcore.messages.values import Media, Message, Opaque, Part, Text, ToolCall
from ctxcore.tokens.count import count_message
from ctxcore.tokens.families import TokenCounter


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A message in its history: its place, its block and its size.

    `short` is the text that stands for an over-long tool output since it was appended.
    """

    seq: int
    message: Message
    tokens: int
    block: int
    function_name: str = ""
    short: str | None = None
    short_tokens: int | None = None
    keeps_media: bool = False
    """Whether `short` stands for the words alone, beside media and unknown parts as they are."""
    said_at: datetime | None = field(default=None, compare=False)
    """When it was said, where the history knows."""

    @property
    def sent_tokens(self) -> int:
        """What the message takes in a context unless a compaction shortens it further."""
        return self.tokens if self.short_tokens is None else self.short_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Number and size of the messages behind some point."""

    messages: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchors:
    """The messages that a context needs wherever they lie, by sequence number."""

    system: tuple[int, ...] = ()
    goal: int | None = None
    last_user: int | None = None
    pinned: tuple[int, ...] = ()
    excluded: tuple[int, ...] = ()
    """What no context shows: what somebody left out, and `own`."""
    own: tuple[int, ...] = ()
    """Messages that say nothing but texts of this library, read back into the state."""


class HistoryView(Protocol):
    """Reads a history piecewise; every answer is bounded by what was asked, not by its length."""

    memo: dict[Hashable, HistoryView]
    """The same history seen in other ways, each made once."""

    def count(self) -> int:
        """How many messages the history has."""
        ...

    def totals(self, *, after: int = 0) -> Totals:
        """Messages behind `after` and what they take when sent; system messages left out."""
        ...

    def messages(self, *, after: int = 0) -> int:
        """How many messages lie behind `after`; system messages left out."""
        ...

    def turns(self, *, after: int = 0) -> int:
        """How many user messages lie behind `after`."""
        ...

    def tail(self, tokens: int, *, after: int = 0) -> Sequence[Counted]:
        """The newest whole blocks behind `after`, oldest first, until they pass `tokens`.

        The block that passes the limit is the first one given, so at least one block comes back.
        """
        ...

    def get(self, seqs: Collection[int]) -> list[Counted]:
        """The messages with these numbers, oldest first."""
        ...

    def anchors(self) -> Anchors:
        """Where system messages, goal, last user message and marked messages lie."""
        ...

    def facts(self) -> Iterable[tuple[int, Sequence[Fact]]]:
        """What each message says that must not get lost, in order; only those that say any.

        With 0 for a message: what was said before the first.
        """
        ...

    def standing(self, *, until: int | None = None) -> Sequence[Entry]:
        """The standing instructions that hold, as first said; `until`: at that message.

        Nothing is read twice, nor what neither lays down an instruction nor takes one back.
        """
        ...

    def sizes(self, first: int, last: int) -> Sequence[int]:
        """The own size in tokens of each message first … last."""
        ...

    def span_tokens(self, first: int, last: int) -> int:
        """The own size of the messages first … last together."""
        ...


_LEAST_BESIDE_MEDIA = 24  # tokens of words; fewer say less than a label
NOTHING_OWN: Mapping[int, Message] = {}
_GREETINGS = frozenset(
    {"hi", "hello", "hey", "yo", "hi there", "hello there", "good morning", "test", "ok", "thanks"}
    | {"你好", "您好", "在吗", "早上好", "晚上好", "嗨", "哈喽", "测试", "谢谢", "好的"}
)


def has_substance(message: Message) -> bool:
    """Whether a user message says what the user wants, more than a greeting or a standing rule.

    A rule on its own is carried as such, and gone once it is taken back; a request stays.
    """
    text = message.text.strip().strip("!！.。,，~～?？").lower()
    is_said = message.role == "user" and bool(text) and text not in _GREETINGS
    return is_said and not is_rule_alone(message)


class ListHistory:
    """A history in memory; counts every message once, when it is made.

    A tool output above `oversize_tokens` stands for itself shortened, as if it had been appended
    to a store; the short text is made when the message is first read. Of `own` messages nothing is
    shown: they are empty here, and passed as they were for their sizes. `inherited` are facts of
    messages before the first.
    """

    def __init__(
        self,
        messages: Iterable[Message],
        counter: TokenCounter,
        *,
        pinned: Collection[int] = (),
        excluded: Collection[int] = (),
        oversize_tokens: int | None = None,
        own: Mapping[int, Message] = NOTHING_OWN,
        inherited: Sequence[Fact] = (),
    ) -> None:
        self.memo: dict[Hashable, HistoryView] = {}
        self._counter = counter
        self._oversize_tokens = oversize_tokens
        self._rows = list(_count_all(messages, counter))
        for seq, message in own.items():
            tokens = count_message(message, counter)
            self._rows[seq - 1] = replace(self._rows[seq - 1], tokens=tokens)
        self._cum = [0, *accumulate(row.tokens for row in self._rows)]
        talk = [not row.message.is_system for row in self._rows]
        self._talk = [0, *accumulate(talk)]
        users = [row.message.role == "user" for row in self._rows]
        self._users = [0, *accumulate(users)]
        bounds = (self._bound(row) * told for row, told in zip(self._rows, talk, strict=True))
        self._sums = [0, *accumulate(bounds)]
        self._anchors = _find_anchors(self._rows, pinned, excluded, own)
        self._facts: list[Sequence[Fact]] = []
        self._inherited = inherited
        self._rules = RuleBook()
        self._rules.add(0, inherited)

    def count(self) -> int:
        """How many messages the history has."""
        return len(self._rows)

    def totals(self, *, after: int = 0) -> Totals:
        """Messages behind `after` and what they take when sent; system messages left out."""
        tokens = self._sums[-1] - self._sums[after]
        return Totals(messages=self.messages(after=after), tokens=tokens)

    def messages(self, *, after: int = 0) -> int:
        """How many messages lie behind `after`; system messages left out."""
        return self._talk[-1] - self._talk[after]

    def turns(self, *, after: int = 0) -> int:
        """How many user messages lie behind `after`."""
        return self._users[-1] - self._users[after]

    def tail(self, tokens: int, *, after: int = 0) -> Sequence[Counted]:
        """The newest whole blocks behind `after`, oldest first, until they pass `tokens`."""
        start = bisect_left(self._sums, self._sums[-1] - tokens, lo=after)
        start = max(after, min(start, len(self._rows)) - 1)
        if start < len(self._rows):
            start = max(after, self._rows[start].block - 1)
        if self._oversize_tokens is None:
            return [row for row in self._rows[start:] if not row.message.is_system]
        seqs = range(start + 1, len(self._rows) + 1)
        return [row for row in self.get(seqs) if not row.message.is_system]

    def get(self, seqs: Collection[int]) -> list[Counted]:
        """The messages with these numbers, oldest first."""
        return [self._read(seq) for seq in sorted(seqs)]

    def anchors(self) -> Anchors:
        """Where system messages, goal, last user message and marked messages lie."""
        return self._anchors

    def facts(self) -> Iterable[tuple[int, Sequence[Fact]]]:
        """What each message says that must not get lost, in order; only those that say any."""
        for row in self._rows[len(self._facts) :]:
            self._facts.append(facts_of(row, self._calls(row), self._rules.said_at(row.seq)))
        return ((seq, facts) for seq, facts in enumerate([self._inherited, *self._facts]) if facts)

    def standing(self, *, until: int | None = None) -> Sequence[Entry]:
        """The standing instructions that hold, as first said."""
        end = len(self._rows) if until is None else min(until, len(self._rows))
        for row in self._rows[self._rules.read_until : end]:
            self._rules.add(row.seq, self._rules_of(row))
        return self._rules.standing(end)

    def _rules_of(self, row: Counted) -> Sequence[Fact]:
        """What `row` says of rules: all its facts where those are found already."""
        is_found = row.seq <= len(self._facts)
        return self._facts[row.seq - 1] if is_found else find_rules(row.message)

    def _calls(self, row: Counted) -> Sequence[ToolCall]:
        """The calls that a tool result may answer."""
        return self._rows[row.block - 1].message.calls if row.message.is_tool_result else ()

    def sizes(self, first: int, last: int) -> Sequence[int]:
        """The own size in tokens of each message first … last."""
        return [row.tokens for row in self._rows[first - 1 : last]]

    def span_tokens(self, first: int, last: int) -> int:
        """The own size of the messages first … last together."""
        return self._cum[last] - self._cum[first - 1]

    def _read(self, seq: int) -> Counted:
        row = self._rows[seq - 1]
        limit = self._oversize_tokens
        if limit is not None and row.short is None and is_oversize(row, limit):
            asked = self._tracker(row).asked(row.message)
            row = self._rows[seq - 1] = shorten_row(row, limit, self._counter, asked=asked)
        return row

    def _tracker(self, row: Counted) -> BlockTracker:
        """What was known of blocks when `row` was said."""
        before = self._users[row.block - 1]
        request = self._rows[bisect_left(self._users, before) - 1].message if before else None
        return BlockTracker(self._rows[row.block - 1].message, row.block, request)

    def _bound(self, row: Counted) -> int:
        limit = self._oversize_tokens
        return (
            min(row.tokens, limit) if limit is not None and is_oversize(row, limit) else row.tokens
        )


def _count_all(messages: Iterable[Message], counter: TokenCounter) -> Iterable[Counted]:
    tracker = BlockTracker()
    for seq, message in enumerate(messages, start=1):
        tracker = tracker.next(message, seq)
        yield count_row(message, seq, tracker, counter)


def count_row(message: Message, seq: int, tracker: BlockTracker, counter: TokenCounter) -> Counted:
    """`message` with its place and size; `tracker` is the one after it."""
    name = tracker.function_name(message) if message.is_tool_result else ""
    return Counted(
        seq=seq,
        message=message,
        tokens=count_message(message, counter, function_name=name),
        block=tracker.head_seq,
        function_name=name,
    )


def facts_of(
    row: Counted, calls: Sequence[ToolCall], known_rules: Sequence[Fact] | None = None
) -> tuple[Fact, ...]:
    """The facts of a message; `calls` are those that a tool result may answer.

    `known_rules` are the rules among them, where they are found already.
    """
    call = call_of(row.message, calls)
    asked = call.arguments if call else ""
    return find_facts(
        row.message, function_name=row.function_name, arguments=asked, known_rules=known_rules
    )


def is_oversize(row: Counted, limit_tokens: int) -> bool:
    """Whether `row` is a tool output so large that it stands for itself shortened."""
    return row.message.is_tool_result and row.tokens > limit_tokens and not is_expansion(row)


def is_expansion(row: Counted) -> bool:
    """Whether `row` brought an original back: within its own budget, and never shortened again."""
    return row.function_name == EXPAND_NAME


def asked_for(rows: Iterable[Counted]) -> dict[int, str]:
    """What each tool output was called for, by sequence number; `rows` follow each other."""
    tracker, asked = BlockTracker(), dict[int, str]()
    for row in rows:
        tracker = tracker.next(row.message, row.seq)
        if row.message.is_tool_result:
            asked[row.seq] = tracker.asked(row.message)
    return asked


def shorten_row(
    row: Counted,
    limit_tokens: int,
    counter: TokenCounter,
    *,
    asked: str,
    keeps_media: bool = False,
) -> Counted:
    """`row` with a text of its output that keeps the whole message within `limit_tokens`.

    What the output was `asked` for stays longest. The text stands for all of it; with `keeps_media`
    media stay beside it where they leave room for words.
    """
    name = row.function_name
    keeps = keeps_media and leaves_words(row.message, limit_tokens, counter, function_name=name)
    bare = replace_text(row.message, "", keeps_media=keeps)
    room = limit_tokens - count_message(bare, counter, function_name=name)
    said = words_of(row.message) if keeps else row.message.text
    text = _shorter(said, room, counter, asked)
    return with_short(row, text, counter, keeps_media=keeps)


def _shorter(text: str, max_tokens: int, counter: TokenCounter, asked: str) -> str:
    """`text` compressed; its head and tail where nothing of it but a marker would stay."""
    output = compress_with(text, max_tokens=max_tokens, counter=counter, query=asked)
    if output.kind == "binary" or says_something(output.text) or not says_something(text):
        return output.text
    return elide(text, max_tokens, counter) or output.text


def with_short(
    row: Counted, text: str, counter: TokenCounter, *, keeps_media: bool = False
) -> Counted:
    """`row` with `text` standing for its tool output, or for its words alone."""
    short = replace_text(row.message, text, keeps_media=keeps_media)
    tokens = count_message(short, counter, function_name=row.function_name)
    return replace(row, short=text, short_tokens=tokens, keeps_media=keeps_media)


def whole(row: Counted) -> Counted:
    """`row` as it was said, with nothing standing for it."""
    if row.short is None:
        return row
    return replace(row, short=None, short_tokens=None, keeps_media=False)


def referring(row: Counted, counter: TokenCounter) -> Counted:
    """`row` saying where its original is, if it is a tool output that stands shortened."""
    if row.short is None or not row.message.is_tool_result:
        return row
    text = with_reference(row.short, row.seq)
    if not isinstance(counter, Hashable):
        return with_short(row, text, counter, keeps_media=row.keeps_media)
    named = replace_text(row.message, text, keeps_media=row.keeps_media)
    tokens = _count_once(named, row.function_name, counter)
    return replace(row, short=text, short_tokens=tokens)


@lru_cache(maxsize=256)  # the same texts are in every context until they are folded
def _count_once(message: Message, function_name: str, counter: TokenCounter) -> int:
    return count_message(message, counter, function_name=function_name)


def replace_text(message: Message, text: str, *, keeps_media: bool = False) -> Message:
    """`message` saying `text` instead; calls, ids and names stay.

    With `keeps_media`, media and unknown parts stay too, and the text is where words began.
    """
    said: tuple[Part, ...] = (Text(text=text),) if text else ()
    if not keeps_media:
        return replace(message, content=said)
    parts = message.content
    first = next((at for at, part in enumerate(parts) if isinstance(part, Text)), 0)
    before, behind = media_of(parts[:first]), media_of(parts[first:])
    return replace(message, content=(*before, *said, *behind))


def media_of(parts: Iterable[Part]) -> tuple[Media | Opaque, ...]:
    """Those of `parts` that are no words: media, and what this library does not know."""
    return tuple(part for part in parts if isinstance(part, (Media, Opaque)))


def words_of(message: Message) -> str:
    """The text of `message` without the labels of its media."""
    words = tuple(part for part in message.content if not isinstance(part, (Media, Opaque)))
    return replace(message, content=words).text


def leaves_words(
    message: Message, limit_tokens: int, counter: TokenCounter, *, function_name: str
) -> bool:
    """Whether `message` has media that leave room for words within `limit_tokens`."""
    if not media_of(message.content):
        return False
    bare = replace_text(message, "", keeps_media=True)
    taken = count_message(bare, counter, function_name=function_name)
    return taken + _LEAST_BESIDE_MEDIA <= limit_tokens


def _find_anchors(
    rows: Sequence[Counted],
    pinned: Collection[int],
    excluded: Collection[int],
    own: Collection[int] = (),
) -> Anchors:
    users = [row for row in rows if row.message.role == "user"]
    goal = next((row for row in users if has_substance(row.message)), None)
    return Anchors(
        system=tuple(row.seq for row in rows if row.message.is_system and row.seq not in own),
        goal=goal.seq if goal else None,
        last_user=users[-1].seq if users else None,
        pinned=_whole_blocks(rows, pinned),
        excluded=tuple(sorted({*_whole_blocks(rows, excluded), *own})),
        own=tuple(sorted(own)),
    )


def _whole_blocks(rows: Sequence[Counted], seqs: Collection[int]) -> tuple[int, ...]:
    """The messages of every block that one of `seqs` belongs to: a call never loses its result."""
    if not seqs:
        return ()
    blocks = {rows[seq - 1].block for seq in seqs if 0 < seq <= len(rows)}
    return tuple(row.seq for row in rows if row.block in blocks)
