"""The salience of JSON members, and the records of a collection that stand out.

Records stand out that the query names, that report an error, or that differ from the others.
They are lifted out of their table as whole objects, so that they keep all their members while the
other rows lose columns. Only records near the best match count, however many may be lifted.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Final

from ctxcore.compression.json_text import render_json
from ctxcore.compression.target import scalar_tokens, shared_by_line
from ctxcore.messages.values import JsonValue
from ctxcore.text.joined_lines import JoinedLines
from ctxcore.text.signals import mentions_error, suspect_lines

LEAST_RECORDS: Final = 6  # chosen: fewer records fit or shrink well enough without a focus
CLIFF: Final = 0.7  # chosen: of the best match; below it a record is not named by the query
GREATEST_SHARE: Final = 6  # chosen: at most every sixth record stands out, else none does
MOST_RECORDS: Final = 12  # chosen: of those that stand out in one way
FOCUS_FACTOR: Final = 8.0  # chosen: the salience of a record that stands out is raised by it
LEAST_ODD_RECORDS: Final = 12  # chosen: among fewer, a single value is not odd
MOST_CATEGORIES: Final = 4  # chosen: of the values of a member, for one of them to be odd
ODD_SHARE: Final = 20  # chosen: at most every twentieth record is odd in one way
MANY_TEXTS: Final = (
    500  # chosen: of more, terms are searched as parts of words too, which is faster
)
MOST_TERMS: Final = 64  # chosen: the longest terms of a query, for many texts
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


def scalar_salience(key: str, value: str | float | bool | None) -> float:
    """The salience of a member with this name and value."""
    if _is_error(key, value):
        return ERROR * min(scalar_tokens(value), MOST_ERROR_TOKENS)
    _, is_identifier, factor = _key_traits(key)
    return factor * _value_salience(value, is_identifier=is_identifier)


def _is_error(key: str, value: JsonValue) -> bool:
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


def standing_out(members: Sequence[JsonValue], terms: frozenset[str]) -> list[int]:
    """Which of the members of a collection stand out, in order; none if too many would."""
    if len(members) <= LEAST_RECORDS:
        return []
    most = min(MOST_RECORDS, max(1, len(members) // GREATEST_SHARE))
    texts = [(m if isinstance(m, str) else render_json(m)).lower() for m in members]
    joined = JoinedLines(text.replace("\n", " ") for text in texts)
    suspect = sorted(suspect_lines(joined))
    failed = [at for at in suspect if mentions_error(texts[at]) and _fails(members[at])]
    groups = (_named(texts, joined, terms), failed, odd_members(members))
    return sorted({at for group in groups if len(group) <= most for at in group})


def _named(texts: Sequence[str], joined: JoinedLines, terms: frozenset[str]) -> list[int]:
    """The places of the texts that share the rarest terms with the query."""
    shared: Mapping[int, Collection[str]]
    if len(texts) > MANY_TEXTS:
        longest = sorted(terms, key=lambda term: (-len(term), term))[:MOST_TERMS]
        found = ([term for term in longest if term in text] for text in texts)
        shared = {at: named for at, named in enumerate(found) if named}
    else:
        shared = shared_by_line(terms, joined)
    seen_in = Counter(term for named in shared.values() for term in named)
    rarity = {term: math.log(len(texts) / count) for term, count in seen_in.items()}
    scores = {at: math.fsum(sorted(map(rarity.__getitem__, shared[at]))) for at in shared}
    best = max(scores.values(), default=0.0)
    return [at for at, score in scores.items() if best > 0 and score >= best * CLIFF]


def _fails(member: JsonValue, key: str = "") -> bool:
    """Whether any member in it reports an error."""
    match member:
        case dict():
            return any(_fails(value, name) for name, value in member.items())
        case list():
            return any(_fails(value, key) for value in member)
        case _:
            return _is_error(key, member)


def odd_members(members: Sequence[JsonValue]) -> list[int]:
    """Records with a member that few others have, or a value that few have where others agree."""
    records = [member for member in members if isinstance(member, dict)]
    if len(records) < max(LEAST_ODD_RECORDS, len(members)):
        return []
    most = max(1, len(records) // ODD_SHARE)
    holders = Counter(key for record in records for key in record)
    rare = {key for key, count in holders.items() if count <= most}
    values: dict[str, Counter[str | bool]] = {key: Counter() for key in holders if key not in rare}
    for record in records:
        for key, value in record.items():
            if isinstance(value, str | bool) and key in values:
                values[key][value] += 1
                if len(values[key]) > MOST_CATEGORIES:
                    del values[key]
    odd = {
        (key, value)
        for key, counts in values.items()
        for value, count in counts.items()
        if count <= most and len(counts) > 1
    }
    return [
        at
        for at, record in enumerate(records)
        if not rare.isdisjoint(record) or any(record.get(key) == value for key, value in odd)
    ]
