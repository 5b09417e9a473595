"""The histories that contexts are built from, read from the newest message back.

`HistoryView` is implemented over a list here and over a store elsewhere; a context built from
either has the same bytes. Sequence numbers start at 1 and never change; sizes are counted when a
message is appended.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from itertools import accumulate
from typing import Any, Protocol, TypeVar

from ctxcore.assembly.arguments import with_arguments, with_call_references
from ctxcore.assembly.prompts import Changes, PromptChange, Prompts, until
from ctxcore.assembly.records import ShortArguments
from ctxcore.assembly.texts import elide, has_words
from ctxcore.compression.markers import refers_to_words, with_reference
from ctxcore.compression.outputs import compress_with
from ctxcore.compression.own_tools import is_own_tool
from ctxcore.facts.finding import find_facts, find_rules, is_rule_alone
from ctxcore.facts.ledger import Entry, RuleBook, TakenBack
from ctxcore.facts.rule_edits import NO_EDITS, RuleEdits
from ctxcore.facts.speakers import spoken
from ctxcore.facts.values import Fact
from ctxcore.messages.blocks import BlockTracker
from ctxcore.messages.canonical import printable
from ctxcore.messages.openai import only_text
from ctxcore.messages.values import Media, Message, Opaque, Part, Text, ToolCall
from ctxcore.reasons.values import Reason
from ctxcore.recalling.word_places import WordPlaces
from ctxcore.tokens.count import count_message
from ctxcore.tokens.families import TokenCounter

T = TypeVar("T")


def note(value: object, name: str, found: T) -> T:
    """Keeps what was found out in the field `name` of an immutable value; gives it back."""
    object.__setattr__(value, name, found)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A message in its history: its place, its block and its size.

    `short` is the text that stands for a tool output that was too long when it was appended.
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
    short_calls: tuple[ToolCall, ...] | None = None
    """The calls with the shorter arguments that stand for its own."""
    said_at: datetime | None = field(default=None, compare=False)
    """When it was sent, where the history knows."""
    notes: str = field(default="", repr=False, compare=False)
    """What stands for its text in scoring and quoting; empty where that has to be read."""

    damage: Reason | None = field(default=None, compare=False)
    """Why the stored message cannot be read; `message` only says so."""

    item: Any = field(default=None, init=False, repr=False, compare=False)
    """What was last made of it for a context."""
    sound_with: Sequence[Counted] | None = field(
        default=None, init=False, repr=False, compare=False
    )
    """The results with which it needed no repair."""
    words: str | None = field(default=None, init=False, repr=False, compare=False)
    """Its `plain_text`, once that was asked for."""

    @property
    def plain_text(self) -> str:
        """Its words, where it is whole and nothing but words that every provider takes; else "".

        Nearly every message is that, so that most rules need not look at it.
        """
        return note(self, "words", self._plain_text()) if self.words is None else self.words

    def _plain_text(self) -> str:
        message = self.message
        if self.is_shortened or message.role not in ("user", "assistant") or message.name:
            return ""
        text = only_text(message)
        is_said = text and not text.isspace() and message.answers is None
        return text if text and is_said and printable(text) is text else ""

    @property
    def sent_tokens(self) -> int:
        """The size of the message in a context, unless a compaction shortens it further."""
        return self.tokens if self.short_tokens is None else self.short_tokens

    @property
    def is_shortened(self) -> bool:
        """Whether something shorter stands for it."""
        return self.short is not None or self.short_calls is not None

    @property
    def sent(self) -> Message:
        """The message as it stands in a context."""
        message = self.message
        if self.short is not None:
            message = replace_text(message, self.short, keeps_media=self.keeps_media)
        return message if self.short_calls is None else replace(message, calls=self.short_calls)


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Number and size of the messages behind some point."""

    messages: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchors:
    """The messages with a place of their own in a context, by sequence number."""

    system: tuple[int, ...] = ()
    """The system messages in force."""
    goal: int | None = None
    last_user: int | None = None
    pinned: tuple[int, ...] = ()
    excluded: tuple[int, ...] = ()
    """What no context shows: what the caller excluded, `replaced` and `own`."""
    own: tuple[int, ...] = ()
    """Messages that hold only texts of this library, read back into the state."""
    replaced: tuple[int, ...] = ()
    """System messages that a later system prompt took out of force."""
    dismissed: tuple[int, ...] = ()
    """System messages that the caller excluded."""
    changes: tuple[PromptChange, ...] = ()
    """The changes of the system prompt."""

    @property
    def silent(self) -> frozenset[int]:
        """The system messages that no context shows; no count of messages includes them."""
        return frozenset((*self.own, *self.replaced, *self.dismissed))

    @property
    def prompts(self) -> tuple[int, ...]:
        """All system messages, in force or not; none of them is ever folded."""
        return tuple(sorted({*self.system, *self.silent}))


