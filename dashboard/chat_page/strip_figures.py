"""How near the next compaction is, for the strip above the chat input; pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from statistics import median
from typing import Literal, TypeAlias

from ctxcore.budget import TokenBudget

RECENT_TURNS = 8  # chosen: a change of pace shows soon, a single long turn does not
MOST_TURNS = 50  # chosen: more is no estimate

State: TypeAlias = Literal["unknown", "off", "due", "turns", "many", "tokens"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Distance:
    """How far the next automatic compaction is, in what can be said of it."""

    state: State
    tokens: int = 0
    """What is left until the trigger; 0 where it is reached or unknown."""
    turns: int = 0
    """An estimate by the pace of recent turns; 0 where there is none."""


def turn_spans(user_seqs: Sequence[int], length: int) -> list[tuple[int, int]]:
    """The first and last message of the newest turns, by the user messages that begin them."""
    ends = [*(seq - 1 for seq in user_seqs[1:]), length]
    return list(zip(user_seqs, ends, strict=True))[-RECENT_TURNS:] if user_seqs else []


def distance(
    compared_tokens: int,
    budget: TokenBudget | None,
    growths: Sequence[int],
    *,
    is_automatic: bool = True,
) -> Distance:
    """How far the trigger is from `compared_tokens`, which is what it compares.

    `growths` are the tokens that recent turns added; the median turn gives the pace.
    """
    if budget is None:
        return Distance(state="unknown")
    if not is_automatic:
        return Distance(state="off")
    left = min(budget.trigger_tokens, budget.usable_tokens) - compared_tokens
    if left <= 0:
        return Distance(state="due")
    pace = median(growths) if growths else 0
    if pace <= 0:
        return Distance(state="tokens", tokens=left)
    turns = ceil(left / pace)
    if turns > MOST_TURNS:
        return Distance(state="many", tokens=left, turns=MOST_TURNS)
    return Distance(state="turns", tokens=left, turns=turns)
