"""Owns how a replay is printed: a row a preset, its breaks and its compactions, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ctxcore.cli.choices import check_one_budget
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
from ctxcore.cli.running import About, run_over, shows_details
from ctxcore.cli.tables import add_row, bullets, closing, facts, make_table, section
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import BreakCode

if TYPE_CHECKING:
    from ctxcore.formats.values import Transcript
    from ctxcore.messages.values import JsonObject
    from ctxcore.replay.losses import FactFates, NeededFact
    from ctxcore.replay.values import Prices, Replay, ReplayedCall, ReplayedCompaction

NO_CALLS = "no answer of a model is recorded, so there is no call to replay"
_UNKNOWN = "–"
_MOST_BREAKS = 30
_MOST_LOST = 8
_LEGEND = (
    "reused: the same beginning as that of the call before",
    "again: sent before, but not at that beginning",
    "over: calls for which what must be kept did not fit",
    "there: of what was said before, what the context says when it is needed",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """What a preset comes to, on one conversation or on several together."""

    preset: str
    calls: int
    turns: int
    sent: int
    reused: int
    again: int
    breaks: int
    compactions: int
    over: int
    refused: int
    literals_used: int
    literals_there: int
    fates: FactFates
    cost: float | None
    cost_without_cache: float | None

    @classmethod
    def of(cls, replays: Sequence[Replay]) -> Sums:
        """The sums of one preset's replays; a cost is known only where all are."""
        from ctxcore.replay.losses import FactFates

        return cls(
            preset=replays[0].policy,
            calls=sum(len(one.calls) for one in replays),
            turns=sum(one.turns for one in replays),
            sent=sum(one.sent_tokens for one in replays),
            reused=sum(one.reused_tokens for one in replays),
            again=sum(one.resent_tokens for one in replays),
            breaks=sum(sum(one.breaks.values()) for one in replays),
            compactions=sum(len(one.compactions) for one in replays),
            over=sum(one.overflows for one in replays),
            refused=sum(one.illegal_calls for one in replays),
            literals_used=sum(one.literals_used for one in replays),
            literals_there=sum(one.literals_present for one in replays),
            fates=FactFates.total(one.facts for one in replays),
            cost=_sum([one.cost for one in replays]),
            cost_without_cache=_sum([one.cost_without_cache for one in replays]),
        )


def replayed_document(replayed: Replayed) -> JsonObject:
    """One conversation as `--json` prints it."""
    return {
        **replayed.about.to_dict(),
        "messages": replayed.messages,
        "window_tokens": replayed.budget.window_tokens,
        "max_tokens": replayed.budget.max_tokens,
        "window_is_assumed": replayed.budget.is_assumed,
        "is_exact": replayed.is_exact,
        "replays": [one.to_dict() for one in replayed.replays],
    }


