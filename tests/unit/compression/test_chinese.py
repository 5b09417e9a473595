"""Chinese outputs and queries: words without blanks, names of members, errors."""

from __future__ import annotations

import json

import pytest

from ctxcore.compression.outputs import compress
from ctxcore.compression.target import terms_of

FAMILIES, MIDDLES, GIVEN = "赵钱孙李周吴", "伟芳娜敏静", "强磊军洋勇艳杰"
CITIES = ["北京", "上海", "广州"]
ORDERS = [
    {
        "姓名": FAMILIES[n % 6] + MIDDLES[n % 5] + GIVEN[n % 7],
        "城市": CITIES[n % 3],
        "金额": 100 + n,
    }
    for n in range(60)
]
ORDERS[37] |= {"姓名": "王小明", "金额": 777}
THINGS, WEATHERS, WAYS = "港船灯塔桥", "风浪雨雪", "起落高低远近"
LINES = [f"{THINGS[n % 5]}上{WEATHERS[n % 4]}声{WAYS[n % 6]}，船员清晨归来。" for n in range(80)]
LINES[41] = "斯凯里沃尔灯塔于1994年实现自动化。"


def test_terms_of_a_text_without_blanks_are_pairs_of_characters() -> None:
    assert {"王小", "小明"} <= terms_of("请问王小明的订单")
    assert "请问" not in terms_of("请问王小明的订单")


def test_the_record_that_a_chinese_query_names_is_kept_whole() -> None:
    output = json.dumps(ORDERS, ensure_ascii=False)

    compressed = compress(output, max_tokens=120, query="请问王小明的订单金额是多少？")

    assert json.loads(compressed.text)["match"] == [ORDERS[37]]


def test_chinese_names_outlast_the_numbers_beside_them() -> None:
    compressed = compress(json.dumps(ORDERS, ensure_ascii=False), max_tokens=120)

    assert "姓名" in compressed.text


@pytest.mark.parametrize("output", ["".join(LINES), "\n".join(LINES)])
def test_the_sentence_that_a_chinese_query_names_is_kept(output: str) -> None:
    compressed = compress(output, max_tokens=120, query="斯凯里沃尔灯塔是什么时候自动化的？")

    assert "1994" in compressed.text
    assert compressed.tokens <= 120


def test_a_chinese_error_is_kept() -> None:
    lines = [f"2031-05-02 08:00:{n % 60:02d} 第{n}艘船入港" for n in range(200)]
    lines[120] = "2031-05-02 08:02:00 错误：七号泊位液压失压"

    assert "七号泊位" in compress("\n".join(lines), max_tokens=100).text
