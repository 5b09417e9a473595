"""How much Chinese text says, in words that name something."""

from __future__ import annotations

import pytest

from ctxcore.text.words import han_content


@pytest.mark.parametrize(
    ("run", "content"),
    [
        ("", 0.0),
        ("请问", 0.0),
        ("你是谁", 0.0),
        ("灯塔", 1.0),
        ("灯塔的楼梯", 2.0),
        ("喜欢灯塔", 1.5),
        ("今天天气", 1.0),
    ],
)
def test_words_that_name_something_count_one_and_common_ones_half(run: str, content: float) -> None:
    assert han_content(run) == content
