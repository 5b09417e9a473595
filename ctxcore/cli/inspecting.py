"""`ctxcore inspect`: prints where the tokens of conversations went, and what providers refuse."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ctxcore.cli import options
from ctxcore.cli.accounts import repair_lines
from ctxcore.cli.output import (
    ESTIMATED,
    amount,
    cost_text,
    known_dollars,
    one_line,
    percent,
    plural,
    print_all,
    print_json,
    stdout,
)
from ctxcore.cli.running import run_over, short_names, shows_details
from ctxcore.cli.tables import (
    TailText,
    add_row,
    bullets,
    closing,
    facts,
    gauge,
    make_table,
    section,
    share_bar,
)

if TYPE_CHECKING:
    from ctxcore.cli.accounts import Account, Legality
    from ctxcore.formats.report import ProviderTotals
    from ctxcore.formats.values import RecordedCompaction

_WIDE_CELLS = 100  # chosen: all columns fit beside a name
_NARROW_CELLS = 76  # chosen: below it, names need the room of columns that are mostly empty
_MOST_FILES = 12  # chosen: with _MOST_PROBLEMS, details of one file fit two screens
_MOST_PROBLEMS = 10
_MOST_HINTS = 5
_SUMMARY_CHARS = 120  # chosen: two lines of a narrow column
_IN_JSON = "(--json lists all)"

Window = Annotated[
    int | None,
    typer.Option(
        "--window",
        metavar="TOKENS",
        min=1,
        help="Context window to measure against; default: the model's.",
    ),
]


AllHints = Annotated[
    bool, typer.Option("--hints", help="All hints at what costs tokens, not the first five.")
]


def run_inspect(
    paths: options.Paths,
    model: options.Model = None,
    window: Window = None,
    all_hints: AllHints = False,
    only_id: options.ConversationId = None,
    show_all: options.ShowAll = False,
    as_json: options.AsJson = False,
) -> None:
    """Show where the tokens of conversations went, and what providers would reject.

    One file is shown in detail, a folder as a table with one line a conversation.
    """
    from ctxcore.cli.accounts import account_document, take_account, totals_document

    outcome = run_over(paths, lambda found: take_account(found, model, window), only_id=only_id)
    accounts = outcome.done
    if as_json:
        document = outcome.to_dict("inspect", map(account_document, accounts))
        print_json({**document, "totals": totals_document(accounts)})
    elif shows_details(paths, outcome, show_all=show_all):
        print_all([part for account in accounts for part in _details(account, all_hints)])
    elif accounts:
        print_all(_table(accounts, failures=len(outcome.failures)))
    raise typer.Exit(outcome.exit_code)


def _details(account: Account, all_hints: bool) -> Iterator[RenderableType]:
    yield account.about.heading()
    yield facts(_facts(account))
    report = account.report
    precision = "exact" if report.is_exact else "estimated"
    counter = report.counter_id.removeprefix("estimate:")
    yield section("Where the tokens go", f"{precision}, {counter}")
    yield _parts_table(account)
    if report.tools:
        yield section("Tools")
        yield _tools_table(account)
    if report.files:
        yield section("Files", "the same tokens, by the file named in a call")
        yield _files_table(account)
    if report.provider:
        yield section("What the provider reported", "each call once")
        yield facts(_provider_facts(report.provider, account))
    if account.hints:
        yield from _hints_view(account, None if all_hints else _MOST_HINTS)
    if account.compactions:
        yield section("Compactions recorded in the file")
        yield _compactions_table(account.compactions)
    yield section("Would providers accept all messages unchanged?", "`ctxcore fit` repairs")
    yield from legality_view(account.legality)
    if account.problems:
        yield section("Problems in the file", plural(len(account.problems), "problem"))
        lines = [
            f"{'' if problem.line is None else f'line {problem.line:,}: '}{problem.reason}"
            for problem in account.problems
        ]
        yield from bullets(lines, most=_MOST_PROBLEMS, more=_IN_JSON)
    if account.repairs:
        yield section("Put right while reading")
        yield from bullets([*repair_lines(account.repairs)], most=_MOST_PROBLEMS, more=_IN_JSON)
    yield Text()


def _facts(account: Account) -> Iterator[tuple[str, str | Text]]:
    is_exact = account.report.is_exact
    window = account.window_tokens
    roles = ", ".join(f"{role} {count:,}" for role, count in account.roles.items())
    turns, calls = plural(account.turns, "turn"), plural(account.calls, "tool call")
    yield "messages", f"{account.messages:,}: {roles} · {turns} · {calls}"
    yield "model", one_line(account.about.model or "not named")
    assumed = ", assumed from the model's family" if account.window_is_assumed else ""
    yield "window", f"{window:,} tokens{assumed}" if window else "unknown; set --window or --model"
    yield "all sent", _fullness(account.input_tokens, window, is_exact=is_exact)
    if account.compactions:
        yield "since compaction", _fullness(account.live_tokens, window, is_exact=is_exact)
    ignored = ", ".join(f"{one_line(kind)} {count:,}" for kind, count in account.ignored.items())
    yield "not messages", ignored


def _fullness(tokens: int, window: int | None, *, is_exact: bool) -> Text:
    line = Text(f"{amount(tokens, is_exact=is_exact)} tokens  ")
    return line.append(gauge(tokens / window)) if window else line


def _parts_table(account: Account) -> Table:
    report = account.report
    calls = sum(tool.calls for tool in report.tools)
    parts = (
        ("system", report.system_tokens),
        ("user", report.user_tokens),
        ("assistant", report.assistant_tokens),
        ("thinking", report.thinking_tokens),
        (f"tool calls ({calls:,})", report.call_tokens),
        ("tool results", report.result_tokens),
        ("results without a call", report.orphan_tokens),
        ("recorded summaries", report.summary_tokens),
        ("tool definitions", account.tools_tokens),
    )
    total = sum(tokens for _, tokens in parts)
    table = make_table("part", ">tokens", ">share", "")
    for name, tokens in parts:
        if tokens:
            size = amount(tokens, is_exact=report.is_exact)
            add_row(table, name, size, percent(tokens / total), share_bar(tokens / total))
    table.add_section()
    add_row(table, "total", amount(total, is_exact=report.is_exact), "", "", style="bold")
    return table


def _tools_table(account: Account) -> Table:
    report = account.report
    total = account.total_tokens
    table = make_table("tool", ">calls", ">call tokens", ">result tokens", ">share")
    for tool in report.tools:
        call_size = amount(tool.call_tokens, is_exact=report.is_exact)
        result_size = amount(tool.result_tokens, is_exact=report.is_exact)
        share = percent(tool.total_tokens / total) if total else ""
        add_row(table, one_line(tool.name), f"{tool.calls:,}", call_size, result_size, share)
    return table


def _files_table(account: Account) -> Table:
    is_exact = account.report.is_exact
    files = account.report.files
    names = _below_common([file.path for file in files])
    table = make_table("file", ">reads", ">tokens", ">re-reads", ">tokens", ">others", ">tokens")
    for name, file in zip(names[:_MOST_FILES], files, strict=False):
        add_row(
            table,
            TailText(one_line(name)),
            f"{file.reads:,}",
            amount(file.read_tokens, is_exact=is_exact),
            f"{file.rereads:,}" if file.rereads else "",
            amount(file.reread_tokens, is_exact=is_exact) if file.rereads else "",
            f"{file.other_calls:,}" if file.other_calls else "",
            amount(file.other_tokens, is_exact=is_exact) if file.other_calls else "",
        )
    left = len(files) - _MOST_FILES
    if left > 0:
        add_row(table, f"… and {plural(left, 'more file')} {_IN_JSON}", style="dim")
    return table


def _below_common(paths: Sequence[str]) -> list[str]:
    """`paths` without the folder that all absolute ones share."""
    absolute = [PurePosixPath(path).parent for path in paths if path.startswith("/")]
    base = os.path.commonpath(absolute) if len(absolute) > 1 else "/"
    if base == "/":
        return list(paths)
    return [path.removeprefix(f"{base}/") for path in paths]


def _provider_facts(provider: ProviderTotals, account: Account) -> Iterator[tuple[str, str | Text]]:
    unattributed = account.report.unattributed_tokens
    read, written = provider.cache_read_tokens, provider.cache_write_tokens
    yield "calls", f"{provider.calls:,}"
    yield "input", f"{provider.input_tokens:,} · from cache {read:,} · into cache {written:,}"
    yield "output", f"{provider.output_tokens:,}"
    yield "cost", cost_text(account.cost)
    yield (
        "largest context",
        _fullness(provider.largest_context_tokens, account.window_tokens, is_exact=True),
    )
    if unattributed is not None:
        yield (
            "in no message",
            f"{unattributed:,} of the first call: system prompt and tools that are not in the file",
        )


def _hints_view(account: Account, most: int | None) -> Iterator[RenderableType]:
    """The hints with the most tokens; messages count from 0 as everywhere in this command."""
    yield section("Hints", "what these tokens cost in all calls together")
    table = make_table(">tokens", ">cost", ">message", "*hint")
    for hint in account.hints[:most]:
        tokens = amount(hint.tokens, is_exact=account.report.is_exact)
        at = "" if hint.at is None else f"{hint.at:,}"
        add_row(table, tokens, known_dollars(hint.dollars), at, one_line(str(hint.reason)))
    left = 0 if most is None else len(account.hints) - most
    if left > 0:
        add_row(table, "", "", "", f"… and {plural(left, 'more hint')} (--hints lists all)")
    yield table


def _compactions_table(compactions: Sequence[RecordedCompaction]) -> Table:
    table = make_table(">before message", ">tokens before", "why", "recorded at", "*summary")
    for one in compactions:
        summary = one_line(one.summary)
        add_row(
            table,
            f"{one.at:,}",
            "" if one.before_tokens is None else f"{one.before_tokens:,}",
            one_line(one.trigger or ""),
            f"{one.recorded_at:%Y-%m-%d %H:%M}" if one.recorded_at else "",
            summary if len(summary) <= _SUMMARY_CHARS else f"{summary[: _SUMMARY_CHARS - 1]}…",
        )
    return table


def legality_view(legality: Legality) -> Iterator[RenderableType]:
    """A line of providers, and below it what they would refuse, by rule."""
    verdicts = Text("  ")
    for provider, violations in legality.items():
        verdicts.append(f"{provider} ", style="dim")
        verdict = (f"no ({len(violations):,})", "red") if violations else ("yes", "green")
        verdicts.append(*verdict).append("   ")
    yield verdicts
    if any(legality.values()):
        yield Text()
        yield _violations_table(legality)


def _violations_table(legality: Legality) -> Table:
    in_tools = -1  # before all messages
    found: dict[str, set[tuple[int, str]]] = defaultdict(set)
    providers: dict[str, dict[str, None]] = defaultdict(dict)  # in order, each once
    for provider, violations in legality.items():
        for violation in violations:
            at = in_tools if violation.at is None else violation.at
            found[violation.rule].add((at, violation.detail))
            providers[violation.rule][provider] = None
    table = make_table("rule", ">times", ">first at", "refused by", "*for example")
    for rule, places in found.items():
        at, detail = min(places)
        who = ", ".join(providers[rule]) if len(providers[rule]) < len(legality) else "all"
        first = "tools" if at == in_tools else f"{at:,}"
        add_row(table, rule, f"{len(places):,}", first, who, one_line(detail))
    return table


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of numbers in the table of conversations; `is_share`: shares of the window."""

    name: str
    value: Callable[[Account], float]
    is_tokens: bool = False
    is_share: bool = False
    least_cells: int = 0
    """The terminal width below which the column is left out."""

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


def _table(accounts: Sequence[Account], *, failures: int) -> Iterator[RenderableType]:
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


def _legend(accounts: Sequence[Account]) -> Iterator[str]:
    formats = {account.about.format for account in accounts}
    if len(formats) == 1:
        yield from formats
    if not all(account.report.is_exact for account in accounts):
        yield ESTIMATED
    if any(account.usage_ratio for account in accounts):
        yield "window: share used if all messages were sent"
    if any(account.violations for account in accounts):
        yield "refused: rule violations that at least one provider would reject"
