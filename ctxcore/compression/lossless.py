"""Owns reading back what `codec` wrote: every text of it decodes to exactly one value."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from ctxcore.compression.json_text import MAX_NESTING, parse_exact, render_json
from ctxcore.compression.records import (
    MISSING,
    SPARSE,
    Cell,
    Column,
    Missing,
    Records,
    RecordSheet,
    is_records,
    render_cell,
    render_header,
    shared_key,
    to_record_sheet,
)
from ctxcore.compression.target import estimate_tokens
from ctxcore.messages.values import JsonObject, JsonValue
from ctxcore.tokens.families import TokenCounter


class NotEncodedError(ValueError):
    """A value that no `encode` wrote."""


def decode(value: JsonValue) -> JsonValue:
    """What `encode` wrote as `value`; anything else comes back as it is.

    Raises:
        NotEncodedError: it looks like something that `encode` writes, and is not.
    """
    if isinstance(value, dict) and list(value) == [NAMES, OF]:
        named = value[NAMES]
        if isinstance(named, dict) and all(isinstance(v, str) for v in named.values()):
            return _decode(_replace(value[OF], named))
        raise NotEncodedError(NAMES)
    return _decode(value)


def _replace(value: JsonValue, named: JsonObject) -> JsonValue:
    match value:
        case str():
            return named.get(value, value)
        case list():
            return [_replace(item, named) for item in value]
        case dict():
            return {key: _replace(item, named) for key, item in value.items()}
        case _:
            return value


def _decode(value: JsonValue) -> JsonValue:
    match value:
        case list():
            return [_decode(item) for item in value]
        case dict() if looks_encoded(value):
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
        return [[_record(row, header) for row in _as_list(group)] for group in rows]
    records = [_record(row, header) for row in rows]
    if name == TABLE:
        return list[JsonValue](records)
    if name == TABLE_BY:
        return {str(record.pop(KEY)): record for record in records}
    key = name.removeprefix(f"{TABLE_BY} ")
    return {str(record[key]): record for record in records}


def _as_list(value: JsonValue) -> list[JsonValue]:
    if not isinstance(value, list):
        raise NotEncodedError(TABLE)
    return value


def _record(row: JsonValue, header: list[JsonValue]) -> JsonObject:
    cells = iter(_as_list(row))
    return _members(header, lambda: next(cells, None))


def _members(header: list[JsonValue], next_cell: Callable[[], JsonValue]) -> JsonObject:
    record: JsonObject = {}
    for head in header:
        match head:
            case str() if head.endswith("?"):
                cell = _optional(next_cell())
                if not isinstance(cell, Missing):
                    _put(record, head[:-1], cell)
            case str():
                _put(record, head, _decode(next_cell()))
            case dict() if len(head) == 1:
                name, inner = next(iter(head.items()))
                record[name] = _group(inner, next_cell)
            case _:
                raise NotEncodedError(TABLE)
    return record


def _put(record: JsonObject, name: str, cell: JsonValue) -> None:
    if name == SPARSE and isinstance(cell, dict):
        record.update(cell)
    else:
        record[name] = cell


def _group(inner: JsonValue, next_cell: Callable[[], JsonValue]) -> JsonValue:
    match inner:
        case [[constant]]:
            return constant
        case list():
            return _members(inner, next_cell)
        case _:
            return inner


def _optional(cell: JsonValue) -> Cell:
    match cell:
        case None:
            return MISSING
        case [inner]:
            return _decode(inner)
        case _:
            return _decode(cell)


TABLE: Final = "table"
TABLE_BY: Final = "table by"
TABLES: Final = "tables"
NAMES: Final = "names"
OF: Final = "of"
AS_IS: Final = "as is"
SIGN: Final = "~"
LEAST_NAMED_TOKENS: Final = 6
LONGEST_UNNAMED: Final = 10  # characters, quotes too; so short a text is not looked at
NAMES_FRAME_TOKENS: Final = 8

_TEXT: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+":?+')  # with the colon of a name


def encode(value: JsonValue, *, names: bool = True) -> str:
    """`value` as JSON text that `decode` reads back, with `names` for values that return."""
    text = _encode(value)
    return (_with_names(text) if names else None) or text


def is_encoded(value: JsonValue) -> bool:
    """Whether there is anything in `value` that `decode` would read as something else."""
    match value:
        case list():
            return any(map(is_encoded, value))
        case dict():
            return looks_encoded(value) or any(map(is_encoded, value.values()))
        case _:
            return False


def _encode(value: JsonValue) -> str:
    match value:
        case list():
            return _encode_list(value)
        case dict():
            return _encode_object(value)
        case _:
            return render_json(value)


def _encode_list(value: list[JsonValue]) -> str:
    if len(value) > 1:
        if is_records(value):
            sheet = to_record_sheet(value)
            if sheet is not None:
                return _render_table(TABLE, sheet.columns, _render_rows(sheet))
        elif all(isinstance(group, list) and group and is_records(group) for group in value):
            table = _encode_groups(value)
            if table is not None:
                return table
    return f"[{','.join(map(_encode, value))}]"


def _encode_groups(groups: Sequence[JsonValue]) -> str | None:
    sizes = [len(group) for group in groups if isinstance(group, list)]
    records = [r for group in groups if isinstance(group, list) for r in group]
    sheet = to_record_sheet(records) if is_records(records) else None
    if sheet is None:
        return None
    rows = iter(_render_rows(sheet))
    parts = (f"[{','.join(next(rows) for _ in range(size))}]" for size in sizes)
    return _render_table(TABLES, sheet.columns, parts)


def _encode_object(value: JsonObject) -> str:
    if len(value) > 1 and is_records(records := list(value.values())):
        key, with_keys = keyed_records(value, records)
        sheet = to_record_sheet(with_keys, keep=key or KEY) if with_keys is not None else None
        if sheet is not None:
            name = TABLE_BY if key is None else f"{TABLE_BY} {key}"
            return _render_table(name, sheet.columns, _render_rows(sheet))
    text = f"{{{','.join(f'{render_json(k)}:{_encode(v)}' for k, v in value.items())}}}"
    return f'{{"{AS_IS}":{text}}}' if looks_encoded(value) else text


KEY: Final = "key"


def keyed_records(value: JsonObject, records: Records) -> tuple[str | None, Records | None]:
    """The member that repeats the keys of an object of records, and the records with their keys.

    None for the member where the keys had to be put first, and for the records where they cannot.
    """
    key = shared_key(value)
    if key is not None:
        return key, records
    if any(KEY in record for record in records):
        return None, None
    return None, [{KEY: name, **record} for name, record in zip(value, records, strict=True)]


def _render_rows(sheet: RecordSheet) -> Iterator[str]:
    columns = sheet.varying
    for row in sheet.rows:
        cells = [
            "null" if isinstance(cell, Missing) else render_cell(_encode(cell), column)
            for cell, column in zip(row, columns, strict=True)
        ]
        while isinstance(row[len(cells) - 1], Missing):
            cells.pop()
        yield f"[{','.join(cells)}]"


def _render_table(name: str, columns: Sequence[Column], rows: Iterator[str]) -> str:
    return f"{{{render_json(name)}:[{render_header(columns)},{','.join(rows)}]}}"


def looks_encoded(value: JsonObject) -> bool:
    """Whether an object would be read as something else than it is."""
    if len(value) == 1:
        name = next(iter(value))
        return name in (TABLE, TABLES, AS_IS) or name.startswith(TABLE_BY)
    return len(value) == 2 and list(value) == [NAMES, OF]


def _with_names(text: str) -> str | None:
    """`text` with values that return written once; None if that is no shorter or not possible."""
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


MARK = " "
"""Before a text that is as it was, and would be taken for one that `encode` wrote."""

_DEEPEST = 2 * MAX_NESTING + 8  # a table is one level deeper than its records, names one more


def shorten_losslessly(text: str, counter: TokenCounter, tokens: int) -> str:
    """A text of at most `tokens` tokens, those of `text`, from which `decompress` makes it again.

    One token more only where `text` itself looks like such a text and cannot be shortened.
    """
    try:
        value = parse_exact(text)
        shorter = _shortest(value, counter)
    except (ValueError, RecursionError):
        return _as_it_is(text)
    return shorter if counter.count(shorter) < tokens else _as_it_is(text)


def _shortest(value: JsonValue, counter: TokenCounter) -> str:
    texts = [encode(value), encode(value, names=False)]
    if not is_encoded(value):
        texts.append(render_json(value))
    return min(dict.fromkeys(texts), key=counter.count)


def decompress(text: str) -> str:
    """What `compress(x, lossless=True)` made `text` of; any other text comes back as it is.

    Returns:
        `x` itself where it could not be shortened, else minified JSON of the same value.
    """
    blanks = len(text) - len(text.lstrip(MARK))
    value = _encoded_value(text[blanks:])
    if value is None:
        return text
    return text[len(MARK) :] if blanks else render_json(value[0])


def _as_it_is(text: str) -> str:
    return text if decompress(text) == text else MARK + text


def _encoded_value(text: str) -> tuple[JsonValue] | None:
    """The value that an encoded text stands for; None if the text is not encoded."""
    try:
        value = parse_exact(text, deepest=_DEEPEST)
        return (decode(value),) if is_encoded(value) else None
    except (NotEncodedError, ValueError, RecursionError):
        return None
