"""`ctxcore alerts`: what operators asked to be told; they set it in the dashboard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType

from ctxcore.cli.options import AsJson, Database
from ctxcore.cli.output import one_line, plural, print_all, print_json, print_note
from ctxcore.cli.running import Failure, fail, problem_document, to_document
from ctxcore.cli.sessions import User, opened_engine
from ctxcore.cli.tables import add_row, make_table
from ctxcore.errors import ContextError

if TYPE_CHECKING:
    from ctxcore.messages.values import JsonObject
    from ctxcore.store.values import Alert

ShowAll = Annotated[bool, typer.Option("--all", help="Also those that somebody has seen.")]
See = Annotated[bool, typer.Option("--see", help="Mark the alerts that are listed as seen.")]


def run_alerts(
    show_all: ShowAll = False,
    see: See = False,
    database: Database = None,
    user: User = "local",
    as_json: AsJson = False,
) -> None:
    """List the alerts that no operator has seen: budgets, failed summaries, lost rules."""
    try:
        with opened_engine(database, user) as engine:
            alerts = engine.reports.alerts(unseen=not show_all)
            seen = engine.reports.see_alerts([one.id for one in alerts]) if see else 0
    except ContextError as error:
        failure = Failure.of_file(error, database or "")
        fail("alerts", failure, as_json=as_json)
    if as_json:
        print_json(to_document("alerts", map(_document, alerts)))
    elif alerts:
        print_all(_table(alerts))
        print_note(plural(seen, "alert") + " marked as seen" if see else "--see marks them as seen")
    else:
        print_note("no alerts" if show_all else "no new alerts")


def _document(alert: Alert) -> JsonObject:
    return {
        "id": alert.id,
        "at": alert.created_at.isoformat(),
        "user_id": alert.user_id,
        "session_id": alert.session_id,
        "seen_by": alert.seen_by,
        **problem_document(alert.reason),
    }


def _table(alerts: Sequence[Alert]) -> Iterator[RenderableType]:
    table = make_table(">at", "user", ">session", "*alert", "seen by")
    table.columns[0].justify = table.columns[2].justify = "left"
    for alert in alerts:
        add_row(
            table,
            f"{alert.created_at.astimezone():%Y-%m-%d %H:%M}",
            one_line(alert.user_id),
            one_line((alert.session_id or "")[:8]),
            one_line(str(alert.reason)),
            one_line(alert.seen_by or ""),
        )
    yield table
