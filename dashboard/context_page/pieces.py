"""Owns shortened texts that are pieces of their original, in its order: which stretches stayed.

Pure. Places are characters of the original; a stretch is where it starts and where it stops.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Final, TypeAlias

from ctxcore.compaction.keeping import GAP
from ctxcore.compression.markers import with_reference

Stretch: TypeAlias = tuple[int, int]

_JSON_TOKEN: Final = re.compile(
    r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[^\s\[\]{},:"]++|[\[\]{},:]', re.DOTALL
)
_WORD: Final = re.compile(r"\w")


def pieces_of(original: str, sent: str, seq: int) -> list[Stretch] | None:
    """The stretches of `original` that stand in `sent`; None where it is not made of pieces.

    A reference to message `seq` at its end is no part of it.
    """
    pieces = sent.removesuffix(with_reference("", seq)).split(GAP)
    if len(pieces) == 1:
        return None
    found: list[Stretch] = []
    at = 0
    for piece in filter(None, map(str.strip, pieces)):
        start = original.find(piece, at)
        if start < 0:
            return None
        at = start + len(piece)
        found.append((start, at))
    return found


def lines_of(
    original: str, stayed: Sequence[Stretch], *, is_json: bool
) -> Iterator[tuple[bool, str]]:
    """`original` line by line, JSON one value a line, with whether it is gone.

    A line of which only some stayed is told in parts; marks without a word are never gone.
    """
    for depth, line in _json_lines(original) if is_json else _text_lines(original):
        parts = (
            (_is_gone(original, part, stays=stays), part) for stays, part in _parts(line, stayed)
        )
        for is_gone, run in groupby(parts, key=itemgetter(0)):
            stretches = [part for _, part in run]
            yield is_gone, " " * depth + original[stretches[0][0] : stretches[-1][1]]


def _is_gone(original: str, part: Stretch, *, stays: bool) -> bool:
    return not stays and _WORD.search(original, *part) is not None


def _parts(line: Stretch, stayed: Sequence[Stretch]) -> Iterator[tuple[bool, Stretch]]:
    """A line in parts that stayed and parts that did not, in order."""
    at, stop = line
    for begin, end in stayed[bisect_right(stayed, at, key=itemgetter(1)) :]:
        if begin >= stop:
            break
        if begin > at:
            yield False, (at, begin)
        yield True, (max(begin, at), min(end, stop))
        at = min(end, stop)
    if at < stop or at == line[0]:
        yield False, (at, stop)


def _text_lines(text: str) -> Iterator[tuple[int, Stretch]]:
    """The lines of a text as they are."""
    at = 0
    for line in text.split("\n"):
        yield 0, (at, at + len(line))
        at += len(line) + 1


def _json_lines(text: str) -> Iterator[tuple[int, Stretch]]:
    """JSON one value a line: how deep it stands, and where."""
    depth, start, stop = 0, None, 0
    for token in _JSON_TOKEN.finditer(text):
        mark = token.group()
        if mark in ("]", "}"):
            if start is not None:
                yield depth, (start, stop)
            depth, start = depth - 1, None
        start, stop = token.start() if start is None else start, token.end()
        if mark in ("[", "{", ","):
            yield depth, (start, stop)
            depth, start = depth + (mark != ","), None
    if start is not None:
        yield depth, (start, stop)
