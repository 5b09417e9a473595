"""Owns how a comparison is printed: a row a preset, for one conversation or all, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ctxcore.cli.comparing import Compared, Row, total_rows
from ctxcore.cli.tables import add_row, closing, facts, make_table, section
from ctxcore.cli.texts import ESTIMATED, amount, one_line, plural
from ctxcore.messages.values import JsonObject, JsonValue

_LEGEND = (
    "cuts: compactions that left messages out without a summary",
    "refused: contexts some provider would refuse",
    "over: calls for which what must be kept did not fit",
    "sent: tokens of all calls together",
)


def compared_document(compared: Compared) -> JsonObject:
    """One comparison as `--json` prints it."""
    return {
        **compared.about.to_dict(),
        "messages": compared.messages,
        "calls": compared.calls,
        "window_tokens": compared.window_tokens,
        "max_tokens": compared.max_tokens,
        "window_is_assumed": compared.is_assumed,
        "is_exact": compared.is_exact,
        "presets": [_document(row) for row in compared.rows],
    }


def totals_document(compared: Sequence[Compared]) -> list[JsonValue]:
    """The rows of all conversations added up; the peak is the largest."""
    return [_document(row) for row in total_rows(compared)] if compared else []


def _document(row: Row) -> JsonObject:
    return {**asdict(row), "seconds": round(row.seconds, 3)}


def compared_details(compared: Compared, *, times: bool) -> Iterator[RenderableType]:
    """One conversation under every preset."""
    yield compared.about.heading()
    messages, calls = plural(compared.messages, "message"), plural(compared.calls, "call")
    yield facts(
        (
            ("model", one_line(compared.about.model or "not named")),
            ("budget", compared.budget),
            ("recorded", f"{messages}, {calls} to a model"),
        )
    )
    yield from _views(compared.rows, is_exact=compared.is_exact, times=times, failures=0)
    yield Text()


def total_views(
    compared: Sequence[Compared], *, times: bool, failures: int
) -> Iterator[RenderableType]:
    """All conversations together."""
    is_exact = all(one.is_exact for one in compared)
    assumed = sum(one.is_assumed for one in compared)
    count = plural(len(compared), "conversation")
    messages = plural(sum(one.messages for one in compared), "message")
    calls = plural(sum(one.calls for one in compared), "call")
    budgets = {one.budget for one in compared}
    said = budgets.pop() if len(budgets) == 1 else "the window of each one's model"
    rest = f"; {assumed:,} assumed" if assumed and not budgets else ""
    yield Text(f"{count}, {messages}, {calls} to a model · {said}{rest}")
    rows = total_rows(compared)
    yield from _views(rows, is_exact=is_exact, times=times, failures=failures)


def _views(
    rows: Sequence[Row], *, is_exact: bool, times: bool, failures: int
) -> Iterator[RenderableType]:
    yield section("On the way", "compactions and calls")
    yield _way_table(rows, is_exact=is_exact, times=times)
    yield section("At the end", "what becomes of the messages, and what the next call is sent")
    yield _end_table(rows, is_exact=is_exact)
    yield from closing([*_LEGEND, *([] if is_exact else [ESTIMATED])], failures)


def _way_table(rows: Sequence[Row], *, is_exact: bool, times: bool) -> Table:
    columns = (">compactions", ">summaries", ">cuts", ">refused", ">over", ">sent")
    table = make_table("preset", *columns, *((">seconds",) if times else ()))
    for row in rows:
        counts = (row.compactions, row.summaries, row.truncations, row.illegal, row.over)
        add_row(
            table,
            row.preset,
            *(f"{count:,}" for count in counts),
            amount(row.sent_tokens, is_exact=is_exact),
            *((f"{row.seconds:.1f}",) if times else ()),
        )
    return table


def _end_table(rows: Sequence[Row], *, is_exact: bool) -> Table:
    table = make_table("preset", ">kept", ">shortened", ">folded", ">dropped", ">tokens")
    for row in rows:
        counts = (row.kept, row.compressed, row.folded, row.dropped)
        size = amount(row.end_tokens, is_exact=is_exact)
        add_row(table, row.preset, *(f"{count:,}" for count in counts), size)
    return table
