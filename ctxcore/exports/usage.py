"""Writes one row a call of all sessions, as CSV or Parquet: what was sent, answered and paid."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Final, TypeAlias

from ctxcore.csv_text import to_csv
from ctxcore.errors import ConfigurationError
from ctxcore.exports.values import ExportForm, SessionContent
from ctxcore.packages import is_installed
from ctxcore.reasons.problems import PackageProblem

Row: TypeAlias = dict[str, object]

COLUMNS: Final[Mapping[str, str]] = {
    "session_id": "string",
    "title": "string",
    "called_at": "timestamp",
    "model": "string",
    "purpose": "string",
    "message": "int64",
    "input_tokens": "int64",
    "cached_tokens": "int64",
    "cache_write_tokens": "int64",
    "output_tokens": "int64",
    "cleared_tokens": "int64",
    "cost_dollars": "float64",
    "compaction": "int64",
    "is_imported": "bool_",
    "error": "string",
}
"""The columns with their types. `input_tokens` has what was read from and written to a cache in it,
and not `cleared_tokens`, which the provider left out by itself; `message` is the answer's number,
`compaction` that of the compaction in force."""

_INSTALL: Final = 'pip install "ctxcore-window[parquet]"'


def usage_rows(contents: Iterable[SessionContent]) -> Iterator[Row]:
    """The calls of sessions in their order; None where a value is not known."""
    for content in contents:
        numbers = {info.id: info.number for info in content.compactions}
        for call in content.calls:
            yield {
                "session_id": content.session.id,
                "title": content.session.title,
                "called_at": call.created_at,
                "model": call.model,
                "purpose": call.purpose,
                "message": call.seq,
                "input_tokens": call.input_tokens,
                "cached_tokens": call.cached_tokens,
                "cache_write_tokens": call.cache_write_tokens,
                "output_tokens": call.output_tokens,
                "cleared_tokens": call.cleared_tokens,
                "cost_dollars": content.call_costs.get(call.id),
                "compaction": numbers.get(call.compaction_id or ""),
                "is_imported": call.is_imported,
                "error": call.error_code,
            }


def _csv(contents: Iterable[SessionContent]) -> Iterator[bytes]:
    rows = [{**row, "called_at": _iso(row["called_at"])} for row in usage_rows(contents)]
    yield to_csv(rows, list(COLUMNS))


def _iso(at: object) -> str:
    return str(at).replace(" ", "T")


def _parquet(contents: Iterable[SessionContent]) -> Iterator[bytes]:
    if not is_installed("pyarrow"):
        problem = PackageProblem.MISSING(package="pyarrow", command=_INSTALL)
        raise ConfigurationError(problem=problem)
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    fields = [
        (name, arrow.timestamp("us", tz="UTC") if kind == "timestamp" else getattr(arrow, kind)())
        for name, kind in COLUMNS.items()
    ]
    out = io.BytesIO()
    table = arrow.Table.from_pylist(list(usage_rows(contents)), schema=arrow.schema(fields))
    parquet.write_table(table, out)
    yield out.getvalue()


USAGE_CSV = ExportForm(
    name="usage-csv",
    suffix=".csv",
    media_type="text/csv",
    write=_csv,
    is_joined=True,
    is_readable=False,
)
USAGE_PARQUET = ExportForm(
    name="usage-parquet",
    suffix=".parquet",
    media_type="application/vnd.apache.parquet",
    write=_parquet,
    is_joined=True,
    is_readable=False,
)
