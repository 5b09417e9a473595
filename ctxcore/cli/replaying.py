"""Owns `ctxcore replay`: a recorded conversation call by call, as presets would have sent it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from ctxcore.cli.about import About
from ctxcore.cli.choices import check_one_budget
from ctxcore.cli.options import AsJson, ConversationId, MaxTokens, Model, Paths, ShowAll, Window
from ctxcore.cli.output import print_all, print_json
from ctxcore.cli.progress import progress
from ctxcore.cli.running import run_over, shows_details
from ctxcore.policy.values import Policy

if TYPE_CHECKING:
    from ctxcore.formats.values import Transcript
    from ctxcore.replay.prices import Prices
    from ctxcore.replay.values import Replay

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
    from ctxcore.cli.replaying_views import replayed_details, replayed_document, total_views

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
    from ctxcore.compaction.recording import Recording
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
    from ctxcore.replay.prices import Prices
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
