"""The marks of what is gone: elisions with their places, and references to whole outputs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from ctxcore.compression.json_text import render_json

ELISION: Final = "…"
MOST_NAMED: Final = 40  # chosen: parts of one container that are listed by name; more are counted

Unit = Literal["rows", "columns", "items", "keys", "lines", "characters", "tags", "names"]

_PLAIN_KEY: Final = re.compile(r"[^\W\d][\w-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Elision:
    """One part of an output that was left out."""

    unit: Unit
    count: int
    path: str = ""
    """Where, as `extract` takes it, e.g. `items[3].name`; empty for the output as a whole."""
    start: int | None = None
    """The first row, item, line or character that is gone, counted from 0."""
    stop: int | None = None
    """The first one after it that is not."""


Elided = tuple[Elision, ...]


def amount(count: int, unit: str) -> str:
    """`count` with its unit: "1 line", "12 lines", "12,345 characters"."""
    return f"{count:,} {unit if count != 1 else unit.removesuffix('s')}"


def totals(elided: Iterable[Elision]) -> dict[Unit, int]:
    """How much is gone of each unit, units sorted by name."""
    sums: dict[Unit, int] = {}
    for part in elided:
        sums[part.unit] = sums.get(part.unit, 0) + part.count
    return dict(sorted(sums.items()))


def member_path(path: str, key: str) -> str:
    """The path of a member of the object at `path`."""
    if not _PLAIN_KEY.fullmatch(key):
        return f"{path}[{render_json(key)}]"
    return f"{path}.{key}" if path else key


def gone_ranges(
    unit: Unit, count: int, kept: Sequence[int], *, path: str = ""
) -> Iterator[Elision]:
    """The ranges that are gone of `count` parts, of which those at the places `kept` stay."""
    start = 0
    for at in (*kept, count):
        if at > start:
            yield Elision(unit=unit, count=at - start, path=path, start=start, stop=at)
        start = at + 1


REFERENCE_TOKENS: Final = 12  # that a reference takes at most, up to m999999
_REFERS_FROM_TOKENS: Final = 60  # ADR 0042: below, a reference would take half of the words
LEAST_TOKENS: Final = 40  # below, no budget of a compression holds

_REFERENCE: Final = re.compile(rf"\s*\[?(?:{ELISION}?\s*whole:\s*)?m?(\d{{1,15}})\]?\s*")


def refers_to_words(tokens: int) -> bool:
    """Whether words that are cut to so many tokens name their original."""
    return tokens >= _REFERS_FROM_TOKENS


def reference(seq: int) -> str:
    """The reference to message `seq`, counted from 1."""
    return f"m{seq}"


def parse_reference(ref: str) -> int | None:
    """The message that `ref` refers to; None if it is no reference."""
    found = _REFERENCE.fullmatch(ref)
    return int(found[1]) if found else None


@lru_cache(maxsize=2048)  # the same texts are in every context until they are folded
def with_reference(text: str, seq: int) -> str:
    """A shortened output with a reference to its original; JSON stays JSON."""
    label, shown = f"{ELISION} whole", text.rstrip()
    try:
        is_filled_json = shown[:1] in ("{", "[") and bool(json.loads(shown))
    except (ValueError, RecursionError):
        is_filled_json = False
    if not is_filled_json:
        return f"{text}\n[{label}: {reference(seq)}]"
    if shown[0] == "{":
        return f'{shown[:-1]},"{label}":"{reference(seq)}"}}'
    return f'{shown[:-1]},"{label}: {reference(seq)}"]'
