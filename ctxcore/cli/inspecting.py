"""Owns `ctxcore inspect`: where the tokens of recorded conversations went."""

from __future__ import annotations

from typing import Annotated

import typer

from ctxcore.cli.options import AsJson, ConversationId, Model, Paths, ShowAll
from ctxcore.cli.output import print_all, print_json
from ctxcore.cli.running import run_over, shows_details

Window = Annotated[
    int | None,
    typer.Option(
        "--window",
        metavar="TOKENS",
        min=1,
        help="The context window to measure against, instead of the model's.",
        show_default=False,
    ),
]


def run_inspect(
    paths: Paths,
    model: Model = None,
    window: Window = None,
    only_id: ConversationId = None,
    show_all: ShowAll = False,
    as_json: AsJson = False,
) -> None:
    """Show where the tokens of conversations went, and what providers would refuse.

    One file is shown in detail, a folder as a table with one line a conversation.
    """
    from ctxcore.cli.account_tables import account_table
    from ctxcore.cli.account_views import account_details
    from ctxcore.cli.accounts import account_document, take_account, totals_document

    outcome = run_over(paths, lambda found: take_account(found, model, window), only_id=only_id)
    accounts = outcome.done
    if as_json:
        document = outcome.to_dict("inspect", map(account_document, accounts))
        print_json({**document, "totals": totals_document(accounts)})
    elif shows_details(paths, outcome, show_all=show_all):
        print_all([part for account in accounts for part in account_details(account)])
    elif accounts:
        print_all(account_table(accounts, failures=len(outcome.failures)))
    raise typer.Exit(outcome.exit_code)
