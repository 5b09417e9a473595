"""Owns `ctxcore compact`: what a compaction makes of a conversation, now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from ctxcore.cli.about import About
from ctxcore.cli.asking import choose_confirm
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
from ctxcore.cli.summarizers import SummarizerModel, choose_summarizer

if TYPE_CHECKING:
    from ctxcore.compaction.results import CompactionResult
    from ctxcore.formats.values import Transcript

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
Yes = Annotated[
    bool, typer.Option("--yes", "-y", help="Answer that a compaction may be made, if asked.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """One conversation with what compacting it gave."""

    about: About
    result: CompactionResult
    writer: str | None = None
    """The model that was to write the summary."""

    @property
    def failed(self) -> bool:
        """Whether the model wrote no usable summary."""
        return self.writer is not None and self.result.state.failures > 0


def run_compact(
    paths: Paths,
    max_tokens: MaxTokens = None,
    target_tokens: Target = None,
    model: Model = None,
    window: Window = None,
    preset: Preset = None,
    config: Config = None,
    force: Force = False,
    summarizer: SummarizerModel = None,
    yes: Yes = False,
    only_id: ConversationId = None,
    show: Show = False,
    out: Out = None,
    overwrite: Overwrite = False,
    show_all: ShowAll = False,
    as_json: AsJson = False,
) -> None:
    """Fold older messages into a summary, and show each step with its gain.

    No file is changed. The summary quotes what was said, and no model is called, unless
    --summarizer names one. A policy that wants your consent (pi) asks on the terminal.
    """
    from ctxcore.cli.compacting_views import compacted_details, compacted_document, compacted_table
    from ctxcore.compaction.compacting import compact

    policy = choose_policy(preset, window, max_tokens, config)
    check_out(out, overwrite=overwrite, option="--overwrite")

    def work(transcript: Transcript) -> Compacted:
        about = About.of(transcript, model)
        result = compact(
            transcript.messages,
            policy=policy,
            max_tokens=max_tokens,
            target_tokens=target_tokens,
            summarizer=choose_summarizer(summarizer, about.model),
            model=about.model,
            tools=transcript.tools,
            force=force,
            confirm=choose_confirm(about.id, says_yes=yes),
        )
        return Compacted(about=about, result=result, writer=summarizer)

    outcome = run_over(paths, work, only_id=only_id)
    compacted = outcome.done
    if out is not None and compacted:
        named = [(one.about.id, one.result.context.messages) for one in compacted]
        write_messages(out, named, overwrite=overwrite)
    if as_json:
        results = (compacted_document(one, policy.name, with_messages=show) for one in compacted)
        print_json(outcome.to_dict("compact", results))
    elif show or shows_details(paths, outcome, show_all=show_all):
        details = (compacted_details(one, policy.name, show=show) for one in compacted)
        print_all([part for parts in details for part in parts])
    elif compacted:
        print_all(compacted_table(compacted, failures=len(outcome.failures)))
    raise typer.Exit(1 if any(one.failed for one in compacted) else outcome.exit_code)
