"""Owns how a comparison is printed: a row a preset, for one conversation or all, and as JSON."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ctxcore.cli.choices import SummarizerModel, check_one_budget, choose_summarizer
from ctxcore.cli.options import AsJson, ConversationId, MaxTokens, Model, Paths, ShowAll
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
    from ctxcore.compaction.simulation import Recording, Simulation
    from ctxcore.formats.values import Transcript
    from ctxcore.messages.values import JsonObject, JsonValue

_LEGEND = (
    "cuts: compactions that left messages out without a summary",
    "refused: contexts some provider would refuse",
    "over: calls for which what must be kept did not fit",
    "sent: tokens of all calls together",
)


def compared_document(compared: Compared) -> JsonObject:
    """One comparison as `--json` prints it."""
    return {
        **compared.about.to_dict(),
        "messages": compared.messages,
        "calls": compared.calls,
        "window_tokens": compared.window_tokens,
        "max_tokens": compared.max_tokens,
        "window_is_assumed": compared.is_assumed,
        "is_exact": compared.is_exact,
        "presets": [_document(row) for row in compared.rows],
    }


def totals_document(compared: Sequence[Compared]) -> list[JsonValue]:
    """The rows of all conversations added up; the peak is the largest."""
    return [_document(row) for row in total_rows(compared)] if compared else []


def _document(row: Row) -> JsonObject:
    return {**asdict(row), "seconds": round(row.seconds, 3)}


def compared_details(compared: Compared, *, times: bool) -> Iterator[RenderableType]:
    """One conversation under every preset."""
    yield compared.about.heading()
    messages, calls = plural(compared.messages, "message"), plural(compared.calls, "call")
    yield facts(
        (
            ("model", one_line(compared.about.model or "not named")),
            ("budget", compared.budget),
            ("recorded", f"{messages}, {calls} to a model"),
        )
    )
    yield from _views(compared.rows, is_exact=compared.is_exact, times=times, failures=0)
    yield Text()


def total_views(
    compared: Sequence[Compared], *, times: bool, failures: int
) -> Iterator[RenderableType]:
    """All conversations together."""
    is_exact = all(one.is_exact for one in compared)
    assumed = sum(one.is_assumed for one in compared)
    count = plural(len(compared), "conversation")
    messages = plural(sum(one.messages for one in compared), "message")
    calls = plural(sum(one.calls for one in compared), "call")
    budgets = {one.budget for one in compared}
    said = budgets.pop() if len(budgets) == 1 else "the window of each one's model"
    rest = f"; {assumed:,} assumed" if assumed and not budgets else ""
    yield Text(f"{count}, {messages}, {calls} to a model · {said}{rest}")
    rows = total_rows(compared)
    yield from _views(rows, is_exact=is_exact, times=times, failures=failures)


def _views(
    rows: Sequence[Row], *, is_exact: bool, times: bool, failures: int
) -> Iterator[RenderableType]:
    yield section("On the way", "compactions and calls")
    yield _way_table(rows, is_exact=is_exact, times=times)
    yield section("At the end", "what becomes of the messages, and what the next call is sent")
    yield _end_table(rows, is_exact=is_exact)
    yield from closing([*_LEGEND, *([] if is_exact else [ESTIMATED])], failures)


def _way_table(rows: Sequence[Row], *, is_exact: bool, times: bool) -> Table:
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


ASSUMED_WINDOW_TOKENS = 32_000  # where nobody names one: what small models of today take
_BAR_MESSAGES = 500  # fewer are compared before a bar could be seen
_BAR_FILES = 4  # from so many on there is a bar of files

Window = Annotated[
    int | None,
    typer.Option(
        "--window",
        metavar="TOKENS",
        min=1,
        help=f"The one window for all presets; else the model's, or {ASSUMED_WINDOW_TOKENS:,}.",
        show_default=False,
    ),
]
Times = Annotated[bool, typer.Option("--times", help="Show how long each preset took.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One preset on one conversation, or the same numbers of several together."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One conversation under every preset."""

    about: About
    messages: int
    calls: int
    budget: str
    """What all presets had, in words."""
    window_tokens: int | None
    max_tokens: int | None
    is_assumed: bool
    """Whether nobody named the window."""
    is_exact: bool
    rows: tuple[Row, ...]