def replayed_details(replayed: Replayed) -> Iterator[RenderableType]:
    """One conversation: a row a preset; with one preset its breaks and compactions too."""
    yield replayed.about.heading()
    calls = len(replayed.replays[0].calls)
    messages = plural(replayed.messages, "message")
    yield facts(
        (
            ("model", one_line(replayed.about.model or "not named")),
            ("budget", replayed.budget.said),
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


def total_views(replayed: Sequence[Replayed], *, failures: int) -> Iterator[RenderableType]:
    """All conversations together."""
    budgets = {one.budget.said for one in replayed}
    said = budgets.pop() if len(budgets) == 1 else "the window of each one's model"
    calls = sum(len(one.replays[0].calls) for one in replayed)
    count = plural(len(replayed), "conversation")
    yield Text(f"{count}, {plural(calls, 'call')} to a model · {said}")
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


def lost_lines(lost: Sequence[NeededFact]) -> list[Text]:
    """Lost facts, a line each."""
    return bullets([_lost_line(one) for one in lost], most=_MOST_LOST, more="in --json")


def _lost_line(one: NeededFact) -> str:
    from ctxcore.compaction.loss_report import loss_code

    where = "" if one.needed_at is None else f" · needed at message {one.needed_at + 1:,}"
    return f"{loss_code(one.kind).text}, message {one.at + 1:,}{where}: {one.text}"


def _sum(costs: Sequence[float | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None


def _share(part: int, whole: int) -> str:
    return percent(part / whole) if whole else _UNKNOWN


def _percent(share: float | None) -> str:
    return _UNKNOWN if share is None else percent(share)


def _dollars(cost: float | None) -> str:
    return _UNKNOWN if cost is None else f"{cost:,.4f}" if cost < 1 else f"{cost:,.2f}"


ASSUMED_WINDOW_TOKENS = 32_000  # where nobody names one, as `compare`
_BAR_MESSAGES = 500  # fewer are replayed before a bar could be seen

Presets = Annotated[
    list[str] | None,
    typer.Option(
        "--preset",
        metavar="NAME",
        help=f"One of {', '.join(Policy.presets())}; again for several. Else default.",
        show_default=False,
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
class Budget:
    """What all presets have."""

    window_tokens: int | None
    max_tokens: int | None
    said: str
    """The same in words."""
    is_assumed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """One conversation under each of the presets."""

    about: About
    messages: int
    budget: Budget
    is_exact: bool
    replays: tuple[Replay, ...]


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
    names = check_presets(presets)
    if recorded:
        from ctxcore.cli.replaying_recorded import run_recorded

        raise typer.Exit(run_recorded(paths, names, model, only_id=only_id, as_json=as_json))
    from ctxcore.cli.replaying import replayed_details, replayed_document, total_views

    given = (price_in, price_cached, price_out)

    def work(transcript: Transcript) -> Replayed:
        return _replay(transcript, names, window, max_tokens, model, given)

    outcome = run_over(paths, work, only_id=only_id)
    if as_json:
        print_json(outcome.to_dict("replay", map(replayed_document, outcome.done)))
    elif shows_details(paths, outcome, show_all=show_all):
        print_all([part for one in outcome.done for part in replayed_details(one)])
    elif outcome.done:
        print_all(total_views(outcome.done, failures=len(outcome.failures)))
    raise typer.Exit(outcome.exit_code)


def check_presets(names: Sequence[str] | None) -> tuple[str, ...]:
    """The presets that are named, each once; `default` where none is.

    Raises:
        typer.BadParameter: there is no such preset.
    """
    unknown = [name for name in names or () if name not in Policy.presets()]
    if unknown:
        known = ", ".join(Policy.presets())
        raise typer.BadParameter(f"{unknown[0]!r} is none of {known}", param_hint="--preset")
    return tuple(dict.fromkeys(names or ("default",)))


def _replay(
    transcript: Transcript,
    names: Sequence[str],
    window: int | None,
    max_tokens: int | None,
    model: str | None,
    given: tuple[float | None, float | None, float | None],
) -> Replayed:
    from ctxcore.compaction.simulation import Recording
    from ctxcore.replay.replaying import Replaying
    from ctxcore.tokens.count import counter_for

    about = About.of(transcript, model)
    budget = _budget(window, max_tokens, about.model)
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


def _prices(model: str | None, given: tuple[float | None, float | None, float | None]) -> Prices:
    """The prices that are given; else those of the model, where they are known."""
    from ctxcore.replay.values import Prices
    from ctxcore.tokens.catalog import model_info

    names = ("input", "cached_input", "output")
    named = {name: price for name, price in zip(names, given, strict=True) if price is not None}
    return replace(Prices.of(model_info(model)), **named)


def _budget(window: int | None, max_tokens: int | None, model: str | None) -> Budget:
    from ctxcore.tokens.catalog import model_info

    if max_tokens is not None:
        said = f"input of {max_tokens:,} tokens"
        return Budget(window_tokens=None, max_tokens=max_tokens, said=said, is_assumed=False)
    known = window or model_info(model).window_tokens
    why = "" if window else ", the model's" if known else ", assumed: name --window or --model"
    tokens = known or ASSUMED_WINDOW_TOKENS
    said = f"window of {tokens:,} tokens{why}"
    return Budget(window_tokens=tokens, max_tokens=None, said=said, is_assumed=known is None)
