"""`ctxcore replay --recorded`: what recorded compactions lost, beside what a preset would lose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ctxcore.cli.output import amount, plural, print_all, print_json, print_note
from ctxcore.cli.running import About, run_over
from ctxcore.cli.tables import add_row, bullets, facts, make_table, section
from ctxcore.policy.values import Policy

if TYPE_CHECKING:
    from ctxcore.formats.values import Transcript
    from ctxcore.messages.values import JsonObject
    from ctxcore.replay.losses import NeededFact
    from ctxcore.replay.recorded import FoldAccount

MINOR_FACTS = "dates and bare numbers that nobody used again"
_MOST_LOST = 8  # chosen, as the next: one compaction fits a screen; `--json` has all
_MOST_REPEATS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounted:
    """One conversation with the accounts of its compactions under each preset."""

    about: About
    accounts: tuple[tuple[str, FoldAccount], ...]
    """Pairs of a preset and an account."""


def run_recorded(
    paths: Sequence[Path],
    presets: Sequence[str],
    model: str | None,
    *,
    only_id: str | None,
    as_json: bool,
) -> int:
    """Prints the account of every recorded compaction; returns the exit code."""
    outcome = run_over(paths, lambda one: _account_for(one, presets, model), only_id=only_id)
    if as_json:
        print_json(outcome.to_dict("replay", map(_document, outcome.done)))
        return outcome.exit_code
    found = [one for one in outcome.done if one.accounts]
    print_all([part for one in found for part in _details(one)])
    if outcome.done and not found:
        print_note("the file records no compactions")
    return outcome.exit_code


def _account_for(transcript: Transcript, presets: Sequence[str], model: str | None) -> Accounted:
    from ctxcore.compaction.simulation import Recording
    from ctxcore.formats.folds import recorded_folds
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


def _document(accounted: Accounted) -> JsonObject:
    return {
        **accounted.about.to_dict(),
        "compactions": [
            {"preset": preset, **account.to_dict()} for preset, account in accounted.accounts
        ],
    }


def _details(accounted: Accounted) -> Iterator[RenderableType]:
    yield accounted.about.heading()
    for preset, account in accounted.accounts:
        yield from _account(preset, account)
    yield Text()


def _account(preset: str, account: FoldAccount) -> Iterator[RenderableType]:
    fold = account.fold
    how = f" · {fold.trigger}" if fold.trigger else ""
    yield section("Compaction", f"before message {fold.at + 1:,}{how}")
    before = "not recorded" if fold.before_tokens is None else f"{fold.before_tokens:,} tokens"
    reported = "" if fold.context_tokens is None else f"{fold.context_tokens:,} reported, "
    needed = len(account.literals)
    yield facts(
        (
            ("before", before),
            ("after", f"{reported}{account.shown_tokens:,} tokens in the file; ours has as many"),
            ("facts", f"{account.facts:,} held before it"),
            ("literals", f"{needed:,} used later; {account.came_again:,} repeated before that"),
        )
    )
    yield _table(preset, account)
    yield Text(verdict_line(preset, account))
    lost = {"Lost": account.theirs, f"Lost by {preset}": account.ours}
    for title, saved in lost.items():
        if saved is not None and saved.needed_later:
            yield section(f"{title} and needed later")
            yield from lost_lines(saved.needed_later)
    repeats = [
        f"{one.function_name}, message {one.at + 1:,}, {one.tokens:,} tokens: {one.what}"
        for one in account.repeats
    ]
    if repeats:
        size = f"{plural(len(repeats), 'call')}, {amount(account.repeated_tokens)} tokens"
        yield section("Repeated tool calls", size)
        yield from bullets(repeats, most=_MOST_REPEATS, more="in --json")


def verdict_line(preset: str, account: FoldAccount) -> str:
    """What the recorded compaction lost of what was needed, and what the preset would have."""
    under = "" if account.ours is None else f"; under {preset} {len(account.ours.needed_later):,}"
    return f"{account.verdict.reason}{under if account.verdict.needed else ''}"


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


def lost_lines(lost: Sequence[NeededFact]) -> list[Text]:
    """Lost facts, a line each; dates and numbers that nobody needed are only counted."""
    from ctxcore.compaction.loss_report import loss_code

    shown = [fact for fact in lost if fact.rank != "minor"]
    lines = []
    for fact in shown:
        needed = "" if fact.needed_at is None else f" · needed at message {fact.needed_at + 1:,}"
        kind = loss_code(fact.kind).text
        lines.append(f"{kind}, message {fact.at + 1:,}{needed}: {fact.text}")
    drawn = list(bullets(lines, most=_MOST_LOST, more="in --json"))
    if minor := len(lost) - len(shown):
        drawn.append(Text(f"  and {minor:,} {MINOR_FACTS}", style="dim"))
    return drawn
