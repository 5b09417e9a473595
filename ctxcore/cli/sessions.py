"""`ctxcore sessions` and `ctxcore expand`: lists stored sessions and prints their originals.

A session may be named by any beginning of its id that no other session of the user shares.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from ctxcore.cli.options import AsJson, Database, ResultTokens
from ctxcore.cli.output import one_line, print_all, print_json, print_note, print_text
from ctxcore.cli.running import Failure, fail, to_document
from ctxcore.cli.tables import add_row, closing, make_table
from ctxcore.compression.own_tools import EXPAND_ANSWER_TOKENS
from ctxcore.errors import ContextError
from ctxcore.reasons.storage_problems import FileProblem
from ctxcore.tokens.costs import dollars_text

if TYPE_CHECKING:
    from ctxcore.engine.core import ContextEngine
    from ctxcore.messages.values import JsonObject
    from ctxcore.policy.layers import Layer
    from ctxcore.store.values import SessionInfo
    from ctxcore.tokens.costs import Cost

LEAST_CHARS = 8  # chosen: short, and rarely shared among thousands of random ids
_MOST_NAMED = 5  # chosen: an error stays one sentence

User = Annotated[str, typer.Option("--user", metavar="ID", help="User whose sessions are used.")]
Title = Annotated[
    str,
    typer.Option("--title", metavar="TEXT", help="Only sessions whose title contains TEXT."),
]
Limit = Annotated[int, typer.Option("--limit", metavar="N", min=1, help="Show at most N sessions.")]
Session = Annotated[
    str,
    typer.Argument(
        metavar="SESSION",
        help="The id of a stored session, or its beginning; `ctxcore sessions` lists them.",
    ),
]
Reference = Annotated[
    str,
    typer.Argument(
        metavar="REF", help="The message as shortened outputs name it, m12 or 12; m1 is the first."
    ),
]
Part = Annotated[
    str | None,
    typer.Option("--path", metavar="PATH", help="A value in JSON, e.g. items[3].name."),
]
Rows = Annotated[
    str | None,
    typer.Option("--rows", metavar="A:B", help="Lines or items, counted from 0."),
]
Grep = Annotated[
    str | None,
    typer.Option(
        "--grep",
        metavar="TEXT",
        help="Lines or values that match a regular expression or plain words.",
    ),
]


def run_sessions(
    title: Title = "",
    limit: Limit = 50,
    database: Database = None,
    user: User = "local",
    as_json: AsJson = False,
) -> None:
    """List the stored sessions of a user, the last changed first.

    Ids are shortened to unique prefixes, which `ctxcore expand` accepts.
    """
    try:
        with opened_engine(database, user) as engine:
            found = engine.sessions(title=title, limit=limit)
            count = engine.store.count_sessions(user, title=title)
            others = engine.store.count_sessions(user) if title else 0
            names = short_ids(_own_ids(engine))
            costs = engine.costs(found)
    except ContextError as error:
        failure = Failure.of_file(error, database or "")
        fail("sessions", failure, as_json=as_json)
    if as_json:
        print_json(to_document("sessions", [_document(one, names, costs) for one in found]))
    elif found:
        print_all(_table(found, names, costs, count=count))
    else:
        print_note(_nothing(user, title, others))


def _document(
    session: SessionInfo, names: Mapping[str, str], costs: Mapping[str, Cost]
) -> JsonObject:
    cost = costs.get(session.id)
    return {
        "id": session.id,
        "short_id": names[session.id],
        "title": session.title,
        "messages": session.length,
        "model": session.model,
        "cost": cost.document() if cost else None,
        "changed_at": session.updated_at.isoformat(),
    }


def _table(
    sessions: Sequence[SessionInfo],
    names: Mapping[str, str],
    costs: Mapping[str, Cost],
    *,
    count: int,
) -> Iterator[RenderableType]:
    """One line a session; ids and times are never cut."""
    table = make_table(">id", "title", ">messages", "model", ">cost", ">last changed")
    table.columns[0].justify = table.columns[-1].justify = "left"
    for session in sessions:
        add_row(
            table,
            one_line(names[session.id]),
            one_line(session.title) or Text("untitled", style="dim"),
            f"{session.length:,}",
            one_line(session.model or ""),
            _cost(costs.get(session.id)),
            f"{session.updated_at.astimezone():%Y-%m-%d %H:%M}",
        )
    yield table
    left = count - len(sessions)
    yield from closing([f"{left:,} more; use --limit or --title"] if left else [], 0)


def _cost(cost: Cost | None) -> str:
    """What is known of it, with a + where some calls are missing; empty without calls."""
    if cost is None:
        return ""
    if cost.dollars is None:
        return "unknown"
    return dollars_text(cost.dollars) + ("+" if cost.unknown else "")


def _nothing(user: str, title: str, others: int) -> str:
    """Why nothing is listed, with a way out."""
    if others:
        shown = "leave --title out to see it" if others == 1 else "leave --title out to see them"
        return f"no title contains {title!r}; {shown}: {others:,} in all"
    return (
        f"{user!r} has no sessions here; start one in the dashboard, or import files there or "
        "with `ctxcore import`. --database names another database, --user another user"
    )


def run_expand(
    session: Session,
    ref: Reference,
    path: Part = None,
    rows: Rows = None,
    grep: Grep = None,
    max_tokens: ResultTokens = EXPAND_ANSWER_TOKENS,
    database: Database = None,
    user: User = "local",
    as_json: AsJson = False,
) -> None:
    """Print exact parts of an original message, even if it was shortened or folded.

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
        result: JsonObject = {"session_id": found.id, "ref": ref, "tokens": tokens, "text": text}
        print_json(to_document("expand", [result]))
    else:
        print_text(text)
        print_note(f"{ref}: {tokens:,} tokens")


