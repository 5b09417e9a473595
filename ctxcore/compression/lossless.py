"""The lossless form of JSON: records as tables, repeated values named once, read back exactly.

Every encoded text decodes to exactly one value. A text that is left as it is and could
be read as an encoded one gets a blank in front.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from ctxcore.compression.json_text import MAX_NESTING, parse_exact, render_json
from ctxcore.compression.records import (
    SPARSE,
    Missing,
    Records,
    RecordSheet,
    is_records,
    render_header,
    render_row,
    to_record_sheet,
)
from ctxcore.compression.target import estimate_tokens
from ctxcore.messages.values import JsonObject, JsonValue
from ctxcore.tokens.families import TokenCounter

TABLE: Final = "table"
TABLE_BY: Final = "table by"
TABLES: Final = "tables"
KEY: Final = "key"
NAMES: Final = "names"
OF: Final = "of"
AS_IS: Final = "as is"
SIGN: Final = "~"
MARK: Final = " "
"""In front of a text that was left as it is and would be read as an encoded one."""

LEAST_NAMED_TOKENS: Final = 6  # chosen: a name of a shorter value saves nothing
LONGEST_UNNAMED: Final = 10  # chosen: characters with quotes; shorter texts are not looked at
NAMES_FRAME_TOKENS: Final = 8  # of `{"names":{},"of":}`
DEEPEST: Final = 2 * MAX_NESTING + 8  # a table is one level deeper than its records, names one more

_TEXT: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+":?+')  # with the colon of a name


class NotEncodedError(ValueError):
    """A value that no `encode` wrote."""


def shorten_losslessly(text: str, counter: TokenCounter, tokens: int) -> str:
    """A text of at most `tokens` tokens, those of `text`, that `decompress` turns back into it.

    One token more only where `text` itself looks encoded and cannot be shortened.
    """
    try:
        value = parse_exact(text)
        encoded = _encode(value)
        texts = [_with_names(encoded) or encoded, encoded]
        if not is_encoded(value):
            texts.append(render_json(value))
    except (ValueError, RecursionError):
        return _as_is(text)
    shorter = min(dict.fromkeys(texts), key=counter.count)
    return shorter if counter.count(shorter) < tokens else _as_is(text)


def _as_is(text: str) -> str:
    return text if decompress(text) == text else MARK + text


def decompress(text: str) -> str:
    """What `compress(x, lossless=True)` made `text` of; any other text comes back as it is.

    Returns:
        `x` itself where it could not be shortened, else minified JSON of the same value.
    """
    blanks = len(text) - len(text.lstrip(MARK))
    try:
        value = parse_exact(text[blanks:], deepest=DEEPEST)
        if not is_encoded(value):
            return text
        decoded = decode(value)
    except (ValueError, LookupError, RecursionError):
        return text
    return text[len(MARK) :] if blanks else render_json(decoded)


def encode(value: JsonValue) -> str:
    """`value` as JSON text that `decode` reads back, repeated values written once."""
    text = _encode(value)
    return _with_names(text) or text


def is_encoded(value: JsonValue) -> bool:
    """Whether `decode` would read any part of `value` as something else."""
    match value:
        case list():
            return any(map(is_encoded, value))
        case dict():
            return _looks_encoded(value) or any(map(is_encoded, value.values()))
        case _:
            return False


def _looks_encoded(value: JsonObject) -> bool:
    if len(value) == 1:
        name = next(iter(value))
        return name in (TABLE, TABLES, AS_IS) or name.startswith(TABLE_BY)
    return len(value) == 2 and list(value) == [NAMES, OF]


def _encode(value: JsonValue) -> str:
    match value:
        case list():
            return _encode_list(value)
        case dict():
            return _encode_object(value)
        case _:
            return render_json(value)


def _encode_list(value: list[JsonValue]) -> str:
    if (found := listed_records(value)) is not None:
        records, sizes = found
        if (sheet := to_record_sheet(records)) is not None:
            return _render_table(TABLES if sizes else TABLE, sheet, sizes)
    return f"[{','.join(map(_encode, value))}]"


def _encode_object(value: JsonObject) -> str:
    if (found := keyed_records(value)) is not None:
        form, key, records = found
        if (sheet := to_record_sheet(records, keep=key)) is not None:
            return _render_table(form, sheet)
    text = f"{{{','.join(f'{render_json(k)}:{_encode(v)}' for k, v in value.items())}}}"
    return f'{{"{AS_IS}":{text}}}' if _looks_encoded(value) else text


def listed_records(value: list[JsonValue]) -> tuple[Records, list[int]] | None:
    """The records in a list of two or more, None if it has other items.

    Of a list of lists the records of all of them, and how many each has.
    """
    if len(value) < 2:
        return None
    if is_records(value):
        return value, []
    groups = [group for group in value if isinstance(group, list) and group]
    records = [record for group in groups for record in group]
    if len(groups) < len(value) or not is_records(records):
        return None
    return records, list(map(len, groups))


def keyed_records(value: JsonObject) -> tuple[str, str, Records] | None:
    """An object of two or more records: the form of its table, its key column, and its rows.

    A member that repeats the keys of the object is the key column; else one is put first. None
    where these are no records, or they have a member of that name.
    """
    records = list(value.values())
    if len(records) < 2 or not is_records(records):
        return None
    keys = list(value)
    for name, member in records[0].items():
        if member == keys[0] and [record.get(name) for record in records] == keys:
            return f"{TABLE_BY} {name}", name, records
    if any(KEY in record for record in records):
        return None
    keyed = [{KEY: key, **record} for key, record in zip(keys, records, strict=True)]
    return TABLE_BY, KEY, keyed


def _render_table(form: str, sheet: RecordSheet, sizes: Sequence[int] = ()) -> str:
    columns = [column for column in sheet.columns if column.constant is None]
    rows = [
        render_row([None if isinstance(cell, Missing) else _encode(cell) for cell in row], columns)
        for row in sheet.rows
    ]
    if sizes:
        rest = iter(rows)
        rows = [f"[{','.join(islice(rest, size))}]" for size in sizes]
    return f"{{{render_json(form)}:[{render_header(sheet.columns)},{','.join(rows)}]}}"


def _with_names(text: str) -> str | None:
    """`text` with repeated values written once; None if that is no shorter or not possible."""
    if f'"{SIGN}' in text:
        return None
    texts = (part for part in _TEXT.findall(text) if part[-1] != ":")
    counts = Counter(part for part in texts if len(part) > LONGEST_UNNAMED)
    saved = {
        part: (count - 1) * (size - 3) - 5
        for part, count in counts.items()
        if count > 1 and (size := estimate_tokens(part)) >= LEAST_NAMED_TOKENS
    }
    chosen = [part for part, gain in saved.items() if gain > 0]
    if sum(saved[part] for part in chosen) <= NAMES_FRAME_TOKENS:
        return None
    names = {part: f'"{SIGN}{nth}"' for nth, part in enumerate(chosen, start=1)}
    listed = ",".join(f"{name}:{part}" for part, name in names.items())
    named = _TEXT.sub(lambda found: names.get(found.group(), found.group()), text)
    return f'{{"{NAMES}":{{{listed}}},"{OF}":{named}}}'


def decode(value: JsonValue) -> JsonValue:
    """What `encode` wrote as `value`; anything else comes back as it is.

    Raises:
        NotEncodedError: it looks encoded, and is not.
    """
    if not isinstance(value, dict) or list(value) != [NAMES, OF]:
        return _decode(value)
    names = value[NAMES]
    if isinstance(names, dict) and all(isinstance(name, str) for name in names.values()):
        return _decode(_replace(value[OF], names))
    raise NotEncodedError(NAMES)


def _replace(value: JsonValue, names: JsonObject) -> JsonValue:
    match value:
        case str():
            return names.get(value, value)
        case list():
            return [_replace(item, names) for item in value]
        case dict():
            return {key: _replace(item, names) for key, item in value.items()}
        case _:
            return value


def _decode(value: JsonValue) -> JsonValue:
    match value:
        case list():
            return [_decode(item) for item in value]
        case dict() if _looks_encoded(value):
            return _decode_form(value)
        case dict():
            return {key: _decode(item) for key, item in value.items()}
        case _:
            return value


def _decode_form(value: JsonObject) -> JsonValue:
    name, inner = next(iter(value.items()))
    if name == AS_IS and isinstance(inner, dict):
        return {key: _decode(item) for key, item in inner.items()}
    if len(value) > 1 or not isinstance(inner, list) or not inner:
        raise NotEncodedError(name)
    header, *rows = inner
    if not isinstance(header, list):
        raise NotEncodedError(name)
    if name == TABLES:
        return [[_members(header, _cells(row)) for row in _cells(group)] for group in rows]
    records = [_members(header, _cells(row)) for row in rows]
    if name == TABLE:
        return list[JsonValue](records)
    if name == TABLE_BY:
        return {str(record.pop(KEY)): record for record in records}
    key = name.removeprefix(f"{TABLE_BY} ")
    return {str(record[key]): record for record in records}


def _cells(row: JsonValue) -> Iterator[JsonValue]:
    if not isinstance(row, list):
        raise NotEncodedError(TABLE)
    return iter(row)


def _members(header: list[JsonValue], cells: Iterator[JsonValue]) -> JsonObject:
    record: JsonObject = {}
    for head in header:
        match head:
            case str():
                cell = next(cells, None)
                is_optional = head.endswith("?")
                if is_optional and cell is None:
                    continue
                if is_optional and isinstance(cell, list) and len(cell) == 1:
                    cell = cell[0]
                member = _decode(cell)
                if head.removesuffix("?") == SPARSE and isinstance(member, dict):
                    record.update(member)
                else:
                    record[head.removesuffix("?")] = member
            case dict() if len(head) == 1:
                name, inner = next(iter(head.items()))
                record[name] = _group(inner, cells)
            case _:
                raise NotEncodedError(TABLE)
    return record


def _group(inner: JsonValue, cells: Iterator[JsonValue]) -> JsonValue:
    match inner:
        case [[constant]]:
            return constant
        case list():
            return _members(inner, cells)
        case _:
            return inner
