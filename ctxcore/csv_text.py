"""Rows as CSV text that spreadsheets open safely."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence


def csv_text(rows: Sequence[Mapping[str, object]], names: Sequence[str] = ()) -> str:
    """`rows` as CSV with `names`, or those of the first row, above them; None is empty.

    A text that a spreadsheet would run as a formula gets an apostrophe in front.
    """
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=names or list(rows[0] if rows else ()))
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    return out.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{value}"
    return "" if value is None else value


def to_csv(rows: Sequence[Mapping[str, object]], names: Sequence[str] = ()) -> bytes:
    """`rows` as a file, with a byte order mark so that spreadsheets read UTF-8."""
    return b"\xef\xbb\xbf" + csv_text(rows, names).encode("utf-8", "replace")
