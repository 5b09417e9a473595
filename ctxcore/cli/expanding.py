"""Owns `ctxcore expand`: exact parts of a message of a stored session, by its reference."""

from __future__ import annotations

from typing import Annotated

import typer

from ctxcore.cli.options import AsJson
from ctxcore.cli.output import print_json, print_note, print_text
from ctxcore.cli.running import Failure, fail, to_document
from ctxcore.cli.session_ids import find_session
from ctxcore.cli.storing import Database, User, opened_engine
from ctxcore.compression.expanding import EXPAND_TOKENS
from ctxcore.errors import ContextError
from ctxcore.messages.values import JsonObject

Session = Annotated[
    str,
    typer.Argument(
        metavar="SESSION",
        help="The id of a stored session, or how it begins: `ctxcore sessions` lists them.",
        show_default=False,
    ),
]
Reference = Annotated[
    str,
    typer.Argument(
        metavar="REF",
        help="The message as shortened outputs name it: m12, or 12; m1 is the first.",
        show_default=False,
    ),
]
Part = Annotated[
    str | None,
    typer.Option(
        "--path", metavar="PATH", help="A value in JSON, e.g. items[3].name.", show_default=False
    ),
]
Rows = Annotated[
    str | None,
    typer.Option(
        "--rows", metavar="A:B", help="Lines or items, counted from 0.", show_default=False
    ),
]
Grep = Annotated[
    str | None,
    typer.Option(
        "--grep",
        metavar="TEXT",
        help="What matches a regular expression or plain words.",
        show_default=False,
    ),
]
Budget = Annotated[
    int,
    typer.Option("--max-tokens", metavar="N", min=0, help="Tokens that the result may take."),
]


def run_expand(
    session: Session,
    ref: Reference,
    path: Part = None,
    rows: Rows = None,
    grep: Grep = None,
    max_tokens: Budget = EXPAND_TOKENS,
    database: Database = None,
    user: User = "local",
    as_json: AsJson = False,
) -> None:
    """Print exact parts of an original in a stored session, however it stands in a context.

    The result is all that reaches stdout, so that it can be piped on.
    """
    from ctxcore.tokens.count import counter_for

    try:
        with opened_engine(database, user) as engine:
            found = find_session(engine, session)
            text = engine.expand(
                found.id, ref, path=path, rows=rows, grep=grep, max_tokens=max_tokens
            )
    except ContextError as error:
        failure = Failure(path=ref, id=session, kind=type(error).__name__, reason=error.reason)
        fail("expand", failure, as_json=as_json)
    tokens = counter_for(found.model).count(text)
    if as_json:
        told: JsonObject = {"session_id": found.id, "ref": ref, "tokens": tokens, "text": text}
        print_json(to_document("expand", [told]))
    else:
        print_text(text)
        print_note(f"{ref}: {tokens:,} tokens")
