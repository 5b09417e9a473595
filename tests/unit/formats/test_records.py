"""The values of a file are read one after the other, as often as asked for, and found again."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcore.errors import FormatError
from ctxcore.formats.records import Layout, Records
from ctxcore.json_types import JsonValue

VALUES: list[JsonValue] = [
    {"a": 1, "b": [None, "x\u2028y"]},
    [1, 2],
    "text",
    3.5,
    None,
    {"ü": "好"},
]


def read(text: str) -> list[JsonValue]:
    return [record.value for record in Records.of_text(text, name="f")]


@pytest.mark.parametrize(
    ("text", "layout", "values"),
    [
        ('{"a": 1}\n{"b": 2}\n', "lines", [{"a": 1}, {"b": 2}]),
        ('\n {"a": 1}\n\n[1]', "lines", [{"a": 1}, [1]]),
        ("[1, 22, 333]", "list", [1, 22, 333]),
        ('[\n {"a": 1},\n {"b": [2]}\n]\n', "list", [{"a": 1}, {"b": [2]}]),
        ("[]", "list", []),
        ('{\n "a": 1\n}', "object", [{"a": 1}]),
        ('{"a": 1}', "object", [{"a": 1}]),
        ("42", "object", [42]),
    ],
)
def test_the_layout_of_a_file_is_found(text: str, layout: Layout, values: list[JsonValue]) -> None:
    records = Records.of_text("\ufeff" + text, name="f")

    assert (records.layout, read(text), read(text)) == (layout, values, values)
    assert list(records.values) == values


@given(st.lists(st.sampled_from(VALUES)), st.sampled_from([None, 1]), st.integers(0, 90_000))
def test_lists_of_any_form_are_read_as_json_reads_them(
    values: list[JsonValue], indent: int | None, blanks: int
) -> None:
    text = json.dumps(values, ensure_ascii=False, indent=indent).replace("]", " " * blanks + "]", 1)

    assert read(text) == values


@pytest.mark.parametrize("at", [65_530, 65_536, 65_540, 131_072])
def test_an_element_may_lie_across_any_border_of_what_is_read_at_once(at: int) -> None:
    values: list[JsonValue] = ["x" * at, 123_456, True, {"k": "y" * at}]

    assert read(json.dumps(values)) == values


def test_bad_lines_are_problems_whenever_they_are_read_again() -> None:
    records = Records.of_bytes(b'{"a": 1}\n{"b"\n{"c": "\xff"}\n', name="f")

    assert [record.value for record in records] == [{"a": 1}, {"c": "\ufffd"}]
    assert len(list(records)) == 2
    assert [(one.line, str(one.reason)) for one in records.problems] == [
        (2, "is not JSON: Expecting ':' delimiter at column 5"),
        (3, "is not UTF-8; broken characters are shown as U+FFFD"),
    ]


def test_lines_are_found_again_by_their_place() -> None:
    records = Records.of_text('\n{"a": 1}\n\n{"b": "ü"}\n{"c": 3}', name="f")
    spans = [record.span for record in records if record.span]

    assert list(records.read([spans[2], spans[1]])) == [{"c": 3}, {"b": "ü"}]


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ('[\n {"a": 1},\n {"b" 2}\n]', 3, "Expecting ':' delimiter at column 7"),
        ("[1, 2", 1, "Expecting ']' delimiter at column 6"),
        ("[1, 2] 3", 1, "Extra data at column 8"),
        ('[1,\n"' + "x" * 200_000, 2, "Unterminated string starting at column 1"),
        ('{\n "a": \n}', 3, "Expecting value at column 1"),
    ],
)
def test_a_damaged_document_says_where(text: str, line: int, problem: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)

    assert caught.value.line == line
    assert str(caught.value).endswith(f"the JSON is damaged or cut off: {problem}")


@pytest.mark.parametrize("is_list", [False, True])
def test_little_more_than_one_record_is_held(tmp_path: Path, is_list: bool) -> None:
    path, record = tmp_path / "long", json.dumps({"text": "x" * 20_000})
    text = ",".join([record] * 2_000) if is_list else "\n".join([record] * 2_000)
    path.write_text(f"[{text}]" if is_list else text, encoding="utf-8")
    tracemalloc.start()
    count = sum(1 for _ in Records.of_file(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert (count, peak < 4_000_000) == (2_000, True)  # of 40 million bytes
