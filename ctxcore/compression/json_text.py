"""Parses JSON text that a tool returned, and renders it as short as possible.

What is rendered is strict JSON: `NaN`, `Infinity` and numbers beyond a double, which Python reads
and other parsers refuse, become strings, as do integers that Python refuses; a lone surrogate
becomes an escape.
"""

from __future__ import annotations

import json
import math
import re
from typing import Final, cast

from ctxcore.messages.canonical import SURROGATE
from ctxcore.messages.values import JsonObject, JsonValue

MAX_NESTING: Final = 64
"""Chosen: far above any tool's. Deeper JSON is not parsed: Python's parser gives up at a depth that
depends on the caller's own depth, and the same input must give the same bytes everywhere."""

# Created once: `json.dumps` creates an encoder for every value.
_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_MOST_DIGITS: Final = 640  # the lowest limit that Python can be set to
_STARTS: Final = frozenset('{["-0123456789tfnNI')
_STRING: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_NO_BRACKET: Final = re.compile(r"[^\[\]{}]+")


class TooDeepError(ValueError):
    """JSON nested beyond `MAX_NESTING` levels."""


def parse_json(text: str) -> JsonValue:
    """The value that `text` is JSON for; ValueError if it is none, TooDeepError if too deep."""
    if text.lstrip()[:1] not in _STARTS:
        raise ValueError("no JSON text starts like this")
    if _is_too_deep(text):
        raise TooDeepError(f"nested deeper than {MAX_NESTING} levels")
    try:
        return _parsed(text)
    except RecursionError as error:
        raise TooDeepError("nested deeper than the caller's stack allows") from error


def _parsed(text: str) -> JsonValue:
    try:
        value = json.loads(text, parse_constant=str, parse_float=_parse_float)
    except json.JSONDecodeError:
        raise
    except ValueError:  # an integer of more digits than Python reads
        value = json.loads(
            text, parse_constant=str, parse_float=_parse_float, parse_int=_parse_integer
        )
    return cast("JsonValue", value)


def parse_exact(text: str, *, deepest: int = MAX_NESTING) -> JsonValue:
    """The value that `text` is strict JSON for, and all that it says.

    Raises:
        ValueError: it is none, or nested deeper; a key stands twice in an object, of which only the
            last is read; or it holds raw surrogates, two of which would be read as one character
            once they are escaped.
    """
    if text.lstrip()[:1] not in _STARTS or _is_too_deep(text, deepest):
        raise ValueError("neither strict JSON nor within the nesting limit")
    if not text.isascii() and SURROGATE.search(text):
        raise ValueError("raw surrogates cannot be written in strict JSON")
    value = json.loads(
        text, parse_constant=_refuse, parse_float=_parse_finite, object_pairs_hook=_all_members
    )
    return cast("JsonValue", value)


def render_json(value: JsonValue) -> str:
    """`value` as the shortest strict JSON text."""
    if type(value) is int or (type(value) is float and math.isfinite(value)):
        return repr(value)  # as the encoder does, which takes ten times as long to start
    text = _encode(value)
    if text.isascii():
        return text
    return SURROGATE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def join_surrogates(text: str) -> str:
    """`text` with surrogate pairs, e.g. from two escapes, joined to one character."""
    if not SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _parse_integer(literal: str) -> int | str:
    return int(literal) if len(literal) <= _MOST_DIGITS else literal


def _parse_float(literal: str) -> float | str:
    number = float(literal)
    return number if math.isfinite(number) else literal


def _refuse(literal: str) -> float:
    raise ValueError(f"{literal} is no JSON")


def _all_members(pairs: list[tuple[str, JsonValue]]) -> JsonObject:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key stands twice in an object")
    return members


def _parse_finite(literal: str) -> float:
    number = float(literal)
    return number if math.isfinite(number) else _refuse(literal)


def _is_too_deep(text: str, deepest: int = MAX_NESTING) -> bool:
    if text.count("[") + text.count("{") <= deepest:
        return False
    depth = 0
    for bracket in _NO_BRACKET.sub("", _STRING.sub("", text)):
        depth += 1 if bracket in "[{" else -1
        if depth > deepest:
            return True
    return False
