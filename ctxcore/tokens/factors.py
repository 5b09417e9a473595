"""Learns by how much a provider's counts differ from our estimates, for one model and counter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, isfinite
from statistics import median

from ctxcore.plain import Plain

LEAST_TOKENS = 200
"""Chosen: in a smaller input the frames that nobody documents weigh more than the text."""
LEAST_CALLS = 3
"""Chosen: the median of three leaves one wrong report without effect."""
MOST_CALLS = 20
"""Chosen: the newest calls, so that a change at the provider shows within a day's chat."""
LOW, HIGH = 0.6, 2.5
"""Chosen: estimates are off by 8 to 24 %, for older Claudes by a quarter more, and Chinese in an
English vocabulary took 1.6 to 2.0 times its estimate. What is outside is another thing than an
estimate's error, e.g. an input that was cut or counted without its cache."""
_COVERED = 0.9
"""Chosen: nine of ten calls lie within the error that is shown."""
CUT_LEAST_TOKENS = 1_000
"""Chosen: a smaller input is hardly cut by anybody."""
CUT_LEAST_READ_TOKENS = 64
"""Chosen: no window is as small; a report of less is a wrong one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountFactor(Plain):
    """What a provider counts for one of our tokens, learned from its reports."""

    value: float = 1.0
    error_ratio: float | None = None
    """The share by which single calls differ, in nine of ten; None where nothing was learned."""
    calls: int = 0
    """The calls that it was learned from."""


NO_FACTOR = CountFactor()


def learn_factor(pairs: Sequence[tuple[int, int]]) -> CountFactor:
    """The factor of pairs of counted and reported input tokens, newest first.

    It is the median of their ratios. Reports of small inputs and those outside `LOW` to `HIGH` are
    ignored; of fewer than `LEAST_CALLS` nothing is learned.
    """
    ratios = [
        reported / counted
        for counted, reported in pairs
        if counted >= LEAST_TOKENS and LOW <= reported / counted <= HIGH
    ][:MOST_CALLS]
    if len(ratios) < LEAST_CALLS:
        return NO_FACTOR
    middle = round(median(ratios), 4)
    errors = sorted(abs(ratio / middle - 1) for ratio in ratios)
    error = errors[ceil(_COVERED * len(errors)) - 1]
    return CountFactor(value=middle, error_ratio=round(error, 4), calls=len(ratios))


def checked_factor(factor: float) -> float:
    """`factor`, which budgets are divided by.

    Raises:
        ValueError: it is not a positive number.
    """
    if not (isfinite(factor) and factor > 0):
        raise ValueError(f"count_factor is {factor!r}; it must be a positive number")
    return factor


def is_cut(counted: int, reported: int, factor: float) -> bool:
    """Whether a provider reports so much less than was sent that it must have left some of it.

    Only a `factor` below 1 is reckoned with: a larger one may be of texts in another language.
    """
    if counted < CUT_LEAST_TOKENS or reported < CUT_LEAST_READ_TOKENS:
        return False
    return reported < LOW * min(factor, 1.0) * counted
