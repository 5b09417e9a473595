"""`ctxcore recall`: searches a stored session, and quotes matches with what stands around them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from ctxcore.cli.options import AsJson, Database
from ctxcore.cli.output import block, one_line, plural, print_all, print_json, print_note
from ctxcore.cli.running import Failure, fail, to_document
from ctxcore.cli.sessions import Session, User, find_session, opened_engine
from ctxcore.errors import ContextError

if TYPE_CHECKING:
    from ctxcore.assembly.recall_hits import RecalledMessage, RecallHit

Words = Annotated[
    str,
    typer.Argument(
        metavar="WORDS", help="What to look for; a message with any of the words is found."
    ),
]
Limit = Annotated[int, typer.Option("--limit", metavar="N", min=1, help="Show at most N matches.")]


def run_recall(
    session: Session,
    words: Words,
    limit: Limit = 10,
    database: Database = None,
    user: User = "local",
    as_json: AsJson = False,
) -> None:
    """Search everything said in a stored session, the best matches first.

    Each match stands among the messages around it, with the number that `ctxcore expand` takes.
    """
    try:
        with opened_engine(database, user) as engine:
            found = find_session(engine, session)
            hits = engine.recall(found.id, words, limit=limit)
    except ContextError as error:
        failure = Failure(path=words, id=session, kind=type(error).__name__, reason=error.reason)
        fail("recall", failure, as_json=as_json)
    if as_json:
        document = [{"session_id": found.id, **hit.to_dict()} for hit in hits]
        print_json(to_document("recall", document))
    elif hits:
        print_all(_lines(hits))
        print_note(f"{plural(len(hits), 'result')} for {words!r}")
    else:
        print_note(f"nothing said in the session is about {words!r}; try other words")


def _lines(hits: Sequence[RecallHit]) -> Iterator[Text]:
    for at, hit in enumerate(hits):
        if at:
            yield Text()
        yield from (_told(one, is_hit=False) for one in hit.before)
        yield _told(hit, is_hit=True)
        yield from (_told(one, is_hit=False) for one in hit.after)


def _told(message: RecalledMessage, *, is_hit: bool) -> Text:
    """A message below its heading; the match itself is marked."""
    style = "bold" if is_hit else "dim"
    mark = "> " if is_hit else "  "
    return Text.assemble((f"{mark}{one_line(message.heading)}\n", style), block(message.text))
