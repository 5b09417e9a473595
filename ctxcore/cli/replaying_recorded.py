"""Owns how the account of recorded compactions is printed: theirs beside ours, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ctxcore.cli.output import amount, plural, print_all, print_json, print_note
from ctxcore.cli.replaying import lost_lines
from ctxcore.cli.running import About, run_over
from ctxcore.cli.tables import add_row, bullets, facts, make_table, section
from ctxcore.policy.values import Policy

if TYPE_CHECKING:
    from ctxcore.formats.values import RecordedCompaction, Transcript
    from ctxcore.messages.values import JsonObject
    from ctxcore.replay.recorded import FoldAccount, RecordedFold, Saved

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
    from ctxcore.cli.replaying_recorded import accounted_details, accounted_document

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
    from ctxcore.compaction.simulation import Recording
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
