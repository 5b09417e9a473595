"""Formats tokens, shares and money. An unknown number is written as unknown, never as 0.

Estimates carry a `≈`, exact numbers do not.
"""

from __future__ import annotations

from ctxcore.budget import TokenBudget
from ctxcore.tokens.costs import dollars_text, tokens_text
from dashboard.texts import t


def tokens(value: int | None, *, is_exact: bool = True) -> str:
    """A number of tokens in full, e.g. `12,345`; `≈` before an estimate."""
    if value is None:
        return t("common.unknown")
    return f"{value:,}" if is_exact else f"≈{value:,}"


def corrected(value: int, budget: TokenBudget) -> str:
    """What a counted size takes of the model's own tokens, e.g. `≈7,091 ± 3 %`."""
    size = tokens(round(value * budget.count_factor), is_exact=False)
    if budget.count_error_ratio is None:
        return size
    return f"{size} ± {_error(budget.count_error_ratio)}"


def within(value: float, error_ratio: float) -> str:
    """A percentage with its error, e.g. `112 % ± 3 %`."""
    return f"{value:.0f}\u00a0% ± {_error(error_ratio)}"


def _error(ratio: float) -> str:
    return f"{max(1, round(100 * ratio))}\u00a0%"


def short_tokens(value: int | None) -> str:
    """A number of tokens in few characters, e.g. `12.3k`."""
    return t("common.unknown") if value is None else tokens_text(value)


def percent(part: float | None, whole: float | None) -> str:
    """A share as a percentage; unknown without a whole."""
    if part is None or not whole:
        return t("common.unknown")
    share = 100 * part / whole
    if 0 < share < 0.1:
        return "<0.1\u00a0%"
    return f"{share:.1f}\u00a0%" if 0 < share < 1 else f"{share:.0f}\u00a0%"


def money(value: float | None) -> str:
    """US dollars; small amounts keep two significant figures."""
    return t("common.unknown") if value is None else dollars_text(value)


def exactness(is_exact: bool) -> str:
    """The word for exact or estimated."""
    return t("common.exact") if is_exact else t("common.estimated")
