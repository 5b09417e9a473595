"""`ctxcore replay`: replays conversations call by call for prompt cache, cost and lost facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ctxcore.cli.choices import Budget, check_one_budget, choose_presets
from ctxcore.cli.options import AsJson, ConversationId, MaxTokens, Model, Paths, ShowAll, Window
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
from ctxcore.cli.running import About, run_over, shows_details
from ctxcore.cli.tables import add_row, closing, facts, make_table, section
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import BreakCode

if TYPE_CHECKING:
    from ctxcore.formats.values import Transcript
    from ctxcore.messages.values import JsonObject
    from ctxcore.replay.losses import FactFates
    from ctxcore.replay.values import Prices, Replay, ReplayedCall, ReplayedCompaction


GivenPrices = Mapping[str, float | None]
_UNKNOWN = "–"
NO_CALLS = "no answer of a model is recorded, so there is no call to replay"
_BAR_MESSAGES = 500  # chosen: fewer are replayed before a bar could be seen
_MOST_BREAKS = 30
_LEGEND = (
    "reused: the same beginning as that of the call before",
    "again: sent before, but not at that beginning",
    "over: calls for which what must be kept did not fit",
    "there: of what was said before, what the context says when it is needed",
)
Presets = Annotated[
    list[str] | None,
    typer.Option(
        "--preset",
        metavar="NAME",
        help=f"One of {', '.join(Policy.presets())}; again for several. Else default.",
    ),
]
Recorded = Annotated[
    bool,
    typer.Option(
        "--recorded", help="Account for the compactions that the recording program made itself."
    ),
]
PriceIn = Annotated[
    float | None,
    typer.Option("--price-in", metavar="USD", min=0, help="A million tokens of input."),
]
PriceCached = Annotated[
    float | None,
    typer.Option(
        "--price-cached", metavar="USD", min=0, help="A million tokens from the prompt cache."
    ),
]
PriceOut = Annotated[
    float | None,
    typer.Option("--price-out", metavar="USD", min=0, help="A million tokens of output."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """One conversation under each of the presets."""

    about: About
    messages: int
    budget: Budget
    is_exact: bool
    replays: tuple[Replay, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """The sums of one preset, for one conversation or for several together."""

    preset: str
    calls: int
    sent: int
    reused: int
    again: int
    breaks: int
    compactions: int
    over: int
    literals_used: int
    literals_there: int
    fates: FactFates
    cost: float | None
    cost_without_cache: float | None

    @classmethod
    def of(cls, replays: Sequence[Replay]) -> Sums:
        """The sums of one preset's replays; a cost is None unless all are known."""
        from ctxcore.replay.losses import FactFates

        return cls(
            preset=replays[0].policy,
            calls=sum(len(one.calls) for one in replays),
            sent=sum(one.sent_tokens for one in replays),
            reused=sum(one.reused_tokens for one in replays),
            again=sum(one.resent_tokens for one in replays),
            breaks=sum(sum(one.breaks.values()) for one in replays),
            compactions=sum(len(one.compactions) for one in replays),
            over=sum(one.overflows for one in replays),
            literals_used=sum(one.literals_used for one in replays),
            literals_there=sum(one.literals_present for one in replays),
            fates=FactFates.total(one.facts for one in replays),
            cost=_sum([one.cost for one in replays]),
            cost_without_cache=_sum([one.cost_without_cache for one in replays]),
        )


def run_replay(
    paths: Paths,
    presets: Presets = None,
    window: Window = None,
    max_tokens: MaxTokens = None,
    model: Model = None,
    recorded: Recorded = False,
    price_in: PriceIn = None,
    price_cached: PriceCached = None,
    price_out: PriceOut = None,
    only_id: ConversationId = None,
    show_all: ShowAll = False,
    as_json: AsJson = False,
) -> None:
    """Replay conversations call by call: prompt cache, cost, and what was there when it was needed.

    Each recorded answer counts as one call to a model; compactions happen where a preset would
    have made them, their summaries quote, and whoever is asked agrees.
    """
    check_one_budget(window, max_tokens)
    names = choose_presets(presets)
    if recorded:
        raise typer.Exit(run_recorded(paths, names, model, only_id=only_id, as_json=as_json))
    given = {"input": price_in, "cached_input": price_cached, "output": price_out}

    def work(transcript: Transcript) -> Replayed:
        about = About.of(transcript, model)
        budget = Budget.of(window, max_tokens, about.model)
        return _replay(transcript, about, budget, names, given)

    outcome = run_over(paths, work, only_id=only_id)
    if as_json:
        print_json(outcome.to_dict("replay", map(_document, outcome.done)))
    elif shows_details(paths, outcome, show_all=show_all):
        print_all([part for one in outcome.done for part in _details(one)])
    elif outcome.done:
        print_all(_total_views(outcome.done, failures=len(outcome.failures)))
    raise typer.Exit(outcome.exit_code)


