"""What was left out, seen beside what stayed."""

from __future__ import annotations

import json

from ctxcore.compression.extracting import elided_text
from ctxcore.compression.markers import Elision, gone_ranges, totals
from tests.unit.compression.counters import shrink

CREWS = json.dumps(
    {
        "ship": "Wedel",
        "crew": [
            {"crew_id": f"C-{n}", "mate": {"role": f"role {n}"}, "remark": "calm " * 9}
            for n in range(40)
        ],
        "log": "wind and rain " * 60,
    }
)


def test_every_part_that_is_gone_is_named_with_its_place() -> None:
    compressed = shrink(CREWS, max_tokens=120)

    gone = {(part.unit, part.path) for part in compressed.elided}
    assert ("columns", "crew[].remark") in gone
    assert ("keys", "log") in gone or ("characters", "log") in gone
    shown = json.loads(compressed.text)["crew"]
    rows = len(shown["table"]) - 1 + len(shown.get("match", ()))
    assert totals(compressed.elided).get("rows", 0) == 40 - rows


def test_the_source_of_each_part_can_be_read() -> None:
    for part in shrink(CREWS, max_tokens=90).elided:
        assert elided_text(CREWS, part)


def test_rows_columns_keys_and_characters_are_found() -> None:
    rows = Elision(unit="rows", count=2, path="crew", start=3, stop=5)
    assert elided_text(CREWS, rows, max_chars=32) == '{"crew_id":"C-3","mate":{"role":…'
    assert elided_text(CREWS, Elision(unit="keys", count=1, path="ship")) == "Wedel"
    column = Elision(unit="columns", count=1, path="crew[].mate.role")
    assert elided_text(CREWS, column, max_chars=13) == "role 0,role 1…"
    cut = Elision(unit="characters", count=4, path="log", start=5, stop=9)
    assert elided_text(CREWS, cut) == "and "


def test_lines_that_are_gone_are_those_of_the_source() -> None:
    output = "\n".join(f"verse {n} of a song" for n in range(200))

    for part in shrink(output, max_tokens=60).elided:
        assert part.start is not None
        assert elided_text(output, part).startswith(f"verse {part.start} ")


def test_a_part_that_the_output_does_not_have_is_empty() -> None:
    assert elided_text("{}", Elision(unit="keys", count=1, path="a.b")) == ""
    assert elided_text("x", Elision(unit="tags", count=3)) == ""


def test_kept_and_gone_make_up_the_whole() -> None:
    numbers = list(range(1000, 1400))
    compressed = shrink(json.dumps(numbers), max_tokens=60)

    gone: set[int] = set()
    for part in compressed.elided:
        assert part.start is not None
        assert part.stop is not None
        gone.update(numbers[part.start : part.stop])
    kept = [number for number in json.loads(compressed.text) if isinstance(number, int)]
    assert sorted([*gone, *kept]) == numbers


def test_ranges_that_are_gone_lie_between_the_places_that_are_kept() -> None:
    gone = [(part.start, part.stop, part.count) for part in gone_ranges("rows", 9, [2, 3, 6])]

    assert gone == [(0, 2, 2), (4, 6, 2), (7, 9, 2)]
