"""Owns turning options into a policy; options that contradict each other are usage errors."""

from __future__ import annotations

import typer

from ctxcore.policy import Policy


def choose_policy(preset: str, window: int | None, max_tokens: int | None) -> Policy:
    """The preset under a window of the caller's own; its absolute numbers shrink with it.

    Raises:
        typer.BadParameter: there is no such preset, or both a window and a budget are named.
    """
    if preset not in Policy.presets():
        known = ", ".join(Policy.presets())
        raise typer.BadParameter(f"{preset!r} is none of {known}", param_hint="--preset")
    if window is not None and max_tokens is not None:
        problem = "names the whole input, --window input plus reply; use one of them"
        raise typer.BadParameter(problem, param_hint="--max-tokens")
    policy = Policy.preset(preset)
    if window is None:
        return policy
    whole = policy.window_tokens or window
    smaller = min(window, whole)
    system = policy.system_estimate_tokens * smaller // whole
    return policy.override(window_tokens=smaller, system_estimate_tokens=system)
