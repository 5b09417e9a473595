"""Owns how contexts are printed by `fit`: in detail, or one line each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from ctxcore.cli.about import short_names
from ctxcore.cli.context_views import budget_line, context_details, counts_line, size_line
from ctxcore.cli.fitting import Fitted
from ctxcore.cli.tables import TailText, add_row, closing, facts, make_table
from ctxcore.cli.texts import ESTIMATED, amount, one_line, percent, plural


def fitted_details(fitted: Fitted, preset: str, *, show: bool) -> Iterator[RenderableType]:
    """Everything about one context."""
    context = fitted.context
    yield fitted.about.heading()
    yield facts(
        (
            ("model", one_line(fitted.about.model or "not named")),
            ("policy", preset),
            ("budget", budget_line(context.budget)),
            ("messages", counts_line(context)),
            ("sent", size_line(context)),
        )
    )
    yield from context_details(context, show=show)
    yield Text()


def fitted_table(fitted: Sequence[Fitted], *, failures: int) -> Iterator[RenderableType]:
    """One line a conversation: its size before and after, and what gave way."""
    names = short_names([one.about for one in fitted])
    table = make_table(
        "conversation", ">messages", ">gone", ">shorter", ">tokens", ">sent", ">of usable", "notes"
    )
    for name, one in zip(names, fitted, strict=True):
        context = one.context
        budget = context.budget
        before = sum(run.before_tokens for run in context.runs)
        add_row(
            table,
            TailText(name),
            f"{len(context.verdicts):,}",
            _count(one, "dropped", "summarized"),
            _count(one, "compressed"),
            amount(before, is_exact=context.is_exact),
            amount(context.tokens, is_exact=context.is_exact),
            percent(context.tokens / budget.usable_tokens) if budget else "",
            plural(len(context.repairs), "repair") if context.repairs else "",
        )
    yield table
    is_exact = all(one.context.is_exact for one in fitted)
    yield from closing([] if is_exact else [ESTIMATED], failures)


def _count(fitted: Fitted, *verdicts: str) -> str:
    runs = [run for run in fitted.context.runs if run.verdict in verdicts]
    count = sum(run.last - run.first + 1 for run in runs)
    return f"{count:,}" if count else ""
