"""Owns how values of others are facts: as they are, or in short words where they are no fact."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from ctxcore.reasons.values import Code, Fact, stated

SHOWN_CHARS: Final = 60
_KEYS_LISTED: Final = 6


class QuoteCode(Code):
    """How a text quotes a value, and several of them."""

    VALUE = "quote.value", "{value!r}"
    OF_TYPE = "quote.of_type", "a value of type {kind}"
    MORE = "quote.more", "…"
    NONE = "quote.none", "none"
    AND = "quote.and", "{one} and {other}"
    OR = "quote.or", "{one} or {other}"
    AND_MORE = "quote.and_more", "{names} and {count:,} more"


def raw_fact(value: object) -> Fact:
    """`value` as the fact that `{value!r}` shows as `repr(value)`, however long."""
    return value if _is_fact(value) else stated(repr(value))  # type: ignore[return-value]


def quoted(value: object) -> Fact:
    """`value` as the fact that `{value!r}` shows in a few characters, whatever it is."""
    if value is not None and not isinstance(value, (str, int, float)):
        return QuoteCode.OF_TYPE(kind=type(value).__name__)
    text = repr(value)
    return value if len(text) <= SHOWN_CHARS else stated(f"{text[:SHOWN_CHARS]}…")


def quoted_keys(value: Mapping[str, object]) -> Fact:
    """The first keys of an object, quoted."""
    if not value:
        return QuoteCode.NONE()
    keys = tuple(QuoteCode.VALUE(value=quoted(key)) for key in list(value)[:_KEYS_LISTED])
    return (*keys, QuoteCode.MORE()) if len(value) > len(keys) else keys


def all_of(names: Iterable[Fact]) -> Fact:
    """Names with `and` between them."""
    return _paired(QuoteCode.AND, tuple(names))


def any_of(names: Iterable[Fact]) -> Fact:
    """Names with `or` between them."""
    return _paired(QuoteCode.OR, tuple(names))


def _paired(code: QuoteCode, names: tuple[Fact, ...]) -> Fact:
    """Halves with `code` between them, so that many names are not nested deeply."""
    if len(names) < 2:
        return names[0] if names else QuoteCode.NONE()
    half = (len(names) + 1) // 2
    return code(one=_paired(code, names[:half]), other=_paired(code, names[half:]))


def _is_fact(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_fact, value))
    return value is None or isinstance(value, (str, int, float))
