"""How many examples a property is tried with, where the usual number takes too long."""

from __future__ import annotations

from hypothesis import settings

_USUAL = 16  # as in the default profile


def fewer(examples: int) -> settings:
    """So many of the usual examples; in other profiles as much fewer than they have."""
    chosen = settings()
    return settings(chosen, max_examples=max(1, chosen.max_examples * examples // _USUAL))
