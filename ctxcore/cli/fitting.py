"""`ctxcore fit`: builds the contexts of conversations and prints them, in detail or a line each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from ctxcore.cli import options
from ctxcore.cli.choices import choose_policy
from ctxcore.cli.contexts import (
    budget_line,
    context_details,
    context_document,
    counts_line,
    size_line,
)
from ctxcore.cli.output import (
    ESTIMATED,
    amount,
    check_out,
    one_line,
    percent,
    plural,
    print_all,
    print_json,
    write_messages,
)
from ctxcore.cli.running import About, run_over, short_names, shows_details
from ctxcore.cli.tables import TailText, add_row, closing, facts, make_table

if TYPE_CHECKING:
    from ctxcore.assembly.context import Context
    from ctxcore.formats.values import Transcript
    from ctxcore.policy.values import Policy

Overwrite = Annotated[
    bool, typer.Option("--force", "--overwrite", help="Let --out overwrite a file.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """One conversation with its context."""

    about: About
    context: Context


def run_fit(
    paths: options.Paths,
    max_tokens: options.MaxTokens = None,
    model: options.Model = None,
    window: options.Window = None,
    preset: options.Preset = None,
    config: options.Config = None,
    only_id: options.ConversationId = None,
    show: options.Show = False,
    out: options.Out = None,
    overwrite: Overwrite = False,
    show_all: options.ShowAll = False,
    as_json: options.AsJson = False,
) -> None:
    """Show which messages a model would get: kept, compressed or dropped, and why.

    No model is called and no file is changed.
    """
    policy = choose_policy(preset, window, max_tokens, config)
    check_out(out, overwrite=overwrite, option="--force")
    outcome = run_over(paths, lambda t: _fit(t, policy, max_tokens, model), only_id=only_id)
    fitted = outcome.done
    if out is not None and fitted:
        named = [(one.about.id, one.context.messages) for one in fitted]
        write_messages(out, named, overwrite=overwrite)
    if as_json:
        results = (
            {
                **one.about.to_dict(),
                "preset": policy.name,
                **context_document(one.context, with_messages=show),
            }
            for one in fitted
        )
        print_json(outcome.to_dict("fit", results))
    elif show or shows_details(paths, outcome, show_all=show_all):
        print_all([part for one in fitted for part in _details(one, policy.name, show=show)])
    elif fitted:
        print_all(_table(fitted, failures=len(outcome.failures)))
    raise typer.Exit(outcome.exit_code)


def _fit(
    transcript: Transcript, policy: Policy, max_tokens: int | None, model: str | None
) -> Fitted:
    from ctxcore.assembly.fitting import fit

    about = About.of(transcript, model)
    context = fit(
        transcript.messages,
        policy=policy,
        max_tokens=max_tokens,
        model=about.model,
        tools=transcript.tools,
    )
    return Fitted(about=about, context=context)


def _details(fitted: Fitted, preset: str, *, show: bool) -> Iterator[RenderableType]:
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


def _table(fitted: Sequence[Fitted], *, failures: int) -> Iterator[RenderableType]:
    """One line a conversation: its size before and after, and what was left out or shortened."""
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
