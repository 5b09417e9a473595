"""Owns canonical JSON text: the same value gives the same bytes, and every string survives it.

A lone surrogate and NUL are written as escapes, since databases and UTF-8 refuse them raw.
"""

from __future__ import annotations

import json
import re
from typing import cast

from ctxcore.messages.values import JsonValue

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def to_canonical(value: JsonValue) -> str:
    """`value` as compact JSON with sorted keys, in characters that any database stores."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return _UNSTORABLE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def parse_canonical(text: str) -> JsonValue:
    """The value that `to_canonical` wrote."""
    return cast("JsonValue", json.loads(text))


def printable(text: str) -> str:
    """`text` as tokenizers, indexes, pages and providers accept it: lone surrogates as U+FFFD."""
    if text.isascii():
        return text
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
