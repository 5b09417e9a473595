"""Owns how the account of recorded compactions is printed: theirs beside ours, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ctxcore.cli.replaying_recorded import Accounted
from ctxcore.cli.replaying_views import lost_lines
from ctxcore.cli.tables import add_row, bullets, facts, make_table, section
from ctxcore.cli.texts import amount, plural
from ctxcore.messages.values import JsonObject
from ctxcore.replay.recorded import FoldAccount, Saved

_MOST_REPEATS = 8


def accounted_document(accounted: Accounted) -> JsonObject:
    """One conversation as `--json` prints it."""
    return {
        **accounted.about.to_dict(),
        "compactions": [
            {"preset": preset, **account.to_dict()} for preset, account in accounted.accounts
        ],
    }


def accounted_details(accounted: Accounted) -> Iterator[RenderableType]:
    """One conversation: each of its compactions with what it lost."""
    yield accounted.about.heading()
    for preset, account in accounted.accounts:
        yield from _account(preset, account)
    yield Text()


def _account(preset: str, account: FoldAccount) -> Iterator[RenderableType]:
    fold = account.fold
    how = f" · {fold.trigger}" if fold.trigger else ""
    yield section("Compaction", f"before message {fold.at + 1:,}{how}")
    before = "not told" if fold.before_tokens is None else f"{fold.before_tokens:,} tokens"
    told = "" if fold.context_tokens is None else f"{fold.context_tokens:,} told, "
    needed = len(account.literals)
    yield facts(
        (
            ("before", before),
            ("after", f"{told}{account.shown_tokens:,} tokens in the file, which ours has too"),
            ("facts", f"{account.facts:,} held before it"),
            ("literals", f"{needed:,} used later; {account.came_again:,} said again before that"),
        )
    )
    yield _table(preset, account)
    yield from _lost("Lost and needed later", account.theirs)
    if account.ours:
        yield from _lost(f"Lost by {preset} and needed later", account.ours)
    repeats = [
        f"{one.function_name}, message {one.at + 1:,}, {one.tokens:,} tokens: {one.what}"
        for one in account.repeats
    ]
    if repeats:
        said = f"{plural(len(repeats), 'call')}, {amount(account.repeated_tokens)} tokens"
        yield section("Read or asked again", said)
        yield from bullets(repeats, most=_MOST_REPEATS, more="in --json")


def _table(preset: str, account: FoldAccount) -> Table:
    columns = (">tokens", ">facts said", ">lost", ">needed later", ">literals said")
    table = make_table("context", *columns)
    for name, saved in (("theirs", account.theirs), (preset, account.ours)):
        if saved is None:
            add_row(table, name, "does not fit", "", "", "", "")
            continue
        literals = f"{saved.literals_said:,} of {len(account.literals):,}"
        counts = (saved.tokens, saved.facts_said, len(saved.lost), len(saved.needed_later))
        add_row(table, name, *(f"{count:,}" for count in counts), literals)
    return table


def _lost(title: str, saved: Saved) -> Iterator[RenderableType]:
    if saved.needed_later:
        yield section(title)
        yield from lost_lines(saved.needed_later)
