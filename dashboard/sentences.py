"""Owns telling errors to people: one plain sentence in the page's language.

An error whose kind has a text is told by it, with its facts filled in; of others the library's own
words are told. Where in a file it is, in which line or field, is in both.
"""

from __future__ import annotations

import re

from ctxcore.errors import CompactionRefusedError, ContextError
from dashboard.said import said
from dashboard.settings.allowed import allowed_label
from dashboard.texts import has_text, t

_FIGURE = re.compile(r"\d[\d,]*")


def sentence(error: ContextError) -> str:
    """What went wrong and what to do."""
    for key in _keys(error):
        if has_text(key):
            return t(key, **_facts(error)).rstrip()
    told = said(str(error))
    return told if _begins_with_place(error) else _capitalized(told)


def refusal(told: str | None) -> CompactionRefusedError | None:
    """The refusal by a person that a turn's stored error tells of; None if it tells another."""
    figures = [int(found.replace(",", "")) for found in _FIGURE.findall(told or "")]
    if len(figures) != 2:
        return None
    error = CompactionRefusedError(current_tokens=figures[0], max_tokens=figures[1])
    return error if str(error) == told else None


def _keys(error: ContextError) -> list[str]:
    kind = getattr(error, "kind", None)
    by_kind = [f"common.error.{type(error).__name__}.{kind}"] if isinstance(kind, str) else []
    return [*by_kind, *(f"common.error.{cls.__name__}" for cls in type(error).__mro__)]


def _facts(error: ContextError) -> dict[str, object]:
    return {name: _told(name, value) for name, value in vars(error).items()}


def _told(name: str, value: object) -> object:
    if name == "allowed":
        return allowed_label(str(value))
    if name in ("source", "changed"):
        return "" if value is None else said(str(value))
    return value


def _begins_with_place(error: ContextError) -> bool:
    """Whether its words begin with a name that is written as it is, e.g. of a file."""
    return hasattr(error, "path") or hasattr(error, "place")


def _capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]