class HistoryView(Protocol):
    """Reads parts of a history; what a call returns is bounded by its arguments."""

    memo: dict[Hashable, HistoryView]
    """The same history seen in other ways, each made once."""

    def count(self) -> int:
        """How many messages the history has."""

    def totals(self, *, after: int = 0) -> Totals:
        """Messages behind `after` and what they take when sent; system messages left out."""

    def messages(self, *, after: int = 0) -> int:
        """How many messages lie behind `after`; system messages left out."""

    def turns(self, *, after: int = 0) -> int:
        """How many user messages lie behind `after`."""

    def tail(self, tokens: int, *, after: int = 0) -> Sequence[Counted]:
        """The newest whole blocks behind `after`, oldest first, until they pass `tokens`.

        The block that passes the limit is the first one given, so at least one block comes back.
        """

    def get(self, seqs: Collection[int]) -> list[Counted]:
        """The messages with these numbers, oldest first."""

    def anchors(self) -> Anchors:
        """Where system messages, goal, last user message and marked messages lie."""

    def rule_edits(self) -> RuleEdits:
        """What people say of the rules that were found; facts are given with these edits."""

    def facts(self) -> Iterable[tuple[int, Sequence[Fact]]]:
        """The facts of each message that has any, in order, with its sequence number.

        With 0: what is known from before the first message.
        """

    def taken_back(self) -> TakenBack:
        """What rules took back, as far as `standing` found it."""

    def standing(self, *, until: int | None = None) -> Sequence[Entry]:
        """The standing instructions that hold, as first given; `until`: at that message.

        No message is read twice, and none that neither gives an instruction nor revokes one.
        """

    def sizes(self, first: int, last: int) -> Sequence[int]:
        """The own size in tokens of each message first … last."""

    def spans_tokens(self, spans: Sequence[tuple[int, int]]) -> Sequence[int]:
        """The own size of the messages first … last of each of `spans` together."""

    def having(
        self, terms: Sequence[Sequence[str]], *, before: int, most: int
    ) -> Sequence[Sequence[int]]:
        """For each term the numbers below `before` of the newest messages that have it, so many.

        A term is the forms of a word, of which a message has at least one among its index words:
        a lower-case word; two Han characters that follow each other; or some words with blanks
        between them, which stand side by side, as `user id` for `user_id`. The newest come first.
        Messages that a store has not put into its index yet are not found.
        """


_LEAST_BESIDE_MEDIA = 24  # tokens of words; ADR 0029
_GREETINGS = frozenset(
    {"hi", "hello", "hey", "yo", "hi there", "hello there", "good morning", "test", "ok", "thanks"}
    | {"你好", "您好", "在吗", "早上好", "晚上好", "嗨", "哈喽", "测试", "谢谢", "好的"}
)


def has_substance(message: Message) -> bool:
    """Whether a user message is a request, more than a greeting or a standing instruction.

    An instruction alone is carried as such, and gone once it is revoked; a request stays.
    """
    text = spoken(message.text).strip().strip("!！.。,，~～?？").lower()
    has_words = message.role == "user" and bool(text) and text not in _GREETINGS
    return has_words and not is_rule_alone(message)


