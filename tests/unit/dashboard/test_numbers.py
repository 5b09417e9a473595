"""Numbers say what they are: exact, estimated or unknown, never 0 for unknown."""

from __future__ import annotations

import pytest

from dashboard import numbers


def test_what_is_unknown_is_said() -> None:
    assert numbers.tokens(None) == "unknown"
    assert numbers.short_tokens(None) == "unknown"
    assert numbers.money(None) == "unknown"
    assert numbers.percent(5, None) == "unknown"
    assert numbers.percent(None, 5) == "unknown"


def test_an_estimate_carries_a_mark() -> None:
    assert numbers.tokens(12_345, is_exact=False) == "≈12,345"
    assert numbers.tokens(12_345) == "12,345"


@pytest.mark.parametrize(
    ("value", "written"), [(999, "999"), (1_000, "1k"), (12_345, "12.3k"), (2_500_000, "2.5M")]
)
def test_short_numbers_keep_their_size(value: int, written: str) -> None:
    assert numbers.short_tokens(value) == written


@pytest.mark.parametrize(
    ("part", "written"),
    [(0, "0\u00a0%"), (0.04, "<0.1\u00a0%"), (0.5, "0.5\u00a0%"), (38.4, "38\u00a0%")],
)
def test_small_shares_are_not_rounded_to_nothing(part: float, written: str) -> None:
    assert numbers.percent(part, 100) == written


def test_small_amounts_of_money_are_not_rounded_to_nothing() -> None:
    assert numbers.money(0.00042) == "$0.00042"
    assert numbers.money(1234.5) == "$1,234.50"
    assert numbers.money(0) == "$0.00"
