"""`ctxcore replay`: replays conversations call by call for prompt cache, cost and lost facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ctxcore.cli import options, trying
from ctxcore.cli.choices import Budget, choose_presets
from ctxcore.cli.contexts import next_call, unseen
from ctxcore.cli.output import (
    ESTIMATED,
    amount,
    one_line,
    percent,
    plural,
    print_all,
    print_json,
    progress,
)
from ctxcore.cli.replaying_recorded import lost_lines, run_recorded
from ctxcore.cli.running import About, shows_details
from ctxcore.cli.sessions import User
from ctxcore.cli.tables import add_row, closing, facts, make_table, section
from ctxcore.reasons.codes import BreakCode
from ctxcore.tokens.costs import dollars_text

if TYPE_CHECKING:
    from ctxcore.messages.values import JsonObject
    from ctxcore.replay.values import Replay, ReplayedCall, ReplayedCompaction
    from ctxcore.tokens.prices import Price
    from ctxcore.trials.values import TriedSession

GivenPrices = Mapping[str, float | None]
_UNKNOWN = "–"
NO_CALLS = "no model answer is recorded, so there is no call to replay"
_BAR_MESSAGES = 500  # chosen: fewer are replayed before a bar could be seen
_MOST_BREAKS = 30  # chosen: one screen; `--json` has all
_LEGEND = (
    "reused: tokens in the prefix shared with the previous call",
    "again: tokens sent before, but not in that prefix",
    "over: calls whose required messages did not fit",
    "there: share of earlier literals that the context still holds when they are used",
)

Recorded = Annotated[
    bool,
    typer.Option("--recorded", help="Report on the compactions that the recording program made."),
]
PriceIn = Annotated[
    float | None,
    typer.Option("--price-in", metavar="USD", min=0, help="Price of one million input tokens."),
]
PriceCached = Annotated[
    float | None,
    typer.Option(
        "--price-cached", metavar="USD", min=0, help="Price of one million cached input tokens."
    ),
]
PriceWrite = Annotated[
    float | None,
    typer.Option(
        "--price-write",
        metavar="USD",
        min=0,
        help="Price of one million input tokens that are written to the cache.",
    ),
]
PriceOut = Annotated[
    float | None,
    typer.Option("--price-out", metavar="USD", min=0, help="Price of one million output tokens."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """One conversation under each candidate."""

    about: About
    budget: Budget
    tried: TriedSession
    replays: tuple[Replay, ...]

    @property
    def messages(self) -> int:
        """How many messages it has."""
        return self.tried.messages

    @property
    def is_exact(self) -> bool:
        """Whether its tokens are counted exactly."""
        return self.tried.is_exact


def run_replay(
    paths: trying.Paths = None,
    sessions: trying.Sessions = None,
    presets: trying.Presets = None,
    changes: trying.Changes = None,
    baselines: trying.Baselines = None,
    config: options.Config = None,
    window: options.Window = None,
    max_tokens: options.MaxTokens = None,
    model: options.Model = None,
    recorded: Recorded = False,
    price_in: PriceIn = None,
    price_cached: PriceCached = None,
    price_write: PriceWrite = None,
    price_out: PriceOut = None,
    database: options.Database = None,
    user: User = "local",
    only_id: options.ConversationId = None,
    html: trying.HtmlFile = None,
    csv: trying.CsvFile = None,
    overwrite: trying.Overwrite = False,
    jobs: options.Jobs = None,
    cluster: options.Cluster = None,
    show_all: options.ShowAll = False,
    as_json: options.AsJson = False,
) -> None:
    """Replay conversations call by call: prompt cache, cost, and what was available when needed.

    Each recorded answer counts as one call to a model; compactions happen where a policy would
    have made them, with extractive summaries, and confirmations are answered with yes. Without
    another policy it is that of file, environment or session, else `default`.
    """
    source = trying.Source(
        paths=paths or (),
        session_ids=sessions or (),
        only_id=only_id,
        database=database,
        user=user,
        model=model,
        window=window,
        max_tokens=max_tokens,
    )
    source.check()
    if recorded:
        names = choose_presets(presets)
        code = run_recorded(source.paths, names, model, only_id=only_id, as_json=as_json)
        raise typer.Exit(code)
    reports = trying.Reports(html=html, csv=csv, overwrite=overwrite)
    reports.check()
    choice = trying.choose_candidates(
        presets, changes, baselines, config, has_sessions=bool(sessions), compares=False
    )
    given = {
        "input": price_in,
        "cached": price_cached,
        "cache_write": price_write,
        "output": price_out,
    }
    outcome = trying.run_parts(
        source,
        _replay,
        choice,
        joined=_joined,
        sharing=trying.Sharing(jobs=jobs, cluster=cluster),
        price=lambda known: _price(known, given),
        config=config,
    )
    if as_json:
        print_json(outcome.to_dict("replay", map(_document, outcome.done)))
    elif shows_details(source.paths, outcome, show_all=show_all):
        print_all([part for one in outcome.done for part in _details(one)])
    elif outcome.done:
        print_all(_total_views(outcome.done, failures=len(outcome.failures)))
    reports.write(choice.candidates, [one.tried for one in outcome.done])
    raise typer.Exit(outcome.exit_code)


def _replay(part: trying.Part) -> Replayed:
    from ctxcore.replay.replaying import run_to_end
    from ctxcore.trials.running import Trying, tried_session

    subject, candidates = part.subject, part.candidates
    session = subject.session
    one, count = Trying(session), len(session.messages)
    is_shown = part.has_bar and count >= _BAR_MESSAGES
    with progress("replaying", len(candidates) * count, is_shown=is_shown) as advance:
        replays = [run_to_end(one.under(candidate), advance) for candidate in candidates]
    return Replayed(
        about=subject.about,
        budget=subject.budget,
        tried=tried_session(session, candidates, replays),
        replays=tuple(replays),
    )


def _joined(parts: Sequence[Replayed]) -> Replayed:
    """What was found of a conversation under all candidates."""
    tried = tuple(one for part in parts for one in part.tried.tried)
    replays = tuple(one for part in parts for one in part.replays)
    return replace(parts[0], tried=replace(parts[0].tried, tried=tried), replays=replays)


def _price(listed: Price | None, given: GivenPrices) -> Price | None:
    """The given prices; else those of the model, where they are known.

    With a price for input that is given, what a model charges for writing no longer holds.
    """
    from ctxcore.tokens.prices import Price

    named = {name: price for name, price in given.items() if price is not None}
    if "input" in named:
        named = {"cache_write": named["input"], **named}
    if listed is not None:
        return replace(listed, **named)
    return Price(**named) if {"input", "output"} <= named.keys() else None


def _document(replayed: Replayed) -> JsonObject:
    return {
        **replayed.about.to_dict(),
        "messages": replayed.messages,
        "window_tokens": replayed.budget.window_tokens,
        "max_tokens": replayed.budget.max_tokens,
        "window_is_assumed": replayed.budget.is_assumed,
        "is_exact": replayed.is_exact,
        "replays": [one.to_dict() for one in replayed.replays],
    }


def _details(replayed: Replayed) -> Iterator[RenderableType]:
    """One conversation: a row a policy; with one policy its breaks and compactions too."""
    yield replayed.about.heading()
    calls = len(replayed.replays[0].calls)
    messages = plural(replayed.messages, "message")
    yield facts(
        (
            ("model", one_line(replayed.about.model or "not named")),
            ("budget", replayed.budget.text),
            ("recorded", f"{messages}, {plural(calls, 'call')} to a model"),
        )
    )
    if not calls:
        yield Text(f"\n{NO_CALLS}\n", style="yellow")
        return
    by_preset = [(replay,) for replay in replayed.replays]
    yield from _views(by_preset, is_exact=replayed.is_exact, failures=0)
    if len(replayed.replays) == 1:
        yield from _one_preset(replayed.replays[0], is_exact=replayed.is_exact)
    yield Text()


def _total_views(replayed: Sequence[Replayed], *, failures: int) -> Iterator[RenderableType]:
    """All conversations together."""
    budgets = {one.budget.text for one in replayed}
    budget = budgets.pop() if len(budgets) == 1 else "the window of each one's model"
    calls = sum(len(one.replays[0].calls) for one in replayed)
    count = plural(len(replayed), "conversation")
    yield Text(f"{count}, {plural(calls, 'call')} to a model · {budget}")
    by_preset = list(zip(*(one.replays for one in replayed), strict=True))
    yield from _views(by_preset, is_exact=all(one.is_exact for one in replayed), failures=failures)


def _views(
    by_preset: Sequence[Sequence[Replay]], *, is_exact: bool, failures: int
) -> Iterator[RenderableType]:
    """Three tables with a row a policy, over all of its replays."""
    yield section("Prompt cache", "what is sent, and how much of it a cache can reuse")
    yield _cache_table(by_preset, is_exact=is_exact)
    yield section(
        "Available when needed", "literals at the calls that use them, live facts at calls"
    )
    yield _presence_table(by_preset)
    yield section("Cost", "US dollars, output included")
    yield _cost_table(by_preset)
    yield from closing([*_LEGEND, *([] if is_exact else [ESTIMATED])], failures)


def _cache_table(by_preset: Sequence[Sequence[Replay]], *, is_exact: bool) -> Table:
    names = (">sent", ">reused", ">again", ">breaks", ">/100 calls", ">compactions", ">over")
    table = make_table("policy", *names)
    for replays in by_preset:
        calls = sum(len(one.calls) for one in replays)
        sent = sum(one.sent_tokens for one in replays)
        breaks = sum(sum(one.breaks.values()) for one in replays)
        add_row(
            table,
            replays[0].policy,
            amount(sent, is_exact=is_exact),
            _share(sum(one.reused_tokens for one in replays), sent),
            _share(sum(one.resent_tokens for one in replays), sent),
            f"{breaks:,}",
            f"{100 * breaks / calls:.1f}" if calls else _UNKNOWN,
            f"{sum(len(one.compactions) for one in replays):,}",
            f"{sum(one.overflows for one in replays):,}",
        )
    return table


def _presence_table(by_preset: Sequence[Sequence[Replay]]) -> Table:
    from ctxcore.replay.losses import FactFates

    table = make_table("policy", ">literals used", ">there", ">facts", ">instructions")
    for replays in by_preset:
        used = sum(one.literals_used for one in replays)
        fates = FactFates.total(one.facts for one in replays)
        add_row(
            table,
            replays[0].policy,
            f"{used:,}",
            _share(sum(one.literals_present for one in replays), used),
            _percent(fates.share()),
            _percent(fates.standing_share),
        )
    return table


def _cost_table(by_preset: Sequence[Sequence[Replay]]) -> Table:
    table = make_table("policy", ">with cache", ">without")
    for replays in by_preset:
        with_cache = _dollars([one.cost for one in replays])
        without = _dollars([one.cost_without_cache for one in replays])
        add_row(table, replays[0].policy, with_cache, without)
    return table


def _one_preset(replay: Replay, *, is_exact: bool) -> Iterator[RenderableType]:
    broken = [call for call in replay.calls if call.is_break]
    if broken:
        yield section("Breaks", "calls that do not start with the previous request")
        yield _breaks_table(broken[:_MOST_BREAKS], is_exact=is_exact)
        if len(broken) > _MOST_BREAKS:
            left = len(broken) - _MOST_BREAKS
            yield Text(f"  … and {left:,} more; --json has them all", style="dim")
    for number, made in enumerate(replay.compactions[:_MOST_BREAKS], 1):
        yield from _compaction(number, made)
    if len(replay.compactions) > _MOST_BREAKS:
        left = len(replay.compactions) - _MOST_BREAKS
        yield Text(f"… and {left:,} more compactions; --json has them all", style="dim")


def _breaks_table(calls: Sequence[ReplayedCall], *, is_exact: bool) -> Table:
    table = make_table(">message", ">turn", "*why", ">sent", ">reused")
    for call in calls:
        add_row(
            table,
            f"{call.at + 1:,}",
            f"{call.turn:,}",
            (call.cause or BreakCode.OTHER).text,
            amount(call.tokens, is_exact=is_exact),
            _share(call.reused_tokens, call.tokens),
        )
    return table


def _compaction(number: int, made: ReplayedCompaction) -> Iterator[RenderableType]:
    change = f"next call {next_call(made.effect)}"
    yield section(f"Compaction {number}", f"after message {made.at:,} · {made.trigger} · {change}")
    if hidden := unseen(made.effect):
        yield Text(hidden)
    lost = f"{plural(len(made.lost), 'fact')} lost; {made.verdict.reason}"
    yield Text(lost if made.lost else "no fact lost")
    yield from lost_lines(made.lost)


def _share(part: int, whole: int) -> str:
    return _percent(part / whole if whole else None)


def _percent(share: float | None) -> str:
    return _UNKNOWN if share is None else percent(share)


def _dollars(costs: Sequence[float | None]) -> str:
    """The sum of `costs`; unknown unless all are known."""
    known = [cost for cost in costs if cost is not None]
    if not known or len(known) < len(costs):
        return _UNKNOWN
    return dollars_text(fsum(known))