class ListHistory:
    """A history in memory; counts every message once, when it is made.

    A tool output above `oversize_tokens` is shortened, as if it had been appended to a store; the
    short text is made when the message is first read. Messages in `own` hold only texts of this
    library: they are empty in `messages`, and given for their sizes. `inherited` are facts of
    messages before the first, `changes` those of the system prompt, `rule_edits` what people say
    of the rules that are found.
    """

    def __init__(
        self,
        messages: Iterable[Message],
        counter: TokenCounter,
        *,
        pinned: Collection[int] = (),
        excluded: Collection[int] = (),
        oversize_tokens: int | None = None,
        own: Mapping[int, Message] | None = None,
        inherited: Sequence[Fact] = (),
        changes: Changes = (),
        rule_edits: RuleEdits = NO_EDITS,
    ) -> None:
        self.memo: dict[Hashable, HistoryView] = {}
        self._rule_edits = rule_edits
        self._counter = counter
        self._oversize_tokens = oversize_tokens
        self._rows: list[Counted] = []
        tracker = BlockTracker()
        for seq, message in enumerate(messages, start=1):
            tracker = tracker.next(message, seq)
            self._rows.append(count_row(message, seq, tracker, counter))
        for seq, message in (own or {}).items():
            tokens = count_message(message, counter)
            self._rows[seq - 1] = replace(self._rows[seq - 1], tokens=tokens)
        self._cum = [0, *accumulate(row.tokens for row in self._rows)]
        others = [not row.message.is_system for row in self._rows]
        self._counts = [0, *accumulate(others)]
        self._users = [0, *accumulate(row.message.role == "user" for row in self._rows)]
        self._sums = self._bounds()
        self._anchors = _find_anchors(self._rows, pinned, excluded, own or (), changes)
        self._facts = _FoundFacts(self._rows, inherited, rule_edits)
        self._places = WordPlaces([row.message for row in self._rows])

    def shortening(self, over_tokens: int | None) -> ListHistory:
        """The same messages with another limit; facts and words of both are found once."""
        other = copy(self)
        other.memo = {}
        other._oversize_tokens = over_tokens
        other._rows = [unshortened(row) for row in self._rows]
        other._sums = other._bounds()
        return other

    def count(self) -> int:
        return len(self._rows)

    def totals(self, *, after: int = 0) -> Totals:
        tokens = self._sums[-1] - self._sums[after]
        return Totals(messages=self.messages(after=after), tokens=tokens)

    def messages(self, *, after: int = 0) -> int:
        return self._counts[-1] - self._counts[after]

    def turns(self, *, after: int = 0) -> int:
        return self._users[-1] - self._users[after]

    def tail(self, tokens: int, *, after: int = 0) -> Sequence[Counted]:
        start = bisect_left(self._sums, self._sums[-1] - tokens, lo=after)
        start = max(after, min(start, len(self._rows)) - 1)
        if start < len(self._rows):
            start = max(after, self._rows[start].block - 1)
        rows = self.get(range(start + 1, len(self._rows) + 1))
        return [row for row in rows if not row.message.is_system]

    def get(self, seqs: Collection[int]) -> list[Counted]:
        return [self._read(seq) for seq in sorted(seqs)]

    def anchors(self) -> Anchors:
        return self._anchors

    def rule_edits(self) -> RuleEdits:
        return self._rule_edits

    def facts(self) -> Iterable[tuple[int, Sequence[Fact]]]:
        return self._facts.all()

    def taken_back(self) -> TakenBack:
        return self._facts.rules.taken

    def standing(self, *, until: int | None = None) -> Sequence[Entry]:
        return self._facts.standing(len(self._rows) if until is None else until)

    def sizes(self, first: int, last: int) -> Sequence[int]:
        return [row.tokens for row in self._rows[first - 1 : last]]

    def spans_tokens(self, spans: Sequence[tuple[int, int]]) -> Sequence[int]:
        return [self._cum[last] - self._cum[first - 1] for first, last in spans]

    def having(
        self, terms: Sequence[Sequence[str]], *, before: int, most: int
    ) -> Sequence[Sequence[int]]:
        return self._places.having(terms, before=before, most=most)

    def _read(self, seq: int) -> Counted:
        row = self._rows[seq - 1]
        limit = self._oversize_tokens
        if limit is not None and row.short is None and is_oversize(row, limit):
            before = self._users[row.block - 1]
            request = self._rows[bisect_left(self._users, before) - 1].message if before else None
            tracker = BlockTracker(self._rows[row.block - 1].message, row.block, request)
            query = tracker.query(row.message)
            row = self._rows[seq - 1] = shorten_row(row, limit, self._counter, query=query)
        return row

    def _bounds(self) -> list[int]:
        """The most that the first messages take, for each number of them, without system ones."""
        return [0, *accumulate(0 if r.message.is_system else self._bound(r) for r in self._rows)]

    def _bound(self, row: Counted) -> int:
        limit = self._oversize_tokens
        return row.tokens if limit is None or not is_oversize(row, limit) else limit


