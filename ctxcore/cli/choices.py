"""Turns options into a policy, a budget, a summarizer and an answer to a confirmation.

Options that are not valid, alone or together, raise `typer.BadParameter`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ctxcore.budget import ASSUMED_WINDOW_TOKENS
from ctxcore.cli.output import one_line, plural, print_note
from ctxcore.errors import ContextError
from ctxcore.policy.layers import PRESET_FIELD, Layer, Merged, merge
from ctxcore.policy.values import Policy

if TYPE_CHECKING:
    from ctxcore.compaction.plans import Answer, Confirm, Confirmation
    from ctxcore.messages.values import JsonObject
    from ctxcore.summarizers.protocol import Summarizer
    from ctxcore.trials.values import TrialSession

_ABSOLUTE = ("system_estimate_tokens", "router_tokens", "upper_tokens", "lower_tokens")


def choose_policy(
    preset: str | None, window: int | None, max_tokens: int | None, config: Path | None
) -> Policy:
    """The policy of options, file and environment; its token limits shrink with `window`."""
    check_preset(preset)
    check_one_budget(window, max_tokens)
    policy = merged_policy(preset, config).policy
    if window is None:
        return policy
    whole = policy.window_tokens or window
    smaller = min(window, whole)
    absolute = {name: getattr(policy, name) for name in _ABSOLUTE}
    scaled = {
        name: tokens * smaller // whole for name, tokens in absolute.items() if tokens is not None
    }
    return policy.override(window_tokens=smaller, **scaled)


def merged_policy(preset: str | None, config: Path | None) -> Merged:
    """The policy of preset, file and environment, with the source of each value."""
    from ctxcore.settings.loading import load_layers

    named: JsonObject = {} if preset is None else {PRESET_FIELD: preset}
    try:
        return merge([*load_layers(config=config), Layer(name="call", overrides=named)])
    except ContextError as error:
        raise typer.BadParameter(str(error)) from error


def check_preset(preset: str | None, *, hint: str = "--preset") -> None:
    if preset is not None and preset not in Policy.presets():
        known = ", ".join(Policy.presets())
        raise typer.BadParameter(f"{preset!r} is not one of {known}", param_hint=hint)


def choose_presets(names: Sequence[str] | None) -> tuple[str, ...]:
    """The named presets without repetitions; `default` where none is named."""
    for name in names or ():
        check_preset(name)
    return tuple(dict.fromkeys(names or ("default",)))


def check_one_budget(window: int | None, max_tokens: int | None) -> None:
    if window is not None and max_tokens is not None:
        problem = "is the input alone, --window input plus reply; use one of them"
        raise typer.BadParameter(problem, param_hint="--max-tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The budget that all compared presets share: a window or an input."""

    window_tokens: int | None
    max_tokens: int | None
    text: str
    """The budget in words."""
    is_assumed: bool = False
    """Whether no option names the window and the model's is unknown or its family's."""

    @classmethod
    def of(
        cls, window: int | None, max_tokens: int | None, model: str | None, *, scope: str = ""
    ) -> Budget:
        """The budget of the options, else of the model; `scope` is added to its text."""
        from ctxcore.tokens.catalog import model_info

        if max_tokens is not None:
            text = f"input of {max_tokens:,} tokens{scope}"
            return cls(window_tokens=None, max_tokens=max_tokens, text=text)
        info = model_info(model)
        known = window or info.window_tokens
        own = ", assumed from the model's family" if info.is_assumed else ", the model's"
        source = own if known else ", assumed: set --window or --model"
        tokens = known or ASSUMED_WINDOW_TOKENS
        text = f"window of {tokens:,} tokens{scope}{'' if window else source}"
        is_assumed = known is None or (window is None and info.is_assumed)
        return cls(window_tokens=tokens, max_tokens=None, text=text, is_assumed=is_assumed)

    @classmethod
    def of_session(cls, session: TrialSession, *, is_given: bool, scope: str = "") -> Budget:
        """The budget of a stored session; `is_given`: an option named its window."""
        if session.max_tokens is not None or session.window_tokens is None:
            return cls.of(None, session.max_tokens, session.model, scope=scope)
        source = ", assumed: set --window or --model" if session.is_window_assumed else ""
        source = "" if is_given else source or ", the model's"
        return cls(
            window_tokens=session.window_tokens,
            max_tokens=None,
            text=f"window of {session.window_tokens:,} tokens{scope}{source}",
            is_assumed=session.is_window_assumed,
        )


def choose_summarizer(name: str | None, model: str | None) -> Summarizer:
    """The model `name` as a summarizer; else the extractive one, counting tokens of `model`."""
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


def choose_confirm(name: str, *, is_confirmed: bool) -> Confirm | None:
    """What confirms compactions of the conversation `name`; None if nobody can be asked."""
    if is_confirmed:
        return lambda question: "compact"
    return (lambda question: _ask(question, name)) if is_terminal() else None


def is_terminal() -> bool:
    """Whether a person can see and answer a question."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _ask(question: Confirmation, name: str) -> Answer:
    plan = question.plan
    turns = plural(plan.turns_folded, "turn")
    now = question.next_call_tokens or question.current_tokens
    expected = f"next call {now:,} → about {plan.expected_tokens:,} tokens"
    print_note(f"{one_line(name)}: {question}")
    print_note(f"folds {_places(plan.fold)} ({turns}); {expected}")
    for letter, (_, meaning) in _ANSWERS.items():
        typer.echo(f"  {letter}  {meaning}", err=True)
    while (letter := str(typer.prompt("answer", err=True)).strip().lower()) not in _ANSWERS:
        print_note(f"answer with one of {', '.join(_ANSWERS)}")
    return _ANSWERS[letter][0]


def _places(fold: tuple[int, ...]) -> str:
    """The messages that are folded, counted from 0 as everywhere on the command line."""
    if not fold:
        return "no messages, but shortens tool outputs"
    if len(fold) == 1:
        return f"message {fold[0]:,}"
    return f"{len(fold):,} of messages {min(fold):,}-{max(fold):,}"
