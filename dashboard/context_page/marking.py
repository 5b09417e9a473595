"""Marks an original message line by line as kept or left out of its shortened form.

Pure functions. JSON, also JSON inside a string, is written one value per line, so that each value
can be marked; text keeps its lines. The result is a diff, which a code block colours without
reading anything in it as markup. A stretch is a (start, stop) range of characters of the original.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from operator import itemgetter
from typing import Final, TypeAlias

from ctxcore.compaction.keeping import GAP
from ctxcore.compression.markers import Elision, member_path, with_reference
from ctxcore.compression.structures import Structure, parse_inner, read_structure
from ctxcore.messages.values import JsonValue

MOST_LINES: Final = 1_200  # chosen: a browser draws so many without delay
LINE_CHARS: Final = 300  # chosen: a line wraps a few times at most
_GONE, _STAYS = "- ", "  "

Stretch: TypeAlias = tuple[int, int]
_JSON_TOKEN: Final = re.compile(
    r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[^\s\[\]{},:"]++|[\[\]{},:]', re.DOTALL
)
_WORD: Final = re.compile(r"\w")


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """An original as a diff."""

    text: str
    gone_lines: int
    lines: int
    """The number of all lines; `text` has the first `MOST_LINES`."""


def mark_elided(original: str, elided: Iterable[Elision]) -> Marked:
    """Marks in `original` what `elided` names."""
    parts = tuple(elided)
    structure = _structure(original)
    if structure is None:
        return _marked(_marked_lines(original, parts))
    walked = _Walk(parts).lines(structure.value)
    return _marked(chain(_kept_lines(structure.before), walked, _kept_lines(structure.after)))


def mark_pieces(original: str, stayed: Sequence[Stretch]) -> Marked:
    """Marks everything in `original` except the stretches that `stayed`."""
    return _marked(lines_of(original, stayed, is_json=_structure(original) is not None))


def mark_missing(original: str, sent: str) -> Marked:
    """Marks the lines, or JSON values, of `original` that do not stand literally in `sent`."""
    structure = _structure(original)
    if structure is None:
        lines = original.split("\n")
        return _marked((bool(line.strip()) and line.strip() not in sent, line) for line in lines)
    walk = _Walk(())
    return _marked((_is_missing(line, sent), line) for _, line in walk.lines(structure.value))


def _structure(original: str) -> Structure | None:
    """The JSON object or list in `original`; None if it is text."""
    try:
        structure = read_structure(original)
    except ValueError:
        return None
    return structure if isinstance(structure.value, dict | list) else None


def _is_missing(line: str, sent: str) -> bool:
    """Whether the value on a line is not in `sent`; brackets never are."""
    written = line.strip().removesuffix(",")
    value = written.partition('": ')[2] or written
    return value not in ("{", "}", "[", "]", "{}", "[]") and value.strip('"') not in sent


def _marked(lines: Iterable[tuple[bool, str]]) -> Marked:
    shown: list[str] = []
    gone = count = 0
    for is_gone, line in lines:
        count, gone = count + 1, gone + is_gone
        if count <= MOST_LINES:
            cut = line if len(line) <= LINE_CHARS else f"{line[:LINE_CHARS]}…"
            shown.append((_GONE if is_gone else _STAYS) + cut)
    return Marked(text="\n".join(shown), gone_lines=gone, lines=count)


def _kept_lines(around: str) -> Iterator[tuple[bool, str]]:
    """The lines of text around JSON; they are kept."""
    return ((False, line) for line in around.strip().splitlines())


def _marked_lines(original: str, elided: Iterable[Elision]) -> Iterator[tuple[bool, str]]:
    lines = original.split("\n")
    gone: set[int] = set()
    for part in elided:
        if part.start is None:
            gone |= set(range(len(lines))) if part.unit == "characters" else set()
        elif part.unit == "characters":
            gone.add(part.start)  # the line that was cut
        elif part.stop is not None:
            gone |= set(range(part.start, min(part.stop, len(lines))))
    return ((at in gone, line) for at, line in enumerate(lines))


class _Walk:
    """Writes JSON one value per line; addresses a value by its path and by its column."""

    def __init__(self, elided: Collection[Elision]) -> None:
        self._paths = sorted({part.path for part in elided})
        self._whole = {
            part.path
            for part in elided
            if part.start is None and part.unit not in ("names", "lines")
        }
        self._ranges: dict[str, list[tuple[int, int]]] = {}
        for part in elided:
            if part.start is not None and part.stop is not None and part.unit != "names":
                self._ranges.setdefault(part.path, []).append((part.start, part.stop))

    def lines(self, value: JsonValue) -> Iterator[tuple[bool, str]]:
        """Every line with whether it is gone."""
        paths = self._leading(("",))
        return self._lines(value, paths, "", "", 0, is_gone="" in self._whole)

    def _lines(
        self,
        value: JsonValue,
        paths: tuple[str, ...],
        head: str,
        end: str,
        depth: int,
        *,
        is_gone: bool,
    ) -> Iterator[tuple[bool, str]]:
        pad = " " * depth
        if isinstance(value, str) and (inside := parse_inner(value)) is not None:
            value = inside  # compression parses it too, and its paths point inside
        if not isinstance(value, dict | list) or not value:
            is_cut = isinstance(value, str) and any(path in self._ranges for path in paths)
            yield is_gone or is_cut, f"{pad}{head}{json.dumps(value, ensure_ascii=False)}{end}"
            return
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        yield is_gone, f"{pad}{head}{opening}"
        last = len(value) - 1
        for at, (key, member) in enumerate(_members(value)):
            inner = self._leading(_inner(paths, key, at))
            is_out = (
                is_gone or self._is_out(paths, at) or any(path in self._whole for path in inner)
            )
            name = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
            comma = "," if at < last else ""
            yield from self._lines(member, inner, name, comma, depth + 1, is_gone=is_out)
        yield is_gone, f"{pad}{closing}{end}"

    def _leading(self, paths: Iterable[str]) -> tuple[str, ...]:
        """The paths that lead to something left out."""
        return tuple(path for path in paths if self._leads(path))

    def _leads(self, path: str) -> bool:
        at = bisect_left(self._paths, path)
        return at < len(self._paths) and self._paths[at].startswith(path)

    def _is_out(self, paths: tuple[str, ...], at: int) -> bool:
        ranges = (span for path in paths for span in self._ranges.get(path, ()))
        return any(start <= at < stop for start, stop in ranges)


def _members(
    value: dict[str, JsonValue] | list[JsonValue],
) -> Iterator[tuple[str | None, JsonValue]]:
    if isinstance(value, dict):
        yield from value.items()
    else:
        yield from ((None, item) for item in value)


def _inner(paths: tuple[str, ...], key: str | None, at: int) -> tuple[str, ...]:
    """The paths of a member: its own, and as a field of any record of the collection."""
    own = tuple(f"{path}[{at}]" if key is None else member_path(path, key) for path in paths)
    around = (path.removesuffix("[]") for path in paths)
    as_record = (f"{path}[]" for path in around if "[]" not in path)
    return tuple(dict.fromkeys((*own, *as_record)))


def pieces_of(original: str, sent: str, seq: int) -> list[Stretch] | None:
    """The stretches of `original` that `sent` is made of; None if it is not made of pieces.

    A reference to message `seq` at its end is ignored.
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
    """The lines of `original` (JSON: one value per line), each with whether it is gone.

    A line that stayed in part is split into parts; a part without a word is never gone.
    """
    for depth, line in _json_stretches(original) if is_json else _text_stretches(original):
        parts = (
            (_is_gone(original, part, stays=stays), part) for stays, part in _parts(line, stayed)
        )
        for is_gone, run in groupby(parts, key=itemgetter(0)):
            stretches = [part for _, part in run]
            yield is_gone, " " * depth + original[stretches[0][0] : stretches[-1][1]]


def _is_gone(original: str, part: Stretch, *, stays: bool) -> bool:
    return not stays and _WORD.search(original, *part) is not None


def _parts(line: Stretch, stayed: Sequence[Stretch]) -> Iterator[tuple[bool, Stretch]]:
    """A line split into parts that stayed and parts that did not, in order."""
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


def _text_stretches(text: str) -> Iterator[tuple[int, Stretch]]:
    """Depth 0 and stretch of each line of a text."""
    at = 0
    for line in text.split("\n"):
        yield 0, (at, at + len(line))
        at += len(line) + 1


def _json_stretches(text: str) -> Iterator[tuple[int, Stretch]]:
    """Depth and stretch of each value of a JSON text."""
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
