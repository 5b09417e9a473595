"""What a live request costs at most, and what only one side sends."""

from __future__ import annotations

import pytest

from ctxcore.assembly.context import Context
from ctxcore.engine.jobs import collect
from ctxcore.reasons.problems import TrialProblem
from ctxcore.reasons.values import Reason
from ctxcore.tokens.prices import Price
from ctxcore.trials.candidates import Candidate, last_messages, no_compaction
from ctxcore.trials.live import Asking, most_cost
from ctxcore.trials.values import TrialSession
from tests.histories import assistant, user

TALK = [one for at in range(9) for one in (user(f"ask {at} " * 9), assistant(f"say {at} " * 9))]


def found(candidate: Candidate, *, window: int = 8_000) -> Context | Reason:
    session = TrialSession(id="s", title="", messages=TALK, model="gpt-4o", window_tokens=window)
    return collect(Asking(session, "Which was first?").under(candidate))


@pytest.mark.parametrize(
    ("price", "dollars"),
    [
        (Price(input=2, output=10), 3.0),
        (Price(input=2, output=10, cached=0.2), 3.0),
        (Price(input=2, output=10, cache_write=2.5), 3.5),
        (Price(input=2, output=10, cache_write=2.5, cache_hour=4), 5.0),
        (Price(input=2, output=10, cache_write=1), 3.0),
    ],
)
def test_the_most_is_the_dearest_way_that_the_input_can_be_billed(
    price: Price, dollars: float
) -> None:
    assert most_cost(price, 1_000_000, 100_000) == pytest.approx(dollars)


def test_without_a_price_or_a_limit_the_most_is_not_known() -> None:
    assert most_cost(None, 10, 10) is None
    assert most_cost(Price(input=1, output=1), 10, None) is None


def test_the_question_is_the_last_message_of_every_side() -> None:
    for candidate in (no_compaction(), last_messages(4)):
        context = found(candidate)
        assert isinstance(context, Context)
        assert context.messages[-1] == {"role": "user", "content": "Which was first?"}


def test_what_does_not_fit_whole_is_refused_with_both_sizes() -> None:
    refused = found(no_compaction(), window=400)

    assert isinstance(refused, Reason)
    assert refused.mentions(TrialProblem.NOT_WHOLE)
    facts = dict(refused.facts)
    assert int(str(facts["tokens"])) > int(str(facts["usable"]))
