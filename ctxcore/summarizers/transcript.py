"""Renders conversations for summarizing models: one labelled entry per text, call and output.

Further lines of an entry are indented, so that no text of a message can pass for another entry.
Tool outputs are compressed, with a marker in place of what is gone; prose is never cut. Thinking
is left out, media stand as their labels.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from ctxcore.compression.outputs import compress_with
from ctxcore.messages.blocks import BlockTracker
from ctxcore.messages.values import Message
from ctxcore.text.sentences import sentence_ends
from ctxcore.tokens.families import TokenCounter

OUTPUT_TOKENS = 300  # chosen: half as much again as a context keeps, seen here for the last time
ARGUMENT_TOKENS = 200  # chosen: paths and queries whole, the content of a written file not
NO_OUTPUT = "[no output]"
LABEL_CHARS = 64  # of a name or an action; chosen: longer ones are no names

_NOT_IN_LABELS = re.compile(r"[\s:：\[\]]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A text, a tool call or a tool output."""

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
            Entry(
                label=f"{self.label} (part {at} of {len(pieces)})",
                text=piece.replace("\n  ", "\n").strip(),
            )
            for at, piece in enumerate(pieces, start=1)
        ]


def to_entries(
    messages: Sequence[Message],
    *,
    counter: TokenCounter,
    dates: Sequence[datetime | None] = (),
) -> list[Entry]:
    """The entries of `messages`, in order, each with its date where `dates` knows it."""
    entries: list[Entry] = []
    tracker = BlockTracker()
    for at, message in enumerate(messages):
        tracker = tracker.next(message, at)
        time = dates[at] if at < len(dates) else None
        date = f"{time.date().isoformat()} " if time else ""
        for label, text in _labelled_texts(message, tracker, counter):
            entries.append(Entry(label=date + label, text=text))
    return entries


def _labelled_texts(
    message: Message, tracker: BlockTracker, counter: TokenCounter
) -> Iterator[tuple[str, str]]:
    text = message.text.strip()
    if message.is_tool_result:
        output = compress_with(text, max_tokens=OUTPUT_TOKENS, counter=counter).text
        yield f"TOOL{_name(tracker.function_name(message))}", output or NO_OUTPUT
        return
    speaker = "SYSTEM" if message.is_system else message.role.upper()
    if text:
        action = f" [{_plain(message.action)}]" if message.action else ""
        yield f"{speaker}{_name(message.name)}{action}", text
    for call in message.calls:
        arguments = call.arguments.strip()
        arguments = compress_with(arguments, max_tokens=ARGUMENT_TOKENS, counter=counter).text
        yield f"{speaker} calls{_name(call.name)}", arguments or "{}"


def _name(name: str | None) -> str:
    return f" {_plain(name)}" if name else ""


def _plain(label: str) -> str:
    """One word of a limited length without the signs that end a label."""
    return _NOT_IN_LABELS.sub("_", label)[:LABEL_CHARS]


def split_text(text: str, max_tokens: int, counter: TokenCounter) -> list[str]:
    """`text` in pieces within `max_tokens`: at line ends, else sentence ends, else anywhere."""
    units = list(_units(text, max_tokens, counter))
    groups = group_sizes([counter.count(unit) for unit in units], max_tokens)
    pieces = ("".join(units[at] for at in group) for group in groups)
    return [piece for piece in pieces if piece.strip()]


def group_sizes(sizes: Sequence[int], room: int) -> list[range]:
    """Groups of neighbours within `room`, about evenly full; a larger size stands alone."""
    total = sum(sizes)
    even = max(1, -(-total // max(1, -(-total // room))))  # no small last group
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
        for start, end in pairwise(sorted({0, *sentence_ends(line), len(line)})):
            yield from _halves(line[start:end], max_tokens, counter)


def _halves(text: str, max_tokens: int, counter: TokenCounter) -> Iterator[str]:
    if len(text) < 2 or counter.count(text) <= max_tokens:
        yield text
        return
    middle = len(text) // 2
    space = text.find(" ", middle) + 1
    cut = space if 0 < space < len(text) else middle
    yield from _halves(text[:cut], max_tokens, counter)
    yield from _halves(text[cut:], max_tokens, counter)
