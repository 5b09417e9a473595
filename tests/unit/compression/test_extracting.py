"""Exact parts of an original: by path, by rows, by what matches, always within a budget."""

from __future__ import annotations

import json

import pytest

from ctxcore.compression.extracting import extract, extract_with
from ctxcore.errors import PartNotFoundError
from ctxcore.tokens.count import count_tokens
from tests.unit.compression.counters import FourBytes

STOCK = json.dumps(
    {
        "shop": "Elze",
        "items": [{"sku": f"K-{n}", "label": f"kettle {n}", "left": n} for n in range(30)],
        "by day": {"2025-06-01": {"sold": 4}, "a.b": [1, 2]},
        "raw": json.dumps({"rows": [{"id": 7, "state": "failed"}], "source": "till 4"}),
    }
)
LINES = "\n".join(f"line {n}" for n in range(100))


def part(output: str, max_tokens: int = 200, **asked: str | int) -> str:
    """`extract_with` counted with `FourBytes`; the budget always holds."""
    text = extract_with(output, max_tokens=max_tokens, counter=FourBytes(), **asked)  # type: ignore[arg-type]  # keywords by name
    assert FourBytes().count(text) <= max_tokens
    return text


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("shop", "Elze"),
        ("items[3].label", "kettle 3"),
        ("items[-1].left", "29"),
        ("items[2]", '{"sku":"K-2","label":"kettle 2","left":2}'),
        ('["by day"]["2025-06-01"].sold', "4"),
        ('["by day"]["a.b"][1]', "2"),
        ("raw.rows[0].state", "failed"),
    ],
)
def test_a_path_gives_the_exact_value(path: str, expected: str) -> None:
    assert part(STOCK, path=path) == expected


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("items[30]", "items has 30 items, counted from 0"),
        ("item", "the output has the keys shop, items, by day, raw"),
        ("items[0].x", "items[0] has the keys sku, label, left"),
        ("shop.x", "shop has no parts"),
        ("items[x]", "'[x]' is neither a key nor an [index]"),
    ],
)
def test_a_path_that_leads_nowhere_says_what_there_is(path: str, said: str) -> None:
    with pytest.raises(PartNotFoundError, match="no part") as caught:
        part(STOCK, path=path)

    assert said in str(caught.value)


def test_rows_of_a_list_are_its_items() -> None:
    assert json.loads(part(STOCK, path="items", rows="2:4")) == [
        {"sku": "K-2", "label": "kettle 2", "left": 2},
        {"sku": "K-3", "label": "kettle 3", "left": 3},
    ]


def test_rows_of_text_are_its_lines() -> None:
    assert part(LINES, rows="98:") == "line 98\nline 99"
    assert part(LINES, rows="-1:") == "line 99"
    assert part(LINES, rows="7") == "line 7"


def test_more_than_fits_says_how_to_go_on() -> None:
    first = part(LINES, 40, rows="10:90")

    kept, _, marker = first.rpartition("\n")
    reached = 10 + len(kept.split("\n"))
    assert kept.split("\n")[0] == "line 10"
    assert marker == f"[… {90 - reached} lines left: rows={reached}:90]"
    assert part(LINES, 40, rows=f"{reached}:90").startswith(f"line {reached}\n")


def test_more_items_than_fit_say_how_to_go_on() -> None:
    items = json.loads(part(STOCK, 60, path="items", rows="5:25"))

    assert items[0]["sku"] == "K-5"
    reached = 5 + len(items) - 1
    assert items[-1] == f"… {25 - reached} items left: rows={reached}:25"


def test_grep_gives_lines_with_their_numbers_and_surroundings() -> None:
    assert part(LINES, grep="line 5$", context=1) == "4: line 4\n5: line 5\n6: line 6"


def test_grep_in_json_gives_the_records_with_a_match() -> None:
    assert json.loads(part(STOCK, grep="kettle 1[23]")) == {
        "items[12]": {"sku": "K-12", "label": "kettle 12", "left": 12},
        "items[13]": {"sku": "K-13", "label": "kettle 13", "left": 13},
    }


def test_grep_that_is_no_expression_is_taken_as_words() -> None:
    assert part("a\nf(x\nb", grep="f(x", context=0) == "1: f(x"


@pytest.mark.parametrize("output", [LINES, STOCK])
def test_grep_without_a_match_says_so(output: str) -> None:
    with pytest.raises(PartNotFoundError, match="matches"):
        part(output, grep="no such thing")


@pytest.mark.parametrize("rows", ["x", "5:5", "900:", ""])
def test_rows_that_are_no_range_are_refused(rows: str) -> None:
    with pytest.raises(PartNotFoundError):
        part(LINES, rows=rows)


def test_a_path_into_text_says_that_it_is_no_json() -> None:
    with pytest.raises(PartNotFoundError, match="not JSON"):
        part(LINES, path="a")


def test_one_part_that_is_too_long_alone_is_shortened() -> None:
    output = json.dumps([{"id": "x-1", "body": "word " * 4000}])

    assert json.loads(part(output, 60, path="[0]"))["id"] == "x-1"


def test_tokens_are_those_of_the_model() -> None:
    assert count_tokens(extract(LINES, max_tokens=50, model="gpt-4o"), "gpt-4o") <= 50


def test_what_is_left_of_rows_from_the_end_is_named_by_its_place() -> None:
    words = json.dumps(["a word or two " * 3] * 100)

    left = json.loads(
        extract_with(words, rows="-10:", max_tokens=60, counter=FourBytes()),
    )[-1]
    assert left.endswith("left: rows=94:100")
