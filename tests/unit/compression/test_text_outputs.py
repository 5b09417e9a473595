"""Outputs that are not JSON: the lines that stay, the gaps, and the kinds."""

from __future__ import annotations

import base64
import json
import random

import pytest

from ctxcore.compression.markers import Elision, totals
from ctxcore.compression.outputs import compress_with
from ctxcore.compression.structures import Kind
from tests.unit.compression.counters import FourBytes, shrink

LOG = [f"2024-05-01 10:{n // 60:02d}:{n % 60:02d} INFO served request {n}" for n in range(300)]

SAMPLES: list[tuple[Kind, str]] = [
    ("json", '{"a": 1}'),
    ("json", "17"),
    ("table", "id,name,price\n1,chair,20\n2,table,80\n3,lamp,15\n"),
    ("table", "| id | name |\n|----|------|\n| 1  | lamp |\n| 2  | sofa |\n"),
    ("table", "NAME      READY   STATUS\nweb-1     1/1     Running\nweb-2     0/1     Waiting\n"),
    ("log", "\n".join(LOG[:5])),
    ("diff", "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n-old\n+new\n"),
    ("code", "import os\n\ndef main():\n    return os.getcwd()\n"),
    ("code", "     1→# Title\n     2→\n     3→Some words.\n"),
    ("html", "<!DOCTYPE html><html><body><p>Hi</p></body></html>"),
    ("text", "Dear reader,\n\nthis is a letter about nothing.\n"),
    ("text", ""),
    ("text", '{"a": 1'),
    ("binary", "\x00\x01\x02PNG"),
    ("binary", base64.b64encode(random.Random(7).randbytes(300)).decode()),
]


@pytest.mark.parametrize(("kind", "output"), SAMPLES)
def test_an_output_that_fits_is_unchanged_and_its_kind_is_told(kind: Kind, output: str) -> None:
    compressed = shrink(output)

    assert compressed.text == output
    assert compressed.kind == kind


def test_a_log_keeps_its_head_and_the_error_and_counts_the_rest() -> None:
    lines = [*LOG]
    lines[150] = "2024-05-01 10:02:30 ERROR request 150 failed: disk full"

    compressed = shrink("\n".join(lines), max_tokens=100)

    kept = compressed.text.split("\n")
    assert kept[0] == lines[0]
    assert lines[150] in kept
    assert totals(compressed.elided) == {"lines": 300 - sum(line in lines for line in kept)}


def test_every_line_is_kept_or_counted_in_the_gap_it_left() -> None:
    compressed = shrink("\n".join(LOG), max_tokens=120, query="request 222")

    place = 0
    for line in compressed.text.split("\n"):
        if line.startswith("[…"):
            place += int(line.split()[1].rstrip("]"))
        else:
            assert line == LOG[place]
            place += 1
    assert place == len(LOG)


def test_the_line_the_query_names_is_kept() -> None:
    assert LOG[222] in shrink("\n".join(LOG), max_tokens=100, query="request 222").text


def test_line_numbers_are_written_once_for_a_run_of_lines() -> None:
    lines = [f"{n:6d}→value_{n} = compute({n})" for n in range(1, 120)]

    kept = shrink("\n".join(lines), max_tokens=80).text.split("\n")

    assert kept[:2] == ["     1→value_1 = compute(1)", "value_2 = compute(2)"]


def test_colours_and_overwritten_progress_go_before_any_line() -> None:
    progress = "".join(f"\r{n} %" for n in range(100))
    output = f"\x1b[31mstart\x1b[0m\n{progress}\r\ndone"

    compressed = shrink(output, max_tokens=10)

    assert compressed.text == "start\n99 %\ndone"


def test_html_keeps_its_words() -> None:
    output = "<html><style>p {color: red}</style><body>" + "<p>Hello <b>you</b></p>" * 3
    compressed = shrink(output + "</body></html>", max_tokens=12)

    assert compressed.text == "Hello\nyou\nHello\nyou\nHello\nyou"
    assert compressed.elided == (Elision(unit="tags", count=17),)


def test_a_diff_keeps_what_changed() -> None:
    context = [f" unchanged line number {n}" for n in range(200)]
    lines = ["--- a/x", "+++ b/x", "@@ -1,200 +1,200 @@", *context]
    lines[100] = "-    return old_total"
    lines[101] = "+    return new_total"

    compressed = shrink("\n".join(lines), max_tokens=60)

    assert "-    return old_total\n+    return new_total" in compressed.text


def test_binary_becomes_one_line_that_says_its_size() -> None:
    output = base64.b64encode(random.Random(7).randbytes(3000)).decode()

    compressed = shrink(output, max_tokens=40)

    assert compressed.text == "[… binary or base64 data, 4,000 characters left out …]"
    assert compressed.elided == (Elision(unit="characters", count=4000),)


def test_a_single_long_line_is_cut_in_its_middle() -> None:
    compressed = shrink("begin " + "and on " * 1000 + "end", max_tokens=60)

    assert compressed.text.startswith("begin and on")
    assert compressed.text.endswith("end")
    assert totals(compressed.elided)["characters"] > 6000


def test_no_surrogate_pair_is_cut() -> None:
    pair = "\ud83d\ude00"
    for shift in range(4):
        text = shrink("x" * shift + pair * 2000, max_tokens=60).text

        text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")


@pytest.mark.parametrize("max_tokens", range(-1, 12))
def test_below_the_least_budget_a_marker_is_all_there_is(max_tokens: int) -> None:
    assert shrink("\n".join(LOG), max_tokens=max_tokens).tokens <= max(1, max_tokens)


