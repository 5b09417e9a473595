"""JSON outputs: what is folded without loss, what goes first, and how it is counted."""

from __future__ import annotations

import json

import pytest

from ctxcore.compression.extracting import elided_text
from ctxcore.compression.markers import Elision, totals
from ctxcore.compression.outputs import Compressed
from ctxcore.messages.values import JsonValue
from tests.effort import calls_made, processor_seconds
from tests.unit.compression.counters import shrink

BOOKS: list[JsonValue] = [
    {"isbn": f"978-{n:04d}", "title": f"Book number {n}", "price": 10 + n} for n in range(40)
]


def test_an_output_that_fits_comes_back_byte_for_byte() -> None:
    output = '{ "b": 1,\n  "a": [1, 2] }\n'

    compressed = shrink(output)

    assert compressed.text == output
    assert (compressed.kind, compressed.elided) == ("json", ())
    assert compressed.tokens == compressed.original_tokens == 7


def test_spaces_go_first_and_nothing_else_if_that_is_enough() -> None:
    value = {"items": [n * 1000 for n in range(8)], "name": "café"}

    compressed = shrink(json.dumps(value, indent=8), max_tokens=20)

    assert compressed.text == ('{"items":[0,1000,2000,3000,4000,5000,6000,7000],"name":"café"}')
    assert compressed.elided == ()


def test_records_with_the_same_keys_become_a_table_without_loss() -> None:
    rooms = [{"room": "A1", "floor_number": 1}, {"room": "B2", "floor_number": 2}]
    rooms += [{"room": "C3", "floor_number": 3}]

    compressed = shrink(json.dumps(rooms), max_tokens=18)

    assert json.loads(compressed.text) == {
        "table": [["room", "floor_number"], ["A1", 1], ["B2", 2], ["C3", 3]]
    }
    assert compressed.elided == ()


def test_an_object_keyed_by_id_becomes_a_table_that_does_not_repeat_the_id() -> None:
    stock = {f"item-{n}": {"item": f"item-{n}", "remaining_count": n} for n in range(3)}

    compressed = shrink(json.dumps(stock), max_tokens=26)

    assert json.loads(compressed.text) == {
        "table by item": [
            ["item", "remaining_count"],
            ["item-0", 0],
            ["item-1", 1],
            ["item-2", 2],
        ]
    }


def test_an_object_of_records_without_their_key_gets_a_key_column() -> None:
    stock = {f"k{n}": {"colour": "red" * n, "remaining_count": n} for n in range(1, 4)}

    compressed = shrink(json.dumps(stock), max_tokens=31)

    assert json.loads(compressed.text) == {
        "table by": [
            ["key", "colour", "remaining_count"],
            ["k1", "red", 1],
            ["k2", "redred", 2],
            ["k3", "redredred", 3],
        ]
    }


def test_lists_of_records_in_a_list_become_one_table_with_lists_of_rows() -> None:
    trips = [[{"flight_number": f"F{n}{leg}", "gate": n} for leg in "ab"] for n in range(2)]

    compressed = shrink(json.dumps(trips), max_tokens=31)

    assert json.loads(compressed.text) == {
        "tables": [["flight_number", "gate"], [["F0a", 0], ["F0b", 0]], [["F1a", 1], ["F1b", 1]]]
    }


def test_members_of_inner_objects_become_columns_and_constants_are_said_in_the_header() -> None:
    cars = [{"engine": {"power": n, "fuel_type": "gas"}, "doors": n + 2} for n in range(3)]

    compressed = shrink(json.dumps(cars), max_tokens=27)

    assert json.loads(compressed.text) == {
        "table": [[{"engine": ["power", {"fuel_type": "gas"}]}, "doors"], [0, 2], [1, 3], [2, 4]]
    }