def run_compare(
    paths: Paths,
    window: Window = None,
    max_tokens: MaxTokens = None,
    model: Model = None,
    summarizer: SummarizerModel = None,
    only_id: ConversationId = None,
    times: Times = False,
    show_all: ShowAll = False,
    as_json: AsJson = False,
) -> None:
    """Walk through conversations under every preset, with one window for all.

    Each recorded answer counts as one call to a model; compactions happen where a preset would
    have made them, and whoever is asked agrees. Several conversations are added up.
    """
    from ctxcore.cli.comparing import (
        compared_details,
        compared_document,
        total_views,
        totals_document,
    )

    check_one_budget(window, max_tokens)
    has_bar = len(paths) < _BAR_FILES and not any(path.is_dir() for path in paths)

    def work(transcript: Transcript) -> Compared:
        return _compare(transcript, window, max_tokens, model, summarizer, has_bar=has_bar)

    outcome = run_over(paths, work, only_id=only_id)
    compared = outcome.done
    if as_json:
        document = outcome.to_dict("compare", map(compared_document, compared))
        print_json({**document, "totals": totals_document(compared)})
    elif shows_details(paths, outcome, show_all=show_all):
        print_all([part for one in compared for part in compared_details(one, times=times)])
    elif compared:
        print_all(total_views(compared, times=times, failures=len(outcome.failures)))
    raise typer.Exit(outcome.exit_code)


def _compare(
    transcript: Transcript,
    window: int | None,
    max_tokens: int | None,
    model: str | None,
    summarizer: str | None,
    *,
    has_bar: bool,
) -> Compared:
    from ctxcore.compaction.simulation import Recording
    from ctxcore.tokens.catalog import model_info
    from ctxcore.tokens.count import counter_for

    about = About.of(transcript, model)
    known = None if max_tokens else window or model_info(about.model).window_tokens
    own = None if max_tokens else known or ASSUMED_WINDOW_TOKENS
    recording = Recording(transcript.messages, model=about.model, tools=transcript.tools)
    names, count = Policy.presets(), len(recording.messages)
    is_shown = has_bar and count >= _BAR_MESSAGES
    with progress("comparing", len(names) * count, is_shown=is_shown) as advance:
        walked = [
            _walk(recording, name, own, max_tokens, summarizer, about.model, advance)
            for name in names
        ]
    return Compared(
        about=about,
        messages=count,
        calls=len(walked[0][0].calls),
        budget=_said(own, max_tokens, is_named=window is not None, is_known=known is not None),
        window_tokens=own,
        max_tokens=max_tokens,
        is_assumed=own is not None and known is None,
        is_exact=counter_for(about.model).is_exact,
        rows=tuple(_row(name, *one) for name, one in zip(names, walked, strict=True)),
    )


def _walk(
    recording: Recording,
    preset: str,
    window: int | None,
    max_tokens: int | None,
    summarizer: str | None,
    model: str | None,
    advance: Advance,
) -> tuple[Simulation, float]:
    from ctxcore.compaction.simulation import Walk

    begun, seen = time.perf_counter(), 0
    walk = Walk(
        recording,
        Policy.preset(preset),
        window_tokens=window,
        max_tokens=max_tokens,
        summarizer=choose_summarizer(summarizer, model),
    )
    for call in walk:
        advance(call.at - seen)
        seen = call.at
    advance(len(recording.messages) - seen)
    return walk.result(), time.perf_counter() - begun


def _row(preset: str, simulation: Simulation, seconds: float) -> Row:
    verdicts = simulation.verdicts
    return Row(
        preset=preset,
        kept=verdicts["kept"] + verdicts["recalled"],
        compressed=verdicts["compressed"],
        folded=verdicts["summarized"],
        dropped=verdicts["dropped"],
        compactions=len(simulation.compactions),
        summaries=simulation.summaries,
        truncations=simulation.truncations,
        illegal=simulation.illegal_calls,
        over=simulation.over_calls,
        peak_tokens=simulation.peak_tokens,
        end_tokens=simulation.final_tokens,
        sent_tokens=simulation.sent_tokens,
        seconds=seconds,
    )


def _said(window: int | None, max_tokens: int | None, *, is_named: bool, is_known: bool) -> str:
    if window is None:
        return f"input of {max_tokens:,} tokens for all"
    why = "" if is_named else ", the model's" if is_known else ", assumed: name --window or --model"
    return f"window of {window:,} tokens for all{why}"


def total_rows(compared: Sequence[Compared]) -> list[Row]:
    """The rows of all conversations added up, a row a preset; the peak is the largest."""
    return [_total([one.rows[at] for one in compared]) for at in range(len(Policy.presets()))]


def _total(rows: Sequence[Row]) -> Row:
    return Row(
        preset=rows[0].preset,
        kept=sum(row.kept for row in rows),
        compressed=sum(row.compressed for row in rows),
        folded=sum(row.folded for row in rows),
        dropped=sum(row.dropped for row in rows),
        compactions=sum(row.compactions for row in rows),
        summaries=sum(row.summaries for row in rows),
        truncations=sum(row.truncations for row in rows),
        illegal=sum(row.illegal for row in rows),
        over=sum(row.over for row in rows),
        peak_tokens=max(row.peak_tokens for row in rows),
        end_tokens=sum(row.end_tokens for row in rows),
        sent_tokens=sum(row.sent_tokens for row in rows),
        seconds=sum(row.seconds for row in rows),
    )
