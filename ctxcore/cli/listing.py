"""Owns `ctxcore sessions`: which sessions a database holds, and what `expand` calls them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from ctxcore.cli.options import AsJson
from ctxcore.cli.output import print_all, print_json, print_note
from ctxcore.cli.running import Failure, fail, to_document
from ctxcore.cli.session_ids import own_ids, short_ids
from ctxcore.cli.storing import Database, User, opened_engine
from ctxcore.cli.tables import add_row, closing, make_table
from ctxcore.cli.texts import one_line
from ctxcore.errors import ContextError
from ctxcore.messages.values import JsonObject

if TYPE_CHECKING:
    from ctxcore.store.values import SessionInfo

Title = Annotated[
    str,
    typer.Option(
        "--title",
        metavar="TEXT",
        help="Only sessions whose title has this in it.",
        show_default=False,
    ),
]
Limit = Annotated[int, typer.Option("--limit", metavar="N", min=1, help="At most so many.")]


def run_sessions(
    title: Title = "",
    limit: Limit = 50,
    database: Database = None,
    user: User = "local",
    as_json: AsJson = False,
) -> None:
    """List the stored sessions of a user, the one last changed first.

    An id is cut to the beginning that tells it from the others; `ctxcore expand` takes it so.
    """
    try:
        with opened_engine(database, user) as engine:
            found = engine.sessions(title=title, limit=limit)
            count = engine.store.count_sessions(user, title=title)
            others = engine.store.count_sessions(user) if title else 0
            names = short_ids(own_ids(engine))
    except ContextError as error:
        failure = Failure(path=database or "", kind=type(error).__name__, reason=error.reason)
        fail("sessions", failure, as_json=as_json)
    if as_json:
        print_json(to_document("sessions", [_document(one, names) for one in found]))
    elif found:
        print_all(_table(found, names, count=count))
    else:
        print_note(_nothing(user, title, others))


def _document(session: SessionInfo, names: Mapping[str, str]) -> JsonObject:
    return {
        "id": session.id,
        "short_id": names[session.id],
        "title": session.title,
        "messages": session.length,
        "model": session.model,
        "changed_at": session.updated_at.isoformat(),
    }


def _table(
    sessions: Sequence[SessionInfo], names: Mapping[str, str], *, count: int
) -> Iterator[RenderableType]:
    """One line a session; ids and times are never cut."""
    table = make_table(">id", "title", ">messages", "model", ">last changed")
    table.columns[0].justify = table.columns[-1].justify = "left"
    for session in sessions:
        add_row(
            table,
            one_line(names[session.id]),
            one_line(session.title) or Text("untitled", style="dim"),
            f"{session.length:,}",
            one_line(session.model or ""),
            f"{session.updated_at.astimezone():%Y-%m-%d %H:%M}",
        )
    yield table
    left = count - len(sessions)
    yield from closing([f"{left:,} more; ask with --limit or --title"] if left else [], 0)


def _nothing(user: str, title: str, others: int) -> str:
    """Why nothing is listed, and what to do."""
    if others:
        shown = "leave --title out to see it" if others == 1 else "leave --title out to see them"
        return f"no title has {title!r} in it; {shown}: {others:,} in all"
    return (
        f"{user!r} has no sessions here; start one in the dashboard, or import a file there or "
        "with engine.import_(). --database names another database, --user another user"
    )
