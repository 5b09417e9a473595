"""Owns turning options into a policy; what contradicts or cannot be read is a usage error.

Options win over the file, the file over the environment, that over the preset.
"""

from __future__ import annotations

from pathlib import Path

import typer

from ctxcore.errors import ContextError
from ctxcore.messages.values import JsonObject
from ctxcore.policy.layers import PRESET_FIELD, Layer, Merged, merge
from ctxcore.policy.values import Policy

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
