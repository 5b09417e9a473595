"""Owns how a summarizing model reads a conversation: one labelled entry per thing said or done.

Further lines of an entry are indented, so that no text of a message can pass for another entry.
Tool outputs are compressed, with a marker in place of what is gone; talk is never cut. Thinking
is left out, media stand as their labels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from ctxcore.compression.outputs import compress_with
from ctxcore.messages.blocks import BlockTracker
from ctxcore.messages.values import Message
from ctxcore.text.sentences import sentence_ends
from ctxcore.tokens.families import TokenCounter

OUTPUT_TOKENS = 300  # half as much again as a context keeps: seen here for the last time
ARGUMENT_TOKENS = 200  # paths and queries whole, the content of a written file not
NO_OUTPUT = "[no output]"
LABEL_CHARS = 64  # of a name or an action: both are words of the application, not talk

_NOT_IN_LABELS = re.compile(r"[\s:：\[\]]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing said, called or returned."""

    label: str
    text: str

    def render(self) -> str:
        """The label and the text, e.g. `USER [search]: find flights`."""
        return f"{self.label}: " + "\n  ".join(self.text.splitlines())

    def split(self, max_tokens: int, counter: TokenCounter) -> list[Entry]:
        """This entry, or numbered parts of it that each take at most `max_tokens`."""
        if counter.count(self.render()) <= max_tokens:
            return [self]
        indented = "\n  ".join(self.text.splitlines())
        label_tokens = counter.count(f"{self.label} (part 999 of 999): ")
        pieces = split_text(indented, max(1, max_tokens - label_tokens), counter)
        return [
            Entry(label=f"{self.label} (part {at} of {len(pieces)})", text=_outdented(piece))
            for at, piece in enumerate(pieces, start=1)
        ]


def to_entries(
    messages: Sequence[Message],
    *,
    counter: TokenCounter,
    dates: Sequence[datetime | None] = (),
) -> list[Entry]:
    """What `messages` say and do, in order, each with its date where `dates` knows it."""
    entries: list[Entry] = []
    tracker = BlockTracker()
    for at, message in enumerate(messages):
        tracker = tracker.next(message, at)
        said_at = dates[at] if at < len(dates) else None
        date = f"{said_at.date().isoformat()} " if said_at else ""
        entries.extend(
            Entry(label=date + entry.label, text=entry.text)
            for entry in _of_message(message, tracker, counter)
        )
    return entries


def _of_message(message: Message, tracker: BlockTracker, counter: TokenCounter) -> Iterator[Entry]:
    text = message.text.strip()
    if message.is_tool_result:
        name = _named(tracker.function_name(message))
        yield Entry(label=f"TOOL{name}", text=_short(text, OUTPUT_TOKENS, counter) or NO_OUTPUT)
        return
    speaker = "SYSTEM" if message.is_system else message.role.upper()
    if text:
        action = f" [{_plain(message.action)}]" if message.action else ""
        yield Entry(label=f"{speaker}{_named(message.name)}{action}", text=text)
    for call in message.calls:
        arguments = _short(call.arguments.strip(), ARGUMENT_TOKENS, counter)
        yield Entry(label=f"{speaker} calls{_named(call.name)}", text=arguments or "{}")


def _short(text: str, max_tokens: int, counter: TokenCounter) -> str:
    return compress_with(text, max_tokens=max_tokens, counter=counter).text


def _named(name: str | None) -> str:
    return f" {_plain(name)}" if name else ""


def _plain(label: str) -> str:
    """A label that cannot end where it likes: one word, not too long."""
    return _NOT_IN_LABELS.sub("_", label)[:LABEL_CHARS]


def _outdented(text: str) -> str:
    return re.sub(r"\n {2}", "\n", text).strip()


def split_text(text: str, max_tokens: int, counter: TokenCounter) -> list[str]:
    """`text` in pieces within `max_tokens`: at line ends, else sentence ends, else anywhere."""
    units = list(_units(text, max_tokens, counter))
    groups = group_sizes([counter.count(unit) for unit in units], max_tokens)
    pieces = ("".join(units[at] for at in group) for group in groups)
    return [piece for piece in pieces if piece.strip()]


def group_sizes(sizes: Sequence[int], room: int) -> list[range]:
    """Neighbours together within `room`, about evenly full; what is larger stands alone."""
    total = sum(sizes)
    even = max(1, -(-total // max(1, -(-total // room))))  # no last group of a crumb
    groups: list[range] = []
    start = taken = 0
    for at, size in enumerate(sizes):
        if at > start and (taken >= even or taken + size > room):
            groups.append(range(start, at))
            start, taken = at, 0
        taken += size
    return [*groups, range(start, len(sizes))] if sizes else []


def _units(text: str, max_tokens: int, counter: TokenCounter) -> Iterator[str]:
    """The lines of `text`; the sentences of a line that is too long, or pieces of those."""
    for line in text.splitlines(keepends=True):
        if counter.count(line) <= max_tokens:
            yield line
            continue
        for sentence in _between(line, sentence_ends(line)):
            yield from _halves(sentence, max_tokens, counter)


def _between(text: str, ends: Iterable[int]) -> Iterator[str]:
    return (text[start:end] for start, end in pairwise(sorted({0, *ends, len(text)})))


def _halves(text: str, max_tokens: int, counter: TokenCounter) -> Iterator[str]:
    if len(text) < 2 or counter.count(text) <= max_tokens:
        yield text
        return
    middle = len(text) // 2
    space = text.find(" ", middle) + 1
    cut = space if 0 < space < len(text) else middle
    yield from _halves(text[:cut], max_tokens, counter)
    yield from _halves(text[cut:], max_tokens, counter)