def test_a_member_that_some_records_lack_has_a_column_with_gaps() -> None:
    pets = [
        {"species": "cat", "birth_year": 2019},
        {"species": "dog", "birth_year": 2020, "tag": 7},
        {"species": "fox", "birth_year": 2021},
    ]

    compressed = shrink(json.dumps(pets), max_tokens=28)

    assert json.loads(compressed.text) == {
        "table": [["species", "birth_year", "tag?"], ["cat", 2019], ["dog", 2020, 7], ["fox", 2021]]
    }


def test_what_is_gone_is_counted_in_place_and_in_total() -> None:
    compressed = shrink(json.dumps(list(range(1000, 1400))), max_tokens=60)

    numbers = json.loads(compressed.text)
    gone = 400 - (len(numbers) - 1)
    assert numbers[-1] == f"… {gone} items"
    assert totals(compressed.elided) == {"items": gone}
    for part in compressed.elided:
        assert part.start is not None
        assert 1000 + part.start not in numbers


def test_head_and_tail_of_a_long_list_stay() -> None:
    kept = json.loads(shrink(json.dumps(list(range(1000, 1400))), max_tokens=60).text)

    assert kept[0] == 1000
    assert kept[-2] == 1399


def test_a_table_says_how_many_rows_are_gone() -> None:
    compressed = shrink(json.dumps(BOOKS), max_tokens=120)

    table = json.loads(compressed.text)
    gone = 40 - (len(table["table"]) - 1)
    assert gone > 0
    assert f"{gone} rows" in table["…"]
    assert totals(compressed.elided)["rows"] == gone


def test_the_record_the_query_names_stays_whole() -> None:
    compressed = shrink(json.dumps(BOOKS), max_tokens=80, query="How much is 978-0023?")

    assert {"isbn": "978-0023", "title": "Book number 23", "price": 33} in json.loads(
        compressed.text
    )["match"]


def test_the_record_with_the_error_stays_whole_without_being_asked_for() -> None:
    jobs = [{"job": f"job-{n}", "took_ms": n, "state": "ok"} for n in range(60)]
    jobs[31]["state"] = "failed: disk full"

    compressed = shrink(json.dumps(jobs), max_tokens=80)

    assert json.loads(compressed.text)["match"] == [
        {"job": "job-31", "took_ms": 31, "state": "failed: disk full"}
    ]


def test_an_error_message_outlives_everything_else() -> None:
    value = {f"field{n}": f"some words {n}" for n in range(60)}
    value["error"] = "connection refused by db-7"

    kept = json.loads(shrink(json.dumps(value), max_tokens=40).text)

    assert kept["error"] == "connection refused by db-7"
    assert kept["…"].endswith(" keys")


def test_a_long_text_is_cut_in_its_middle_before_short_members_go() -> None:
    value = {"id": "doc-17", "body": "begin " + "word " * 400 + "end", "pages": 12}

    compressed = shrink(json.dumps(value), max_tokens=100)

    kept = json.loads(compressed.text)
    assert (kept["id"], kept["pages"]) == ("doc-17", 12)
    assert kept["body"].startswith("begin ")
    assert kept["body"].endswith(" end")
    assert totals(compressed.elided)["characters"] > 1500


def test_json_inside_a_string_is_taken_apart() -> None:
    inner = json.dumps([{"user_name": f"u{n}", "score": n} for n in range(6)])

    compressed = shrink(json.dumps({"response": inner}), max_tokens=35)

    assert json.loads(compressed.text)["response"]["table"][0] == ["user_name", "score"]


def test_a_long_string_stays_a_json_string() -> None:
    compressed = shrink(json.dumps("abc " * 1000), max_tokens=50)

    assert json.loads(compressed.text).startswith("abc abc")


def test_what_other_parsers_refuse_comes_back_as_a_string() -> None:
    output = '{"ratio": NaN, "limit": Infinity, "least": -Infinity, "big": 1e999}' + " " * 40

    compressed = shrink(output, max_tokens=20)

    assert json.loads(compressed.text) == {
        "ratio": "NaN",
        "limit": "Infinity",
        "least": "-Infinity",
        "big": "1e999",
    }


