"""Owns the table of many conversations that `inspect` prints, one line each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import RenderableType

from ctxcore.cli.about import short_names
from ctxcore.cli.accounts import Account
from ctxcore.cli.output import stdout
from ctxcore.cli.tables import TailText, add_row, closing, make_table
from ctxcore.cli.texts import ESTIMATED, amount, percent, plural

_WIDE_CELLS = 100
_NARROW_CELLS = 76  # less, and names would give way to numbers that are mostly empty


def account_table(accounts: Sequence[Account], *, failures: int) -> Iterator[RenderableType]:
    """One line a conversation, and the totals."""
    width = stdout().width
    columns = [
        column
        for column in _COLUMNS
        if width >= column.least_cells and any(column.value(one) for one in accounts)
    ]
    formats = {account.about.format for account in accounts}
    has_formats = len(formats) > 1 and width >= _WIDE_CELLS
    headers = [f">{column.name}" for column in columns]
    table = make_table("conversation", *(["format"] if has_formats else []), *headers)
    names = short_names([account.about for account in accounts])
    for name, account in zip(names, accounts, strict=True):
        row: list[str | RenderableType] = [TailText(name)]
        row += [account.about.format] if has_formats else []
        add_row(table, *row, *(column.shown(account) for column in columns))
    table.add_section()
    blank = [""] if has_formats else []
    sums = (column.total(accounts) for column in columns)
    add_row(table, plural(len(accounts), "conversation"), *blank, *sums, style="bold")
    yield table
    yield from closing(_legend(accounts), failures)


@dataclass(frozen=True, slots=True)
class _Column:
    """A number in the table of conversations; `is_share` is a share of the window."""

    name: str
    value: Callable[[Account], float]
    is_tokens: bool = False
    is_share: bool = False
    least_cells: int = 0
    """Left out where the terminal is narrower."""

    def shown(self, account: Account) -> str:
        value = self.value(account)
        if self.is_share:
            return percent(value) if value else ""
        is_exact = account.report.is_exact or not self.is_tokens
        return amount(int(value), is_exact=is_exact) if value else ""

    def total(self, accounts: Sequence[Account]) -> str:
        if self.is_share:
            return ""
        is_exact = not self.is_tokens or all(account.report.is_exact for account in accounts)
        return amount(sum(int(self.value(account)) for account in accounts), is_exact=is_exact)


_COLUMNS = (
    _Column("messages", lambda account: account.messages),
    _Column("calls", lambda account: account.calls, least_cells=_WIDE_CELLS),
    _Column("tokens", lambda account: account.total_tokens, is_tokens=True),
    _Column("window", lambda account: account.usage_ratio or 0, is_share=True),
    _Column("compacted", lambda account: len(account.compactions), least_cells=_NARROW_CELLS),
    _Column("problems", lambda account: len(account.problems), least_cells=_NARROW_CELLS),
    _Column("refused", lambda account: account.violations, least_cells=_NARROW_CELLS),
)


def _legend(accounts: Sequence[Account]) -> Iterator[str]:
    formats = {account.about.format for account in accounts}
    if len(formats) == 1:
        yield from formats
    if not all(account.report.is_exact for account in accounts):
        yield ESTIMATED
    if any(account.usage_ratio for account in accounts):
        yield "window: how full it would be if all were sent"
    if any(account.violations for account in accounts):
        yield "refused: places some provider would refuse as they are"
