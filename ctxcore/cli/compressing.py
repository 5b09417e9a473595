"""Owns `ctxcore compress`: one tool output made smaller, as the library would."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ctxcore.cli.options import AsJson
from ctxcore.cli.output import print_all, print_json, print_note, print_text
from ctxcore.cli.running import STDIN, Failure, fail, read_bytes, to_document
from ctxcore.errors import FormatError

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
        fail("compress", Failure.of(error, name), as_json=as_json)
    compressed = compress(
        output, max_tokens=max_tokens, query=query, model=model, lossless=lossless
    )
    if as_json:
        print_json(to_document("compress", [compressed_document(name, output, compressed)]))
    elif diff:
        print_all(side_by_side(output, compressed))
    else:
        print_text(compressed.text)
        print_note(size_note(compressed))
