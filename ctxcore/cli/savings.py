"""`ctxcore savings` and `ctxcore shadow`: what compactions saved, and what they would save."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from ctxcore.cli.options import AsCsv, AsJson, Database
from ctxcore.cli.output import known_dollars, one_line, print_all, print_csv, print_json, print_note
from ctxcore.cli.running import Failure, fail, to_document
from ctxcore.cli.sessions import User, opened_engine
from ctxcore.cli.tables import add_row, make_table
from ctxcore.errors import ContextError

if TYPE_CHECKING:
    from ctxcore.engine.savings import Saving
    from ctxcore.engine.shadow import ShadowResult
    from ctxcore.messages.values import JsonObject

BASIS = (
    "not sent: what calls would have sent more without compactions, within the window; at the "
    "price of the cache where one is in use"
)


def run_savings(
    database: Database = None,
    user: User = "local",
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show what compactions saved by month, user and version of the policy.

    Tokens that were not sent, less what summaries and lost prompt caches cost. Operators see all
    users.
    """
    try:
        with opened_engine(database, user) as engine:
            own = None if engine.user().is_operator else user
            savings = engine.reports.savings(own)
    except ContextError as error:
        failure = Failure.of_file(error, database or "")
        fail("savings", failure, as_json=as_json)
    if as_json:
        print_json(to_document("savings", map(saving_document, savings)))
    elif as_csv:
        print_csv([saving_document(one) for one in savings])
    elif savings:
        print_all(_table(savings))
        print_note(BASIS)
    else:
        print_note("no calls were made here")


def run_shadow(database: Database = None, user: User = "local", as_json: AsJson = False) -> None:
    """Show what policies in shadow mode would have done, for each user.

    Operators see all users.
    """
    try:
        with opened_engine(database, user) as engine:
            own = None if engine.user().is_operator else user
            results = engine.reports.shadow(own)
    except ContextError as error:
        failure = Failure.of_file(error, database or "")
        fail("shadow", failure, as_json=as_json)
    if as_json:
        print_json(to_document("shadow", [one.to_dict() for one in results]))
    elif results:
        print_all(_shadow_table(results))
        print_note("facts lost: with quotes as summaries, since no model was asked")
    else:
        print_note("no policy in shadow mode has planned a compaction")


def saving_document(saving: Saving) -> JsonObject:
    """A saving as JSON, with what is left."""
    left: JsonObject = {"net_tokens": saving.net_tokens, "net_dollars": saving.net_dollars}
    return {**saving.to_dict(), **left}


def _table(savings: Sequence[Saving]) -> Iterator[RenderableType]:
    from ctxcore.engine.savings import total_saving

    table = make_table(
        ">month", "user", ">policy", ">calls", ">not sent", ">summaries", ">read anew", ">net"
    )
    table.columns[0].justify = "left"
    for one in savings:
        add_row(
            table,
            one.month or "",
            one_line(one.user_id or ""),
            "unsaved" if one.policy_version_id is None else f"#{one.policy_version_id}",
            *_cells(one),
        )
    table.add_section()
    add_row(table, "all", "", "", *_cells(total_saving(savings)), style="bold")
    yield table
    if unknown := sum(one.calls - one.compared_calls for one in savings):
        yield Text(f"{unknown:,} calls: what they would have sent is not known", style="dim")


def _cells(one: Saving) -> Iterator[str]:
    yield f"{one.calls:,}"
    yield f"{one.unsent_tokens:,} · {known_dollars(one.unsent_dollars)}"
    yield f"{one.summary_tokens:,} · {known_dollars(one.summary_dollars)}"
    yield f"{one.rewritten_tokens:,} · {known_dollars(one.rewritten_dollars)}"
    yield known_dollars(one.net_dollars)


def _shadow_table(results: Sequence[ShadowResult]) -> Iterator[RenderableType]:
    table = make_table(
        "user",
        ">since",
        ">sessions",
        ">compactions",
        ">next calls without → with",
        ">facts lost",
        ">rules lost",
        ">net",
    )
    for one in results:
        add_row(
            table,
            one_line(one.user_id),
            f"{one.first_at:%Y-%m-%d}",
            f"{one.sessions:,}",
            f"{one.compactions:,}",
            f"{one.next_calls:,}: {one.without_tokens:,} → {one.with_tokens:,}",
            f"{one.facts_lost:,}",
            f"{one.rules_lost:,}",
            known_dollars(one.dollars),
        )
    yield table