class _FoundFacts:
    """The facts and rules of a list of messages, each read when they are first asked for."""

    def __init__(
        self, rows: Iterable[Counted], inherited: Sequence[Fact], rule_edits: RuleEdits
    ) -> None:
        self._rows = tuple(rows)
        self._edits = rule_edits
        self._found: list[Sequence[Fact]] = [rule_edits.apply(0, inherited)]
        """By sequence number; with 0, what is known from before the first message."""
        self._read_to = BlockTracker()
        self.rules = RuleBook()
        self.rules.add(0, self._found[0])

    def all(self) -> Iterable[tuple[int, Sequence[Fact]]]:
        """The facts of each message that has any, with its sequence number."""
        for row in self._rows[len(self._found) - 1 :]:
            self._read_to = self._read_to.next(row.message, row.seq)
            call = self._read_to.call(row.message)
            known = None if self._edits else self.rules.said_at(row.seq)
            self._found.append(self._edits.apply(row.seq, facts_of(row, call, known)))
        return ((seq, facts) for seq, facts in enumerate(self._found) if facts)

    def standing(self, until: int) -> Sequence[Entry]:
        """The standing instructions that hold at message `until`, or at the last one."""
        end = min(until, len(self._rows))
        for row in self._rows[self.rules.read_until : end]:
            is_known = row.seq < len(self._found)
            facts = self._found[row.seq] if is_known else find_rules(row.message)
            self.rules.add(row.seq, self._edits.apply(row.seq, facts))
        return self.rules.standing(end)


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
    row: Counted, call: ToolCall | None, known_rules: Sequence[Fact] | None = None
) -> tuple[Fact, ...]:
    """The facts of a message; `call` is the one that a tool result answers.

    `known_rules` are the rules among them, where they are found already.
    """
    return find_facts(
        row.message,
        function_name=row.function_name,
        arguments=call.arguments if call else "",
        known_rules=known_rules,
    )


def is_oversize(row: Counted, limit_tokens: int) -> bool:
    """Whether `row` is a tool output so large that a short text stands for it."""
    return row.message.is_tool_result and row.tokens > limit_tokens and not is_own_answer(row)


def is_own_answer(row: Counted) -> bool:
    """Whether `row` is what the model read again by itself: sized then, never shortened again."""
    return is_own_tool(row.function_name)


def repeats(row: Counted) -> bool:
    """Whether `row` says nothing by itself: it is an answer of our own tools, or a call of them."""
    calls = row.message.calls
    is_asking = calls and not row.message.text and all(is_own_tool(call.name) for call in calls)
    return is_own_answer(row) or bool(is_asking)


def requests_by_seq(rows: Iterable[Counted]) -> dict[int, str]:
    """What each tool output was called for, by sequence number; `rows` are in order."""
    tracker, queries = BlockTracker(), dict[int, str]()
    for row in rows:
        tracker = tracker.next(row.message, row.seq)
        if row.message.is_tool_result:
            queries[row.seq] = tracker.query(row.message)
    return queries


def shorten_row(
    row: Counted,
    limit_tokens: int,
    counter: TokenCounter,
    *,
    query: str,
    keeps_media: bool = False,
) -> Counted:
    """`row` with its output shortened so that the whole message is within `limit_tokens`.

    `query`: what the output was called for, which is kept first. The text stands for all of the
    output; with `keeps_media`, media stay beside it where they leave room for words.
    """
    name = row.function_name
    keeps = keeps_media and leaves_words(row.message, limit_tokens, counter, function_name=name)
    bare = replace_text(row.message, "", keeps_media=keeps)
    room = limit_tokens - count_message(bare, counter, function_name=name)
    text = words_of(row.message) if keeps else row.message.text
    output = compress_with(text, max_tokens=room, counter=counter, query=query)
    short = output.text
    if output.kind != "binary" and not has_words(short) and has_words(text):
        short = elide(text, room, counter) or short  # its head and tail rather than a mere marker
    return with_short(row, short, counter, keeps_media=keeps)


