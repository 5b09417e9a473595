"""`ctxcore compare`: simulates conversations under every preset and prints a row for each."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ctxcore.cli import options
from ctxcore.cli.choices import (
    ASSUMED_WINDOW_TOKENS,
    Budget,
    check_one_budget,
    choose_summarizer,
)
from ctxcore.cli.output import (
    ESTIMATED,
    Advance,
    amount,
    one_line,
    plural,
    print_all,
    print_json,
    progress,
)
from ctxcore.cli.running import About, run_over, shows_details
from ctxcore.cli.tables import add_row, closing, facts, make_table, section
from ctxcore.policy.values import Policy

if TYPE_CHECKING:
    from ctxcore.compaction.simulation import Recording
    from ctxcore.formats.values import Transcript
    from ctxcore.messages.values import JsonObject

_BAR_MESSAGES = 500  # chosen: fewer are compared before a bar could be seen
_BAR_FILES = 4  # from so many files on, a bar counts files instead
_LEGEND = (
    "cuts: compactions that dropped messages without a summary",
    "refused: contexts that at least one provider would reject",
    "over: calls whose required messages did not fit",
    "sent: tokens of all calls",
)

Window = Annotated[
    int | None,
    typer.Option(
        "--window",
        metavar="TOKENS",
        min=1,
        help=f"Window for all presets; default: the model's, or {ASSUMED_WINDOW_TOKENS:,}.",
    ),
]
Times = Annotated[bool, typer.Option("--times", help="Show how long each preset took.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The numbers of one preset, for one conversation or for several together."""

    preset: str
    kept: int
    compressed: int
    folded: int
    dropped: int
    compactions: int
    summaries: int
    truncations: int
    illegal: int
    """Contexts of which some provider would refuse something."""
    over: int
    """Calls whose context could not be built: what must be kept did not fit."""
    peak_tokens: int
    end_tokens: int
    sent_tokens: int
    seconds: float

    @classmethod
    def total(cls, rows: Sequence[Row]) -> Row:
        """The sums of one preset's rows; the peak is the largest."""
        columns = {field.name: [getattr(row, field.name) for row in rows] for field in fields(cls)}
        peak, _ = max(columns.pop("peak_tokens")), columns.pop("preset")
        sums = {name: sum(values) for name, values in columns.items()}
        return cls(preset=rows[0].preset, peak_tokens=peak, **sums)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One conversation under every preset."""

    about: About
    messages: int
    calls: int
    budget: Budget
    is_exact: bool
    rows: tuple[Row, ...]


def run_compare(
    paths: options.Paths,
    window: Window = None,
    max_tokens: options.MaxTokens = None,
    model: options.Model = None,
    summarizer: options.SummarizerModel = None,
    only_id: options.ConversationId = None,
    times: Times = False,
    show_all: options.ShowAll = False,
    as_json: options.AsJson = False,
) -> None:
    """Walk through conversations under every preset, with one window for all.

    Each recorded answer counts as one call to a model; compactions happen where a preset would
    have made them, and confirmations are answered with yes. Numbers of several conversations
    are added up.
    """
    check_one_budget(window, max_tokens)
    has_bar = len(paths) < _BAR_FILES and not any(path.is_dir() for path in paths)

    def work(transcript: Transcript) -> Compared:
        about = About.of(transcript, model)
        budget = Budget.of(window, max_tokens, about.model, scope=" for all")
        return _compare(transcript, about, budget, summarizer, has_bar=has_bar)

    outcome = run_over(paths, work, only_id=only_id)
    compared = outcome.done
    if as_json:
        document = outcome.to_dict("compare", map(_document, compared))
        print_json({**document, "totals": [_row_document(row) for row in _total_rows(compared)]})
    elif shows_details(paths, outcome, show_all=show_all):
        print_all([part for one in compared for part in _details(one, times=times)])
    elif compared:
        print_all(_total_views(compared, times=times, failures=len(outcome.failures)))
    raise typer.Exit(outcome.exit_code)


def _compare(
    transcript: Transcript, about: About, budget: Budget, summarizer: str | None, *, has_bar: bool
) -> Compared:
    from ctxcore.compaction.simulation import Recording
    from ctxcore.tokens.count import counter_for

    recording = Recording(transcript.messages, model=about.model, tools=transcript.tools)
    names, count = Policy.presets(), len(recording.messages)
    is_shown = has_bar and count >= _BAR_MESSAGES
    with progress("comparing", len(names) * count, is_shown=is_shown) as advance:
        simulated = [
            _simulate(recording, name, budget, summarizer, about.model, advance) for name in names
        ]
    return Compared(
        about=about,
        messages=count,
        calls=simulated[0][0],
        budget=budget,
        is_exact=counter_for(about.model).is_exact,
        rows=tuple(row for _, row in simulated),
    )


def _simulate(
    recording: Recording,
    preset: str,
    budget: Budget,
    summarizer: str | None,
    model: str | None,
    advance: Advance,
) -> tuple[int, Row]:
    """The number of calls, and the row of a preset."""
    from ctxcore.compaction.simulation import Walk

    begun, seen = time.perf_counter(), 0
    walk = Walk(
        recording,
        Policy.preset(preset),
        window_tokens=budget.window_tokens,
        max_tokens=budget.max_tokens,
        summarizer=choose_summarizer(summarizer, model),
    )
    for call in walk:
        advance(call.at - seen)
        seen = call.at
    advance(len(recording.messages) - seen)
    result, seconds = walk.result(), time.perf_counter() - begun
    verdicts = result.verdicts
    row = Row(
        preset=preset,
        kept=verdicts["kept"] + verdicts["recalled"],
        compressed=verdicts["compressed"],
        folded=verdicts["summarized"],
        dropped=verdicts["dropped"],
        compactions=len(result.compactions),
        summaries=result.summaries,
        truncations=result.truncations,
        illegal=result.illegal_calls,
        over=result.over_calls,
        peak_tokens=result.peak_tokens,
        end_tokens=result.final_tokens,
        sent_tokens=result.sent_tokens,
        seconds=seconds,
    )
    return len(result.calls), row


def _total_rows(compared: Sequence[Compared]) -> list[Row]:
    """A row a preset, over all conversations."""
    return [Row.total(rows) for rows in zip(*(one.rows for one in compared), strict=True)]


def _document(compared: Compared) -> JsonObject:
    return {
        **compared.about.to_dict(),
        "messages": compared.messages,
        "calls": compared.calls,
        "window_tokens": compared.budget.window_tokens,
        "max_tokens": compared.budget.max_tokens,
        "window_is_assumed": compared.budget.is_assumed,
        "is_exact": compared.is_exact,
        "presets": [_row_document(row) for row in compared.rows],
    }


def _row_document(row: Row) -> JsonObject:
    return {**asdict(row), "seconds": round(row.seconds, 3)}


def _details(compared: Compared, *, times: bool) -> Iterator[RenderableType]:
    """One conversation under every preset."""
    yield compared.about.heading()
    messages, calls = plural(compared.messages, "message"), plural(compared.calls, "call")
    yield facts(
        (
            ("model", one_line(compared.about.model or "not named")),
            ("budget", compared.budget.text),
            ("recorded", f"{messages}, {calls} to a model"),
        )
    )
    yield from _views(compared.rows, is_exact=compared.is_exact, times=times, failures=0)
    yield Text()


def _total_views(
    compared: Sequence[Compared], *, times: bool, failures: int
) -> Iterator[RenderableType]:
    """All conversations together."""
    is_exact = all(one.is_exact for one in compared)
    assumed = sum(one.budget.is_assumed for one in compared)
    count = plural(len(compared), "conversation")
    messages = plural(sum(one.messages for one in compared), "message")
    calls = plural(sum(one.calls for one in compared), "call")
    budgets = {one.budget.text for one in compared}
    is_shared = len(budgets) == 1
    budget = budgets.pop() if is_shared else "the window of each one's model"
    rest = f"; {assumed:,} assumed" if assumed and is_shared else ""
    yield Text(f"{count}, {messages}, {calls} to a model · {budget}{rest}")
    yield from _views(_total_rows(compared), is_exact=is_exact, times=times, failures=failures)


def _views(
    rows: Sequence[Row], *, is_exact: bool, times: bool, failures: int
) -> Iterator[RenderableType]:
    yield section("On the way", "compactions and calls")
    yield _calls_table(rows, is_exact=is_exact, times=times)
    yield section("At the end", "what happened to the messages, and the size of the next call")
    yield _end_table(rows, is_exact=is_exact)
    yield from closing([*_LEGEND, *([] if is_exact else [ESTIMATED])], failures)


def _calls_table(rows: Sequence[Row], *, is_exact: bool, times: bool) -> Table:
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
