"""What stands for a value without being JSON: what Python prints, values in a row, cut off ones."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcore.compression.extracting import extract
from ctxcore.compression.outputs import compress
from ctxcore.compression.structures import MOST_TAIL, parse_inner, read_structure
from ctxcore.messages.values import JsonValue
from tests.unit.compression.counters import shrink

BERTHS: list[dict[str, JsonValue]] = [
    {"berth": f"K-{n:03d}", "state": "free" if n % 3 else "taken", "depth": n * 0.5}
    for n in range(60)
]
PRINTED: st.SearchStrategy[object] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.floats(),
    lambda inner: (
        st.lists(inner, max_size=6)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=8), inner, max_size=6)
    ),
    max_leaves=30,
).filter(lambda value: isinstance(value, list | tuple | dict))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'a': 1, 'b': None, 'c': [True, (1,), ()]}", {"a": 1, "b": None, "c": [True, [1], []]}),
        ("""{'said': "it's", 'also': 'a "b"\\n'}""", {"said": "it's", "also": 'a "b"\n'}),
        ("[b'x', u'\\xe9\\u4e91', '\\d']", ["x", "é云", "\\d"]),
        ("['\\ud83d\\ude00']", ["😀"]),
        ("{1: 'a', None: 2}", {"1": "a", "null": 2}),
        ("[-1.5e-07, 2., nan, -inf]", [-1.5e-07, 2.0, "nan", "-inf"]),
        ("[date(2031, 5, 2), <Ship K-1>]", ["date(2031, 5, 2)", "<Ship K-1>"]),
        ('{"a": 1}\n\n{"a": 2}\n', [{"a": 1}, {"a": 2}]),
        ("[1, 2] [3]", [[1, 2], [3]]),
    ],
)
def test_what_python_prints_and_values_in_a_row_have_a_value(text: str, value: JsonValue) -> None:
    structure = read_structure(text)

    assert structure.value == value
    assert structure.tail is None
    assert not structure.is_json


@pytest.mark.parametrize(
    ("text", "value", "tail"),
    [
        ("{'a': [{'b': 'half a te", {"a": [{"b": "half a te"}]}, ""),
        ('{"a": 1, "b": 23', {"a": 1}, ""),  # nobody knows whether it is 23
        ('{"a": 1, "b', {"a": 1}, ""),
        ('{"a": 1, "b": ', {"a": 1}, ""),
        ('[{"name": 1}, {"name": 2},\n... more', [{"name": 1}, {"name": 2}], "... more"),
        ('{"a": 1}\n{"a": 2}\n{"a": 3, "b', [{"a": 1}, {"a": 2}, {"a": 3}], ""),
        ('{"e": "", "r": "{\'v\': [{\'id\': 7, \'n', {"e": "", "r": {"v": [{"id": 7}]}}, ""),
    ],
)
def test_of_what_was_cut_off_there_is_what_was_whole(
    text: str, value: JsonValue, tail: str
) -> None:
    structure = read_structure(text)

    assert (structure.value, structure.tail) == (value, tail)


@pytest.mark.parametrize(
    "text",
    [
        "[File: /x.py (3 lines)]\n1:a",
        "{'a': {1, 2}}",
        "{'a': 1} and more",
        "{'a'; 1}",
        "['a')",
        "[1] Introduction\n" + "words " * 90,
        "['a', 'b', " + "and then something else than literals " * 9,
        "{'" + "a name without an end " * (MOST_TAIL // 8),
        "let x = {'a': 1}",
        "[not a literal]",
        "{",
        "",
    ],
)
def test_what_holds_anything_else_has_no_value(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        read_structure(text)


@given(PRINTED)
def test_a_printed_value_is_read_as_json_would_write_it(value: object) -> None:
    text = str(value)

    if "nan" not in text and "inf" not in text and any(char in text for char in "'()NTF"):
        assert read_structure(text).value == json.loads(json.dumps(value))


@given(PRINTED, st.data())
def test_a_cut_anywhere_is_no_error_of_another_kind(value: object, data: st.DataObject) -> None:
    text = str(value)
    cut = text[: data.draw(st.integers(0, len(text)))]

    try:
        structure = read_structure(cut)
    except ValueError:
        return
    assert structure.is_json or structure.tail is not None or cut == text


@pytest.mark.parametrize(
    "output",
    [str(BERTHS), "\n".join(map(json.dumps, BERTHS)), json.dumps({"error": "", "r": str(BERTHS)})],
)
def test_records_that_are_almost_json_are_shortened_as_records(output: str) -> None:
    compressed = compress(output, max_tokens=90, query="how deep is K-041?")

    assert compressed.kind == "json"
    assert "K-041" in compressed.text
    assert "20.5" in compressed.text
    json.loads(compressed.text)


ANNOUNCED = [
    "Found 60 berths:\n" + json.dumps(BERTHS),
    "```json\n" + json.dumps(BERTHS, indent=2) + "\n```",
    "HTTP/1.1 200 OK\ncontent-type: application/json\n\n" + json.dumps(BERTHS) + "\nreal 0.2s",
    "result: " + json.dumps({"berths": BERTHS}),
]


@pytest.mark.parametrize("output", ANNOUNCED)
def test_json_behind_a_few_words_is_shortened_as_records_and_the_words_stay(output: str) -> None:
    structure = read_structure(output)

    compressed = compress(output, max_tokens=120, query="how deep is K-041?")

    assert compressed.kind != "json"
    assert compressed.tokens <= 120
    assert compressed.text.startswith(structure.before.strip())
    assert compressed.text.endswith(structure.after.strip())
    assert "20.5" in compressed.text
    shortened = compressed.text.removeprefix(structure.before.strip())
    json.loads(shortened.removesuffix(structure.after.strip()))


@pytest.mark.parametrize("max_tokens", range(0, 60))
@pytest.mark.parametrize("output", ANNOUNCED)
def test_announced_json_fits_every_budget(output: str, max_tokens: int) -> None:
    compressed = shrink(output, max_tokens)

    assert compressed.tokens <= max(1, max_tokens)
    assert sum(part.count for part in compressed.elided) > 0


def test_a_text_that_only_quotes_some_json_stays_text() -> None:
    words = "The pilot said that the berth was free, and the master agreed to wait. " * 5

    with pytest.raises(ValueError, match=r"\w"):
        read_structure(f"{words}\n{json.dumps(BERTHS)}")


def test_the_end_of_what_was_cut_off_says_so() -> None:
    output = json.dumps(BERTHS).rpartition("{")[0] + "\n... [truncated]"

    compressed = compress(output, max_tokens=90)

    assert compressed.tokens <= 90
    assert json.loads(compressed.text)["… cut off here"] == "... [truncated]"


@pytest.mark.parametrize("max_tokens", range(0, 60))
def test_a_cut_off_output_fits_every_budget(max_tokens: int) -> None:
    output = str(BERTHS)[:2_000]

    compressed = shrink(output, max_tokens)

    assert compressed.tokens <= max(1, max_tokens)
    json.loads(compressed.text)


def test_an_output_that_fits_keeps_its_bytes_and_the_kind_of_its_text() -> None:
    compressed = shrink("{'a': 1}\n")

    assert (compressed.text, compressed.kind) == ("{'a': 1}\n", "code")


def test_exact_parts_of_printed_objects_are_found_by_path_rows_and_pattern() -> None:
    output = str(BERTHS)

    assert extract(output, path="[41].depth") == "20.5"
    assert json.loads(extract(output, rows="3:5")) == BERTHS[3:5]
    assert json.loads(extract(output, grep="K-041")) == {"[41]": BERTHS[41]}
    assert extract(output, max_tokens=5_000) == output


def test_a_part_that_was_cut_off_inside_is_left_as_text() -> None:
    assert parse_inner(str(BERTHS)[:200] + "]") is None


@pytest.mark.parametrize("end", ["", "]"])
def test_a_list_of_json_inside_a_literal_is_no_announced_value(end: str) -> None:
    rows = list(range(90))

    structure = read_structure(f"{{'rows': {rows}, 'state': None, 'more': [1, 2, 3{end}")

    assert structure.value == {"rows": rows, "state": None, "more": [1, 2, 3] if end else [1, 2]}
    assert structure.tail == ""


def test_words_around_json_that_find_no_room_are_counted() -> None:
    output = f"{'one word after the other, ' * 7}\n{json.dumps(BERTHS)}\nreal 0.2s"

    compressed = shrink(output, 90)

    assert compressed.kind == "json"
    assert "… 2 lines around this" in json.loads(compressed.text)


def test_an_integer_of_more_digits_than_python_reads_is_a_text() -> None:
    structure = read_structure(f'{{"n": {"7" * 5_000}, "rows": [1, 2]}}')

    assert structure.value == {"n": "7" * 5_000, "rows": [1, 2]}
    assert structure.is_json
