"""The chart of savings by month: what was saved above the line, what it cost below."""

from __future__ import annotations

from typing import Any

from ctxcore.engine.savings import Saving
from dashboard.reports_page.charts import monthly_savings

NAMES = {"unsent": "Not sent", "summaries": "Summaries", "rewritten": "Lost caches"}


def saving(**given: Any) -> Saving:
    fields: dict[str, Any] = {
        "user_id": "ada",
        "policy_version_id": None,
        "month": "2026-03",
        "calls": 1,
        "compared_calls": 1,
        "sent_tokens": 10,
        "unsent_tokens": 500,
        "unsent_dollars": 2.0,
        "summary_calls": 1,
        "summary_tokens": 40,
        "summary_dollars": 0.5,
        "rewritten_tokens": 30,
        "rewritten_dollars": 0.25,
        **given,
    }
    return Saving(**fields)


def bars(in_dollars: bool, **sums: Saving) -> dict[str, list[float]]:
    figure = monthly_savings(sums, names=NAMES, in_dollars=in_dollars, axis="")
    traces: Any = figure["data"]
    return {trace["name"]: trace["y"] for trace in traces}


def test_costs_stand_below_what_was_saved() -> None:
    drawn = bars(True, march=saving(), april=saving(unsent_dollars=-1.0))

    assert drawn == {
        "Not sent": [2.0, -1.0],
        "Summaries": [-0.5, -0.5],
        "Lost caches": [-0.25, -0.25],
    }


def test_without_prices_the_tokens_are_drawn() -> None:
    drawn = bars(False, march=saving(unsent_dollars=None, summary_dollars=None))

    assert drawn == {"Not sent": [500], "Summaries": [-40]}


def test_what_never_was_has_no_bar() -> None:
    assert bars(True, march=saving(summary_dollars=0.0, rewritten_dollars=0.0)) == {
        "Not sent": [2.0]
    }
