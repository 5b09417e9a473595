"""Owns how much a piece of an output is worth keeping, per class of value; never how long it is.

The classes are few on purpose: without any word list retention on real outputs drops by one or
two points, but errors go missing. Tuning word lists to one data set buys nothing elsewhere.
"""

from __future__ import annotations

import re
from typing import Final

from ctxcore.compression.target import terms_of
from ctxcore.messages.values import JsonValue

LONG_TEXT_CHARS: Final = 120  # above this a string is prose, and is shortened before it is dropped

ERROR: Final = 12.0
IDENTIFIER: Final = 10.0
NUMBER: Final = 2.5
SHORT_TEXT: Final = 3.0
LONG_TEXT: Final = 6.0
FLAG: Final = 1.5
NOTHING: Final = 0.2
NOISE_FACTOR: Final = 0.25
REPEATED_FACTOR: Final = 0.4
NAMED_FACTOR: Final = 2.5

_ERROR: Final = re.compile(
    r"(?:\b|_)(?:errors?|exceptions?|fail(?:ed|ure|s)?|fatal|traceback|denied|refused|panic|critical|"
    r"timed?[ _-]?out|unauthori[sz]ed|forbidden|invalid|not found)(?:\b|_)|Error\b|Exception\b",
    re.IGNORECASE,
)
_STATUS_KEY: Final = re.compile(r"(?:^|_)(?:status|state|code|reason|message)$", re.IGNORECASE)
_ID_KEY: Final = re.compile(
    r"(?:^|[_\W])(?:ids?|uuid|key|name|number|sku|code|ref|path)$|[a-z](?:Id|ID|Number|Name)s?$",
    re.IGNORECASE,
)
_ID_VALUE: Final = re.compile(r"#?(?=[\w.@:/-]*\d)[\w.@:/-]{4,64}")
_NOISE_KEY: Final = re.compile(
    r"(?:^|_)(?:etag|href|links?|urls?|avatar|gravatar|thumbnail|icon|image|self|node_id|checksum|"
    r"signature|html|created_at|updated_at)(?:$|_)",
    re.IGNORECASE,
)
_BLOB: Final = re.compile(r"(?:data:[\w/+.-]*;base64,)?[A-Za-z0-9+/_=-]{80,}")


def has_error(text: str) -> bool:
    """Whether `text` speaks of something that went wrong."""
    return bool(_ERROR.search(text))


def is_error(key: str, value: JsonValue) -> bool:
    """Whether this member says that something went wrong: not for `"error": null` or `""`."""
    if isinstance(value, str):
        return bool(value) and (has_error(value) or has_error(key))
    return bool(value) and has_error(key)


def scalar_worth(key: str, value: JsonValue) -> float:
    """What a member with this name and value is worth."""
    if is_error(key, value):
        return ERROR
    worth = _class_worth(key, value)
    if _STATUS_KEY.search(key):
        return worth * 1.5
    return worth * NOISE_FACTOR if _NOISE_KEY.search(key) else worth


def _class_worth(key: str, value: JsonValue) -> float:
    if value is None or value == "":
        return NOTHING
    if isinstance(value, bool):
        return FLAG
    if isinstance(value, str):
        return _text_worth(key, value)
    return IDENTIFIER if _ID_KEY.search(key) else NUMBER


def _text_worth(key: str, text: str) -> float:
    if len(text) > LONG_TEXT_CHARS:
        return NOTHING if _BLOB.match(text) else LONG_TEXT
    if "://" in text:
        return FLAG
    if _ID_VALUE.fullmatch(text) or (_ID_KEY.search(key) and " " not in text):
        return IDENTIFIER
    return SHORT_TEXT


def is_named(text: str, terms: frozenset[str]) -> bool:
    """Whether the query names what `text` says."""
    return bool(terms) and not terms.isdisjoint(terms_of(text))