def with_short(
    row: Counted, text: str, counter: TokenCounter, *, keeps_media: bool = False
) -> Counted:
    """`row` with `text` standing for its tool output, or for its words alone."""
    shorter = replace(row, short=text, keeps_media=keeps_media)
    tokens = count_message(shorter.sent, counter, function_name=row.function_name)
    return replace(shorter, short_tokens=tokens)


def with_short_arguments(row: Counted, texts: ShortArguments, counter: TokenCounter) -> Counted:
    """`row` with `texts` standing for the arguments of its calls."""
    shorter = replace(row, short_calls=with_arguments(row.message, texts).calls)
    return replace(shorter, short_tokens=count_message(shorter.sent, counter))


def unshortened(row: Counted) -> Counted:
    """`row` with its own text and calls, where shorter ones stand for them."""
    if not row.is_shortened:
        return row
    return replace(row, short=None, short_tokens=None, keeps_media=False, short_calls=None)


def referring(row: Counted, counter: TokenCounter) -> Counted:
    """`row` with references to its original, if it is shortened: an output, words, or calls."""
    if row.short_calls is not None:
        calls = with_call_references(row.short_calls, row.message.calls, row.seq)
        shorter = replace(row, short_calls=calls)
        return replace(shorter, short_tokens=count_message(shorter.sent, counter))
    if row.short is None or not (row.message.is_tool_result or refers_to_words(row.sent_tokens)):
        return row
    text = with_reference(row.short, row.seq)
    named = replace_text(row.message, text, keeps_media=row.keeps_media)
    tokens = count_once(named, counter, function_name=row.function_name)
    return replace(row, short=text, short_tokens=tokens)


def count_once(message: Message, counter: TokenCounter, *, function_name: str = "") -> int:
    """`count_message` of a message that stands in every context until the next compaction."""
    if not isinstance(counter, Hashable):
        return count_message(message, counter, function_name=function_name)
    return _count_once(message, counter, function_name)


@lru_cache(maxsize=1_024)  # chosen: what some contexts join or make themselves
def _count_once(message: Message, counter: TokenCounter, function_name: str) -> int:
    return count_message(message, counter, function_name=function_name)


def replace_text(message: Message, text: str, *, keeps_media: bool = False) -> Message:
    """`message` with `text` as its content; calls, ids and names stay.

    With `keeps_media`, media and unknown parts stay too, and the text is where words began.
    """
    words: tuple[Part, ...] = (Text(text=text),) if text else ()
    if not keeps_media:
        return replace(message, content=words)
    parts = message.content
    first = next((at for at, part in enumerate(parts) if isinstance(part, Text)), 0)
    before, behind = media_of(parts[:first]), media_of(parts[first:])
    return replace(message, content=(*before, *words, *behind))


def media_of(parts: Iterable[Part]) -> tuple[Media | Opaque, ...]:
    """Those of `parts` that are not words: media, and parts unknown to this library."""
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
    own: Collection[int],
    changes: Changes,
) -> Anchors:
    users = [row for row in rows if row.message.role == "user"]
    system = [row.seq for row in rows if row.message.is_system and row.seq not in own]
    left_out = _whole_blocks(rows, excluded)
    prompts = Prompts.of(system, changes, len(rows), left_out)
    return Anchors(
        system=prompts.in_force,
        goal=next((row.seq for row in users if has_substance(row.message)), None),
        last_user=users[-1].seq if users else None,
        pinned=_whole_blocks(rows, pinned),
        excluded=tuple(sorted({*left_out, *prompts.replaced, *own})),
        own=tuple(sorted(own)),
        replaced=prompts.replaced,
        dismissed=prompts.dismissed,
        changes=until(changes, len(rows)),
    )


def _whole_blocks(rows: Sequence[Counted], seqs: Collection[int]) -> tuple[int, ...]:
    """The messages of every block that one of `seqs` belongs to: a call never loses its result."""
    if not seqs:
        return ()
    blocks = {rows[seq - 1].block for seq in seqs if 0 < seq <= len(rows)}
    return tuple(row.seq for row in rows if row.block in blocks)
