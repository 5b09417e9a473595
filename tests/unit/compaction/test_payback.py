"""When a compaction has paid: what it costs once against what every call saves."""

from __future__ import annotations

from ctxcore import compact, fit
from ctxcore.assembly.context import Context
from ctxcore.compaction.payback import SummaryTokens, payback
from ctxcore.tokens.prices import Price
from tests.histories import assistant, user

CACHING = Price(input=2.0, output=8.0, cached=0.2, cache_write=2.5)
PLAIN = Price(input=2.0, output=8.0)
SAID = [
    message
    for at in range(30)
    for message in (user(f"Question {at}: " + "wind and tide " * 20), assistant(f"Answer {at}."))
]


def contexts(max_tokens: int = 20_000, target: int = 900) -> tuple[Context, Context]:
    without = fit(SAID, max_tokens=max_tokens)
    made = compact(SAID, max_tokens=max_tokens, target_tokens=target, force=True)
    return without, made.context


def test_a_cached_prefix_is_paid_again_and_the_savings_are_those_of_cached_input() -> None:
    without, with_it = contexts()

    paid = payback(without, with_it, price=CACHING)

    rewritten = paid.rewritten_tokens
    assert 0 < rewritten < with_it.tokens
    assert paid.unit == "dollars"
    assert round(paid.once * 1e6, 3) == round(rewritten * (2.5 - 0.2), 3)
    assert round(paid.saving * 1e6, 3) == round((without.tokens - with_it.tokens) * 0.2, 3)
    assert paid.calls == -(-rewritten * 2.3 // ((without.tokens - with_it.tokens) * 0.2))


def test_without_a_price_for_the_cache_nothing_is_lost_there() -> None:
    without, with_it = contexts()

    paid = payback(without, with_it, price=PLAIN)

    assert (paid.once, paid.calls) == (0.0, 1)
    assert round(paid.saving * 1e6, 3) == round((without.tokens - with_it.tokens) * 2.0, 3)


def test_a_summary_by_a_model_adds_its_price() -> None:
    without, with_it = contexts()
    summary = SummaryTokens(input_tokens=9_000, output_tokens=300)

    paid = payback(without, with_it, price=PLAIN, summary=summary, summary_dollars=0.5)

    assert paid.once == 0.5
    assert paid.calls is not None
    assert (paid.calls - 1) * paid.saving < 0.5 <= paid.calls * paid.saving


def test_what_makes_calls_larger_never_pays() -> None:
    without, with_it = contexts()

    assert payback(with_it, without, price=CACHING).calls is None
    assert payback(with_it, without, price=None).calls is None
    assert payback(without, without, price=CACHING).calls is None


def test_without_a_known_price_tokens_are_counted() -> None:
    without, with_it = contexts()
    summary = SummaryTokens(input_tokens=9_000, output_tokens=300)

    by_model = payback(without, with_it, price=None, summary=summary)
    unpriced = payback(without, with_it, price=PLAIN, summary=summary, summary_dollars=None)

    assert (by_model.unit, by_model.once) == ("tokens", 9_300)
    assert by_model.saving == without.tokens - with_it.tokens
    assert by_model.calls == -(-9_300 // by_model.saving)
    assert unpriced == by_model
    assert payback(without, with_it, price=None).calls == 1


def test_where_the_window_moves_with_every_turn_little_of_a_call_is_cached() -> None:
    moving, with_it = contexts(max_tokens=2_000)
    assert moving.outside_tokens > 0

    paid = payback(moving, with_it, price=CACHING)
    still = payback(contexts()[0], contexts()[1], price=CACHING)

    assert paid.saving * 1e6 > (moving.tokens - with_it.tokens) * 0.2
    assert (paid.calls or 0) <= (still.calls or 0)