def test_a_lone_surrogate_is_written_as_an_escape() -> None:
    compressed = shrink('{"half": "\\ud83d",     "whole": "\\ud83d\\ude00"}', max_tokens=10)

    assert compressed.text == '{"half":"\\ud83d","whole":"😀"}'


@pytest.mark.parametrize("nested", ["[" * 100_000 + "]" * 100_000, '{"a":' * 100_000])
def test_nesting_beyond_any_stack_gives_a_marker(nested: str) -> None:
    compressed = shrink(nested)

    assert json.loads(compressed.text) == {"…": f"{len(nested):,} characters of JSON left out"}
    assert compressed.elided == (Elision(unit="characters", count=len(nested)),)


@pytest.mark.parametrize("levels", [50, 99, 150, 900])
def test_deep_nesting_stays_json(levels: int) -> None:
    compressed = shrink('{"a":[1,' * levels + "2" * 400 + "]}" * levels)

    json.loads(compressed.text)
    assert compressed.tokens <= 200


@pytest.mark.parametrize("max_tokens", range(-1, 12))
def test_below_the_least_budget_the_smallest_marker_is_given(max_tokens: int) -> None:
    compressed = shrink(json.dumps(BOOKS), max_tokens=max_tokens)

    json.loads(compressed.text)
    assert compressed.tokens <= max(1, max_tokens)


def accounts(number: int) -> str:
    """Records of which one failed."""
    records: list[JsonValue] = [
        {"id": n, "email": f"user{n}@example.org", "state": "ok", "score": n / 7}
        for n in range(number)
    ]
    at = number * 3 // 4
    records[at] = {"id": at, "email": "x@example.org", "state": "failed", "score": 0}
    return json.dumps(records)


def find_one(output: str) -> Compressed:
    return shrink(output, query="user20@example.org")


def test_in_megabytes_of_records_the_asked_and_the_failed_one_are_found() -> None:
    output = accounts(40_000)
    assert len(output) > 3_000_000

    compressed = shrink(output, query="user20000@example.org")

    assert compressed.tokens <= 200
    matches = {record["id"] for record in json.loads(compressed.text)["match"]}
    assert matches == {30_000, 20_000}


def test_four_times_the_records_take_four_times_the_calls() -> None:
    _, few, many = (  # the first one also loads what is needed
        calls_made(find_one, accounts(number)) for number in (100, 1_000, 4_000)
    )

    assert many < 4.5 * few


@pytest.mark.measures
def test_four_times_the_records_take_about_four_times_the_processor() -> None:
    few, many = (processor_seconds(find_one, accounts(number)) for number in (10_000, 40_000))

    assert many < 8 * few


def test_a_text_of_many_lines_loses_lines_and_keeps_its_errors() -> None:
    lines = [f"step {n} of the nightly job went well" for n in range(200)]
    lines[90] = "ERROR step 90: disk full on db-7"
    output = json.dumps({"exit_code": 1, "stdout": "\n".join(lines)})

    compressed = shrink(output, max_tokens=100)

    kept = json.loads(compressed.text)
    assert kept["exit_code"] == 1
    assert lines[90] in kept["stdout"].split("\n")
    gone = [part for part in compressed.elided if part.path == "stdout"]
    assert {part.unit for part in gone} == {"lines"}
    assert elided_text(output, gone[0]).split("\n")[0] == lines[gone[0].start or 0]


PARTS = ("code", "drug", "room", "bill", "form", "plan", "note", "scan", "call", "test", "team")


def test_a_record_that_is_asked_for_keeps_its_own_identifier_before_those_it_names() -> None:
    visits: list[JsonValue] = [
        {
            "visit_id": f"V-{7000 + n}",
            "doctor": f"Dr {n % 9}",
            **{f"{part}_id": f"{part}-{n}99" for part in PARTS},
            "ward": f"ward {n}",
        }
        for n in range(40)
    ]

    for place in (0, 11, 39):
        compressed = shrink(json.dumps(visits), max_tokens=60, query=f"Who is in ward {place}?")
        assert f"V-{7000 + place}" in compressed.text
