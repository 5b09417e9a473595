"""Owns `ctxcore fit`: what of a conversation a model would be sent, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from ctxcore.cli.about import About
from ctxcore.cli.choices import choose_policy
from ctxcore.cli.options import (
    AsJson,
    Config,
    ConversationId,
    MaxTokens,
    Model,
    Out,
    Paths,
    Preset,
    Show,
    ShowAll,
    Window,
)
from ctxcore.cli.output import check_out, print_all, print_json, write_messages
from ctxcore.cli.running import run_over, shows_details

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
    paths: Paths,
    max_tokens: MaxTokens = None,
    model: Model = None,
    window: Window = None,
    preset: Preset = None,
    config: Config = None,
    only_id: ConversationId = None,
    show: Show = False,
    out: Out = None,
    overwrite: Overwrite = False,
    show_all: ShowAll = False,
    as_json: AsJson = False,
) -> None:
    """Show what a model would be sent of conversations: kept, compressed or dropped, and why.

    No model is called and no file is changed.
    """
    from ctxcore.cli.context_documents import context_document
    from ctxcore.cli.fitting_views import fitted_details, fitted_table

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
        print_all([part for one in fitted for part in fitted_details(one, policy.name, show=show)])
    elif fitted:
        print_all(fitted_table(fitted, failures=len(outcome.failures)))
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
