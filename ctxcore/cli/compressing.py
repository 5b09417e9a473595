"""Owns `ctxcore compress`: one tool output made smaller, as the library would."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from ctxcore.cli.options import AsJson
from ctxcore.cli.output import print_all, print_error, print_json, print_note
from ctxcore.cli.running import STDIN, Failure, read_bytes
from ctxcore.errors import FormatError
from ctxcore.messages.values import JsonObject

if TYPE_CHECKING:
    from ctxcore.compression.outputs import Compressed

File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="What a tool returned, or - for stdin.", show_default=False
    ),
]
Budget = Annotated[
    int,
    typer.Option("--max-tokens", metavar="N", min=0, help="Tokens that the result may take."),
]
Query = Annotated[
    str | None,
    typer.Option("--query", metavar="WORDS", help="What it is needed for.", show_default=False),
]
Model = Annotated[
    str | None,
    typer.Option("--model", metavar="NAME", help="Whose tokens count.", show_default=False),
]
Lossless = Annotated[
    bool, typer.Option("--lossless", help="Only what can be undone, whatever the tokens.")
]
Diff = Annotated[bool, typer.Option("--diff", help="Show what was left out beside what stayed.")]


def run_compress(
    file: File,
    max_tokens: Budget = 200,
    query: Query = None,
    model: Model = None,
    lossless: Lossless = False,
    diff: Diff = False,
    as_json: AsJson = False,
) -> None:
    """Print a tool output in fewer tokens; what is left out is counted in its place.

    The result is all that reaches stdout, so that it can be piped on.
    """
    from ctxcore.cli.compressing_views import compressed_document, side_by_side, size_note
    from ctxcore.compression.outputs import compress
    from ctxcore.formats.records import decode_text

    name = "stdin" if file == STDIN else str(file)
    try:
        output = decode_text(read_bytes(file))
    except FormatError as error:
        _fail(error, name, as_json=as_json)
    compressed = compress(
        output, max_tokens=max_tokens, query=query, model=model, lossless=lossless
    )
    if as_json:
        print_json(_document([compressed_document(name, output, compressed)]))
    elif diff:
        print_all(side_by_side(output, compressed))
    else:
        print_text(compressed)
        print_note(size_note(compressed))


def print_text(compressed: Compressed) -> None:
    """The result as it is, for a file or a pipe."""
    typer.echo(compressed.text.encode("utf-8", "backslashreplace"))


def _document(results: list[JsonObject], errors: Sequence[Failure] = ()) -> JsonObject:
    return {
        "command": "compress",
        "results": list(results),
        "errors": [failure.to_dict() for failure in errors],
    }


def _fail(error: FormatError, name: str, *, as_json: bool) -> NoReturn:
    failure = Failure.of(error, name)
    if as_json:
        print_json(_document([], [failure]))
    print_error(failure.reason)
    raise typer.Exit(1) from error
