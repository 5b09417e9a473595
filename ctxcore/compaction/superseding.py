"""Owns which reads of files say nothing new any more: the file was read again, or changed later.

A second read stands for the first only where it brought the same part, or the whole, and not just
a word that nothing changed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from ctxcore.assembly.history import Counted
from ctxcore.facts.file_uses import arguments_of, file_uses
from ctxcore.messages.blocks import pair_results
from ctxcore.messages.values import ToolCall

LEAST_RATIO = 0.5  # of the first read's size; less is a message such as "unchanged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Superseded:
    """Tool outputs that a later call made old, by sequence number."""

    read_again: frozenset[int] = frozenset()
    changed: frozenset[int] = frozenset()
    """Of whose files one was changed later; most of their lines still hold."""


@dataclass(slots=True)
class _Reads:
    """What was read so far, by file, and which files of each read are not superseded yet."""

    by_file: dict[str, list[tuple[Counted, str]]] = field(default_factory=lambda: defaultdict(list))
    open_files: dict[int, set[str]] = field(default_factory=dict)
    changed: set[int] = field(default_factory=set)

    def add(self, row: Counted, files: set[str], arguments: str, *, is_whole: bool) -> None:
        self.open_files[row.seq] = set(files)
        for file in files:
            for earlier, asked in self.by_file[file]:
                is_same_part = is_whole or asked == arguments
                if is_same_part and row.sent_tokens >= earlier.sent_tokens * LEAST_RATIO:
                    self.open_files[earlier.seq].discard(file)
            self.by_file[file].append((row, arguments))

    def change(self, files: set[str]) -> None:
        self.changed |= {row.seq for file in files for row, _ in self.by_file[file]}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Uses:
    """The files that one call reads and changes."""

    read: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()
    is_whole: bool = False
    """Whether it names one file and nothing else, so that all of it is read."""


@lru_cache(maxsize=4_096)  # a plan is made before every call, of the same messages
def _uses(name: str, text: str) -> _Uses:
    arguments = arguments_of(text)
    uses = list(file_uses(name, arguments, "assistant"))
    read = frozenset(use.key for use in uses if use.kind == "file_read")
    changed = frozenset(use.key for use in uses if use.kind == "file_changed")
    return _Uses(read=read, changed=changed, is_whole=list(arguments.values()) == list(read))


def find_superseded(blocks: Sequence[Sequence[Counted]]) -> Superseded:
    """What later calls in `blocks` made old of the reads in them."""
    reads = _Reads()
    for call, row in _answered(blocks):
        uses = _uses(call.name, call.arguments)
        if uses.changed:
            reads.change({*uses.changed})
        if uses.read:
            reads.add(row, {*uses.read}, call.arguments, is_whole=uses.is_whole)
    return Superseded(
        read_again=frozenset(seq for seq, files in reads.open_files.items() if not files),
        changed=frozenset(reads.changed),
    )


def _answered(blocks: Sequence[Sequence[Counted]]) -> Iterator[tuple[ToolCall, Counted]]:
    for head, *results in blocks:
        calls = head.message.calls
        if len(calls) == len(results) == 1 and results[0].message.answers == calls[0].id:
            yield calls[0], results[0]
        elif calls and results:
            places, _ = pair_results(calls, [row.message for row in results])
            for call, place in zip(calls, places, strict=True):
                if place is not None:
                    yield call, results[place]
