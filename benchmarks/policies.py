"""The presets as benchmarks compare them."""

from __future__ import annotations

from ctxcore import Policy


def preset_for_input(name: str) -> Policy:
    """The preset `name` with all of a given limit for the input, so that each gets the same."""
    return Policy.preset(name, max_tokens_is_window=False)