def _replay(
    transcript: Transcript, about: About, budget: Budget, names: Sequence[str], given: GivenPrices
) -> Replayed:
    from ctxcore.compaction.simulation import Recording
    from ctxcore.replay.replaying import Replaying
    from ctxcore.tokens.count import counter_for

    recording = Recording(transcript.messages, model=about.model, tools=transcript.tools)
    count = len(recording.messages)
    replaying = Replaying(recording, prices=_prices(about.model, given))
    with progress("replaying", len(names) * count, is_shown=count >= _BAR_MESSAGES) as advance:
        replays = [
            replaying.under(
                Policy.preset(name),
                window_tokens=budget.window_tokens,
                max_tokens=budget.max_tokens,
                advance=advance,
            )
            for name in names
        ]
    return Replayed(
        about=about,
        messages=count,
        budget=budget,
        is_exact=counter_for(about.model).is_exact,
        replays=tuple(replays),
    )


def _prices(model: str | None, given: GivenPrices) -> Prices:
    """The given prices; else those of the model, where they are known."""
    from ctxcore.replay.values import Prices
    from ctxcore.tokens.catalog import model_info

    named = {name: price for name, price in given.items() if price is not None}
    return replace(Prices.of(model_info(model)), **named)


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
    """One conversation: a row a preset; with one preset its breaks and compactions too."""
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
    sums = [Sums.of([one]) for one in replayed.replays]
    yield from _views(sums, is_exact=replayed.is_exact, failures=0)
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
    presets = range(len(replayed[0].replays))
    sums = [Sums.of([one.replays[at] for one in replayed]) for at in presets]
    yield from _views(sums, is_exact=all(one.is_exact for one in replayed), failures=failures)


def _views(sums: Sequence[Sums], *, is_exact: bool, failures: int) -> Iterator[RenderableType]:
    yield section("Prompt cache", "what is sent, and how much of it a cache can reuse")
    yield _cache_table(sums, is_exact=is_exact)
    yield section("There when needed", "literals at the calls that use them, live facts at calls")
    yield _presence_table(sums)
    yield section("Cost", "US dollars, output included")
    yield _cost_table(sums)
    yield from closing([*_LEGEND, *([] if is_exact else [ESTIMATED])], failures)


def _cache_table(sums: Sequence[Sums], *, is_exact: bool) -> Table:
    names = (">sent", ">reused", ">again", ">breaks", ">/100 calls", ">compactions", ">over")
    table = make_table("preset", *names)
    for one in sums:
        add_row(
            table,
            one.preset,
            amount(one.sent, is_exact=is_exact),
            _share(one.reused, one.sent),
            _share(one.again, one.sent),
            f"{one.breaks:,}",
            f"{100 * one.breaks / one.calls:.1f}" if one.calls else _UNKNOWN,
            f"{one.compactions:,}",
            f"{one.over:,}",
        )
    return table


def _presence_table(sums: Sequence[Sums]) -> Table:
    table = make_table("preset", ">literals used", ">there", ">facts", ">instructions")
    for one in sums:
        add_row(
            table,
            one.preset,
            f"{one.literals_used:,}",
            _share(one.literals_there, one.literals_used),
            _percent(one.fates.share()),
            _percent(one.fates.standing_share),
        )
    return table


def _cost_table(sums: Sequence[Sums]) -> Table:
    table = make_table("preset", ">with cache", ">without")
    for one in sums:
        add_row(table, one.preset, _dollars(one.cost), _dollars(one.cost_without_cache))
    return table


def _one_preset(replay: Replay, *, is_exact: bool) -> Iterator[RenderableType]:
    broken = [call for call in replay.calls if call.is_break]
    if broken:
        yield section("Breaks", "calls that do not begin as the one before")
        yield _breaks_table(broken[:_MOST_BREAKS], is_exact=is_exact)
        if len(broken) > _MOST_BREAKS:
            left = len(broken) - _MOST_BREAKS
            yield Text(f"  … and {left:,} more; --json has them all", style="dim")
    for number, made in enumerate(replay.compactions[:_MOST_BREAKS], 1):
        yield from _compaction(number, made, is_exact=is_exact)
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


def _compaction(
    number: int, made: ReplayedCompaction, *, is_exact: bool
) -> Iterator[RenderableType]:
    size = f"{amount(made.before_tokens, is_exact=is_exact)} → "
    size += f"{amount(made.after_tokens, is_exact=is_exact)} tokens"
    yield section(f"Compaction {number}", f"after message {made.at:,} · {made.trigger} · {size}")
    needed = made.needed_later
    lost = f"{plural(len(made.lost), 'fact')} lost, {len(needed):,} of them needed later"
    yield Text(lost if made.lost else "no fact lost")
    yield from lost_lines([*needed, *(one for one in made.lost if one not in needed)])


def _sum(costs: Sequence[float | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None


def _share(part: int, whole: int) -> str:
    return _percent(part / whole if whole else None)


def _percent(share: float | None) -> str:
    return _UNKNOWN if share is None else percent(share)


def _dollars(cost: float | None) -> str:
    return _UNKNOWN if cost is None else f"{cost:,.4f}" if cost < 1 else f"{cost:,.2f}"
