"""Owns the breakdown of a window into segments; they always add up to the window.

The priming of the reply counts as system, goal and moved pins as pinned, markers for what is gone
as summary.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Segment = Literal[
    "system",
    "tools",
    "knowledge",
    "pinned",
    "facts",
    "summary",
    "kept",
    "recent",
    "recalled",
    "unattributed",
    "reserve",
    "free",
]

INPUT_SEGMENTS: tuple[Segment, ...] = (
    "system",
    "tools",
    "pinned",
    "facts",
    "summary",
    "kept",
    "recent",
    "recalled",
    "knowledge",
    "unattributed",
)
SEGMENTS: tuple[Segment, ...] = (*INPUT_SEGMENTS, "reserve", "free")


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakdown:
    """Tokens of each segment; `window` is None where the model's window is unknown."""

    system: int = 0
    tools: int = 0
    pinned: int = 0
    facts: int = 0
    summary: int = 0
    kept: int = 0
    recent: int = 0
    recalled: int = 0
    knowledge: int = 0
    unattributed: int = 0
    reserve: int = 0
    free: int = 0
    window: int | None = None

    @property
    def input_tokens(self) -> int:
        """What is sent: every segment but reserve and free."""
        return sum(getattr(self, name) for name in INPUT_SEGMENTS)

    def to_dict(self) -> dict[str, int]:
        """The segments by name, in the order in which they are shown."""
        return {name: getattr(self, name) for name in SEGMENTS}


def make_breakdown(
    tokens: Mapping[Segment, int], *, window_tokens: int | None, reserve_tokens: int
) -> Breakdown:
    """The breakdown of an input with these segments; what is left of the window is free."""
    segments = {str(name): size for name, size in tokens.items()}
    if window_tokens is None:
        return Breakdown(**segments)
    free = window_tokens - reserve_tokens - sum(segments.values())
    return Breakdown(**segments, reserve=reserve_tokens, free=free, window=window_tokens)
