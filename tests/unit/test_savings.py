"""What compactions saved: tokens not sent, less summaries and lost caches."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ctxcore.engine.savings import Saving, savings_of, total_saving
from ctxcore.store.values import CallTally
from ctxcore.tokens.prices import Price

PRICE = Price(input=3.0, output=15.0, cached=0.3, cache_write=3.75)


def price_of(model: str) -> Price | None:
    return PRICE if model == "known" else None


def tally(**given: Any) -> CallTally:
    fields: dict[str, Any] = {
        "user_id": "ada",
        "policy_version_id": 7,
        "month": "2026-03",
        "model": "known",
        "purpose": "answer",
        "calls": 10,
        "cost": 1.0,
        "input_tokens": 10_000,
        "output_tokens": 100,
        "cached_tokens": None,
        "cache_write_tokens": None,
        "cache_hour_tokens": None,
        "input_calls": 10,
        "compared_calls": 10,
        "sent_tokens": 10_000,
        "without_tokens": 1_010_000,
        **given,
    }
    return CallTally(**fields)


def one_saving(*tallies: CallTally) -> Saving:
    [saving] = savings_of(tallies, price_of)
    return saving


def test_without_a_cache_what_was_not_sent_costs_the_price_of_input() -> None:
    saving = one_saving(tally())

    assert saving.unsent_tokens == 1_000_000
    assert saving.unsent_dollars == pytest.approx(3.0)
    assert saving.net_dollars == pytest.approx(3.0)


def test_with_a_cache_it_costs_the_price_of_the_cache() -> None:
    saving = one_saving(tally(cached_tokens=5_000))

    assert saving.unsent_dollars == pytest.approx(0.3)


def test_summaries_and_lost_caches_make_it_less_down_to_below_nothing() -> None:
    answers = tally(cached_tokens=5_000, cache_write_tokens=1, rewritten_tokens=100_000)
    summaries = tally(purpose="summary", cost=0.4, compared_calls=0, sent_tokens=0)

    saving = one_saving(answers, replace(summaries, without_tokens=0))

    assert saving.rewritten_dollars == pytest.approx(0.345)
    assert saving.summary_dollars == pytest.approx(0.4)
    assert saving.summary_tokens == 10_100
    assert saving.net_dollars == pytest.approx(0.3 - 0.345 - 0.4)
    assert saving.net_tokens == 1_000_000 - 10_100
    assert (saving.calls, saving.summary_calls) == (10, 10)


def test_a_summary_without_a_recorded_cost_is_priced_today() -> None:
    saving = one_saving(tally(), tally(purpose="summary", cost=None, without_tokens=10_000))

    assert saving.summary_dollars == pytest.approx((10_000 * 3 + 100 * 15) / 1e6)


def test_an_unknown_price_leaves_the_money_unknown_and_the_tokens_known() -> None:
    saving = one_saving(tally(model="free"))

    assert (saving.unsent_dollars, saving.net_dollars) == (None, None)
    assert saving.unsent_tokens == 1_000_000


def test_an_unknown_price_of_nothing_is_nothing() -> None:
    saving = one_saving(tally(model="free", without_tokens=10_000))

    assert saving.net_dollars == 0.0


def test_calls_that_sent_more_than_without_compactions_count_against_it() -> None:
    saving = one_saving(tally(without_tokens=9_000))

    assert saving.unsent_tokens == -1_000
    assert saving.net_dollars == pytest.approx(-0.003)


def test_each_month_user_and_version_stands_by_itself_the_newest_month_first() -> None:
    april = tally(month="2026-04")
    eve = tally(user_id="eve")
    unsaved = tally(policy_version_id=None)

    found = savings_of([tally(), april, eve, unsaved], price_of)

    assert [(one.month, one.user_id, one.policy_version_id) for one in found] == [
        ("2026-04", "ada", 7),
        ("2026-03", "ada", None),
        ("2026-03", "ada", 7),
        ("2026-03", "eve", 7),
    ]


def test_the_sum_of_savings_names_what_all_share_and_is_unknown_where_one_is() -> None:
    eve = tally(user_id="eve", compared_calls=4)
    known = total_saving(savings_of([tally(), eve], price_of))
    unknown = total_saving(savings_of([tally(), replace(eve, model="free")], price_of))

    assert (known.user_id, known.month, known.policy_version_id) == (None, "2026-03", 7)
    assert (known.calls, known.compared_calls) == (20, 14)
    assert known.net_dollars == pytest.approx(6.0)
    assert unknown.net_dollars is None
    assert unknown.unsent_tokens == 2_000_000
