"""Conversations that agents of every framework are tested with."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from ctxcore.errors import StateError
from ctxcore.reasons.problems import StateProblem

WINDOW = 4_000
TOPICS = ("harbour", "bakery", "school", "museum", "station", "library", "garden", "market")


def note(turn: int) -> str:
    """What the user says in a turn: some new facts, about 150 tokens."""
    place = TOPICS[turn % len(TOPICS)]
    said = f"In turn {turn} the {place} ordered {turn * 17 + 3} crates, due on day {turn + 2}. "
    return said + f"The clerk of the {place} checks every crate by hand and writes it down. " * 8


def answer(turn: int) -> str:
    """What the model says in a turn."""
    return f"Noted for turn {turn}: {turn * 17 + 3} crates."


def shared_prefix(before: Sequence[str], after: Sequence[str]) -> int:
    """How many messages at the front of two requests are the same."""
    pairs = zip(before, after, strict=False)
    return next((at for at, (one, other) in enumerate(pairs) if one != other), len(before))


def prefix_breaks(requests: Sequence[Sequence[str]]) -> list[int]:
    """The turns whose request does not begin as the one before it, its last message aside.

    What recall adds stands just before the live request, so one message more may differ.
    """
    return [
        turn
        for turn, (before, after) in enumerate(itertools.pairwise(requests), 1)
        if shared_prefix(before, after) < len(before) - 2
    ]


def broken(*args: object, **settings: object) -> None:
    """Stands for a compaction that fails."""
    raise StateError(at=0, problem=StateProblem.TYPE(kind="list"))