@contextmanager
def opened_engine(
    database: str | None,
    user_id: str,
    *,
    layers: Sequence[Layer] = (),
    creates: bool = False,
) -> Iterator[ContextEngine]:
    """An engine on the sessions of a database, closed at the end; `layers` as in the engine.

    With `creates`, a database or user that does not exist is made.

    Raises:
        StoreError: there is no such database or user, or it cannot be opened.
    """
    from ctxcore.engine.core import ContextEngine
    from ctxcore.store.errors import DatabaseError
    from ctxcore.store.sql import database_url, open_store

    url = database_url(database)
    file = url.removeprefix("sqlite:///").partition("?")[0]
    is_file = url.startswith("sqlite:///")
    if is_file and not creates and not Path(file).is_file():  # opening it would create it
        raise DatabaseError(problem=FileProblem.MISSING_NAMED(path=file))
    store = open_store(url)
    try:
        if not creates:
            store.user(user_id)  # raises for an unknown user, whom the engine would create
        yield ContextEngine(store, user_id=user_id, layers=layers)
    finally:
        store.close()


def find_session(engine: ContextEngine, beginning: str) -> SessionInfo:
    """The session whose id is, or begins with, `beginning`.

    Raises:
        SessionAmbiguousError: there are several; it names them.
        SessionNotFoundError: there is none.
        NotAllowedError: it is the id of another user's session.
    """
    from ctxcore.store.errors import SessionAmbiguousError

    found = _own_ids(engine, beginning) if beginning else []
    if beginning in found or not found:
        return engine.session(beginning)
    if len(found) == 1:
        return engine.session(found[0])
    names = short_ids(found)
    candidates = [f"{names[own]} {engine.session(own).title!r}" for own in found[:_MOST_NAMED]]
    raise SessionAmbiguousError(beginning=beginning, candidates=candidates, count=len(found))


def _own_ids(engine: ContextEngine, beginning: str = "") -> list[str]:
    """The ids of the sessions that the user may see, deleted ones included."""
    user = engine.store.user(engine.user_id)
    return engine.store.session_ids(None if user.reads_others else user.id, beginning=beginning)


def short_ids(session_ids: Iterable[str]) -> dict[str, str]:
    """The shortest beginning of each id, of at least `LEAST_CHARS`, that no other id shares.

    For an id that is itself the beginning of another, it is the whole id.
    """
    ids = sorted(set(session_ids))
    around = zip(["", *ids], ids, [*ids[1:], ""], strict=False)
    return {
        own: own[: max(LEAST_CHARS, 1 + max(_shared(own, before), _shared(own, after)))]
        for before, own, after in around
    }


def _shared(one: str, other: str) -> int:
    """The length of the common beginning of two ids."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
