"""Owns writing JSON shorter without losing anything, as other JSON, and reading it back.

Collections of records become tables, values that return become names. What decodes to another
value than it says by itself is escaped, so that every text decodes to exactly one value.

- `{"table": [header, row, …]}` is a list of records; the header is said in `sheets`.
- `{"table by NAME": …}` is an object of records, each under the value of its member NAME;
  `{"table by": …}` has those keys in its first column.
- `{"tables": [header, [row, …], …]}` is a list of lists of records.
- `{"names": {"~1": value, …}, "of": value}` writes a value that returns once.
- `{"as is": value}` is a value that only looks like one of these.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from ctxcore.compression.json_text import render_json
from ctxcore.compression.sheets import (
    Column,
    Missing,
    Records,
    Sheet,
    is_records,
    render_cell,
    render_header,
    shared_key,
    to_sheet,
)
from ctxcore.compression.target import estimate_tokens
from ctxcore.messages.values import JsonObject, JsonValue

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
            sheet = to_sheet(value)
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
    sheet = to_sheet(records) if is_records(records) else None
    if sheet is None:
        return None
    rows = iter(_render_rows(sheet))
    parts = (f"[{','.join(next(rows) for _ in range(size))}]" for size in sizes)
    return _render_table(TABLES, sheet.columns, parts)


def _encode_object(value: JsonObject) -> str:
    if len(value) > 1 and is_records(records := list(value.values())):
        key, with_keys = keyed_records(value, records)
        sheet = to_sheet(with_keys, keep=key or KEY) if with_keys is not None else None
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


def _render_rows(sheet: Sheet) -> Iterator[str]:
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
