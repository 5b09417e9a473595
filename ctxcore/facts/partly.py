"""Owns saying a part of carried facts: whole lines, standing instructions before all others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ctxcore.facts.carrying import HEADINGS, MORE, PROTECTED
from ctxcore.text.languages import Language
from ctxcore.tokens.counter import TokenCounter

_RULES: Final = {f"{titles[kind]}:" for titles in HEADINGS.values() for kind in PROTECTED}
_GONE: Final = re.compile(
    "|".join(re.escape(MORE[one]).replace(r"\{count\}", r"(\d+)") for one in MORE)
)


@dataclass(frozen=True, slots=True)
class _BlockLine:
    place: int
    heading: str
    section: int
    text: str

    @property
    def is_rule(self) -> bool:
        return self.heading in _RULES


def rules_of(text: str) -> str:
    """The standing instructions in a text of facts, with their headings."""
    lines, _ = _read(text)
    return _join([line for line in lines if line.is_rule], "")


def say_partly(text: str, max_tokens: int, counter: TokenCounter, language: Language) -> str:
    """As many lines of `text`, the facts of a record, as fit; the rest is told as a count.

    Standing instructions are taken first, all else in its order. Empty where no line fits.
    """
    if counter.count(text) <= max_tokens:
        return text
    lines, gone = _read(text)
    ranked = sorted(lines, key=lambda line: (not line.is_rule, line.place))
    chosen = _chosen_lines(
        ranked, max_tokens - counter.count(_more(gone + len(lines), language)), counter
    )
    while chosen:
        said = sorted(chosen, key=lambda line: line.place)
        shorter = _join(said, _more(gone + len(lines) - len(said), language))
        if counter.count(shorter) <= max_tokens:
            return shorter
        chosen = chosen[:-1]
    return ""


def _read(text: str) -> tuple[list[_BlockLine], int]:
    """The lines under their headings, and how many are told to be left out already."""
    lines, gone, heading, section = list[_BlockLine](), 0, "", 0
    for place, line in enumerate(text.split("\n")):
        left_out = _GONE.fullmatch(line)
        if left_out is not None:
            gone += int(next(count for count in left_out.groups() if count))
        elif line.endswith((":", "：")) and not line.startswith("- "):
            heading, section = line, section + 1
        else:
            lines.append(_BlockLine(place, heading, section, line))
    return lines, gone


def _chosen_lines(
    ranked: Iterable[_BlockLine], room: int, counter: TokenCounter
) -> list[_BlockLine]:
    chosen, headed = list[_BlockLine](), set[int]()
    for line in ranked:
        new = line.heading and line.section not in headed
        tokens = counter.count(f"{line.heading}\n{line.text}\n" if new else f"{line.text}\n")
        if tokens <= room:
            chosen.append(line)
            headed.add(line.section)
            room -= tokens
    return chosen


def _join(lines: Sequence[_BlockLine], more: str) -> str:
    said, section = list[str](), 0
    for line in lines:
        if line.section != section and line.heading:
            said.append(line.heading)
        section = line.section
        said.append(line.text)
    return "\n".join([*said, more] if more and said else said)


def _more(count: int, language: Language) -> str:
    return MORE[language].format(count=count) if count else ""
