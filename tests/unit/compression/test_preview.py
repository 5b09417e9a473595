"""Previews of tool outputs: status, totals and the ends of the list, always JSON and in budget."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcore.compression.previews import preview
from tests.unit.compression.counters import FourBytes

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=60), st.text()
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=30), st.dictionaries(st.text(max_size=12), inner, max_size=8)
    ),
    max_leaves=120,
)


def shown(value: object, max_tokens: int = 200) -> Any:
    """The preview of `value` as JSON, parsed, which is within its budget."""
    text = preview(
        json.dumps(value, ensure_ascii=False), max_tokens=max_tokens, counter=FourBytes()
    )
    assert FourBytes().count(text) <= max_tokens
    return json.loads(text)


def meetings(count: int, title: str = "Meeting") -> list[dict[str, object]]:
    """So many meetings, each with a place inside."""
    return [
        {"id": at, "title": f"{title} {at}", "place": {"floor": at, "room": "R" * 40}}
        for at in range(1, count + 1)
    ]


def test_a_listing_keeps_status_total_and_the_first_and_last_two() -> None:
    listing = {"success": True, "items": meetings(20), "total": 20}

    assert shown(listing) == {
        "success": True,
        "total": 20,
        "items_preview": [
            {"id": 1, "title": "Meeting 1"},
            {"id": 2, "title": "Meeting 2"},
            "... (16 omitted)",
            {"id": 19, "title": "Meeting 19"},
            {"id": 20, "title": "Meeting 20"},
        ],
        "compressed": True,
    }


def test_a_chinese_listing_says_in_chinese_how_many_are_left_out() -> None:
    listing = {"success": True, "items": meetings(20, "会议"), "total": 20}

    assert shown(listing)["items_preview"][2] == "... (省略 16 项)"


def test_an_output_that_fits_stays_as_it_is() -> None:
    output = '{ "success":true,  "items": [1, 2, 3, 4, 5, 6] }'

    assert preview(output, max_tokens=200, counter=FourBytes()) == output


def test_four_items_are_all_shown() -> None:
    listing = {"items": [{"id": at, "body": "x" * 400} for at in range(4)]}

    assert [item["id"] for item in shown(listing)["items_preview"]] == [0, 1, 2, 3]


def test_without_a_total_the_items_are_counted() -> None:
    assert shown({"rows": meetings(30)})["rows"]["total"] == 30
    assert shown({"items": meetings(30)})["total"] == 30


def test_a_total_that_is_no_number_is_not_taken_for_one() -> None:
    previewed = shown({"items": meetings(20), "total": {"pages": meetings(3)}})

    assert previewed["items"]["total"] == 20
    assert previewed["total"]["pages"]["total"] == 3


def test_a_bare_list_has_a_total_too() -> None:
    previewed = shown(meetings(20))

    assert (previewed["total"], previewed["compressed"]) == (20, True)
    assert len(previewed["items_preview"]) == 5


def test_a_list_inside_another_object_is_found_with_the_fields_around_it() -> None:
    listing = {"status": "ok", "data": {"query": "today", "items": meetings(20), "total": 20}}

    previewed = shown(listing)

    data = previewed["data"]
    assert (previewed["status"], data["query"], data["total"]) == ("ok", "today", 20)
    assert data["items_preview"][0] == {"id": 1, "title": "Meeting 1"}


def test_objects_beside_a_list_keep_their_plain_fields() -> None:
    output = {"user": {"name": "Ada", "id": "u-7", "log": meetings(9)}, "tags": ["x" * 90] * 40}

    previewed = shown(output)

    user = previewed["user"]
    assert (user["name"], user["id"], user["log"]["total"]) == ("Ada", "u-7", 9)
    assert previewed["tags"]["total"] == 40


def test_a_list_in_one_of_several_objects_is_not_taken_for_the_whole() -> None:
    users = {f"u-{at}": {"name": f"user {at}", "tags": [f"{at}" * 40]} for at in range(9)}

    previewed = shown({"users": users})

    assert "items_preview" not in previewed
    assert len(previewed["users"]) > 1


def test_items_that_only_wrap_an_object_show_what_is_inside() -> None:
    listing = {"items": [{"event": meeting} for meeting in meetings(20)]}

    assert shown(listing)["items_preview"][0] == {"event": {"id": 1, "title": "Meeting 1"}}


def test_rows_of_a_table_keep_their_first_cells() -> None:
    table = {"rows": [[at, f"name {at}", "x" * 90] for at in range(30)]}

    assert shown(table)["rows"]["items_preview"][0][:2] == [0, "name 0"]


DAY: dict[str, Any] = {
    "success": True,
    "events": [{"id": at, "title": f"event {at}", "start": "2026-01-20T10:00"} for at in range(20)],
    "todos": [{"id": 100 + at, "title": f"todo {at}", "due": "2026-01-21"} for at in range(12)],
    "reminders": [{"id": 200 + at, "text": f"remind {at}"} for at in range(8)],
    "total": 40,
}


def test_every_list_is_named_with_its_count_and_a_preview() -> None:
    previewed = shown(DAY, 240)

    assert (previewed["success"], previewed["total"]) == (True, 40)
    for name in ("events", "todos", "reminders"):
        assert previewed[name]["total"] == len(DAY[name])
        ends = [DAY[name][at]["id"] for at in (0, 1, -2, -1)]
        items = [item for item in previewed[name]["items_preview"] if isinstance(item, dict)]
        assert [item["id"] for item in items] == ends
    assert "items_preview" not in previewed  # it would stand beside the total of all three


def test_lists_share_the_room_and_a_short_one_leaves_its_own_to_the_others() -> None:
    def fields(previewed: Any, name: str) -> int:
        return len(previewed[name]["items_preview"][0])

    previewed = shown(DAY, 150)
    alone = shown({**DAY, "todos": DAY["todos"][:1], "reminders": []}, 150)

    assert {fields(previewed, name) for name in ("events", "todos", "reminders")} == {2}
    assert fields(alone, "events") == 3
    assert alone["reminders"] == {"total": 0, "items_preview": []}


@pytest.mark.parametrize("max_tokens", [60, 80, 120, 200, 400])
def test_every_key_is_named_in_the_smallest_room(max_tokens: int) -> None:
    output = {**DAY, "owner": {"name": "Ada", "team": {"id": 7}}, "note": "line " * 200}

    previewed = shown(output, max_tokens)

    assert previewed.keys() == {*output, "compressed"}
    assert [previewed[name]["total"] for name in ("events", "todos", "reminders")] == [20, 12, 8]


def test_objects_inside_say_how_many_fields_are_left_out() -> None:
    output = {"page": {f"field_{at}": at for at in range(30)}, "rows": meetings(9)}

    page = shown(output, 120)["page"]

    assert page["…"] == f"... ({30 - (len(page) - 1)} omitted)"


def test_short_fields_stay_and_long_texts_are_cut() -> None:
    previewed = shown({"ok": False, "id": "c-4711", "log": "line " * 400})

    assert (previewed["ok"], previewed["id"], previewed["compressed"]) == (False, "c-4711", True)
    assert previewed["log"].startswith("line line")
    assert previewed["log"].endswith("…")


def test_wide_items_show_fewer_fields_until_they_fit() -> None:
    wide = [{f"field_{at}": "value " * 8 for at in range(12)} for _ in range(20)]

    previewed = shown({"success": True, "items": wide})

    assert (previewed["success"], previewed["total"]) == (True, 20)
    assert 1 <= len(previewed["items_preview"][0]) <= 4


def test_objects_without_a_list_are_compressed_as_everywhere() -> None:
    nested = {"result": {"config": {"name": "prod", "notes": "n" * 2_000}}}

    assert shown(nested)["result"]["config"]["name"] == "prod"


@pytest.mark.parametrize("output", ["plain words " * 200, '{"cut": "in the mid' + "d" * 2_000])
def test_what_is_no_json_is_compressed_as_everywhere(output: str) -> None:
    text = preview(output, max_tokens=100, counter=FourBytes())

    assert 0 < FourBytes().count(text) <= 100


@given(VALUES, st.integers(min_value=40, max_value=300))
def test_a_preview_is_always_json_within_its_budget(value: object, max_tokens: int) -> None:
    output = json.dumps(value)

    text = preview(output, max_tokens=max_tokens, counter=FourBytes())

    json.loads(text)
    assert FourBytes().count(text) <= max(max_tokens, 0)
    assert text == preview(output, max_tokens=max_tokens, counter=FourBytes())


@pytest.mark.parametrize("total", [431, 0, 1170.5])
def test_a_total_that_is_not_of_the_items_stays_where_it_was(total: float) -> None:
    previewed = shown({"items": meetings(20), "total": total})

    assert previewed["total"] == total
    assert previewed["items"]["total"] == 20
    assert len(previewed["items"]["items_preview"]) == 5


def test_what_is_named_like_a_mark_of_a_preview_stays() -> None:
    output = {"items": meetings(20), "items_preview": "the newest first", "compressed": False}

    previewed = shown(output)

    assert (previewed["items_preview"], previewed["compressed"]) == ("the newest first", False)
    assert previewed["items"]["total"] == 20


def test_a_list_below_objects_that_hold_nothing_else_is_found() -> None:
    output = {"data": {"page": {"result": {"found": {"meetings": meetings(40)}}}}}

    found = shown(output)["data"]["page"]["result"]["found"]

    assert found["meetings"]["total"] == 40
    assert found["meetings"]["items_preview"][0] == {"id": 1, "title": "Meeting 1"}


def test_cells_of_a_row_that_are_left_out_are_counted() -> None:
    table = {"rows": [[f"{at}.{cell}" for cell in range(12)] for at in range(30)]}

    assert shown(table)["rows"]["items_preview"][0][-1] == "... (4 omitted)"


def test_where_no_value_finds_room_every_key_is_still_named() -> None:
    output = {f"name {at}": f"{at}" * 12 for at in range(40)} | {"rows": meetings(9)}

    previewed = shown(output, 120)

    assert previewed["rows"] == {"total": 9}
    assert {*previewed, *previewed["…"]} >= output.keys()


@pytest.mark.parametrize(
    ("written", "before", "after"),
    [
        (repr(DAY), "", ""),
        (json.dumps(DAY), "Found:\n", "\nDone."),
        (json.dumps(DAY, indent=2), "```json\n", "\n```"),
    ],
)
def test_what_is_almost_json_is_previewed_too(written: str, before: str, after: str) -> None:
    text = preview(f"{before}{written}{after}", max_tokens=160, counter=FourBytes())

    assert FourBytes().count(text) <= 160
    assert text.startswith(before)
    assert text.endswith(after)
    previewed = json.loads(text.removeprefix(before).removesuffix(after))
    assert [previewed[name]["total"] for name in ("events", "todos", "reminders")] == [20, 12, 8]


def test_json_that_was_cut_off_is_previewed_and_says_so() -> None:
    output = json.dumps(DAY)[:-70]

    text = preview(output, max_tokens=160, counter=FourBytes())

    assert FourBytes().count(text) <= 160
    previewed = json.loads(text)
    assert [previewed[name]["total"] for name in ("events", "todos")] == [20, 12]
    assert "… cut off here" in previewed
