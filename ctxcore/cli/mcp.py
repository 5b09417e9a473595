"""`ctxcore mcp`: serves a user's sessions to programs that speak the Model Context Protocol."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from ctxcore.cli.options import Database
from ctxcore.cli.running import Failure, fail
from ctxcore.cli.sessions import User, find_session, opened_engine
from ctxcore.errors import ContextError

Session = Annotated[
    str,
    typer.Option(
        "--session",
        metavar="SESSION",
        help="Session of tools that name none; default: the one that changed last.",
    ),
]


def run_mcp(session: Session = "", database: Database = None, user: User = "local") -> None:
    """Serve stored sessions over MCP: status, search, originals, compaction and undo.

    It speaks over standard input and output, as Claude Code, Codex and Cursor start it.
    """
    try:
        from ctxcore.integrations.mcp_server import make_server

        with opened_engine(database, user, creates=True) as engine:
            find = partial(find_session, engine)
            if session:
                find(session)
            make_server(engine, find, session=session).run("stdio")
    except ContextError as error:
        failure = Failure(path=session, kind=type(error).__name__, reason=error.reason)
        fail("mcp", failure, as_json=False)