@pytest.mark.parametrize("max_tokens", range(-1, 12))
def test_below_the_least_budget_a_table_is_no_error(max_tokens: int) -> None:
    table = "\n".join(["till,state,guests", *(f"till-{n},open,{n * 37 % 90}" for n in range(90))])

    assert shrink(table, max_tokens=max_tokens).tokens <= max(1, max_tokens)


def test_a_table_keeps_its_header_and_the_row_that_differs_and_counts_rows() -> None:
    rows = [f"till-{n:03d},open,{n * 37 % 90},Elze" for n in range(120)]
    rows[70] = "till-070,jammed,12,Elze"
    output = "\n".join(["till,state,guests,town", *rows])

    compressed = shrink(output, max_tokens=80)

    kept = compressed.text.split("\n")
    assert (compressed.kind, kept[0]) == ("table", "till,state,guests,town")
    assert rows[70] in kept
    assert " rows" in compressed.text
    assert totals(compressed.elided) == {"rows": 121 - sum(line[0] != "[" for line in kept)}


def test_a_markdown_table_keeps_the_rule_below_its_header() -> None:
    head = ["| tool | owner |", "|------|-------|"]
    output = "\n".join([*head, *(f"| tool {n} | owner {n % 7} |" for n in range(90))])

    assert shrink(output, max_tokens=60).text.split("\n")[:2] == head


def test_gaps_tell_the_names_that_only_they_say() -> None:
    lines = [f"step {n} went well" for n in range(300)]
    lines[140] = "step 140 went well in src/import/batches.py"
    lines[141] = "step 141 went well with load_batch"

    text = shrink("\n".join(lines), max_tokens=60).text

    assert "src/import/batches.py" in text
    assert "load_batch" in text


@pytest.mark.parametrize("max_tokens", [60, 200, 490])
@pytest.mark.parametrize("odd", ["error", "replica", "failed;", "7f3a-91"])
def test_one_long_line_fills_its_budget_whatever_it_says(odd: str, max_tokens: int) -> None:
    plain = [
        "the",
        "order",
        "of",
        "our",
        "customer",
        "was",
        "delayed",
        "because",
        "seven",
        "could",
        "not",
        "reach",
        "its",
        "replica",
    ]
    choice = random.Random(3).choice
    output = " ".join(choice([*plain, odd]) for _ in range(600))

    compressed = shrink(output, max_tokens=max_tokens, query="why was it late?")

    assert max_tokens * 0.7 <= compressed.tokens <= max_tokens
    assert compressed.text.startswith(output[:30])
    assert compressed.text.endswith(output[-20:])
    assert totals(compressed.elided).keys() == {"characters"}


@pytest.mark.parametrize(
    "line",
    [
        "connection to pier 9 lost, giving up after 12 tries",
        "could not write cargo.dat: disk full",
        "✗ berth 7 did not open",
        "无法打开 cargo.dat:权限不足",
        "the anchor is stuck at pier 9",
    ],
)
def test_what_a_log_says_only_once_is_kept_in_whatever_words(line: str) -> None:
    lines = [*LOG]
    lines[150] = line

    assert line in shrink("\n".join(lines), max_tokens=100).text.split("\n")


def test_numbers_of_lines_are_no_names() -> None:
    code = "\n".join(f"{n}:    berth = ship{n % 7} + port" for n in range(1000, 1400))

    gaps = [line for line in shrink(code, max_tokens=100).text.split("\n") if line[:2] == "[…"]

    assert not any(str(n) in gap for gap in gaps for n in range(1000, 1400))


def test_a_name_that_a_longer_one_contains_is_not_told_again() -> None:
    lines = [f"the {n} gulls of day {n} are grey and loud" for n in range(200)]
    lines[50] = "see docs/harbour_plan.md"
    lines[120] = "as harbour_plan says, docs first"

    text = shrink("\n".join(lines), max_tokens=80).text

    assert "docs/harbour_plan.md" in text


@pytest.mark.parametrize(("handlers", "kept"), [(2, 2), (12, 1)])
def test_code_that_handles_many_errors_does_not_fill_the_room_with_them(
    handlers: int, kept: int
) -> None:
    """A few mentions may be what went wrong; many different ones are how the code works."""
    steps = [f"    load_part_{n}(store)\n    check_part_{n}(store)" for n in range(60)]
    for n in range(handlers):
        steps[5 * n] = f"    if store.denied_{n}: return {n}, 'invalid part {n}'"
    code = ["def load(store):", *"\n".join(steps).split("\n")]
    lines = [f"{n:6}→{line}" for n, line in enumerate(code, 1)]

    assert shrink("\n".join(lines), max_tokens=110).text.count("invalid part") == kept


class JoiningCosts(FourBytes):
    """Counts more where JSON stands on a line of its own, as some vocabularies do."""

    def count(self, text: str) -> int:
        return super().count(text) + 5 * text.count("\n{")


def test_words_and_the_json_between_them_fit_together() -> None:
    text = "The result:\n" + json.dumps({f"key {n}": "some text " * 9 for n in range(40)})
    found = [
        (compress_with(text, max_tokens=most, counter=JoiningCosts()), most)
        for most in range(60, 90)
    ]

    assert all(compressed.tokens <= most for compressed, most in found)
    assert sum(compressed.text.startswith("The result:\n{") for compressed, _ in found) > 25
