"""The salience of the scalars in JSON, by their kind and the names of their members."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from ctxcore.compression.target import scalar_tokens
from ctxcore.messages.values import JsonValue
from ctxcore.text.signals import mentions_error

LONG_TEXT_CHARS: Final = 120  # chosen: a longer string is prose, which is shortened first

# Chosen on one half of recorded conversations and checked on the other: ADR 0021.
ERROR: Final = 8.0  # for each token: the most salient must not be dropped for being long
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


@lru_cache(maxsize=2048)  # records repeat their keys
def _key_traits(key: str) -> tuple[bool, bool, float]:
    """Whether a key names an error, or an identifier, and the factor for its value's salience."""
    factor = NOISE_FACTOR if _NOISE_KEY.search(key) else 1.0
    if _STATUS_KEY.search(key):
        factor = STATUS_FACTOR
    return mentions_error(key), bool(_ID_KEY.search(key)), factor


def is_identifier_key(key: str) -> bool:
    """Whether a member of this name holds an identifier."""
    return _key_traits(key)[1]


def scalar_salience(key: str, value: str | float | bool | None) -> float:
    """The salience of a member with this name and value."""
    if is_error(key, value):
        return ERROR * min(scalar_tokens(value), MOST_ERROR_TOKENS)
    _, is_identifier, factor = _key_traits(key)
    return factor * _value_salience(value, is_identifier=is_identifier)


def is_error(key: str, value: JsonValue) -> bool:
    """Whether this member reports an error; `"error": null` and `""` do not."""
    names_error, _, _ = _key_traits(key)
    return bool(value) and (names_error or (isinstance(value, str) and mentions_error(value)))


def _value_salience(value: str | float | bool | None, *, is_identifier: bool) -> float:
    if value is None or value == "":
        return NOTHING
    if isinstance(value, bool):
        return FLAG
    if not isinstance(value, str):
        return IDENTIFIER if is_identifier else NUMBER
    if len(value) > LONG_TEXT_CHARS:
        return NOTHING if _BLOB.match(value) else LONG_TEXT
    if "://" in value:
        return FLAG
    if (is_identifier and " " not in value) or _ID_VALUE.fullmatch(value):
        return IDENTIFIER
    return SHORT_TEXT
