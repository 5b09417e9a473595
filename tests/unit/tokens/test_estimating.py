"""Estimates: never exact, never zero for a text, and near the vocabulary they stand for."""

from __future__ import annotations

import pytest

from ctxcore.tokens.estimate import FAMILIES, EstimatedCounter, Family
from ctxcore.tokens.exact import ExactCounter

PROSE = (
    "We moved the nightly export to a queue because the old cron job failed silently whenever the "
    "disk was full. The worker retries three times, then posts to the on-call channel.\n"
)
CODE = 'def load(path: Path) -> dict[str, int]:\n    return json.loads(path.read_text("utf-8"))\n'
CHINESE = "我们把夜间导出任务改成了队列,因为磁盘写满时旧的定时任务会悄悄失败。工作进程会重试三次。"


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_gives_a_text_at_least_one_token(family: Family) -> None:
    counter = EstimatedCounter(family)

    assert counter.count("") == 0
    assert all(counter.count(text) == 1 for text in (" ", "a", "\ud800", "é"))


def test_an_estimate_says_so_in_its_id() -> None:
    counter = EstimatedCounter("claude4.8")

    assert (counter.id, counter.is_exact) == ("estimate:claude4.8", False)


def test_the_estimate_is_the_weighted_sum_of_byte_classes() -> None:
    # 5 lower × .215 + 1 upper × .265 + 3 digits × .863 + 2 spaces × .063 + 1 other × .497 = 4.552
    assert EstimatedCounter("o200k").count("Hello 123 !") == round(
        4 * 0.215 + 0.265 + 3 * 0.863 + 2 * 0.063 + 0.497
    )
    assert EstimatedCounter("o200k").count("你好" * 50) == round(100 * 0.816)


@pytest.mark.parametrize("text", [PROSE, CODE, CHINESE], ids=["prose", "code", "chinese"])
def test_estimates_of_openai_vocabularies_are_within_a_fifth(text: str) -> None:
    exact = ExactCounter("o200k_base").count(text * 20)

    assert EstimatedCounter("o200k").count(text * 20) == pytest.approx(exact, rel=0.2)


def test_claude_takes_more_tokens_than_openai_for_the_same_words() -> None:
    claude, openai = EstimatedCounter("claude4.8"), EstimatedCounter("o200k")

    assert claude.count(PROSE) > 1.3 * openai.count(PROSE)
