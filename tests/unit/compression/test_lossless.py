"""The lossless way: what it folds, that it comes back, and what it leaves alone."""

from __future__ import annotations

import json

import pytest

from ctxcore.compression.lossless import decompress
from ctxcore.compression.outputs import Compressed, compress_with
from ctxcore.messages.values import JsonValue
from tests.unit.compression.counters import FourBytes

ORDERS: list[JsonValue] = [
    {"order": f"o-{n}", "address": {"city": "Gera", "zip": f"0{7545 + n}"}, "paid": n % 2 == 0}
    for n in range(6)
]


def folded(value: object) -> Compressed:
    """`value` compressed without loss, after which it comes back as it was."""
    text = json.dumps(value)
    compressed = compress_with(text, max_tokens=0, counter=FourBytes(), lossless=True)
    back = decompress(compressed.text)
    assert json.dumps(json.loads(back)) == text
    assert compressed.elided == ()
    return compressed


@pytest.mark.parametrize(
    "text",
    [
        '[{"a":"\ud83d\ude00"},   {"a":1}]',
        '[{"a":"\\ud83d\ude00"},   {"a":1}]',
        '{"a" : 1,   "a" : 2}',
        '[[{"name": 1, "name": 2}], [{"name": 3}]]',
    ],
    ids=["raw halves", "half escaped", "a key twice", "a key twice within"],
)
def test_what_json_cannot_say_exactly_is_left_alone(text: str) -> None:
    compressed = compress_with(text, max_tokens=0, counter=FourBytes(), lossless=True)

    assert compressed.text == text
    assert decompress(compressed.text) == text


def test_escaped_halves_of_a_character_come_back_as_they_were() -> None:
    folded([{"a long key": "\ud83d", "another key": "\ude00"}] * 5)


def test_records_say_their_keys_once() -> None:
    assert json.loads(folded(ORDERS).text)["table"][:2] == [
        ["order", {"address": [{"city": "Gera"}, "zip"]}, "paid"],
        ["o-0", "07545", True],
    ]


def test_records_under_their_own_id_do_not_repeat_it() -> None:
    shelf = {f"s-{n}": {"level": n, "shelf_number": f"s-{n}"} for n in range(4)}

    assert json.loads(folded(shelf).text)["table by shelf_number"][1] == [0, "s-0"]


def test_gaps_are_told_from_nulls_and_lists() -> None:
    folded([{"name_of_it": n, "note": x} for n, x in enumerate([None, [], [None], "x"])])
    folded([{"name_of_it": 1, "note": None}, {"name_of_it": 2}, {"name_of_it": 3, "note": [1]}])


def test_few_members_that_others_lack_stand_in_one_cell() -> None:
    pets = [{"species": f"s{n}", "birth_year": n} for n in range(12)]
    pets[3] = {"species": "s3", "rare_remark": "bites", "birth_year": 3}

    table = json.loads(folded(pets).text)["table"]

    assert table[0] == ["species", "+?", "birth_year"]
    assert table[4] == ["s3", {"rare_remark": "bites"}, 3]


def test_the_order_of_keys_comes_back_or_there_is_no_table() -> None:
    assert "table" not in folded([{"a_key": 1, "b_key": 2}, {"b_key": 3, "a_key": 4}] * 9).text


def test_a_long_value_that_returns_is_written_once() -> None:
    long = "the same long sentence in several places"
    value: JsonValue = {"a": long, "b": [long, 1], "c": {"d": long}, "e": [long]}

    compressed = folded(value)

    assert compressed.text.count(long) == 1
    assert json.loads(compressed.text)["of"]["b"] == ["~1", 1]


def test_a_value_that_returns_is_told_from_the_same_text_as_a_name() -> None:
    said = 'a "long" remark: with, quotes and \\ more of them'

    text = folded([[said, {said: said}], said, {said: [said]}]).text

    assert json.loads(text)["names"] == {"~1": said}
    assert text.count(json.dumps(said)) == 3  # once as a value, twice as a name


@pytest.mark.parametrize(
    "value",
    [
        {"table": [["a"], [1]]},
        {"tables": 3},
        {"table by x": {"deep": {"as is": {"table": []}}}},
        {"names": {"~1": "x"}, "of": ["~1"]},
        {"as is": {"as is": {}}},
        [{"table": 1, "longer_key": 2}, {"table": 3, "longer_key": 4}] * 3,
        [{"~1": "~1", "longer_key": "~2"}] * 4,
        [{"question?": 1, "longer_key": 2}] * 4,
        [{"+": {"x": 1}, "longer_key": 2}] * 4,
        {"key": {"key": 1, "longer_key": 2}, "b": {"key": 1, "longer_key": 3}},
        [[{"longer_key": 1}], [{"longer_key": 2}, {"longer_key": 3}]] * 3,
        [{"longer_key": {"table": [["a"], [1]]}}, {"longer_key": {"table": []}}] * 3,
        [{"longer_key": {}, "other": []}, {"longer_key": {}, "other": []}] * 3,
        [{"a_long_key": {"table": [1]}, "b": n} for n in range(5)],
        [{}, {}],
        "plain",
        12.5,
    ],
)
def test_what_looks_like_a_compressed_text_comes_back_too(value: JsonValue) -> None:
    folded(value)


@pytest.mark.parametrize("value", [ORDERS, {"table": [["a"], [1]]}, {"tables": 3}, "x"])
def test_what_was_compressed_twice_comes_back_twice(value: JsonValue) -> None:
    once = folded(value).text
    twice = compress_with(once, max_tokens=0, counter=FourBytes(), lossless=True).text

    assert decompress(twice) == once


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "words  and more",
        '{"a": NaN}',
        "[1e999, 1e999]",
        '{"cut": [1,',
        "[" * 5000,
        ' {"table": [["a"], [1]]}',
        '  {"table":[["a"],[1]]}',
        '{"table":[["a"],[1]]}',
    ],
)
def test_a_text_that_cannot_be_shortened_comes_back_byte_for_byte(text: str) -> None:
    compressed = compress_with(text, max_tokens=0, counter=FourBytes(), lossless=True)

    back = decompress(compressed.text)
    assert back == text or json.loads(back) == json.loads(text)
    assert compressed.tokens <= compressed.original_tokens + 1


def test_decompress_leaves_other_texts_alone() -> None:
    for text in ("", "hello", '{"a": 1}', '{"table": 3}', '{"table": [1, 2]}', "[ 1 ]"):
        assert decompress(text) == text


def test_records_without_a_varying_member_are_empty_rows() -> None:
    records = [{"vessel": "Wedel"}, {"vessel": "Wedel", "berth": 2}] * 10

    assert json.loads(folded(records).text)["table"][1:3] == [[], [2]]


def test_a_table_by_a_column_it_lacks_is_no_table() -> None:
    assert decompress('{"table by":[["a"],[1]]}') == '{"table by":[["a"],[1]]}'
