"""Owns canonical JSON text: the same value gives the same bytes, and every string survives it.

A lone surrogate and NUL are written as escapes, since databases and UTF-8 refuse them raw; the two
halves of a character become the character.
"""

from __future__ import annotations

import json
import re
from typing import cast

from ctxcore.messages.values import JsonValue

_UNSTORABLE = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\x00\ud800-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def to_canonical(value: JsonValue) -> str:
    """`value` as compact JSON with sorted keys, in characters that any database stores."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return _UNSTORABLE.sub(lambda found: _storable(found.group()), text)


def _storable(found: str) -> str:
    """A split pair as the character it is, else the escape of a single character."""
    if len(found) == 2:
        return found.encode("utf-16", "surrogatepass").decode("utf-16")
    return f"\\u{ord(found):04x}"


def parse_canonical(text: str) -> JsonValue:
    """The value that `to_canonical` wrote."""
    return cast("JsonValue", json.loads(text))


def printable_json(value: JsonValue) -> JsonValue:
    """`value` with every text in it printable."""
    match value:
        case str():
            return printable(value)
        case list():
            return [printable_json(inner) for inner in value]
        case dict():
            return {printable(key): printable_json(inner) for key, inner in value.items()}
        case _:
            return value


def printable(text: str) -> str:
    """`text` as tokenizers, indexes, pages and providers accept it: lone surrogates as U+FFFD."""
    if text.isascii():
        return text
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
