"""Owns the options that commands share, so that one word means one thing everywhere."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ctxcore.cli.output import one_line, plural, print_note
from ctxcore.errors import ContextError
from ctxcore.policy.layers import PRESET_FIELD, Layer, Merged, merge
from ctxcore.policy.values import Policy

if TYPE_CHECKING:
    from ctxcore.compaction.plans import Answer, Confirm, Confirmation
    from ctxcore.messages.values import JsonObject
    from ctxcore.summarizers.protocol import Summarizer


_ABSOLUTE = ("system_estimate_tokens", "router_tokens", "upper_tokens", "lower_tokens")


def choose_policy(
    preset: str | None, window: int | None, max_tokens: int | None, config: Path | None = None
) -> Policy:
    """The policy that options, file and environment make, under a window of the caller's own.

    Absolute numbers shrink with the window.

    Raises:
        typer.BadParameter: there is no such preset, both a window and a budget are named, or file
            or environment say what is not allowed.
    """
    check_preset(preset)
    check_one_budget(window, max_tokens)
    policy = _load(preset, config)
    if window is None:
        return policy
    whole = policy.window_tokens or window
    smaller = min(window, whole)
    absolute = {name: getattr(policy, name) for name in _ABSOLUTE}
    scaled = {
        name: tokens * smaller // whole for name, tokens in absolute.items() if tokens is not None
    }
    return policy.override(window_tokens=smaller, **scaled)


def check_preset(preset: str | None, *, hint: str = "--preset") -> None:
    """Refuses the name of a preset that there is not.

    Raises:
        typer.BadParameter: there is none of this name.
    """
    if preset is not None and preset not in Policy.presets():
        known = ", ".join(Policy.presets())
        raise typer.BadParameter(f"{preset!r} is none of {known}", param_hint=hint)


def merged_here(preset: str | None, config: Path | None) -> Merged:
    """The policy that preset, file and environment make, with where each value is from.

    Raises:
        typer.BadParameter: file or environment say what is not allowed.
    """
    from ctxcore.settings.loading import load_layers

    named: JsonObject = {} if preset is None else {PRESET_FIELD: preset}
    try:
        return merge([*load_layers(config=config), Layer(name="call", overrides=named)])
    except ContextError as error:
        raise typer.BadParameter(str(error)) from error


def check_one_budget(window: int | None, max_tokens: int | None) -> None:
    """Refuses a window and an input budget at once.

    Raises:
        typer.BadParameter: both are named.
    """
    if window is not None and max_tokens is not None:
        problem = "names the whole input, --window input plus reply; use one of them"
        raise typer.BadParameter(problem, param_hint="--max-tokens")


def _load(preset: str | None, config: Path | None) -> Policy:
    from ctxcore.settings.loading import load_policy

    try:
        return load_policy(preset, config=config)
    except ContextError as error:
        raise typer.BadParameter(str(error)) from error


SummarizerModel = Annotated[
    str | None,
    typer.Option(
        "--summarizer",
        metavar="MODEL",
        help="A model that writes the summaries, e.g. local/smollm2-135m; else they quote.",
        show_default=False,
    ),
]


def choose_summarizer(name: str | None, model: str | None) -> Summarizer:
    """The model `name` as a summarizer; without one, what quotes, in the tokens of `model`."""
    if name is None:
        from ctxcore.summarizers.extractive import ExtractiveSummarizer
        from ctxcore.tokens.count import counter_for

        return ExtractiveSummarizer(counter_for(model))
    from ctxcore.gateway.litellm_gateway import LiteLLMGateway
    from ctxcore.gateway.summarizing import ModelSummarizer

    return ModelSummarizer(LiteLLMGateway(), name)


NEEDS_YES = "needs confirmation; pass --yes"

_ANSWERS: Mapping[str, tuple[Answer, str]] = {
    "c": ("compact", "compact: fold them into a summary"),
    "d": ("drop_oldest", "drop the oldest: leave them out without a summary"),
    "n": ("new_session", "new session: keep only the turn that waits for its answer"),
    "r": ("refuse", "refuse: change nothing and end with an error"),
}


def choose_confirm(name: str, *, says_yes: bool) -> Confirm | None:
    """What answers for the conversation `name`; None where there is nobody to ask."""
    if says_yes:
        return lambda question: "compact"
    return (lambda question: _ask(question, name)) if is_terminal() else None


def is_terminal() -> bool:
    """Whether somebody sees the question and can answer it."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _ask(question: Confirmation, name: str) -> Answer:
    plan = question.plan
    turns = plural(plan.turns_folded, "turn")
    expected = f"{plan.before_tokens:,} → about {plan.expected_tokens:,} tokens"
    print_note(f"{one_line(name)}: {question}")
    print_note(f"folds {_places(plan.fold)} ({turns}); {expected}")
    for letter, (_, meaning) in _ANSWERS.items():
        typer.echo(f"  {letter}  {meaning}", err=True)
    while (said := str(typer.prompt("answer", err=True)).strip().lower()) not in _ANSWERS:
        print_note(f"answer with one of {', '.join(_ANSWERS)}")
    return _ANSWERS[said][0]


def _places(fold: tuple[int, ...]) -> str:
    """Which messages: places from 0, as everywhere on the command line."""
    if not fold:
        return "no messages, but shortens tool outputs"
    if len(fold) == 1:
        return f"message {fold[0]:,}"
    return f"{len(fold):,} of messages {min(fold):,}-{max(fold):,}"
