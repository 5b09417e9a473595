"""`ctxcore formats`: the formats of conversations that are read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import RenderableType

from ctxcore.cli.options import AsJson
from ctxcore.cli.output import one_line, plural, print_all, print_json, print_note
from ctxcore.cli.running import to_document
from ctxcore.cli.tables import add_row, make_table

if TYPE_CHECKING:
    from ctxcore.formats.values import Format
    from ctxcore.messages.values import JsonObject


def run_formats(as_json: AsJson = False) -> None:
    """List the formats of conversations that are read, in the order in which they are tried."""
    from ctxcore.formats.reading import FORMATS  # loads what help does not need

    formats = list(FORMATS.values())
    if as_json:
        print_json(to_document("formats", map(_document, formats)))
        return
    print_all(_table(formats))
    print_note(
        plural(len(formats), "format") + ", told apart by what is in a file, not by its name"
    )


def _document(fmt: Format) -> JsonObject:
    return {"name": fmt.name, "label": str(fmt.label), "suffixes": list(fmt.suffixes)}


def _table(formats: list[Format]) -> Iterator[RenderableType]:
    table = make_table(">format", "*what it is", ">suffixes")
    table.columns[0].justify = table.columns[2].justify = "left"
    for fmt in formats:
        add_row(table, one_line(fmt.name), one_line(str(fmt.label)), " ".join(fmt.suffixes))
    yield table
