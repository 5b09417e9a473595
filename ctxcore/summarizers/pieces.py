"""Owns dividing what is too long for one request: texts into pieces, pieces into groups.

Nothing is left out: the pieces of a text are the whole text, the groups hold every piece.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from ctxcore.text.sentences import sentence_ends
from ctxcore.tokens.counter import TokenCounter


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
