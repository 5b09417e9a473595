"""Owns marking an original line by line: what stands in its shortened form, and what was left out.

Pure. JSON, that inside a string too, is written one value a line, so that each can be marked; text
stays as it is. A marked text is a diff, whose colours a code block draws without anything in it
being read as markup.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from ctxcore.compression.markers import Elision, member_path
from ctxcore.compression.structures import Structure, parse_inner, read_structure
from ctxcore.messages.values import JsonValue
from dashboard.context_page.pieces import Stretch, lines_of

MOST_LINES: Final = 1_200
LINE_CHARS: Final = 300
_GONE, _STAYS = "- ", "  "


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """An original as a diff."""

    text: str
    gone_lines: int
    lines: int
    """All there are; `text` holds the first `MOST_LINES` of them."""


def mark_elided(original: str, elided: Iterable[Elision]) -> Marked:
    """`original` with what `elided` names marked as gone."""
    parts = tuple(elided)
    structure = _structure(original)
    if structure is None:
        return _marked(_text_lines(original, parts))
    walked = _Walk(parts).lines(structure.value)
    return _marked(chain(_words(structure.before), walked, _words(structure.after)))


def mark_pieces(original: str, stayed: Sequence[Stretch]) -> Marked:
    """`original` with all marked as gone but the stretches that `stayed`."""
    return _marked(lines_of(original, stayed, is_json=_structure(original) is not None))


def mark_missing(original: str, sent: str) -> Marked:
    """`original` with the lines, or JSON values, marked that do not stand literally in `sent`."""
    structure = _structure(original)
    if structure is None:
        lines = original.split("\n")
        return _marked((bool(line.strip()) and line.strip() not in sent, line) for line in lines)
    walk = _Walk(())
    return _marked((_is_missing(line, sent), line) for _, line in walk.lines(structure.value))


def _structure(original: str) -> Structure | None:
    """The object or list that `original` stands for; None if it is text."""
    try:
        structure = read_structure(original)
    except ValueError:
        return None
    return structure if isinstance(structure.value, dict | list) else None


def _is_missing(line: str, sent: str) -> bool:
    """Whether the value on a line is not in `sent`; brackets never are missing."""
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


def _words(around: str) -> Iterator[tuple[bool, str]]:
    """What is said around JSON; it stays."""
    return ((False, line) for line in around.strip().splitlines())


def _text_lines(original: str, elided: Iterable[Elision]) -> Iterator[tuple[bool, str]]:
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
    """Writes JSON one value a line; knows every place by its path and by that of its column."""

    def __init__(self, elided: Iterable[Elision]) -> None:
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
        return self._lines(value, ("",), "", "", 0, is_gone="" in self._whole)

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
            value = inside  # compression takes it apart too, and its places are told
        if not isinstance(value, dict | list) or not value:
            is_cut = isinstance(value, str) and any(path in self._ranges for path in paths)
            yield is_gone or is_cut, f"{pad}{head}{json.dumps(value, ensure_ascii=False)}{end}"
            return
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        yield is_gone, f"{pad}{head}{opening}"
        last = len(value) - 1
        for at, (key, member) in enumerate(_members(value)):
            inner = _inner(paths, key, at)
            is_out = (
                is_gone or self._is_out(paths, at) or any(path in self._whole for path in inner)
            )
            name = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
            comma = "," if at < last else ""
            yield from self._lines(member, inner, name, comma, depth + 1, is_gone=is_out)
        yield is_gone, f"{pad}{closing}{end}"

    def _is_out(self, paths: tuple[str, ...], at: int) -> bool:
        ranges = (one for path in paths for one in self._ranges.get(path, ()))
        return any(start <= at < stop for start, stop in ranges)


def _members(
    value: dict[str, JsonValue] | list[JsonValue],
) -> Iterator[tuple[str | None, JsonValue]]:
    if isinstance(value, dict):
        yield from value.items()
    else:
        yield from ((None, item) for item in value)


def _inner(paths: tuple[str, ...], key: str | None, at: int) -> tuple[str, ...]:
    """The paths of a member: its own, and as the member of any record of the collection."""
    own = tuple(f"{path}[{at}]" if key is None else member_path(path, key) for path in paths)
    around = (path.removesuffix("[]") for path in paths)
    as_record = (f"{path}[]" for path in around if "[]" not in path)
    return tuple(dict.fromkeys((*own, *as_record)))
