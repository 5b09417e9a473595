"""Owns how much a piece of an output is worth keeping, per class of value; never how long it is.

The classes are few on purpose: without any word list retention on real outputs drops by one or
two points, but errors go missing. Tuning word lists to one data set buys nothing elsewhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ctxcore.compression.target import scalar_tokens
from ctxcore.messages.values import JsonValue
from ctxcore.text.signals import mentions_error

LONG_TEXT_CHARS: Final = 120  # above this a string is prose, and is shortened before it is dropped

ERROR: Final = 8.0  # for each token: what is worth most must not be dropped for being long
MOST_ERROR_TOKENS: Final = 40
IDENTIFIER: Final = 14.0
NUMBER: Final = 2.5
SHORT_TEXT: Final = 3.0
LONG_TEXT: Final = 6.0
FLAG: Final = 0.5
NOTHING: Final = 0.2
NOISE_FACTOR: Final = 0.25
STATUS_FACTOR: Final = 1.5
REPEATED_FACTOR: Final = 0.1

_STATUS_KEY: Final = re.compile(
    r"(?:^|_)(?:status|state|code|reason|message)$|(?:状态|原因|消息|狀態|訊息)$", re.IGNORECASE
)
_ID_KEY: Final = re.compile(
    r"(?:^|[_\W])(?:ids?|uuid|key|name|number|sku|code|ref|path)$|[a-z](?:Id|ID|Number|Name)s?$"
    r"|(?:编号|名称|姓名|名字|单号|号码|账号|代码|標識|标识|編號|名稱|單號|號碼|帳號|代碼)$",
    re.IGNORECASE,
)
_ID_VALUE: Final = re.compile(r"#?(?=[\w.@:/-]*\d)[\w.@:/-]{4,64}")
_NOISE_KEY: Final = re.compile(
    r"(?:^|_)(?:etag|href|links?|urls?|avatar|gravatar|thumbnail|icon|image|self|node_id|checksum|"
    r"signature|html|created_at|updated_at)(?:$|_)",
    re.IGNORECASE,
)
_BLOB: Final = re.compile(r"(?:data:[\w/+.-]*;base64,)?[A-Za-z0-9+/_=-]{80,}")


def is_error(key: str, value: JsonValue) -> bool:
    """Whether this member says that something went wrong: not for `"error": null` or `""`."""
    if isinstance(value, str):
        return bool(value) and (_names(key).an_error or mentions_error(value))
    return bool(value) and _names(key).an_error


@dataclass(frozen=True, slots=True)
class _Naming:
    """What a key says about its value."""

    an_error: bool
    a_status: bool
    an_identifier: bool
    noise: bool


@lru_cache(maxsize=2048)  # records repeat their keys
def _names(key: str) -> _Naming:
    return _Naming(
        an_error=mentions_error(key),
        a_status=bool(_STATUS_KEY.search(key)),
        an_identifier=bool(_ID_KEY.search(key)),
        noise=bool(_NOISE_KEY.search(key)),
    )


def scalar_worth(key: str, value: str | float | bool | None) -> float:
    """What a member with this name and value is worth."""
    if is_error(key, value):
        return ERROR * min(scalar_tokens(value), MOST_ERROR_TOKENS)
    names = _names(key)
    worth = _class_worth(names, value)
    if names.a_status:
        return worth * STATUS_FACTOR
    return worth * NOISE_FACTOR if names.noise else worth


def _class_worth(names: _Naming, value: str | float | bool | None) -> float:
    if value is None or value == "":
        return NOTHING
    if isinstance(value, bool):
        return FLAG
    if isinstance(value, str):
        return _text_worth(names, value)
    return IDENTIFIER if names.an_identifier else NUMBER


def _text_worth(names: _Naming, text: str) -> float:
    if len(text) > LONG_TEXT_CHARS:
        return NOTHING if _BLOB.match(text) else LONG_TEXT
    if "://" in text:
        return FLAG
    if (names.an_identifier and " " not in text) or _ID_VALUE.fullmatch(text):
        return IDENTIFIER
    return SHORT_TEXT
