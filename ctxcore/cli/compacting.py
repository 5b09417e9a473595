"""Owns `ctxcore compact`: what a compaction without a model makes of a conversation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from ctxcore.cli.about import About
from ctxcore.cli.choices import choose_policy
from ctxcore.cli.options import (
    AsJson,
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
    from ctxcore.compaction.compacting import CompactionResult
    from ctxcore.formats.values import Transcript
    from ctxcore.policy import Policy

Target = Annotated[
    int | None,
    typer.Option(
        "--target-tokens",
        metavar="TOKENS",
        min=1,
        help="Where the compaction stops; else the policy's share of the budget.",
        show_default=False,
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Compact though no rule asks for it.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Let --out overwrite a file.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """One conversation with what compacting it gave."""

    about: About
    result: CompactionResult


def run_compact(
    paths: Paths,
    max_tokens: MaxTokens = None,
    target_tokens: Target = None,
    model: Model = None,
    window: Window = None,
    preset: Preset = "default",
    force: Force = False,
    only_id: ConversationId = None,
    show: Show = False,
    out: Out = None,
    overwrite: Overwrite = False,
    show_all: ShowAll = False,
    as_json: AsJson = False,
) -> None:
    """Fold older messages into an extractive summary, and show each step with its gain.

    No model is called and no file is changed; the summary quotes what was said.
    """
    from ctxcore.cli.compacting_views import compacted_details, compacted_document, compacted_table

    policy = choose_policy(preset, window, max_tokens)
    check_out(out, overwrite=overwrite, option="--overwrite")

    def work(transcript: Transcript) -> Compacted:
        return _compact(transcript, policy, max_tokens, target_tokens, model, force)

    outcome = run_over(paths, work, only_id=only_id)
    compacted = outcome.done
    if out is not None and compacted:
        named = [(one.about.id, one.result.context.messages) for one in compacted]
        write_messages(out, named, overwrite=overwrite)
    if as_json:
        results = (compacted_document(one, preset, with_messages=show) for one in compacted)
        print_json(outcome.to_dict("compact", results))
    elif show or shows_details(paths, outcome, show_all=show_all):
        print_all([part for one in compacted for part in compacted_details(one, preset, show=show)])
    elif compacted:
        print_all(compacted_table(compacted, failures=len(outcome.failures)))
    raise typer.Exit(outcome.exit_code)


def _compact(
    transcript: Transcript,
    policy: Policy,
    max_tokens: int | None,
    target_tokens: int | None,
    model: str | None,
    force: bool,
) -> Compacted:
    from ctxcore.compaction.compacting import compact

    about = About.of(transcript, model)
    result = compact(
        transcript.messages,
        policy=policy,
        max_tokens=max_tokens,
        target_tokens=target_tokens,
        model=about.model,
        tools=transcript.tools,
        force=force,
    )
    return Compacted(about=about, result=result)
