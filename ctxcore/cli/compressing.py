"""`ctxcore compress`: prints a tool output in fewer tokens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from ctxcore.cli.options import AsJson, ResultTokens
from ctxcore.cli.output import (
    block,
    one_line,
    percent,
    print_all,
    print_json,
    print_note,
    print_text,
)
from ctxcore.cli.running import STDIN, Failure, fail, read_bytes, to_document
from ctxcore.cli.tables import add_row, facts, make_table
from ctxcore.compression.markers import Elision, amount, totals
from ctxcore.errors import FormatError

if TYPE_CHECKING:
    from ctxcore.compression.outputs import Compressed
    from ctxcore.messages.values import JsonObject

_MOST_PARTS = 200  # chosen: shown; the rest are counted
_EXCERPT_CHARS = 60  # chosen: fits a line beside place and size


File = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="File with the output of a tool, or - for stdin."),
]
Query = Annotated[
    str | None,
    typer.Option("--query", metavar="WORDS", help="Words to keep when shortening."),
]
Model = Annotated[
    str | None,
    typer.Option("--model", metavar="NAME", help="Model for token counting."),
]
Lossless = Annotated[
    bool, typer.Option("--lossless", help="Only reversible compression; ignores --max-tokens.")
]
Diff = Annotated[bool, typer.Option("--diff", help="Show the parts left out next to the result.")]


def run_compress(
    file: File,
    max_tokens: ResultTokens = 200,
    query: Query = None,
    model: Model = None,
    lossless: Lossless = False,
    diff: Diff = False,
    as_json: AsJson = False,
) -> None:
    """Print a tool output in fewer tokens; what is left out is counted in its place.

    The result is all that reaches stdout, so that it can be piped on.
    """
    from ctxcore.formats.records import decode_text

    name = "stdin" if file == STDIN else str(file)
    try:
        output = decode_text(read_bytes(file))
    except FormatError as error:
        fail("compress", Failure.of(error, name), as_json=as_json)
    from ctxcore.compression.outputs import compress  # a file that cannot be read needs none

    compressed = compress(
        output, max_tokens=max_tokens, query=query, model=model, lossless=lossless
    )
    if as_json:
        print_json(to_document("compress", [_document(name, output, compressed)]))
    elif diff:
        print_all(_diff(output, compressed))
    else:
        print_text(compressed.text)
        print_note(_size_note(compressed))


def _document(name: str, output: str, compressed: Compressed) -> JsonObject:
    from ctxcore.compression.extracting import elided_text

    return {
        "path": name,
        "kind": compressed.kind,
        "original_tokens": compressed.original_tokens,
        "tokens": compressed.tokens,
        "text": compressed.text,
        "elided": [
            {**asdict(part), "begins": elided_text(output, part, max_chars=_EXCERPT_CHARS)}
            for part in compressed.elided
        ],
    }


def _diff(output: str, compressed: Compressed) -> Iterator[RenderableType]:
    """The sizes, the result, and a line for each part that was left out of it."""
    from ctxcore.compression.extracting import elided_text

    yield facts((("kind", compressed.kind), ("size", _size(compressed))))
    yield Text()
    yield Text(block(compressed.text))
    yield Text()
    if not compressed.elided:
        yield Text("nothing is left out", style="dim")
        return
    table = make_table("left out", ">how much", "*begins with")
    for part in compressed.elided[:_MOST_PARTS]:
        begins = elided_text(output, part, max_chars=_EXCERPT_CHARS)
        add_row(table, _where(part), amount(part.count, part.unit), one_line(begins))
    yield table
    more = len(compressed.elided) - _MOST_PARTS
    if more > 0:
        yield Text(f"and {more:,} more parts", style="dim")


def _where(part: Elision) -> str:
    """The place of a part as `ctxcore expand` takes it: a path, and rows as `a:b`."""
    if part.start is None or part.stop is None:
        return one_line(part.path) or "the output"
    rows = f"{part.start:,}:{part.stop:,}".replace(",", "")
    return f"{one_line(part.path)} {rows}".strip()


def _size_note(compressed: Compressed) -> str:
    """One line: tokens before and after, and how much is left out."""
    gone = ", ".join(amount(count, unit) for unit, count in totals(compressed.elided).items())
    return f"{_size(compressed)}; {gone or 'nothing'} left out"


def _size(compressed: Compressed) -> str:
    before, after = compressed.original_tokens, compressed.tokens
    share = percent(after / before) if before else "100 %"
    return f"{before:,} → {after:,} tokens ({share})"
