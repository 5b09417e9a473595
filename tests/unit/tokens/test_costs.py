"""Prices and costs: what is cached and written, what is not known and why."""

from __future__ import annotations

import pytest

from ctxcore.reasons.codes import CostCode
from ctxcore.tokens.catalog import model_info
from ctxcore.tokens.costs import CallCost, dollars_text, sum_costs
from ctxcore.tokens.prices import BilledTokens, Price, cost_of, list_price

PRICE = Price(input=3.0, output=15.0, cached=0.3, cache_write=3.75, cache_hour=6.0)
TOKENS = BilledTokens(
    input_tokens=1_000_000,
    cached_tokens=600_000,
    cache_write_tokens=300_000,
    cache_hour_tokens=100_000,
    output_tokens=10_000,
)


def test_each_part_of_the_input_has_its_own_price() -> None:
    parts = 100_000 * 3.0 + 600_000 * 0.3 + 200_000 * 3.75 + 100_000 * 6.0 + 10_000 * 15.0

    assert cost_of(TOKENS, PRICE) == pytest.approx(parts / 1e6)


@pytest.mark.parametrize(
    ("price", "parts"),
    [
        (Price(input=3.0, output=15.0), 1_000_000 * 3.0),
        (Price(input=3.0, output=15.0, cached=0.3), 400_000 * 3.0 + 600_000 * 0.3),
        (Price(input=3.0, output=15.0, cache_write=4.0), 700_000 * 3.0 + 300_000 * 4.0),
    ],
)
def test_what_has_no_price_of_its_own_costs_as_the_next(price: Price, parts: float) -> None:
    assert cost_of(TOKENS, price) == pytest.approx((parts + 10_000 * 15.0) / 1e6)


def test_more_cached_than_sent_costs_nothing_less() -> None:
    odd = BilledTokens(input_tokens=10, cached_tokens=20, cache_hour_tokens=5)

    assert cost_of(odd, PRICE) == pytest.approx(20 * 0.3 / 1e6)


def test_a_price_needs_input_and_output() -> None:
    assert list_price("nobody/knows") is None
    assert list_price(None) is None
    listed, info = list_price("claude-sonnet-4-5"), model_info("claude-sonnet-4-5")
    assert listed is not None
    assert info.input_price is not None
    assert listed.input == pytest.approx(info.input_price * 1e6)
    assert listed.cache_hour == 2 * listed.input
    assert listed.cache_write == 1.25 * listed.input


def test_gaps_are_counted_by_their_reason() -> None:
    priced = CallCost(dollars=0.1, model="m", has_usage=True)
    unlisted = CallCost(dollars=None, model="m", has_usage=True, calls=2)
    nameless = CallCost(dollars=None, model=None, has_usage=True)
    silent = CallCost(dollars=None, model="m", has_usage=False)

    total = sum_costs([priced, priced, priced, nameless, unlisted, silent, unlisted])

    assert total.dollars == pytest.approx(0.3)
    assert [(gap.reason, gap.calls) for gap in total.unknown] == [
        (CostCode.NO_PRICE(model="m"), 4),
        (CostCode.NO_MODEL(), 1),
        (CostCode.NO_USAGE(), 1),
    ]
    assert sum_costs([silent]).document() == {
        "dollars": None,
        "unknown": [
            {
                "calls": 1,
                "reason": {"code": "cost.no_usage", "text": str(CostCode.NO_USAGE())},
            }
        ],
    }
    assert sum_costs([]).dollars is None


@pytest.mark.parametrize(
    ("dollars", "text"),
    [
        (0, "$0.00"),
        (0.004213, "$0.0042"),
        (0.0999, "$0.10"),
        (0.1, "$0.10"),
        (1234.567, "$1,234.57"),
    ],
)
def test_dollars_are_written_to_the_cent(dollars: float, text: str) -> None:
    assert dollars_text(dollars) == text
