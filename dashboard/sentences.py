"""Owns telling errors to people: one plain sentence in the page's language.

An error whose kind has a text is told by it, with its facts filled in; others speak for themselves.
"""

from __future__ import annotations

from ctxcore.errors import ContextError
from dashboard.texts import has_text, t


def sentence(error: ContextError) -> str:
    """What went wrong and what to do."""
    for key in _keys(error):
        if has_text(key):
            return t(key, **_facts(error))
    return _capitalized(str(error))


def _keys(error: ContextError) -> list[str]:
    kind = getattr(error, "kind", None)
    by_kind = [f"common.error.{type(error).__name__}.{kind}"] if isinstance(kind, str) else []
    return [*by_kind, *(f"common.error.{cls.__name__}" for cls in type(error).__mro__)]


def _facts(error: ContextError) -> dict[str, object]:
    return {name: value for name, value in vars(error).items() if not name.startswith("_")}


def _capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]
