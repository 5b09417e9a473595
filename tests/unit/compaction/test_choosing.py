"""The choice between truncating and summarizing, where the design's rows leave it open."""

from __future__ import annotations

import pytest

from ctxcore.compaction.strategies import Uses, choose, level_of
from ctxcore.reasons.codes import ChoiceCode
from ctxcore.reasons.values import Reason


def test_without_a_limit_of_summaries_only_the_score_falls() -> None:
    def chosen(summaries: int) -> Reason:
        uses = Uses(summaries=summaries)
        return choose(
            messages=20, chars=12_000, uses=uses, preference="balanced", max_summaries=None
        ).reason

    assert chosen(2) == ChoiceCode.SCORES(truncate=35, summarize=50)
    assert chosen(3) == ChoiceCode.SCORES(truncate=35, summarize=15)
    assert str(chosen(3)) == "scores: truncate 35, summarize 15"


def test_a_limit_of_zero_never_summarizes() -> None:
    choice = choose(messages=60, chars=20_000, uses=Uses(), preference="quality", max_summaries=0)

    assert choice.method == "truncate"
    assert choice.reason == ChoiceCode.LIMIT(count=0, most=0)


@pytest.mark.parametrize(
    ("ratio", "level"),
    [
        (0.01, "minimal"),
        (0.12, "minimal"),
        (0.13, "balanced"),
        (0.19, "balanced"),
        (0.21, "detailed"),
        (0.32, "detailed"),
        (0.33, "complete"),
        (1.0, "complete"),
    ],
)
def test_a_share_has_the_name_of_the_nearest_level(ratio: float, level: str) -> None:
    assert level_of(ratio) == level
