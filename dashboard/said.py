"""Owns telling in the page's language what the library, or a stored error, says in English.

The English texts under `said.` are the library's own words with its facts as blanks. They are what
is recognised; what matches none of them is shown as it is, the places and names in it as well. A
text with `.told` behind its key is what people read in its stead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from string import Formatter

from dashboard.settings.allowed import allowed_label
from dashboard.texts import catalogue, has_text, language, t

_AREA = "said."
_TOLD = ".told"
_ABOVE = ": "  # a place before what is wrong there, e.g. `notes.json, line 3: is not JSON`
_FIGURES = frozenset(
    {
        *("line", "column", "char", "number", "length", "last"),
        *("tokens", "count", "needed", "available", "known"),
    }
)
_NESTED = frozenset(("problem", "reason", "source", "place", "part", "changed", "what"))
"""Facts that are words of the library themselves."""


def said(told: str) -> str:
    """What the library says, in the page's language."""
    whole = _by_form(told)
    return next(_after_place(told), told) if whole is None else whole


def _by_form(told: str) -> str | None:
    for key, form in _forms():
        if (found := form.fullmatch(told)) is not None:
            facts = {name: _fact(name, value) for name, value in found.groupdict().items()}
            return t(f"{key}{_TOLD}" if has_text(f"{key}{_TOLD}") else key, **facts)
    return None


def _after_place(told: str) -> Iterator[str]:
    """Where something is wrong, and what; the place may hold colons of its own."""
    for found in re.finditer(re.escape(_ABOVE), told):
        place, problem = told[: found.start()], told[found.end() :]
        if (words := _by_form(problem)) is not None:
            yield t("common.at_place", place=said(place), problem=words)


def _fact(name: str, value: str) -> str:
    if name == "allowed":
        return value if language() == "en" else allowed_label(value)
    return said(value) if name in _NESTED else value


@cache
def _forms() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Every form with its key, the one with most words of its own first."""
    known = catalogue("en").items()
    texts = {key: text for key, text in known if key.startswith(_AREA) and not key.endswith(_TOLD)}
    by_words = sorted(texts.items(), key=lambda item: -_own_words(item[1]))
    return tuple((key, re.compile(_pattern(text), re.DOTALL)) for key, text in by_words)


def _own_words(text: str) -> int:
    return sum(len(literal) for literal, *_ in Formatter().parse(text))


def _pattern(text: str) -> str:
    pattern = ""
    for literal, name, *_ in Formatter().parse(text):
        pattern += re.escape(literal)
        pattern += _blank(name, is_first=not pattern) if name else ""
    return pattern


def _blank(name: str, *, is_first: bool) -> str:
    """What fills a blank; a name that comes first is no place with what is wrong there."""
    if name == "variable":
        return r"(?P<variable>[A-Z][A-Z0-9_]*)"
    if name in _FIGURES:
        return rf"(?P<{name}>[\d,]+)"
    return (
        f"(?P<{name}>(?:(?!{_ABOVE}).)+)" if is_first and name != "problem" else f"(?P<{name}>.+)"
    )
