"""Owns `ctxcore replay --recorded`: the compactions that a recording program made itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ctxcore.cli.about import About
from ctxcore.cli.output import print_all, print_json, print_note
from ctxcore.cli.running import run_over
from ctxcore.policy.values import Policy

if TYPE_CHECKING:
    from ctxcore.formats.values import RecordedCompaction, Transcript
    from ctxcore.replay.recorded import FoldAccount, RecordedFold

NONE_RECORDED = "no compaction of its own is recorded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounted:
    """One conversation with the account of its compactions, under each of the presets."""

    about: About
    accounts: tuple[tuple[str, FoldAccount], ...]
    """The preset beside it, and the account."""


def run_recorded(
    paths: Sequence[Path],
    presets: Sequence[str],
    model: str | None,
    *,
    only_id: str | None,
    as_json: bool,
) -> int:
    """Prints the account of every recorded compaction; the exit code."""
    from ctxcore.cli.replaying_recorded_views import accounted_details, accounted_document

    outcome = run_over(paths, lambda one: _account_for(one, presets, model), only_id=only_id)
    if as_json:
        print_json(outcome.to_dict("replay", map(accounted_document, outcome.done)))
        return outcome.exit_code
    found = [one for one in outcome.done if one.accounts]
    print_all([part for one in found for part in accounted_details(one)])
    if outcome.done and not found:
        print_note(NONE_RECORDED)
    return outcome.exit_code


def _account_for(transcript: Transcript, presets: Sequence[str], model: str | None) -> Accounted:
    from ctxcore.compaction.recording import Recording
    from ctxcore.replay.recorded import account_for_folds

    about = About.of(transcript, model)
    if not transcript.compactions:
        return Accounted(about=about, accounts=())
    recording = Recording(transcript.messages, model=about.model, tools=transcript.tools)
    folds = recorded_folds(transcript, about.model)
    accounts = [
        (name, account)
        for name in presets
        for account in account_for_folds(recording, folds, Policy.preset(name))
    ]
    return Accounted(about=about, accounts=tuple(accounts))


def recorded_folds(transcript: Transcript, model: str | None) -> list[RecordedFold]:
    """The compactions of `transcript` with the size of the context right after each.

    That is what the provider counted for the next call, less what it counted in the first call
    beyond the messages before it: system prompt and tool definitions, which the file hides.
    """
    from ctxcore.formats.report import usage_report
    from ctxcore.replay.recorded import RecordedFold
    from ctxcore.tokens.count import counter_for

    hidden = usage_report(transcript, counter_for(model)).unattributed_tokens or 0

    def context_tokens(made: RecordedCompaction) -> int | None:
        sizes = (one.total_input_tokens for one in transcript.usage if one.after >= made.at)
        size = next((size for size in sizes if size), None)
        return None if size is None else max(0, size - hidden)

    return [
        RecordedFold(
            at=made.at,
            summary=made.summary,
            before_tokens=made.before_tokens,
            context_tokens=context_tokens(made),
            trigger=made.trigger,
        )
        for made in transcript.compactions
    ]
